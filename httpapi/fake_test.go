package httpapi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// fake is an Engine that knows a handful of questions and behaves: it yields the events
// of a question in their order, stops when its context ends, and counts its calls.
type fake struct {
	answers map[string]sextant.Answer
	docs    map[sextant.DocumentID]sextant.Document
	pause   time.Duration                       // before each event
	during  func(context.Context, string) error // runs inside Ask, before the Final
	down    error                               // what Ready and Collections say
	asked   atomic.Int64
	last    atomic.Pointer[sextant.Question]
	search  atomic.Pointer[sextant.SearchQuery]
}

func newFake() *fake {
	f := &fake{answers: map[string]sextant.Answer{}, docs: map[sextant.DocumentID]sextant.Document{}}
	for _, a := range allAnswers() {
		f.answers[sextant.CleanText(a.Question)] = a
	}
	for _, d := range everyDocument() {
		f.docs[d.ID] = d
		f.docs[sextant.DocumentID(d.ID.Native())] = d
	}
	return f
}

func allAnswers() []sextant.Answer {
	return []sextant.Answer{byYear(), causal(), partial(), noData(), notHeld(), outOfScope(), ambiguous(), exhausted(), unavailable(),
		everything(), misread(), listed(), compared(), topMakes(), share(), first(), last(), sum(), hostile()}
}

// find returns the answer of a known question; any other has insufficient evidence.
func (f *fake) find(q sextant.Question) sextant.Answer {
	if a, ok := f.answers[q.Text]; ok {
		return a
	}
	return answer(q.Text, sextant.InsufficientEvidence, "Nothing in the record answers this.", func(a *sextant.Answer) {
		a.Confidence = "low"
		a.Ledger = ledger(78405, "all")
	})
}

func (f *fake) Ask(ctx context.Context, q sextant.Question) iter.Seq2[sextant.Event, error] {
	f.asked.Add(1)
	f.last.Store(&q)
	return func(yield func(sextant.Event, error) bool) {
		if strings.Contains(q.FilterText, "nonsense") {
			yield(nil, &sextant.Error{Code: sextant.CodeBadRequest, Op: "ask", Message: `The filter cannot be read: "nonsense" at character 1 is no field.`, Hint: "sextant describe incidents lists the fields."})
			return
		}
		for _, e := range events(f.find(q)) {
			if err := f.before(ctx, q, e); err != nil {
				yield(nil, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (f *fake) before(ctx context.Context, q sextant.Question, e sextant.Event) error {
	if _, ok := e.(sextant.Final); ok && f.during != nil {
		if err := f.during(ctx, q.Text); err != nil {
			return err
		}
	}
	select {
	case <-time.After(f.pause):
		return ctx.Err()
	case <-ctx.Done():
		return fmt.Errorf("ask: %w", ctx.Err())
	}
}

// events is the road to an answer, with the times a real one has.
func events(a sextant.Answer) []sextant.Event {
	out := []sextant.Event{
		sextant.StageStarted{Stage: "understand"},
		sextant.StageDone{Stage: "understand", DurationMS: 0.8, Note: fmt.Sprintf("%d conditions", len(a.Ledger.Constraints))},
		sextant.StageStarted{Stage: "ledger"},
		sextant.StageDone{Stage: "ledger", DurationMS: 1.5, Note: fmt.Sprintf("%d documents satisfy all of them", a.Ledger.Joint)},
		sextant.LedgerReady{Ledger: a.Ledger},
	}
	if len(a.Computed) > 0 {
		out = append(out, sextant.StageStarted{Stage: "compute"}, sextant.StageDone{Stage: "compute", DurationMS: 2.25})
	}
	if len(a.Evidence) > 0 {
		out = append(out, sextant.StageStarted{Stage: "retrieve"}, sextant.StageDone{Stage: "retrieve", DurationMS: 4.5, Note: fmt.Sprintf("%d passages", len(a.Evidence))},
			sextant.PassagesFound{Passages: a.Evidence}, sextant.StageStarted{Stage: "generate"})
		for _, f := range a.Findings {
			out = append(out, sextant.Delta{Finding: f})
		}
		out = append(out, sextant.StageDone{Stage: "generate", DurationMS: 3})
	}
	return append(out, sextant.Final{Answer: a})
}

func (f *fake) Search(_ context.Context, q sextant.SearchQuery) (sextant.SearchResult, error) {
	f.search.Store(&q)
	d := talkeetna()
	return sextant.SearchResult{
		Results:        []sextant.Passage{passage(d, 2, d.Text[d.Parts[2].Start:d.Parts[2].End], 0.93), passage(d, 1, d.Text[d.Parts[1].Start:d.Parts[1].End], 0.81)},
		Confidence:     0.87,
		Diversity:      sextant.SourceDiversity{Domains: 1, Timestamps: []string{"2010-06"}},
		Coverage:       sextant.CoverageSignals{Covered: []string{"carburetor ice"}, Ratio: 1},
		Metadata:       sextant.RetrievalMetadata{EmbeddingModel: "all-MiniLM-L6-v2", ChunkSize: 256, TopK: 5},
		Recommendation: "proceed", Total: 5388, Filter: q.FilterText,
	}, nil
}

func (f *fake) Collections(context.Context) ([]sextant.CollectionInfo, error) {
	return collections(), f.down
}

func (f *fake) Describe(_ context.Context, name string) (sextant.Description, error) {
	if name == "incidents" {
		return incidents(), nil
	}
	for _, c := range collections() {
		if c.Name == name {
			return sextant.Description{CollectionInfo: c}, nil
		}
	}
	return sextant.Description{}, &sextant.Error{Code: sextant.CodeNotFound, Op: "describe", Message: fmt.Sprintf("There is no collection %q.", name), Hint: "sextant collections lists them."}
}

func (f *fake) Document(_ context.Context, id sextant.DocumentID) (sextant.Document, error) {
	if d, ok := f.docs[id]; ok {
		return d, nil
	}
	return sextant.Document{}, &sextant.Error{Code: sextant.CodeNotFound, Op: "document", Message: "There is no document of that id."}
}

func (f *fake) Ready(context.Context) error { return f.down }

// Count knows no data; it reads EXPR as an engine does and makes the number up from it,
// so that different conditions give different counts.
func (f *fake) Count(_ context.Context, collection, expr, unit string) (int64, error) {
	if collection != "incidents" {
		return 0, &sextant.Error{Code: sextant.CodeNotFound, Op: "count", Message: fmt.Sprintf("There is no collection %q.", collection)}
	}
	if expr == "" {
		return 78405, nil
	}
	schema := filter.Schema{Groups: []filter.Group{{Name: "aircraft"}}}
	for _, field := range incidents().Fields {
		schema.Fields = append(schema.Fields, field.Field)
	}
	if _, err := schema.ParseExpr(expr); err != nil {
		return 0, &sextant.Error{Code: sextant.CodeBadRequest, Op: "count", Message: "The condition cannot be read: " + strings.TrimPrefix(err.Error(), "filter: "), Err: err}
	}
	conditions := int64(1 + strings.Count(expr, " and "))
	return 5388 / (conditions * conditions), nil
}

// List knows the page of the documents it has, and no other.
func (f *fake) List(_ context.Context, q sextant.ListQuery) (sextant.ListPage, error) {
	switch {
	case q.Collection != "incidents":
		return sextant.ListPage{}, &sextant.Error{Code: sextant.CodeNotFound, Op: "list", Message: fmt.Sprintf("There is no collection %q.", q.Collection)}
	case q.After != "" && q.After != "page-2":
		return sextant.ListPage{}, &sextant.Error{Code: sextant.CodeBadRequest, Op: "list", Message: "after is no cursor of this list."}
	case q.After == "page-2":
		return sextant.ListPage{Documents: []sextant.ListEntry{}, Total: 2, Filter: "state = AK"}, nil
	}
	return sextant.ListPage{Total: 2, Next: "page-2", Filter: "state = AK", Documents: []sextant.ListEntry{
		{ID: "ntsb:20100203X00001", NativeID: "20100203X00001", Date: "2010-02-03", Title: "Cessna 172, Nome, AK, 3 February 2010 (ANC10LA012)"}}}, nil
}

var errDown = &sextant.Error{Code: sextant.CodeUnavailable, Op: "ready", Message: "The data folder cannot be read.", Err: errors.New("disk I/O error on /secret/place")}
