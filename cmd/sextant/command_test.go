package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"
	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation/sample"
	"github.com/sextant-rag/sextant/httpapi"
	"github.com/sextant-rag/sextant/ingest"
)

// varying are the parts of an output that differ between runs.
var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`trace\s+[0-9a-f]{32}`), "trace ID"},
	{regexp.MustCompile(`in [0-9.]+(ms|s|m)\b`), "in TIME"},
	{regexp.MustCompile(`[0-9.]+ [KM]iB`), "SIZE"},
	{regexp.MustCompile(` +SIZE`), " SIZE"},
}

func steady(s string) string {
	for _, v := range varying {
		s = v.pattern.ReplaceAllString(s, v.with)
	}
	return s
}

func TestCommands(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	file := accidents(t, 90)
	for _, tt := range []struct {
		name string
		args []string
		code int
	}{
		{"ask_nothing_held", []string{"ask", "--as-of", "2026-03-15", "How many fatal accidents happened in Alaska?"}, 4},
		{"collections_nothing_held", []string{"collections"}, 0},
		{"ingest", []string{"ingest", "ntsb", file}, 0},
		{"ingest_again", []string{"ingest", "ntsb", file}, 0},
		{"collections", []string{"collections"}, 0},
		{"ask", []string{"ask", "--as-of", "2026-03-15", "How many fatal Cessna 172 accidents happened in Alaska, by year?"}, 0},
		{"", []string{"ask", "--collection", "incidents", "--filter", "state = AK", "How many accidents?"}, 0},
		{"ask_no_data", []string{"ask", "--as-of", "2026-03-15", "How many fatal accidents happened in Idaho?"}, 3},
		{"", []string{"ask", "Who won the 1998 World Cup?"}, 5},
		{"search", []string{"search", "--top-k", "2", "--filter", "state = AK", "fatal landing Talkeetna"}, 0},
		{"verify", []string{"verify"}, 0},
	} {
		got := sextantIn(t, data, tt.args...)
		if got.code != tt.code {
			t.Errorf("%s: exit %d, want %d\n%s", tt.name, got.code, tt.code, got.err)
		}
		if tt.name != "" {
			golden(t, "command_"+tt.name, steady(got.out))
		}
	}
}

func TestEveryRecordHasOneOutcome(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.csv")
	text := ntsbHead + ",Accident,ANC08LA001,2008-01-02,\"Talkeetna, AK\",United States,,,,,Fatal(1),,,N1,CESSNA,172,,,,,,,,1,,,,VMC,LANDING,,\n"
	good, err := os.ReadFile(accidents(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, []byte(text+strings.TrimPrefix(string(good), ntsbHead)), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	got := sextantIn(t, data, "ingest", "ntsb", "--json", bad)
	r := decode[sextant.Receipt](t, got.out)
	sum := int64(0)
	for _, n := range r.Records {
		sum += n
	}
	if got.code != exitOK || r.Read != 4 || sum != 4 || r.Records[sextant.Refused] != 1 || r.Records[sextant.Stored] != 3 {
		t.Errorf("exit %d, read %d, outcomes %v", got.code, r.Read, r.Records)
	}
	if people := sextantIn(t, filepath.Join(t.TempDir(), "data"), "ingest", "ntsb", bad); !strings.Contains(people.out, "refused bad.csv, line 2") {
		t.Errorf("the refused record is not named:\n%s", people.out)
	}
}

func TestAskAsJSON(t *testing.T) {
	got := sextantIn(t, filled(t, 30), "ask", "--json", "How many fatal accidents happened in Alaska?")
	a := decode[struct {
		Status   sextant.Status
		Computed []struct {
			Total int64
			IDs   []string
		}
		Ledger struct{ Joint int64 }
	}](t, got.out)
	if got.code != exitOK || got.err != "" || a.Status != sextant.Answered || a.Ledger.Joint != 10 || len(a.Computed) != 1 || a.Computed[0].Total != 10 || len(a.Computed[0].IDs) != 10 {
		t.Errorf("exit %d, err %q, answer %+v", got.code, got.err, a)
	}
}

func TestDescribeNamesFieldsAndValues(t *testing.T) {
	data := filled(t, 30)
	got := sextantIn(t, data, "describe", "incidents")
	for _, want := range []string{"30 events; 30 aircraft", "state (keyword): ", "ID (20), AK (10)", "event_date (time): ", "2008-01-01 to ", "Questions to begin with"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is missing in:\n%s", want, got.out)
		}
	}
	if d := decode[sextant.Description](t, sextantIn(t, data, "describe", "--json", "incidents").out); d.Documents != 30 || len(d.Fields) == 0 {
		t.Errorf("%d documents, %d fields", d.Documents, len(d.Fields))
	}
}

func TestVerifyTellsWhatIsGone(t *testing.T) {
	data := filled(t, 5)
	st, err := (&session{terminal: newTerminal(os.Stdout, os.Stderr, nil)}).openFolder(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	c, err := st.Open(t.Context(), "incidents")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Delete(t.Context(), []sextant.DocumentID{"ntsb:20080001X00001"}); n != 1 || err != nil {
		t.Fatalf("deleted %d: %v", n, err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	got := sextantIn(t, data, "verify", "--json")
	v := decode[verifications](t, got.out)
	if got.code != exitFailure || len(v.Collections) == 0 || len(v.Collections[0].Missing) != 1 {
		t.Errorf("exit %d, %+v", got.code, v)
	}
}

// TestDemo holds the demo to what it is there to show.
func TestDemo(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	got := sextantIn(t, data, "demo", "--no-serve")
	if got.code != exitOK {
		t.Fatalf("exit %d\n%s", got.code, got.err)
	}
	for _, want := range []string{
		"Answered\n10 events",                      // an exact figure, with its table
		"Findings\n", "[1] ntsb:20090115X73226 · ", // statements and where they stand
		"No data: nothing matches all conditions\n", // and a proof of absence
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is missing in:\n%s", want, got.out)
		}
	}
	if !strings.Contains(got.err, humanize.Comma(sample.Rows)+" real NTSB records") {
		t.Errorf("what was taken in is not said: %q", got.err)
	}
	if again := sextantIn(t, data, "demo", "--no-serve"); again.code != exitOK || !strings.Contains(again.err, "taken in") {
		t.Errorf("a second demo: exit %d\n%s", again.code, again.err)
	}
	if entries, _ := os.ReadDir(data); len(entries) != 1 || entries[0].Name() != "demo" {
		t.Errorf("the demo wrote outside its own folder: %v", entries)
	}
}

// TestOneAnswerEitherWay asks the engine here and a server over the same folder: what
// people read and what programs read must not differ.
func TestOneAnswerEitherWay(t *testing.T) {
	data := filled(t, 60)
	s := &session{config: config{Data: data}, terminal: newTerminal(os.Stdout, os.Stderr, nil)}
	e, err := s.openEngine(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	api, err := httpapi.New(e, httpapi.Config{Keys: []string{"secret"}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.Handler())
	defer server.Close()
	here, there := local{e}, newRemote(server.URL, "secret")

	same := func(name string, lay func(r reader) (page string, wire []byte, err error)) {
		t.Helper()
		a, wireA, errA := lay(here)
		b, wireB, errB := lay(there)
		if (errA == nil) != (errB == nil) || sextant.ErrorCode(errA) != sextant.ErrorCode(errB) {
			t.Errorf("%s: error %v here, %v there", name, errA, errB)
		}
		if diff := cmp.Diff(steady(a), steady(b)); diff != "" {
			t.Errorf("%s: pages differ (-here +there):\n%s", name, diff)
		}
		if diff := cmp.Diff(normal(t, wireA), normal(t, wireB)); diff != "" {
			t.Errorf("%s: JSON differs (-here +there):\n%s", name, diff)
		}
	}
	for _, question := range []string{"How many fatal Cessna 172 accidents happened in Alaska, by year?", "fatal accidents in Idaho", "Who won the 1998 World Cup?", "?"} {
		same(question, func(r reader) (string, []byte, error) {
			answer, err := r.Ask(t.Context(), sextant.Question{Text: question, TopK: 3})
			return layReply(t, answer, func(p *page) { writeAnswer(p, &answer.value) }, err)
		})
	}
	same("search", func(r reader) (string, []byte, error) {
		found, err := r.Search(t.Context(), sextant.SearchQuery{Query: "Talkeetna landing", FilterText: "state = AK"})
		return layReply(t, found, func(p *page) { writeSearch(p, &found.value) }, err)
	})
	same("bad filter", func(r reader) (string, []byte, error) {
		found, err := r.Search(t.Context(), sextant.SearchQuery{Query: "landing", FilterText: "state ~ AK"})
		return layReply(t, found, func(p *page) { writeSearch(p, &found.value) }, err)
	})
	same("collections", func(r reader) (string, []byte, error) {
		list, err := r.Collections(t.Context())
		return layReply(t, list, func(p *page) { writeCollections(p, list.value.Collections) }, err)
	})
	same("describe", func(r reader) (string, []byte, error) {
		d, err := r.Describe(t.Context(), "incidents")
		return layReply(t, d, func(p *page) { writeDescription(p, &d.value) }, err)
	})
	same("describe nothing", func(r reader) (string, []byte, error) {
		d, err := r.Describe(t.Context(), "unicorns/../x")
		return layReply(t, d, func(p *page) { writeDescription(p, &d.value) }, err)
	})
	if _, err := newRemote(server.URL, "wrong").Collections(t.Context()); err == nil || !strings.Contains(err.Error(), "key") {
		t.Errorf("a wrong key: %v", err)
	}
}

func layReply(t *testing.T, r interface{ JSON() ([]byte, error) }, lay func(*page), err error) (string, []byte, error) {
	t.Helper()
	if err != nil {
		return "", nil, err
	}
	p := newPage(80, false)
	lay(p)
	wire, err := r.JSON()
	return p.String(), wire, err
}

// normal is JSON as a value without what differs between two askings.
func normal(t *testing.T, wire []byte) any {
	t.Helper()
	if wire == nil {
		return nil
	}
	var v any
	if err := json.Unmarshal(wire, &v); err != nil {
		t.Fatal(err)
	}
	if m, ok := v.(map[string]any); ok {
		delete(m, "trace_id")
		delete(m, "usage")
		delete(m, "memory_bytes")
	}
	untimed(v)
	return v
}

// untimed takes how long things took out of JSON, at any depth.
func untimed(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "duration_ms")
		for _, inner := range v {
			untimed(inner)
		}
	case []any:
		for _, inner := range v {
			untimed(inner)
		}
	}
}

func TestServerThatDoesNotAnswer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := newRemote(server.URL, "").Collections(t.Context())
	if message, hint := explain(err); sextant.ErrorCode(err) != sextant.CodeUnavailable || !strings.Contains(message, server.URL) || hint == "" {
		t.Errorf("%v", err)
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	defer proxy.Close()
	if _, err := newRemote(proxy.URL, "").Collections(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a reply that is no JSON: %v", err)
	}
}

// What was taken in can be looked at and deleted the same way here and through the server
// that has the folder.
func TestRecordsEitherWay(t *testing.T) {
	data := filled(t, 40)
	s := &session{config: config{Data: data}, terminal: newTerminal(io.Discard, io.Discard, nil)}
	e, err := s.openEngine(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	api, err := httpapi.New(e, httpapi.Config{Keys: []string{"secret"}, Records: s.records(e.store)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.Handler())
	defer server.Close()
	here, there := kept{s, s.records(e.store)}, newRemote(server.URL, "secret")
	ctx := t.Context()

	runs, err := there.Runs(ctx, "incidents", 5)
	if err != nil || len(runs.value.Runs) == 0 {
		t.Fatalf("%+v, %v", runs.value, err)
	}
	run := runs.value.Runs[0]
	var ids []sextant.DocumentID
	for item, err := range there.Items(ctx, run, sextant.Stored) {
		if err != nil || item.ID == "" {
			t.Fatalf("%+v, %v", item, err)
		}
		ids = append(ids, item.ID)
	}
	if len(ids) < 10 {
		t.Fatalf("only %d items", len(ids))
	}
	same := func(name string, ask func(keeper) (any, error)) {
		t.Helper()
		a, errA := ask(here)
		b, errB := ask(there)
		if sextant.ErrorCode(errA) != sextant.ErrorCode(errB) || (errA == nil) != (errB == nil) {
			t.Errorf("%s: %v here, %v there", name, errA, errB)
		}
		x, errX := httpapi.JSON(a)
		y, errY := httpapi.JSON(b)
		times := regexp.MustCompile(`"(run|started)":"[^"]*"`) // of the deletions themselves
		if diff := cmp.Diff(times.ReplaceAllString(string(x), ""), times.ReplaceAllString(string(y), "")); diff != "" || errX != nil || errY != nil {
			t.Errorf("%s: %s %v %v", name, diff, errX, errY)
		}
	}
	same("runs", func(k keeper) (any, error) { r, err := k.Runs(ctx, "", 0); return r.value, err })
	same("runs of nothing", func(k keeper) (any, error) { r, err := k.Runs(ctx, "news", 3); return r.value, err })
	same("run", func(k keeper) (any, error) { r, err := k.Run(ctx, run.Run[:len(run.Run)-3]); return r.value, err })
	same("no run", func(k keeper) (any, error) { r, err := k.Run(ctx, "1999"); return r.value, err })
	for _, u := range []ingest.Unwanted{
		{Documents: ids[:1]}, {Documents: ids[:3]}, {Documents: []sextant.DocumentID{"ntsb:nothing"}, Collection: "incidents"}, {Source: "ntsb"}, {Source: "none"},
		{Run: run.Run}, {Run: "1999"}, {Whole: "incidents"}, {Whole: "nothing_held"}, {Source: "ntsb", Collection: "nowhere"},
	} {
		u.DryRun = true
		same(fmt.Sprintf("delete %+v", u), func(k keeper) (any, error) {
			r, err := k.Delete(ctx, u)
			if len(u.Documents) > 1 { // one request each
				return r.value.Documents(), err
			}
			return r.value, err
		})
	}
	for _, u := range []ingest.Unwanted{{Documents: ids[:2]}, {Run: run.Run}} {
		if out, err := there.Delete(ctx, u); err != nil || out.value.Documents() < 2 {
			t.Errorf("%+v: %+v, %v", u, out.value, err)
		}
	}
	if col, err := e.store.Open(ctx, "incidents"); err != nil {
		t.Error(err)
	} else if size, err := col.Size(ctx); err != nil || size.Documents != 0 {
		t.Errorf("%d documents are left, %v", size.Documents, err)
	}
}

// Sizes of chunks are said when a collection is new; later they are a conflict whose hint
// is the command that cuts anew.
func TestChunkSizes(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "notes.md")
	if err := os.WriteFile(file, []byte("# Pumps\n\n"+strings.Repeat("The pump of the station was found dry and was replaced. ", 60)), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(t.TempDir(), "sextant.yaml")
	if err := os.WriteFile(settings, []byte("chunks:\n  size: 100\n  collections:\n    notes: {size: 64, overlap: 0}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ingest := []string{"--config", settings, "ingest", "files", "--no-encode", "--collection", "notes", file}
	if r := sextantIn(t, data, ingest...); r.code != exitOK {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	size := func() (n struct {
		Metadata struct {
			ChunkSize int `json:"chunk_size"`
		} `json:"retrieval_metadata"`
		Results []struct{ Content string }
	}) {
		r := sextantIn(t, data, "search", "--json", "--collection", "notes", "pump")
		if err := json.Unmarshal([]byte(r.out), &n); err != nil {
			t.Fatalf("%v: %s%s", err, r.out, r.err)
		}
		return n
	}
	if n := size(); n.Metadata.ChunkSize != 64 || len(n.Results) == 0 || len(n.Results[0].Content) > 400 {
		t.Errorf("chunks as set: %+v", n)
	}
	again := sextantIn(t, data, append([]string{"ingest", "files", "--chunk-size", "128"}, ingest[4:]...)...)
	if again.code != exitFailure || !strings.Contains(again.err, "sextant rechunk notes --chunk-size 128") {
		t.Errorf("cut two ways: exit %d: %s", again.code, again.err)
	}
	if r := sextantIn(t, data, "rechunk", "notes", "--chunk-size", "128"); r.code != exitOK || !strings.Contains(r.out, "1 of 1 documents were cut anew") {
		t.Errorf("rechunk: exit %d: %s%s", r.code, r.out, r.err)
	}
	if n := size(); n.Metadata.ChunkSize != 128 || len(n.Results[0].Content) < 400 {
		t.Errorf("chunks cut anew: %+v", n)
	}
	if r := sextantIn(t, data, append([]string{"ingest", "files", "--chunk-size", "7"}, ingest[4:]...)...); r.code == exitOK || !strings.Contains(r.err, "A chunk has") {
		t.Errorf("a size that cannot be: exit %d: %s", r.code, r.err)
	}
}
