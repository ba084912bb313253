package lexical

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestNearTermsRankFirst(t *testing.T) {
	ix := newIndex(t,
		"mast of the ship, then some words, and bumping",
		"ship of the then, and some words, mast bumping",
		"nothing of it",
	)
	q := ix.Analyzer().Query("mast bumps")
	if far := rowsFound(ix.Search(q, DefaultBM25, nil, 2)); far[0] != 0 {
		t.Fatalf("equal scores should come by row: %v", far)
	}
	res := ix.SearchNear(q, DefaultBM25, nil, 2, nil)
	if rows := rowsFound(res); rows[0] != 1 {
		t.Errorf("%v, want row 1 first, where the words are neighbours", rows)
	}
	if one := ix.SearchNear(q, DefaultBM25, nil, 1, nil).Hits; len(one) != 1 || one[0].Row != 1 {
		t.Errorf("the best one is %v", one)
	}
	if none := ix.SearchNear(q, DefaultBM25, nil, 0, nil).Hits; len(none) != 0 {
		t.Errorf("asked for none, got %v", none)
	}
}

// Of two rows that say a stem equally often, the one with the very word comes first.
func TestTheVeryWordRanksFirst(t *testing.T) {
	ix := newIndex(t, "she likes lime green", "she likes limes here")
	for query, want := range map[string]uint32{"who likes limes?": 1, "who likes lime?": 0} {
		if got := ix.SearchNear(ix.Analyzer().Query(query), DefaultBM25, nil, 1, nil).Hits[0].Row; got != want {
			t.Errorf("%q found row %d", query, got)
		}
	}
}

// Worked by hand: two terms once each, 2 atoms apart, in a row of average length.
func TestProximityFormula(t *testing.T) {
	ix := newIndex(t, "alpha of beta", "one two three", "four five six")
	res := ix.Search(ix.Analyzer().Query("alpha beta"), DefaultBM25, nil, 1)
	idf := math.Log(1 + 2.5/1.5)
	acc := idf / 4
	want := 2*min(1, idf)*acc/(acc+0.9) + exactness*idf
	if got := float64(ix.Proximity(res, DefaultBM25)[0]); math.Abs(got-want) > 1e-6 {
		t.Errorf("proximity %v, want %v", got, want)
	}
	if err := ix.Remove(0); err != nil {
		t.Fatal(err)
	}
	if got := ix.Proximity(res, DefaultBM25)[0]; got != 0 {
		t.Errorf("a removed row has proximity %v", got)
	}
}

// However many are asked for, the first are the same; ties are in the order given, also
// across the depth to which nearness counts, and no score is above the one before it.
func TestNearIsOneOrder(t *testing.T) {
	ix := New(English())
	for i := range 300 {
		text := "ice on the wing"
		if i%3 == 0 {
			text = fmt.Sprintf("wing of number %d without any frost or ice", i)
		}
		if err := ix.Add(uint32(i), Field{Text: text, Weight: 1}); err != nil {
			t.Fatal(err)
		}
	}
	backwards := func(a, b uint32) int { return int(b) - int(a) }
	q := ix.Analyzer().Query("wing ice")
	all := ix.SearchNear(q, DefaultBM25, nil, math.MaxInt, backwards).Hits
	if len(all) != 300 {
		t.Fatalf("%d hits of 300", len(all))
	}
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; a.Score < b.Score || a.Score == b.Score && a.Row < b.Row {
			t.Fatalf("%v before %v", a, b)
		}
	}
	for _, k := range []int{1, 10, 49, 50, 51, 120} {
		if got := ix.SearchNear(q, DefaultBM25, nil, k, backwards).Hits; !slices.Equal(got, all[:k]) {
			t.Errorf("the first %d differ from the first of all", k)
		}
	}
}
