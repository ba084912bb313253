package pipeline_test

import (
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
// spans. .ci/flow.py measures the same shape of flow in other frameworks.
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
	e, err := pipeline.New(b.Context(), pipeline.Config{Store: s, Domain: domain, Now: func() time.Time { return now }, Traces: &trace.Recorder{Sink: beside{}},
		Models: pipeline.Models{Small: llm.NewCaller(assistant{"understand": plain}.script("small-1"), llm.Policy{}), Large: llm.NewCaller(assistant{"generate": mould}.script("large-1"), llm.Policy{})}})
	if err != nil {
		b.Fatal(err)
	}
	var all, own []float64
	for b.Loop() {
		began, apart := time.Now(), 0.0
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
	}
	slices.Sort(all)
	slices.Sort(own)
	b.ReportMetric(all[len(all)/2], "whole-p50-ms")
	b.ReportMetric(own[len(own)/2], "own-p50-ms")
}
