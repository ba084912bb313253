package aviation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
)

// follow finds the other texts held of a provision: the document is in force until the
// next of them, and the last before it until the document's own date.
func (w *lawWalk) follow(it *source.Item, doc *sextant.Document) error {
	if w.held == nil || doc.Valid.From.IsZero() {
		return nil
	}
	ids, err := w.held.Find(w.ctx, filter.Eq{Field: "provision", Value: doc.Meta.Fields.One("provision")})
	if err != nil {
		return fmt.Errorf("look up other texts of %s: %w", doc.ID, err)
	}
	editions := map[time.Time]sextant.DocumentID{}
	for _, id := range ids {
		if day, ok := editionDate(id); ok && id != doc.ID {
			editions[day] = id
		}
	}
	var before, after time.Time
	for day := range editions {
		switch {
		case day.Before(doc.Valid.From) && day.After(before):
			before = day
		case day.After(doc.Valid.From) && (after.IsZero() || day.Before(after)):
			after = day
		}
	}
	endOn(doc, after)
	if !before.IsZero() {
		it.Besides = append(it.Besides, source.Aside{ID: editions[before], Contribution: followed{doc.Valid.From}})
	}
	return nil
}

// editionDate reads the date out of a document's id.
func editionDate(id sextant.DocumentID) (time.Time, bool) {
	i := strings.LastIndexByte(string(id), '@')
	if i < 0 {
		return time.Time{}, false
	}
	day, err := time.Parse(time.DateOnly, string(id[i+1:]))
	return day, err == nil
}

// endOn sets the day a text is in force until; zero is no day.
func endOn(doc *sextant.Document, day time.Time) {
	if doc.Valid.To = day; !day.IsZero() {
		doc.Meta.Fields.Set("valid_to", filter.OfTime(day))
	}
}

// followed says that another text took the place of a document's.
type followed struct{ on time.Time }

// Merge implements source.Contribution.
func (f followed) Merge(old *sextant.Document) (sextant.Document, bool, error) {
	if old == nil {
		return sextant.Document{}, false, fmt.Errorf("there is no text that ended on %s", f.on.Format(time.DateOnly))
	}
	if !old.Valid.To.IsZero() && !old.Valid.To.After(f.on) || !f.on.After(old.Valid.From) {
		return *old, true, nil
	}
	doc := *old
	doc.Meta.Fields = cloneFields(old.Meta.Fields)
	endOn(&doc, f.on)
	return doc, true, nil
}

func cloneFields(f filter.Fields) filter.Fields {
	out := make(filter.Fields, len(f))
	for name, values := range f {
		out[name] = slices.Clone(values)
	}
	return out
}
