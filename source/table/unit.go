package table

import "strings"

// measure is one unit of a family whose members can be turned into each other.
type measure struct {
	family string
	factor float64 // of the family's base unit
}

// measures are the units that tables mix within a column. Currencies are not among them:
// their rates are not ours to know. Factors are exact by definition (international yard
// and pound agreement of 1959; IEC 80000-13 for bytes).
var measures = map[string]measure{
	"mg": {"mass", 1e-6}, "g": {"mass", 1e-3}, "kg": {"mass", 1}, "t": {"mass", 1e3}, "oz": {"mass", 0.028349523125},
	"lb": {"mass", 0.45359237}, "lbs": {"mass", 0.45359237},
	"mm": {"length", 1e-3}, "cm": {"length", 1e-2}, "m": {"length", 1}, "km": {"length", 1e3}, "in": {"length", 0.0254}, "inch": {"length", 0.0254},
	"ft": {"length", 0.3048}, "feet": {"length", 0.3048}, "yd": {"length", 0.9144}, "mi": {"length", 1609.344}, "miles": {"length", 1609.344},
	"ml": {"volume", 1e-3}, "cl": {"volume", 1e-2}, "l": {"volume", 1}, "liter": {"volume", 1}, "litre": {"volume", 1},
	"ms": {"time", 1e-3}, "s": {"time", 1}, "sec": {"time", 1}, "secs": {"time", 1}, "seconds": {"time", 1}, "min": {"time", 60}, "mins": {"time", 60}, "minutes": {"time", 60},
	"h": {"time", 3600}, "hr": {"time", 3600}, "hrs": {"time", 3600}, "hour": {"time", 3600}, "hours": {"time", 3600},
	"d": {"time", 86400}, "day": {"time", 86400}, "days": {"time", 86400}, "week": {"time", 604800}, "weeks": {"time", 604800},
	"kb": {"data", 1e3}, "mb": {"data", 1e6}, "gb": {"data", 1e9}, "tb": {"data", 1e12}, "kib": {"data", 1 << 10}, "mib": {"data", 1 << 20}, "gib": {"data", 1 << 30},
}

// convert turns a value from one unit into another of the same family.
func convert(value float64, from, to string) (float64, bool) {
	a, known := measures[foldUnit(from)]
	b, also := measures[foldUnit(to)]
	if !known || !also || a.family != b.family {
		return 0, false
	}
	return value * a.factor / b.factor, true
}

// foldUnit makes one of the ways a unit is written: "Kg", "kg."
func foldUnit(unit string) string { return strings.ToLower(strings.TrimRight(unit, ".")) }

// sameUnit reports whether two units are one, spelling aside. No unit is any unit: tables
// leave it out of some cells.
func sameUnit(a, b string) bool {
	a, b = foldUnit(a), foldUnit(b)
	return a == b || a == "" || b == "" || strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s") || measures[a] != (measure{}) && measures[a] == measures[b]
}

// isCurrency reports whether a unit is money.
func isCurrency(unit string) bool { return currency(unit) && measures[foldUnit(unit)] == measure{} }
