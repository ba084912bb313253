package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

func openArchive(t testing.TB, o trace.Options) *trace.Archive {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "traces.db")
	}
	a, err := trace.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// asked records one small question and returns its id.
func asked(r *trace.Recorder, s trace.Summary) trace.ID {
	ctx, root := r.Open(context.Background(), "question", trace.Chain, s.Question)
	_, span := trace.Begin(ctx, "generate", trace.LLM, nil)
	span.Use(trace.Usage{Model: "m", Provider: "p", InputTokens: 10, OutputTokens: 5, InputCost: .25})
	span.End("an answer", nil)
	root.Close("answer", nil, s)
	return root.TraceID()
}

func TestArchiveGivesBackWhatWasKept(t *testing.T) {
	a := openArchive(t, trace.Options{})
	r := &trace.Recorder{Sink: a, Config: json.RawMessage(`{"alpha":0.6}`)}
	sink := &tracetest.Sink{}
	both := &trace.Recorder{Sink: tee{a, sink}, Config: r.Config}
	s := trace.Summary{Question: "How many accidents in Alaska?", Status: "answered", Intent: "factual", Collections: []string{"incidents"}, Session: "s1", Sequences: map[string]uint64{"incidents": 7}, Request: json.RawMessage(`{"question":"x"}`)}
	id := asked(both, s)
	if err := a.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := a.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := sink.Records()[0].View()
	want.Began = want.Began.Round(0)
	if d := cmp.Diff(want, got.View()); d != "" {
		t.Error(d)
	}
	if _, err := a.Get(t.Context(), trace.NewID()); !errors.Is(err, trace.ErrNotFound) {
		t.Errorf("an unknown id gives %v", err)
	}
}

type tee struct{ a, b trace.Sink }

func (t tee) Keep(f *trace.Finished) { t.a.Keep(f); t.b.Keep(f) }

func TestListFindsByEverything(t *testing.T) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	today := clock // the archive looks at its clock from its own goroutine
	a := openArchive(t, trace.Options{Now: func() time.Time { return today }})
	r := &trace.Recorder{Sink: a, Now: func() time.Time { clock = clock.Add(time.Hour); return clock }}
	asked(r, trace.Summary{Question: "100% of Alaska", Status: "answered", Collections: []string{"incidents"}})
	asked(r, trace.Summary{Question: "fuel", Status: "no_data", Collections: []string{"incidents", "news"}})
	asked(r, trace.Summary{Question: "1000 of alaska", Status: "answered", Collections: []string{"news"}})
	if err := a.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		search trace.Search
		want   string
	}{
		"all, newest first":   {trace.Search{}, "1000 of alaska, fuel, 100% of Alaska"},
		"status":              {trace.Search{Status: "no_data"}, "fuel"},
		"text in any case":    {trace.Search{Text: "ALASKA"}, "1000 of alaska, 100% of Alaska"},
		"text is no pattern":  {trace.Search{Text: "0% of"}, "100% of Alaska"},
		"collection":          {trace.Search{Collection: "news"}, "1000 of alaska, fuel"},
		"cost":                {trace.Search{MinCost: .3}, ""},
		"period":              {trace.Search{From: time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC), To: time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)}, "fuel"},
		"limit":               {trace.Search{Limit: 1}, "1000 of alaska"},
		"page after a trace":  {trace.Search{Before: 2}, "100% of Alaska"},
		"part of a list name": {trace.Search{Collection: "new"}, ""},
	} {
		got, err := a.List(t.Context(), c.search)
		if err != nil {
			t.Fatal(err)
		}
		var questions []string
		for _, l := range got {
			questions = append(questions, l.Question)
		}
		if d := cmp.Diff(c.want, strings.Join(questions, ", ")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestOldTracesGoAndWhatWasOwedOfThemIsCounted(t *testing.T) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return clock }
	a := openArchive(t, trace.Options{Now: now, MaxAge: 48 * time.Hour, Targets: []string{"mlflow"}})
	r := &trace.Recorder{Sink: a, Now: now}
	for day := range 5 {
		clock = time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC)
		asked(r, trace.Summary{Question: fmt.Sprint("day ", day), Status: "answered"})
		if err := a.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s, err := a.Stats()
	if err != nil || s.Traces != 3 || s.Lost["mlflow"] != 2 || s.Pending["mlflow"] != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestSizeIsBounded(t *testing.T) {
	a := openArchive(t, trace.Options{MaxBytes: 10_000})
	r := &trace.Recorder{Sink: a}
	for range 100 {
		asked(r, trace.Summary{Question: strings.Repeat("x", 500), Status: "answered"})
	}
	if err := a.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err := a.Stats(); err != nil || s.Bytes > 10_000 || s.Traces < 3 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAFullQueueRefusesAtOnceAndCounts(t *testing.T) {
	a := openArchive(t, trace.Options{Queue: 1})
	r := &trace.Recorder{Sink: a}
	for range 5000 {
		asked(r, trace.Summary{Status: "answered"})
	}
	if err := a.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := a.Stats()
	if err != nil || s.Kept+s.Refused != 5000 || s.Traces != s.Kept {
		t.Errorf("%+v, %v", s, err)
	}
}

// server is a tracing server that can be down, slow to say that it took something, or
// refuse. It counts what arrived.
type server struct {
	mu      sync.Mutex
	down    func(n int) error // by attempt, from 0
	n       int
	arrived map[string]int
	order   []string
}

func (s *server) attempts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

func (s *server) Target() string { return "mlflow" }

func (s *server) Send(_ context.Context, d *trace.Delivery) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.n++ }()
	if s.down != nil {
		if err := s.down(s.n); err != nil {
			return err
		}
	}
	if s.arrived == nil {
		s.arrived = map[string]int{}
	}
	what := d.Record.ID.String()
	if d.Feedback != nil {
		what = "feedback " + d.Feedback.ID
	}
	s.arrived[what]++
	s.order = append(s.order, what)
	return nil
}

// A server that is away for a day: whatever it answers meanwhile, everything arrives once it is
// back, each once, and in the meantime it is asked no more than about once a minute.
func TestAServerThatIsAwayForADay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traces.db")
	synctest.Test(t, func(t *testing.T) {
		questions := 2000
		if n, err := strconv.Atoi(os.Getenv("SEXTANT_OUTAGE_QUESTIONS")); err == nil {
			questions = n
		}
		a, err := trace.Open(t.Context(), trace.Options{Path: path, Queue: questions, Targets: []string{"mlflow"}})
		if err != nil {
			t.Fatal(err)
		}
		back := time.Now().Add(24 * time.Hour)
		s := &server{down: func(n int) error {
			if !time.Now().Before(back) {
				return nil
			}
			return []error{errors.New("connection refused"), &trace.SendError{Err: errors.New("500"), Doubtful: true}, &trace.SendError{Err: errors.New("429"), After: 3 * time.Second}}[n/100%3]
		}}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { a.Deliver(ctx, s); close(ended) }()
		r := &trace.Recorder{Sink: a}
		var want []string
		for range questions {
			want = append(want, asked(r, trace.Summary{Status: "answered"}).String())
		}
		time.Sleep(24*time.Hour - time.Second)
		if n := s.attempts(); n > 24*60*2+20 {
			t.Errorf("a server that is down was asked %d times in a day", n)
		}
		time.Sleep(10 * time.Minute)
		for s := (trace.Stats{Pending: map[string]int64{"mlflow": 1}}); s.Pending["mlflow"] > 0; time.Sleep(time.Minute) {
			if s, err = a.Stats(); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		<-ended
		slices.Sort(want) // one that failed doubtfully may have been passed over for a while
		slices.Sort(s.order)
		if d := cmp.Diff(want, s.order); d != "" {
			t.Errorf("what arrived differs: %.500s", d)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestRefusedAndPoisonedItemsDoNotBlockTheNext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traces.db")
	synctest.Test(t, func(t *testing.T) { poisoned(t, path) })
}

func poisoned(t *testing.T, path string) {
	a, err := trace.Open(t.Context(), trace.Options{Path: path, Targets: []string{"mlflow"}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	r := &trace.Recorder{Sink: a}
	refused, doubtful := asked(r, trace.Summary{Status: "answered"}), asked(r, trace.Summary{Status: "answered"})
	good := asked(r, trace.Summary{Status: "answered"})
	s := &judging{refuse: refused, doubt: doubtful}
	if err := a.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { a.Deliver(ctx, s); close(ended) }()
	for range 600 {
		if stats, err := a.Stats(); err != nil || stats.Pending["mlflow"] == 0 {
			break
		}
		time.Sleep(time.Minute)
	}
	cancel()
	<-ended
	stats, err := a.Stats()
	if err != nil || stats.Lost["mlflow"] != 2 || stats.Pending["mlflow"] != 0 || s.took != good.String() {
		t.Errorf("%+v, %v, took %s", stats, err, s.took)
	}
}

type judging struct {
	refuse, doubt trace.ID
	took          string
}

func (j *judging) Target() string { return "mlflow" }

func (j *judging) Send(_ context.Context, d *trace.Delivery) error {
	switch d.Record.ID {
	case j.refuse:
		return &trace.SendError{Err: errors.New("400"), Refused: true}
	case j.doubt:
		return &trace.SendError{Err: errors.New("500"), Doubtful: true}
	}
	j.took = d.Record.ID.String()
	return nil
}

func TestFeedbackFollowsItsTrace(t *testing.T) {
	a := openArchive(t, trace.Options{Targets: []string{"mlflow"}})
	r := &trace.Recorder{Sink: a}
	id := asked(r, trace.Summary{Status: "answered"})
	f := trace.Feedback{ID: "f1", TraceID: id.String(), Name: "helpful", Value: json.RawMessage("true"), Human: true}
	for range 2 { // the second time is a client that did not hear the first answer
		if err := a.Judge(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	s := &server{}
	if left, err := a.Drain(t.Context(), s); left != 0 || err != nil {
		t.Fatal(left, err)
	}
	if d := cmp.Diff([]string{id.String(), "feedback f1"}, s.order); d != "" {
		t.Error(d)
	}
	f.TraceID = trace.NewID().String()
	if err := a.Judge(t.Context(), f); !errors.Is(err, trace.ErrNotFound) {
		t.Errorf("feedback on an unknown trace: %v", err)
	}
}

// progress remembers how far it came, and fails after every step.
type progress struct{ steps []int }

func (p *progress) Target() string { return "mlflow" }

func (p *progress) Send(_ context.Context, d *trace.Delivery) error {
	var step int
	if d.Progress != nil {
		if err := json.Unmarshal(d.Progress, &step); err != nil {
			return err
		}
	}
	if d.Tried != (len(p.steps) > 0) {
		return &trace.SendError{Err: fmt.Errorf("tried is %v at step %d", d.Tried, step), Refused: true}
	}
	p.steps = append(p.steps, step)
	if step == 3 {
		return nil
	}
	d.Progress, _ = json.Marshal(step + 1)
	return errors.New("cut")
}

func TestProgressSurvivesFailureAndRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traces.db")
	p := &progress{}
	for i := range 4 {
		a, err := trace.Open(t.Context(), trace.Options{Path: path, Targets: []string{"mlflow"}})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			asked(&trace.Recorder{Sink: a}, trace.Summary{Status: "answered"})
		}
		if _, err := a.Drain(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]int{0, 1, 2, 3}, p.steps); d != "" {
		t.Error(d)
	}
}

// A disk without space keeps traces in memory up to the queue's bound, and writes them when
// there is space again; what comes beyond it is refused at once and counted.
func TestADiskWithoutSpace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traces.db")
	pages := openArchive(t, trace.Options{Path: path})
	if err := pages.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := trace.OpenWith(t.Context(), trace.Options{Path: path, Queue: 100, Targets: []string{"mlflow"}}, "max_page_count(24)")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	r := &trace.Recorder{Sink: a}
	long := strings.Repeat("x", 4000)
	start := time.Now()
	for range 300 {
		asked(r, trace.Summary{Question: long, Status: "answered"})
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("questions waited %s for the disk", took)
	}
	full := func() trace.Stats {
		s, err := a.Stats()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := full()
	if before.Refused == 0 || before.Traces > 50 {
		t.Errorf("the disk was not full: %+v", before)
	}
	if err := trace.Allow(a, 1<<20); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if s := full(); s.Kept+s.Refused != 300 || s.Traces != s.Kept || s.Pending["mlflow"] != s.Kept || s.Kept < 100 {
		t.Errorf("%+v", s)
	}
}

// What was kept before a kill is there after it, with what is owed of it: the child
// prints each id once the archive has it, and is killed at a random moment.
func TestKeptTracesSurviveAKill(t *testing.T) {
	if path := os.Getenv("TRACE_ARCHIVE_OF_THE_CHILD"); path != "" {
		keepForEver(t, path)
	}
	path := filepath.Join(t.TempDir(), "traces.db")
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKeptTracesSurviveAKill$")
		cmd.Env = append(os.Environ(), "TRACE_ARCHIVE_OF_THE_CHILD="+path)
		var out strings.Builder
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100*time.Millisecond + rand.N(200*time.Millisecond))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		checkKept(t, path, strings.Fields(out.String()))
	}
}

func keepForEver(t *testing.T, path string) {
	a := openArchive(t, trace.Options{Path: path, Targets: []string{"mlflow"}})
	r := &trace.Recorder{Sink: a}
	for {
		id := asked(r, trace.Summary{Status: "answered"})
		if err := a.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		fmt.Println(id)
	}
}

func checkKept(t *testing.T, path string, printed []string) {
	t.Helper()
	a, err := trace.Open(t.Context(), trace.Options{Path: path, Targets: []string{"mlflow"}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, s := range printed {
		id, err := trace.ParseID(s)
		if err != nil {
			continue // the kill cut the last line
		}
		if _, err := a.Get(t.Context(), id); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	if s, err := a.Stats(); err != nil || s.Pending["mlflow"] != s.Traces || s.Traces < int64(len(printed))-1 {
		t.Errorf("%d printed, %+v, %v", len(printed), s, err)
	}
}

// BenchmarkArchive is everything beside the question: encoding and the file.
func BenchmarkArchive(b *testing.B) {
	a := openArchive(b, trace.Options{Queue: 1 << 20, Targets: []string{"mlflow", "otlp"}})
	recorder := &trace.Recorder{Sink: a}
	for b.Loop() {
		ctx, root := recorder.Open(context.Background(), "agentic_rag_pipeline", trace.Chain, "q")
		for range 11 {
			_, _ = trace.Stage(ctx, "step", trace.Tool, "in", func(context.Context) (string, error) { return strings.Repeat("out", 300), nil })
		}
		root.Close("answer", nil, trace.Summary{Status: "answered"})
	}
	if err := a.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// Traces that come fast are written together, and whoever asks for one has it all the same: by
// its id at once, after a flush, and after a close.
func TestTracesThatComeFastAreThereForWhoeverAsks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traces.db")
	a := openArchive(t, trace.Options{Path: path})
	r := &trace.Recorder{Sink: a}
	for range 50 {
		id := asked(r, trace.Summary{Status: "answered"})
		if got, err := a.Get(t.Context(), id); err != nil || got.ID != id {
			t.Fatalf("%s: %v", id, err)
		}
	}
	for range 50 {
		asked(r, trace.Summary{Status: "answered"})
	}
	if err := a.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err := a.Stats(); err != nil || s.Traces != 100 {
		t.Fatalf("%+v, %v", s, err)
	}
	for range 50 {
		asked(r, trace.Summary{Status: "answered"})
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err := trace.Inspect(t.Context(), path); err != nil || s.Traces != 150 {
		t.Fatalf("%+v, %v", s, err)
	}
}
