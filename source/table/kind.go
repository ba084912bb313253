package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant/filter"
)

// waiting are words that stand where a date or number will be, or never was.
var waiting = []string{"none", "tbd", "tba", "tbc", "pending", "ongoing", "open", "never", "varies", "n/k", "not yet", "in progress", "to be confirmed", "to be announced", "call", "free text", "nicht bekannt", "inconnu", "no date", "no data"}

// column decides what a column holds.
func (p *profile) column(in *inferring, fallback Mark) (LayoutColumn, []string) {
	c := LayoutColumn{Column: p.name, Kind: filter.Keyword.String(), List: p.lists > 0}
	c.Label, c.Unit = label(p.name)
	switch {
	case p.name == in.wish.ID || p.name == in.wish.Title || slices.Contains(in.wish.Text, p.name):
		return p.keyword(c, nil)
	case p.coded():
		return p.keyword(c, []string{"Its digits are codes, not numbers (leading zeros, or what the name says), and are kept as they are."})
	case p.flags():
		c.Kind, c.Unit = filter.Bool.String(), ""
		return c, p.leaveOut(&c, p.boolCount(), "neither yes nor no")
	}
	if c, notes, ok := p.digitDate(c); ok {
		return c, notes
	}
	if c, notes, ok := p.numeric(c, fallback); ok {
		return c, notes
	}
	if c, notes, ok := p.time(c); ok {
		return c, notes
	}
	return p.keyword(c, p.mixed())
}

// enough reports whether n of the column's cells, or of those with anything decided in
// them, make it what they are.
func (p *profile) enough(n int64) bool {
	undecided := int64(0)
	for text, count := range p.tally.odd {
		if holds(waiting, text) {
			undecided += count
		}
	}
	return n > 0 && float64(n) >= most*float64(p.cells-undecided)
}

// leaveOut names what will be unknown though something stands there: words that only wait
// for a value become blanks of the column, the rest is said.
func (p *profile) leaveOut(c *LayoutColumn, n int64, what string) (notes []string) {
	var odd []string
	for _, text := range slices.Sorted(maps.Keys(p.tally.odd)) {
		if holds(waiting, text) {
			c.Blanks = append(c.Blanks, text)
			n += p.tally.odd[text]
		} else {
			odd = append(odd, fmt.Sprintf("%q", text))
		}
	}
	if p.placeholders["NA"] > 0 {
		c.Blanks = append(c.Blanks, "NA")
	}
	if len(c.Blanks) > 0 {
		notes = append(notes, "Read as unknown: "+strings.Join(c.Blanks, ", ")+".")
	}
	if left := p.cells - n; left > 0 {
		note := fmt.Sprintf("%d cells are %s and will be unknown", left, what)
		if len(odd) > 0 {
			note += ": " + strings.Join(odd[:min(len(odd), 3)], ", ")
		}
		notes = append(notes, note+".")
	}
	return notes
}

// coded reports whether digits are names: leading zeros, more digits than a number has,
// or a header that says so.
func (p *profile) coded() bool {
	t := &p.tally
	return t.codes > 0 && t.digits*2 > p.cells || t.long*2 > p.cells || codeWords.any(p.name) && t.digits*2 > p.cells
}

// pairs are the words for yes and no that stand together in one column.
var pairs = [][2]string{{"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"}, {"on", "off"}, {"ja", "nein"}, {"j", "n"}, {"oui", "non"}, {"o", "n"}, {"si", "no"}, {"sí", "no"}, {"sim", "não"}, {"wahr", "falsch"}, {"vrai", "faux"}, {"1", "0"}}

func (p *profile) boolCount() (n int64) {
	for _, count := range p.tally.booleans {
		n += count
	}
	return n
}

// flags reports whether a column holds yes and no. Zero and one are numbers unless the
// header says that something is or is not so.
func (p *profile) flags() bool {
	words := p.tally.booleans
	if !p.enough(p.boolCount()) {
		return false
	}
	for _, pair := range pairs {
		both, flag := words[pair[0]] > 0 && words[pair[1]] > 0, flagWords.any(p.name)
		switch {
		case words[pair[0]]+words[pair[1]] == 0:
		case both && pair[0] != "1", both && flag, flag && len(words) == 1:
			return true
		case both && pair[0] == "1" && len(words) > 2: // 1, 0, yes, no
			return true
		}
	}
	return false
}

// digitDate recognises dates written as digits, where the header speaks of a date.
func (p *profile) digitDate(c LayoutColumn) (LayoutColumn, []string, bool) {
	t := &p.tally
	if !whenWords.any(p.name) || !p.enough(t.eight) && !p.enough(t.unix) {
		return c, nil, false
	}
	c.Kind, c.Digits = filter.Time.String(), true
	note := "Its digits are dates (20060102)."
	if t.unix > t.eight {
		note = "Its digits are seconds or milliseconds since 1970 in UTC."
	}
	return c, append([]string{note}, p.leaveOut(&c, max(t.eight, t.unix), "no date")...), true
}

// numeric recognises numbers, with one unit, with several of a family, or with several
// currencies, which cannot be compared and so become a field beside the number.
func (p *profile) numeric(c LayoutColumn, fallback Mark) (LayoutColumn, []string, bool) {
	t := &p.tally
	mark := t.marks.mark(fallback)
	n := &t.number[0]
	if mark == Comma {
		n, c.Decimal = &t.number[1], ","
	}
	if t.marks == (markVote{}) {
		c.Decimal = "" // whole numbers say nothing of it
	}
	if !p.enough(n.ok) || whenWords.any(p.name) && p.enough(max(t.dates[0], t.dates[1])) {
		return c, nil, false
	}
	var notes []string
	ok := n.ok
	c.Kind = filter.Int.String()
	if n.fractions > 0 {
		c.Kind = filter.Float.String()
	}
	unit, others := mainUnit(n.units)
	if c.Unit == "" || len(others) > 0 || unit != "" {
		c.Unit = unit
	}
	if len(others) > 0 {
		lost, converted := int64(0), []string{}
		for _, u := range slices.Sorted(maps.Keys(others)) {
			if _, can := convert(1, u, unit); can {
				converted = append(converted, u)
			} else {
				lost += others[u]
			}
		}
		switch {
		case lost > 0 && !isCurrency(unit):
			ok -= lost
			if !p.enough(ok) {
				return c, nil, false
			}
		case lost > 0:
			c.Unit, c.Mixed = "", true
			notes = append(notes, fmt.Sprintf("Its amounts are in several currencies (%s); the currency of each is a field of its own.", strings.Join(unitNames(n.units), ", ")))
		}
		if len(converted) > 0 {
			c.Kind = filter.Float.String()
			notes = append(notes, fmt.Sprintf("Amounts in %s are converted to %s.", strings.Join(converted, ", "), unit))
		}
	}
	if t.marks.either > 0 && t.marks.point == 0 && t.marks.comma == 0 && mark == Point {
		notes = append(notes, "In numbers such as 1,234 the comma is taken for a separator of thousands.")
	}
	return c, append(notes, p.leaveOut(&c, ok, "no number")...), true
}

// mainUnit returns the commonest unit, and those that are another one.
func mainUnit(units map[string]int64) (unit string, others map[string]int64) {
	for _, u := range slices.Sorted(maps.Keys(units)) {
		if u != "" && (unit == "" || units[u] > units[unit]) {
			unit = u
		}
	}
	others = map[string]int64{}
	for u, n := range units {
		if !sameUnit(u, unit) {
			others[u] = n
		}
	}
	return unit, others
}

func unitNames(units map[string]int64) (out []string) {
	for _, u := range slices.Sorted(maps.Keys(units)) {
		if u != "" {
			out = append(out, u)
		}
	}
	return out
}

// time recognises dates, with or without a time of day.
func (p *profile) time(c LayoutColumn) (LayoutColumn, []string, bool) {
	t := &p.tally
	order, doubt := t.order.Order(p.name, MonthFirst)
	n := t.dates[order]
	if !p.enough(n) {
		return c, nil, false
	}
	c.Kind, c.Unit = filter.Time.String(), ""
	var notes []string
	if t.order != (OrderVote{}) {
		c.Dates = strings.ReplaceAll(order.String(), " ", "_")
	}
	if doubt != "" {
		notes = append(notes, doubt)
	}
	c.Future = futureWords.any(p.name)
	delete(t.zones, "")
	if len(t.zones) > 1 {
		c.UTC = true
		notes = append(notes, "Its times are in several zones and are kept in UTC.")
	} else if len(t.zones) == 1 {
		notes = append(notes, fmt.Sprintf("Its times are kept as the clock showed them (zone %s).", slices.Collect(maps.Keys(t.zones))[0]))
	}
	return c, append(notes, p.leaveOut(&c, n, "no date")...), true
}

// mixed says why a column that has numbers or dates in it is neither.
func (p *profile) mixed() []string {
	t := &p.tally
	n := max(t.number[0].ok, t.number[1].ok)
	d := max(t.dates[0], t.dates[1])
	switch {
	case n*2 > p.cells && n > d:
		return []string{fmt.Sprintf("Mixed: %d of %d cells are numbers, too few for a column of numbers, so all are kept as words.", n, p.cells)}
	case d*2 > p.cells:
		return []string{fmt.Sprintf("Mixed: %d of %d cells are dates, too few for a column of dates, so all are kept as words.", d, p.cells)}
	}
	return nil
}

// Facets have at most so many values, and not a value a record.
const (
	maxFacet   = 20_000
	smallFacet = 200
)

// keyword decides about words: whether a cell lists several, and whether there are few
// enough of them to be asked for.
func (p *profile) keyword(c LayoutColumn, notes []string) (LayoutColumn, []string) {
	c.Unit = ""
	if !c.List {
		if sep := p.listed(); sep != "" {
			c.List, c.Split = true, sep
			notes = append(notes, fmt.Sprintf("Its cells list several values, separated by %q.", sep))
		}
	}
	if p.placeholders["NA"] > 0 && p.tally.upper*2 < p.cells { // else it is a code: Namibia, North America
		c.Blanks = append(c.Blanks, "NA")
	}
	c.Facet = p.facet(c)
	return c, notes
}

func (p *profile) facet(c LayoutColumn) bool {
	t := &p.tally
	n, counted := p.distinct()
	if c.Split != "" {
		n, counted = len(t.separated[c.Split].parts), true
	}
	switch {
	case !counted || n > maxFacet || !c.List && (t.words > 6*p.cells || t.bytes > 60*p.cells):
		return false
	case t.digits == p.cells && t.bytes <= 3*p.cells: // "4" would be any number of a question
		return false
	case n == int(p.cells) && t.digits == p.cells:
		return false
	}
	return n <= smallFacet || int64(n)*10 <= 9*p.cells || t.alnum*10 > 9*p.cells && t.blanks == 0
}

// listed returns the separator of a column of lists. A comma must be shown to separate
// values that stand alone elsewhere, or stand under a header that announces a list: names
// ("Smith, Anna") and addresses have commas, too.
func (p *profile) listed() string {
	for _, sep := range separators {
		s := p.tally.separated[sep]
		if s == nil || s.cells == 0 || len(s.parts) >= maxPart {
			continue
		}
		known := s.again()
		short := p.tally.bytes <= 24*s.total
		switch {
		case !short:
		case sep != "," && s.cells*20 >= p.cells && (known*2 >= s.total || listWords.last(p.name)):
			return sep
		case sep == "," && listWords.last(p.name) && s.cells*10 >= p.cells:
			return sep
		case sep == "," && s.cells*10 >= p.cells && known*10 >= 9*s.total && int64(len(s.parts))*3 <= s.total && p.shuffled():
			return sep
		}
	}
	return ""
}

// again counts parts that stand more than once.
func (s *separated) again() (n int64) {
	for _, count := range s.parts {
		if count > 1 {
			n += count
		}
	}
	return n
}

// shuffled reports whether the parts stand in different places of their cells, as the
// members of a list do and city and state do not.
func (p *profile) shuffled() bool {
	first, later := map[string]bool{}, map[string]bool{}
	for value := range p.values {
		for i, part := range strings.Split(value, ",") {
			if part = strings.ToUpper(strings.TrimSpace(part)); i == 0 {
				first[part] = true
			} else {
				later[part] = true
			}
		}
	}
	both := 0
	for part := range later {
		if first[part] {
			both++
		}
	}
	return both*2 >= len(later)
}
