package check

// unit is one spelling-independent measure: what it measures and how many of the base
// unit of that it is. NIST Special Publication 811 (2008), appendix B.
type unit struct {
	name   string
	of     string
	factor float64
}

// units finds a unit by its spelling.
var units = func() map[string]unit {
	out := map[string]unit{}
	for _, u := range unitNames {
		out[u.name] = u.unit
		for _, s := range u.spellings {
			out[s] = u.unit
		}
	}
	return out
}()

// unitOf returns the one name of a unit, "" if a word is none.
func unitOf(lower string) string { return units[lower].name }

// looser is what people also call a unit: a mile may be a nautical one, a degree one of
// temperature. "" if the unit has no such name.
func looser(unit string) string {
	switch unit {
	case "celsius", "fahrenheit":
		return "degree"
	}
	return ""
}

// convert gives a measure in another unit of the same dimension.
func convert(value float64, from, to string) (float64, bool) {
	a, b := units[from], units[to]
	switch {
	case a.of == "" || a.of != b.of:
		return 0, false
	case from == "celsius" && to == "fahrenheit":
		return value*9/5 + 32, true
	case from == "fahrenheit" && to == "celsius":
		return (value - 32) * 5 / 9, true
	case b.factor == 0:
		return 0, false
	}
	return value * a.factor / b.factor, true
}

// unitNames lists each unit's name, dimension, factor and spellings.
var unitNames = []struct {
	unit
	spellings []string
}{
	{unit{"feet", "length", 0.3048}, []string{"feet", "foot", "ft"}},
	{unit{"inches", "length", 0.0254}, []string{"inches", "inch"}},
	{unit{"yards", "length", 0.9144}, []string{"yards", "yard", "yds", "yd"}},
	{unit{"miles", "length", 1609.344}, []string{"miles", "mile", "mi", "sm"}},
	{unit{"nautical miles", "length", 1852}, []string{"nm", "nmi"}},
	{unit{"meters", "length", 1}, []string{"meters", "meter", "metres", "metre", "m"}},
	{unit{"kilometers", "length", 1000}, []string{"kilometers", "kilometer", "kilometres", "kilometre", "km", "kms"}},
	{unit{"centimeters", "length", 0.01}, []string{"centimeters", "centimeter", "centimetres", "centimetre", "cm"}},
	{unit{"millimeters", "length", 0.001}, []string{"millimeters", "millimeter", "millimetres", "millimetre", "mm"}},
	{unit{"micrometers", "length", 1e-6}, []string{"micrometers", "micrometer", "microns", "micron", "μm", "µm"}},
	{unit{"nanometers", "length", 1e-9}, []string{"nanometers", "nanometer"}},
	{unit{"pounds", "mass", 0.45359237}, []string{"pounds", "pound", "lbs", "lb"}},
	{unit{"ounces", "mass", 0.028349523125}, []string{"ounces", "ounce", "oz"}},
	{unit{"kilograms", "mass", 1}, []string{"kilograms", "kilogram", "kilos", "kilo", "kg", "kgs"}},
	{unit{"grams", "mass", 0.001}, []string{"grams", "gram"}},
	{unit{"milligrams", "mass", 1e-6}, []string{"milligrams", "milligram", "mg"}},
	{unit{"nanograms", "mass", 1e-12}, []string{"ng"}},
	{unit{"picograms", "mass", 1e-15}, []string{"pg"}},
	{unit{"micrograms", "mass", 1e-9}, []string{"micrograms", "microgram", "μg", "µg", "ug"}},
	{unit{"tons", "mass", 907.18474}, []string{"tons", "ton"}},
	{unit{"tonnes", "mass", 1000}, []string{"tonnes", "tonne"}},
	{unit{"gallons", "volume", 3.785411784}, []string{"gallons", "gallon", "gal", "gals"}},
	{unit{"quarts", "volume", 0.946352946}, []string{"quarts", "quart", "qts", "qt"}},
	{unit{"pints", "volume", 0.473176473}, []string{"pints", "pint"}},
	{unit{"liters", "volume", 1}, []string{"liters", "liter", "litres", "litre"}},
	{unit{"milliliters", "volume", 0.001}, []string{"milliliters", "milliliter", "millilitres", "ml", "cc"}},
	{unit{"seconds", "time", 1}, []string{"seconds", "second", "secs", "sec"}},
	{unit{"minutes", "time", 60}, []string{"minutes", "minute", "mins", "min"}},
	{unit{"hours", "time", 3600}, []string{"hours", "hour", "hrs", "hr"}},
	{unit{"days", "time", 86400}, []string{"days", "day"}},
	{unit{"weeks", "time", 604800}, []string{"weeks", "week", "wks", "wk"}},
	{unit{"months", "time", 2629746}, []string{"months", "month"}},
	{unit{"years", "time", 31556952}, []string{"years", "year", "yrs", "yr"}},
	{unit{"knots", "speed", 0.514444}, []string{"knots", "knot", "kts", "kt", "kias", "ktas", "kcas"}},
	{unit{"miles/hours", "speed", 0.44704}, []string{"mph"}},
	{unit{"kilometers/hours", "speed", 0.277778}, []string{"kph", "kmh"}},
	{unit{"feet/minutes", "speed", 0.00508}, []string{"fpm"}},
	{unit{"celsius", "temperature", 0}, []string{"celsius", "centigrade"}},
	{unit{"fahrenheit", "temperature", 0}, []string{"fahrenheit"}},
	{unit{"degree", "angle", 1}, []string{"degrees", "degree", "deg", "°"}},
	{unit{"percent", "share", 1}, []string{"percent", "percentage", "pct", "%"}},
	{unit{"inches of mercury", "pressure", 3386.389}, []string{"inhg"}},
	{unit{"psi", "pressure", 6894.757}, []string{"psi", "psig"}},
	{unit{"hectopascals", "pressure", 100}, []string{"hpa", "millibars", "millibar", "mb"}},
	{unit{"horsepower", "power", 745.6999}, []string{"horsepower", "hp"}},
	{unit{"kilowatts", "power", 1000}, []string{"kilowatts", "kilowatt", "kw"}},
	{unit{"watts", "power", 1}, []string{"watts", "watt"}},
	{unit{"volts", "voltage", 1}, []string{"volts", "volt"}},
	{unit{"amperes", "current", 1}, []string{"amperes", "ampere", "amps", "amp"}},
	{unit{"rpm", "rotation", 1}, []string{"rpm", "rpms"}},
	{unit{"megahertz", "frequency", 1e6}, []string{"mhz", "megahertz"}},
	{unit{"kilohertz", "frequency", 1e3}, []string{"khz", "kilohertz"}},
	{unit{"hertz", "frequency", 1}, []string{"hz", "hertz"}},
	{unit{"g", "acceleration", 9.80665}, []string{"g", "g's", "gs"}},
	{unit{"acres", "area", 4046.856}, []string{"acres", "acre"}},
	{unit{"dollars", "money", 1}, []string{"dollars", "dollar", "usd"}},
	{unit{"euros", "currency", 1}, []string{"euros", "euro", "eur"}},
}

// compounds are units of two words.
var compounds = map[string]string{
	"nautical miles": "nautical miles", "nautical mile": "nautical miles", "statute miles": "miles", "statute mile": "miles",
	"square feet": "square feet", "square foot": "square feet", "square miles": "square miles", "square mile": "square miles", "square inches": "square inches", "square inch": "square inches", "square meters": "square meters",
	"cubic feet": "cubic feet", "cubic foot": "cubic feet", "cubic inches": "cubic inches", "cubic inch": "cubic inches", "cubic meter": "cubic meters", "square meter": "square meters", "cubic meters": "cubic meters",
	"per cent": "percent", "foot pounds": "foot pounds", "foot lbs": "foot pounds", "ft lbs": "foot pounds", "inch lbs": "inch pounds", "inch pounds": "inch pounds",
}

var temperatures = map[string]string{"c": "celsius", "celsius": "celsius", "centigrade": "celsius", "f": "fahrenheit", "fahrenheit": "fahrenheit"}

var currencies = map[string]string{"$": "dollars", "€": "euros", "£": "pounds sterling"}
