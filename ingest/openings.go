package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// What was learned of how a collection's documents open is kept between runs:
//
//	ingest/<collection>/openings   chunk.Learned as JSON

func openingsKey(collection string) string { return "ingest/" + collection + "/openings" }

// recallOpenings returns what earlier runs have learned.
func recallOpenings(ctx context.Context, j store.Journal, collection string) (*chunk.Openings, error) {
	var known chunk.Learned
	text, err := j.Mark(ctx, openingsKey(collection))
	if err != nil {
		return nil, err
	}
	if text != "" && json.Unmarshal([]byte(text), &known) != nil {
		known = chunk.Learned{} // it will be learned again
	}
	return chunk.NewOpenings(known), nil
}

// resumeOpenings returns what earlier runs have learned, for a run that goes on with it.
// Documents that nothing was learned from are those of runs that were interrupted.
func resumeOpenings(ctx context.Context, j store.Journal, c store.Collection) (*chunk.Openings, error) {
	out, err := recallOpenings(ctx, j, c.Spec().Name)
	if err != nil {
		return nil, err
	}
	size, err := c.Size(ctx)
	if size.Documents > 0 && out.Learned().Documents == 0 {
		out.Partial()
	}
	return out, err
}

// learnOpenings returns what earlier runs have learned; where nothing was, what all the
// documents say that are there now.
func learnOpenings(ctx context.Context, j store.Journal, c store.Collection) (*chunk.Openings, error) {
	out, err := recallOpenings(ctx, j, c.Spec().Name)
	if err != nil || out.Learned().Documents > 0 {
		return out, err
	}
	for doc, err := range c.Scan(ctx, nil) {
		if err != nil {
			return nil, err
		}
		out.Learn(&doc, nil)
	}
	return out, keepOpenings(ctx, j, c.Spec().Name, out)
}

func keepOpenings(ctx context.Context, j store.Journal, collection string, o *chunk.Openings) error {
	text, err := json.Marshal(o.Learned())
	if err != nil {
		return fmt.Errorf("keep openings: %w", err)
	}
	return j.PutMark(ctx, openingsKey(collection), string(text))
}

// quieten cuts the documents again that came before one of their sentences was known to
// open many. Then it keeps what was learned: not before, so that a run that is interrupted
// leaves it to be learned, and done, by the next.
func (r *run) quieten(ctx context.Context) error {
	for _, o := range r.Chunks.Openings.Fresh() {
		ids, err := r.opening(ctx, o)
		if err != nil {
			return fmt.Errorf("find documents that open alike: %w", err)
		}
		var done Rechunking
		for some := range slices.Chunk(ids, rechunkBatch) {
			if err := done.cut(ctx, &r.Job, r.collection, some); err != nil {
				return fmt.Errorf("cut documents that open alike: %w", err)
			}
		}
		r.receipt.Warnings = append(r.receipt.Warnings, fmt.Sprintf("Many documents open with %q: it is kept and can be quoted, and does not count where they are ranked.", sextant.CleanText(o.Sentence)))
	}
	return keepOpenings(ctx, r.journal, r.Collection.Name, r.Chunks.Openings)
}

// opening returns the documents that may have been cut before a sentence was known to open
// many: those that are remembered or, where these are not all, those that mention it.
func (r *run) opening(ctx context.Context, o chunk.Opening) (ids []sextant.DocumentID, err error) {
	if o.All {
		return o.Documents, nil
	}
	q := store.ListQuery{Filter: filter.Mentions{Phrases: []string{o.Sentence}}}
	for {
		page, err := r.collection.List(ctx, q)
		if errors.Is(err, store.ErrUnsupported) || errors.Is(err, filter.ErrSchema) {
			return o.Documents, nil // the others stay as they are: a matter of order, not of truth
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, page.IDs...)
		if q.After = page.Next; q.After == "" {
			return ids, nil
		}
	}
}
