package llm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// shape is a JSON Schema made ready to check values with. It knows the keywords of
// draft 2020-12 that a strict schema of an answer is made of (see [Schema]) and no others: a
// schema with one it does not know is refused, not half obeyed.
type shape struct {
	Type       types             `json:"type"`
	Properties map[string]*shape `json:"properties"`
	Required   []string          `json:"required"`
	Closed     closed            `json:"additionalProperties"`
	Items      *shape            `json:"items"`
	MinItems   int               `json:"minItems"`
	MaxItems   *int              `json:"maxItems"`
	MinLength  int               `json:"minLength"` // in characters
	MaxLength  *int              `json:"maxLength"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
	Enum       []string          `json:"enum"`
	AnyOf      []*shape          `json:"anyOf"`

	Description string `json:"description"` // for whoever reads it
	Title       string `json:"title"`
}

// closed is true for "additionalProperties": false, the only value that says something here.
type closed bool

// UnmarshalJSON takes false or true; a schema for further properties is none of the subset.
func (c *closed) UnmarshalJSON(b []byte) error {
	var open bool
	if err := json.Unmarshal(b, &open); err != nil {
		return fmt.Errorf("additionalProperties: %w", err)
	}
	*c = closed(!open)
	return nil
}

// types are the names of the types a value may have; none: any.
type types []string

// UnmarshalJSON takes one name or a list of them.
func (t *types) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(t))
	}
	*t = types{""}
	return json.Unmarshal(b, &(*t)[0])
}

// typeNames are the types there are.
var typeNames = map[string]bool{"object": true, "array": true, "string": true, "integer": true, "number": true, "boolean": true, "null": true}

// known reports the first type of a shape, or of one inside it, that there is not.
func (s *shape) known() error {
	if s == nil {
		return nil
	}
	for _, name := range s.Type {
		if !typeNames[name] {
			return fmt.Errorf("there is no type %q", name)
		}
	}
	inside := append([]*shape{s.Items}, s.AnyOf...)
	for _, p := range s.Properties {
		inside = append(inside, p)
	}
	for _, in := range inside {
		if err := in.known(); err != nil {
			return err
		}
	}
	return nil
}

// strict reports whether no object of the schema may have properties that it does not name.
func (s *shape) strict() bool {
	switch {
	case s == nil:
		return true
	case !bool(s.Closed) && (len(s.Type) == 0 && len(s.AnyOf) == 0 || slices.Contains(s.Type, "object")):
		return false
	}
	for _, p := range s.Properties {
		if !p.strict() {
			return false
		}
	}
	for _, one := range s.AnyOf {
		if !one.strict() {
			return false
		}
	}
	return s.Items.strict()
}

// fits reports whether a value as encoding/json decodes it into an any satisfies the schema.
func (s *shape) fits(v any) bool {
	if s == nil {
		return true
	}
	if len(s.Enum) > 0 {
		text, ok := v.(string)
		if !ok || !slices.Contains(s.Enum, text) {
			return false
		}
	}
	if len(s.AnyOf) > 0 && !s.anyFits(v) {
		return false
	}
	switch v := v.(type) {
	case nil:
		return s.is("null")
	case bool:
		return s.is("boolean")
	case string:
		return s.is("string") && s.fitsText(v)
	case float64:
		return (s.is("number") || s.is("integer") && v == math.Trunc(v)) && (s.Minimum == nil || v >= *s.Minimum) && (s.Maximum == nil || v <= *s.Maximum)
	case []any:
		return s.is("array") && s.fitsList(v)
	case map[string]any:
		return s.is("object") && s.fitsObject(v)
	}
	return false
}

func (s *shape) is(name string) bool { return len(s.Type) == 0 || slices.Contains(s.Type, name) }

func (s *shape) anyFits(v any) bool {
	for _, one := range s.AnyOf {
		if one.fits(v) {
			return true
		}
	}
	return false
}

func (s *shape) fitsText(v string) bool {
	if s.MinLength == 0 && (s.MaxLength == nil || len(v) <= *s.MaxLength) {
		return true // a text has no more characters than bytes
	}
	n := utf8.RuneCountInString(v)
	return n >= s.MinLength && (s.MaxLength == nil || n <= *s.MaxLength)
}

func (s *shape) fitsList(v []any) bool {
	if len(v) < s.MinItems || s.MaxItems != nil && len(v) > *s.MaxItems {
		return false
	}
	for _, item := range v {
		if !s.Items.fits(item) {
			return false
		}
	}
	return true
}

func (s *shape) fitsObject(v map[string]any) bool {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return false
		}
	}
	for name, value := range v {
		p, ok := s.Properties[name]
		if !ok && bool(s.Closed) || !p.fits(value) {
			return false
		}
	}
	return true
}
