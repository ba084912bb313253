package retrieve_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/retrieve"
)

func passages(texts ...string) []sextant.Passage {
	out := make([]sextant.Passage, len(texts))
	for i, text := range texts {
		out[i] = sextant.Passage{ChunkID: string(rune('a' + i)), Content: text}
	}
	return out
}

func contents(all []sextant.Passage) []string {
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = p.Content
	}
	return out
}

func TestDedupKeepsEveryFact(t *testing.T) {
	const (
		failure = "The engine failed because the fuel pump seized."
		storage = "The engine failed because the fuel pump seized after 14 months of storage without preservation."
	)
	for name, tt := range map[string]struct{ in, want []string }{
		"the same":                    {[]string{failure, failure}, []string{failure}},
		"word for word, other order":  {[]string{"Mould and damp. In the cellar.", "In the cellar: damp and mould."}, []string{"Mould and damp. In the cellar."}},
		"one detail more, first":      {[]string{storage, failure}, []string{storage}},
		"one detail more, second":     {[]string{failure, storage}, []string{storage}},
		"it takes the better place":   {[]string{failure, "Something else.", storage}, []string{storage, "Something else."}},
		"numbers differ":              {[]string{"2 of 3 engines failed.", "3 of 3 engines failed."}, []string{"2 of 3 engines failed.", "3 of 3 engines failed."}},
		"one denies":                  {[]string{"The gear did extend.", "The gear did not extend."}, []string{"The gear did not extend."}},
		"each knows something":        {[]string{"The left engine failed in cruise.", "The left engine failed on descent."}, []string{"The left engine failed in cruise.", "The left engine failed on descent."}},
		"nothing":                     {nil, nil},
		"three that grow":             {[]string{"Ice.", "Ice and snow.", "Ice and snow and fog."}, []string{"Ice and snow and fog."}},
		"identifiers are not alike":   {[]string{"N123AB landed.", "N123AC landed."}, []string{"N123AB landed.", "N123AC landed."}},
		"an inflected word is enough": {[]string{"Engines failed.", "The engine failed."}, []string{"Engines failed."}},
	} {
		kept, dropped := retrieve.Dedup(passages(tt.in...))
		if !slices.Equal(contents(kept), tt.want) && len(kept)+len(tt.want) > 0 {
			t.Errorf("%s: kept %q, want %q", name, contents(kept), tt.want)
		}
		if len(kept)+len(dropped) != len(tt.in) {
			t.Errorf("%s: %d kept and %d dropped of %d", name, len(kept), len(dropped), len(tt.in))
		}
	}
}

// The titles tell two events of one wording apart.
func TestDedupLooksAtTitles(t *testing.T) {
	p := passages("A bird was struck.", "A bird was struck.")
	p[0].Title, p[1].Title = "Accident at Kodiak, 2010", "Accident at Bethel, 2011"
	if kept, _ := retrieve.Dedup(p); len(kept) != 2 {
		t.Errorf("two events became %d", len(kept))
	}
}

// Whatever is dropped, a kept passage says each of its words, and what is kept is as it was.
func TestDedupLosesNothing(t *testing.T) {
	word := rapid.SampledFrom([]string{"engine", "failed", "not", "7", "14", "fuel", "pump", "storage", "left", "right"})
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		for range rapid.IntRange(0, 8).Draw(t, "passages") {
			text := ""
			for _, w := range rapid.SliceOfN(word, 1, 6).Draw(t, "words") {
				text += w + " "
			}
			texts = append(texts, text)
		}
		in := passages(texts...)
		kept, dropped := retrieve.Dedup(in)
		for _, d := range dropped {
			if !slices.ContainsFunc(kept, func(k sextant.Passage) bool { return saysAll(k.Content, d.Passage.Content) }) {
				t.Fatalf("%q was dropped and no passage of %q says it", d.Passage.Content, contents(kept))
			}
		}
		for _, k := range kept {
			if !slices.Contains(texts, k.Content) {
				t.Fatalf("%q was not given", k.Content)
			}
		}
	})
}

func saysAll(a, b string) bool {
	has := map[string]bool{}
	for _, w := range fields(a) {
		has[w] = true
	}
	return !slices.ContainsFunc(fields(b), func(w string) bool { return !has[w] })
}

func fields(s string) []string { return strings.Fields(s) }
