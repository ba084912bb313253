package chroma

import (
	"fmt"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// resolve checks a filter against the schema.
func (v *view) resolve(f filter.Filter) (filter.Filter, error) {
	f, err := v.spec.Schema.Resolve(f)
	if err == nil {
		err = store.CheckMentions(f)
	}
	return f, err
}

// matching returns the documents that satisfy a resolved filter.
func (v *view) matching(f filter.Filter) bits {
	switch f := f.(type) {
	case nil:
		return v.live
	case filter.And:
		out := v.live
		for _, sub := range f {
			out = out.and(v.matching(sub))
		}
		return out
	case filter.Or:
		var out bits
		for _, sub := range f {
			out = out.or(v.matching(sub))
		}
		return out
	case filter.Not:
		return v.live.minus(v.matching(f.Filter))
	}
	return v.leaf(f)
}

// maxMemo is how many conditions' documents are remembered: a ledger counts each
// condition alone and in company, and questions repeat themselves.
const maxMemo = 256

// leaf returns the documents that satisfy a single condition.
func (v *view) leaf(f filter.Filter) bits {
	key := fmt.Sprintf("%#v", f)
	v.mu.Lock()
	known, ok := v.memo[key]
	v.mu.Unlock()
	if ok {
		return known
	}
	var out bits
	if m, ok := f.(filter.Mentions); ok {
		out = v.mentioning(m)
	} else {
		matcher := filter.Matcher{Schema: &v.spec.Schema}
		for slot := range v.live.all() {
			if matcher.Match(f, v.heads[slot].meta) {
				out = out.with(slot)
			}
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.memo) >= maxMemo {
		clear(v.memo)
	}
	v.memo[key] = out
	return out
}

// mentioning returns the documents one of whose chunks satisfies a Mentions.
func (v *view) mentioning(m filter.Mentions) bits {
	expr, zones := store.Mention(m)
	var rows bits
	if expr == nil {
		rows = v.text.Written(zones)
	} else {
		rows = v.text.RowsIn(expr, zones)
	}
	var out bits
	for chunk := range rows.and(v.chunks).all() {
		out = out.with(int(v.parent[chunk]))
	}
	return out
}

// element is one element of a group.
type element struct {
	head   *head
	fields filter.Fields
}

// elements returns the elements of a group that are why their documents match.
func (v *view) elements(f filter.Filter, group string) []element {
	mentions := map[string]bits{}
	v.findMentions(f, mentions)
	var out []element
	for slot := range v.live.all() {
		h := v.heads[slot]
		matcher := filter.Matcher{Schema: &v.spec.Schema, Mentioned: func(m filter.Mentions) bool { return mentions[fmt.Sprintf("%#v", m)].has(slot) }}
		for i, e := range h.meta.Groups[group] {
			if matcher.MatchElement(f, h.meta, group, i) {
				out = append(out, element{h, e})
			}
		}
	}
	return out
}

func (v *view) findMentions(f filter.Filter, into map[string]bits) {
	switch f := f.(type) {
	case filter.And:
		for _, sub := range f {
			v.findMentions(sub, into)
		}
	case filter.Or:
		for _, sub := range f {
			v.findMentions(sub, into)
		}
	case filter.Not:
		v.findMentions(f.Filter, into)
	case filter.Mentions:
		into[fmt.Sprintf("%#v", f)] = v.leaf(f)
	}
}

// checkUnit reports a unit that is none of the collection's.
func (v *view) checkUnit(unit string) error {
	if isDocuments(unit) || v.spec.Schema.HasGroup(unit) {
		return nil
	}
	return fmt.Errorf("%q is neither %q nor a group: %w", unit, store.Documents, filter.ErrSchema)
}

func isDocuments(unit string) bool { return unit == "" || unit == store.Documents }

// field returns a field that holds values itself.
func (v *view) field(name string) (filter.Field, error) {
	f, ok := v.spec.Schema.Field(name)
	switch {
	case !ok:
		return f, fmt.Errorf("no field %q: %w", name, filter.ErrSchema)
	case len(f.AnyOf) > 0:
		return f, fmt.Errorf("field %q is a view of others: %w", name, filter.ErrSchema)
	}
	return f, nil
}

// values returns, for each unit under a resolved filter, the values of a field that
// count for it; see store.Facet.
func (v *view) values(f filter.Filter, field filter.Field, unit string) ([][]filter.Value, error) {
	var out [][]filter.Value
	switch {
	case !isDocuments(unit) && field.Group != "" && field.Group != unit:
		return nil, fmt.Errorf("a field of each %s says nothing of one %s: %w", field.Group, unit, filter.ErrSchema)
	case !isDocuments(unit):
		for _, e := range v.elements(f, unit) {
			if field.Group == "" {
				out = append(out, e.head.meta.Fields[field.Name])
			} else {
				out = append(out, e.fields[field.Name])
			}
		}
	case field.Group == "":
		for slot := range v.matching(f).all() {
			out = append(out, v.heads[slot].meta.Fields[field.Name])
		}
	default:
		reasons := map[*head][]filter.Value{}
		for _, e := range v.elements(f, field.Group) {
			reasons[e.head] = append(reasons[e.head], e.fields[field.Name]...)
		}
		for slot := range v.matching(f).all() {
			out = append(out, reasons[v.heads[slot]])
		}
	}
	return out, nil
}
