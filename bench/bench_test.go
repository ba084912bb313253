package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every engine answers, and answers right: the oracles know nothing of the engines, so
// both being wrong alike would be a strange accident.
func TestRunOnMadeUpData(t *testing.T) {
	t.Setenv("SEXTANT_SHARED", t.TempDir()) // no narratives in it
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	o, err := parse([]string{"-vectors", "3000", "-dim", "48", "-texts", "600", "-rounds", "2"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	results, err := run(t.Context(), o, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"vectors":  {"vector", "store/sqlite", "chromem-go", "sqlite-vec"},
		"filtered": {"vector", "store/sqlite", "chromem-go", "sqlite-vec", "sqlite-vec, partitioned"},
		"text":     {"lexical", "bleve"},
		"read":     {"store/sqlite", "bleve"},
	}
	for _, r := range results {
		var names []string
		for i, l := range r.lines {
			names = append(names, l.name)
			least := 1.0
			if l.name == nameVector || r.name != rowsOnly && l.name == nameStore {
				least = 0.97 // half floats may swap the tenth and the eleventh
			}
			if l.right < least {
				t.Errorf("%s: %s found %.4f of what it should", r.name, l.name, l.right)
			}
			if len(l.took) == 0 || l.took[0] <= 0 || len(l.times) != i {
				t.Errorf("%s: %s took %v and has ratios to %v", r.name, l.name, l.took, l.times)
			}
		}
		if !slices.Equal(names, want[r.name]) {
			t.Errorf("%s: %q took part", r.name, names)
		}
		delete(want, r.name)
	}
	if len(want) > 0 {
		t.Errorf("not run: %v", want)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestOnlyWhatWasAskedForRuns(t *testing.T) {
	var log bytes.Buffer
	o := options{vectors: 1000, dim: 8, rounds: 1, limit: time.Second, only: regexp.MustCompile("^filtered/(vector|chromem-go)$")}
	results, err := run(t.Context(), o, &log)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range results {
		for _, l := range r.lines {
			names = append(names, r.name+"/"+l.name)
		}
	}
	if !slices.Equal(names, []string{"filtered/vector", "filtered/chromem-go"}) || strings.Contains(log.String(), "sqlite") {
		t.Errorf("ran %q\n%s", names, log.String())
	}
}

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{"-vectors", "10"}, {"-dim", "x"}, {"-rounds", "0"}, {"-only", "("}, {"more"}, {"-none"}} {
		if _, err := parse(args, io.Discard); !errors.As(err, new(*usageError)) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if _, err := parse([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
}

// fixed is a contender that takes a given time.
func fixed(name string, bar float64, medians ...time.Duration) line {
	return line{contender: contender{name: name, bar: bar}, took: slices.Sorted(slices.Values(medians)), medians: medians, right: 1}
}

func TestReport(t *testing.T) {
	ms := time.Millisecond
	lines := []line{fixed(nameVector, 0, 2*ms, ms, ms), fixed(nameStore, 0, 4*ms, 2*ms, 4*ms), fixed("chromem-go", 20, 30*ms, 30*ms, 10*ms)}
	lines[2].published, lines[2].as = func(int, []int) float64 { return 0 }, 0.5
	lines[2].work = []time.Duration{11 * ms, 12 * ms, 40 * ms}
	lines[2].cost = cost{build: 1500 * ms, memory: 2_000_000}
	for i := range lines {
		lines[i].times = map[string]spread{}
		for _, other := range lines[:i] {
			lines[i].times[other.name] = ratios(lines[i].medians, other.medians)
		}
	}
	var out bytes.Buffer
	if err := report(&out, true, []result{{name: "vectors", title: "Nearest", rounds: 3, lines: lines}, {name: "empty"}}); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(out.String(), "\n\n")
	want := `**Nearest**; 3 rounds

| engine | p50 ms | p95 ms | processor ms | times vector | times store/sqlite | bar | recall@10 | build s | memory MB |
|---|---|---|---|---|---|---|---|---|---|
| vector | 1 | 1 | - | - | - | - | 1.0000 | 0.0 | - |
| store/sqlite | 4 | 4 | - | 2.0 (2.0 to 4.0) | - | - | 1.0000 | 0.0 | - |
| chromem-go | 30 | 30 | 12 | 15.0 (10.0 to 30.0) | 7.5 (2.5 to 15.0) | 20: missed | 1.0000 (published formula: 0.50) | 1.5 | 2 |
`
	if table != want {
		t.Errorf("got\n%swant\n%s", table, want)
	}
}

func TestBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for n := range 60 {
		scores := make([]float64, n)
		for i := range scores {
			scores[i] = float64(rng.IntN(12))
		}
		odd := func(i int) bool { return i%2 == 1 }
		var want []int
		for i := range scores {
			if odd(i) {
				want = append(want, i)
			}
		}
		slices.SortStableFunc(want, func(a, b int) int { return int(scores[b] - scores[a]) })
		if got := best(scores, odd); !slices.Equal(got, want[:min(wanted, len(want))]) {
			t.Fatalf("of %v: %v, not %v", scores, got, want)
		}
	}
}

func TestMadeUpVectorsAreUnitAndTheirOwn(t *testing.T) {
	a, b := makeVectors(1000, 24, 2), makeVectors(1000, 24, 2)
	passed := 0
	for i, v := range a.rows {
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if sum < 0.9999 || sum > 1.0001 || !slices.Equal(v, b.rows[i]) {
			t.Fatalf("row %d: length %v, %v and %v", i, sum, v, b.rows[i])
		}
		if a.category[i] == askedFor {
			passed++
		}
	}
	if passed < 1 || passed > 30 {
		t.Errorf("the filter lets %d of 1,000 pass", passed)
	}
}

func TestReadNarratives(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("The pilot reported that the engine lost power. ", 100)
	write(t, filepath.Join(dir, "a.jsonl.gz"), `{"event_id":"1","narrative":"`+long+`","probable_cause":"one two three four five six seven eight nine ten eleven"}
{"event_id":"2","narrative":"Short.","probable_cause":"too short"}
`)
	s, err := readNarratives(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.chunks) < 3 || s.chunks[len(s.chunks)-1] != "Short." || !slices.Equal(s.questions, []string{"one two three four five six seven eight nine ten"}) {
		t.Errorf("%q %q", s.chunks, s.questions)
	}
	if s, err := readNarratives(dir, 2); err != nil || len(s.chunks) != 2 {
		t.Errorf("at most two: %v %v", s, err)
	}
	if _, err := loadTexts(options{narratives: filepath.Join(dir, "none")}); err == nil {
		t.Error("a folder that was asked for and is not there was passed over")
	}
	if err := os.WriteFile(filepath.Join(dir, "b.jsonl.gz"), []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readNarratives(dir, 0); err == nil || !strings.Contains(err.Error(), "b.jsonl.gz") {
		t.Errorf("a broken file: %v", err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
