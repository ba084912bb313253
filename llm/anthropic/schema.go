package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"
)

// unenforced are the keywords of JSON Schema for which the API refuses a schema that it
// shall enforce (platform.claude.com, "Structured outputs", JSON Schema limitations).
var unenforced = map[string]bool{
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"minLength": true, "maxLength": true, "maxItems": true, "uniqueItems": true, "minProperties": true, "maxProperties": true,
	"$schema": true, "title": true, "examples": true,
}

// silent are those of them that say nothing about the answer.
var silent = map[string]bool{"$schema": true, "title": true, "examples": true}

// enforceable is a schema without the keywords that the API does not enforce. What they say
// goes into the description, where the model reads it; the answer is validated against the
// whole schema in any case. The order of properties is kept: models write in that order. A
// schema that cannot be read is left as it is.
func enforceable(schema json.RawMessage) json.RawMessage {
	out, err := rewrite(schema, false)
	if err != nil {
		return schema
	}
	return out
}

// member is one of an object's.
type member struct {
	key   string
	value json.RawMessage
}

// rewrite goes through a schema, or, where names is set, through an object whose keys are
// names of schemas.
func rewrite(raw json.RawMessage, names bool) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > 0 && raw[0] == '[':
		return rewriteList(raw)
	case len(raw) == 0 || raw[0] != '{':
		return raw, nil
	}
	list, err := members(raw)
	if err != nil {
		return nil, err
	}
	var kept []member
	var said []string
	for _, m := range list {
		drop := !names && (unenforced[m.key] || m.key == "minItems" && string(m.value) != "0" && string(m.value) != "1")
		switch {
		case drop && !silent[m.key]:
			said = append(said, m.key+": "+string(m.value))
		case drop:
		case names || !data[m.key]:
			if m.value, err = rewrite(m.value, !names && named[m.key]); err != nil {
				return nil, err
			}
			kept = append(kept, m)
		default:
			kept = append(kept, m)
		}
	}
	return object(describe(kept, said))
}

// named hold schemas by name; data hold values and no schemas.
var (
	named = map[string]bool{"properties": true, "$defs": true, "definitions": true}
	data  = map[string]bool{"enum": true, "const": true, "default": true, "required": true, "type": true, "description": true}
)

func rewriteList(raw json.RawMessage) (json.RawMessage, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for i := range list {
		v, err := rewrite(list[i], false)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return json.Marshal(list)
}

// describe adds what was dropped to the description.
func describe(list []member, said []string) []member {
	if len(said) == 0 {
		return list
	}
	note := "(" + strings.Join(said, ", ") + ")"
	for i, m := range list {
		var text string
		if m.key == "description" && json.Unmarshal(m.value, &text) == nil {
			list[i].value, _ = json.Marshal(text + " " + note)
			return list
		}
	}
	value, _ := json.Marshal(note)
	return append(list, member{"description", value})
}

// members reads an object in its order.
func members(raw json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var out []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // a key of an object is a string
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		out = append(out, member{name, value})
	}
	return out, nil
}

func object(list []member) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
