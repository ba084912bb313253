package bert_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/bert/berttest"
)

// The shape of rerankers as they are published, and scores of pairs in double precision.
func TestScoresMatchTheModel(t *testing.T) {
	oracle := berttest.New(shapes["tiny"], 9)
	oracle.AddHead(9)
	e := newEncoder(t, openFolder(t, oracle.Write(t)), bert.Options{})
	rng := rand.New(rand.NewPCG(1, 1))
	var pairs []bert.Pair
	for range 12 {
		pairs = append(pairs, bert.Pair{First: randomText(rng, 1+rng.IntN(12)), Second: randomText(rng, rng.IntN(40))})
	}
	got, err := e.Score(t.Context(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	var errorSquares, spread, mean float64
	want := make([]float64, len(pairs))
	for i, p := range pairs {
		want[i] = oracle.Score(p.First, p.Second)
		mean += want[i] / float64(len(pairs))
		errorSquares += math.Pow(float64(got[i])-want[i], 2)
	}
	for _, w := range want {
		spread += math.Pow(w-mean, 2)
	}
	if errorSquares > 0.02*spread {
		t.Errorf("scores %v are off by %.4f of their variance", got, errorSquares/spread)
	}
}

// The second text's end is lost first when both are as long, as in the reference tokenizer.
func TestLongPairsAreCut(t *testing.T) {
	oracle := berttest.New(shapes["tiny"], 9)
	oracle.AddHead(9)
	e := newEncoder(t, openFolder(t, oracle.Write(t)), bert.Options{}) // 64 tokens: room for 61
	long := ""                                                         // one token a letter
	for range 10 {
		long += "abcdefghij"
	}
	for _, tt := range []struct{ pair, same bert.Pair }{
		{bert.Pair{First: long[:10], Second: long}, bert.Pair{First: long[:10], Second: long[:51]}},
		{bert.Pair{First: long, Second: long[:10]}, bert.Pair{First: long[:51], Second: long[:10]}},
		{bert.Pair{First: long[:60], Second: long}, bert.Pair{First: long[:30], Second: long[:31]}},
		{bert.Pair{First: long, Second: long[:60]}, bert.Pair{First: long[:31], Second: long[:30]}},
		{bert.Pair{First: long, Second: long}, bert.Pair{First: long[:30], Second: long[:31]}},
	} {
		got, err := e.Score(t.Context(), []bert.Pair{tt.pair, tt.same})
		if err != nil {
			t.Fatal(err)
		}
		if got[0] != got[1] {
			t.Errorf("%d and %d tokens score %v, cut to %d and %d %v", len(tt.pair.First), len(tt.pair.Second), got[0], len(tt.same.First), len(tt.same.Second), got[1])
		}
	}
}

func TestScoreNeedsAHead(t *testing.T) {
	e := newEncoder(t, openFolder(t, berttest.New(smallest, 1).Write(t)), bert.Options{})
	if _, err := e.Score(t.Context(), []bert.Pair{{First: "a", Second: "b"}}); !errors.Is(err, bert.ErrNoHead) {
		t.Errorf("error %v, want ErrNoHead", err)
	}
}

func TestStatesMatchTheModel(t *testing.T) {
	oracle := berttest.New(shapes["tiny"], 9)
	e := newEncoder(t, openFolder(t, oracle.Write(t)), bert.Options{})
	texts := []string{"first text", "", "another"}
	all, err := e.States(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		ids := oracle.IDs(text)
		want := oracle.States(ids, make([]int, len(ids)))
		if len(all[i].Tokens) != len(ids)-2 || len(all[i].Vectors) != (len(ids)-2)*oracle.Hidden {
			t.Fatalf("%q: %d tokens, %d numbers", text, len(all[i].Tokens), len(all[i].Vectors))
		}
		for j, token := range all[i].Tokens {
			row := all[i].Vectors[j*oracle.Hidden : (j+1)*oracle.Hidden]
			if int(token.ID) != ids[j+1] || cosine(row, want[j+1]) < 0.998 {
				t.Errorf("%q: token %d, %q: cosine %.4f", text, j, text[token.Start:token.End], cosine(row, want[j+1]))
			}
		}
	}
}
