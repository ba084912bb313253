package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// ruled is the library with house rules and a damage that cites one.
func ruled(t *testing.T) *pipeline.Engine {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	events, err := s.Ensure(t.Context(), damages)
	if err != nil {
		t.Fatal(err)
	}
	cited := damaged{"d7", "2012-05-01", "North", 4, []string{"Emma/Fiction"}, "Soup ran over the shelf, contrary to house rule 4.2(a).", "A guest carried soup into the hall."}
	if err := events.Upsert(t.Context(), append(bookRecords(t), cited.record(t))); err != nil {
		t.Fatal(err)
	}
	rules, err := s.Ensure(t.Context(), houseRules)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"4.2": "Food is not to be taken beyond the cloakroom.", "5.1": "Windows are closed at night.", "6.3": "Dogs wait outside."} {
		m := filter.Meta{Fields: filter.Fields{}}
		m.Fields.Set("rule", filter.OfString(name))
		d := sextant.Document{ID: sextant.DocumentID("rule:" + name), Collection: "rules", Title: "House rule " + name, Meta: m}
		add(&d, "paragraph", "", text)
		if err := rules.Upsert(t.Context(), []store.Record{whole(t, d)}); err != nil {
			t.Fatal(err)
		}
	}
	own := domain
	own.Rule = pipeline.RuleFields{Name: "rule"}
	e, err := pipeline.New(t.Context(), pipeline.Config{Store: s, Domain: own, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The four strategies do different things: one collection, one after the other with what the
// first found, all at once, and again until nothing is missing.
func TestStrategies(t *testing.T) {
	e := ruled(t)
	for question, want := range map[string]struct {
		strategy string
		rounds   int
		sources  string
	}{
		"What does the rule about windows say?":          {"direct", 1, "rules"},
		"Why did soup run over the shelf?":               {"sequential", 1, "damages rules"},
		"What happened with the soup?":                   {"parallel", 1, "damages"},
		"Compare the soup with the quicksilver and gold": {"iterative", 2, "damages"},
	} {
		a := ask(t, e, sextant.Question{Text: question})
		if a.Strategy != want.strategy || len(a.Rounds) != want.rounds || strings.Join(a.Rounds[0].Sources, " ") != want.sources {
			t.Errorf("%s: %s, %d rounds over %v", question, a.Strategy, len(a.Rounds), a.Rounds[0].Sources)
		}
	}
}

func TestSequentialAsksWithWhatTheFirstFound(t *testing.T) {
	a := ask(t, ruled(t), sextant.Question{Text: "Why did soup run over the shelf?"})
	if q := a.Rounds[0].Queries["rules"]; !strings.Contains(q, "4.2") {
		t.Errorf("the rules were asked for %q", q)
	}
	if !strings.Contains(strings.Join(titles(a), "; "), "House rule 4.2") {
		t.Errorf("the cited rule is not among the evidence: %v", titles(a))
	}
}

func bookRecords(t *testing.T) (out []store.Record) {
	t.Helper()
	for _, d := range book {
		out = append(out, d.record(t))
	}
	return out
}

func titles(a sextant.Answer) (out []string) {
	for _, p := range a.Evidence {
		out = append(out, p.Title)
	}
	return out
}
