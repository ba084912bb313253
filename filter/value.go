package filter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Kind is the type of a field's values.
type Kind uint8

// The kinds. The zero Kind marks the zero Value: no value at all.
const (
	KindNone Kind = iota
	Keyword       // a short string compared as a whole, under the field's Fold
	Int           // int64
	Float         // float64, never NaN
	Bool
	Time // an instant, kept as microseconds since 1970-01-01T00:00Z
)

var kindNames = [...]string{"none", "keyword", "int", "float", "bool", "time"}

// String returns the kind's name as it is written in schemas: "keyword", "int".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", k)
}

// MarshalText writes the kind's name, as schemas are stored and shown.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name.
func (k *Kind) UnmarshalText(b []byte) error {
	for i, n := range kindNames {
		if n == string(b) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("filter: unknown kind %q", b)
}

// Value is one typed value. Values are comparable with ==, which is equality of
// kind and content (keywords byte by byte: folding belongs to fields, not values).
// The zero Value is "no value" and serves as an open bound in Range.
type Value struct {
	kind Kind
	s    string
	n    int64 // Int, Bool (0 or 1), Time (microseconds), Float (IEEE bits)
}

// OfString makes a Keyword value.
func OfString(s string) Value { return Value{kind: Keyword, s: s} }

// OfInt makes an Int value.
func OfInt(n int64) Value { return Value{kind: Int, n: n} }

// OfFloat makes a Float value. Minus zero becomes zero, so that == agrees with
// comparison; NaN is kept and refused by Schema.Check and Resolve.
func OfFloat(f float64) Value { return Value{kind: Float, n: int64(math.Float64bits(f + 0))} }

// OfBool makes a Bool value.
func OfBool(b bool) Value {
	v := Value{kind: Bool}
	if b {
		v.n = 1
	}
	return v
}

// OfTime makes a Time value, cut to the microsecond.
func OfTime(t time.Time) Value { return Value{kind: Time, n: t.UnixMicro()} }

// OfMicros makes a Time value from microseconds since 1970 in UTC.
func OfMicros(us int64) Value { return Value{kind: Time, n: us} }

// Date makes the Time value of a calendar day: its midnight in UTC. Dates whose
// zone is unknown are kept this way and compare as local dates.
func Date(year int, month time.Month, day int) Value {
	return OfTime(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// Kind reports the value's kind; KindNone for the zero Value.
func (v Value) Kind() Kind { return v.kind }

// IsZero reports whether v is no value at all.
func (v Value) IsZero() bool { return v.kind == KindNone }

// Str returns the string of a Keyword, "" for other kinds.
func (v Value) Str() string { return v.s }

// Int returns the integer of an Int, and 0 or 1 of a Bool; 0 for other kinds.
func (v Value) Int() int64 {
	if v.kind == Int || v.kind == Bool {
		return v.n
	}
	return 0
}

// Float returns the number of a Float or an Int as a float64; 0 for other kinds.
func (v Value) Float() float64 {
	switch v.kind {
	case Float:
		return math.Float64frombits(uint64(v.n))
	case Int:
		return float64(v.n)
	}
	return 0
}

// Bool reports whether v is the Bool true.
func (v Value) Bool() bool { return v.kind == Bool && v.n != 0 }

// Micros returns the microseconds of a Time; 0 for other kinds.
func (v Value) Micros() int64 {
	if v.kind == Time {
		return v.n
	}
	return 0
}

// Time returns the instant of a Time value in UTC; the zero time for other kinds.
func (v Value) Time() time.Time {
	if v.kind != Time {
		return time.Time{}
	}
	return time.UnixMicro(v.n).UTC()
}

// Compare orders two values of one kind: -1, 0 or 1. Values of different kinds
// order by kind, which only sorting needs: conditions are checked to compare like
// with like before they are evaluated.
func (v Value) Compare(w Value) int {
	if v.kind != w.kind {
		return cmp.Compare(v.kind, w.kind)
	}
	switch v.kind {
	case Keyword:
		return cmp.Compare(v.s, w.s)
	case Float:
		return cmp.Compare(v.Float(), w.Float())
	default:
		return cmp.Compare(v.n, w.n)
	}
}

// String writes the value as people and EXPR write it: a day as 2006-01-02, any
// other instant as RFC 3339 in UTC.
func (v Value) String() string {
	switch v.kind {
	case Keyword:
		return v.s
	case Int:
		return strconv.FormatInt(v.n, 10)
	case Float:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case Bool:
		return strconv.FormatBool(v.n != 0)
	case Time:
		return formatTime(v.Time())
	}
	return ""
}

const microsPerDay = int64(24 * time.Hour / time.Microsecond)

func formatTime(t time.Time) string {
	if t.UnixMicro()%microsPerDay == 0 {
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02T15:04:05.999999Z07:00")
}

// MarshalJSON writes keywords and times as strings, numbers and bools as such, and
// no value as null.
func (v Value) MarshalJSON() ([]byte, error) { return v.appendJSON(nil) }

func (v Value) appendJSON(b []byte) ([]byte, error) {
	switch v.kind {
	case KindNone:
		return append(b, "null"...), nil
	case Int:
		return strconv.AppendInt(b, v.n, 10), nil
	case Bool:
		return strconv.AppendBool(b, v.n != 0), nil
	case Float:
		number, err := json.Marshal(v.Float())
		return append(b, number...), err
	case Keyword:
		return appendText(b, v.s), nil
	}
	return appendText(b, v.String()), nil
}

// Parse reads text as a value of the given kind. Times are RFC 3339 or a plain
// date; ints and floats in plain decimal notation.
func Parse(kind Kind, text string) (Value, error) {
	switch kind {
	case Keyword:
		return OfString(text), nil
	case Int:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Value{}, fmt.Errorf("filter: %q is not a whole number", text)
		}
		return OfInt(n), nil
	case Float:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) {
			return Value{}, fmt.Errorf("filter: %q is not a number", text)
		}
		return OfFloat(f), nil
	case Bool:
		return parseBool(text)
	case Time:
		return parseTime(text)
	}
	return Value{}, fmt.Errorf("filter: cannot parse a value of kind %s", kind)
}

func parseBool(text string) (Value, error) {
	switch text {
	case "true", "yes", "TRUE", "Yes", "YES":
		return OfBool(true), nil
	case "false", "no", "FALSE", "No", "NO":
		return OfBool(false), nil
	}
	return Value{}, fmt.Errorf("filter: %q is neither true nor false", text)
}

func parseTime(text string) (Value, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return OfTime(t), nil
		}
	}
	return Value{}, fmt.Errorf("filter: %q is not a date (2006-01-02) or an RFC 3339 time", text)
}
