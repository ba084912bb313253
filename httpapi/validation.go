package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// validationError is what the blueprint's routes answer with status 422 to a body they
// cannot use: the list FastAPI gives, with the type, place and words of pydantic 2, so
// that clients written against the reference read it.
type validationError struct {
	Detail []fault `json:"detail"`
}

func (e validationError) Error() string {
	words := make([]string, len(e.Detail))
	for i, f := range e.Detail {
		words[i] = f.Msg
	}
	return "invalid body: " + strings.Join(words, "; ")
}

// fault is one thing wrong with a body. Loc is ["body", field, index ...].
type fault struct {
	Type  string         `json:"type"`
	Loc   []any          `json:"loc"`
	Msg   string         `json:"msg"`
	Input any            `json:"input"`
	Ctx   map[string]any `json:"ctx,omitempty"`
}

// fields reads the members of a body one by one and collects every fault, so that a
// client hears of all at once. Members nobody asks for are passed over.
type fields struct {
	members map[string]json.RawMessage
	faults  []fault
}

// readFields reads a body of the blueprint's routes.
func readFields(w http.ResponseWriter, r *http.Request) (*fields, error) {
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	f := &fields{}
	if err := json.Unmarshal(body, &f.members); err == nil && f.members != nil {
		return f, nil
	}
	if json.Valid(body) {
		f.add(fault{Type: "model_attributes_type", Loc: []any{"body"}, Msg: "Input should be a valid dictionary or object to extract fields from", Input: json.RawMessage(body)})
	} else {
		f.add(fault{Type: "json_invalid", Loc: []any{"body", 0}, Msg: "JSON decode error", Input: struct{}{}, Ctx: map[string]any{"error": "Invalid JSON"}})
	}
	return nil, f.err()
}

func (f *fields) add(ft fault) { f.faults = append(f.faults, ft) }

func (f *fields) err() error {
	if len(f.faults) == 0 {
		return nil
	}
	return validationError{f.faults}
}

// wrong records a fault of a present member.
func (f *fields) wrong(kind, msg string, ctx map[string]any, loc ...any) {
	name, _ := loc[0].(string)
	f.add(fault{Type: kind, Loc: append([]any{"body"}, loc...), Msg: msg, Input: f.members[name], Ctx: ctx})
}

func (f *fields) has(name string) bool {
	raw, ok := f.members[name]
	return ok && !bytes.Equal(raw, []byte("null"))
}

func (f *fields) required(name string) string {
	raw, ok := f.members[name]
	if !ok {
		f.add(fault{Type: "missing", Loc: []any{"body", name}, Msg: "Field required", Input: f.members})
		return ""
	}
	var text *string
	if json.Unmarshal(raw, &text) != nil || text == nil {
		f.wrong("string_type", "Input should be a valid string", nil, name)
		return ""
	}
	return *text
}

// choice reads one of the allowed words, the first of them if it is left out.
func (f *fields) choice(name string, otherwise string, allowed []string) string {
	raw, ok := f.members[name]
	if !ok {
		return otherwise
	}
	var text string
	if json.Unmarshal(raw, &text) != nil || !slices.Contains(allowed, text) {
		f.wrong("enum", "Input should be "+enumerated(allowed), map[string]any{"expected": enumerated(allowed)}, name)
	}
	return text
}

func enumerated(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + w + "'"
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

// integer reads a whole number, also from a string as pydantic does.
func (f *fields) integer(name string, otherwise, lo, hi int) int {
	raw, ok := f.members[name]
	if !ok {
		return otherwise
	}
	text := strings.TrimSuffix(strings.Trim(string(raw), `"`), ".0")
	n, err := strconv.Atoi(strings.TrimSpace(text))
	switch {
	case err != nil && raw[0] == '"':
		f.wrong("int_parsing", "Input should be a valid integer, unable to parse string as an integer", nil, name)
	case err != nil:
		f.wrong("int_type", "Input should be a valid integer", nil, name)
	case n < lo:
		f.wrong("greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %d", lo), map[string]any{"ge": lo}, name)
	case n > hi:
		f.wrong("less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", hi), map[string]any{"le": hi}, name)
	}
	return n
}

func (f *fields) flag(name string, otherwise bool) bool {
	raw, ok := f.members[name]
	if !ok {
		return otherwise
	}
	switch strings.ToLower(strings.Trim(string(raw), `"`)) {
	case "true", "1", "yes", "on", "t", "y":
		return true
	case "false", "0", "no", "off", "f", "n":
		return false
	}
	f.wrong("bool_parsing", "Input should be a valid boolean, unable to interpret input", nil, name)
	return false
}

// words reads a list of allowed words; null and absence are nil.
func (f *fields) words(name string, allowed []string) []string {
	if !f.has(name) {
		return nil
	}
	var list []any
	if json.Unmarshal(f.members[name], &list) != nil {
		f.wrong("list_type", "Input should be a valid list", nil, name)
		return nil
	}
	out := make([]string, 0, len(list))
	for i, v := range list {
		text, ok := v.(string)
		if !ok || !slices.Contains(allowed, text) {
			f.add(fault{Type: "enum", Loc: []any{"body", name, i}, Msg: "Input should be " + enumerated(allowed), Input: v, Ctx: map[string]any{"expected": enumerated(allowed)}})
		}
		out = append(out, text)
	}
	return out
}

// texts reads an object of strings; null and absence are nil.
func (f *fields) texts(name string) map[string]string {
	if !f.has(name) {
		return nil
	}
	var raw map[string]json.RawMessage
	if json.Unmarshal(f.members[name], &raw) != nil {
		f.wrong("dict_type", "Input should be a valid dictionary", nil, name)
		return nil
	}
	out := make(map[string]string, len(raw))
	for key, value := range raw {
		var text string
		if json.Unmarshal(value, &text) != nil {
			f.add(fault{Type: "string_type", Loc: []any{"body", name, key}, Msg: "Input should be a valid string", Input: value})
		}
		out[key] = text
	}
	return out
}
