package eval_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant/eval"
)

// Worked by hand: of the relevant a (grade 3), b (1) and c (1), a stands second and b
// fourth.
func TestMeasure(t *testing.T) {
	q := eval.Measure([]string{"x", "a", "y", "b"}, eval.Grades{"a": 3, "b": 1, "c": 1, "z": 0})
	ideal := 3 + 1/math.Log2(3) + 1/math.Log2(4)
	want := eval.Quality{NDCG: (3/math.Log2(3) + 1/math.Log2(5)) / ideal, Recall2: 1. / 3, Recall10: 2. / 3, Recall: 2. / 3, MRR: 0.5, MAP: (0.5 + 0.5) / 3}
	for _, pair := range [][2]float64{{q.NDCG, want.NDCG}, {q.Recall2, want.Recall2}, {q.Recall10, want.Recall10}, {q.Recall, want.Recall}, {q.MRR, want.MRR}, {q.MAP, want.MAP}} {
		if math.Abs(pair[0]-pair[1]) > 1e-12 {
			t.Errorf("got %+v, want %+v", q, want)
		}
	}
}

// Every figure is between 0 and 1, and 1 where all that is relevant stands first.
func TestMeasuresAreShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 1, 30, rapid.ID).Draw(t, "ids")
		g := eval.Grades{}
		for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 1, 10, rapid.ID).Draw(t, "relevant") {
			g[id] = rapid.Float64Range(1, 4).Draw(t, "grade")
		}
		q := eval.Measure(rapid.Permutation(ids).Draw(t, "ranking"), g)
		for _, x := range []float64{q.NDCG, q.Recall2, q.Recall10, q.Recall, q.MRR, q.MAP} {
			if x < 0 || x > 1+1e-9 {
				t.Fatalf("%+v", q)
			}
		}
		slices.SortFunc(ids, func(a, b string) int { return int(math.Copysign(1, g[b]-g[a])) * btoi(g[a] != g[b]) })
		if best := eval.Measure(ids, g); math.Abs(best.NDCG-1) > 1e-9 || math.Abs(best.MAP-1) > 1e-9 || best.MRR != 1 {
			t.Fatalf("the ideal ranking has %+v", best)
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestBootstrapTellsNoiseFromGain(t *testing.T) {
	before, noise, gain := make([]float64, 200), make([]float64, 200), make([]float64, 200)
	for i := range before {
		before[i] = float64(i%7) / 7
		noise[i] = before[i] + []float64{-0.1, 0.1}[i%2]
		gain[i] = before[i] + []float64{0.02, 0.08}[i%2]
	}
	if d := eval.Bootstrap(before, noise); d.Low > 0 || d.High < 0 || math.Abs(d.Mean) > 1e-9 {
		t.Errorf("noise: %+v", d)
	}
	if d := eval.Bootstrap(before, gain); d.Low <= 0.04 || d.High >= 0.06 || math.Abs(d.Mean-0.05) > 1e-9 {
		t.Errorf("gain: %+v", d)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestOpenJudgedReadsBEIR(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "corpus.jsonl", `{"_id":"d1","title":"Ice","text":"Ice on wings"}`+"\n"+`{"_id":"d2","title":"","text":"Fuel"}`+"\n")
	write(t, dir, "queries.jsonl", `{"_id":"q1","text":"icing"}`+"\n"+`{"_id":"q2","text":"not judged"}`+"\n")
	write(t, dir, "qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\n")
	write(t, dir, "claims.jsonl", `{"id":"7","split":"train","claim":"Fuel ran out","cited_doc_ids":["d2"]}`+"\n"+`{"id":"8","split":"dev","claim":"x","cited_doc_ids":["d1"]}`+"\n")
	j, err := eval.OpenJudged(dir, "")
	if err != nil || len(j.Documents) != 2 || len(j.Queries) != 1 || j.Queries[0].Grades["d1"] != 2 || j.Documents[0].Text != "on wings" {
		t.Errorf("%+v, %v", j, err)
	}
	if j, err = eval.OpenJudged(dir, "train"); err != nil || len(j.Queries) != 1 || j.Queries[0].Grades["d2"] != 1 {
		t.Errorf("%+v, %v", j.Queries, err)
	}
	if _, err := eval.OpenJudged(dir, "validation"); err == nil {
		t.Error("a split without judgements was read")
	}
}

func TestOpenJudgedReadsNarratives(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "sample.jsonl", `{"event_id":"a","narrative":"The engine stopped.","probable_cause":"no fuel"}
{"event_id":"b","narrative":"The engine  stopped.","probable_cause":"ice"}
{"event_id":"c","narrative":"It flew.","probable_cause":""}
`)
	j, err := eval.OpenJudged(filepath.Join(dir, "sample.jsonl"), "")
	if err != nil || len(j.Queries) != 2 || j.Queries[0].Grades["b"] != 1 || j.Documents[0].Text != "The engine stopped." {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestHalvesAreApart(t *testing.T) {
	var j eval.Judged
	for i := range 500 {
		j.Queries = append(j.Queries, eval.JudgedQuery{ID: string(rune('a'+i%26)) + string(rune('a'+i/26))})
	}
	a, errA := j.Of(eval.First)
	b, errB := j.Of(eval.Second)
	if errA != nil || errB != nil || len(a.Queries)+len(b.Queries) != 500 || len(a.Queries) < 200 || len(b.Queries) < 200 {
		t.Errorf("%d and %d, %v, %v", len(a.Queries), len(b.Queries), errA, errB)
	}
	if _, err := j.Of("third"); err == nil {
		t.Error("there is no third half")
	}
}

func TestRankingsAreWrittenAsTheyAreRead(t *testing.T) {
	j := eval.Judged{Name: "none", Queries: []eval.JudgedQuery{{ID: "q", Grades: eval.Grades{"a": 1}}}}
	r, err := eval.Rank(t.Context(), j, "both", func(context.Context, string) ([]string, error) { return []string{"b", "a"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := eval.WriteRankings(&out, j, r); err != nil || out.String() != "q\t0.6309\tb\ta\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
