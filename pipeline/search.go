package pipeline

import (
	"cmp"
	"context"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/retrieve"
	"github.com/sextant-rag/sextant/signal"
	"github.com/sextant-rag/sextant/store"
)

// defaultSearch is how many passages a search returns when it does not say.
const defaultSearch = 5

// Search finds passages for a query, with what is known about how far they can be
// trusted. The conditions in the words and the caller's filter both hold for every
// passage; nothing is generated.
func (e *Engine) Search(ctx context.Context, q sextant.SearchQuery) (sextant.SearchResult, error) {
	question, err := sextant.Question{Text: strings.TrimSpace(q.Query + " " + q.AspectFocus), Collections: q.Collections, FilterText: q.FilterText, TopK: q.TopK, Rerank: q.Rerank}.Normalize()
	if err != nil {
		return sextant.SearchResult{}, err
	}
	if q.TopK == 0 {
		question.TopK = defaultSearch
	}
	s, err := e.current(ctx)
	if err != nil {
		return sextant.SearchResult{}, err
	}
	a := &asking{engine: e, ctx: ctx, question: question, state: s, asOf: e.now()}
	if err := a.knownCollections(); err != nil {
		return sextant.SearchResult{}, err
	}
	a.choose()
	user, err := a.userFilter()
	if err != nil {
		return sextant.SearchResult{}, err
	}
	if a.account, err = constrain.Keep(ctx, a.inScope(), a.subject.parser, a.reading, user); err != nil {
		return sextant.SearchResult{}, unavailable("count the conditions", err)
	}
	return a.search()
}

func (a *asking) search() (sextant.SearchResult, error) {
	r := sextant.SearchResult{Results: []sextant.Passage{}, Filter: a.account.Ledger.Filter}
	model, size := "", 0
	bound := len(a.account.Parts) > 0
	dates := map[string]string{}
	for _, c := range a.inScope() {
		spec := c.Spec()
		dates[spec.Name] = spec.DateField
		if a.state.holds(spec.Name) == 0 {
			r.NotHeld = append(r.NotHeld, emptyCollection(spec))
			continue
		}
		if bound && !a.account.Applies(spec.Name) {
			continue
		}
		f := a.account.Filters[spec.Name]
		if f == nil {
			f = filter.All
		}
		found, err := a.engine.search.Search(a.ctx, c, retrieve.Query{Text: a.searchText(), Filter: f, Limit: a.candidates(), PerDocument: 3, Fill: bound})
		if err != nil {
			return r, unavailable("search", err)
		}
		total, err := c.Count(a.ctx, f, store.Documents)
		if err != nil {
			return r, unavailable("search", err)
		}
		r.Total += total
		r.Results = append(r.Results, found.Passages...)
		a.degrade(found.Degraded...)
		model = cmp.Or(model, found.Encoder)
		if len(found.Passages) > 0 {
			size = max(size, chunk.OptionsOf(spec.Chunking).Chunking().Size)
		}
	}
	a.engine.search.Merge(r.Results)
	judged, err := a.judge(r.Results)
	if err != nil {
		return r, err
	}
	r.Results, r.Degraded = judged, a.answer.Degraded
	r.Results = r.Results[:min(len(r.Results), a.question.TopK)]
	r.Diversity = signal.Diversity(r.Results, dates)
	r.Coverage = signal.Coverage(a.reading.Topic, r.Results)
	r.Confidence = signal.Confidence(r.Coverage.Ratio, len(r.Results))
	r.Recommendation = signal.Recommend(r.Coverage.Ratio)
	r.Freshness = signal.Freshness(r.Results, dates, a.asOf)
	r.Metadata = sextant.RetrievalMetadata{EmbeddingModel: model, ChunkSize: size, TopK: a.question.TopK}
	if k := a.answer.Reranking; k != nil {
		r.Metadata.RerankerApplied, r.Metadata.RerankerModel = k.Applied, k.Model
	}
	return r, nil
}
