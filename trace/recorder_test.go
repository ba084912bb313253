package trace_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

func ExampleStage() {
	sink := &tracetest.Sink{}
	recorder := &trace.Recorder{Sink: sink}
	ctx, root := recorder.Open(context.Background(), "question", trace.Chain, "How many?")
	n, err := trace.Stage(ctx, "count", trace.Tool, map[string]string{"filter": "state = AK"}, func(context.Context) (int, error) { return 17, nil })
	root.Close(n, err, trace.Summary{Question: "How many?", Status: "answered"})

	for _, s := range sink.Records()[0].View().Spans {
		fmt.Printf("%*s%s %s %s -> %s\n", 2*s.Depth, "", s.Kind, s.Name, s.Inputs, s.Outputs)
	}
	// Output:
	// CHAIN question "How many?" -> 17
	//   TOOL count {"filter":"state = AK"} -> 17
}

// open begins a trace whose sink is looked at when it is closed.
func open(t *testing.T) (context.Context, *trace.Root, func(error) trace.View) {
	t.Helper()
	sink := &tracetest.Sink{}
	ctx, root := (&trace.Recorder{Sink: sink}).Open(context.Background(), "question", trace.Chain, nil)
	return ctx, root, func(err error) trace.View {
		root.Close(nil, err, trace.Summary{Status: "answered"})
		records := sink.Records()
		if len(records) != 1 {
			t.Fatalf("%d traces were kept", len(records))
		}
		if faults := tracetest.Check(records[0], nil); faults != nil {
			t.Errorf("the trace is not complete:\n%s", strings.Join(faults, "\n"))
		}
		return records[0].View()
	}
}

func TestErrorIsRecordedOnceAtItsSource(t *testing.T) {
	ctx, _, closed := open(t)
	gone := errors.New("disk gone")
	_, err := trace.Stage(ctx, "retrieve", trace.Retriever, nil, func(ctx context.Context) (int, error) {
		_, err := trace.Stage(ctx, "store", trace.Tool, nil, func(context.Context) (int, error) { return 0, gone })
		return 0, fmt.Errorf("retrieve: %w", err)
	})
	v := closed(err)
	var got []string
	for _, s := range v.Spans {
		got = append(got, s.Name+": "+s.Error)
	}
	want := []string{"question: failed below", "retrieve: failed below", "store: disk gone"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestPanicClosesEverySpanAndGoesOn(t *testing.T) {
	ctx, root, closed := open(t)
	func() {
		defer func() {
			p := recover()
			if p != "boom" {
				t.Errorf("the panic did not go on: %v", p)
			}
			root.Panicked(p)
		}()
		_, _ = trace.Stage(ctx, "generate", trace.LLM, nil, func(ctx context.Context) (int, error) {
			_, _ = trace.Begin(ctx, "left open", trace.Tool, nil)
			panic("boom")
		})
	}()
	for _, s := range closed(nil).Spans {
		if s.Status != "error" || s.Name != "left open" && (s.ErrorType != "panic" || !strings.Contains(s.Attributes["exception.stacktrace"].(string), "recorder_test.go")) {
			t.Errorf("%s ended as %s %s", s.Name, s.Status, s.ErrorType)
		}
	}
}

func TestWhatIsLeftOpenIsClosedAsAbandoned(t *testing.T) {
	ctx, _, closed := open(t)
	below, _ := trace.Begin(ctx, "outer", trace.Chain, nil)
	_, inner := trace.Begin(below, "inner", trace.Tool, nil)
	v := closed(context.Canceled)
	if got := v.Spans[2]; got.Status != "error" || got.ErrorType != "abandoned" {
		t.Errorf("inner ended as %s %s", got.Status, got.ErrorType)
	}
	if v.Spans[0].ErrorType != "cancelled" {
		t.Errorf("the root ended as %q", v.Spans[0].ErrorType)
	}
	inner.End("too late", nil) // must not reach what was handed over
	if ctx, late := trace.Begin(below, "late", trace.Tool, nil); late != nil || ctx != below {
		t.Error("a span was opened below one that has ended")
	}
}

func TestNothingIsRecordedOutsideATrace(t *testing.T) {
	ctx, root := (*trace.Recorder)(nil).Open(context.Background(), "question", trace.Chain, nil)
	got, err := trace.Stage(ctx, "count", trace.Tool, nil, func(ctx context.Context) (int, error) {
		trace.Current(ctx).Set(trace.Attribute{Key: "k", Value: "v"})
		trace.Current(ctx).Use(trace.Usage{})
		trace.KeepExchange(ctx, trace.Current(ctx), "asked", "answered")
		return 1, nil
	})
	root.Close(nil, nil, trace.Summary{})
	if got != 1 || err != nil || !root.TraceID().IsZero() {
		t.Errorf("got %d, %v", got, err)
	}
	if n := testing.AllocsPerRun(100, func() {
		_, _ = trace.Stage(ctx, "count", trace.Tool, nil, func(context.Context) (int, error) { return 1, nil })
	}); n != 0 {
		t.Errorf("a stage outside a trace allocates %v times", n)
	}
}

func TestContentIsLeftOut(t *testing.T) {
	sink := &tracetest.Sink{}
	ctx, root := (&trace.Recorder{Sink: sink, WithoutContent: true}).Open(context.Background(), "question", trace.Chain, "canary")
	_, err := trace.Stage(ctx, "count", trace.Tool, "canary", func(ctx context.Context) (string, error) {
		trace.KeepExchange(ctx, trace.Current(ctx), "canary", "canary")
		return "canary", errors.New("canary")
	})
	root.Close("canary", err, trace.Summary{Question: "canary", Status: "answered", Request: []byte(`"canary"`)})
	r := sink.Records()[0]
	if s := fmt.Sprintf("%+v %+v %s", r.View(), r.Spans, r.Exchanges); strings.Contains(s, "canary") {
		t.Errorf("content was kept: %s", s)
	}
}

// A trace of any shape, with steps in several goroutines that end, fail, panic, are left
// open or end late, is complete.
func TestAnyTraceIsComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sink := &tracetest.Sink{}
		ctx, root := (&trace.Recorder{Sink: sink}).Open(context.Background(), "question", trace.Chain, nil)
		var calls tracetest.Calls
		grow(t, ctx, 0, &calls)
		root.Close(nil, nil, trace.Summary{Status: "answered"})
		if faults := tracetest.Check(sink.Records()[0], &calls); faults != nil {
			t.Fatalf("%s", strings.Join(faults, "\n"))
		}
	})
}

func grow(t *rapid.T, ctx context.Context, depth int, calls *tracetest.Calls) {
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		below, s := trace.Begin(ctx, "step", trace.Tool, nil)
		switch {
		case depth < 4 && rapid.Bool().Draw(t, "deeper"):
			grow(t, below, depth+1, calls)
		case rapid.Bool().Draw(t, "model"):
			s.Use(trace.Usage{Model: "m", InputTokens: 3, OutputTokens: 4})
			calls.Models, calls.Tokens = calls.Models+1, calls.Tokens+7
		}
		switch rapid.SampledFrom([]string{"ends", "fails", "panics", "stays open"}).Draw(t, "end") {
		case "ends":
			s.End("out", nil)
		case "fails":
			s.End(nil, errors.New("no"))
		case "panics":
			s.Panicked("boom")
		}
	}
}

func TestStepsMayRunBesideEachOther(t *testing.T) {
	ctx, _, closed := open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, _ = trace.Stage(ctx, "search", trace.Retriever, nil, func(ctx context.Context) (int, error) {
				return trace.Stage(ctx, "below", trace.Tool, nil, func(context.Context) (int, error) { return 1, nil })
			})
		})
	}
	wg.Wait()
	if n := len(closed(nil).Spans); n != 17 {
		t.Errorf("%d spans", n)
	}
}

func TestParent(t *testing.T) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	p, ok := trace.ParseParent(good)
	if !ok || p.String() != good || !p.Sampled {
		t.Fatalf("%v %v", p, ok)
	}
	sink := &tracetest.Sink{}
	_, root := (&trace.Recorder{Sink: sink}).Open(trace.WithParent(context.Background(), p), "question", trace.Chain, nil)
	root.Close(nil, nil, trace.Summary{Status: "answered"})
	v := sink.Records()[0].View()
	if v.TraceID != p.Trace.String() || v.Spans[0].ParentID != p.Span.String() {
		t.Errorf("trace %s, parent %s", v.TraceID, v.Spans[0].ParentID)
	}
	for _, bad := range []string{"", "00", "ff" + good[2:], good + "-x", strings.ToUpper(good), "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "00_" + good[3:], "01" + good[2:] + "x"} {
		if _, ok := trace.ParseParent(bad); ok {
			t.Errorf("%q was taken", bad)
		}
	}
	if _, ok := trace.ParseParent("01" + good[2:] + "-more"); !ok {
		t.Error("a later version with more fields must be understood")
	}
}

func FuzzParseParent(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Add("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-what")
	f.Fuzz(func(t *testing.T, s string) {
		p, ok := trace.ParseParent(s)
		if !ok {
			return
		}
		if again, ok := trace.ParseParent(p.String()); !ok || again != p {
			t.Errorf("%q became %v", s, again)
		}
	})
}

// Recording a question of about twelve steps, on its own goroutine.
func BenchmarkRecord(b *testing.B) {
	recorder := &trace.Recorder{Sink: drop{}}
	for b.Loop() {
		ctx, root := recorder.Open(context.Background(), "agentic_rag_pipeline", trace.Chain, "q")
		for range 11 {
			_, _ = trace.Stage(ctx, "step", trace.Tool, "in", func(context.Context) (string, error) { return "out", nil })
		}
		root.Close("answer", nil, trace.Summary{Status: "answered"})
	}
}

// BenchmarkEncode is the work beside the question.
func BenchmarkEncode(b *testing.B) {
	recorder := &trace.Recorder{Sink: encode{}}
	for b.Loop() {
		ctx, root := recorder.Open(context.Background(), "agentic_rag_pipeline", trace.Chain, "q")
		for range 11 {
			_, _ = trace.Stage(ctx, "step", trace.Tool, "in", func(context.Context) (string, error) { return strings.Repeat("out", 300), nil })
		}
		root.Close("answer", nil, trace.Summary{Status: "answered"})
	}
}

type (
	drop   struct{}
	encode struct{}
)

func (drop) Keep(*trace.Finished)     {}
func (encode) Keep(f *trace.Finished) { f.Record() }
