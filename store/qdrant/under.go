package qdrant

import (
	"context"
	"fmt"
	"strings"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Kinds of points of a collection.
const (
	kindHead    = "head"
	kindChunk   = "chunk"
	kindText    = "text"
	kindState   = "state"
	kindElement = "element:" // and the group
)

func isKind(kind string) condition { return keywords("_kind", kind) }

// heads are all documents.
func heads() *clause { return &clause{Must: []condition{isKind(kindHead)}} }

// unitKind is the kind of point that is counted under a unit, and the group it is of.
func unitKind(schema *filter.Schema, unit string) (kind, group string, err error) {
	if unit == "" || unit == store.Documents {
		return kindHead, "", nil
	}
	if !schema.HasGroup(unit) {
		return "", "", fmt.Errorf("no group %q to count: %w", unit, filter.ErrSchema)
	}
	return kindElement + unit, unit, nil
}

// resolved checks a filter, and rewrites what Qdrant does not have.
func (c *collection) resolved(ctx context.Context, f filter.Filter) (filter.Filter, error) {
	spec := c.Spec()
	out, err := spec.Schema.Resolve(f)
	if err != nil {
		return nil, err
	}
	if err := store.CheckMentions(out); err != nil {
		return nil, err
	}
	if !needsRewriting(out) {
		return out, nil
	}
	rewritten, err := rewriting{ctx: ctx, c: c, schema: &spec.Schema}.filter(out)
	return filter.Simplify(rewritten), err
}

// under makes the condition of points of a kind under a resolved filter; nil if there
// cannot be any.
func (c *collection) under(f filter.Filter, kind, unit string) (*clause, error) {
	out := &clause{Must: []condition{isKind(kind)}}
	switch {
	case filter.IsNone(f):
		return nil, nil
	case filter.IsAll(f):
		return out, nil
	}
	cond, err := translation{schema: c.Spec().Schema, unit: unit}.condition(f, "")
	if err != nil {
		return nil, err
	}
	out.Must = append(out.Must, cond)
	return out, nil
}

// and adds conditions to a clause.
func (c *clause) and(more ...condition) *clause {
	out := *c
	out.Must = append(append([]condition(nil), c.Must...), more...)
	return &out
}

func needsRewriting(f filter.Filter) bool {
	switch f := f.(type) {
	case filter.And:
		return anyNeeds(f)
	case filter.Or:
		return anyNeeds(f)
	case filter.Not:
		return needsRewriting(f.Filter)
	case filter.Each:
		return needsRewriting(f.Filter)
	case filter.Contains, filter.Mentions:
		return true
	}
	return false
}

func anyNeeds(fs []filter.Filter) bool {
	for _, f := range fs {
		if needsRewriting(f) {
			return true
		}
	}
	return false
}

// rewriting replaces Contains by the values that do, and Mentions by the documents that do.
type rewriting struct {
	ctx    context.Context
	c      *collection
	schema *filter.Schema
}

func (r rewriting) filter(f filter.Filter) (filter.Filter, error) {
	switch f := f.(type) {
	case filter.And:
		fs, err := r.filters(f)
		return filter.And(fs), err
	case filter.Or:
		fs, err := r.filters(f)
		return filter.Or(fs), err
	case filter.Not:
		sub, err := r.filter(f.Filter)
		return filter.Not{Filter: sub}, err
	case filter.Each:
		sub, err := r.filter(f.Filter)
		return filter.Each{Group: f.Group, Filter: sub}, err
	case filter.Contains:
		return r.contains(f)
	case filter.Mentions:
		return r.mentions(f)
	}
	return f, nil
}

func (r rewriting) filters(fs []filter.Filter) ([]filter.Filter, error) {
	out := make([]filter.Filter, len(fs))
	for i, f := range fs {
		var err error
		if out[i], err = r.filter(f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r rewriting) contains(f filter.Contains) (filter.Filter, error) {
	field, _ := r.schema.Field(f.Field)
	sub := field.Fold.Of(f.Sub)
	if sub == "" {
		return filter.Exists{Field: f.Field}, nil
	}
	vocabulary, err := r.c.vocabulary(r.ctx, field)
	if err != nil {
		return nil, err
	}
	in := filter.In{Field: f.Field}
	for _, v := range vocabulary {
		if strings.Contains(v, sub) {
			in.Values = append(in.Values, filter.OfString(v))
		}
	}
	return in, nil
}

// maxMentioned bounds the documents that a Mentions is turned into.
const maxMentioned = 200_000

func (r rewriting) mentions(f filter.Mentions) (filter.Filter, error) {
	ids, err := r.c.mentioned(r.ctx, f)
	if err != nil {
		return nil, err
	}
	if len(ids) > maxMentioned {
		return nil, fmt.Errorf("%d documents mention it, at most %d can be a condition: %w", len(ids), maxMentioned, store.ErrUnsupported)
	}
	in := filter.In{Field: documentField}
	for _, id := range ids {
		in.Values = append(in.Values, filter.OfString(string(id)))
	}
	// One of one value would become an Eq, which has no place for ids.
	if len(in.Values) == 1 {
		in.Values = append(in.Values, in.Values[0])
	}
	return in, nil
}
