package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"
)

// JSON encodes v as every surface of Sextant writes it: on one line, characters of
// markup as they are, lists that hold nothing as [] and maps as {}, never as null. It
// reads v only; values shared with the engine may be passed.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if v != nil {
		v = filled(reflect.ValueOf(v)).Interface()
	}
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// filled returns v with an empty list or map in place of every nil one, copying what it
// changes. The nouns leave lists nil freely; a client that loops over one should not
// have to know. Values of interface type, and types that write themselves, are kept.
func filled(v reflect.Value) reflect.Value {
	if !holdsLists(v.Type()) {
		return v
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(filled(v.Elem()))
		return p
	case reflect.Slice:
		return filledSlice(v)
	case reflect.Map:
		return filledMap(v)
	default:
		return filledStruct(v)
	}
}

func filledSlice(v reflect.Value) reflect.Value {
	if v.Len() > 0 && !holdsLists(v.Type().Elem()) {
		return v
	}
	out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		out.Index(i).Set(filled(v.Index(i)))
	}
	return out
}

func filledMap(v reflect.Value) reflect.Value {
	if v.Len() > 0 && !holdsLists(v.Type().Elem()) {
		return v
	}
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	for key, value := range v.Seq2() {
		out.SetMapIndex(key, filled(value))
	}
	return out
}

func filledStruct(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			out.Field(i).Set(filled(v.Field(i)))
		}
	}
	return out
}

// holding remembers holdsLists of the types seen so far: there are as many as the program has.
var holding sync.Map // reflect.Type to bool

func holdsLists(t reflect.Type) bool {
	if known, ok := holding.Load(t); ok {
		return known.(bool)
	}
	holds := looksForLists(t)
	holding.Store(t, holds)
	return holds
}

func looksForLists(t reflect.Type) bool {
	if t.Implements(marshaler) {
		return false
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return true
	case reflect.Pointer:
		return holdsLists(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && holdsLists(f.Type) {
				return true
			}
		}
	}
	return false
}

// writeJSON answers with v. It fails only when v cannot be encoded; a client that has
// gone away is no error of the handler's.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := JSON(v)
	if err != nil {
		return err
	}
	write(w, status, "application/json", body)
	return nil
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body)
	_, _ = io.WriteString(w, "\n")
}
