package aviation_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/aviation/sample"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// A saying is how a condition stands in a question, with the filter it means. The filter is
// written by hand here: nothing of what reads and compiles questions has a part in it.
type saying struct {
	place  int    // where in the question it stands: before the noun, after it, at the end
	field  string // one saying a field and question
	text   string
	filter filter.Filter
	group  bool // of an aircraft, not of the event
}

const (
	beforeNoun = iota
	withAircraft
	duringFlight
	outcome
	conditions
	somewhere
	sometime
)

func is(field string, values ...string) filter.Filter {
	in := filter.In{Field: field}
	for _, v := range values {
		in.Values = append(in.Values, filter.OfString(v))
	}
	return in
}

// otherThan: known and different.
func otherThan(f filter.Filter, field string) filter.Filter {
	return filter.And{filter.Exists{Field: field}, filter.Not{Filter: f}}
}

func number(field string, lo, hi int64) filter.Filter {
	r := filter.Range{Field: field}
	if lo >= 0 {
		r.Lo = filter.OfInt(lo)
	}
	if hi >= 0 {
		r.Hi = filter.OfInt(hi)
	}
	return r
}

func period(from, to string) filter.Filter {
	var lo, hi filter.Value
	if from != "" {
		lo = filter.OfTime(civil(from))
	}
	if to != "" {
		hi = filter.OfTime(civil(to))
	}
	return filter.DayRange("event_date", lo, hi)
}

func civil(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

// sayings are everything that is said of a corpus: the values it has of each field, with
// the operators people use for them.
func sayings(docs []*sextant.Document) []saying {
	var out []saying
	add := func(place int, field string, group bool, f filter.Filter, format string, args ...any) {
		out = append(out, saying{place, field, fmt.Sprintf(format, args...), f, group})
	}
	event := func(place int, field string, f filter.Filter, format string, args ...any) {
		add(place, field, false, f, format, args...)
	}
	craft := func(place int, field string, f filter.Filter, format string, args ...any) {
		add(place, field, true, f, format, args...)
	}
	states := seen(docs, "state", false, 2)
	states = slices.DeleteFunc(states, func(s string) bool { return s == "UN" }) // what some records have for an unknown one
	for i, s := range states {
		event(somewhere, "state", is("state", s), "in %s", s)
		event(somewhere, "state", otherThan(is("state", s), "state"), "not in %s", s)
		event(somewhere, "state", is("state", s, states[(i+7)%len(states)]), "in %s or %s", s, states[(i+7)%len(states)])
	}
	for _, c := range seen(docs, "country", false, 3) {
		if slices.Contains([]string{"Canada", "Mexico", "Brazil", "France", "Germany", "Bahamas", "Colombia", "Australia", "Spain", "Italy", "Venezuela", "Japan"}, c) {
			event(somewhere, "state", is("country", c), "in %s", c)
			event(somewhere, "state", otherThan(is("country", c), "country"), "outside %s", c)
		}
	}
	for y := years(docs)[0]; y <= years(docs)[1]; y++ {
		event(sometime, "date", period(iso(y, 1, 1), iso(y, 12, 31)), "in %d", y)
		event(sometime, "date", period(iso(y, 1, 1), ""), "since %d", y)
		event(sometime, "date", period("", iso(y-1, 12, 31)), "before %d", y)
		event(sometime, "date", period(iso(y+1, 1, 1), ""), "after %d", y)
		event(sometime, "date", period("", iso(y, 12, 31)), "until %d", y)
		event(sometime, "date", period(iso(y, 1, 1), iso(y+2, 12, 31)), "between %d and %d", y, y+2)
		event(sometime, "date", period(iso(y, 1, 1), iso(y+1, 12, 31)), "from %d to %d", y, y+1)
		event(sometime, "date", period(iso(y, 7, 1), iso(y, 9, 30)), "in Q3 of %d", y)
		event(sometime, "date", period(iso(y, 6, 1), iso(y, 8, 31)), "in the summer of %d", y)
		for m := time.January; m <= time.December; m++ {
			last := time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day()
			event(sometime, "date", period(iso(y, int(m), 1), iso(y, int(m), last)), "in %s %d", m, y)
			day := 1 + (y+int(m))%28
			event(sometime, "date", period(iso(y, int(m), day), iso(y, int(m), day)), "on %d %s %d", day, m, y)
		}
	}
	event(beforeNoun, "severity", is("severity", "fatal"), "fatal")
	event(beforeNoun, "severity", is("severity", "nonfatal"), "nonfatal")
	event(conditions, "weather", is("weather", "IMC"), "in IMC")
	event(conditions, "weather", is("weather", "VMC"), "in visual conditions")
	event(conditions, "weather", otherThan(is("weather", "IMC"), "weather"), "not in IMC")
	for n := int64(1); n <= 8; n++ {
		event(outcome, "people", number("fatal_count", n, n), "that killed exactly %d people", n)
		event(outcome, "people", number("fatal_count", n, -1), "with at least %d fatalities", n)
		event(outcome, "people", number("fatal_count", n+1, -1), "with more than %d dead", n)
		event(outcome, "people", number("fatal_count", -1, n), "with up to %d deaths", n)
		event(outcome, "people", number("fatal_count", n, n+3), "that killed between %d and %d people", n, n+3)
		event(outcome, "people", number("serious_count", n, -1), "with %d or more serious injuries", n)
		event(outcome, "people", number("minor_count", n, n), "with exactly %d minor injuries", n)
		event(outcome, "people", number("uninjured_count", -1, n-1), "with fewer than %d uninjured", n)
	}
	event(outcome, "people", is("injuries", "none"), "with no injuries")
	for _, p := range []struct{ value, text string }{{"TAKEOFF", "during takeoff"}, {"CLIMB", "in the climb"}, {"CRUISE", "in cruise"}, {"MANEUVERING", "while maneuvering"}, {"DESCENT", "during descent"}, {"APPROACH", "on approach"}, {"LANDING", "on landing"}, {"GO-AROUND", "during a go-around"}, {"TAXI", "while taxiing"}} {
		craft(duringFlight, "phase", is("phase", p.value), "%s", p.text)
		craft(duringFlight, "phase", otherThan(is("phase", p.value), "phase"), "not %s", p.text)
	}
	for _, d := range []struct{ value, text string }{{"destroyed", "where the aircraft was destroyed"}, {"substantial", "with substantial damage"}, {"minor", "with minor damage"}, {"none", "with no damage"}} {
		craft(outcome, "damage", is("damage", d.value), "%s", d.text)
	}
	makes := seen(docs, "make", true, 25)
	for i, m := range makes {
		if !slices.Contains([]string{"CESSNA", "PIPER", "BEECH", "BOEING", "MOONEY", "CIRRUS", "ROBINSON", "SCHWEIZER", "HUGHES", "AIR TRACTOR", "MAULE", "AERONCA", "LUSCOMBE", "STINSON", "LEARJET", "AIRBUS", "EUROCOPTER", "ENSTROM", "SIKORSKY", "EMBRAER"}, m) {
			continue
		}
		craft(withAircraft, "make", is("make", m), "involving a %s", title(m))
		craft(withAircraft, "make", otherThan(is("make", m), "make"), "not involving a %s", title(m))
		if other := makes[(i+1)%len(makes)]; slices.Contains([]string{"CESSNA", "PIPER", "BEECH", "BOEING", "MOONEY", "CIRRUS", "ROBINSON"}, other) {
			craft(withAircraft, "make", is("make", m, other), "involving a %s or a %s", title(m), title(other))
		}
	}
	for maker, models := range map[string][]string{"CESSNA": {"150", "152", "172", "172N", "182", "206", "208B"}, "PIPER": {"PA-18", "PA-28", "PA-28-181", "PA-32"}, "BEECH": {"A36", "V35", "58"}, "ROBINSON": {"R22", "R44"}, "BELL": {"206B", "407"}, "CIRRUS": {"SR20", "SR22"}} {
		for _, m := range models {
			craft(withAircraft, "make", filter.And{is("make", maker), filter.Contains{Field: "model", Sub: m}}, "involving a %s %s", title(maker), m)
		}
	}
	for _, e := range []struct {
		text string
		n    int64
	}{{"single-engine", 1}, {"twin-engine", 2}, {"three-engine", 3}, {"four-engine", 4}} {
		craft(beforeNoun, "engines", number("engine_count", e.n, e.n), "%s", e.text)
	}
	craft(beforeNoun, "engine type", is("engine_type", "Turbo Prop"), "turboprop")
	craft(beforeNoun, "engine type", is("engine_type", "Turbo Fan", "Turbo Jet"), "jet")
	craft(beforeNoun, "amateur", is("amateur_built", "yes"), "amateur-built")
	craft(beforeNoun, "amateur", is("amateur_built", "no"), "factory-built")
	for _, c := range []string{"Helicopter", "Glider", "Balloon"} { // "twin-engine airplane" is an airplane by the way, not by condition
		craft(beforeNoun, "category", is("aircraft_category", c), "%s", strings.ToLower(c))
	}
	for _, p := range []string{"91", "121", "135", "137"} {
		craft(beforeNoun, "part", is("far_part", p), "Part %s", p)
	}
	for _, p := range []struct{ value, text string }{{"Instructional", "on an instructional flight"}, {"Positioning", "on a positioning flight"}, {"Ferry", "on a ferry flight"}, {"Personal", "on a personal flight"}, {"Business", "on a business flight"}, {"Aerial Application", "during aerial application"}, {"Banner Tow", "while banner towing"}} {
		craft(duringFlight, "purpose", is("purpose", p.value), "%s", p.text)
	}
	return out
}

func iso(y, m, d int) string { return fmt.Sprintf("%04d-%02d-%02d", y, m, d) }

func title(s string) string {
	words := strings.Fields(strings.ToLower(s))
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

// seen returns the values of a field that stand in at least so many documents or aircraft.
func seen(docs []*sextant.Document, field string, group bool, least int) []string {
	counts := map[string]int{}
	for _, d := range docs {
		elements := []filter.Fields{d.Meta.Fields}
		if group {
			elements = d.Meta.Groups[aviation.Aircraft]
		}
		for _, e := range elements {
			for _, v := range e[field] {
				counts[v.Str()]++
			}
		}
	}
	var out []string
	for v, n := range counts {
		if n >= least {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

func years(docs []*sextant.Document) [2]int {
	out := [2]int{9999, 0}
	for _, d := range docs {
		if v := d.Meta.Fields.One("event_date"); !v.IsZero() && v.Time().Year() >= 1982 {
			out = [2]int{min(out[0], v.Time().Year()), max(out[1], v.Time().Year())}
		}
	}
	return out
}

// oracle counts by looking at every document and every aircraft: each condition once, kept
// as a set. Conditions on aircraft must hold for one of them, so their sets are of aircraft.
type oracle struct {
	schema filter.Schema
	docs   []*sextant.Document
	owner  []int // of each aircraft, its document
	sets   map[string]set
}

// set marks documents or aircraft by their place.
type set []uint64

func newOracle(docs []*sextant.Document) *oracle {
	o := &oracle{schema: aviation.Incidents().Schema, docs: docs, sets: map[string]set{}}
	for i, d := range docs {
		for range d.Meta.Groups[aviation.Aircraft] {
			o.owner = append(o.owner, i)
		}
	}
	return o
}

func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (o *oracle) set(s saying) set {
	if have, ok := o.sets[s.text]; ok {
		return have
	}
	out := make(set, len(o.owner)/64+1+len(o.docs)/64)
	at := 0
	for i, d := range o.docs {
		if !s.group {
			if o.schema.Match(s.filter, d.Meta) {
				out.add(i)
			}
			continue
		}
		for k := range d.Meta.Groups[aviation.Aircraft] {
			if o.schema.MatchElement(filter.Each{Group: aviation.Aircraft, Filter: s.filter}, d.Meta, aviation.Aircraft, k) {
				out.add(at)
			}
			at++
		}
	}
	o.sets[s.text] = out
	return out
}

func (o *oracle) count(said []saying) int64 {
	var events, aircraft set
	for _, s := range said {
		if s.group {
			aircraft = both(aircraft, o.set(s))
		} else {
			events = both(events, o.set(s))
		}
	}
	if aircraft != nil {
		owners := make(set, len(o.docs)/64+1)
		for k, i := range o.owner {
			if aircraft.has(k) {
				owners.add(i)
			}
		}
		events = both(owners, events)
	}
	var n int64
	for _, w := range events {
		n += int64(bits.OnesCount64(w))
	}
	return n
}

// both is what two sets share; nil is everything.
func both(a, b set) set {
	if a == nil || b == nil {
		return slices.Concat(a, b)
	}
	out := make(set, min(len(a), len(b)))
	for i := range out {
		out[i] = a[i] & b[i]
	}
	return out
}

// question writes sayings of different fields as one question.
func question(r *rand.Rand, all []saying) (string, []saying) {
	said := []saying{}
	for range 1 + r.IntN(4) {
		s := all[r.IntN(len(all))]
		if !slices.ContainsFunc(said, func(o saying) bool { return o.field == s.field }) {
			said = append(said, s)
		}
	}
	slices.SortStableFunc(said, func(a, b saying) int { return a.place - b.place })
	words := []string{[]string{"How many", "List all", "Were there any", "Show me the"}[r.IntN(4)]}
	noun := false
	for _, s := range said {
		if s.place > beforeNoun && !noun {
			words, noun = append(words, "accidents"), true
		}
		words = append(words, s.text)
	}
	if !noun {
		words = append(words, "accidents")
	}
	return strings.Join(words, " "), said
}

// Questions made of the corpus's own fields, operators and values are counted by the store
// as a look at every document counts them. SEXTANT_GENERATED sets how many; with the
// records of 1982 to 2017 at hand a hundred thousand take some minutes.
func TestGeneratedQuestions(t *testing.T) {
	n, docs := 1000, generatedDocs(t)
	if s := os.Getenv("SEXTANT_GENERATED"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	c := held(t, docs)
	v, err := constrain.BuildVocabulary(t.Context(), []store.Collection{c}, aviation.Lexicon().Lookups...)
	if err != nil {
		t.Fatal(err)
	}
	p := constrain.NewParser(v, aviation.Lexicon(), aviation.Made)
	all, o := sayings(docs), newOracle(docs)
	r := rand.New(rand.NewPCG(1, 2))
	wrong, none := 0, 0
	for range n {
		text, said := question(r, all)
		compiled, _ := constrain.Compile(c.Spec(), p.Lexicon(), p.Parse(text, time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)).Constraints)
		got, err := c.Count(t.Context(), constrain.Joint(compiled), store.Documents)
		if err != nil {
			t.Fatal(err)
		}
		want := o.count(said)
		if want == 0 {
			none++
		}
		if got == want {
			continue
		}
		if wrong++; wrong <= 20 {
			t.Errorf("%q: the store counts %d, a look at every document %d", text, got, want)
		}
	}
	t.Logf("%d questions over %d documents, %d sayings: %d counted otherwise; %d have no record", n, len(docs), len(all), wrong, none)
}

// generatedDocs are the sample's, and all of the records where so many questions are asked.
func generatedDocs(t *testing.T) []*sextant.Document {
	records := sample.Open()
	if os.Getenv("SEXTANT_GENERATED") != "" {
		var err error
		if records, err = aviation.OpenNTSB(sharedData(t, "ntsb-aviationdata", "AviationData-2017.csv.gz")); err != nil {
			t.Fatal(err)
		}
	}
	merged, err := documentsOf(records)
	if err != nil {
		t.Fatal(err)
	}
	var out []*sextant.Document
	for _, d := range merged {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *sextant.Document) int { return strings.Compare(string(a.ID), string(b.ID)) })
	if os.Getenv("SEXTANT_GENERATED") == "" {
		out = out[:min(len(out), 800)]
	}
	return out
}

// held puts documents into an embedded store, without their texts.
func held(t *testing.T, docs []*sextant.Document) store.Collection {
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c, err := s.Ensure(t.Context(), aviation.Incidents())
	if err != nil {
		t.Fatal(err)
	}
	for batch := range slices.Chunk(docs, 1000) {
		var records []store.Record
		for _, d := range batch {
			d.Collection, d.Text, d.Parts = "incidents", d.Title, nil
			if d.Revision, err = d.ComputeRevision(); err != nil {
				t.Fatal(err)
			}
			records = append(records, store.Record{Document: *d, Chunks: []sextant.Chunk{{ID: sextant.ChunkID(d.ID, 0), DocumentID: d.ID, End: len(d.Text), Content: d.Text}}})
		}
		if err := c.Upsert(t.Context(), records); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
