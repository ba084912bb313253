package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// maxPage is how many documents one page of a list shows.
const maxPage = 1000

// List returns a page of the documents under a filter. The filter and the cursor of a
// computed figure lead from its first thousand ids to all of them.
func (e *Engine) List(ctx context.Context, q sextant.ListQuery) (sextant.ListPage, error) {
	s, err := e.current(ctx)
	if err != nil {
		return sextant.ListPage{}, err
	}
	c, ok := s.collection(q.Collection)
	if !ok {
		return sextant.ListPage{}, unknownCollection(q.Collection, s)
	}
	spec := c.Spec()
	f, err := listFilter(spec, q.FilterText)
	if err != nil {
		return sextant.ListPage{}, err
	}
	if q.Limit < 0 || q.Limit > maxPage {
		return sextant.ListPage{}, listMistake(fmt.Sprintf("limit is %d; it must be between 1 and %d.", q.Limit, maxPage), nil)
	}
	by := q.By
	if by == "" {
		by = spec.DateField
	}
	list, err := c.List(ctx, store.ListQuery{Filter: f, By: by, Desc: q.Desc, After: q.After, Limit: q.Limit})
	switch {
	case errors.Is(err, store.ErrCursor):
		return sextant.ListPage{}, listMistake("after is no cursor of this list.", err)
	case errors.Is(err, filter.ErrSchema), errors.Is(err, store.ErrUnsupported):
		return sextant.ListPage{}, listMistake(err.Error(), err)
	case err != nil:
		return sextant.ListPage{}, unavailable("list", err)
	}
	docs, err := c.Get(ctx, list.IDs)
	if err != nil {
		return sextant.ListPage{}, unavailable("read documents", err)
	}
	page := sextant.ListPage{Documents: make([]sextant.ListEntry, len(docs)), Total: list.Total, Next: list.Next, Filter: filter.String(f)}
	for i, d := range docs {
		page.Documents[i] = sextant.ListEntry{ID: d.ID, NativeID: d.ID.Native(), Title: d.Title}
		if v := d.Meta.Fields.One(spec.DateField); !v.IsZero() {
			page.Documents[i].Date = v.Time().Format(time.DateOnly)
		}
	}
	return page, nil
}

func listFilter(spec sextant.Collection, text string) (filter.Filter, error) {
	if strings.TrimSpace(text) == "" {
		return filter.All, nil
	}
	f, err := spec.Schema.ParseExpr(text)
	if err != nil {
		return nil, listMistake("The condition cannot be read: "+strings.TrimPrefix(err.Error(), "filter: ")+".", err)
	}
	return f, nil
}

func listMistake(message string, err error) error {
	return &sextant.Error{Code: sextant.CodeBadRequest, Op: "list", Message: message, Err: err}
}
