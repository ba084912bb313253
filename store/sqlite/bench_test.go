package sqlite

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// The benchmarks are named after the bars they are held to. Their corpus is made up:
// one chunk a document, vectors around 2,000 centres, and a hundred words of an accident
// report where the shared data are at hand, else out of 50,000 in the proportions of a
// language (Zipf), which costs the stemmer three times as much.
const dimensions = 384

func benchSpec() sextant.Collection {
	return sextant.Collection{Name: "bench", Encoder: "bench-384", DateField: "date", Schema: filter.Schema{
		Fields: []filter.Field{
			{Name: "category", Kind: filter.Keyword}, // 100 values
			{Name: "language", Kind: filter.Keyword, Fold: filter.Case},
			{Name: "date", Kind: filter.Time},
			{Name: "size", Kind: filter.Float},
			{Name: "tags", Kind: filter.Keyword, List: true}, // 3 of 50
			{Name: "make", Kind: filter.Keyword, Fold: filter.Case, Group: "aircraft"},
		},
		Groups: []filter.Group{{Name: "aircraft"}},
	}}
}

var centres = sync.OnceValue(func() [][]float32 {
	rng := rand.New(rand.NewPCG(7, 7))
	out := make([][]float32, 2000)
	for i := range out {
		out[i] = unit(func() float64 { return rng.NormFloat64() })
	}
	return out
})

func unit(next func() float64) []float32 {
	v := make([]float32, dimensions)
	sum := 0.0
	for i := range v {
		x := next()
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// benchVector is the vector of chunk i.
func benchVector(i int) []float32 {
	rng := rand.New(rand.NewPCG(uint64(i), 1))
	c := centres()[rng.IntN(2000)]
	j := -1
	return unit(func() float64 { j++; return float64(c[j]) + 0.05*rng.NormFloat64() })
}

// narratives are accident reports cut into a hundred words; none where there are no
// shared data (SEXTANT_SHARED, or the folder shared beside the module's).
var narratives = sync.OnceValue(func() []string {
	shared := cmp.Or(os.Getenv("SEXTANT_SHARED"), filepath.Join("..", "..", "..", "shared"))
	files, _ := filepath.Glob(filepath.Join(shared, "data", "ntsb-narratives", "*.jsonl.gz"))
	var out []string
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			continue
		}
		lines := json.NewDecoder(z)
		for lines.More() {
			var report struct{ Narrative string }
			if lines.Decode(&report) != nil {
				break
			}
			for part := range slices.Chunk(strings.Fields(report.Narrative), 100) {
				out = append(out, strings.Join(part, " "))
			}
		}
	}
	return out
})

func benchText(i int) string {
	if n := len(narratives()); n > 0 {
		return narratives()[((i*7919)%n+n)%n]
	}
	rng := rand.New(rand.NewPCG(uint64(i), 2))
	zipf := rand.NewZipf(rng, 1.1, 4, 49_999)
	var b strings.Builder
	for range 100 {
		fmt.Fprintf(&b, "%s ", benchWord(zipf.Uint64()))
	}
	return b.String()
}

// benchWord makes a pronounceable word of a number.
func benchWord(n uint64) string {
	var b []byte
	for n += 30; n > 0; n /= 70 {
		b = append(b, "bdfgklmnprstvz"[n%14], "aeiou"[n/14%5])
	}
	return string(b)
}

func benchRecord(i int, vectors bool) store.Record {
	rng := rand.New(rand.NewPCG(uint64(i), 3))
	m := filter.Meta{Fields: filter.Fields{
		"category": {filter.OfString(fmt.Sprint("category ", rng.IntN(100)))},
		"language": {filter.OfString([]string{"en", "de", "fr", "es", "pt"}[rng.IntN(5)])},
		"date":     {filter.Date(2010, 1, 1+rng.IntN(1095))},
		"size":     {filter.OfFloat(1e6 * rng.Float64())},
	}}
	for range 3 {
		m.Fields["tags"] = append(m.Fields["tags"], filter.OfString(fmt.Sprint("t", rng.IntN(50))))
	}
	m.Groups = map[string][]filter.Fields{"aircraft": {{"make": {filter.OfString(fmt.Sprint("Make ", int(8000*math.Pow(rng.Float64(), 3))))}}}}
	text := benchText(i)
	d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("bench:%08d", i)), Collection: "bench", Title: fmt.Sprint("Document ", i), Text: text, Meta: m, Revision: "1"}
	rec := store.Record{Document: d, Chunks: []sextant.Chunk{{ID: sextant.ChunkID(d.ID, 0), DocumentID: d.ID, End: len(text), Content: text}}}
	if vectors {
		rec.Vectors = [][]float32{benchVector(i)}
	}
	return rec
}

var benchChunks = flag.Int("chunks", 100_000, "size of the collection that benchmarks ask")

// benchFolder holds the filled collection of all benchmarks; TestMain removes it.
var benchFolder string

func TestMain(m *testing.M) {
	code := m.Run()
	if benchFolder != "" {
		os.RemoveAll(benchFolder)
	}
	os.Exit(code)
}

// filled returns the folder of a data folder with the collection in it, closed.
func filled(b *testing.B) string {
	b.Helper()
	if benchFolder != "" {
		return benchFolder
	}
	dir, err := os.MkdirTemp("", "sextant-bench-*")
	if err != nil {
		b.Fatal(err)
	}
	benchFolder = dir
	s, c := openBench(b, dir)
	const batch = 1024
	for from := 0; from < *benchChunks; from += batch {
		var records []store.Record
		for i := from; i < min(from+batch, *benchChunks); i++ {
			records = append(records, benchRecord(i, true))
		}
		if err := c.Upsert(b.Context(), records); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

func openBench(b testing.TB, dir string) (*Store, store.Collection) {
	b.Helper()
	s, err := Open(b.Context(), Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	c, err := s.Ensure(b.Context(), benchSpec())
	if err != nil {
		b.Fatal(err)
	}
	return s, c
}

// openFilled opens the filled collection for one benchmark.
func openFilled(b *testing.B) store.Collection {
	b.Helper()
	s, c := openBench(b, filled(b))
	b.Cleanup(func() { s.Close() })
	return c
}

// The conditions of the bars: 1 % of the documents; three and five conditions.
var (
	onePercent = filter.Eq{Field: "category", Value: filter.OfString("category 42")}
	three      = filter.And{
		filter.Eq{Field: "language", Value: filter.OfString("DE")},
		filter.Range{Field: "date", Lo: filter.Date(2011, 1, 1), Hi: filter.Date(2011, 12, 31)},
		filter.Eq{Field: "tags", Value: filter.OfString("t7")},
	}
	five = append(three[:3:3],
		filter.Range{Field: "size", Lo: filter.OfFloat(1000)},
		filter.Each{Group: "aircraft", Filter: filter.Not{Filter: filter.Contains{Field: "make", Sub: "ake 77"}}})
)

// BenchmarkCount: bar 0.4 ms for three conditions on 100,000, 4 ms on a million.
func BenchmarkCount(b *testing.B) {
	c := openFilled(b)
	for name, f := range map[string]filter.Filter{"conditions=1": onePercent, "conditions=3": three, "conditions=5": five} {
		b.Run(name, func(b *testing.B) {
			defer reportCPU(b)()
			for b.Loop() {
				if n, err := c.Count(b.Context(), f, ""); err != nil || n == 0 {
					b.Fatal(n, err)
				}
			}
		})
	}
}

// BenchmarkFacet: no bar; 8,000 values, and years.
func BenchmarkFacet(b *testing.B) {
	c := openFilled(b)
	for name, q := range map[string]store.FacetQuery{
		"make/aircraft": {Field: "make", Unit: "aircraft"}, "make/documents": {Field: "make"}, "date/year": {Field: "date", By: store.Year}, "category/three": {Field: "category", Filter: three},
	} {
		b.Run(name, func(b *testing.B) {
			defer reportCPU(b)()
			for b.Loop() {
				if f, err := c.Facet(b.Context(), q); err != nil || len(f.Buckets) == 0 {
					b.Fatal(f, err)
				}
			}
		})
	}
}

// BenchmarkDense: the ten nearest with what is shown of them read; bars 1.5 ms, and
// 0.4 ms under a filter of 1 %; 25 ms for a million. recall is against all vectors in
// float64.
func BenchmarkDense(b *testing.B) {
	c := openFilled(b)
	for name, f := range map[string]filter.Filter{"all": nil, "filter=1%": onePercent} {
		b.Run(name, func(b *testing.B) {
			i, stop := 0, reportCPU(b)
			for b.Loop() {
				i++
				if hits, err := c.SearchDense(b.Context(), store.DenseQuery{Vector: benchVector(-i % 512), Filter: f, Limit: 10}); err != nil || len(hits) != 10 {
					b.Fatal(hits, err)
				}
			}
			stop()
			b.StopTimer()
			b.ReportMetric(recall(b, c), "recall")
		})
	}
}

// recall is the share of the true ten nearest that are found, over some queries, by all
// vectors in float64. What half floats cannot tell apart counts as found.
func recall(b *testing.B, c store.Collection) float64 {
	const queries = 20
	all := make([][]float32, *benchChunks)
	for i := range all {
		all[i] = benchVector(i)
	}
	found := 0
	for q := range queries {
		v := benchVector(-1000 - q)
		var scores []float64
		for _, w := range all {
			scores = append(scores, cosine(v, w))
		}
		slices.Sort(scores)
		tenth := scores[len(scores)-10]
		hits, err := c.SearchDense(b.Context(), store.DenseQuery{Vector: v, Limit: 10})
		if err != nil {
			b.Fatal(err)
		}
		for _, h := range hits {
			var i int
			if _, err := fmt.Sscanf(string(h.Chunk.DocumentID), "bench:%d", &i); err != nil {
				b.Fatal(err)
			}
			if cosine(v, all[i]) > tenth-2e-4 {
				found++
			}
		}
	}
	return float64(found) / (10 * queries)
}

func cosine(v, w []float32) float64 {
	sum := 0.0
	for i := range v {
		sum += float64(v[i]) * float64(w[i])
	}
	return sum
}

// BenchmarkLexical: ten words, ten hits with what is shown of them read; bar p50 1 ms on
// real text (package lexical measures that).
func BenchmarkLexical(b *testing.B) {
	c := openFilled(b)
	for name, f := range map[string]filter.Filter{"all": nil, "filter=1%": onePercent} {
		b.Run(name, func(b *testing.B) {
			defer reportCPU(b)()
			i := 0
			for b.Loop() {
				i++
				words := strings.Fields(benchText(-i))
				if _, err := c.SearchLexical(b.Context(), store.LexicalQuery{Text: strings.Join(words[:min(10, len(words))], " "), Filter: f, Limit: 10}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHybrid: both rankings, a hundred candidates of each with both scores, and twenty
// read, as a question does it; bar 15 ms through the API.
func BenchmarkHybrid(b *testing.B) {
	c := openFilled(b).(store.Hybrid)
	for name, f := range map[string]filter.Filter{"all": nil, "filter=1%": onePercent} {
		b.Run(name, func(b *testing.B) {
			i, stop := 0, reportCPU(b)
			for b.Loop() {
				i++
				hits, err := c.SearchHybrid(b.Context(), store.HybridQuery{Text: benchText(-i % 512)[:60], Vector: benchVector(-i % 512), Encoder: benchSpec().Encoder, Filter: f, Choose: func(all []store.Candidate) []int {
					order := make([]int, min(20, len(all)))
					for i := range order {
						order[i] = i
					}
					return order
				}})
				if err != nil || len(hits) != 20 {
					b.Fatal(len(hits), err)
				}
			}
			stop()
		})
	}
}

// BenchmarkOpen: bars 500 ms with a derived file, 3 s without.
func BenchmarkOpen(b *testing.B) {
	dir := filled(b)
	for _, from := range []string{"derived", "rows"} {
		b.Run(from, func(b *testing.B) {
			defer reportCPU(b)()
			for b.Loop() {
				if from == "rows" {
					b.StopTimer()
					files, _ := filepath.Glob(filepath.Join(dir, "c", "*", derivedFolder, "*"))
					for _, f := range files {
						os.Remove(f)
					}
					b.StartTimer()
				}
				s, _ := openBench(b, dir)
				b.StopTimer()
				s.Close()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkMemory: resident memory of a process that has opened the collection and
// answered some questions, above one that has opened an empty folder; bar 160 MB.
func BenchmarkMemory(b *testing.B) {
	empty, full := residentOf(b, b.TempDir()), residentOf(b, filled(b))
	for b.Loop() {
	}
	b.ReportMetric(float64(full.all-empty.all)/1e6, "MB")
	b.ReportMetric(float64(full.mapped-empty.mapped)/1e6, "MB-of-mapped-files")
}

// resident is how many bytes a process has in memory, and how many of these are pages of
// mapped files, which the system takes back when it needs them.
type resident struct{ all, mapped int64 }

// residentOf runs TestResident on a data folder in a process of its own.
func residentOf(b *testing.B, dir string) resident {
	cmd := exec.Command(os.Args[0], "-test.run=^TestResident$", "-test.v")
	cmd.Env = append(os.Environ(), "SEXTANT_TEST_RESIDENT="+dir)
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out), "resident=")
	var r resident
	if _, err := fmt.Sscan(rest, &r.all, &r.mapped); err != nil {
		b.Fatalf("%v in %q", err, out)
	}
	return r
}

func TestResident(t *testing.T) {
	dir := os.Getenv("SEXTANT_TEST_RESIDENT")
	if dir == "" {
		t.Skip("run by BenchmarkMemory")
	}
	s, c := openBench(t, dir)
	defer s.Close()
	for i := range 20 {
		c.Count(t.Context(), five, "")
		c.Facet(t.Context(), store.FacetQuery{Field: "make"})
		c.SearchLexical(t.Context(), store.LexicalQuery{Text: benchText(-i)[:30]})
		c.SearchDense(t.Context(), store.DenseQuery{Vector: benchVector(-i)})
	}
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	var size, all, mapped int64
	fmt.Sscan(string(b), &size, &all, &mapped)
	fmt.Printf("resident=%d %d\n", all*int64(os.Getpagesize()), mapped*int64(os.Getpagesize()))
}

// BenchmarkIngest: ready chunks with vectors, 256 a commit, durable, all indexes
// included; bar 20,000 a second.
func BenchmarkIngest(b *testing.B) {
	const batch = 256
	var batches [][]store.Record
	for i := range 40 {
		var records []store.Record
		for j := range batch {
			records = append(records, benchRecord(i*batch+j, true))
		}
		batches = append(batches, records)
	}
	s, c := openBench(b, b.TempDir())
	defer s.Close()
	defer reportCPU(b)()
	n := 0
	for b.Loop() {
		records := batches[n%len(batches)]
		for i := range records { // as new documents
			id := sextant.DocumentID(fmt.Sprintf("bench:%d/%d", n, i))
			records[i].Document.ID, records[i].Chunks[0].DocumentID, records[i].Chunks[0].ID = id, id, sextant.ChunkID(id, 0)
		}
		if err := c.Upsert(b.Context(), records); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(n*batch)/b.Elapsed().Seconds(), "chunks/s")
}
