package extract

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/sextant-rag/sextant/extract/pdfium"
)

// pdfPage is a page as rows of text, before its layout is known.
type pdfPage struct {
	number        int
	width, height float32
	rows          []row
	margin        string // text that runs along its side
}

// segment is a run of words of one line without a wide gap: a line of a column, or a
// cell of a table.
type segment struct {
	text           string
	words          int
	x0, y0, x1, y1 float32
	size           float32 // height of most of its letters
	bold           bool
	rtl            bool
	order          int // in the file
}

func (s *segment) middle() float32 { return (s.y0 + s.y1) / 2 }

// row is the segments at one height, from left to right.
type row []segment

// segmentsOf joins words that follow each other in the file and on the page. Gaps that
// are wider than those between words may be columns, and begin a new segment; a list's
// mark belongs to what it marks however far away that is.
func segmentsOf(words []pdfium.Word) []segment {
	var out []segment
	b := segmentBuilder{}
	for i := range words {
		w := &words[i]
		if b.n > 0 && !b.follows(w) {
			out = append(out, b.done(len(out)))
		}
		b.add(w)
	}
	if b.n > 0 {
		out = append(out, b.done(len(out)))
	}
	return dropDoubles(out)
}

// segmentBuilder collects the words of a segment.
type segmentBuilder struct {
	text    strings.Builder
	n       int
	box     segment
	last    pdfium.Word
	letters int // all, bold ones, right-to-left ones
	bold    int
	rtl     int
	mark    bool // what it has so far is the mark of a list's item
}

// follows reports whether a word goes on with the segment.
func (b *segmentBuilder) follows(w *pdfium.Word) bool {
	height := min(b.last.Size, w.Size)
	overlap := min(b.last.Y1, w.Y1) - max(b.last.Y0, w.Y0)
	if overlap < 0.45*height {
		return false
	}
	gap := w.X0 - b.last.X1
	if isRTL(w.Text) || b.rtl*2 > b.letters && gap < -height {
		gap = max(b.box.x0-w.X1, w.X0-b.box.x1)
	}
	most := 0.62 * max(b.last.Size, w.Size)
	if (b.last.Weight >= 600) != (w.Weight >= 600) {
		most /= 2.5 // a label and its value; in prose the pieces of a line find together again
	}
	if b.mark {
		most = 4 * b.last.Size
	}
	return gap <= most && gap > -0.6*height
}

func (b *segmentBuilder) add(w *pdfium.Word) {
	if b.n == 0 {
		b.box = segment{x0: w.X0, y0: w.Y0, x1: w.X1, y1: w.Y1, size: w.Size}
	} else {
		b.box.x0, b.box.y0 = min(b.box.x0, w.X0), min(b.box.y0, w.Y0)
		b.box.x1, b.box.y1 = max(b.box.x1, w.X1), max(b.box.y1, w.Y1)
		if gap := w.X0 - b.last.X1; gap > 0.08*w.Size || gap < 0 || isRTL(w.Text) {
			b.text.WriteByte(' ')
		} else if !strings.HasSuffix(b.text.String(), " ") {
			b.text.WriteByte(' ') // the engine saw a blank
		}
	}
	b.text.WriteString(w.Text)
	b.n++
	n := len([]rune(w.Text))
	b.letters += n
	if w.Weight >= 600 {
		b.bold += n
	}
	if isRTL(w.Text) {
		b.rtl += n
	}
	if n > 3 || w.Size > b.box.size {
		b.box.size = max(b.box.size, w.Size)
	}
	b.last = *w
	b.mark = b.n == 1 && isMark(w.Text)
}

func (b *segmentBuilder) done(order int) segment {
	s := b.box
	s.text, s.words, s.order = b.text.String(), b.n, order
	s.bold, s.rtl = b.bold*5 > b.letters*4, b.rtl*2 > b.letters
	*b = segmentBuilder{}
	return s
}

// isRTL reports whether a word is written from right to left.
func isRTL(s string) bool {
	for _, r := range s {
		if r >= 0x590 && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) {
			return true
		}
		if unicode.IsLetter(r) {
			return false
		}
	}
	return false
}

// isMark reports whether a word is what items of lists begin with.
func isMark(s string) bool {
	r := []rune(s)
	if len(r) == 1 {
		return strings.ContainsRune("•·▪■□●○◦‣⁃–—-*➢➤\u2713\u2714\uf0b7\uf0a7\uf0d8\uf0fc\uf076o§", r[0])
	}
	if len(r) > 6 {
		return false
	}
	end := r[len(r)-1]
	if end != '.' && end != ')' {
		return false
	}
	body := strings.TrimPrefix(string(r[:len(r)-1]), "(")
	if body == "" || len(body) > 4 {
		return false
	}
	digits, letters := 0, 0
	for _, c := range body {
		switch {
		case unicode.IsDigit(c):
			digits++
		case unicode.IsLetter(c):
			letters++
		default:
			return false
		}
	}
	return letters == 0 && digits <= 3 || digits == 0 && (letters == 1 || strings.Trim(strings.ToLower(body), "ivxlc") == "")
}

// dropDoubles drops segments that are drawn twice at the same place, which is how some
// programs make letters bold or cast shadows.
func dropDoubles(in []segment) []segment {
	type key struct {
		text string
		x, y int
	}
	seen := map[key]bool{}
	out := in[:0]
	for _, s := range in {
		k := key{s.text, int(s.x0 / 3), int(s.y0 / 3)}
		if seen[k] {
			continue
		}
		for _, dx := range []int{-1, 0, 1} {
			for _, dy := range []int{-1, 0, 1} {
				seen[key{s.text, k.x + dx, k.y + dy}] = true
			}
		}
		out = append(out, s)
	}
	return out
}

// rowsOf puts segments at one height together, from the top down.
func rowsOf(segments []segment) []row {
	sorted := slices.Clone(segments)
	slices.SortStableFunc(sorted, func(a, b segment) int { return cmp.Compare(a.middle(), b.middle()) })
	var rows []row
	var center, height float32
	for _, s := range sorted {
		h := s.y1 - s.y0
		if len(rows) > 0 && s.middle()-center <= 0.35*min(h, height) {
			rows[len(rows)-1] = append(rows[len(rows)-1], s)
			continue
		}
		rows = append(rows, row{s})
		center, height = s.middle(), h
	}
	for _, r := range rows {
		slices.SortStableFunc(r, func(a, b segment) int { return cmp.Compare(a.x0, b.x0) })
	}
	return rows
}

// text is a row in one line, in the direction most of it is read.
func (r row) text() string {
	if len(r) == 1 {
		return r[0].text
	}
	parts := make([]string, len(r))
	rtl := 0
	for i, s := range r {
		parts[i] = s.text
		if s.rtl {
			rtl++
		}
	}
	if rtl*2 > len(r) {
		slices.Reverse(parts)
	}
	return strings.Join(parts, " ")
}

func (r row) top() float32 {
	y := r[0].y0
	for _, s := range r {
		y = min(y, s.y0)
	}
	return y
}

func (r row) bottom() float32 {
	y := r[0].y1
	for _, s := range r {
		y = max(y, s.y1)
	}
	return y
}

func isLetter(r rune) bool { return unicode.IsLetter(r) }
