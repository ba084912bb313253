package extract

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// layoutBlock is a piece of a page in reading order: lines of one column, or a table.
type layoutBlock struct {
	lines  []row
	table  [][]string
	header int
	left   float32 // edges of its column
	right  float32
}

// layout puts rows in reading order. Where a gap runs through several rows, the text
// beside it is columns of prose, to be read one after the other, or a table, to be read
// row by row.
func layout(rows []row, depth int) []layoutBlock {
	var out []layoutBlock
	var plain []row
	flush := func() {
		if len(plain) > 0 {
			left, right := extent(plain)
			out = append(out, layoutBlock{lines: plain, left: left, right: right})
			plain = nil
		}
	}
	for i := 0; i < len(rows); {
		b, end := bandAt(rows, i)
		if end == i || depth > 5 {
			plain = append(plain, rows[i])
			i++
			continue
		}
		if b.prose() {
			for len(plain) > 0 && b.takes(plain[len(plain)-1]) { // a column that begins higher than the others
				b.rows = append([]row{plain[len(plain)-1]}, b.rows...)
				plain = plain[:len(plain)-1]
			}
			flush()
			for c := range b.columns() {
				out = append(out, layout(b.column(c), depth+1)...)
			}
		} else {
			flush()
			out = append(out, b.asTable())
		}
		i = end
	}
	flush()
	return out
}

func extent(rows []row) (left, right float32) {
	left, right = rows[0][0].x0, rows[0][0].x1
	for _, r := range rows {
		for _, s := range r {
			left, right = min(left, s.x0), max(right, s.x1)
		}
	}
	return left, right
}

// gap is an interval of x.
type gap struct{ from, to float32 }

// band is consecutive rows with gaps that run through all of them.
type band struct {
	rows    []row
	gutters []gap
}

// bandAt grows a band from row i. It ends where a row crosses all gaps, or one wide row
// crosses any, or far below the row before. A band needs two rows with text on both
// sides of a gap; without them end is i.
func bandAt(rows []row, i int) (b band, end int) {
	if len(rows[i]) < 2 {
		return b, i
	}
	ink := inkOf(rows[i])
	gutters := gaps(ink)
	split := 1
	end = i + 1
	for ; end < len(rows); end++ {
		r := rows[end]
		if r.top()-rows[end-1].bottom() > 3*(r.bottom()-r.top()) {
			break
		}
		height := r.bottom() - r.top()
		if len(r) == 1 && r.top()-rows[end-1].bottom() > 0.7*height && (r[0].size > 1.12*rowSize(rows[i]) || r[0].size < 0.8*rowSize(rows[i])) {
			break // a heading or a note
		}
		next := merge(ink, inkOf(r))
		left := gaps(next)
		if len(left) == 0 || len(r) == 1 && len(left) < len(gutters) && crosses(r[0], gutters) {
			break
		}
		if len(left) < len(gutters) && len(left)*2 < len(gutters) && end-i >= 3 {
			break
		}
		ink, gutters = next, left
		if len(r) > 1 {
			split++
		}
	}
	if split < 2 || len(gutters) == 0 || split < 4 && widest(gutters) < rowSize(rows[i]) || narrow(gutters, rowSize(rows[i])) && split*2 < end-i {
		return b, i
	}
	for end > i+1 && len(rows[end-1]) == 1 && trailing(rows[end-1][0], gutters, rows[i:end]) {
		end--
	}
	if end-i < 2 {
		return b, i
	}
	return band{rows: rows[i:end], gutters: gutters}, end
}

func widest(gutters []gap) float32 {
	w := float32(0)
	for _, g := range gutters {
		w = max(w, g.to-g.from)
	}
	return w
}

// narrow reports whether gaps could be those between words.
func narrow(gutters []gap, size float32) bool { return widest(gutters) < 0.8*size }

// trailing reports whether a single segment at the end of a band is text below it: it
// begins at the left edge and no other row of the band reaches as far as it does there.
func trailing(s segment, gutters []gap, rows []row) bool {
	if s.x0 > gutters[0].from {
		return false
	}
	widest := float32(0)
	for _, r := range rows[:len(rows)-1] {
		if len(r) > 1 && r[0].x1 <= gutters[0].to {
			widest = max(widest, r[0].x1)
		}
	}
	return s.x1 > widest+s.size
}

func crosses(s segment, gutters []gap) bool {
	for _, g := range gutters {
		if s.x0 < g.from && s.x1 > g.to {
			return true
		}
	}
	return false
}

// inkOf is what a row covers, from left to right.
func inkOf(r row) []gap {
	out := make([]gap, 0, len(r))
	for _, s := range r {
		if n := len(out); n > 0 && s.x0 <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.x1)
		} else {
			out = append(out, gap{s.x0, s.x1})
		}
	}
	return out
}

func merge(a, b []gap) []gap {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y gap) int { return cmp.Compare(x.from, y.from) })
	out := all[:1]
	for _, s := range all[1:] {
		if last := &out[len(out)-1]; s.from <= last.to {
			last.to = max(last.to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// leastGutter is the narrowest gap between columns, in points.
const leastGutter = 4

func gaps(ink []gap) []gap {
	var out []gap
	for i := 1; i < len(ink); i++ {
		if ink[i].from-ink[i-1].to >= leastGutter {
			out = append(out, gap{ink[i-1].to, ink[i].from})
		}
	}
	return out
}

func (b *band) columns() int { return len(b.gutters) + 1 }

// columnOf is the column a segment is in.
func (b *band) columnOf(s segment) int {
	for i, g := range b.gutters {
		if s.x0 < g.from && s.x1 > g.to {
			return i // it runs over into the next
		}
		if s.x0+s.x1 < g.from+g.to {
			return i
		}
	}
	return len(b.gutters)
}

// column returns the rows of one column.
func (b *band) column(c int) []row {
	var segments []segment
	for _, r := range b.rows {
		for _, s := range r {
			if b.columnOf(s) == c {
				segments = append(segments, s)
			}
		}
	}
	return rowsOf(segments)
}

// takes reports whether a row above a band is in one of its columns.
func (b *band) takes(r row) bool {
	for _, s := range r {
		if crosses(s, b.gutters) {
			return false
		}
		for _, g := range b.gutters {
			if s.x0 < g.to && s.x1 > g.from {
				return false
			}
		}
	}
	return b.rows[0].top()-r.bottom() < 2*(r.bottom()-r.top())
}

// prose reports whether columns are to be read one after the other: each has lines that
// fill it with words. The lines of a table's columns are short, or stand beside those
// of the first column only.
func (b *band) prose() bool {
	if b.columns() > 4 {
		return false
	}
	for c := range b.columns() {
		if !flows(b.column(c)) {
			return false
		}
	}
	return true
}

// flows reports whether rows are lines of prose.
func flows(rows []row) bool {
	if len(rows) < 3 {
		return false
	}
	left, right := extent(rows)
	full, words := 0, 0
	for _, r := range rows {
		width := r[len(r)-1].x1 - r[0].x0
		if width > 0.72*(right-left) {
			full++
		}
		for _, s := range r {
			words += s.words
		}
	}
	return full*2 > len(rows) && words > 4*len(rows) && letterShare(rows) > 0.7
}

// letterShare is the part of letters in all visible characters.
func letterShare(rows []row) float64 {
	letters, all := 0, 1
	for _, r := range rows {
		for _, s := range r {
			for _, c := range s.text {
				if unicode.IsLetter(c) {
					letters++
				}
				if !unicode.IsSpace(c) {
					all++
				}
			}
		}
	}
	return float64(letters) / float64(all)
}

// asTable reads a band row by row.
func (b *band) asTable() layoutBlock {
	b.refine()
	var rows [][]string
	for _, r := range b.rows {
		cells := make([]string, b.columns())
		for _, s := range r {
			c := b.columnOf(s)
			cells[c] = strings.TrimSpace(cells[c] + " " + s.text)
		}
		if n := len(rows); n > 0 && wraps(rows[n-1], cells) {
			for c, text := range cells {
				rows[n-1][c] = strings.TrimSpace(rows[n-1][c] + " " + text)
			}
			continue
		}
		rows = append(rows, cells)
	}
	rows = joinSigns(rows)
	left, right := extent(b.rows)
	return layoutBlock{table: rows, header: headerRows(rows), left: left, right: right}
}

// joinSigns puts signs of currency and per cent that stand in columns of their own back
// to their figures.
func joinSigns(rows [][]string) [][]string {
	for _, r := range rows {
		for c := range len(r) - 1 { // a sign so close to the figure before that it was joined to it
			if cut, ok := strings.CutSuffix(r[c], " $"); ok {
				r[c], r[c+1] = strings.TrimSpace(cut), strings.TrimSpace("$ "+r[c+1])
			}
		}
	}
	for c := len(rows[0]) - 1; c > 0; c-- {
		before, after := 0, 0
		for _, r := range rows {
			switch strings.TrimSpace(r[c]) {
			case "$", "€", "£", "¥", "US$", "C$":
				before++
			case "%", ")", ")%":
				after++
			case "":
			default:
				before, after = -len(rows), -len(rows)
			}
		}
		switch {
		case before > 0 && after == 0 && c+1 < len(rows[0]):
			joinColumns(rows, c)
		case after > 0 && before == 0:
			joinColumns(rows, c-1)
		}
	}
	return rows
}

// joinColumns joins column c with the one after it.
func joinColumns(rows [][]string, c int) {
	for i, r := range rows {
		r[c] += r[c+1]
		rows[i] = slices.Delete(r, c+1, c+2)
	}
}

// refine looks for gaps that nearly all rows leave free: a long cell that runs over into
// the next column does not close the gap for the rest of the table.
func (b *band) refine() {
	left, right := extent(b.rows)
	const step = 2 // points
	covered := make([]int, int((right-left)/step)+2)
	for _, r := range b.rows {
		for _, s := range inkOf(r) {
			for x := int((s.from - left) / step); x <= int((s.to-left)/step) && x < len(covered); x++ {
				covered[x]++
			}
		}
	}
	few := len(b.rows) / 6
	var out []gap
	for x := 0; x < len(covered); x++ {
		from := x
		for x < len(covered) && covered[x] <= few {
			x++
		}
		if g := (gap{left + float32(from)*step, left + float32(x)*step}); from > 0 && x < len(covered) && g.to-g.from >= leastGutter+step {
			out = append(out, g)
		}
	}
	if len(out) > len(b.gutters) {
		b.gutters = out
	}
}

// wraps reports whether a row only goes on with cells of the row before: its first cell
// is empty, and where it has text that is words under words; or it is a label that
// goes on in lower case.
func wraps(before, cells []string) bool {
	if cells[0] != "" {
		for _, c := range cells[1:] {
			if c != "" {
				return false
			}
		}
		r := []rune(cells[0])
		return unicode.IsLower(r[0]) && before[0] != ""
	}
	some := false
	for c, text := range cells {
		if text == "" {
			continue
		}
		if before[c] == "" || numeric(text) || numeric(before[c]) {
			return false
		}
		some = true
	}
	return some
}

// numeric reports whether a cell is a figure: no letters, and not a year.
func numeric(s string) bool {
	if strings.ContainsFunc(s, unicode.IsLetter) || !strings.ContainsFunc(s, unicode.IsDigit) {
		return strings.Trim(s, "$—–- ") == "" && s != ""
	}
	return !(len(s) == 4 && (strings.HasPrefix(s, "19") || strings.HasPrefix(s, "20")))
}

// headerRows is how many rows at the top name the columns: one, or the two or three
// before the first with figures, if most rows after them have some. A table of labels
// with their values has none.
func headerRows(rows [][]string) int {
	if strings.HasSuffix(rows[0][0], ":") {
		return 0
	}
	first, figures := -1, 0
	for i, r := range rows {
		if slices.ContainsFunc(r[1:], numeric) {
			figures++
			if first < 0 {
				first = i
			}
		}
	}
	if first < 1 || first > 3 || figures*10 < 6*(len(rows)-first) {
		return 1
	}
	return first
}
