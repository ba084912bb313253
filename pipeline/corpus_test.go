package pipeline_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

// A library's damage book: events with several books each, house rules, and a
// newsletter that nobody has written yet. The engine must not care that it is no
// aviation.

var damages = sextant.Collection{
	Name: "damages", Title: "damage book", Role: sextant.RoleEvents, Unit: "damages", DateField: "day", Fill: "library import damages",
	Schema: filter.Schema{
		Groups: []filter.Group{{Name: "books", Label: "books"}},
		Fields: []filter.Field{
			{Name: "day", Label: "day", Kind: filter.Time},
			{Name: "branch", Label: "branch", Kind: filter.Keyword, Fold: filter.Case, Facet: true},
			{Name: "fee", Label: "fee", Kind: filter.Int},
			{Name: "title", Label: "title", Kind: filter.Keyword, Fold: filter.Case, Group: "books", Facet: true},
			{Name: "shelf", Label: "shelf", Kind: filter.Keyword, Fold: filter.Case, Group: "books", Facet: true},
		},
	},
}

var houseRules = sextant.Collection{
	Name: "rules", Title: "house rules", Role: sextant.RoleRules, Unit: "rules", Fill: "library import rules",
	Schema: filter.Schema{Fields: []filter.Field{{Name: "rule", Label: "rule", Kind: filter.Keyword, Fold: filter.Case}}},
}

var newsletter = sextant.Collection{
	Name: "newsletter", Title: "newsletters", Role: sextant.RoleReports, Unit: "letters", Fill: "library import letters",
	Schema: filter.Schema{Fields: []filter.Field{{Name: "topic", Kind: filter.Keyword, Facet: true}}},
}

func lexicon() *constrain.Lexicon {
	phrases, err := constrain.ParsePhrases("fiction | novel -> shelf=Fiction\natlas -> title=World Atlas\nhouse rule four -> rule=4\n")
	if err != nil {
		panic(err)
	}
	return &constrain.Lexicon{Phrases: phrases, Dates: "day", EventNouns: []string{"damage"}, Measures: []constrain.Measure{{Field: "fee", After: []string{"euros"}}},
		Groupings: map[string]constrain.Grouping{"year": {Name: "year", Field: "day", By: "year"}, "branch": {Name: "branch", Field: "branch"}, "shelf": {Name: "shelf", Field: "shelf"}},
		Units:     map[string]string{"books": "books"}, Generic: map[string]bool{"happened": true}}
}

var domain = pipeline.Domain{
	Collections: []sextant.Collection{damages, houseRules, newsletter},
	Lexicon:     lexicon(),
	Words: plan.Words{Subject: map[string]bool{"book": true, "library": true, "damage": true, "reader": true},
		Sources: map[sextant.Role][]string{sextant.RoleEvents: {"damage"}, sextant.RoleRules: {"rule"}, sextant.RoleReports: {"newsletter"}}},
}

// damaged is one line of the damage book: the books as "title/shelf".
type damaged struct {
	id, day, branch string
	fee             int
	books           []string
	story, cause    string
}

var book = []damaged{
	{"d1", "2010-03-01", "North", 5, []string{"World Atlas/Maps"}, "Tea ran over the table in the reading room.", "The reader left a full cup beside the book."},
	{"d2", "2010-07-04", "North", 12, []string{"Moby Dick/Fiction", "World Atlas/Maps"}, "Rain came in through the open window.", "The caretaker forgot the window."},
	{"d3", "2011-05-05", "South", 0, []string{"Moby Dick/Fiction"}, "A dog chewed the cover.", ""},
	{"d4", "2011-06-06", "South", 7, []string{"Emma/Fiction"}, "Pages were torn out by hand.", "An unknown reader tore them out."},
	{"d5", "2012-01-02", "", 3, []string{"Emma/"}, "The spine broke when the book fell from the lift.", "The lift stopped too hard."},
	{"d6", "2012-02-03", "North", 9, []string{"World Atlas/Maps"}, "Mould was found on the map of Norway.", "The cellar was damp."},
}

func (d damaged) record(t testing.TB) store.Record {
	t.Helper()
	when, err := time.Parse(time.DateOnly, d.day)
	if err != nil {
		t.Fatal(err)
	}
	m := filter.Meta{Fields: filter.Fields{}, Groups: map[string][]filter.Fields{}}
	m.Fields.Set("day", filter.OfTime(when))
	m.Fields.Set("fee", filter.OfInt(int64(d.fee)))
	if d.branch != "" {
		m.Fields.Set("branch", filter.OfString(d.branch))
	}
	for _, b := range d.books {
		title, shelf, _ := strings.Cut(b, "/")
		e := filter.Fields{}
		e.Set("title", filter.OfString(title))
		if shelf != "" {
			e.Set("shelf", filter.OfString(shelf))
		}
		m.Groups["books"] = append(m.Groups["books"], e)
	}
	doc := sextant.Document{ID: sextant.DocumentID("book:" + d.id), Collection: "damages", Title: "Damage " + d.id, Meta: m}
	add(&doc, "record", "Record", "On "+d.day+" damage "+d.id+" was entered.")
	add(&doc, "narrative", "Story", d.story)
	add(&doc, "cause", "Cause", d.cause)
	return whole(t, doc)
}

func add(d *sextant.Document, kind, locator, text string) {
	if text == "" {
		return
	}
	if d.Text != "" {
		d.Text += "\n"
	}
	d.Parts = append(d.Parts, sextant.Part{Kind: kind, Locator: locator, Start: len(d.Text), End: len(d.Text) + len(text)})
	d.Text += text
}

// whole makes a record of a document with one chunk.
func whole(t testing.TB, d sextant.Document) store.Record {
	t.Helper()
	var err error
	if d.Revision, err = d.ComputeRevision(); err != nil {
		t.Fatal(err)
	}
	return store.Record{Document: d, Chunks: []sextant.Chunk{{ID: sextant.ChunkID(d.ID, 0), DocumentID: d.ID, End: len(d.Text), Content: d.Text}}}
}

var now = time.Date(2013, 1, 15, 12, 0, 0, 0, time.UTC)

// library opens a store with the damage book in it, and an engine over it.
func library(t *testing.T, wrap func(store.Store) store.Store) (*pipeline.Engine, store.Store) {
	t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c, err := s.Ensure(ctx, damages)
	if err != nil {
		t.Fatal(err)
	}
	var records []store.Record
	for _, d := range book {
		records = append(records, d.record(t))
	}
	if err := c.Upsert(ctx, records); err != nil {
		t.Fatal(err)
	}
	return engine(t, s, wrap), s
}

func engine(t *testing.T, s store.Store, wrap func(store.Store) store.Store) *pipeline.Engine {
	t.Helper()
	if wrap != nil {
		s = wrap(s)
	}
	e, _ := tracedEngine(t, s)
	return e
}

// tracedEngine is an engine and what it recorded. Every trace of every test must be
// complete, whatever the test is about.
func tracedEngine(t *testing.T, s store.Store, change ...func(*pipeline.Config)) (*pipeline.Engine, *tracetest.Sink) {
	t.Helper()
	sink := &tracetest.Sink{}
	c := pipeline.Config{Store: s, Domain: domain, Now: func() time.Time { return now }, Traces: &trace.Recorder{Sink: sink}}
	for _, f := range change {
		f(&c)
	}
	e, err := pipeline.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, r := range sink.Records() {
			if faults := tracetest.Check(r, &tracetest.Calls{}); faults != nil {
				t.Errorf("the trace of %q is not complete:\n%s", r.Summary.Question, strings.Join(faults, "\n"))
			}
		}
	})
	return e, sink
}

// ask returns the final answer to a question.
func ask(t *testing.T, e *pipeline.Engine, q sextant.Question) sextant.Answer {
	t.Helper()
	var a sextant.Answer
	for event, err := range e.Ask(context.Background(), q) {
		if err != nil {
			t.Fatalf("%q: %v", q.Text, err)
		}
		if f, ok := event.(sextant.Final); ok {
			a = f.Answer
		}
	}
	return a
}
