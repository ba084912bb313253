package pipeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/store"
)

// Whether the text of a rule that is held was the rule on a day.
const (
	applied      = "in force"
	notYet       = "amended since"
	undetermined = "unknown"
)

// maxVersions bounds how many texts of one rule are looked at.
const maxVersions = 50

// inForce keeps, of each rule among the evidence, the text that was in force on the day
// the question is about, and says which one that is. Where only a later text is held, the
// rule's own note of its last amendment decides whether it applied already.
func (a *asking) inForce() error {
	field := a.engine.domain.Rule
	day, asked := a.ruleDay()
	done := map[string]bool{}
	for _, c := range a.inScope() {
		spec := c.Spec()
		if _, ok := spec.Schema.Field(field.Name); !ok || spec.Role != sextant.RoleRules {
			continue
		}
		for _, d := range slices.Clone(a.documents) {
			name := d.Meta.Fields.One(field.Name)
			if d.Collection != spec.Name || name.IsZero() || done[name.Str()] {
				continue
			}
			done[name.Str()] = true
			versions, err := versionsOf(a, c, field.Name, name)
			if err != nil {
				return err
			}
			chosen, note := choose(versions, day, field.Amended)
			if err := a.keepVersion(c, versions, chosen); err != nil {
				return err
			}
			a.answer.Regulatory = append(a.answer.Regulatory, a.regulatory(chosen, note, asked))
			if asked {
				a.caveat(note.text)
			}
		}
	}
	return nil
}

func versionsOf(a *asking, c store.Collection, field string, name filter.Value) ([]sextant.Document, error) {
	list, err := c.List(a.ctx, store.ListQuery{Filter: filter.Eq{Field: field, Value: name}, Limit: maxVersions})
	if err != nil {
		return nil, unavailable("list versions", err)
	}
	docs, err := c.Get(a.ctx, list.IDs)
	if err != nil {
		return nil, unavailable("read versions", err)
	}
	slices.SortStableFunc(docs, func(x, y sextant.Document) int { return x.Valid.From.Compare(y.Valid.From) })
	return docs, nil
}

// standing is how a text stands to a day.
type standing struct {
	status  string // applied, notYet or undetermined
	amended time.Time
	until   time.Time // the day before the next text that is held and differs; zero: none
	text    string
}

// choose picks the text of a rule for a day out of all that are held, in order of the
// days they are known to be in force from.
func choose(versions []sextant.Document, day time.Time, amendedField string) (sextant.Document, standing) {
	at := -1
	for i, d := range versions {
		if !d.Valid.From.After(day) {
			at = i
		}
	}
	d := versions[max(at, 0)]
	s := standing{status: applied}
	if v := d.Meta.Fields.One(amendedField); v.Kind() == filter.Time {
		s.amended = v.Time()
	}
	for _, later := range versions[max(at, 0)+1:] {
		if later.Text != d.Text {
			s.until = later.Valid.From.AddDate(0, 0, -1)
			break
		}
	}
	of := d.Valid.From.Format(time.DateOnly)
	switch {
	case at >= 0 && !s.until.IsZero():
		s.text = fmt.Sprintf("%s is quoted as in force on %s: the text of %s, which held until %s at the latest.", d.Title, day.Format(time.DateOnly), of, s.until.Format(time.DateOnly))
	case at >= 0:
		s.text = fmt.Sprintf("%s is quoted as in force on %s: the text of %s.", d.Title, day.Format(time.DateOnly), of)
	case s.amended.IsZero():
		s.status = undetermined
		s.text = fmt.Sprintf("%s: the earliest text held is of %s and names no amendment; whether it applied on %s is unknown.", d.Title, of, day.Format(time.DateOnly))
	case s.amended.After(day):
		s.status = notYet
		s.text = fmt.Sprintf("%s: the earliest text held is of %s and was last amended on %s, after %s: the text in force then is not held.", d.Title, of, s.amended.Format(time.DateOnly), day.Format(time.DateOnly))
	default:
		s.text = fmt.Sprintf("%s: the text held is of %s; it was last amended on %s, so it applied already on %s.", d.Title, of, s.amended.Format(time.DateOnly), day.Format(time.DateOnly))
	}
	return d, s
}

// ruleDay is the day whose rules are asked for: that of the one event the question is
// about, the last day of the period it names, or else the present.
func (a *asking) ruleDay() (day time.Time, asked bool) {
	for _, d := range a.documents {
		c, ok := a.state.collection(d.Collection)
		if !ok || c.Spec().Role != sextant.RoleEvents || a.account.Ledger.JointByCollection[d.Collection] > few {
			continue
		}
		if when := d.Meta.Fields.One(c.Spec().DateField); !when.IsZero() {
			return when.Time(), true
		}
	}
	for _, k := range a.reading.Constraints {
		if len(k.Values) != 1 || k.Op == sextant.OpNotIn {
			continue
		}
		if s, ok := k.Values[0].(constrain.Span); ok {
			if !s.To.IsZero() {
				return s.To, true
			}
			return s.From, true
		}
	}
	return a.asOf, false
}

// keepVersion puts the chosen text in the place of all others of its rule.
func (a *asking) keepVersion(c store.Collection, versions []sextant.Document, chosen sextant.Document) error {
	other := func(id sextant.DocumentID) bool {
		return id != chosen.ID && slices.ContainsFunc(versions, func(d sextant.Document) bool { return d.ID == id })
	}
	if slices.ContainsFunc(a.documents, func(d sextant.Document) bool { return d.ID == chosen.ID }) {
		a.documents = slices.DeleteFunc(a.documents, func(d sextant.Document) bool { return other(d.ID) })
		a.answer.Evidence = slices.DeleteFunc(a.answer.Evidence, func(p sextant.Passage) bool { return other(p.DocumentID) })
		return nil
	}
	chunks, err := c.Chunks(a.ctx, chosen.ID)
	if err != nil || len(chunks) == 0 {
		return unavailable("read a version", err)
	}
	replaced := false
	a.documents = slices.DeleteFunc(a.documents, func(d sextant.Document) bool { return other(d.ID) })
	a.documents = append(a.documents, chosen)
	kept := a.answer.Evidence[:0]
	for _, p := range a.answer.Evidence {
		if !other(p.DocumentID) {
			kept = append(kept, p)
			continue
		}
		if !replaced {
			kept, replaced = append(kept, inPlaceOf(p, chosen, chunks)), true
		}
	}
	a.answer.Evidence = kept
	return nil
}

// inPlaceOf is a passage of another text of the same rule.
func inPlaceOf(p sextant.Passage, d sextant.Document, chunks []sextant.Chunk) sextant.Passage {
	ch := chunks[min(p.ChunkIndex, len(chunks)-1)]
	p.ChunkID, p.DocumentID, p.ChunkIndex, p.Content, p.Heading, p.Start, p.End = ch.ID, d.ID, ch.Index, ch.Content, ch.Heading, ch.Start, ch.End
	p.Title, p.Metadata = d.Title, d.Meta
	part, _ := d.PartAt(ch.Start)
	p.Locator = part.Locator
	return p
}

// regulatory is the entry of a rule in the answer, quoted by its first words.
func (a *asking) regulatory(d sextant.Document, s standing, asked bool) sextant.Regulatory {
	r := sextant.Regulatory{Regulation: d.Title, Version: d.Valid.From.Format(time.DateOnly), Relevance: "found", Quotes: []sextant.Quote{}}
	if a.plan.Otherwise == plan.Regulatory || a.plan.Otherwise == plan.Compliance {
		r.Relevance = "asked about"
	}
	if !s.amended.IsZero() {
		r.Amended = s.amended.Format(time.DateOnly)
	}
	if asked {
		r.InForce, r.Note = s.status, s.text
	}
	for _, p := range d.Parts {
		if p.Kind == store.PartHeading || p.End-p.Start < 20 {
			continue
		}
		if q, err := d.Quote(p.Start, min(p.End, p.Start+firstWords(d.Text[p.Start:p.End]))); err == nil {
			r.Quotes = append(r.Quotes, q)
		}
		break
	}
	return r
}

// firstWords returns where the first sentence of a text ends.
func firstWords(text string) int {
	for i := range len(text) - 1 {
		if text[i] == '.' && text[i+1] == ' ' && i > 20 {
			return i + 1
		}
	}
	return len(text)
}
