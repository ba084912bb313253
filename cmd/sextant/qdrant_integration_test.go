//go:build integration

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/internal/testbed"
)

// Documents that were taken in on one machine into a Qdrant whose storage is then copied
// are answered from by a fresh process that only reads and has nothing of its own: the same
// as from the data folder, and nothing is encoded again. When the server is away, the
// answer is that, in time, and never that there is nothing.
func TestIntegrationQdrant(t *testing.T) {
	file := accidents(t, 60)
	folder := filepath.Join(t.TempDir(), "data")
	storage, copied := testbed.Scratch(t), filepath.Join(testbed.Scratch(t), "copy")
	server := testbed.Qdrant(t, storage, 0)
	in := func(url string, more ...string) []string {
		return append([]string{"SEXTANT_DATA=" + filepath.Join(t.TempDir(), "none"), "QDRANT_URL=" + url, "EMBEDDER=none"}, more...)
	}
	embedded := []string{"SEXTANT_DATA=" + folder, "EMBEDDER=none"}
	writer := in(server.URL)
	for _, env := range [][]string{embedded, writer} {
		if r := sextantWith(t, env, "ingest", "ntsb", file); r.code != exitOK {
			t.Fatalf("ingest: exit %d\n%s%s", r.code, r.out, r.err)
		}
	}
	if r := sextantWith(t, writer, "collections"); !strings.Contains(r.out, "ntsb_incidents, ") || !strings.Contains(r.out, "60 events") {
		t.Errorf("collections:\n%s%s", r.out, r.err)
	}
	if r := sextantWith(t, writer, "verify"); r.code != exitOK {
		t.Errorf("verify: %d\n%s%s", r.code, r.out, r.err)
	}
	if r := sextantWith(t, writer, "doctor", "--json"); !strings.Contains(r.out, `"store": "`+server.URL) && !strings.Contains(r.out, `"store":"`+server.URL) {
		t.Errorf("doctor:\n%s%s", r.out, r.err)
	}
	server.Stop()
	if err := os.CopyFS(copied, os.DirFS(storage)); err != nil {
		t.Fatal(err)
	}
	second := testbed.Qdrant(t, copied, 0)
	reader := in(second.URL)
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("store:\n  read_only: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader = append(reader, "SEXTANT_CONFIG="+config)
	questions := []string{"How many fatal accidents in Alaska, by make?", "Which makes are there?", "How many accidents are there?", "accidents in Hawaii", "What happened in Talkeetna?"}
	for _, q := range questions {
		want, got := sextantWith(t, embedded, "ask", "--json", q), sextantWith(t, reader, "ask", "--json", q)
		a, b := decode[sextant.Answer](t, want.out), decode[sextant.Answer](t, got.out)
		if want.code != got.code || a.Status != b.Status || a.Summary != b.Summary {
			t.Errorf("%q: exit %d, %s, %q; from the folder %d, %s, %q\n%s", q, got.code, b.Status, b.Summary, want.code, a.Status, a.Summary, got.err)
		}
		if diff := cmp.Diff(evidence(a), evidence(b)); diff != "" {
			t.Errorf("%q: evidence: %s", q, diff)
		}
	}
	if r := sextantWith(t, reader, "ingest", "ntsb", file); r.code == exitOK {
		t.Errorf("took in, though it only reads:\n%s%s", r.out, r.err)
	}
	second.Stop()
	began := time.Now()
	r := sextantWith(t, reader, "ask", "--json", questions[0])
	if took := time.Since(began); r.code != sextant.SourceUnavailable.ExitCode() || !strings.Contains(r.out, "source_unavailable") || took > 5*time.Second {
		t.Errorf("without the server: exit %d after %s\n%s%s", r.code, took, r.out, r.err)
	}
}

func evidence(a sextant.Answer) []string {
	var out []string
	for _, p := range a.Evidence {
		out = append(out, p.ChunkID)
	}
	slices.Sort(out)
	return out
}
