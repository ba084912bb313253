package qdrant

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Facet implements store.Collection.
func (c *collection) Facet(ctx context.Context, q store.FacetQuery) (out store.Facet, err error) {
	err = c.asked(ctx, func(ctx context.Context) error {
		out, err = c.facetOf(ctx, q)
		return err
	})
	return out, failure("facet of "+q.Field, err)
}

// sample is what a facet is counted over. Points stand for one unit each, and are counted
// by the server. Pieces are points of which several may stand for one unit: those are read.
type sample struct {
	field  filter.Field
	points *clause // nil: none
	pieces *clause // nil: none
	whole  *clause // documents with several pieces that match as such: an element may match where its document does not
	total  int64
}

func (c *collection) sample(ctx context.Context, raw filter.Filter, field filter.Field, unit string) (sample, error) {
	s := sample{field: field}
	schema := c.Spec().Schema
	kind, group, err := unitKind(&schema, unit)
	if err != nil {
		return s, err
	}
	if group != "" && field.Group != "" && field.Group != group {
		return s, fmt.Errorf("a field of each %s says nothing of one %s: %w", field.Group, group, filter.ErrSchema)
	}
	f, err := c.resolved(ctx, raw)
	if err != nil {
		return s, err
	}
	units, err := c.under(f, kind, group)
	if err != nil || units == nil {
		return s, err
	}
	if s.total, err = c.count(ctx, units); err != nil {
		return s, err
	}
	if group != "" || field.Group == "" {
		s.points = units
		return s, nil
	}
	// Documents by what is said of their elements: only those are looked at that are the
	// reason of the match. Where there is one, the document stands for it.
	elements, err := c.under(f, kindElement+field.Group, field.Group)
	if err != nil || elements == nil {
		return s, err
	}
	s.points = elements.and(isKind(kindHead))
	s.pieces = elements.and(not(isKind(kindHead)))
	s.whole = units.and(atLeast("_g."+field.Group, 2))
	return s, nil
}

func (c *collection) facetOf(ctx context.Context, q store.FacetQuery) (store.Facet, error) {
	schema := c.Spec().Schema
	field, err := plainField(&schema, q.Field)
	if err != nil {
		return store.Facet{}, err
	}
	if err := q.CheckBuckets(field.Kind); err != nil {
		return store.Facet{}, err
	}
	s, err := c.sample(ctx, q.Filter, field, q.Unit)
	if err != nil {
		return store.Facet{}, err
	}
	t := newTally(field, q)
	known, err := c.tally(ctx, s, t)
	if err != nil {
		return store.Facet{}, err
	}
	out := store.Facet{Total: s.total, Unknown: s.total - known, Buckets: t.buckets()}
	if q.Limit > 0 && q.Ranges == nil && len(out.Buckets) > q.Limit {
		out.Buckets = out.Buckets[:q.Limit]
	}
	return out, nil
}

// tally counts everything of a sample and returns how many units have a value.
func (c *collection) tally(ctx context.Context, s sample, t *tally) (known int64, err error) {
	if s.points != nil {
		if known, err = c.tallyPoints(ctx, s, t); err != nil {
			return 0, err
		}
	}
	if s.pieces == nil {
		return known, nil
	}
	of := map[string][]filter.Value{} // by document
	err = c.scrolled(ctx, s.whole, idPage, want{Fields: []string{"document_id"}}, func(p point) error {
		ch, err := chunkOf(p)
		of[ch.Document] = nil
		return err
	})
	if err != nil || len(of) == 0 {
		return known, err
	}
	err = c.read(ctx, s.pieces, s.field, func(document string, values []filter.Value) {
		if before, ok := of[document]; ok {
			of[document] = append(before, values...)
		}
	})
	for _, values := range of {
		known += t.unit(values)
	}
	return known, err
}

// tallyPoints has the server count where one value of a point is one bucket; where several
// values of a point may fall into the same, or the server has no facet, values are read.
func (c *collection) tallyPoints(ctx context.Context, s sample, t *tally) (known int64, err error) {
	counted := s.field.Kind != filter.Float && (!s.field.List || t.plain())
	if !counted {
		err = c.read(ctx, s.points, s.field, func(_ string, values []filter.Value) { known += t.unit(values) })
		return known, err
	}
	if known, err = c.count(ctx, s.points.and(exists(valueKey(s.field, "")))); err != nil || known == 0 {
		return known, err
	}
	hits, err := c.facet(ctx, valueKey(s.field, ""), s.points)
	if err != nil {
		return 0, err
	}
	for _, h := range hits {
		v, err := decodeValue(s.field, h.Value)
		if err != nil {
			return 0, damaged(s.field.Name, err)
		}
		t.add(v, h.Count)
	}
	if s.field.Fold == filter.Exact || !s.field.List {
		return known, nil
	}
	// Of a list two spellings of one keyword may be a unit's, which counts once.
	hits, err = c.facet(ctx, foldedKey(s.field, ""), s.points)
	if err != nil {
		return 0, err
	}
	for _, h := range hits {
		var folded string
		if err := json.Unmarshal(h.Value, &folded); err != nil {
			return 0, damaged(s.field.Name, err)
		}
		t.override(folded, h.Count)
	}
	return known, nil
}

// read reads the values of a field at all points under a condition.
func (c *collection) read(ctx context.Context, where *clause, field filter.Field, each func(document string, values []filter.Value)) error {
	fields := []string{"document_id", valueKey(field, "")}
	return c.scrolled(ctx, where, idPage, want{Fields: fields}, func(p point) error {
		var e elementPayload
		if err := json.Unmarshal(p.Payload, &e); err != nil {
			return fmt.Errorf("point: %w: %w", store.ErrCorrupt, err)
		}
		values, err := valuesOf(e.Metadata, field)
		each(e.Document, values)
		return err
	})
}

// tally collects buckets.
type tally struct {
	field  filter.Field
	q      store.FacetQuery
	counts map[filter.Value]int64 // by value, interval or range
	order  map[filter.Value]int64 // of intervals: what they sort by
	folded map[string]int64       // units by folded keyword; spellings are in counts
}

func newTally(field filter.Field, q store.FacetQuery) *tally {
	return &tally{field: field, q: q, counts: map[filter.Value]int64{}, order: map[filter.Value]int64{}, folded: map[string]int64{}}
}

// plain reports whether each distinct value is a bucket of its own.
func (t *tally) plain() bool { return t.q.By == "" && t.q.Ranges == nil }

// keys are the buckets a value falls into.
func (t *tally) keys(v filter.Value) []filter.Value {
	switch {
	case t.q.Ranges != nil:
		var out []filter.Value
		for i, r := range t.q.Ranges {
			if r.Includes(v) {
				out = append(out, filter.OfInt(int64(i)))
			}
		}
		return out
	case t.q.By != "":
		at, label := intervalOf(v.Time(), t.q.By)
		key := filter.OfString(label)
		t.order[key] = at
		return []filter.Value{key}
	}
	return []filter.Value{v}
}

// add counts n units that have a value and no other.
func (t *tally) add(v filter.Value, n int64) {
	for _, k := range t.keys(v) {
		t.counts[k] += n
	}
	if t.field.Kind == filter.Keyword {
		t.folded[t.field.Fold.Of(v.Str())] += n
	}
}

// override sets how many units have a keyword in any spelling, of those counted by add.
func (t *tally) override(folded string, n int64) { t.folded[folded] = n }

// unit counts one unit with all its values, and returns 1 if there are any.
func (t *tally) unit(values []filter.Value) int64 {
	seen, folds := map[filter.Value]bool{}, map[string]bool{}
	for _, v := range values {
		for _, k := range t.keys(v) {
			if !seen[k] {
				seen[k] = true
				t.counts[k]++
			}
		}
		if t.field.Kind == filter.Keyword {
			if f := t.field.Fold.Of(v.Str()); !folds[f] {
				folds[f] = true
				t.folded[f]++
			}
		}
	}
	return int64(min(1, len(values)))
}

func (t *tally) buckets() []store.Bucket {
	var out []store.Bucket
	switch {
	case t.q.Ranges != nil:
		for i := range t.q.Ranges {
			out = append(out, store.Bucket{Count: t.counts[filter.OfInt(int64(i))]})
		}
		return out
	case t.field.Kind == filter.Keyword:
		return t.keywords()
	}
	for v, n := range t.counts {
		out = append(out, store.Bucket{Value: v, Count: n})
	}
	slices.SortFunc(out, func(a, b store.Bucket) int {
		if t.q.By != "" {
			return cmp.Compare(t.order[a.Value], t.order[b.Value])
		}
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Value.Compare(b.Value))
	})
	return out
}

// keywords puts the spellings of a keyword into one bucket, under the commonest.
func (t *tally) keywords() []store.Bucket {
	best := map[string]filter.Value{}
	for v, n := range t.counts {
		f := t.field.Fold.Of(v.Str())
		b, ok := best[f]
		if !ok || n > t.counts[b] || n == t.counts[b] && v.Compare(b) < 0 {
			best[f] = v
		}
	}
	var out []store.Bucket
	for f, v := range best {
		out = append(out, store.Bucket{Value: v, Count: t.folded[f]})
	}
	slices.SortFunc(out, func(a, b store.Bucket) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Value.Compare(b.Value))
	})
	return out
}
