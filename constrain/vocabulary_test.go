package constrain

import (
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

var shelf = sextant.Collection{Name: "shelf", Role: sextant.RoleReference, Schema: filter.Schema{Fields: []filter.Field{{Name: "part", Kind: filter.Keyword, Fold: filter.Squeeze, Facet: true}}}}

// Looking for a part of a value in the suffix array is looking at every value.
func TestContainsIsAScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfNDistinct(rapid.StringMatching(`[AB]{1,3}[-12]{0,3}`), 1, 30, filter.Squeeze.Of).Draw(t, "values")
		values := make([]Value, len(texts))
		for i, text := range texts {
			values[i] = Value{Text: text, Count: int64(i%4 + 1)}
		}
		v := NewVocabulary([]sextant.Collection{shelf}, map[string][]Value{"part": values})
		sub := rapid.StringMatching(`[AB12]{1,3}`).Draw(t, "sub")
		least := int64(rapid.IntRange(1, 20).Draw(t, "least"))
		var containing, beginning int64
		for _, value := range values {
			folded := filter.Squeeze.Of(value.Text)
			if strings.Contains(folded, filter.Squeeze.Of(sub)) {
				containing += value.Count
			}
			if strings.HasPrefix(folded, filter.Squeeze.Of(sub)) {
				beginning += value.Count
			}
		}
		if got := v.Contains("part", sub, least); got != (containing >= least) {
			t.Fatalf("%q in %q at least %d: %v, a scan finds %d", sub, texts, least, got, containing)
		}
		if got := v.Begins("part", sub, least); got != (beginning >= least) {
			t.Fatalf("%q begins %q at least %d: %v, a scan finds %d", sub, texts, least, got, beginning)
		}
	})
}

func TestLookups(t *testing.T) {
	v := NewVocabulary([]sextant.Collection{shelf}, map[string][]Value{"part": {{"PA-28", 3}, {"pa 28", 2}, {"Left Hand Drive", 1}}})
	if value, ok := v.Lookup("part", "pa", "28"); !ok || value.Text != "PA-28" || value.Count != 5 {
		t.Errorf("%v %v", value, ok) // the commoner spelling, both counted
	}
	if value, ok := v.LookupFold("part", "pa28"); !ok || value.Count != 5 {
		t.Errorf("%v %v", value, ok)
	}
	if _, ok := v.Lookup("nothing", "x"); ok || v.Contains("nothing", "x", 1) || v.Has("nothing") || len(v.Values("nothing")) != 0 {
		t.Error("a field that is not there has values")
	}
	if got := v.Near("part", "left hand drove", 2); len(got) != 1 || got[0] != "Left Hand Drive" {
		t.Errorf("near: %v", got)
	}
}

// Parsers and vocabularies are shared by all questions.
func TestConcurrentUse(t *testing.T) {
	v := NewVocabulary([]sextant.Collection{shelf}, map[string][]Value{"part": {{"PA-28", 3}}})
	p := NewParser(v, &Lexicon{}, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if !v.Contains("part", "A2", 1) {
					t.Error("not found")
				}
				p.Parse("the PA-28 since 2012", day(2015, 1, 1))
			}
		})
	}
	wg.Wait()
}
