package pipeline

import (
	"cmp"
	"context"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/retrieve"
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
	domains := map[string]bool{}
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
			domains[spec.Name] = true
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
	r.Diversity = sextant.SourceDiversity{Domains: len(domains), Timestamps: months(r.Results, dates)}
	r.Coverage = coverageOf(a.reading, r.Results)
	r.Confidence = confidence(r)
	r.Recommendation = "proceed"
	if r.Coverage.Ratio < requery {
		r.Recommendation = "re-query"
	}
	r.Metadata = sextant.RetrievalMetadata{EmbeddingModel: model, ChunkSize: size, TopK: a.question.TopK}
	if k := a.answer.Reranking; k != nil {
		r.Metadata.RerankerApplied, r.Metadata.RerankerModel = k.Applied, k.Model
	}
	return r, nil
}

// requery is the coverage under which a caller should ask again in other words.
const requery = 0.7

// coverageOf takes the subject words of the query as its aspects, conditions being
// enforced anyway: one is covered if a result says it, in whatever inflection.
func coverageOf(r constrain.Reading, results []sextant.Passage) sextant.CoverageSignals {
	said := map[string]bool{}
	for _, p := range results {
		for _, t := range lexical.English().Tokens(p.Title + " " + p.Content) {
			said[t.Stem] = true
		}
	}
	out := sextant.CoverageSignals{Covered: []string{}, Missing: []string{}, Ratio: 1}
	for _, word := range r.Topic {
		covered := true
		for _, t := range lexical.English().Tokens(word) {
			covered = covered && said[t.Stem]
		}
		if covered {
			out.Covered = append(out.Covered, word)
		} else {
			out.Missing = append(out.Missing, word)
		}
	}
	if n := len(r.Topic); n > 0 {
		out.Ratio = float64(len(out.Covered)) / float64(n)
	}
	if len(results) == 0 {
		out.Ratio = 0
	}
	return out
}

// confidence is the coverage, lowered while few results stand behind it: one passage
// supports less than five that say the same. It is not calibrated against judgements.
func confidence(r sextant.SearchResult) float64 {
	if len(r.Results) == 0 {
		return 0
	}
	support := min(1, 0.5+0.1*float64(len(r.Results)))
	return r.Coverage.Ratio * support
}
