package qdrant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// decodeValue reads one value of a field as it is stored for filters.
func decodeValue(f filter.Field, raw json.RawMessage) (filter.Value, error) {
	text := string(bytes.TrimSpace(raw))
	switch f.Kind {
	case filter.Keyword:
		var s string
		err := json.Unmarshal(raw, &s)
		return filter.OfString(s), err
	case filter.Int, filter.Time:
		n, err := strconv.ParseInt(text, 10, 64)
		if f.Kind == filter.Time {
			return filter.OfMicros(n), err
		}
		return filter.OfInt(n), err
	}
	return filter.Parse(f.Kind, text)
}

// decodeValues reads a field's values: one bare, or a list.
func decodeValues(f filter.Field, raw json.RawMessage) ([]filter.Value, error) {
	items := []json.RawMessage{raw}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		items = nil
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, damaged(f.Name, err)
		}
	}
	out := make([]filter.Value, len(items))
	for i, item := range items {
		var err error
		if out[i], err = decodeValue(f, item); err != nil {
			return nil, damaged(f.Name, err)
		}
	}
	return out, nil
}

func damaged(field string, err error) error {
	return fmt.Errorf("metadata %q: %w: %w", field, store.ErrCorrupt, err)
}

// valuesOf reads all values of a field out of metadata as they are stored for filters:
// the document's own, or those of all elements.
func valuesOf(metadata json.RawMessage, f filter.Field) ([]filter.Value, error) {
	if len(metadata) == 0 {
		return nil, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(metadata, &fields); err != nil {
		return nil, damaged(f.Name, err)
	}
	if f.Group == "" {
		if raw, ok := fields[f.Name]; ok {
			return decodeValues(f, raw)
		}
		return nil, nil
	}
	var elements []map[string]json.RawMessage
	if raw, ok := fields[f.Group]; ok {
		if err := json.Unmarshal(raw, &elements); err != nil {
			return nil, damaged(f.Group, err)
		}
	}
	var out []filter.Value
	for _, e := range elements {
		raw, ok := e[f.Name]
		if !ok {
			continue
		}
		values, err := decodeValues(f, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, values...)
	}
	return out, nil
}
