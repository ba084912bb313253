package storetest

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// The values documents and filters are made of: few, so that they meet, and those that
// stores have been seen to get wrong. Infinities are left out, as JSON has none.
var (
	keywordPool = []string{"", " ", "a", "A", " a ", "a  b", "A B", "AK", "ak", "PA-28", "pa 28", "PA28", "PA-28-161", "--", "ä", "Ä", "ß", "SS", "ſ",
		"İstanbul", "日本", "日", "🛩", "x' OR 1=1 --", `{"$ne":null}`, "null", "true", "0", "2010-01-01", "a\x00b", "%", "_", "*", strings.Repeat("long ", 60)}
	intPool   = []int64{0, 1, -1, 2, 3, 42, 1 << 53, 1<<53 + 1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1}
	floatPool = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, 1e300, -1e300, math.SmallestNonzeroFloat64, 1 << 53, 0.1, 0.2, 0.30000000000000004}
	timePool  = []filter.Value{
		filter.Date(2010, 1, 1), filter.Date(2010, 12, 31), filter.Date(2011, 1, 1), filter.Date(2012, 2, 29), filter.Date(1969, 12, 31), filter.Date(1948, 8, 3),
		filter.OfTime(time.Date(2010, 12, 31, 23, 59, 59, 999999000, time.UTC)), filter.OfTime(time.Date(2010, 6, 30, 23, 30, 0, 0, time.FixedZone("", -8*3600))),
		filter.OfMicros(-1), filter.OfMicros(0), filter.OfMicros(1), filter.Date(1, 1, 1), filter.Date(9999, 12, 31),
	}
	wordPool = strings.Fields("the engine lost power over lake pilot landed wire struck ice icing N123AB PA-28-161 135.293(a) Peña 日本 fuel flaps landing and or not")
	kinds    = []filter.Kind{filter.Keyword, filter.Int, filter.Float, filter.Bool, filter.Time}
)

// Schemas generates schemas with fields of all kinds, lists, folds, views and up to
// two groups.
func Schemas() *rapid.Generator[filter.Schema] {
	return rapid.Custom(func(t *rapid.T) filter.Schema {
		var s filter.Schema
		for g := range rapid.IntRange(0, 2).Draw(t, "groups") {
			s.Groups = append(s.Groups, filter.Group{Name: fmt.Sprintf("g%d", g)})
		}
		for i := range rapid.IntRange(1, 7).Draw(t, "fields") {
			f := filter.Field{Name: fmt.Sprintf("f%d", i), Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), List: rapid.IntRange(0, 2).Draw(t, "list") == 0}
			if f.Kind == filter.Keyword {
				f.Fold = filter.Fold(rapid.IntRange(0, 2).Draw(t, "fold"))
			}
			if n := len(s.Groups); n > 0 && rapid.Bool().Draw(t, "grouped") {
				f.Group = s.Groups[rapid.IntRange(0, n-1).Draw(t, "group")].Name
			}
			s.Fields = append(s.Fields, f)
		}
		if rapid.Bool().Draw(t, "view") {
			s.Fields = append(s.Fields, view(t, s.Fields))
		}
		return s
	})
}

// view makes a view of all fields of the first one's kind and group.
func view(t *rapid.T, fields []filter.Field) filter.Field {
	of := rapid.SampledFrom(fields).Draw(t, "of")
	v := filter.Field{Name: "v", Kind: of.Kind, Group: of.Group}
	for _, f := range fields {
		if f.Kind == of.Kind && f.Group == of.Group {
			v.AnyOf = append(v.AnyOf, f.Name)
		}
	}
	return v
}

// Values generates values of a kind.
func Values(kind filter.Kind) *rapid.Generator[filter.Value] {
	return rapid.Custom(func(t *rapid.T) filter.Value {
		switch kind {
		case filter.Keyword:
			return filter.OfString(rapid.SampledFrom(keywordPool).Draw(t, "keyword"))
		case filter.Int:
			return filter.OfInt(rapid.SampledFrom(intPool).Draw(t, "int"))
		case filter.Float:
			return filter.OfFloat(rapid.SampledFrom(floatPool).Draw(t, "float"))
		case filter.Bool:
			return filter.OfBool(rapid.Bool().Draw(t, "bool"))
		}
		return rapid.SampledFrom(timePool).Draw(t, "time")
	})
}

// Metas generates metadata of a schema; fields are often missing, elements may be empty.
func Metas(s filter.Schema) *rapid.Generator[filter.Meta] {
	return rapid.Custom(func(t *rapid.T) filter.Meta {
		m := filter.Meta{Fields: fields(t, s, "")}
		for _, g := range s.Groups {
			for range rapid.IntRange(0, 3).Draw(t, "elements") {
				if m.Groups == nil {
					m.Groups = map[string][]filter.Fields{}
				}
				m.Groups[g.Name] = append(m.Groups[g.Name], fields(t, s, g.Name))
			}
		}
		return m
	})
}

func fields(t *rapid.T, s filter.Schema, group string) filter.Fields {
	out := filter.Fields{}
	for _, f := range s.Fields {
		if f.Group != group || len(f.AnyOf) > 0 {
			continue
		}
		limit := 1
		if f.List {
			limit = 3
		}
		if n := rapid.IntRange(0, limit).Draw(t, "values"); n > 0 {
			out[f.Name] = rapid.SliceOfN(Values(f.Kind), n, n).Draw(t, f.Name)
		}
	}
	return out
}

// Filters generates filters that fit a schema, three levels deep.
func Filters(s filter.Schema) *rapid.Generator[filter.Filter] {
	return rapid.Custom(func(t *rapid.T) filter.Filter { return condition(t, s, "", 3) })
}

func condition(t *rapid.T, s filter.Schema, group string, depth int) filter.Filter {
	if depth > 0 {
		switch rapid.IntRange(0, 7).Draw(t, "form") {
		case 7:
			if group == "" {
				return Mentions().Draw(t, "mentions")
			}
		case 0:
			return filter.And(conditions(t, s, group, depth-1))
		case 1:
			return filter.Or(conditions(t, s, group, depth-1))
		case 2:
			return filter.Not{Filter: condition(t, s, group, depth-1)}
		case 3, 4:
			if group == "" && len(s.Groups) > 0 {
				g := rapid.SampledFrom(s.Groups).Draw(t, "each").Name
				return filter.Each{Group: g, Filter: condition(t, s, g, depth-1)}
			}
		}
	}
	return single(t, s, group)
}

// Mentions generates conditions on the words of a text, in one of its parts or all.
func Mentions() *rapid.Generator[filter.Mentions] {
	return rapid.Custom(func(t *rapid.T) filter.Mentions {
		m := filter.Mentions{Part: rapid.SampledFrom([]string{"", "", "narrative", "cause", store.PartHeading}).Draw(t, "part")}
		phrase := rapid.SampledFrom([]string{"engine", "THE engine", "lost power", "ic*", "n123ab", "PA-28-1*", "135.293(a)", "pena", "ice icing", "日本", "absent"})
		m.Phrases = rapid.SliceOfN(phrase, 0, 2).Draw(t, "phrases")
		if len(m.Phrases) > 0 && rapid.IntRange(0, 2).Draw(t, "near") == 0 {
			m.Near, m.Within = []string{phrase.Draw(t, "near what")}, rapid.IntRange(0, 4).Draw(t, "within")
		}
		return m
	})
}

func conditions(t *rapid.T, s filter.Schema, group string, depth int) []filter.Filter {
	var out []filter.Filter
	for range rapid.IntRange(0, 3).Draw(t, "conditions") {
		out = append(out, condition(t, s, group, depth))
	}
	return out
}

func single(t *rapid.T, s filter.Schema, group string) filter.Filter {
	var own []filter.Field
	for _, f := range s.Fields {
		if f.Group == group {
			own = append(own, f)
		}
	}
	if len(own) == 0 {
		return filter.All
	}
	f := rapid.SampledFrom(own).Draw(t, "field")
	switch rapid.IntRange(0, 4).Draw(t, "condition") {
	case 0:
		return filter.Exists{Field: f.Name}
	case 1:
		return filter.In{Field: f.Name, Values: rapid.SliceOfN(Values(f.Kind), 0, 3).Draw(t, "in")}
	case 2:
		if f.Kind == filter.Keyword {
			return filter.Contains{Field: f.Name, Sub: rapid.SampledFrom(append(keywordPool, "28", "long long")).Draw(t, "sub")}
		}
		if f.Kind != filter.Bool {
			return Ranges(f).Draw(t, "range")
		}
	}
	return filter.Eq{Field: f.Name, Value: Values(f.Kind).Draw(t, "value")}
}

// Ranges generates ranges of a field, empty and open ones among them.
func Ranges(f filter.Field) *rapid.Generator[filter.Range] {
	return rapid.Custom(func(t *rapid.T) filter.Range {
		r := filter.Range{Field: f.Name, LoExcl: rapid.Bool().Draw(t, "lo excluded"), HiExcl: rapid.Bool().Draw(t, "hi excluded")}
		if rapid.Bool().Draw(t, "lo") {
			r.Lo = Values(f.Kind).Draw(t, "lo")
		}
		if rapid.Bool().Draw(t, "hi") {
			r.Hi = Values(f.Kind).Draw(t, "hi")
		}
		return r
	})
}

// Records generates whole records of a collection, with ids out of few.
func Records(spec sextant.Collection) *rapid.Generator[store.Record] {
	return rapid.Custom(func(t *rapid.T) store.Record {
		d := sextant.Document{
			ID:         sextant.DocumentID(fmt.Sprintf("s:%s%d", rapid.SampledFrom([]string{"", "é", "/ ", "#"}).Draw(t, "id"), rapid.IntRange(0, 9).Draw(t, "id"))),
			Collection: spec.Name,
			Source:     sextant.Source{Name: "s", Kind: "table", URI: "a/b.csv", Authority: rapid.IntRange(-1, 3).Draw(t, "authority")},
			Title:      rapid.SampledFrom(keywordPool).Draw(t, "title"),
			Text:       strings.Join(rapid.SliceOfN(rapid.SampledFrom(wordPool), 0, 12).Draw(t, "text"), " "),
			Meta:       Metas(spec.Schema).Draw(t, "meta"),
			Revision:   fmt.Sprint(rapid.IntRange(0, 1<<20).Draw(t, "revision")),
		}
		if rapid.Bool().Draw(t, "dated") {
			d.Source.Retrieved = time.Date(2024, 2, 29, 1, 2, 3, 456789000, time.UTC)
			d.Valid = sextant.Period{From: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}
		}
		if rapid.Bool().Draw(t, "differs") {
			d.Differences = []sextant.Difference{
				{Field: "f0", Value: "4", Kept: true, Status: "Final", Date: "2017-03-01", Source: d.Source},
				{Field: "f0", Element: "é#", Source: sextant.Source{Name: "other", URI: "c.csv"}},
			}
		}
		if len(d.Text) > 0 {
			d.Parts = []sextant.Part{{Kind: "narrative", Locator: "p. 1", Start: 0, End: len(d.Text)}, {Kind: "heading", Locator: "§ 1(ä)", Start: 0, End: 1}}
			if at := strings.IndexByte(d.Text, ' '); at > 0 {
				d.Parts = append(d.Parts, sextant.Part{Kind: rapid.SampledFrom([]string{"cause", "unheard of"}).Draw(t, "kind"), Start: at, End: len(d.Text)})
			}
		}
		rec := store.Record{Document: d, Chunks: chunks(t, d)}
		if spec.Encoder != "" {
			for range rec.Chunks {
				rec.Vectors = append(rec.Vectors, Vectors(8).Draw(t, "vector"))
			}
		}
		return rec
	})
}

// chunks cuts the text at some of its blanks.
func chunks(t *rapid.T, d sextant.Document) []sextant.Chunk {
	var out []sextant.Chunk
	start := 0
	for i := 0; i <= len(d.Text); i++ {
		atEnd := i == len(d.Text)
		if atEnd && start == i || !atEnd && (d.Text[i] != ' ' || !utf8.RuneStart(d.Text[i]) || !rapid.Bool().Draw(t, "cut")) {
			continue
		}
		out = append(out, sextant.Chunk{ID: sextant.ChunkID(d.ID, len(out)), DocumentID: d.ID, Index: len(out), Start: start, End: i,
			Heading: rapid.SampledFrom([]string{"", "Part 91 > Icing"}).Draw(t, "heading"), Content: d.Text[start:i]})
		start = i
	}
	return out
}

// Vectors generates vectors of unit length.
func Vectors(dimensions int) *rapid.Generator[[]float32] {
	return rapid.Custom(func(t *rapid.T) []float32 {
		v := make([]float32, dimensions)
		sum := 0.0
		for i := range v {
			v[i] = float32(rapid.IntRange(-50, 50).Draw(t, "component"))
			sum += float64(v[i]) * float64(v[i])
		}
		if sum == 0 {
			v[0], sum = 1, 1
		}
		for i := range v {
			v[i] = float32(float64(v[i]) / math.Sqrt(sum))
		}
		return v
	})
}

// Specs generates collections of a name.
func Specs(name string) *rapid.Generator[sextant.Collection] {
	return rapid.Custom(func(t *rapid.T) sextant.Collection {
		c := sextant.Collection{Name: name, Title: "Generated", Role: sextant.RoleReference, Unit: "things", Schema: Schemas().Draw(t, "schema"), Fill: "fill"}
		if rapid.Bool().Draw(t, "encoder") {
			c.Encoder = "test-8"
		}
		return c
	})
}
