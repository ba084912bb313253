package compute

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Proxy tells what a field would probably say where it is not recorded. Either By names
// fields of the same group whose values go with one value of Field: what is recorded
// somewhere for "ROBINSON R22" is taken for all of them. Or Filter stands for the value
// Value.
type Proxy struct {
	Field  string
	By     [2]string // the broader field, such as the maker, and the narrower
	Value  string
	Filter filter.Filter
	Why    string
}

// Of the recorded units of a kind this share must have the value for the kind to stand
// for it, and only so many kinds are looked at.
const (
	proxyShare = 0.9
	proxyKinds = 60
)

// proxies adds, for a condition whose field is mostly not recorded, a second count that
// tells by other fields what is meant; it is labelled, and never the figure itself.
func (c *computer) proxies(m *sextant.Method, unit string) error {
	for i, p := range c.Parts {
		k, ok := c.account(p)
		if !ok || !c.mostlyUnknown(k) || p.Op != sextant.OpEq && p.Op != sextant.OpIn {
			continue
		}
		for _, proxy := range c.Domain.Proxies {
			if proxy.Field != p.Field || proxy.Value != "" && !slices.Contains(p.Values, any(proxy.Value)) {
				continue
			}
			told, err := c.told(proxy, p)
			if err != nil || told == nil {
				return err
			}
			parts := slices.Clone(c.Parts)
			missing := filter.Not{Filter: filter.Exists{Field: p.Field}}
			parts[i].Filter = filter.Or{p.Filter, filter.And{missing, told}}
			n, err := c.Collection.Count(c.ctx, constrain.Joint(parts), unit)
			if err != nil {
				return err
			}
			m.OtherCounts = append(m.OtherCounts, sextant.OtherCount{Rule: c.label(p.Field) + " told by " + c.basis(proxy), Count: n, Why: proxy.Why})
			break
		}
	}
	return nil
}

func (c *computer) basis(p Proxy) string {
	if p.Filter != nil {
		return c.label(filter.FieldOf(p.Filter))
	}
	return c.label(p.By[0]) + " and " + c.label(p.By[1])
}

// told is the condition on an element that a proxy has for a constraint; nil if it knows
// nothing.
func (c *computer) told(proxy Proxy, p constrain.Compiled) (filter.Filter, error) {
	if proxy.Filter != nil {
		return proxy.Filter, nil
	}
	with, without := c.on(p.Field, p.Filter), c.on(p.Field, filter.Exists{Field: p.Field})
	pure, mixed, err := c.goesWith(proxy.By[0], with, without)
	if err != nil {
		return nil, err
	}
	out := filter.Or{}
	if len(pure) > 0 {
		out = append(out, filter.In{Field: proxy.By[0], Values: pure})
	}
	for _, broad := range mixed {
		is := c.on(proxy.By[0], filter.Eq{Field: proxy.By[0], Value: broad})
		some, _, err := c.goesWith(proxy.By[1], with, without, is)
		if err != nil {
			return nil, err
		}
		if len(some) > 0 {
			out = append(out, filter.And{is.Filter, filter.In{Field: proxy.By[1], Values: some}})
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return filter.Simplify(out), nil
}

// goesWith returns the values of a field whose units, where the other field is recorded,
// satisfy a constraint on it: nearly always (pure), or sometimes (mixed). It looks at all
// that is held, not only at what the question is about.
func (c *computer) goesWith(field string, with, recorded constrain.Compiled, more ...constrain.Compiled) (pure, mixed []filter.Value, err error) {
	unit := with.Group
	if unit == "" {
		unit = store.Documents
	}
	query := func(p constrain.Compiled, limit int) (store.Facet, error) {
		return c.Collection.Facet(c.ctx, store.FacetQuery{Field: field, Filter: constrain.Joint(append([]constrain.Compiled{p}, more...)), Unit: unit, Limit: limit})
	}
	meant, err := query(with, proxyKinds)
	if err != nil {
		return nil, nil, err
	}
	all, err := query(recorded, 0)
	if err != nil {
		return nil, nil, err
	}
	totals := map[string]int64{}
	for _, b := range all.Buckets {
		totals[strings.ToUpper(b.Value.Str())] += b.Count
	}
	for _, b := range meant.Buckets {
		switch n := totals[strings.ToUpper(b.Value.Str())]; {
		case float64(b.Count) >= proxyShare*float64(n):
			pure = append(pure, b.Value)
		case b.Count > 1:
			mixed = append(mixed, b.Value)
		}
	}
	return pure, mixed, nil
}
