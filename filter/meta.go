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
//
// Every passage of every answer and trace is written with it, so that it goes without the
// maps that encoding/json would need; a test holds its bytes to that package's.
func (m Meta) MarshalJSON() ([]byte, error) {
	return m.appendJSON(make([]byte, 0, 32*(len(m.Fields)+2)))
}

func (m Meta) appendJSON(b []byte) ([]byte, error) {
	if len(m.Groups) == 0 {
		return m.Fields.appendJSON(b)
	}
	names := make([]string, 0, len(m.Fields)+len(m.Groups))
	for name, values := range m.Fields {
		if _, group := m.Groups[name]; !group && len(values) > 0 {
			names = append(names, name)
		}
	}
	for name := range m.Groups {
		names = append(names, name)
	}
	slices.Sort(names)
	return appendObject(b, names, func(b []byte, name string) ([]byte, error) {
		elements, group := m.Groups[name]
		if !group {
			return appendValues(b, m.Fields[name])
		}
		return appendList(b, elements, func(b []byte, e Fields) ([]byte, error) { return e.appendJSON(b) })
	})
}

func (f Fields) appendJSON(b []byte) ([]byte, error) {
	names := make([]string, 0, len(f))
	for name, values := range f {
		if len(values) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return appendObject(b, names, func(b []byte, name string) ([]byte, error) { return appendValues(b, f[name]) })
}

func appendValues(b []byte, values []Value) ([]byte, error) {
	if len(values) == 1 {
		return values[0].appendJSON(b)
	}
	return appendList(b, values, func(b []byte, v Value) ([]byte, error) { return v.appendJSON(b) })
}

func appendObject(b []byte, names []string, value func(b []byte, name string) ([]byte, error)) ([]byte, error) {
	b = append(b, '{')
	var err error
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		if b, err = value(b, name); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendList[T any](b []byte, all []T, item func(b []byte, one T) ([]byte, error)) ([]byte, error) {
	b = append(b, '[')
	var err error
	for i, one := range all {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = item(b, one); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// appendText writes a JSON string as encoding/json does: plain ASCII here, all else there.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(s) // of a string
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
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
