//go:build integration

package chroma

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/store"
)

// pythonIngest adds the records of a file with Chroma's own client, as its manual says,
// and prints the seconds that took. The vectors are numpy arrays, its fastest form.
const pythonIngest = `
import sys, json, time, chromadb, numpy as np
url, name, file, size = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
c = chromadb.HttpClient(host="127.0.0.1", port=int(url.rsplit(":", 1)[1])).get_or_create_collection(name, configuration={"hnsw": {"space": "ip", "ef_construction": 200, "ef_search": 256, "max_neighbors": 32}})
rows = [json.loads(l) for l in open(file)]
vectors = np.array([r["v"] for r in rows], dtype=np.float32)
began = time.time()
for i in range(0, len(rows), size):
    some = rows[i:i+size]
    c.add(ids=[r["id"] for r in some], embeddings=vectors[i:i+size], metadatas=[r["m"] for r in some], documents=[r["t"] for r in some])
print(time.time() - began)
`

// TestIntegrationIngestRate compares how fast chunks get into a server with how fast
// Chroma's own client adds them: the same chunks, vectors and metadata, in turns, on one
// server. It takes the whole Python package and some minutes, and so is asked for:
// SEXTANT_CHROMA_RATE is how many chunks.
func TestIntegrationIngestRate(t *testing.T) {
	n := 0
	if _, err := fmt.Sscan(os.Getenv("SEXTANT_CHROMA_RATE"), &n); err != nil {
		t.Skip("set SEXTANT_CHROMA_RATE to how many chunks are to be written, such as 10000")
	}
	python := filepath.Join(testbed.Python(t, "chroma-client", "chromadb==1.5.9"), "bin", "python")
	server := testbed.Chroma(t, t.TempDir(), 0)
	spec, batches := rateRecords(n)
	file := filepath.Join(t.TempDir(), "rows.jsonl")
	writeRows(t, file, &spec, batches)
	var ratios []float64
	for round := range 4 {
		took := map[string]float64{}
		ways := []string{"python 1000", "python 5000", "sextant"}
		if round%2 == 1 { // the server goes on working on what it was given before
			slices.Reverse(ways)
		}
		for _, way := range ways {
			if size, is := strings.CutPrefix(way, "python "); is {
				took[way] = pythonRate(t, python, server.URL, fmt.Sprintf("python-%d-%s", round, size), file, size)
			} else {
				took[way] = ownRate(t, server.URL, fmt.Sprintf("rate%d", round), spec, batches)
			}
			t.Logf("round %d: %s: %.0f chunks/s", round, way, float64(n)/took[way])
		}
		ratios = append(ratios, min(took["python 1000"], took["python 5000"])/took["sextant"])
	}
	slices.Sort(ratios)
	median := (ratios[1] + ratios[2]) / 2
	t.Logf("%.0f %% of the faster of Chroma's own client in the median, %.0f %% to %.0f %%", 100*median, 100*ratios[0], 100*ratios[3])
	if median < 0.9 {
		t.Errorf("at least 90 %% are wanted")
	}
}

// pythonRate returns the seconds that Chroma's own client takes.
func pythonRate(t *testing.T, python, url, name, file, size string) float64 {
	out, err := exec.CommandContext(t.Context(), python, "-c", pythonIngest, url, name, file, size).CombinedOutput()
	var s float64
	if _, e := fmt.Sscan(strings.TrimSpace(string(out)), &s); err != nil || e != nil {
		t.Fatalf("python: %v %s", err, out)
	}
	return s
}

// ownRate returns the seconds that writing the same takes here.
func ownRate(t *testing.T, url, database string, spec sextant.Collection, batches [][]store.Record) float64 {
	s, err := Open(Options{URL: url, Database: database, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Ensure(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, b := range batches {
		if err := c.Upsert(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	took := time.Since(began).Seconds()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return took
}

// rateRecords makes documents of one to three chunks, in the batches of ingestion.
func rateRecords(n int) (sextant.Collection, [][]store.Record) {
	spec := sextant.Collection{Name: "rate", Encoder: "test-384", Schema: filter.Schema{Fields: []filter.Field{
		{Name: "state", Kind: filter.Keyword}, {Name: "year", Kind: filter.Int}, {Name: "date", Kind: filter.Time}, {Name: "hours", Kind: filter.Float}, {Name: "tags", Kind: filter.Keyword, List: true}}}}
	rng := rand.New(rand.NewPCG(3, 3))
	words := strings.Fields("the engine lost power over lake pilot landed wire struck ice icing fuel flaps landing and or not while during approach runway weather")
	var batches [][]store.Record
	var batch []store.Record
	for i, chunks := 0, 0; chunks < n; i++ {
		d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("r:%06d", i)), Collection: spec.Name, Title: fmt.Sprintf("Report %d", i), Revision: fmt.Sprintf("%032x", i), Meta: filter.Meta{Fields: filter.Fields{
			"state": {filter.OfString(fmt.Sprintf("S%02d", rng.IntN(50)))}, "year": {filter.OfInt(int64(1990 + rng.IntN(30)))}, "date": {filter.Date(1990+rng.IntN(30), 5, 1)},
			"hours": {filter.OfFloat(rng.Float64() * 1000)}, "tags": {filter.OfString("a"), filter.OfString(fmt.Sprintf("t%d", rng.IntN(20)))}}}}
		rec := store.Record{Document: d}
		var text strings.Builder
		for k := range min(1+rng.IntN(3), n-chunks) {
			from := text.Len()
			for range 120 {
				text.WriteString(words[rng.IntN(len(words))] + " ")
			}
			rec.Chunks = append(rec.Chunks, sextant.Chunk{ID: sextant.ChunkID(d.ID, k), DocumentID: d.ID, Index: k, Start: from, End: text.Len(), Content: text.String()[from:]})
			v, sum := make([]float32, 384), 0.0
			for j := range v {
				v[j] = float32(rng.NormFloat64())
				sum += float64(v[j]) * float64(v[j])
			}
			for j := range v {
				v[j] = float32(float64(v[j]) / math.Sqrt(sum))
			}
			rec.Vectors = append(rec.Vectors, v)
		}
		rec.Document.Text = text.String()
		chunks += len(rec.Chunks)
		if batch = append(batch, rec); len(batch) == 256 || chunks >= n {
			batches, batch = append(batches, batch), nil
		}
	}
	return spec, batches
}

// writeRows writes what the other client is to add: the same ids, texts and metadata.
func writeRows(t *testing.T, file string, spec *sextant.Collection, batches [][]store.Record) {
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for _, b := range batches {
		for _, rec := range b {
			for i, ch := range rec.Chunks {
				m := chunkMetadata(fieldMembers(&spec.Schema, rec.Document.Meta), &rec.Document, ch)
				line, err := json.Marshal(map[string]any{"id": ch.ID, "v": rec.Vectors[i], "m": m, "t": ch.Content})
				if err != nil {
					t.Fatal(err)
				}
				_, _ = w.Write(append(line, '\n'))
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}
