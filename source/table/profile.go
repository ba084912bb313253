package table

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// profile is what all cells of a column say about what it holds. Its memory is bounded:
// beyond so many different values it counts each cell as it comes and keeps none.
type profile struct {
	name         string
	cells        int64 // with a value
	blank        int64
	placeholders map[string]int64 // "N/A" as it stands there
	lists        int64            // cells of JSON that were lists
	tally        tally

	values map[string]int64 // nil once there were too many
	size   int              // bytes of them
	many   bool
	long   bool             // some are longer than maxShort and were not kept
	finest map[string]int64 // for showing: the commonest of values when there were too many

	seen   map[uint64]struct{} // hashes of the values as long as none came twice
	repeat bool                // one did
	seed   maphash.Seed
}

// Bounds of what a profile keeps.
const (
	maxValues     = 20_000
	maxValueBytes = 2 << 20
	maxSeen       = 8_000_000
	maxPart       = 5_000
	maxPartBytes  = 64
	maxShort      = 200 // bytes of a value that is kept
)

// tally is what the cells are, each of its counts being of cells.
type tally struct {
	bytes, words, lines      int64 // sums; cells with a line break
	blanks                   int64 // cells with a blank in them
	number                   [2]numbers
	marks                    markVote
	codes, long, eight, unix int64 // leading zeros; more than 15 digits; dates in digits
	dates                    [2]int64
	clocked                  int64
	order                    OrderVote
	zones                    map[string]int64
	booleans                 map[string]int64
	digits, alnum, upper     int64 // only digits; letters and digits; capital letters of a code
	separated                map[string]*separated
	odd                      map[string]int64 // of a column with numbers or dates: what is neither
}

// numbers counts what is a number under one decimal mark.
type numbers struct {
	ok, fractions int64
	units         map[string]int64
}

// separated counts cells with a separator, and their parts.
type separated struct {
	cells  int64
	parts  map[string]int64
	total  int64
	spaced int64 // cells where a blank follows every separator
}

func newProfile(name string) *profile {
	p := &profile{name: name, placeholders: map[string]int64{}, values: map[string]int64{}, seen: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
	p.tally.zones, p.tally.booleans, p.tally.odd = map[string]int64{}, map[string]int64{}, map[string]int64{}
	p.tally.separated = map[string]*separated{}
	for i := range p.tally.number {
		p.tally.number[i].units = map[string]int64{}
	}
	return p
}

// placeholders are cells that say that nothing is known, in any column.
var placeholders = []string{"N/A", "#N/A", "N.A.", "n.a", "null", "(null)", "nil", "NaN", "-", "--", "---", "—", "–", "?", "??", "unknown", "UNK", "undefined", "not available", "not applicable", "not known", "not recorded",
	"#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "(blank)", "[blank]", "blank", "missing", `\N`, "."}

// add takes a cell in.
func (p *profile) add(cell string) {
	cell = strings.TrimSpace(cell)
	switch {
	case cell == "":
		p.blank++
		return
	case len(cell) <= 16 && (holds(placeholders, cell) || cell == "NA"):
		p.placeholders[cell]++
		return
	}
	p.cells++
	p.watch(cell)
	if p.long = p.long || len(cell) > maxShort; p.many || len(cell) > maxShort {
		p.tally.add(cell, 1)
		return
	}
	if _, known := p.values[cell]; !known {
		p.size += len(cell)
	}
	p.values[cell]++
	if len(p.values) > maxValues || p.size > maxValueBytes {
		p.flush()
		p.many, p.finest, p.values = true, commonestOf(p.values, 5), nil
	}
}

// watch finds out whether a value came twice.
func (p *profile) watch(cell string) {
	if p.repeat || p.seen == nil {
		return
	}
	h := maphash.String(p.seed, cell)
	if _, again := p.seen[h]; again || len(p.seen) >= maxSeen || len(cell) > 128 {
		p.repeat, p.seen = true, nil
		return
	}
	p.seen[h] = struct{}{}
}

// flush tallies the values that were kept.
func (p *profile) flush() {
	for value, n := range p.values {
		p.tally.add(value, n)
	}
}

// finish tallies what is left. Nothing is added after it.
func (p *profile) finish() {
	if p.values != nil {
		p.flush()
		p.finest = commonestOf(p.values, 5)
	}
	p.seen = nil
}

// unique reports whether every record has a value of its own.
func (p *profile) unique() bool {
	return !p.repeat && p.cells > 0 && p.blank == 0 && len(p.placeholders) == 0 && p.lists == 0
}

// distinct counts different values, case aside; ok is false where there were too many.
func (p *profile) distinct() (n int, ok bool) {
	if p.many || p.long {
		return 0, false
	}
	folded := map[string]bool{}
	for v := range p.values {
		folded[strings.ToUpper(v)] = true
	}
	return len(folded), true
}

func commonestOf(values map[string]int64, n int) map[string]int64 {
	keys := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		if values[a] != values[b] {
			return int(values[b] - values[a])
		}
		return strings.Compare(a, b)
	})
	out := map[string]int64{}
	for _, k := range keys[:min(n, len(keys))] {
		out[k] = values[k]
	}
	return out
}

// now is not needed to tell that something is a date.
var farFuture = time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC)

// add looks at a value that stands in n cells.
func (t *tally) add(text string, n int64) {
	t.bytes += n * int64(utf8.RuneCountInString(text))
	t.words += n * int64(len(strings.Fields(text)))
	if strings.ContainsAny(text, "\n\r") {
		t.lines += n
	}
	if strings.IndexByte(text, ' ') >= 0 {
		t.blanks += n
	}
	t.shape(text, n)
	t.separators(text, n)
	if _, ok := parseBool(text); ok {
		t.booleans[strings.ToLower(text)] += n
	}
	if len(text) > maxMoment || strings.IndexFunc(text, unicode.IsDigit) < 0 {
		t.strange(text, n)
		return
	}
	number, date := t.numeric(text, n), t.dated(text, n)
	if !number && !date {
		t.strange(text, n)
	}
}

func (t *tally) strange(text string, n int64) {
	if len(t.odd) < 64 && len(text) <= 64 {
		t.odd[text] += n
	}
}

// shape looks at the characters.
func (t *tally) shape(text string, n int64) {
	digits, letters, lower := 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
			if unicode.IsLower(r) {
				lower++
			}
		}
	}
	switch {
	case digits == len(text):
		t.digits += n
		if text[0] == '0' && len(text) > 1 {
			t.codes += n
		}
		if len(text) > 15 {
			t.long += n
		}
		if _, ok := compactDate(text); ok {
			t.eight += n
		}
		if _, ok := epoch(text); ok {
			t.unix += n
		}
	case digits > 0 && letters > 0:
		t.alnum += n
	case letters > 0 && lower == 0 && len(text) <= 4:
		t.upper += n
	}
}

func (t *tally) numeric(text string, n int64) (any bool) {
	for i, mark := range []Mark{Point, Comma} {
		q, ok := ParseQuantity(text, mark)
		if !ok {
			continue
		}
		any = true
		t.number[i].ok += n
		if !q.Whole {
			t.number[i].fractions += n
		}
		if len(t.number[i].units) < 64 || t.number[i].units[q.Unit] > 0 {
			t.number[i].units[q.Unit] += n
		}
	}
	if any {
		t.marks.add(text, n)
	}
	return any
}

func (t *tally) dated(text string, n int64) (any bool) {
	for i, order := range []Order{MonthFirst, DayFirst} {
		m, ok := ParseMoment(text, order, farFuture)
		if !ok || m.Month == 0 {
			continue
		}
		t.dates[i] += n
		if !any {
			any = true
			if m.Clocked {
				t.clocked += n
			}
			if len(t.zones) < 64 {
				t.zones[m.Zone] += n
			}
		}
	}
	if any {
		for range min(n, 1000) {
			t.order.Add(text)
		}
	}
	return any
}

// separators are those a cell may list values with, the surest first.
var separators = []string{"|", ";", ","}

func (t *tally) separators(text string, n int64) {
	for _, sep := range separators {
		s := t.separated[sep]
		if s == nil {
			s = &separated{parts: map[string]int64{}}
			t.separated[sep] = s
		}
		if len(s.parts) >= maxPart { // no list, whatever follows; prose would cost more here than all else
			continue
		}
		if strings.Contains(text, sep) {
			s.cells += n
			if strings.Count(text, sep) == strings.Count(text, sep+" ") {
				s.spaced += n
			}
		}
		for part := range strings.SplitSeq(text, sep) {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			s.total += n
			if len(part) > maxPartBytes {
				continue
			}
			if part = strings.ToUpper(part); s.parts[part] > 0 || len(s.parts) < maxPart {
				s.parts[part] += n
			}
		}
	}
}
