package lexical

import (
	"math"
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
	res := ix.SearchNear(q, DefaultBM25, nil, 2)
	if rows := rowsFound(res); rows[0] != 1 {
		t.Errorf("%v, want row 1 first, where the words are neighbours", rows)
	}
	if one := ix.SearchNear(q, DefaultBM25, nil, 1).Hits; len(one) != 1 || one[0].Row != 1 {
		t.Errorf("the best one is %v", one)
	}
	if none := ix.SearchNear(q, DefaultBM25, nil, 0).Hits; len(none) != 0 {
		t.Errorf("asked for none, got %v", none)
	}
}

// Worked by hand: two terms once each, 2 atoms apart, in a row of average length.
func TestProximityFormula(t *testing.T) {
	ix := newIndex(t, "alpha of beta", "one two three", "four five six")
	res := ix.Search(ix.Analyzer().Query("alpha beta"), DefaultBM25, nil, 1)
	idf := math.Log(1 + 2.5/1.5)
	acc := idf / 4
	want := 2 * min(1, idf) * acc / (acc + 0.9)
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
