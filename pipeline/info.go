package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Ready reports why questions cannot be answered now, nil if they can.
func (e *Engine) Ready(ctx context.Context) error {
	if err := e.store.Ping(ctx); err != nil {
		return unavailable("ping", err)
	}
	_, err := e.current(ctx)
	return err
}

// Collections lists what is held and what could be, by name.
func (e *Engine) Collections(ctx context.Context) ([]sextant.CollectionInfo, error) {
	s, err := e.current(ctx)
	if err != nil {
		return nil, err
	}
	out := []sextant.CollectionInfo{}
	for _, c := range s.collections {
		info, err := s.info(ctx, c)
		if err != nil {
			return nil, unavailable("size of "+c.Spec().Name, err)
		}
		out = append(out, info)
	}
	slices.SortFunc(out, func(a, b sextant.CollectionInfo) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (s *state) info(ctx context.Context, c store.Collection) (sextant.CollectionInfo, error) {
	spec := c.Spec()
	size, err := c.Size(ctx)
	if err != nil {
		return sextant.CollectionInfo{}, err
	}
	info := sextant.CollectionInfo{Name: spec.Name, Title: spec.Title, Role: spec.Role, Unit: spec.UnitLabel(store.Documents), Documents: size.Documents, Chunks: size.Chunks,
		Disk: size.Disk, Memory: size.Memory, StoredAs: size.StoredAs, Points: size.Points, Fill: spec.Fill, Files: s.files[spec.Name]}
	if covered, ok := s.coverage(spec.Name); ok {
		info.Coverage, info.DataDate = &covered, covered.To
	}
	return info, nil
}

// Describe returns a collection with its fields, what stands in them, and questions
// that can be asked of it.
func (e *Engine) Describe(ctx context.Context, name string) (sextant.Description, error) {
	s, err := e.current(ctx)
	if err != nil {
		return sextant.Description{}, err
	}
	c, ok := s.collection(name)
	if !ok {
		return sextant.Description{}, unknownCollection(name, s)
	}
	d := sextant.Description{Fields: []sextant.FieldInfo{}, Examples: []string{}}
	if d.CollectionInfo, err = s.info(ctx, c); err != nil {
		return d, unavailable("describe "+name, err)
	}
	spec := c.Spec()
	for _, g := range spec.Schema.Groups {
		n, err := c.Count(ctx, filter.All, g.Name)
		if err != nil {
			return d, unavailable("describe "+name, err)
		}
		d.Groups = append(d.Groups, sextant.GroupInfo{Name: g.Name, Label: spec.UnitLabel(g.Name), Count: n})
	}
	for _, f := range spec.Schema.Fields {
		info, err := fieldInfo(ctx, c, f)
		if err != nil {
			return d, unavailable("describe "+name, err)
		}
		d.Fields = append(d.Fields, info)
	}
	said, err := e.wording(name)
	if err != nil {
		return d, err
	}
	d.Words, d.Examples = said.Lines(), e.examples(s, spec, d)
	return d, nil
}

const maxValues = 50

func fieldInfo(ctx context.Context, c store.Collection, f filter.Field) (sextant.FieldInfo, error) {
	info := sextant.FieldInfo{Field: f}
	if len(f.AnyOf) > 0 {
		return info, nil
	}
	unit := store.Documents
	if f.Group != "" {
		unit = f.Group
	}
	if f.Kind == filter.Keyword || f.Kind == filter.Bool {
		facet, err := c.Facet(ctx, store.FacetQuery{Field: f.Name, Unit: unit})
		if err != nil {
			return info, err
		}
		info.Known, info.Unknown, info.Distinct = facet.Total-facet.Unknown, facet.Unknown, int64(len(facet.Buckets))
		for _, b := range facet.Buckets[:min(len(facet.Buckets), maxValues)] {
			if f.Facet || f.Kind == filter.Bool {
				info.Values = append(info.Values, []any{b.Value, b.Count})
			}
		}
		return info, nil
	}
	return info, rangeInfo(ctx, c, f, unit, &info)
}

func rangeInfo(ctx context.Context, c store.Collection, f filter.Field, unit string, info *sextant.FieldInfo) error {
	total, err := c.Count(ctx, filter.All, unit)
	if err != nil {
		return err
	}
	sum, err := c.Sum(ctx, filter.All, f.Name)
	if err != nil {
		return err
	}
	info.Known, info.Unknown = sum.Known, max(0, total-sum.Known)
	if !sum.Min.IsZero() {
		info.Min, info.Max = sum.Min, sum.Max
	}
	return nil
}

// Document returns a document by its id. An id without a source is a native id: the
// one document that bears it is meant.
func (e *Engine) Document(ctx context.Context, id sextant.DocumentID) (sextant.Document, error) {
	s, err := e.current(ctx)
	if err != nil {
		return sextant.Document{}, err
	}
	for _, c := range s.collections {
		for _, candidate := range s.candidates(c, id) {
			docs, err := c.Get(ctx, []sextant.DocumentID{candidate})
			if err != nil {
				return sextant.Document{}, unavailable("get document", err)
			}
			if len(docs) == 1 {
				return docs[0], nil
			}
		}
	}
	return sextant.Document{}, &sextant.Error{Code: sextant.CodeNotFound, Op: "document", Message: fmt.Sprintf("There is no document %q.", sextant.CleanText(string(id)))}
}

// candidates are the ids a native id could stand for: it is tried with every source
// name the collection was filled from.
func (s *state) candidates(c store.Collection, id sextant.DocumentID) []sextant.DocumentID {
	out := []sextant.DocumentID{id}
	if strings.Contains(string(id), ":") {
		return out
	}
	for _, source := range s.sources[c.Spec().Name] {
		out = append(out, sextant.DocumentID(source+":"+string(id)))
	}
	return out
}

// sourceNames returns the sources the documents of a collection come from, by looking
// at its first ids.
func sourceNames(ctx context.Context, c store.Collection) ([]string, error) {
	list, err := c.List(ctx, store.ListQuery{Limit: 100})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range list.IDs {
		if source, _, ok := strings.Cut(string(id), ":"); ok && !slices.Contains(out, source) {
			out = append(out, source)
		}
	}
	return out, nil
}

// Count counts what satisfies EXPR in one collection, in the given unit.
func (e *Engine) Count(ctx context.Context, collection, expr, unit string) (int64, error) {
	s, err := e.current(ctx)
	if err != nil {
		return 0, err
	}
	c, ok := s.collection(collection)
	if !ok {
		return 0, unknownCollection(collection, s)
	}
	spec := c.Spec()
	if strings.TrimSpace(expr) == "" {
		expr = "all"
	}
	f, err := spec.Schema.ParseExpr(expr)
	if err != nil {
		return 0, &sextant.Error{Code: sextant.CodeBadRequest, Op: "count", Message: "The condition cannot be read: " + strings.TrimPrefix(err.Error(), "filter: ") + ".", Err: err}
	}
	if unit == "" {
		unit = store.Documents
	}
	if unit != store.Documents && !spec.Schema.HasGroup(unit) {
		return 0, &sextant.Error{Code: sextant.CodeBadRequest, Op: "count", Message: fmt.Sprintf("%q is not counted in %s.", unit, collection), Hint: "Use documents, or a group that describe names."}
	}
	n, err := c.Count(ctx, f, unit)
	if errors.Is(err, filter.ErrSchema) {
		return 0, &sextant.Error{Code: sextant.CodeBadRequest, Op: "count", Message: err.Error(), Err: err}
	}
	if err != nil {
		return 0, unavailable("count", err)
	}
	return n, nil
}
