package constrain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

type filterFields map[string]any

// meta builds metadata: strings, ints, bools and times of the ticket and its devices.
func meta(fields filterFields, devices ...filterFields) filter.Meta {
	m := filter.Meta{Fields: typed(fields), Groups: map[string][]filter.Fields{}}
	for _, d := range devices {
		m.Groups["devices"] = append(m.Groups["devices"], typed(d))
	}
	return m
}

func typed(fields filterFields) filter.Fields {
	out := filter.Fields{}
	for name, v := range fields {
		switch v := v.(type) {
		case string:
			out[name] = []filter.Value{filter.OfString(v)}
		case int:
			out[name] = []filter.Value{filter.OfInt(int64(v))}
		case bool:
			out[name] = []filter.Value{filter.OfBool(v)}
		case time.Time:
			out[name] = []filter.Value{filter.OfTime(v)}
		}
	}
	return out
}

func date(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }

// book is a small desk's year.
func book() []filter.Meta {
	cities, statuses, faults, vendors := []string{"Leeds", "York", "Hull", ""}, []string{"open", "closed"}, []string{"screen", "water", "battery", ""}, []string{"Acme", "Bolt"}
	var out []filter.Meta
	for i := range 60 {
		fields := filterFields{"opened": date(2010+i%6, 1+i%12, 1+i%28), "opened_month": 1 + i%12, "status": statuses[i%2], "visits": i % 7}
		if city := cities[i*7%len(cities)]; city != "" {
			fields["city"] = city
		}
		first := filterFields{"vendor": vendors[i%2], "model": "X-100"}
		if fault := faults[i*5%len(faults)]; fault != "" {
			first["fault"] = fault
		}
		devices := []filterFields{first}
		if i%3 == 0 {
			devices = append(devices, filterFields{"vendor": vendors[(i+1)%2], "model": "Mini", "fault": faults[i%3]})
		}
		out = append(out, meta(fields, devices...))
	}
	return out
}

// open fills an embedded store with the desk's book.
func open(t *testing.T, docs []filter.Meta) store.Collection {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c, err := s.Ensure(t.Context(), tickets)
	if err != nil {
		t.Fatal(err)
	}
	var records []store.Record
	for i, m := range docs {
		d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("desk:%d", i)), Collection: "tickets", Title: "ticket", Text: "A ticket.", Meta: m}
		if d.Revision, err = d.ComputeRevision(); err != nil {
			t.Fatal(err)
		}
		records = append(records, store.Record{Document: d, Chunks: []sextant.Chunk{{ID: sextant.ChunkID(d.ID, 0), DocumentID: d.ID, End: len(d.Text), Content: d.Text}}})
	}
	if err := c.Upsert(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	return c
}

func counted(docs []filter.Meta, f filter.Filter) int64 {
	var n int64
	for _, m := range docs {
		if tickets.Schema.Match(f, m) {
			n++
		}
	}
	return n
}

// The ledger's figures are those of looking at every ticket: alone, together, and when
// together is nothing, all smallest sets whose removal helps.
func TestTheLedgerIsABruteForceCount(t *testing.T) {
	docs := book()
	c := open(t, docs)
	v, err := constrain.BuildVocabulary(t.Context(), []store.Collection{c})
	if err != nil {
		t.Fatal(err)
	}
	p := constrain.NewParser(v, lexicon(t), nil)
	parts := []string{"in Leeds", "in York or Hull", "not in Leeds", "closed", "Acme", "non-Bolt", "with water damage", "broken screen", "in 2012", "since 2014", "in June", "at least 5 visits", "fewer than 2 visits", "Mini", "not in 2010"}
	rapid.Check(t, func(rt *rapid.T) {
		question := "tickets " + strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(parts), 1, 5, rapid.ID[string]).Draw(rt, "parts"), ", ")
		r := p.Parse(question, today)
		a, err := constrain.Keep(t.Context(), []store.Collection{c}, p, r, constrain.UserFilter{})
		if err != nil {
			rt.Fatal(err)
		}
		compiled, at := constrain.Compile(tickets, p.Lexicon(), r.Constraints)
		if got, want := a.Ledger.Joint, counted(docs, constrain.Joint(compiled)); got != want {
			rt.Fatalf("%q: joint %d, want %d", question, got, want)
		}
		for i := range compiled {
			if got, want := a.Ledger.Constraints[at[i]].Alone, counted(docs, constrain.Joint(compiled[i:i+1])); got != want {
				rt.Fatalf("%q: %s alone %d, want %d", question, condition(compiled[i].Condition), got, want)
			}
		}
		if diff := cmp.Diff(relaxations(docs, compiled, a.Ledger.Joint), dropped(a.Ledger.Relaxations)); diff != "" {
			rt.Fatalf("%q: relaxations (-want +got):\n%s", question, diff)
		}
	})
}

// relaxations finds them the long way: every set of constraints, smallest first.
func relaxations(docs []filter.Meta, compiled []constrain.Compiled, joint int64) map[string]int64 {
	out := map[string]int64{}
	for size := 1; joint == 0 && size < len(compiled) && len(out) == 0; size++ {
		for mask := range 1 << len(compiled) {
			var kept []constrain.Compiled
			var fields []string
			for i, c := range compiled {
				if mask&(1<<i) == 0 {
					kept = append(kept, c)
				} else {
					fields = append(fields, c.Field)
				}
			}
			if n := counted(docs, constrain.Joint(kept)); len(fields) == size && n > 0 {
				out[strings.Join(fields, " ")] += n
			}
		}
	}
	return out
}

func dropped(rs []sextant.Relaxation) map[string]int64 {
	out := map[string]int64{}
	for _, r := range rs {
		out[strings.Join(r.Drop, " ")] += r.Count
	}
	return out
}

func TestWhatDoesExistIsShown(t *testing.T) {
	docs := []filter.Meta{
		meta(filterFields{"city": "Leeds", "status": "open", "opened": date(2012, 3, 1)}),
		meta(filterFields{"city": "Leeds", "status": "closed", "opened": date(2013, 3, 1)}),
		meta(filterFields{"city": "York", "status": "closed", "opened": date(2012, 5, 1)}),
	}
	c := open(t, docs)
	v, err := constrain.BuildVocabulary(t.Context(), []store.Collection{c})
	if err != nil {
		t.Fatal(err)
	}
	p := constrain.NewParser(v, lexicon(t), nil)
	a, err := constrain.Keep(t.Context(), []store.Collection{c}, p, p.Parse("closed tickets in Leeds in 2012", today), constrain.UserFilter{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"status": 1, "city": 1, "opened": 1}
	if diff := cmp.Diff(want, dropped(a.Ledger.Relaxations)); diff != "" {
		t.Error(diff)
	}
	at := slices.IndexFunc(a.Ledger.Available, func(x sextant.Available) bool { return x.Field == "opened" })
	if at < 0 || fmt.Sprint(a.Ledger.Available[at].Values) != "[[2013 1]]" {
		t.Errorf("available: %v", a.Ledger.Available)
	}
	if a.Ledger.Filter == "" || !a.Applies("tickets") {
		t.Error("the joint filter is missing")
	}
}

// Both readings of an ambiguous date are counted under the other conditions.
func TestOtherReadingsAreCounted(t *testing.T) {
	docs := []filter.Meta{
		meta(filterFields{"city": "Leeds", "opened": date(2012, 3, 4)}),
		meta(filterFields{"city": "Leeds", "opened": date(2012, 4, 3)}),
		meta(filterFields{"city": "Leeds", "opened": date(2012, 4, 3)}),
	}
	c := open(t, docs)
	v, err := constrain.BuildVocabulary(t.Context(), []store.Collection{c})
	if err != nil {
		t.Fatal(err)
	}
	p := constrain.NewParser(v, lexicon(t), nil)
	a, err := constrain.Keep(t.Context(), []store.Collection{c}, p, p.Parse("Leeds 3/4/2012", today), constrain.UserFilter{})
	if err != nil || len(a.Ledger.Ambiguous) != 1 {
		t.Fatal(err, a.Ledger.Ambiguous)
	}
	readings := a.Ledger.Ambiguous[0].Readings
	if *readings[0].Count != 1 || *readings[1].Count != 2 || !strings.HasPrefix(readings[0].Note, "taken; month first") {
		t.Errorf("%+v", readings)
	}
}

// Absence in a period that is not held proves nothing, and that is said.
func TestPeriodsOutsideWhatIsHeld(t *testing.T) {
	c := open(t, book())
	v, err := constrain.BuildVocabulary(t.Context(), []store.Collection{c})
	if err != nil {
		t.Fatal(err)
	}
	p := constrain.NewParser(v, lexicon(t), nil)
	for question, want := range map[string]string{
		"tickets in 1999": "1999", "tickets before 1980": "the time up to 1979-12-31", "tickets since 2016": "the time from 2016-01-01", "on 3 June 2001": "2001-06-03", "June 2001": "2001-06-01 to 2001-06-30",
		"tickets in 2012": "",
	} {
		a, err := constrain.Keep(t.Context(), []store.Collection{c}, p, p.Parse(question, date(2016, 1, 1)), constrain.UserFilter{})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(a.Ledger.OutsideCoverage, "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q", question, got)
		}
	}
}

// The caller's own filter is a constraint like any other: counted, and relaxed.
func TestUserFilter(t *testing.T) {
	docs := book()
	c := open(t, docs)
	v, err := constrain.BuildVocabulary(t.Context(), []store.Collection{c})
	if err != nil {
		t.Fatal(err)
	}
	p := constrain.NewParser(v, lexicon(t), nil)
	mine := filter.Eq{Field: "city", Value: filter.OfString("Nowhere")}
	user := constrain.UserFilter{Text: "city = Nowhere", Filter: map[string]filter.Filter{"tickets": mine}}
	a, err := constrain.Keep(t.Context(), []store.Collection{c}, p, p.Parse("closed tickets", today), user)
	if err != nil {
		t.Fatal(err)
	}
	last := a.Ledger.Constraints[len(a.Ledger.Constraints)-1]
	if last.Origin != sextant.FromUser || last.Alone != 0 || a.Ledger.Joint != 0 {
		t.Errorf("%+v", last)
	}
	if diff := cmp.Diff(map[string]int64{"filter": 30}, dropped(a.Ledger.Relaxations)); diff != "" {
		t.Error(diff)
	}
}

// What no collection can enforce is said.
func TestFieldsNobodyHas(t *testing.T) {
	c := open(t, book())
	p := desk(t)
	r := p.Parse("tickets under clause seven", today)
	a, err := constrain.Keep(t.Context(), []store.Collection{c}, p, r, constrain.UserFilter{})
	if err != nil || len(a.Ledger.Unenforceable) != 1 || a.Ledger.Unenforceable[0].Field != "clause" {
		t.Errorf("%v %+v", err, a.Ledger.Unenforceable)
	}
}

// Where nothing satisfies all conditions, one of them made wider is counted apart from what
// dropping it gives: a season becomes its year, one mark of a model its family.
func TestWidenings(t *testing.T) {
	c := open(t, []filter.Meta{
		meta(filterFields{"opened": date(2012, 11, 2), "city": "Leeds"}, filterFields{"vendor": "Acme", "model": "X-100B"}),
		meta(filterFields{"opened": date(2011, 7, 9), "city": "York"}, filterFields{"vendor": "Acme", "model": "X-100"}),
	})
	p := desk(t)
	for question, want := range map[string][]sextant.Widening{
		"tickets in Leeds in summer 2012": {{Field: "opened", At: 1, Op: sextant.OpBetween, Values: []any{"2012-01-01", "2012-12-31"}, Count: 1}},
		"tickets in York in 2012":         nil,
	} {
		a, err := constrain.Keep(t.Context(), []store.Collection{c}, p, p.Parse(question, today), constrain.UserFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, a.Ledger.Widenings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", question, diff)
		}
	}
}
