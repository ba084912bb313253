package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"
)

// block is one block of an answer that is still coming.
type block struct {
	index    int
	kind     string // text, thinking, tool_use, and what else there is
	id, name string // of a call
	first    json.RawMessage
	input    json.RawMessage // of a call, as its beginning had it

	text, partial, thinking, signature strings.Builder
}

// newBlock reads the beginning of a block, which may be all of it.
func newBlock(index int, raw json.RawMessage) (*block, error) {
	var w struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Input     json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, malformed("a block of the answer cannot be read", err)
	}
	b := &block{index: index, kind: w.Type, id: w.ID, name: w.Name, first: raw, input: w.Input}
	if b.kind == "text" {
		b.text.WriteString(w.Text)
	}
	b.thinking.WriteString(w.Thinking)
	b.signature.WriteString(w.Signature)
	return b, nil
}

// add takes a piece and returns its text, if it is text of the answer.
func (b *block) add(d *wireDelta) string {
	b.partial.WriteString(d.PartialJSON)
	b.thinking.WriteString(d.Thinking)
	b.signature.WriteString(d.Signature)
	if b.kind != "text" {
		return ""
	}
	b.text.WriteString(d.Text)
	return d.Text
}

// arguments are a call's: those that came in pieces, else those of its beginning.
func (b *block) arguments() json.RawMessage {
	if text := strings.TrimSpace(b.partial.String()); text != "" {
		return json.RawMessage(text)
	}
	if input := bytes.TrimSpace(b.input); len(input) > 0 && string(input) != "null" {
		return json.RawMessage(input)
	}
	return json.RawMessage("{}")
}

// whole is the block as it has to come back: its beginning with what came after filled in.
// It is nil for an empty text, which the API does not take back.
func (b *block) whole() (json.RawMessage, error) {
	list := []member{{"type", json.RawMessage(`"` + b.kind + `"`)}}
	if len(b.first) > 0 {
		var err error
		if list, err = members(bytes.TrimSpace(b.first)); err != nil {
			return nil, err
		}
	}
	set := func(key string, v any) error {
		value, err := json.Marshal(v)
		if err != nil {
			return err
		}
		for i := range list {
			if list[i].key == key {
				list[i].value = value
				return nil
			}
		}
		list = append(list, member{key, value})
		return nil
	}
	switch b.kind {
	case "text":
		if b.text.Len() == 0 {
			return nil, nil
		}
		if err := set("text", b.text.String()); err != nil {
			return nil, err
		}
	case "thinking":
		if err := set("thinking", b.thinking.String()); err != nil {
			return nil, err
		}
		if err := set("signature", b.signature.String()); err != nil {
			return nil, err
		}
	case "tool_use":
		if err := set("input", b.arguments()); err != nil {
			return nil, err
		}
	}
	return object(list)
}
