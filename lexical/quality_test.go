package lexical

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// judged is a test collection: texts, questions, and which texts answer them.
type judged struct {
	ids       []string
	texts     [][]Field
	questions map[string]string
	relevant  map[string]map[string]int
}

type record struct {
	ID        string `json:"_id"`
	Title     string
	Text      string
	EventID   string `json:"event_id"`
	Narrative string
	Cause     string `json:"probable_cause"`
}

func readRecords(t testing.TB, parts ...string) []record {
	t.Helper()
	name := filepath.Join(append([]string{sharedData()}, parts...)...)
	f, err := os.Open(name)
	if err != nil {
		t.Skipf("no %s in SEXTANT_SHARED or ../shared/data", filepath.Join(parts...))
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var out []record
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var rec record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			t.Fatal(err)
		}
		out = append(out, rec)
	}
	return out
}

func readJudged(t testing.TB, dir, corpus, qrels string) *judged {
	t.Helper()
	j := &judged{questions: map[string]string{}, relevant: map[string]map[string]int{}}
	for _, rec := range readRecords(t, dir, corpus) {
		text := strings.TrimPrefix(rec.Text, rec.Title)
		j.ids = append(j.ids, rec.ID)
		j.texts = append(j.texts, []Field{{Text: rec.Title}, {Text: text}})
	}
	for _, rec := range readRecords(t, dir, "queries.jsonl") {
		j.questions[rec.ID] = rec.Text
	}
	data, err := os.ReadFile(filepath.Join(sharedData(), dir, qrels))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(data), "\n")[1:] {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		grade, _ := strconv.Atoi(f[2])
		if j.relevant[f[0]] == nil {
			j.relevant[f[0]] = map[string]int{}
		}
		j.relevant[f[0]][f[1]] = grade
	}
	return j
}

// causes is known-item search: a probable cause looks for the narrative of its event.
func readCauses(t testing.TB) *judged {
	j := &judged{questions: map[string]string{}, relevant: map[string]map[string]int{}}
	for _, rec := range readRecords(t, "ntsb-narratives", "sample.jsonl") {
		j.ids = append(j.ids, rec.EventID)
		j.texts = append(j.texts, []Field{{Text: rec.Narrative}})
		j.questions[rec.EventID] = rec.Cause
		j.relevant[rec.EventID] = map[string]int{rec.EventID: 1}
	}
	return j
}

func (j *judged) index(t testing.TB) *Index {
	t.Helper()
	ix := New(English())
	for i, fields := range j.texts {
		if err := ix.Add(uint32(i), fields...); err != nil {
			t.Fatal(err)
		}
	}
	return ix
}

// ndcg10 is the mean nDCG@10 over the judged questions.
func (j *judged) ndcg10(ask func(question string) []uint32) float64 {
	sum, n := 0.0, 0
	for id, grades := range j.relevant {
		var best []int
		for _, g := range grades {
			best = append(best, g)
		}
		slices.Sort(best)
		slices.Reverse(best)
		ideal, gain := 0.0, 0.0
		for i, g := range best[:min(10, len(best))] {
			ideal += float64(g) / math.Log2(float64(i)+2)
		}
		for i, row := range ask(j.questions[id]) {
			gain += float64(grades[j.ids[row]]) / math.Log2(float64(i)+2)
		}
		if ideal > 0 {
			sum += gain / ideal
			n++
		}
	}
	return sum / float64(n)
}

func rowsFound(res Result) []uint32 {
	var rows []uint32
	for _, h := range res.Hits {
		rows = append(rows, h.Row)
	}
	return rows
}

// The floors are a hundredth below what was measured. BEIR publishes 0.665 for BM25 on
// SciFact.
func TestRankingQuality(t *testing.T) {
	for _, c := range []struct {
		name       string
		read       func(testing.TB) *judged
		bm25, near float64
	}{
		{"scifact", func(t testing.TB) *judged { return readJudged(t, "scifact", "corpus.jsonl.gz", "qrels-test.tsv") }, 0.681, 0.684},
		{"cranfield", func(t testing.TB) *judged { return readJudged(t, "cranfield", "corpus.jsonl", "qrels.tsv") }, 0.343, 0.354},
		{"causes", readCauses, 0.483, 0.500},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := c.read(t)
			ix := j.index(t)
			bm25 := j.ndcg10(func(question string) []uint32 {
				return rowsFound(ix.Search(ix.Analyzer().Query(question), DefaultBM25, nil, 10))
			})
			near := j.ndcg10(func(question string) []uint32 {
				return rowsFound(ix.SearchNear(ix.Analyzer().Query(question), DefaultBM25, nil, 10, nil))
			})
			t.Logf("nDCG@10 %.4f, with nearness %.4f", bm25, near)
			if bm25 < c.bm25 || near < c.near {
				t.Errorf("nDCG@10 %.4f and %.4f, want at least %v and %v", bm25, near, c.bm25, c.near)
			}
		})
	}
}
