// Package compute answers what can be computed: counts, lists, breakdowns, tops,
// shares, comparisons, trends, firsts and lasts, the most and least of something, means
// and sums. Every figure comes from the store under the question's filter; none is
// estimated, and none is written by a model.
//
// A figure is worth what its definition says. Each comes with a method card: what was
// counted, over which period and files, how often a field was not recorded, and the
// other figures that the same words could mean.
package compute

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

// MaxIDs is how many ids a computed value lists; a cursor leads to the rest.
const MaxIDs = 1000

// Domain is what a domain adds to figures and their method cards.
type Domain struct {
	Rules     []Rule            // other defensible counts of the same words
	Recorded  map[string]string // field -> the field that holds its spelling in the records
	Open      filter.Filter     // documents that are not yet final; nil if the domain has none
	Notes     func(ctx context.Context, r Request) ([]string, error)
	Grave     *Part        // what makes a document grave, for questions of danger; nil if nothing does
	Split     *Split       // what a trend must not mix; nil if nothing
	Breaks    []FieldBreak // where fields cannot be compared across
	Unsettled []Unsettled  // states of a document in which no cause is to be expected
	Proxies   []Proxy      // how to tell what a field would say where it is not recorded
}

// Part is a named part of what is counted: "fatal".
type Part struct {
	Name   string
	Filter filter.Filter // over fields of the document
}

// Unsettled is a state of a document in which no cause is to be expected, in words.
type Unsettled struct {
	Filter filter.Filter
	Words  string // "the investigation is open"
}

// Split divides the rows of a trend into two series, unless a condition on one of
// Unless already says which is meant.
type Split struct {
	Inside, Outside Part
	Unless          []string
}

// FieldBreak is a year in which a field's coding changed. Field "" concerns all.
type FieldBreak struct {
	Field string
	Year  int
	Why   string
}

// Rule is another way to count what was asked, and why it differs.
type Rule struct {
	Name, Why string
	// Apply returns the filter under the rule, false where it changes nothing.
	Apply func(ctx context.Context, r Request) (filter.Filter, bool, error)
}

// Request is one question's computation over one collection.
type Request struct {
	Collection store.Collection
	Parser     *constrain.Parser
	Reading    constrain.Reading
	Parts      []constrain.Compiled // the constraints as this collection enforces them
	Filter     filter.Filter        // all of them
	Ledger     sextant.Ledger
	Files      []string
	Domain     Domain
}

// Run computes what the question asks of the collection. With no request in the
// words it lists what satisfies the conditions.
func Run(ctx context.Context, r Request) ([]sextant.Computed, error) {
	c := computer{Request: r, ctx: ctx, spec: r.Collection.Spec(), asked: r.Reading.Request}
	out, err := c.run()
	if err == nil {
		out.Snippets, err = c.snippets(out)
	}
	if err != nil {
		return nil, fmt.Errorf("compute %s over %s: %w", c.asked.Kind, c.spec.Name, err)
	}
	return []sextant.Computed{out}, nil
}

// computer holds one request while it is worked on.
type computer struct {
	Request
	ctx   context.Context
	spec  sextant.Collection
	asked constrain.Request
}

func (c *computer) run() (sextant.Computed, error) {
	out, err := c.kind()
	if s := c.Reading.Sides; err == nil && len(s) > 1 && out.Kind != "compare" && !slices.ContainsFunc(c.Parts, c.ofSide) {
		c.note(&out, "“%s” and “%s” are not told apart here, nor is this restricted to them.", s[0].Label, s[1].Label)
	}
	return out, err
}

// kind computes what is asked for.
func (c *computer) kind() (sextant.Computed, error) {
	compared := c.compared()
	switch kind := c.asked.Kind; {
	case len(c.Reading.Sides) > 1 && c.asked.Sided() && c.holdsSides():
		return c.compareSides()
	case kind == "share" && compared >= 0 && c.asked.Compared:
		return c.compare(compared)
	case kind == "share" && len(c.asked.Groups) > 0:
		return c.group()
	case kind == "share":
		return c.share()
	case kind == "top", kind == "group":
		return c.group()
	case kind == "first", kind == "last":
		return c.firstLast()
	case kind == "max", kind == "min":
		return c.extreme()
	case kind == "sum", kind == "mean":
		return c.sum(kind)
	case kind == "distinct":
		return c.distinct()
	case c.asked.Compared && compared >= 0:
		return c.compare(compared)
	case kind == "", kind == "list":
		return c.list()
	}
	return c.base(c.asked.Kind)
}

// base fills in what every computed value has: total, ids, filter, method card.
func (c *computer) base(kind string) (sextant.Computed, error) {
	unit := c.asked.Unit
	if unit == "" || !c.spec.Schema.HasGroup(unit) {
		unit = store.Documents
	}
	total, err := c.Collection.Count(c.ctx, c.Filter, unit)
	if err != nil {
		return sextant.Computed{}, err
	}
	out := sextant.Computed{Kind: kind, Collection: c.spec.Name, Unit: unit, UnitLabel: c.spec.UnitLabel(unit), Total: total, Filter: filter.String(c.Filter)}
	if out.IDs, out.Next, err = c.ids(c.Filter); err != nil {
		return out, err
	}
	out.Title = c.title(out.UnitLabel)
	if out.Method, err = c.method(unit, total); err != nil {
		return out, err
	}
	return out, c.moved(&out)
}

// maxMoved bounds how many documents are looked through for values that moved.
const maxMoved = 200

// moved says of how many of the documents counted the sources disagree on a field that
// the figure depends on. The value that counts is that of the source furthest along.
func (c *computer) moved(out *sextant.Computed) error {
	if out.Total == 0 || out.Total > maxMoved || out.Next != "" {
		return nil
	}
	docs, err := c.leading(store.ListQuery{Filter: c.Filter, Limit: maxMoved})
	if err != nil {
		return err
	}
	var lines []string
	for _, d := range docs {
		values := map[string][]string{}
		for _, x := range d.Differences {
			if c.uses(x.Field) {
				values[x.Field] = append(values[x.Field], x.Value)
			}
		}
		for _, field := range slices.Sorted(maps.Keys(values)) {
			lines = append(lines, fmt.Sprintf("%s %s: %s", d.ID.Native(), c.label(field), strings.Join(values[field], " or ")))
		}
	}
	if len(lines) > 0 {
		const shown = 5
		more := ""
		if n := len(lines) - shown; n > 0 {
			more = fmt.Sprintf("; and %d more", n)
		}
		c.note(out, "Sources disagree on values this depends on; the first counts: %s%s.", strings.Join(lines[:min(len(lines), shown)], "; "), more)
	}
	return nil
}

func (c *computer) ids(f filter.Filter) (ids []string, next string, err error) {
	list, err := c.Collection.List(c.ctx, store.ListQuery{Filter: f, By: c.spec.DateField, Limit: MaxIDs})
	if err != nil {
		return nil, "", err
	}
	return natives(list.IDs), list.Next, nil
}

func natives(ids []sextant.DocumentID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.Native()
	}
	return out
}

// with joins further constraints to those of the question.
func (c *computer) with(more ...constrain.Compiled) filter.Filter {
	return constrain.Joint(append(slices.Clone(c.Parts), more...))
}

// on is a condition on a field as a constraint, which knows its group.
func (c *computer) on(field string, f filter.Filter) constrain.Compiled {
	def, _ := c.spec.Schema.Field(field)
	return constrain.Compiled{Constraint: constrain.Constraint{Condition: constrain.Condition{Field: field}}, Group: def.Group, Filter: f}
}

func (c *computer) label(name string) string {
	if f, ok := c.spec.Schema.Field(name); ok && f.Label != "" {
		return f.Label
	}
	return name
}

func (c *computer) note(out *sextant.Computed, format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(out.Method.Notes, text) {
		out.Method.Notes = append(out.Method.Notes, text)
	}
}

// maxSnippets is how many documents are shown with what they mention.
const maxSnippets = 20

// snippets quotes where the first documents mention what the conditions ask for.
func (c *computer) snippets(out sextant.Computed) ([]sextant.Quote, error) {
	asked := mentions(c.Filter, nil)
	if len(asked) == 0 || out.Total == 0 {
		return nil, nil
	}
	list, err := c.Collection.List(c.ctx, store.ListQuery{Filter: c.Filter, By: c.spec.DateField, Limit: maxSnippets})
	if err != nil {
		return nil, err
	}
	docs, err := c.Collection.Get(c.ctx, list.IDs)
	if err != nil {
		return nil, err
	}
	var quotes []sextant.Quote
	for _, d := range docs {
		for _, m := range asked {
			for _, r := range store.Snippets(lexical.English(), &d, m, 1) {
				q, err := d.Quote(around(d.Text, r.Start, r.End))
				if err != nil {
					return nil, err
				}
				quotes = append(quotes, q)
			}
		}
	}
	return quotes, nil
}

// mentions returns the conditions on the text that a filter demands.
func mentions(f filter.Filter, found []filter.Mentions) []filter.Mentions {
	switch f := f.(type) {
	case filter.And:
		for _, sub := range f {
			found = mentions(sub, found)
		}
	case filter.Or:
		for _, sub := range f {
			found = mentions(sub, found)
		}
	case filter.Mentions:
		if len(f.Phrases) > 0 {
			return append(found, f)
		}
	}
	return found
}
