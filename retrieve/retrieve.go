// Package retrieve turns one query into passages: chunks of documents that satisfy the
// filter, ranked, each with the reasons for its place.
//
// The filter comes first, always: ranking happens among the documents that satisfy
// every condition, so the only match is found however far down it would stand
// otherwise. A store that cannot be reached is an error, never an empty result.
//
// Words and meaning rank together (fuse.go). Where there are no vectors, or the query's
// comes too late, words rank alone and the result says so. What a query names exactly
// stands first (identifier.go), what says the same stands once (collapse.go), and a
// passage that breaks off within a sentence gets the rest of it (complete.go).
package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/adapt"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Query is what to look for in one collection.
type Query struct {
	Text        string        // content words; "" finds by the filter alone
	Filter      filter.Filter // nil: everything
	Limit       int           // passages
	PerDocument int           // passages of one document at most; 0 is no bound
	Fill        bool          // complete with documents that satisfy the filter, newest first
}

// Result is what was found, best first.
type Result struct {
	Passages []sextant.Passage
	Encoder  string                // the model whose vectors took part; "" when words ranked alone
	Degraded []sextant.Degradation // why words ranked alone although the collection has vectors, or none
}

// Options are how a Retriever works.
type Options struct {
	Encoder embed.Embedder // nil: words rank alone
	Missing string         // why there is no encoder, for people; "" where none is wanted
	Alpha   float64        // share of meaning in the fusion; 0 is the encoder's own (embed.FusionOf)
	Depth   int            // candidates of either ranking; 0 is store.DefaultDepth
	// Adapt returns what was learnt about a collection's questions (package tune), the zero
	// map if that is nothing; nil is never anything.
	Adapt func(ctx context.Context, spec sextant.Collection) (m adapt.Map, version string, err error)
	// Patience is how long a query's vector is waited for, 0 being two seconds; where the
	// context ends sooner, half of what is left. Words are ranked without it then.
	Patience time.Duration
}

// Retriever searches collections. It is safe for concurrent use, and remembers the
// vectors of the last queries, since one question looks into several collections.
type Retriever struct {
	options Options
	fusion  embed.Fusion
	queries queries
}

// New returns a retriever.
func New(o Options) *Retriever {
	if o.Patience <= 0 {
		o.Patience = 2 * time.Second
	}
	r := &Retriever{options: o}
	if o.Encoder != nil {
		r.fusion = embed.FusionOf(o.Encoder.Fingerprint())
	}
	if o.Alpha != 0 {
		r.fusion.Alpha = o.Alpha
	}
	return r
}

// Encoder returns the fingerprint of the encoder in text form, "" if there is none.
func (r *Retriever) Encoder() string {
	if r.options.Encoder == nil {
		return ""
	}
	return r.options.Encoder.Fingerprint().String()
}

// Embedder returns the encoder, nil if there is none.
func (r *Retriever) Embedder() embed.Embedder { return r.options.Encoder }

// Model returns the name of the encoder, "" if there is none.
func (r *Retriever) Model() string {
	if r.options.Encoder == nil {
		return ""
	}
	return r.options.Encoder.Fingerprint().Model
}

// Warm loads the encoder, so that the first question does not have to wait for that.
func (r *Retriever) Warm(ctx context.Context) error {
	if r.options.Encoder == nil {
		return nil
	}
	_, err := r.queries.get(ctx, r.options.Encoder, "warm")
	return err
}

// overfetch is how many more passages are read than wanted, so that collapsing what
// says the same leaves enough.
const overfetch = 2

// Search ranks the collection's chunks for the query.
func (r *Retriever) Search(ctx context.Context, c store.Collection, q Query) (Result, error) {
	var out Result
	spec := c.Spec()
	if q.Text != "" {
		var err error
		if out, err = r.ranked(ctx, c, q); err != nil {
			return Result{}, fmt.Errorf("search %s: %w", spec.Name, err)
		}
		if out.Passages, err = r.named(ctx, c, q, out.Passages); err != nil {
			return Result{}, fmt.Errorf("search %s: %w", spec.Name, err)
		}
		out.Passages = collapse(out.Passages)
	}
	out.Passages = out.Passages[:min(len(out.Passages), max(q.Limit, 0))]
	if len(out.Passages) < q.Limit && q.Fill {
		filled, err := fill(ctx, c, q, out.Passages)
		if err != nil {
			return Result{}, fmt.Errorf("search %s: %w", spec.Name, err)
		}
		out.Passages = append(out.Passages, filled...)
	}
	if err := complete(ctx, c, out.Passages); err != nil {
		return Result{}, fmt.Errorf("search %s: %w", spec.Name, err)
	}
	return out, nil
}

// ranked returns the best passages by words and meaning, more than are wanted.
func (r *Retriever) ranked(ctx context.Context, c store.Collection, q Query) (Result, error) {
	var out Result
	vector, why := r.vector(ctx, c.Spec(), q.Text)
	if why != "" {
		out.Degraded = []sextant.Degradation{{Stage: "dense", Reason: why}}
	}
	vector, adapted, err := r.adapted(ctx, c.Spec(), vector)
	if err != nil {
		return Result{}, err
	}
	h := store.HybridQuery{Text: q.Text, Filter: q.Filter, Depth: r.options.Depth, Vector: vector}
	if vector != nil {
		h.Encoder, out.Encoder = r.Encoder(), r.Model()
	}
	var scores []float64
	h.Choose = func(all []store.Candidate) (order []int) {
		order, scores = fuse(all, vector != nil, r.fusion)
		order = fold(all, order, q.PerDocument)
		return order[:min(len(order), overfetch*q.Limit)]
	}
	hits, err := hybrid(ctx, c, h)
	if errors.Is(err, store.ErrEncoder) { // it was encoded anew in between
		vector, h.Vector, out = nil, nil, Result{Degraded: []sextant.Degradation{{Stage: "dense", Reason: Mismatch(c.Spec(), r.options.Encoder.Fingerprint())}}}
		hits, err = hybrid(ctx, c, h)
	}
	if err == nil && vector != nil {
		err = out.approximate(ctx, c, q.Filter)
	}
	if err != nil {
		return Result{}, err
	}
	for _, hit := range hits {
		p := passage(c.Spec().Name, hit.Hit)
		p.Score, p.Reasons = scores[hit.Place], reasons(hit.Candidate, vector != nil, adapted)
		out.Passages = append(out.Passages, p)
	}
	return out, nil
}

// approximate says so if the store may have missed some of the nearest.
func (r *Result) approximate(ctx context.Context, c store.Collection, f filter.Filter) error {
	a, ok := c.(store.Approximator)
	if !ok {
		return nil
	}
	may, err := a.Approximates(ctx, f)
	if may {
		r.Degraded = append(r.Degraded, sextant.Degradation{Stage: "dense", Reason: "So many texts match that the store does not compare them all by meaning: one of the nearest may be missing. Counts are not affected."})
	}
	return err
}

// adapted maps a query's vector as the collection's pairs taught, and says so.
func (r *Retriever) adapted(ctx context.Context, spec sextant.Collection, vector []float32) ([]float32, string, error) {
	if vector == nil || r.options.Adapt == nil {
		return vector, "", nil
	}
	m, version, err := r.options.Adapt(ctx, spec)
	if err != nil || m.IsZero() {
		return vector, "", err
	}
	return m.Apply(vector), "tuned, version " + version, nil
}

func passage(collection string, h store.Hit) sextant.Passage {
	return sextant.Passage{ChunkID: h.Chunk.ID, DocumentID: h.Chunk.DocumentID, Source: collection, ChunkIndex: h.Chunk.Index, Content: h.Chunk.Content, Metadata: h.Meta,
		Title: h.Title, Locator: h.Locator, Heading: h.Chunk.Heading, Start: h.Chunk.Start, End: h.Chunk.End, Score: h.Score}
}

// reasons are the scores that were fused, those that say something.
func reasons(c store.Candidate, dense bool, adapted string) []sextant.Reason {
	var out []sextant.Reason
	if c.Lexical > 0 {
		out = append(out, sextant.Reason{Kind: "lexical", Score: c.Lexical, Rank: c.LexicalRank, Terms: c.Terms})
	}
	if dense {
		out = append(out, sextant.Reason{Kind: "dense", Score: c.Dense, Rank: c.DenseRank, Detail: adapted})
	}
	return out
}

// fold keeps at most n candidates of one document, the best ones, in their order.
func fold(all []store.Candidate, order []int, n int) []int {
	if n <= 0 {
		return order
	}
	seen := map[sextant.DocumentID]int{}
	return slices.DeleteFunc(order, func(i int) bool {
		id := all[i].DocumentID
		seen[id]++
		return seen[id] > n
	})
}
