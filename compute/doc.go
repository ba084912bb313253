// Package compute answers what can be computed: counts, lists, breakdowns, tops,
// shares, comparisons, firsts and lasts, and sums. Every figure comes from the store
// under the question's filter; none is estimated, and none is written by a model.
//
// A figure is worth what its definition says. Each comes with a method card: what was
// counted, over which period and files, how often a field was not recorded, and the
// other figures that the same words could mean.
package compute

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// MaxIDs is how many ids a computed value lists; a cursor leads to the rest.
const MaxIDs = 1000

// Domain is what a domain adds to method cards.
type Domain struct {
	Rules    []Rule            // other defensible counts of the same words
	Recorded map[string]string // field -> the field that holds its spelling in the records
	Open     filter.Filter     // documents that are not yet final; nil if the domain has none
	Notes    func(r Request) []string
}

// Rule is another way to count what was asked, and why it differs.
type Rule struct {
	Name, Why string
	// Apply returns the filter under the rule, false where it changes nothing.
	Apply func(parts []constrain.Compiled) (filter.Filter, bool)
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
	c := computer{Request: r, ctx: ctx, spec: r.Collection.Spec()}
	var out sextant.Computed
	var err error
	switch {
	case r.Reading.Request.Kind == "share":
		out, err = c.share()
	case r.Reading.Request.Kind == "top", r.Reading.Request.Kind == "group":
		out, err = c.group()
	case r.Reading.Request.Kind == "first", r.Reading.Request.Kind == "last":
		out, err = c.extreme()
	case r.Reading.Request.Kind == "sum":
		out, err = c.sum()
	case r.Reading.Request.Compared && c.compared() >= 0:
		out, err = c.compare(c.compared())
	default:
		out, err = c.count()
	}
	if err != nil {
		return nil, fmt.Errorf("compute %s over %s: %w", r.Reading.Request.Kind, c.spec.Name, err)
	}
	return []sextant.Computed{out}, nil
}

// computer holds one request while it is worked on.
type computer struct {
	Request
	ctx  context.Context
	spec sextant.Collection
}

// base fills in what every computed value has: total, ids, filter, method card.
func (c *computer) base(kind string) (sextant.Computed, error) {
	unit := c.Reading.Request.Unit
	if unit == "" || !c.spec.Schema.HasGroup(unit) {
		unit = store.Documents
	}
	total, err := c.Collection.Count(c.ctx, c.Filter, unit)
	if err != nil {
		return sextant.Computed{}, err
	}
	ids, next, err := c.ids(c.Filter)
	if err != nil {
		return sextant.Computed{}, err
	}
	out := sextant.Computed{Kind: kind, Unit: unit, UnitLabel: c.spec.UnitLabel(unit), Total: total, Filter: filter.String(c.Filter), IDs: ids, Next: next}
	out.Title = c.title(out.UnitLabel)
	out.Method, err = c.method(unit, total)
	return out, err
}

func (c *computer) ids(f filter.Filter) (ids []string, next string, err error) {
	list, err := c.Collection.List(c.ctx, store.ListQuery{Filter: f, By: c.spec.DateField, Limit: MaxIDs})
	if err != nil {
		return nil, "", err
	}
	ids = make([]string, len(list.IDs))
	for i, id := range list.IDs {
		ids[i] = id.Native()
	}
	return ids, list.Next, nil
}

func (c *computer) count() (sextant.Computed, error) {
	kind := c.Reading.Request.Kind
	if kind == "" {
		kind = "list"
	}
	return c.base(kind)
}

func (c *computer) sum() (sextant.Computed, error) {
	out, err := c.base("sum")
	if err != nil {
		return out, err
	}
	field, ok := c.spec.Schema.Field(c.Reading.Request.SumOf)
	if !ok {
		out.Kind = "count"
		return out, nil
	}
	s, err := c.Collection.Sum(c.ctx, c.Filter, field.Name)
	if err != nil {
		return out, err
	}
	out.SumOf, out.Sum, out.Unknown = field.Name, int64(s.Total), out.Total-s.Known
	label := field.Label
	if label == "" {
		label = field.Name
	}
	out.Title = label + ": " + out.Title
	if out.Unknown > 0 {
		out.Method.Notes = append(out.Method.Notes, fmt.Sprintf("%s is not recorded for %s of these %s; they add nothing to the sum.", label, strconv.FormatInt(out.Unknown, 10), out.UnitLabel))
	}
	return out, nil
}

// share computes the part of the whole that satisfies further conditions, with the
// 95 % interval of Wilson (1927), which stays inside 0 to 100 for small numbers.
func (c *computer) share() (sextant.Computed, error) {
	out, err := c.base("share")
	if err != nil {
		return out, err
	}
	part, _ := constrain.Compile(c.spec, c.Parser.Lexicon(), c.Reading.Part)
	if len(part) == 0 {
		out.Kind = "count"
		return out, nil
	}
	both := constrain.Joint(append(append([]constrain.Compiled{}, c.Parts...), part...))
	if out.PartCount, err = c.Collection.Count(c.ctx, both, out.Unit); err != nil {
		return out, err
	}
	out.ShareOf = filter.String(constrain.Joint(part))
	if out.Total > 0 {
		out.Percent = percent(float64(out.PartCount) / float64(out.Total))
		low, high := wilson(out.PartCount, out.Total)
		out.Low, out.High = percent(low), percent(high)
	}
	if out.Total < 30 {
		out.Method.Notes = append(out.Method.Notes, fmt.Sprintf("%d of %d is few: the share could be anything from %s %% to %s %%.", out.PartCount, out.Total, out.Low, out.High))
	}
	unknown, err := c.unknownPart(part)
	out.Unknown = unknown
	out.IDs, out.Next, err = c.idsAnd(both, err)
	return out, err
}

func (c *computer) idsAnd(f filter.Filter, err error) ([]string, string, error) {
	if err != nil {
		return nil, "", err
	}
	return c.ids(f)
}

// unknownPart counts the units of the whole for which the part's field is not
// recorded, so that they can be in neither side.
func (c *computer) unknownPart(part []constrain.Compiled) (int64, error) {
	missing := part[0]
	missing.Filter = filter.Not{Filter: filter.Exists{Field: missing.Field}}
	return c.Collection.Count(c.ctx, constrain.Joint(append(append([]constrain.Compiled{}, c.Parts...), missing)), store.Documents)
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) }
