package lexical

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// corpus is the plain truth an index is compared with.
type corpus map[uint32][]Field

// bm25 scores every row by the definition, in float64, looking at all the text.
func (c corpus) bm25(a *Analyzer, q Query, p BM25) map[uint32]float64 {
	freq := map[uint32]map[string]float64{}
	length, total := map[uint32]float64{}, 0.0
	for row, fields := range c {
		f := map[string]float64{}
		for _, field := range fields {
			w := float64(max(field.Weight, 1))
			for _, t := range a.Tokens(field.Text) {
				f[t.Stem] += w
				if t.Span == 1 {
					length[row] += w
				}
			}
		}
		if length[row] > 0 {
			freq[row] = f
			total += length[row]
		}
	}
	n := float64(len(freq))
	df := func(stem string) (df float64) {
		for _, f := range freq {
			if f[stem] > 0 {
				df++
			}
		}
		return df
	}
	scores := map[uint32]float64{}
	for _, t := range q.Terms {
		d := df(t.Stem)
		if t.Unless != "" && df(t.Unless) > 0 || d == 0 {
			continue
		}
		idf := math.Log(1 + (n-d+0.5)/(d+0.5))
		for row, f := range freq {
			if x := min(f[t.Stem], 255); x > 0 {
				norm := float64(p.K1) * (1 - float64(p.B) + float64(p.B)*length[row]/(total/n))
				scores[row] += float64(t.Weight) * idf * x / (x + norm)
			}
		}
	}
	return scores
}

var vocabulary = []string{"land", "landing", "landed", "engine", "engines", "N123AB", "N-123AB", "n 123 ab", "PA-28-161",
	"PA 28", "91.409(b)", "the", "of", "pilot's", "8,000", "take-off", "takeoff", "14CFR", "stall"}

func drawText(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 12).Draw(t, label), " ")
}

// Whatever is added, removed, merged and masked, the index ranks as the definition does
// on the rows that are left.
func TestSearchIsBM25OfWhatIsLeft(t *testing.T) {
	a, folder := English(), t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		ix, truth := somewhere(t, folder, a), corpus{}
		defer os.RemoveAll(folder)
		row := uint32(rapid.IntRange(0, 200).Draw(t, "first"))
		for range rapid.IntRange(1, 30).Draw(t, "batches") {
			b := ix.NewBatch()
			for range rapid.IntRange(0, 5).Draw(t, "adds") {
				row += uint32(rapid.IntRange(1, 90).Draw(t, "gap"))
				fields := []Field{{Text: drawText(t, "heading"), Weight: 3}, {Text: drawText(t, "text")}}
				if err := b.Add(row, fields...); err != nil {
					t.Fatal(err)
				}
				truth[row] = fields
			}
			for range rapid.IntRange(0, 3).Draw(t, "removes") {
				gone := uint32(rapid.IntRange(0, int(row)).Draw(t, "gone"))
				b.Remove(gone)
				delete(truth, gone)
			}
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 9).Draw(t, "written and read") == 0 {
				ix = again(t, ix)
			}
		}
		q := a.Query(drawText(t, "question"))
		p := BM25{K1: rapid.Float32Range(0, 3).Draw(t, "k1"), B: rapid.Float32Range(0, 1).Draw(t, "b")}
		mask := rapid.SliceOfN(rapid.Uint64(), 0, int(row/64)+2).Draw(t, "mask")
		if rapid.Bool().Draw(t, "no mask") {
			mask = nil
		}
		checkRanking(t, truth.bm25(a, q, p), ix.Search(q, p, mask, rapid.IntRange(0, 20).Draw(t, "k")), mask)
	})
}

func checkRanking(t *rapid.T, want map[uint32]float64, got Result, mask []uint64) {
	const tolerance = 1e-4
	within := 0
	for row := range want {
		if passes(mask, row) {
			within++
		}
	}
	for i, h := range got.Hits {
		if !passes(mask, h.Row) {
			t.Fatalf("row %d is not in the mask", h.Row)
		}
		if math.Abs(want[h.Row]-float64(h.Score)) > tolerance {
			t.Fatalf("row %d: score %v, want %v", h.Row, h.Score, want[h.Row])
		}
		if h.Terms == 0 {
			t.Fatalf("row %d has no terms", h.Row)
		}
		if i > 0 {
			if before := got.Hits[i-1]; before.Score < h.Score || before.Score == h.Score && before.Row >= h.Row {
				t.Fatalf("out of order: %v before %v", before, h)
			}
		}
	}
	if len(got.Hits) == 0 {
		return
	}
	worst := float64(got.Hits[len(got.Hits)-1].Score)
	for row, score := range want {
		found := slices.ContainsFunc(got.Hits, func(h Hit) bool { return h.Row == row })
		if passes(mask, row) && !found && score > worst+tolerance {
			t.Fatalf("row %d of score %v is missing; worst hit %v", row, score, worst)
		}
	}
	if len(got.Hits) > within {
		t.Fatalf("%d hits, only %d rows match", len(got.Hits), within)
	}
}

func newIndex(t testing.TB, texts ...string) *Index {
	t.Helper()
	ix := New(English())
	for i, text := range texts {
		if err := ix.Add(uint32(i), Field{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	return ix
}

func found(ix *Index, question string) []uint32 {
	return rowsFound(ix.Search(ix.Analyzer().Query(question), DefaultBM25, nil, 100))
}

// Ten rows of the same text score the same and come in order of their numbers, which
// is also how the cut at k falls.
func TestTiesFollowRowNumbers(t *testing.T) {
	ix := New(English())
	for row := range uint32(300) {
		if err := ix.Add(row, Field{Text: "boilerplate that opens every report"}); err != nil {
			t.Fatal(err)
		}
	}
	for i, h := range ix.Search(ix.Analyzer().Query("every report"), DefaultBM25, nil, 10).Hits {
		if h.Row != uint32(i) {
			t.Fatalf("hit %d is row %d", i, h.Row)
		}
	}
}

func TestResultNamesTheTermsOfEachHit(t *testing.T) {
	ix := newIndex(t, "carburetor icing", "icing conditions", "a carburetor")
	res := ix.Search(ix.Analyzer().Query("carburetors with icing"), DefaultBM25, nil, 10)
	got := map[uint32][]string{}
	for _, h := range res.Hits {
		for i, term := range res.Terms {
			if h.Terms>>i&1 != 0 {
				got[h.Row] = append(got[h.Row], term.Word)
			}
		}
	}
	want := map[uint32][]string{0: {"carburetors", "icing"}, 1: {"icing"}, 2: {"carburetors"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMaskHidesRowsAndChangesNoScore(t *testing.T) {
	ix := newIndex(t, "engine fire", "engine", "fire engine fire")
	q := ix.Analyzer().Query("engine fire")
	all := ix.Search(q, DefaultBM25, nil, 10).Hits
	masked := ix.Search(q, DefaultBM25, []uint64{1<<0 | 1<<2}, 10).Hits
	want := slices.DeleteFunc(all, func(h Hit) bool { return h.Row == 1 })
	if diff := cmp.Diff(want, masked); diff != "" {
		t.Error(diff)
	}
	if hits := ix.Search(q, DefaultBM25, []uint64{}, 10).Hits; len(hits) != 0 {
		t.Errorf("an empty mask lets %v pass", hits)
	}
}

// A question longer than MaxQueryTerms keeps its rarest words.
func TestLongQuestion(t *testing.T) {
	ix := New(English())
	words := make([]string, 200)
	for i := range words {
		words[i] = fmt.Sprintf("word%c%c", 'a'+i/26, 'a'+i%26)
	}
	for row := range uint32(200) {
		// Word i is in rows 0 to i: the first words are the rarest.
		if err := ix.Add(row, Field{Text: strings.Join(words[row:], " ")}); err != nil {
			t.Fatal(err)
		}
	}
	res := ix.Search(ix.Analyzer().Query(strings.Join(words, " ")), DefaultBM25, nil, 1)
	if len(res.Terms) != MaxQueryTerms || res.Terms[0].Word != words[0] || res.Hits[0].Row != 0 {
		t.Errorf("%d terms, first %q, best row %v", len(res.Terms), res.Terms[0].Word, res.Hits)
	}
}

func TestAddRefusesRowsOutOfOrderAndTooLarge(t *testing.T) {
	ix := New(English())
	if err := ix.Add(7, Field{Text: "seven"}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []uint32{7, 3} {
		if err := ix.Add(row, Field{Text: "again"}); err == nil {
			t.Errorf("row %d was accepted after 7", row)
		}
	}
	if err := ix.Add(8, Field{Text: "x", Weight: 17}); err == nil {
		t.Error("weight 17 was accepted")
	}
	if got := found(ix, "again"); got != nil {
		t.Errorf("a refused row is found: %v", got)
	}
}

// Operators are words, and words that say nothing count only if there are no others.
func TestQuestionsOfFunctionWords(t *testing.T) {
	ix := newIndex(t, "and or not", "engine", "NOT an engine")
	for question, want := range map[string][]uint32{
		"AND OR NOT":           {0, 2},
		"what is the engine*?": {1, 2},
		"\"engine":             {1, 2},
		"* ( : -":              nil,
		"":                     nil,
	} {
		if diff := cmp.Diff(want, found(ix, question)); diff != "" {
			t.Errorf("%q: %s", question, diff)
		}
	}
}
