package constrain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Account is a ledger together with what the later stages need: the filter of each
// collection the constraints apply to.
type Account struct {
	Ledger  sextant.Ledger
	Filters map[string]filter.Filter // by collection; only those with a constraint
	Parts   map[string][]Compiled    // the constraints as that collection enforces them
}

// Applies reports whether any constraint applies to the collection.
func (a Account) Applies(collection string) bool { return len(a.Parts[collection]) > 0 }

// UserFilter is the caller's own filter as one collection resolves it.
type UserFilter struct {
	Text   string                   // EXPR
	Filter map[string]filter.Filter // by collection; a collection without the fields is missing
}

// Keep counts the constraints over the collections: alone, unknown, together; and
// when together nothing satisfies them, the smallest sets whose removal helps.
func Keep(ctx context.Context, collections []store.Collection, p *Parser, r Reading, user UserFilter) (Account, error) {
	a := Account{Filters: map[string]filter.Filter{}, Parts: map[string][]Compiled{}}
	a.Ledger = sextant.Ledger{Constraints: wire(r.Constraints, user), JointByCollection: map[string]int64{}, Unenforceable: r.Unenforceable, UnknownValues: r.UnknownValues}
	for _, c := range collections {
		spec := c.Spec()
		compiled, at := Compile(spec, p.lexicon, r.Constraints)
		held, err := enforceable(ctx, c, p, compiled, at, &a.Ledger)
		if err != nil {
			return a, fmt.Errorf("ledger of %s: %w", spec.Name, err)
		}
		compiled, at = held.compiled, held.at
		if f, ok := user.Filter[spec.Name]; ok && user.Text != "" {
			compiled, at = append(compiled, Compiled{Constraint: Constraint{Condition: Condition{Field: "filter"}}, Filter: f}), append(at, len(r.Constraints))
		}
		if len(compiled) == 0 {
			continue
		}
		k := keeper{ctx: ctx, collection: c, compiled: compiled, at: at, ledger: &a.Ledger, lexicon: p.lexicon, documents: p.vocabulary.Documents[spec.Name], years: p.vocabulary.Years[spec.Name]}
		if err := k.keep(); err != nil {
			return a, fmt.Errorf("ledger of %s: %w", spec.Name, err)
		}
		a.Parts[spec.Name], a.Filters[spec.Name] = compiled, k.joint
	}
	if err := a.readings(ctx, collections, p, r); err != nil {
		return a, err
	}
	a.Ledger.Coverage = p.vocabulary.Coverage
	a.Ledger.OutsideCoverage = outside(r.Constraints, p.vocabulary.Coverage)
	unenforceable(&a.Ledger, r.Constraints)
	return a, nil
}

// enforceable leaves out the constraints on fields that no document of the collection
// records: to find nothing by them proves nothing.
func enforceable(ctx context.Context, c store.Collection, p *Parser, compiled []Compiled, at []int, l *sextant.Ledger) (out keeper, err error) {
	documents := p.vocabulary.Documents[c.Spec().Name]
	for i := range compiled {
		alone, err := c.Count(ctx, compiled[i].alone(), store.Documents)
		if err != nil {
			return out, err
		}
		if alone == 0 && documents > 0 {
			missing, err := c.Count(ctx, compiled[i].Unknown(p.lexicon).alone(), store.Documents)
			if err != nil {
				return out, err
			}
			if missing >= documents {
				l.Unenforceable = append(l.Unenforceable, sextant.Unenforceable{Text: compiled[i].Text, Field: compiled[i].Field, Reason: "no record that is held says it"})
				continue
			}
		}
		out.compiled, out.at = append(out.compiled, compiled[i]), append(out.at, at[i])
	}
	return out, nil
}

// readings counts what each other reading of an ambiguous word would give under all
// other constraints, so that a reader sees whether it matters.
func (a *Account) readings(ctx context.Context, collections []store.Collection, p *Parser, r Reading) error {
	for _, alt := range r.Ambiguous {
		shown := sextant.Ambiguity{Text: alt.Text}
		for k, cond := range append([]Condition{alt.Taken}, alt.Others...) {
			n, err := countJoint(ctx, collections, p, replaced(r.Constraints, alt.Taken, cond))
			if err != nil {
				return fmt.Errorf("readings of %q: %w", alt.Text, err)
			}
			note := cond.Note
			if k == 0 {
				note = strings.TrimSuffix("taken; "+note, "; ")
			}
			shown.Readings = append(shown.Readings, sextant.Reading{Field: cond.Field, Op: cond.Op, Values: wireValues(cond), Note: note, Count: &n})
		}
		a.Ledger.Ambiguous = append(a.Ledger.Ambiguous, shown)
	}
	return nil
}

// countJoint counts what satisfies all constraints over the collections that hold
// something and can enforce one of them.
func countJoint(ctx context.Context, collections []store.Collection, p *Parser, cs []Constraint) (int64, error) {
	var sum int64
	for _, c := range collections {
		compiled, _ := Compile(c.Spec(), p.lexicon, cs)
		if len(compiled) == 0 || p.vocabulary.Documents[c.Spec().Name] == 0 {
			continue
		}
		n, err := c.Count(ctx, Joint(compiled), store.Documents)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// replaced returns the constraints with one condition read another way.
func replaced(cs []Constraint, taken, other Condition) []Constraint {
	out := slices.Clone(cs)
	for i, c := range out {
		if c.Field == taken.Field && len(c.Values) == len(taken.Values) && c.Op == taken.Op {
			out[i].Condition = other
		}
	}
	return out
}

// keeper counts for one collection.
type keeper struct {
	ctx        context.Context
	collection store.Collection
	compiled   []Compiled
	at         []int // place of each in the ledger
	ledger     *sextant.Ledger
	lexicon    *Lexicon
	joint      filter.Filter
	documents  int64          // of the collection
	years      []store.Bucket // its documents by year
}

func (k *keeper) count(f filter.Filter) (int64, error) {
	return k.collection.Count(k.ctx, f, store.Documents)
}

func (k *keeper) keep() error {
	name := k.collection.Spec().Name
	k.joint = Joint(k.compiled)
	n, err := k.count(k.joint)
	if err != nil {
		return err
	}
	k.ledger.JointByCollection[name] = n
	k.ledger.Joint += n
	if k.ledger.Filter == "" || n > 0 {
		k.ledger.Filter = filter.String(k.joint)
	}
	for i := range k.compiled {
		if err := k.account(i); err != nil {
			return err
		}
	}
	if n > 0 {
		return nil
	}
	if err := k.widen(); err != nil {
		return err
	}
	return k.relax()
}

// account fills in one constraint's own counts.
func (k *keeper) account(i int) error {
	c := &k.ledger.Constraints[k.at[i]]
	c.Collections = append(c.Collections, k.collection.Spec().Name)
	alone, err := k.count(k.compiled[i].alone())
	if err != nil {
		return err
	}
	c.Alone += alone
	if k.compiled[i].Field == "filter" {
		return nil
	}
	unknown := k.compiled[i].Unknown(k.lexicon)
	missing, err := k.count(unknown.alone())
	if err != nil {
		return err
	}
	c.Unknown += missing
	if err := k.recorded(c, unknown, missing); err != nil {
		return err
	}
	others := slices.Clone(k.compiled)
	others[i] = unknown
	within, err := k.count(Joint(others))
	if err != nil {
		return err
	}
	c.Within += within
	rest, err := k.count(Joint(slices.Delete(others, i, i+1)))
	c.Others += rest
	return err
}

// wire writes constraints as the ledger shows them.
func wire(cs []Constraint, user UserFilter) []sextant.Constraint {
	out := make([]sextant.Constraint, 0, len(cs)+1)
	for _, c := range cs {
		expr := ""
		if f, ok := compileMention(c.Condition, c.Role); ok {
			expr = filter.String(f)
		}
		out = append(out, sextant.Constraint{Expr: expr, Field: c.Field, Op: c.Op, Values: wireValues(c.Condition), Text: c.Text, Origin: c.Origin,
			Implied: c.Implied, Assumed: c.Assumed, Collections: []string{}, Start: c.Start, End: c.End})
	}
	if user.Text != "" {
		out = append(out, sextant.Constraint{Field: "filter", Op: sextant.OpExists, Values: []any{user.Text}, Text: user.Text, Origin: sextant.FromUser, Collections: []string{}})
	}
	return out
}

// wireValues writes a condition's values: spans as their ends, sets of spans as pairs.
func wireValues(c Condition) []any {
	var out []any
	for _, v := range c.Values {
		s, ok := v.(Span)
		if !ok {
			out = append(out, v)
			continue
		}
		from, to := s.Strings()
		switch c.Op {
		case sextant.OpBetween:
			out = append(out, from, to)
		case sextant.OpGte:
			out = append(out, from)
		case sextant.OpLte:
			out = append(out, to)
		default:
			out = append(out, []string{from, to})
		}
	}
	return out
}

// outside says which asked periods lie outside what is held: absence there proves
// nothing.
func outside(cs []Constraint, held []sextant.Coverage) []string {
	var out []string
	for _, c := range cs {
		for _, cov := range held {
			if c.Field != cov.Field || !isSpans(c) || c.Op == sextant.OpNotIn {
				continue
			}
			from, _ := time.Parse(time.DateOnly, cov.From)
			to, _ := time.Parse(time.DateOnly, cov.To)
			for _, v := range c.Values {
				if s := v.(Span); beyond(s, from, to) {
					out = append(out, fmt.Sprintf("nothing held for %s (the data of %s run from %s to %s)", c.periodText(s), cov.Collection, cov.From, cov.To))
				}
			}
		}
	}
	return out
}

// beyond reports whether a span lies wholly outside [from, to].
func beyond(s Span, from, to time.Time) bool {
	return !s.From.IsZero() && s.From.After(to) || !s.To.IsZero() && s.To.Before(from)
}

func (c Constraint) periodText(s Span) string {
	if s.isYear() {
		return strconv.Itoa(s.From.Year())
	}
	from, to := s.Strings()
	switch {
	case from == "":
		return "the time up to " + to
	case to == "":
		return "the time from " + from
	case from == to:
		return from
	}
	return from + " to " + to
}

// unenforceable moves to the ledger what no collection could enforce.
func unenforceable(l *sextant.Ledger, cs []Constraint) {
	for i, c := range cs {
		said := slices.ContainsFunc(l.Unenforceable, func(u sextant.Unenforceable) bool { return u.Text == c.Text && u.Field == c.Field })
		if len(l.Constraints[i].Collections) == 0 && !said {
			l.Unenforceable = append(l.Unenforceable, sextant.Unenforceable{Text: c.Text, Field: c.Field, Reason: "no collection holds this field"})
		}
	}
}
