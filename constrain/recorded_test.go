package constrain_test

import (
	"testing"

	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/store"
)

// Of a field that a quarter of the tickets lack the ledger says in which years it is
// recorded: runs of years without a gap, whose sums are a plain count's.
func TestWhenAFieldIsRecordedIsShown(t *testing.T) {
	docs := book()
	c := open(t, docs)
	v, err := constrain.BuildVocabulary(t.Context(), []store.Collection{c})
	if err != nil {
		t.Fatal(err)
	}
	p := constrain.NewParser(v, lexicon(t), nil)
	a, err := constrain.Keep(t.Context(), []store.Collection{c}, p, p.Parse("open tickets in Leeds", today), constrain.UserFilter{})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, k := range a.Ledger.Constraints {
		if k.Field != "city" {
			if k.Recorded != nil { // the status is recorded everywhere
				t.Errorf("%s: %+v", k.Field, k.Recorded)
			}
			continue
		}
		found = true
		var recorded, of, want int64
		for _, d := range docs {
			if !d.Fields.One("city").IsZero() {
				want++
			}
		}
		for i, r := range k.Recorded {
			recorded, of = recorded+r.Recorded, of+r.Of
			if i > 0 && k.Recorded[i-1].To >= r.From || r.From > r.To || r.Recorded > r.Of {
				t.Errorf("%+v", k.Recorded)
			}
		}
		if recorded != want || of != int64(len(docs)) || recorded+k.Unknown != of {
			t.Errorf("%d of %d recorded, %d unknown; want %d: %+v", recorded, of, k.Unknown, want, k.Recorded)
		}
	}
	if !found {
		t.Error(a.Ledger.Constraints)
	}
}
