//go:build integration

package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// filledFolder makes a data folder of documents with vectors, a receipt and marks.
func filledFolder(t *testing.T, dir string, n int) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	spec := sextant.Collection{Name: "reports", Title: "Reports", Role: sextant.RoleEvents, Unit: "reports", Encoder: "test-32", Schema: filter.Schema{
		Fields: []filter.Field{{Name: "state", Kind: filter.Keyword, Fold: filter.Case}, {Name: "year", Kind: filter.Int}, {Name: "make", Kind: filter.Keyword, Group: "aircraft"}},
		Groups: []filter.Group{{Name: "aircraft"}}}}
	c, err := st.Ensure(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 8))
	var batch []store.Record
	for i := range n {
		d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("r:%05d", i)), Collection: "reports", Title: fmt.Sprintf("Report é %d", i), Text: strings.Repeat(fmt.Sprintf("Ice on the wing of number %d. ", i), 5), Revision: fmt.Sprint(i),
			Source: sextant.Source{Name: "r", URI: "r.csv", Retrieved: time.Date(2024, 5, 1, 1, 2, 3, 4000, time.UTC)},
			Meta: filter.Meta{Fields: filter.Fields{"state": {filter.OfString([]string{"AK", "ak", "TX"}[i%3])}, "year": {filter.OfInt(int64(1990 + i%20))}},
				Groups: map[string][]filter.Fields{"aircraft": {{"make": {filter.OfString("CESSNA")}}, {}}}}}
		rec := store.Record{Document: d}
		for k := range 2 {
			from, to := k*len(d.Text)/2, (k+1)*len(d.Text)/2
			rec.Chunks = append(rec.Chunks, sextant.Chunk{ID: sextant.ChunkID(d.ID, k), DocumentID: d.ID, Index: k, Start: from, End: to, Content: d.Text[from:to]})
			v, sum := make([]float32, 32), 0.0
			for j := range v {
				v[j] = float32(rng.NormFloat64())
				sum += float64(v[j]) * float64(v[j])
			}
			for j := range v {
				v[j] = float32(float64(v[j]) / math.Sqrt(sum))
			}
			rec.Vectors = append(rec.Vectors, v)
		}
		if batch = append(batch, rec); len(batch) == 500 || i == n-1 {
			if err := c.Upsert(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			batch = nil
		}
	}
	for i := range 30 {
		if err := st.Journal().PutMark(t.Context(), fmt.Sprintf("ingest/reports/r/%d", i), strings.Repeat("mark ", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Journal().PutReceipt(t.Context(), sextant.Receipt{Run: "20240501T000000Z-1", Source: "r", Collection: "reports", Read: int64(n), Records: map[sextant.Outcome]int64{sextant.Stored: int64(n)}}); err != nil {
		t.Fatal(err)
	}
}

func TestIntegrationMigrateKilled(t *testing.T) {
	migrateKilled(t, "chroma+", "CHROMA_URL=", testbed.Chroma)
}

func TestIntegrationMigrateKilledQdrant(t *testing.T) {
	migrateKilled(t, "", "QDRANT_URL=", testbed.Qdrant)
}

// migrateKilled carries a data folder into a server and from there into another folder,
// each way killed twice and started again. Then both folders export the same bytes, and a
// copy of the server's storage answers as the first folder does, to a process that knows
// nothing.
func migrateKilled(t *testing.T, scheme, variable string, serve func(testing.TB, string, int) *testbed.Process) {
	n := 3000
	if s := os.Getenv("SEXTANT_MIGRATE_DOCUMENTS"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatal(err)
		}
	}
	bin, dir, scratch := binary(t), t.TempDir(), testbed.Scratch(t)
	storage := filepath.Join(scratch, "storage")
	server := serve(t, storage, 0)
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	filledFolder(t, first, n)
	url := scheme + server.URL
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for _, way := range []struct {
		args []string
		each time.Duration // a document's share of the longest that a run lives
	}{
		{[]string{"migrate", "--to", url}, 400 * time.Microsecond},
		{[]string{"migrate", "--from", url, "--to", second}, time.Millisecond}, // much is read before anything is written
	} {
		args := way.args
		for range 2 {
			c := command(t.Context(), bin, first, args...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(400*time.Millisecond + time.Duration(rng.IntN(n))*way.each)
			_ = c.Process.Kill()
			t.Logf("%v: killed: %v", args, c.Wait())
		}
		r := finish(t, command(t.Context(), bin, first, args...))
		if r.code != exitOK {
			t.Fatalf("%v: exit %d\n%s%s", args, r.code, r.out, r.err)
		}
		t.Logf("%v: %s", args, r.out)
	}
	exported := func(data string, env ...string) []byte {
		file := filepath.Join(t.TempDir(), "export.jsonl")
		c := command(t.Context(), bin, data, "export", file)
		c.Env = append(c.Env, env...)
		if r := finish(t, c); r.code != exitOK {
			t.Fatalf("export: %s", r.err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	want := exported(first)
	if got := exported(second); !bytes.Equal(want, got) || len(want) < 100*n {
		t.Errorf("exports of %d and %d bytes differ", len(want), len(got))
	}
	server.Stop()
	moved := filepath.Join(scratch, "moved")
	if err := os.CopyFS(moved, os.DirFS(storage)); err != nil {
		t.Fatal(err)
	}
	copied := serve(t, moved, 0)
	env := variable + copied.URL
	empty := filepath.Join(dir, "empty")
	if got := exported(empty, env); !bytes.Equal(want, got) {
		t.Errorf("exports of %d bytes, and of %d from the copied storage, differ", len(want), len(got))
	}
	for _, args := range [][]string{{"search", "--json", "ice number 1234"}, {"describe", "--json", "reports"}} {
		here, there := command(t.Context(), bin, first, args...), command(t.Context(), bin, empty, args...)
		there.Env = append(there.Env, env)
		a, b := finish(t, here), finish(t, there)
		if a.code != b.code || withoutSize(a.out) != withoutSize(b.out) {
			t.Errorf("%v: exit %d and %d\n%.1500s\n%.1500s%s", args, a.code, b.code, a.out, b.out, b.err)
		}
	}
}

// withoutSize leaves out what a store costs and when it was asked.
func withoutSize(s string) string {
	var out []string
	for _, l := range strings.Split(s, "\n") {
		if !strings.Contains(l, "bytes\"") && !strings.Contains(l, "trace_id") && !strings.Contains(l, "_ms\"") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}
