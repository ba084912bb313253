package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

// schemaOf draws a strict schema, and value a value that is near to satisfying one.
func schemaOf(t *rapid.T, depth int) map[string]any {
	kinds := []string{"string", "integer", "number", "boolean", "null"}
	if depth > 0 {
		kinds = append(kinds, "object", "array", "any")
	}
	s := map[string]any{}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "string":
		s["type"], s["minLength"], s["maxLength"] = kind, rapid.IntRange(0, 2).Draw(t, "min"), rapid.IntRange(1, 4).Draw(t, "max")
		if rapid.Bool().Draw(t, "named") {
			s = map[string]any{"type": kind, "enum": []string{"a", "é"}}
		}
	case "integer", "number":
		s["type"], s["minimum"], s["maximum"] = kind, rapid.IntRange(0, 2).Draw(t, "min"), rapid.IntRange(1, 3).Draw(t, "max")
	case "array":
		s["type"], s["minItems"], s["maxItems"], s["items"] = kind, rapid.IntRange(0, 1).Draw(t, "min"), rapid.IntRange(1, 2).Draw(t, "max"), schemaOf(t, depth-1)
	case "object":
		s["type"], s["properties"] = kind, map[string]any{"a": schemaOf(t, depth-1), "b": schemaOf(t, depth-1)}
		s["required"] = rapid.SampledFrom([][]string{{}, {"a"}, {"a", "b"}}).Draw(t, "required")
		s["additionalProperties"] = rapid.Bool().Draw(t, "open")
	case "any":
		s["anyOf"] = []any{schemaOf(t, depth-1), schemaOf(t, depth-1)}
	default:
		s["type"] = kind
	}
	if kind, ok := s["type"].(string); ok && rapid.Bool().Draw(t, "nullable") {
		s["type"] = []string{kind, "null"}
	}
	return s
}

func value(t *rapid.T, depth int) any {
	kinds := []string{"string", "number", "bool", "null"}
	if depth > 0 {
		kinds = append(kinds, "object", "array")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "value") {
	case "string":
		return rapid.SampledFrom([]string{"", "a", "é", "éé", "abcd", "ééééé"}).Draw(t, "text")
	case "number":
		return rapid.SampledFrom([]float64{-1, 0, 0.5, 1, 2, 2.5, 4}).Draw(t, "number")
	case "bool":
		return rapid.Bool().Draw(t, "bool")
	case "array":
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			out = append(out, value(t, depth-1))
		}
		return out
	case "object":
		out := map[string]any{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(t, "names") {
			out[name] = value(t, depth-1)
		}
		return out
	}
	return nil
}

// A schema lets through what the reference implementation lets through.
func TestShapesAreJSONSchema(t *testing.T) {
	fitting := 0
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(schemaOf(t, 2))
		if err != nil {
			t.Fatal(err)
		}
		ours, err := resolve(&Schema{Name: "drawn", JSON: text})
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		theirs, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		v := value(t, 2)
		want := theirs.Validate(v) == nil
		if got := ours.fits(v); got != want {
			t.Fatalf("%s lets %v through: %v, want %v", text, v, got, want)
		}
		if want {
			fitting++
		}
	})
	if fitting == 0 {
		t.Error("no value satisfied its schema")
	}
}

// What a schema says that is not understood is an error, not a gap.
func TestForeignKeywordsAreRefused(t *testing.T) {
	for _, text := range []string{`{"type":"string","pattern":"^a"}`, `{"type":"strin"}`, `{"type":["string","nil"]}`, `{"type":"array","items":{"type":"object","additionalProperties":{"type":"string"}}}`, `{"type":"array","items":{"format":"date"}}`, `{"anyOf":[{"type":"x"}]}`, `[]`} {
		if _, err := resolve(&Schema{Name: "foreign", JSON: json.RawMessage(text)}); err == nil || !strings.Contains(err.Error(), "schema foreign") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The whole text, a fence and prose around an object all give it; what only looks like one does not.
func TestFindObject(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, " {\"a\":1}\n\t ": `{"a":1}`, "```json\n{\"a\":1}\n```": `{"a":1}`, `see {"a":1} and {"b":2}`: `{"a":1}`, `{"a":1}}`: `{"a":1}`, `{x} {"a":{"b":2}}`: `{"a":{"b":2}}`, `{"a":1`: "", `{"a":`: "", "none": "", "": "", "}": "",
	} {
		if got, ok := FindObject(text); string(got) != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}
