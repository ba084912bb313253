package filter_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	. "github.com/sextant-rag/sextant/filter"
)

// byMaps writes metadata the plain way, through encoding/json's maps.
func byMaps(t *rapid.T, m Meta) string {
	text := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	plain := func(v Value) json.RawMessage {
		switch v.Kind() {
		case KindNone:
			return json.RawMessage("null")
		case Int, Bool:
			return json.RawMessage(v.String())
		case Float:
			return text(v.Float())
		}
		return text(v.String())
	}
	bare := func(f Fields) map[string]any {
		out := map[string]any{}
		for name, values := range f {
			var all []json.RawMessage
			for _, v := range values {
				all = append(all, plain(v))
			}
			switch len(all) {
			case 0:
			case 1:
				out[name] = all[0]
			default:
				out[name] = all
			}
		}
		return out
	}
	flat := bare(m.Fields)
	for name, elements := range m.Groups {
		list := []any{}
		for _, e := range elements {
			list = append(list, bare(e))
		}
		flat[name] = list
	}
	return string(text(flat))
}

// Metadata are written as encoding/json writes maps of them, byte for byte.
func TestMetaIsWrittenAsMapsAre(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "é", "<b>", "aircraft", `"`, ""})
	texts := rapid.StringOf(rapid.SampledFrom([]rune("aZ 9\"\\<>&\n\t\x00\x7fé\u2028\ufffd漢")))
	values := rapid.Custom(func(t *rapid.T) Value {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return Value{}
		case 1:
			return OfInt(rapid.Int64().Draw(t, "int"))
		case 2:
			return OfFloat(rapid.Float64().Draw(t, "float"))
		case 3:
			return OfBool(rapid.Bool().Draw(t, "bool"))
		case 4:
			return Date(rapid.IntRange(1, 3000).Draw(t, "year"), 7, 4)
		case 5:
			return OfString("\xff" + texts.Draw(t, "invalid"))
		}
		return OfString(texts.Draw(t, "text"))
	})
	fields := rapid.MapOfN(names, rapid.SliceOfN(values, 0, 3), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		m := Meta{Fields: fields.Draw(t, "fields")}
		for range rapid.IntRange(0, 2).Draw(t, "groups") {
			if m.Groups == nil {
				m.Groups = map[string][]Fields{}
			}
			var elements []Fields
			for range rapid.IntRange(0, 2).Draw(t, "elements") {
				elements = append(elements, fields.Draw(t, "element"))
			}
			m.Groups[names.Draw(t, "group")] = elements
		}
		got, err := m.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if want := byMaps(t, m); string(got) != want {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
	})
}
