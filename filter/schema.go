package filter

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold says which differences between keyword values do not count.
type Fold uint8

// The folds.
const (
	Exact   Fold = iota // byte by byte
	Case                // case, outer blanks and runs of inner blanks do not count
	Squeeze             // only letters and digits count: "PA-28", "pa 28" and "PA28" are one
)

var foldNames = [...]string{"exact", "case", "squeeze"}

// MarshalText writes the fold's name.
func (f Fold) MarshalText() ([]byte, error) {
	if int(f) >= len(foldNames) {
		return nil, fmt.Errorf("filter: unknown fold %d", f)
	}
	return []byte(foldNames[f]), nil
}

// UnmarshalText reads a fold's name.
func (f *Fold) UnmarshalText(b []byte) error {
	i := slices.Index(foldNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("filter: unknown fold %q", b)
	}
	*f = Fold(i)
	return nil
}

// Of returns the form of s that is compared.
func (f Fold) Of(s string) string {
	switch f {
	case Case:
		return strings.ToUpper(strings.Join(strings.Fields(s), " "))
	case Squeeze:
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToUpper(r)
			}
			return -1
		}, s)
	}
	return s
}

// Field is one typed piece of metadata of a collection's documents.
type Field struct {
	Name        string   `json:"name"`                  // [A-Za-z][A-Za-z0-9_]*, unique in the schema: the narrowest rule of all stores
	Label       string   `json:"label,omitempty"`       // for people: "date of the event"
	Description string   `json:"description,omitempty"` // one sentence, shown by describe
	Kind        Kind     `json:"kind"`
	List        bool     `json:"list,omitempty"`  // several values; a condition holds if any value satisfies it
	Unit        string   `json:"unit,omitempty"`  // of numbers, for people: "min", "EUR"
	Facet       bool     `json:"facet,omitempty"` // few enough values to show and count one by one
	Fold        Fold     `json:"fold,omitempty"`  // Keyword only
	Group       string   `json:"group,omitempty"` // the group whose elements have this field; "" for the document's own
	AnyOf       []string `json:"any_of,omitempty"`
	// AnyOf makes a view: the field holds nothing itself, and a condition on it holds
	// if it holds for one of these fields ("airport" is its code or its name). Views
	// are resolved away before a store sees a filter.
}

// Group declares a list of elements inside a document, each with its own fields.
type Group struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"` // what one counts: "aircraft"
}

// Schema is what a collection's documents may say of themselves.
type Schema struct {
	Fields []Field `json:"fields"`
	Groups []Group `json:"groups,omitempty"`
}

// ErrSchema is wrapped by every complaint about a schema, a value or a filter that
// does not fit one.
var ErrSchema = errors.New("does not fit the schema")

var nameRule = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// Field finds a field by name.
func (s *Schema) Field(name string) (Field, bool) {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return s.Fields[i], true
		}
	}
	return Field{}, false
}

// HasGroup reports whether the schema declares the group.
func (s *Schema) HasGroup(name string) bool {
	return slices.ContainsFunc(s.Groups, func(g Group) bool { return g.Name == name })
}

// Validate checks the schema itself: names, uniqueness, kinds, groups and views.
func (s *Schema) Validate() error {
	seen := map[string]bool{}
	for _, g := range s.Groups {
		if !nameRule.MatchString(g.Name) || seen[g.Name] {
			return fmt.Errorf("filter: group %q: name is malformed or taken: %w", g.Name, ErrSchema)
		}
		seen[g.Name] = true
	}
	for _, f := range s.Fields {
		if !nameRule.MatchString(f.Name) || seen[f.Name] {
			return fmt.Errorf("filter: field %q: name is malformed or taken: %w", f.Name, ErrSchema)
		}
		seen[f.Name] = true
		if err := s.validateField(f); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) validateField(f Field) error {
	switch {
	case f.Kind < Keyword || f.Kind > Time:
		return fmt.Errorf("filter: field %q has no kind: %w", f.Name, ErrSchema)
	case f.Fold != Exact && f.Kind != Keyword:
		return fmt.Errorf("filter: field %q: only keywords fold: %w", f.Name, ErrSchema)
	case f.Group != "" && !s.HasGroup(f.Group):
		return fmt.Errorf("filter: field %q: group %q is not declared: %w", f.Name, f.Group, ErrSchema)
	}
	for _, of := range f.AnyOf {
		under, ok := s.Field(of)
		if !ok || len(under.AnyOf) > 0 || under.Kind != f.Kind || under.Group != f.Group {
			return fmt.Errorf("filter: view %q: %q is not a plain field of the same kind and group: %w", f.Name, of, ErrSchema)
		}
	}
	return nil
}

// Check reports whether metadata fits the schema: known fields in their group,
// right kinds, one value unless a list, no NaN, nothing but UTF-8.
func (s *Schema) Check(m Meta) error {
	if err := s.checkFields(m.Fields, ""); err != nil {
		return err
	}
	for group, elements := range m.Groups {
		if !s.HasGroup(group) {
			return fmt.Errorf("filter: unknown group %q: %w", group, ErrSchema)
		}
		for i, e := range elements {
			if err := s.checkFields(e, group); err != nil {
				return fmt.Errorf("%s[%d]: %w", group, i, err)
			}
		}
	}
	return nil
}

func (s *Schema) checkFields(fields Fields, group string) error {
	for name, values := range fields {
		f, ok := s.Field(name)
		switch {
		case !ok || len(f.AnyOf) > 0 || f.Group != group:
			return fmt.Errorf("filter: no field %q here: %w", name, ErrSchema)
		case len(values) > 1 && !f.List:
			return fmt.Errorf("filter: field %q holds one value, got %d: %w", name, len(values), ErrSchema)
		}
		for _, v := range values {
			if v.Kind() != f.Kind {
				return fmt.Errorf("filter: field %q is %s, got %s %q: %w", name, f.Kind, v.Kind(), v, ErrSchema)
			}
			if v.Kind() == Float && math.IsNaN(v.Float()) {
				return fmt.Errorf("filter: field %q: not a number: %w", name, ErrSchema)
			}
			if v.Kind() == Keyword && !utf8.ValidString(v.Str()) {
				return fmt.Errorf("filter: field %q: %q is no UTF-8: %w", name, v.Str(), ErrSchema)
			}
		}
	}
	return nil
}
