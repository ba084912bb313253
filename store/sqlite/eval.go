package sqlite

import (
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// resolve checks a filter against what the collection holds.
func (x *index) resolve(f filter.Filter) (filter.Filter, error) {
	if err := store.CheckMentions(f); err != nil {
		return nil, err
	}
	return x.schema.Resolve(f)
}

// mentioning returns the documents whose text satisfies a condition.
func (x *index) mentioning(f filter.Mentions) mask {
	expr, zones := store.Mention(f)
	if expr == nil {
		return x.chunks.up(x.inColumns(x.text.Written(zones)), x.documents.slots)
	}
	return x.chunks.up(x.inColumns(x.text.RowsIn(expr, zones)), x.documents.slots)
}

// inColumns leaves out the chunks of a batch that the columns do not have yet.
func (x *index) inColumns(chunks mask) mask {
	if len(chunks) > words(x.chunks.slots) {
		chunks = chunks[:words(x.chunks.slots)]
	}
	chunks.and(x.chunks.live)
	return chunks
}

// matching returns the live documents that satisfy a resolved filter.
func (x *index) matching(f filter.Filter) mask {
	m := x.documents.eval(f, x)
	m.and(x.documents.live)
	return m
}

// matchingElements returns the live elements of a group that satisfy a resolved
// filter in the sense of filter.MatchElement.
func (x *index) matchingElements(f filter.Filter, group string) mask {
	m := x.elements(f, group)
	m.and(x.groups[group].live)
	return m
}

// eval returns the slots of the table that satisfy f, dead ones included. Each is
// looked up in x; inside a group there is none.
func (t *table) eval(f filter.Filter, x *index) mask {
	switch f := f.(type) {
	case filter.And:
		return t.evalAnd(f, x)
	case filter.Or:
		m := newMask(t.slots)
		for _, sub := range f {
			m.or(t.eval(sub, x))
		}
		return m
	case filter.Not:
		m := t.eval(f.Filter, x)
		m.flip(t.slots)
		return m
	case filter.Mentions:
		return x.mentioning(f)
	case filter.Each:
		g := x.groups[f.Group]
		return g.up(g.eval(f.Filter, x), t.slots)
	}
	m := newMask(t.slots)
	t.columns[filter.FieldOf(f)].test(f, m)
	return m
}

// evalAnd leaves conditions on numbers to the end, when few slots are left to look at.
func (t *table) evalAnd(subs filter.And, x *index) mask {
	var m mask
	var late []filter.Filter
	for _, sub := range subs {
		if _, ok := t.columns[filter.FieldOf(sub)].(*numbers); ok {
			late = append(late, sub)
			continue
		}
		found := t.eval(sub, x)
		if m == nil {
			m = found
		} else {
			m.and(found)
		}
	}
	if m == nil {
		m = fullMask(t.slots)
	}
	for _, sub := range late {
		t.columns[filter.FieldOf(sub)].keep(sub, m)
	}
	return m
}

// elements evaluates f for each element of the group by itself: an Each over the
// group looks at that element alone, all else is true of an element if it is true
// of its document.
func (x *index) elements(f filter.Filter, group string) mask {
	g := x.groups[group]
	if !ranges(f, group) {
		return g.down(x.documents.eval(f, x))
	}
	switch f := f.(type) {
	case filter.And:
		own, rest := split(f, group)
		m := g.down(x.documents.eval(filter.And(rest), x))
		for _, sub := range own {
			m.and(x.elements(sub, group))
		}
		return m
	case filter.Or:
		own, rest := split(f, group)
		m := g.down(x.documents.eval(filter.Or(rest), x))
		for _, sub := range own {
			m.or(x.elements(sub, group))
		}
		return m
	case filter.Not:
		m := x.elements(f.Filter, group)
		m.flip(g.slots)
		return m
	}
	return g.eval(f.(filter.Each).Filter, x)
}

// split parts filters into those with an Each over the group and those that are true of
// whole documents.
func split(fs []filter.Filter, group string) (own, rest []filter.Filter) {
	for _, f := range fs {
		if ranges(f, group) {
			own = append(own, f)
		} else {
			rest = append(rest, f)
		}
	}
	return own, rest
}

// ranges reports whether f has an Each over the group.
func ranges(f filter.Filter, group string) bool {
	switch f := f.(type) {
	case filter.And:
		return anyRanges(f, group)
	case filter.Or:
		return anyRanges(f, group)
	case filter.Not:
		return ranges(f.Filter, group)
	case filter.Each:
		return f.Group == group
	}
	return false
}

func anyRanges(fs []filter.Filter, group string) bool {
	for _, f := range fs {
		if ranges(f, group) {
			return true
		}
	}
	return false
}
