package filter

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// EXPR, the written form of a filter:
//
//	state = AK and event_date >= 2010-01-01 and aircraft(make = CESSNA and model contains 172)
//
//	expr      = and { "or" and }
//	and       = unary { "and" unary }
//	unary     = "not" unary | "(" expr ")" | "all" | "none" | group "(" expr ")" | mention | condition
//	mention   = "mentions" [ "in" part ] ( "any" | phrases [ "near" phrases [ "within" number ] ] )
//	phrases   = value | "(" value { "," value } ")"
//	condition = field ( "=" | "!=" | ">" | ">=" | "<" | "<=" | "contains" ) value
//	          | field [ "not" ] "in" "(" value { "," value } ")"
//	          | field "between" [ "above" ] value "and" [ "below" ] value
//	          | field "exists"
//	value     = a bare word, or any text in double quotes with \" and \\ inside
//
// Key words are read in any case. A between includes its ends; above and below
// leave them out. "!=" and "not in" mean known and different
// (see [Differs]); "not" is the plain complement. A day stands for its whole length:
// "= 2010-07-04" matches any time of it and "<= 2010-07-04" includes it.
// A mention is about the document's text: mentions in cause ("fuel starvation", "ran out*").
// "within" says how many words may stand between, 5 if it is left out.
// Conditions on a group's fields that stand in one conjunction without their group
// being named are about the same element.

// ParseExpr reads EXPR and resolves it against the schema. Errors name the place.
func (s *Schema) ParseExpr(text string) (Filter, error) {
	tokens, err := scanExpr(text)
	if err != nil {
		return nil, err
	}
	p := exprParser{schema: s, tokens: tokens}
	f, err := p.or("")
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != endToken {
		return nil, p.unexpected("and, or, or the end")
	}
	return s.Resolve(tight(f))
}

const maxExprDepth = 64

type exprParser struct {
	schema *Schema
	tokens []exprToken
	at     int
	depth  int
}

func (p *exprParser) peek() exprToken { return p.tokens[p.at] }

func (p *exprParser) next() exprToken {
	t := p.tokens[p.at]
	if t.kind != endToken {
		p.at++
	}
	return t
}

func (p *exprParser) accept(word string) bool {
	if p.peek().is(word) {
		p.at++
		return true
	}
	return false
}

func (p *exprParser) unexpected(want string) error {
	t := p.peek()
	if t.kind == endToken {
		return fmt.Errorf("filter: expression ends where %s should be: %w", want, ErrSchema)
	}
	return fmt.Errorf("filter: %q at character %d: want %s: %w", t.text, t.at+1, want, ErrSchema)
}

func (p *exprParser) or(group string) (Filter, error) {
	var out Or
	for {
		f, err := p.and(group)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
		if !p.accept("or") {
			break
		}
	}
	if len(out) == 1 {
		return out[0], nil
	}
	return p.eachOfAll(out, group, func(fs []Filter) Filter { return Or(fs) }), nil
}

func (p *exprParser) and(group string) (Filter, error) {
	var out And
	for {
		f, err := p.unary(group)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
		if !p.accept("and") {
			break
		}
	}
	return p.joinElements(out, group), nil
}

// looseEach marks a group condition whose group was not written: it may still be
// joined with its neighbours into one element.
type looseEach struct{ Each }

// joinElements merges the loose conditions of one conjunction into one Each a group.
func (p *exprParser) joinElements(fs And, group string) Filter {
	if group != "" {
		return Simplify(fs)
	}
	var out And
	place := map[string]int{}
	for _, f := range fs {
		loose, ok := f.(looseEach)
		if !ok {
			out = append(out, f)
			continue
		}
		if i, seen := place[loose.Group]; seen {
			merged := out[i].(looseEach)
			merged.Filter = Simplify(And{merged.Filter, loose.Filter})
			out[i] = merged
			continue
		}
		place[loose.Group] = len(out)
		out = append(out, loose)
	}
	if len(out) == 1 {
		return out[0]
	}
	for i, f := range out {
		out[i] = tight(f)
	}
	return out
}

// eachOfAll keeps a combination loose if all its sides are loose in one group, so
// that "(make = A or make = B) and model contains 172" is about one element.
func (p *exprParser) eachOfAll(fs []Filter, group string, combine func([]Filter) Filter) Filter {
	inner := make([]Filter, len(fs))
	name := ""
	for i, f := range fs {
		loose, ok := f.(looseEach)
		if !ok || group != "" || name != "" && loose.Group != name {
			name = ""
			break
		}
		name, inner[i] = loose.Group, loose.Filter
	}
	if name != "" {
		return looseEach{Each{name, combine(inner)}}
	}
	out := make([]Filter, len(fs))
	for i, f := range fs {
		out[i] = tight(f)
	}
	return combine(out)
}

func tight(f Filter) Filter {
	if loose, ok := f.(looseEach); ok {
		return loose.Each
	}
	return f
}

func (p *exprParser) unary(group string) (Filter, error) {
	if p.depth++; p.depth > maxExprDepth {
		return nil, fmt.Errorf("filter: expression nests deeper than %d: %w", maxExprDepth, ErrSchema)
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("not"):
		f, err := p.unary(group)
		if err != nil {
			return nil, err
		}
		return Not{tight(f)}, nil
	case p.accept("("):
		return p.closed(p.or(group))
	case p.accept("all"):
		return All, nil
	case p.accept("none"):
		return None, nil
	}
	if f, ok, err := p.mention(); ok || err != nil {
		return f, err
	}
	t := p.peek()
	if t.kind == wordToken && p.schema.HasGroup(t.text) && p.tokens[p.at+1].is("(") {
		p.at += 2
		f, err := p.closed(p.or(t.text))
		if err != nil {
			return nil, err
		}
		return Each{t.text, f}, nil
	}
	return p.condition(group)
}

// DefaultWithin is the distance of a near that names none.
const DefaultWithin = 5

// mention reads a condition on the text. A field of that name comes first.
func (p *exprParser) mention() (f Mentions, ok bool, err error) {
	if _, isField := p.schema.Field(p.peek().text); isField || !p.accept("mentions") {
		return f, false, nil
	}
	if p.accept("in") {
		if f.Part = p.peek().text; p.peek().kind != wordToken && p.peek().kind != quotedToken {
			return f, true, p.unexpected("a kind of part")
		}
		p.at++
	}
	if p.accept("any") {
		return f, true, nil
	}
	if f.Phrases, err = p.phrases(); err != nil || !p.accept("near") {
		return f, true, err
	}
	if f.Near, err = p.phrases(); err != nil {
		return f, true, err
	}
	f.Within = DefaultWithin
	if p.accept("within") {
		if f.Within, err = strconv.Atoi(p.peek().text); err != nil {
			return f, true, p.unexpected("a number of words")
		}
		p.at++
	}
	return f, true, nil
}

func (p *exprParser) phrases() ([]string, error) {
	read := func() (string, error) {
		t := p.peek()
		if t.kind == endToken || t.kind == signToken {
			return "", p.unexpected("a phrase")
		}
		p.at++
		return t.text, nil
	}
	if !p.accept("(") {
		phrase, err := read()
		return []string{phrase}, err
	}
	var out []string
	for !p.accept(")") {
		if len(out) > 0 && !p.accept(",") {
			return nil, p.unexpected(`"," or ")"`)
		}
		phrase, err := read()
		if err != nil {
			return nil, err
		}
		out = append(out, phrase)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("filter: mentions nothing: %w", ErrSchema)
	}
	return out, nil
}

func (p *exprParser) closed(f Filter, err error) (Filter, error) {
	if err != nil {
		return nil, err
	}
	if !p.accept(")") {
		return nil, p.unexpected(`")"`)
	}
	return f, nil
}

func (p *exprParser) condition(group string) (Filter, error) {
	t := p.peek()
	field, ok := p.schema.Field(t.text)
	if t.kind != wordToken || !ok {
		return nil, p.unexpected("the name of a field")
	}
	p.at++
	f, err := p.operator(field)
	if err != nil {
		return nil, err
	}
	if field.Group != "" && group == "" {
		return looseEach{Each{field.Group, f}}, nil
	}
	return f, nil
}

func (p *exprParser) operator(field Field) (Filter, error) {
	op := p.peek()
	p.at++
	switch {
	case op.is("exists"):
		return Exists{field.Name}, nil
	case op.is("not") && p.accept("in"):
		in, err := p.list(field)
		return And{Exists{field.Name}, Not{in}}, err
	case op.is("in"):
		return p.list(field)
	case op.is("between"):
		return p.between(field)
	case op.is("contains"):
		t := p.next()
		if t.kind == endToken {
			return nil, p.unexpected("a text")
		}
		return Contains{field.Name, t.text}, nil
	case op.kind == signToken && strings.ContainsAny(op.text, "=<>"):
		v, day, err := p.value(field)
		if err != nil {
			return nil, err
		}
		return compare(field.Name, op.text, v, day), nil
	}
	p.at--
	return nil, p.unexpected("an operator (= != < <= > >= in, not in, between, contains, exists)")
}

func (p *exprParser) between(field Field) (Filter, error) {
	above := p.accept("above")
	lo, _, err := p.value(field)
	if err != nil {
		return nil, err
	}
	if !p.accept("and") {
		return nil, p.unexpected("and")
	}
	sign := "<="
	if p.accept("below") {
		sign = "<"
	}
	hi, day, err := p.value(field)
	if err != nil {
		return nil, err
	}
	r := compare(field.Name, sign, hi, day).(Range)
	r.Lo, r.LoExcl = lo, above
	return r, nil
}

// list reads the values of an "in": plain values as one In, whole days as ranges.
func (p *exprParser) list(field Field) (Filter, error) {
	if !p.accept("(") {
		return nil, p.unexpected(`"("`)
	}
	plain := In{Field: field.Name}
	var days Or
	for n := 0; !p.accept(")"); n++ {
		if n > 0 && !p.accept(",") {
			return nil, p.unexpected(`"," or ")"`)
		}
		v, day, err := p.value(field)
		if err != nil {
			return nil, err
		}
		if day {
			days = append(days, DayRange(field.Name, v, v))
			continue
		}
		plain.Values = append(plain.Values, v)
	}
	return Simplify(append(days, plain)), nil
}

// value reads a value and reports whether it is a date without a time of day, which
// stands for the whole day.
func (p *exprParser) value(field Field) (v Value, day bool, err error) {
	t := p.next()
	if t.kind == endToken || t.kind == signToken {
		p.at = max(p.at-1, 0)
		return v, false, p.unexpected("a value")
	}
	v, err = Parse(field.Kind, t.text)
	if err != nil {
		return v, false, fmt.Errorf("%s: %w: %w", field.Name, err, ErrSchema)
	}
	return v, v.Kind() == Time && len(t.text) == len(time.DateOnly), nil
}

// compare builds the condition of a comparison sign; a day is its whole length.
func compare(field, sign string, v Value, day bool) Filter {
	switch sign {
	case "!=":
		if day {
			return And{Exists{field}, Not{DayRange(field, v, v)}}
		}
		return Differs(field, v)
	case ">":
		if day {
			return Range{Field: field, Lo: NextDay(v)}
		}
		return Range{Field: field, Lo: v, LoExcl: true}
	case ">=":
		return Range{Field: field, Lo: v}
	case "<":
		return Range{Field: field, Hi: v, HiExcl: true}
	case "<=":
		if day {
			return Range{Field: field, Hi: NextDay(v), HiExcl: true}
		}
		return Range{Field: field, Hi: v}
	}
	if day {
		return DayRange(field, v, v)
	}
	return Eq{field, v}
}

// NextDay returns the instant 24 hours after v: the midnight after a date.
func NextDay(v Value) Value { return OfMicros(v.Micros() + microsPerDay) }

// DayRange is the condition that a time lies within the days from one date to
// another, both included whole. A zero end is open.
func DayRange(field string, from, to Value) Range {
	r := Range{Field: field, Lo: from}
	if !to.IsZero() {
		r.Hi, r.HiExcl = NextDay(to), true
	}
	return r
}

// Days returns the first and last whole day of a range over times, where it is one;
// open ends are zero times.
func (f Range) Days() (from, to time.Time, ok bool) {
	whole := func(v Value) bool { return v.IsZero() || v.Kind() == Time && v.Micros()%microsPerDay == 0 }
	if !whole(f.Lo) || !whole(f.Hi) || f.LoExcl || !f.Hi.IsZero() && !f.HiExcl {
		return from, to, false
	}
	if !f.Lo.IsZero() {
		from = f.Lo.Time()
	}
	if !f.Hi.IsZero() {
		to = f.Hi.Time().AddDate(0, 0, -1)
	}
	return from, to, true
}
