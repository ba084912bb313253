package filter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Fields maps field names to their values. A name with no values is the same as an
// absent name.
type Fields map[string][]Value

// Meta is a document's typed metadata: its own fields and the elements of its groups.
type Meta struct {
	Fields Fields
	Groups map[string][]Fields
}

// One returns the first value of a field, or no value.
func (f Fields) One(name string) Value {
	if vs := f[name]; len(vs) > 0 {
		return vs[0]
	}
	return Value{}
}

// Set replaces a field's values; no values, or only the zero Value, remove it.
func (f Fields) Set(name string, values ...Value) {
	values = slices.DeleteFunc(slices.Clone(values), Value.IsZero)
	if len(values) == 0 {
		delete(f, name)
		return
	}
	f[name] = values
}

// Values returns every value of a field, wherever it stands: of the document, or of
// all elements of its group, in order.
func (m Meta) Values(f Field) []Value {
	if f.Group == "" {
		return m.Fields[f.Name]
	}
	var out []Value
	for _, e := range m.Groups[f.Group] {
		out = append(out, e[f.Name]...)
	}
	return out
}

// MarshalJSON writes fields as members, single values bare and several as an array,
// groups as arrays of objects; names sorted, so that equal metadata are equal bytes.
func (m Meta) MarshalJSON() ([]byte, error) {
	flat := make(map[string]any, len(m.Fields)+len(m.Groups))
	for name, v := range bare(m.Fields) {
		flat[name] = v
	}
	for name, elements := range m.Groups {
		list := make([]map[string]any, len(elements))
		for i, e := range elements {
			list[i] = bare(e)
		}
		flat[name] = list
	}
	return json.Marshal(flat)
}

func bare(fields Fields) map[string]any {
	out := make(map[string]any, len(fields))
	for name, values := range fields {
		switch len(values) {
		case 0:
		case 1:
			out[name] = values[0]
		default:
			out[name] = values
		}
	}
	return out
}

// Decode reads metadata written by MarshalJSON, typed by the schema. Unknown names
// and values of another kind are errors, never guessed.
func (s *Schema) Decode(data []byte) (Meta, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return Meta{}, fmt.Errorf("filter: decode metadata: %w", err)
	}
	m := Meta{Fields: Fields{}}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if s.HasGroup(name) {
			elements, err := s.decodeGroup(name, raw[name])
			if err != nil {
				return Meta{}, err
			}
			if m.Groups == nil {
				m.Groups = map[string][]Fields{}
			}
			m.Groups[name] = elements
			continue
		}
		if err := s.decodeField(m.Fields, name, "", raw[name]); err != nil {
			return Meta{}, err
		}
	}
	return m, nil
}

func (s *Schema) decodeGroup(group string, data json.RawMessage) ([]Fields, error) {
	var raw []map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("filter: decode group %q: %w", group, err)
	}
	elements := make([]Fields, len(raw))
	for i, e := range raw {
		elements[i] = Fields{}
		for name, v := range e {
			if err := s.decodeField(elements[i], name, group, v); err != nil {
				return nil, fmt.Errorf("%s[%d]: %w", group, i, err)
			}
		}
	}
	return elements, nil
}

func (s *Schema) decodeField(into Fields, name, group string, data json.RawMessage) error {
	f, ok := s.Field(name)
	if !ok || f.Group != group || len(f.AnyOf) > 0 {
		return fmt.Errorf("filter: no field %q here: %w", name, ErrSchema)
	}
	items := []json.RawMessage{data}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		items = nil
		if err := json.Unmarshal(data, &items); err != nil {
			return fmt.Errorf("filter: decode field %q: %w", name, err)
		}
		if len(items) > 1 && !f.List {
			return fmt.Errorf("filter: field %q holds one value, got %d: %w", name, len(items), ErrSchema)
		}
	}
	for _, item := range items {
		v, err := decodeValue(f.Kind, item)
		if err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
		into[name] = append(into[name], v)
	}
	return nil
}

func decodeValue(kind Kind, data json.RawMessage) (Value, error) {
	text := string(bytes.TrimSpace(data))
	if kind == Keyword || kind == Time {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return Value{}, fmt.Errorf("filter: want a string, got %s: %w", text, ErrSchema)
		}
		text = s
	}
	v, err := Parse(kind, text)
	if err != nil {
		return Value{}, fmt.Errorf("%w: %w", err, ErrSchema)
	}
	return v, nil
}
