package pipeline_test

import (
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
	"github.com/sextant-rag/sextant/trace"
)

// beside stands for what takes finished traces, which works on a goroutine of its own.
type beside struct{}

func (beside) Keep(*trace.Finished) {}

// BenchmarkOverhead asks one question with models that answer at once and traces on, and tells
// what is left when the stages that parse, count and retrieve are taken out: what the pipeline
// itself costs. The metrics are medians in milliseconds; "own" is everything but parsing,
// ledger, figures and retrieval: prompts, schemas, picking sentences, the check, events and
// spans, and the scripted models themselves, whose part "models" tells. .ci/flow.py measures the
// same shape of flow in other frameworks.
func BenchmarkOverhead(b *testing.B) {
	s, err := sqlite.Open(b.Context(), sqlite.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	c, err := s.Ensure(b.Context(), damages)
	if err != nil {
		b.Fatal(err)
	}
	var records []store.Record
	for _, d := range book {
		records = append(records, d.record(b))
	}
	if err := c.Upsert(b.Context(), records); err != nil {
		b.Fatal(err)
	}
	small, large := &timed{Model: assistant{"understand": plain}.script("small-1")}, &timed{Model: assistant{"generate": mould}.script("large-1")}
	e, err := pipeline.New(b.Context(), pipeline.Config{Store: s, Domain: domain, Now: func() time.Time { return now }, Traces: &trace.Recorder{Sink: beside{}},
		Models: pipeline.Models{Small: llm.NewCaller(small, llm.Policy{}), Large: llm.NewCaller(large, llm.Policy{})}})
	if err != nil {
		b.Fatal(err)
	}
	var all, own, models []float64
	for b.Loop() {
		began, apart := time.Now(), 0.0
		small.took, large.took = 0, 0
		for event, err := range e.Ask(b.Context(), sextant.Question{Text: mouldQuestion}) {
			if err != nil {
				b.Fatal(err)
			}
			if done, ok := event.(sextant.StageDone); ok && slices.Contains([]string{"understand", "ledger", "compute", "retrieve"}, done.Stage) {
				apart += done.DurationMS
			}
		}
		took := float64(time.Since(began).Microseconds()) / 1000
		all, own = append(all, took), append(own, took-apart)
		models = append(models, float64((small.took+large.took).Microseconds())/1000)
	}
	for name, times := range map[string][]float64{"whole": all, "own": own, "models": models} {
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2], name+"-p50-ms")
	}
}

// timed measures what a model takes, from its call to its last chunk, those who read them aside.
type timed struct {
	llm.Model
	took time.Duration
}

func (m *timed) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		began := time.Now()
		for chunk, err := range m.Model.Stream(ctx, r) {
			m.took += time.Since(began)
			if !yield(chunk, err) {
				return
			}
			began = time.Now()
		}
		m.took += time.Since(began)
	}
}
