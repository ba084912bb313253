package filter_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	. "github.com/sextant-rag/sextant/filter"
)

var schema = Schema{
	Groups: []Group{{Name: "aircraft"}},
	Fields: []Field{
		{Name: "state", Kind: Keyword, Fold: Case},
		{Name: "tags", Kind: Keyword, List: true},
		{Name: "dead", Kind: Int},
		{Name: "score", Kind: Float, List: true},
		{Name: "open", Kind: Bool},
		{Name: "day", Kind: Time},
		{Name: "code", Kind: Keyword, Fold: Squeeze},
		{Name: "name", Kind: Keyword, Fold: Squeeze},
		{Name: "place", Kind: Keyword, Fold: Squeeze, AnyOf: []string{"code", "name"}},
		{Name: "make", Kind: Keyword, Fold: Case, Group: "aircraft"},
		{Name: "model", Kind: Keyword, Fold: Squeeze, Group: "aircraft"},
		{Name: "engines", Kind: Int, Group: "aircraft"},
	},
}

func aircraft(fields ...string) Fields {
	e := Fields{}
	for i := 0; i < len(fields); i += 2 {
		e.Set(fields[i], OfString(fields[i+1]))
	}
	return e
}

// midair is an event of two aircraft: a Cessna 150 and a Piper PA-28-161.
var midair = Meta{
	Fields: Fields{
		"state": {OfString("AK")}, "dead": {OfInt(2)}, "day": {Date(2010, 7, 4)},
		"tags": {OfString("midair"), OfString("day vmc")}, "code": {OfString("MRI")}, "name": {OfString("MERRILL FIELD")},
	},
	Groups: map[string][]Fields{"aircraft": {aircraft("make", "CESSNA", "model", "150"), aircraft("make", "Piper", "model", "PA-28-161")}},
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		expr string
		want bool
	}{
		{`state = AK`, true},
		{`state = ak`, true},
		{`state != AK`, false},
		{`open != true`, false}, // unknown is not known to differ
		{`not open = true`, true},
		{`tags = midair and tags = "day vmc"`, true},
		{`tags = "DAY VMC"`, false}, // this field does not fold
		{`dead >= 2 and dead < 3`, true},
		{`dead between 3 and 9`, false},
		{`day = 2010-07-04`, true},
		{`day <= 2010-07-04`, true},
		{`day < 2010-07-04`, false},
		{`day > 2010-07-03`, true},
		{`day in (2009-01-01, 2010-07-04)`, true},
		{`aircraft(make = CESSNA and model contains 150)`, true},
		{`make = CESSNA and model contains 28`, false}, // never of two different aircraft
		{`aircraft(make = CESSNA) and aircraft(model contains 28)`, true},
		{`(make = CESSNA or make = PIPER) and model contains PA28161`, true},
		{`make = piper and state = AK and model = pa28-161`, true},
		{`place contains merrill`, true},
		{`place = mri`, true},
		{`score exists`, false},
		{`make not in (CESSNA)`, true}, // the Piper is known and different
		{`not make = CESSNA`, false},
		{`all`, true},
		{`none or state in ()`, false},
	} {
		f, err := schema.ParseExpr(tt.expr)
		if err != nil {
			t.Errorf("%s: %v", tt.expr, err)
			continue
		}
		if got := schema.Match(f, midair); got != tt.want {
			t.Errorf("%s (%s): got %v", tt.expr, String(f), got)
		}
	}
}

func TestMatchElement(t *testing.T) {
	f, _ := schema.ParseExpr(`state = AK and make = PIPER`)
	for i, want := range []bool{false, true} {
		if got := schema.MatchElement(f, midair, "aircraft", i); got != want {
			t.Errorf("aircraft %d: got %v", i, got)
		}
	}
}

// A condition on the text is the document's: true of each of its elements.
func TestMentions(t *testing.T) {
	for expr, want := range map[string]Mentions{
		`mentions "mast bump*"`:                    {Phrases: []string{"mast bump*"}},
		`MENTIONS icing`:                           {Phrases: []string{"icing"}},
		`mentions in cause ("ran out", starv*)`:    {Part: "cause", Phrases: []string{"ran out", "starv*"}},
		`mentions fuel near ("selector", "valve")`: {Phrases: []string{"fuel"}, Near: []string{"selector", "valve"}, Within: DefaultWithin},
		`mentions fuel near selector within 12`:    {Phrases: []string{"fuel"}, Near: []string{"selector"}, Within: 12},
		`mentions in narrative any`:                {Part: "narrative"},
		`mentions "any"`:                           {Phrases: []string{"any"}},
	} {
		f, err := schema.ParseExpr(expr)
		if diff := cmp.Diff(Filter(want), f); err != nil || diff != "" {
			t.Errorf("%s: %v %s", expr, err, diff)
		}
		x := Matcher{Schema: &schema, Mentioned: func(m Mentions) bool { return cmp.Equal(m, want) }}
		if !x.Match(f, midair) || !x.MatchElement(And{f, Each{"aircraft", Exists{"make"}}}, midair, "aircraft", 1) || schema.Match(f, midair) {
			t.Errorf("%s: does not match by its text alone", expr)
		}
	}
}

func TestParseExprRefuses(t *testing.T) {
	for _, expr := range []string{
		``, `state`, `state =`, `state ~ AK`, `nowhere = 1`, `dead = two`, `day = july`, `state > AK`, `(state = AK`, `state = AK or`,
		`state = "AK`, `aircraft(state = AK)`, `dead contains 2`, `make = CESSNA and )`, `! state`, "state = \xff", `state in (AK`, `not`,
		`mentions`, `mentions "--"`, `mentions in "x`, `mentions ()`, `mentions ice near`, `mentions ice near fuel within soon`, `mentions ice near fuel within 64`, `mentions ("a" "b")`, `aircraft(mentions ice)`,
	} {
		if f, err := schema.ParseExpr(expr); !errors.Is(err, ErrSchema) {
			t.Errorf("%q: got %v, %v", expr, f, err)
		}
	}
}

func TestResolveKnowsWhereFieldsStand(t *testing.T) {
	if _, err := schema.Resolve(Eq{"make", OfString("CESSNA")}); !errors.Is(err, ErrSchema) {
		t.Errorf("a group's field outside Each: %v", err)
	}
	if _, err := schema.Resolve(Each{"aircraft", Eq{"state", OfString("AK")}}); !errors.Is(err, ErrSchema) {
		t.Errorf("a document's field inside Each: %v", err)
	}
	f, err := schema.Resolve(Range{Field: "score", Lo: OfInt(1)})
	if want := (Range{Field: "score", Lo: OfFloat(1)}); err != nil || f != Filter(want) {
		t.Errorf("ints widen to floats: %v, %v", f, err)
	}
}

func TestMetaRoundTrip(t *testing.T) {
	data, err := midair.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := schema.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(midair, back, cmp.AllowUnexported(Value{})); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`{"state":1}`, `{"dead":[1,2]}`, `{"make":"CESSNA"}`, `{"aircraft":[{"state":"AK"}]}`, `{"nowhere":1}`, `[]`, `{"dead":1.5}`} {
		if m, err := schema.Decode([]byte(bad)); err == nil {
			t.Errorf("%s: decoded as %v", bad, m)
		}
	}
}

// Generators: small domains, so that conditions meet values often.

var words = rapid.SampledFrom([]string{"AK", "ak", " AK ", "WA", "PA-28", "pa28", "", "é"})

func value(t *rapid.T, f Field) Value {
	switch f.Kind {
	case Keyword:
		return OfString(words.Draw(t, "word"))
	case Int:
		return OfInt(rapid.Int64Range(-2, 2).Draw(t, "int"))
	case Float:
		return OfFloat(float64(rapid.IntRange(-2, 2).Draw(t, "float")) / 2)
	case Bool:
		return OfBool(rapid.Bool().Draw(t, "bool"))
	}
	return OfTime(time.Date(2010, 1, rapid.IntRange(1, 4).Draw(t, "day"), rapid.SampledFrom([]int{0, 13}).Draw(t, "hour"), 0, 0, 0, time.UTC))
}

func fields(t *rapid.T, group string) Fields {
	out := Fields{}
	for _, f := range schema.Fields {
		if f.Group != group || len(f.AnyOf) > 0 {
			continue
		}
		most := 1
		if f.List {
			most = 3
		}
		for range rapid.IntRange(0, most).Draw(t, "values") {
			out[f.Name] = append(out[f.Name], value(t, f))
		}
	}
	return out
}

func meta(t *rapid.T) Meta {
	m := Meta{Fields: fields(t, ""), Groups: map[string][]Fields{}}
	for range rapid.IntRange(0, 3).Draw(t, "aircraft") {
		m.Groups["aircraft"] = append(m.Groups["aircraft"], fields(t, "aircraft"))
	}
	return m
}

func anyFilter(t *rapid.T, group string, depth int) Filter {
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if depth == 0 {
		kind = 9
	}
	switch {
	case kind < 4:
		subs := make([]Filter, rapid.IntRange(0, 3).Draw(t, "n"))
		for i := range subs {
			subs[i] = anyFilter(t, group, depth-1)
		}
		if kind < 2 {
			return And(subs)
		}
		return Or(subs)
	case kind < 6:
		return Not{anyFilter(t, group, depth-1)}
	case kind == 6 && group == "":
		return Each{"aircraft", anyFilter(t, "aircraft", depth-1)}
	}
	if group == "" && kind == 7 {
		return anyMention(t)
	}
	return condition(t, group)
}

func anyMention(t *rapid.T) Mentions {
	phrases := rapid.SliceOfN(rapid.SampledFrom([]string{"ice", "mast bump*", `say "when" \\ ice`, "any", "near"}), 0, 2)
	m := Mentions{Part: rapid.SampledFrom([]string{"", "cause", "a part", "any"}).Draw(t, "part"), Phrases: phrases.Draw(t, "phrases")}
	if len(m.Phrases) > 0 {
		if m.Near = phrases.Draw(t, "near"); len(m.Near) > 0 {
			m.Within = rapid.IntRange(0, MaxWithin).Draw(t, "within")
		}
	}
	return m
}

// says is a text in which what is mentioned depends on all of a condition.
func says(m Mentions) bool {
	return len(fmt.Sprintf("%s%q%q%d", m.Part, m.Phrases, m.Near, m.Within))%2 == 0
}

func condition(t *rapid.T, group string) Filter {
	var of []Field
	for _, f := range schema.Fields {
		if f.Group == group {
			of = append(of, f)
		}
	}
	f := rapid.SampledFrom(of).Draw(t, "field")
	switch rapid.IntRange(0, 4).Draw(t, "op") {
	case 0:
		return Eq{f.Name, value(t, f)}
	case 1:
		vs := make([]Value, rapid.IntRange(0, 3).Draw(t, "n"))
		for i := range vs {
			vs[i] = value(t, f)
		}
		return In{f.Name, vs}
	case 2:
		if f.Kind == Keyword {
			return Contains{f.Name, words.Draw(t, "sub")}
		}
		if f.Kind != Bool {
			r := Range{Field: f.Name, LoExcl: rapid.Bool().Draw(t, "loexcl"), HiExcl: rapid.Bool().Draw(t, "hiexcl")}
			if rapid.Bool().Draw(t, "lo") {
				r.Lo = value(t, f)
			}
			if rapid.Bool().Draw(t, "hi") {
				r.Hi = value(t, f)
			}
			return r
		}
	}
	return Exists{f.Name}
}

// Resolve and Simplify must never change what a filter means.
func TestResolveKeepsMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, m := anyFilter(t, "", 3), meta(t)
		r, err := schema.Resolve(f)
		if err != nil {
			t.Fatal(err)
		}
		x := Matcher{Schema: &schema, Mentioned: says}
		if x.Match(f, m) != x.Match(r, m) {
			t.Fatalf("%s became %s", String(f), String(r))
		}
	})
}

func TestAlgebra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, m := anyFilter(t, "", 2), anyFilter(t, "", 2), meta(t)
		holds := func(f Filter) bool { return schema.Match(f, m) }
		laws := map[string][2]Filter{
			"De Morgan, and":      {Not{And{a, b}}, Or{Not{a}, Not{b}}},
			"De Morgan, or":       {Not{Or{a, b}}, And{Not{a}, Not{b}}},
			"double negation":     {Not{Not{a}}, a},
			"absorption":          {And{a, Or{a, b}}, a},
			"distribution":        {And{a, Or{b, Not{b}}}, a},
			"In is Or of Eq":      {In{"dead", []Value{OfInt(1), OfInt(2)}}, Or{Eq{"dead", OfInt(1)}, Eq{"dead", OfInt(2)}}},
			"empty In is nothing": {In{"dead", nil}, None},
			"Not over missing":    {Not{Exists{"dead"}}, And{Not{Exists{"dead"}}, Not{Eq{"dead", OfInt(1)}}}},
			"Each of Or":          {Each{"aircraft", Or{Eq{"engines", OfInt(1)}, Exists{"make"}}}, Or{Each{"aircraft", Eq{"engines", OfInt(1)}}, Each{"aircraft", Exists{"make"}}}},
		}
		for name, law := range laws {
			if holds(law[0]) != holds(law[1]) {
				t.Fatalf("%s: %s and %s differ", name, String(law[0]), String(law[1]))
			}
		}
	})
}

// An element matches exactly when some reading of the document with it alone does,
// and a document with a condition on a group matches when one of its elements does.
func TestElementsAndDocumentsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner, outer, m := anyFilter(t, "aircraft", 2), condition(t, ""), meta(t)
		f := And{outer, Each{"aircraft", inner}}
		any := false
		for i := range m.Groups["aircraft"] {
			any = any || schema.MatchElement(f, m, "aircraft", i)
		}
		if any != schema.Match(f, m) {
			t.Fatalf("%s: elements say %v", String(f), any)
		}
	})
}

// What String writes, ParseExpr reads back with the same meaning.
func TestExprRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, err := schema.Resolve(anyFilter(t, "", 3))
		if err != nil {
			t.Fatal(err)
		}
		text, m := String(f), meta(t)
		back, err := schema.ParseExpr(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		x := Matcher{Schema: &schema, Mentioned: says}
		if x.Match(f, m) != x.Match(back, m) {
			t.Fatalf("%s came back as %s", text, String(back))
		}
	})
}

func FuzzParseExpr(f *testing.F) {
	for _, s := range []string{`state = AK and not aircraft(make in (CESSNA, "A \" B"))`, `day between 2010-01-01 and 2011-12-31 or (dead >= 3)`, `((((`, `mentions in cause ("ice", mast*) near "fuel" within 3`, `not mentions any`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := schema.ParseExpr(s)
		if err != nil {
			return
		}
		if _, err := schema.ParseExpr(String(g)); err != nil {
			t.Fatalf("%q was read as %s, which is not read: %v", s, String(g), err)
		}
	})
}
