package filter

// Filter is a condition on a document's metadata. The set of its forms is closed:
// And, Or, Not, Eq, In, Range, Exists, Contains, Each, Mentions.
type Filter interface{ isFilter() }

// And holds if all of its filters do; And{} always holds.
type And []Filter

// Or holds if one of its filters does; Or{} never holds.
type Or []Filter

// Not is the plain complement: it holds wherever its filter does not, also where
// the field is missing.
type Not struct{ Filter Filter }

// Eq holds if a value of the field equals Value under the field's fold.
type Eq struct {
	Field string
	Value Value
}

// In holds if a value of the field equals one of Values; with none, never.
type In struct {
	Field  string
	Values []Value
}

// Range holds if a value of the field lies between Lo and Hi. A zero bound is open,
// bounds are inclusive unless said otherwise. Fields of kind Int, Float and Time only.
type Range struct {
	Field          string
	Lo, Hi         Value
	LoExcl, HiExcl bool
}

// Exists holds if the field has a value.
type Exists struct{ Field string }

// Contains holds if a value of the Keyword field contains Sub, both folded. An empty
// Sub after folding is contained in every value.
type Contains struct {
	Field string
	Sub   string
}

// Each holds if one single element of the group satisfies Filter, whose fields are
// the group's. Each does not nest: a group's elements have no groups.
type Each struct {
	Group  string
	Filter Filter
}

// Mentions holds if the document's text says one of Phrases, in a part of the kind Part
// or, if Part is "", in any of its own words: headings and sentences that only repeat
// the metadata are not looked at. A phrase is words in order as written, whatever their
// case; one that ends in an asterisk stands for all words it begins. With Near, one of
// those phrases must stand at most Within words from one of these. With neither, the
// condition is that there is any such text at all.
//
// It is a condition on the document, never on an element of a group.
type Mentions struct {
	Part    string
	Phrases []string
	Near    []string
	Within  int
}

func (And) isFilter()      {}
func (Or) isFilter()       {}
func (Not) isFilter()      {}
func (Eq) isFilter()       {}
func (In) isFilter()       {}
func (Range) isFilter()    {}
func (Exists) isFilter()   {}
func (Contains) isFilter() {}
func (Each) isFilter()     {}
func (Mentions) isFilter() {}

// All matches every document.
var All Filter = And{}

// None matches no document.
var None Filter = Or{}

// Differs is the condition a negated word states: the field is known, and none of
// its values is one of values.
func Differs(field string, values ...Value) Filter {
	return And{Exists{field}, Not{In{field, values}}}
}

// Simplify folds constants out of a filter without changing what it matches: nested
// And and Or are flattened, In of one value becomes Eq and of none None, double
// negation goes, and an Each that cannot hold is None. Stores are handed simplified
// filters only, because several servers refuse empty lists and objects.
func Simplify(f Filter) Filter {
	switch f := f.(type) {
	case nil:
		return All
	case And:
		return simplifyAnd(f)
	case Or:
		return simplifyOr(f)
	case Not:
		return simplifyNot(f)
	case In:
		switch len(f.Values) {
		case 0:
			return None
		case 1:
			return Eq{f.Field, f.Values[0]}
		}
	case Each:
		inner := Simplify(f.Filter)
		if IsNone(inner) {
			return None
		}
		return Each{f.Group, inner}
	}
	return f
}

func simplifyAnd(f And) Filter {
	nested := func(f Filter) ([]Filter, bool) { a, ok := f.(And); return a, ok }
	out, none := flatten(f, nested, IsNone)
	switch {
	case none:
		return None
	case len(out) == 0:
		return All
	case len(out) == 1:
		return out[0]
	}
	return And(out)
}

func simplifyOr(f Or) Filter {
	nested := func(f Filter) ([]Filter, bool) { o, ok := f.(Or); return o, ok }
	out, all := flatten(f, nested, IsAll)
	switch {
	case all:
		return All
	case len(out) == 0:
		return None
	case len(out) == 1:
		return out[0]
	}
	return Or(out)
}

// flatten simplifies the filters of an And or Or and takes in those of nested ones of
// the same form. It reports whether one of them decides the whole.
func flatten(fs []Filter, nested func(Filter) ([]Filter, bool), decides func(Filter) bool) (out []Filter, decided bool) {
	for _, f := range fs {
		s := Simplify(f)
		if decides(s) {
			return nil, true
		}
		if inner, ok := nested(s); ok {
			out = append(out, inner...)
			continue
		}
		out = append(out, s)
	}
	return out, false
}

func simplifyNot(f Not) Filter {
	switch inner := Simplify(f.Filter).(type) {
	case Not:
		return inner.Filter
	case And:
		if len(inner) == 0 {
			return None
		}
		return Not{inner}
	case Or:
		if len(inner) == 0 {
			return All
		}
		return Not{inner}
	default:
		return Not{inner}
	}
}

// IsAll reports whether f is the constant that matches everything.
func IsAll(f Filter) bool {
	a, ok := f.(And)
	return f == nil || ok && len(a) == 0
}

// IsNone reports whether f is the constant that matches nothing.
func IsNone(f Filter) bool {
	o, ok := f.(Or)
	return ok && len(o) == 0
}
