// Package tracetest holds the law of traces: what must be true of every one, however its
// question ended. Tests of anything that is traced call Check on what they produced.
package tracetest

import (
	"fmt"
	"sync"

	"github.com/sextant-rag/sextant/trace"
)

// Sink keeps finished traces in memory. It is safe for concurrent use.
type Sink struct {
	mu   sync.Mutex
	kept []*trace.Record
}

// Keep encodes and keeps a trace.
func (s *Sink) Keep(f *trace.Finished) {
	r := f.Record()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, r)
}

// Records returns what was kept, oldest first.
func (s *Sink) Records() []*trace.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*trace.Record(nil), s.kept...)
}

// Calls is what the providers' fakes counted.
type Calls struct {
	Models int   // calls of models, embeddings included
	Tokens int64 // that they billed
}

// Check returns everything that is wrong with a trace: nothing, if it is complete. Each
// span must have a name, a kind, a status and an id of its own, must lie within its
// parent, and have one that stands before it; the root alone has none here. With calls,
// the model spans must be as many, and their tokens sum up to what was billed.
func Check(r *trace.Record, calls *Calls) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	v := r.View()
	if len(v.Spans) == 0 {
		return []string{"no span"}
	}
	if v.Summary.Status == "" {
		fault("the trace does not say how the question ended")
	}
	seen := map[string]trace.SpanView{}
	var models int
	var tokens int64
	for i, s := range v.Spans {
		checkSpan(s, seen, i == 0, fault)
		seen[s.SpanID] = s
		if n, ok := s.Attributes[trace.KeyInputTokens].(int64); ok {
			models++
			tokens += n + s.Attributes[trace.KeyOutputTokens].(int64)
		}
	}
	if tokens != v.Tokens {
		fault("the spans sum up to %d tokens, the trace says %d", tokens, v.Tokens)
	}
	if calls != nil && (models != calls.Models || tokens != calls.Tokens) {
		fault("%d model spans with %d tokens for %d calls with %d tokens", models, tokens, calls.Models, calls.Tokens)
	}
	return faults
}

// slack is half a microsecond: times are rounded to nanoseconds more than once.
const slack = 5e-4

func checkSpan(s trace.SpanView, seen map[string]trace.SpanView, root bool, fault func(string, ...any)) {
	if s.Name == "" || s.Kind == "" {
		fault("span %s has no name or kind: %q %q", s.SpanID, s.Name, s.Kind)
	}
	if _, twice := seen[s.SpanID]; twice || s.SpanID == (trace.SpanID{}).String() {
		fault("span %q has the id %s, which is taken or zero", s.Name, s.SpanID)
	}
	if s.DurationMS < 0 {
		fault("span %q ends before it begins", s.Name)
	}
	if s.Status == "error" && s.Error == "" {
		fault("span %q failed and does not say why", s.Name)
	}
	if root {
		return
	}
	p, ok := seen[s.ParentID]
	if !ok {
		fault("span %q comes before its parent, or has none", s.Name)
		return
	}
	if s.OffsetMS < p.OffsetMS-slack || s.OffsetMS+s.DurationMS > p.OffsetMS+p.DurationMS+slack {
		fault("span %q (%.4f+%.4f ms) is not within %q (%.4f+%.4f ms)", s.Name, s.OffsetMS, s.DurationMS, p.Name, p.OffsetMS, p.DurationMS)
	}
	if _, own := p.Attributes[trace.KeyInputTokens]; own {
		fault("span %q lies below a model's call: usage belongs to leaves", s.Name)
	}
}
