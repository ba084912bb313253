package aviation

import (
	"context"
	"fmt"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
)

// caseFinder finds which document a record belongs to. The document of an event is named
// by the event's id, which CAROL and reports do not give: their cases are looked up among
// what is held. A case of which no event is known makes a document under its own number,
// and a later record that gives both takes that in.
type caseFinder struct {
	held     source.Held // nil: nothing is
	orphaned *bool       // whether there are documents without an event's id; nil is not known yet
}

// eventOf is the id of the event a case belongs to, "" if none is held.
func (finder *caseFinder) eventOf(ctx context.Context, number string) (string, error) {
	if finder == nil || finder.held == nil {
		return "", nil
	}
	ids, err := finder.held.Find(ctx, filter.And{filter.Eq{Field: "case_number", Value: filter.OfString(number)}, filter.Exists{Field: "event_id"}})
	if err != nil {
		return "", fmt.Errorf("look up case %s: %w", number, err)
	}
	if len(ids) == 0 {
		return "", nil
	}
	return ids[0].Native(), nil
}

// item makes the item of what a record says of an event or a case.
func (finder *caseFinder) item(ctx context.Context, at, next source.Position, e event) (source.Item, error) {
	if e.id == "" {
		for _, number := range e.cases {
			id, err := finder.eventOf(ctx, number)
			if err != nil {
				return source.Item{}, err
			}
			e.id = max(e.id, id)
		}
	}
	out := source.Item{At: at, Next: next, ID: e.documentID(), Contribution: contribution{e}}
	if e.id == "" || finder == nil || finder.held == nil {
		return out, nil
	}
	some, err := finder.orphans(ctx)
	if err != nil || !some {
		return out, err
	}
	for _, number := range e.caseNumbers() {
		out.Was = append(out.Was, eventDocumentID(number))
	}
	return out, nil
}

// orphans reports whether any case waits for its event's id. Inputs that name events are
// read before those that do not, so that once in a run is enough to ask.
func (finder *caseFinder) orphans(ctx context.Context) (bool, error) {
	if finder.orphaned == nil {
		ids, err := finder.held.Find(ctx, filter.Not{Filter: filter.Exists{Field: "event_id"}})
		if err != nil {
			return false, fmt.Errorf("look up cases: %w", err)
		}
		some := len(ids) > 0
		finder.orphaned = &some
	}
	return *finder.orphaned, nil
}

// contribution is one record of a file: a part of an event.
type contribution struct{ event event }

// Merge implements source.Contribution.
func (c contribution) Merge(old *sextant.Document) (sextant.Document, bool, error) {
	if old == nil {
		return c.event.join(event{}).document(), false, nil
	}
	before := readEvent(old)
	if before.documentID() != c.event.documentID() {
		return sextant.Document{}, false, fmt.Errorf("document %s is not of event %s", old.ID, c.event.documentID().Native())
	}
	return before.join(c.event).document(), !before.has(c.event), nil
}

// Absorb implements source.Absorber.
func (c contribution) Absorb(doc, was *sextant.Document) (sextant.Document, error) {
	orphan := readEvent(was)
	if orphan.id != "" && orphan.id != c.event.id {
		return sextant.Document{}, fmt.Errorf("document %s is of event %s, not %s", was.ID, orphan.id, c.event.id)
	}
	e := event{id: c.event.id}
	if doc != nil {
		e = readEvent(doc)
	}
	return e.join(orphan).document(), nil
}
