package sqlite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// The benchmarks are named after the bars they are held to, see docs/design.md. Their
// corpus is made up: one chunk a document, a hundred words out of 50,000 in the
// proportions of a language (Zipf), vectors around 2,000 centres.
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

func benchText(i int) string {
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
	s, err := Open(b.Context(), Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	c, err := s.Ensure(b.Context(), benchSpec())
	if err != nil {
		b.Fatal(err)
	}
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
