package lexical

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// zipf returns n texts of a hundred words, drawn from 50,000 by Zipf's law.
func zipf(n int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := rand.NewZipf(rng, 1.07, 2, 49_999)
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range 100 {
			fmt.Fprintf(&b, "w%s ", strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(draw.Uint64())))
		}
		texts[i] = b.String()
	}
	return texts
}

// narratives are the accident reports of the shared data, cut into 250 words, and their
// probable causes.
var narratives = sync.OnceValues(func() (chunks, causes []string) {
	files, _ := filepath.Glob(filepath.Join(sharedData(), "ntsb-narratives", "*.jsonl.gz"))
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(z)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var record struct {
				Narrative string
				Cause     string `json:"probable_cause"`
			}
			if json.Unmarshal(lines.Bytes(), &record) != nil {
				continue
			}
			causes = append(causes, record.Cause)
			for words := range slices.Chunk(strings.Fields(record.Narrative), 250) {
				chunks = append(chunks, strings.Join(words, " "))
			}
		}
		f.Close()
	}
	return chunks, causes
})

// sharedData is the folder of test data beside the checkout, if there is one.
func sharedData() string {
	if dir := os.Getenv("SEXTANT_SHARED"); dir != "" {
		return filepath.Join(dir, "data")
	}
	return filepath.Join("..", "..", "shared", "data")
}

func needNarratives(tb testing.TB) (chunks, causes []string) {
	tb.Helper()
	chunks, causes = narratives()
	if len(chunks) == 0 {
		tb.Skip("no ntsb-narratives in SEXTANT_SHARED or ../shared/data")
	}
	return chunks, causes
}

func build(tb testing.TB, texts []string) *Index {
	tb.Helper()
	return fill(tb, New(English()), texts)
}

func fill(tb testing.TB, ix *Index, texts []string) *Index {
	tb.Helper()
	row := uint32(0)
	for batch := range slices.Chunk(texts, 256) {
		b := ix.NewBatch()
		for _, text := range batch {
			if err := b.Add(row, Field{Text: text}); err != nil {
				tb.Fatal(err)
			}
			row++
		}
		if err := b.Commit(); err != nil {
			tb.Fatal(err)
		}
	}
	return ix
}

func BenchmarkIndexZipf20k(b *testing.B) { benchmarkIndex(b, Files{}, zipf(20_000)) }

func BenchmarkIndexNarratives(b *testing.B) {
	chunks, _ := needNarratives(b)
	b.Run("memory", func(b *testing.B) { benchmarkIndex(b, Files{}, chunks) })
	b.Run("files", func(b *testing.B) { benchmarkIndex(b, Files{Folder: b.TempDir()}, chunks) })
}

func benchmarkIndex(b *testing.B, files Files, texts []string) {
	var ix *Index
	for b.Loop() {
		ix = fill(b, NewIn(files, English()), texts)
	}
	st := ix.Stats()
	b.ReportMetric(float64(len(texts))*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(st.Bytes)/1e6, "MB")
	b.ReportMetric(float64(st.Files)/1e6, "MB-in-files")
	b.ReportMetric(float64(st.Segments), "segments")
}

func BenchmarkAnalyze(b *testing.B) {
	chunks, _ := needNarratives(b)
	a, atoms, i := English(), 0, 0
	for b.Loop() {
		a.scan(chunks[i%len(chunks)], func(t token) {
			if t.span == 1 {
				atoms++
			}
		})
		i++
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(atoms), "ns/word")
}

func (ix *Index) near(q Query, p BM25, mask []uint64, k int) Result {
	return ix.SearchNear(q, p, mask, k, nil)
}

// The questions are the first ten words of probable causes.
func BenchmarkSearchNarratives(b *testing.B) {
	chunks, causes := needNarratives(b)
	ix := build(b, chunks)
	one := make([]uint64, (len(chunks)+63)/64)
	for i := 0; i < len(chunks); i += 100 {
		one[i/64] |= 1 << (i % 64)
	}
	b.Run("all", func(b *testing.B) { benchmarkSearch(b, ix, ix.Search, causes, nil) })
	b.Run("near", func(b *testing.B) { benchmarkSearch(b, ix, ix.near, causes, nil) })
	inFiles := fill(b, NewIn(Files{Folder: b.TempDir(), Least: 1}, English()), chunks)
	b.Run("near-files", func(b *testing.B) { benchmarkSearch(b, inFiles, inFiles.near, causes, nil) })
	b.Run("1percent", func(b *testing.B) { benchmarkSearch(b, ix, ix.Search, causes, one) })
	for row := uint32(0); row < uint32(len(chunks)); row += 50 {
		if err := ix.Remove(row); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("2percent-removed", func(b *testing.B) { benchmarkSearch(b, ix, ix.Search, causes, nil) })
}

func BenchmarkSearchZipf100k(b *testing.B) {
	texts := zipf(100_000)
	ix := build(b, texts)
	benchmarkSearch(b, ix, ix.Search, texts[:1000], nil)
}

func benchmarkSearch(b *testing.B, ix *Index, search func(Query, BM25, []uint64, int) Result, texts []string, mask []uint64) {
	var questions []Query
	for _, text := range texts {
		if words := strings.Fields(text); len(words) >= 10 {
			questions = append(questions, ix.Analyzer().Query(strings.Join(words[:10], " ")))
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		q := questions[rng.IntN(len(questions))]
		start := time.Now()
		search(q, DefaultBM25, mask, 10)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
}

func BenchmarkReadNarratives(b *testing.B) {
	chunks, _ := needNarratives(b)
	data := written(b, build(b, chunks))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := ReadFrom(bytes.NewReader(data), English()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRowsNarratives(b *testing.B) {
	chunks, _ := needNarratives(b)
	ix := build(b, chunks)
	for _, c := range []struct {
		name string
		expr Expr
	}{
		{"rare-phrase", ParsePhrase("mast bump*")},
		{"phrase", ParsePhrase("recently purchased")},
		{"common-phrase", ParsePhrase("loss of engine power")},
		{"near", Near{Prefix{"carburet"}, Prefix{"ic"}, 5}},
		{"prefix", Prefix{"bird"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = count(ix.Rows(c.expr))
			}
			b.ReportMetric(float64(n), "rows")
		})
	}
}
