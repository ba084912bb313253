package extract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pdfLine is a line of prose with what tells where its paragraph begins.
type pdfLine struct {
	row
	text        string
	left, right float32 // edges of its column
}

// pdfWriter turns the blocks of pages into paragraphs, headings and tables.
type pdfWriter struct {
	w     *writer
	body  float32   // size of most of the text
	bold  bool      // most of the text is bold
	sizes []float32 // of headings, largest first
	vocab map[string]int
	title string
	open  string // a paragraph that is not written yet: the next column may go on with it
}

// writePages writes all pages and returns the largest text of the first as a title.
func writePages(w *writer, pages []pdfPage) string {
	p := pdfWriter{w: w, vocab: vocabulary(pages)}
	p.measure(pages)
	for i := range pages {
		if w.err != nil {
			break
		}
		w.endAll()
		w.begin(KindPage, fmt.Sprintf("p. %d", pages[i].number))
		p.page(&pages[i], i == 0)
		pages[i].rows = nil
	}
	return p.title
}

// measure finds the size of the body text, and which sizes above it are headings'.
func (p *pdfWriter) measure(pages []pdfPage) {
	counts := map[float32]int{}
	bold, all := 0, 0
	for i := range pages {
		for _, r := range pages[i].rows {
			for _, s := range r {
				counts[rounded(s.size)] += len(s.text)
				all += len(s.text)
				if s.bold {
					bold += len(s.text)
				}
			}
		}
	}
	p.bold = bold*2 > all
	most := 0
	for size, n := range counts {
		if n > most || n == most && size < p.body {
			p.body, most = size, n
		}
	}
	for size := range counts {
		if size > 1.12*p.body {
			p.sizes = append(p.sizes, size)
		}
	}
	slices.SortFunc(p.sizes, func(a, b float32) int { return cmp.Compare(b, a) })
}

func rounded(size float32) float32 { return float32(int(size*2+0.5)) / 2 }

// vocabulary counts words with hyphens inside lines: one that is cut at its hyphen at
// the end of a line keeps it.
func vocabulary(pages []pdfPage) map[string]int {
	out := map[string]int{}
	for i := range pages {
		for _, r := range pages[i].rows {
			for _, s := range r {
				for word := range strings.FieldsSeq(s.text) {
					if strings.Contains(word, "-") && len(out) < 20000 {
						out[strings.ToLower(strings.Trim(word, ".,;:()[]\"'“”"))]++
					}
				}
			}
		}
	}
	return out
}

func (p *pdfWriter) page(page *pdfPage, first bool) {
	if first {
		p.findTitle(page.rows)
	}
	for _, b := range layout(page.rows, 0) {
		if b.table != nil {
			p.flush()
			p.table(b)
			continue
		}
		p.prose(b)
	}
	p.flush()
	if page.margin != "" && len(page.margin) < 2000 {
		p.w.paragraph(page.margin)
	}
}

// flush writes the paragraph at hand.
func (p *pdfWriter) flush() {
	p.w.paragraph(p.open)
	p.open = ""
}

// flow takes a paragraph. At the top of a column it may go on with the one before, if
// that has no end and this no beginning.
func (p *pdfWriter) flow(text string, top bool) {
	first, _ := utf8.DecodeRuneInString(text)
	if top && p.open != "" && unicode.IsLower(first) && !endsSentence(p.open) {
		p.open = p.joined(p.open, text)
		return
	}
	p.flush()
	p.open = text
}

// findTitle takes the largest text of the upper part of the first page.
func (p *pdfWriter) findTitle(rows []row) {
	best := float32(0)
	for _, r := range rows[:min(len(rows), 30)] {
		if size := rowSize(r); size > best*1.02 && strings.ContainsFunc(r.text(), isLetter) && utf8.RuneCountInString(r.text()) > 3 {
			best = size
		}
	}
	if best < 1.12*p.body {
		return
	}
	var lines []string
	for _, r := range rows[:min(len(rows), 30)] {
		switch size := rowSize(r); {
		case size > best*0.97:
			lines = append(lines, r.text())
		case len(lines) > 0:
			p.title = shorten(clean(strings.Join(lines, " ")), 200)
			return
		}
	}
	p.title = shorten(clean(strings.Join(lines, " ")), 200)
}

// rowSize is the size of most of a row.
func rowSize(r row) float32 {
	size, most := float32(0), 0
	for _, s := range r {
		if len(s.text) > most {
			size, most = s.size, len(s.text)
		}
	}
	return size
}

func rowBold(r row) bool {
	for _, s := range r {
		if !s.bold {
			return false
		}
	}
	return true
}

func (p *pdfWriter) table(b layoutBlock) {
	rows := b.table
	if len(rows) == 1 {
		p.w.paragraph(strings.Join(rows[0], " "))
		return
	}
	for _, r := range rows {
		for i, c := range r {
			r[i] = dots(c)
		}
	}
	p.w.table("", b.header, rows)
}

// prose writes the lines of a column as paragraphs.
func (p *pdfWriter) prose(b layoutBlock) {
	lines := make([]pdfLine, len(b.lines))
	for i, r := range b.lines {
		lines[i] = pdfLine{row: r, text: dots(clean(r.text())), left: b.left, right: b.right}
	}
	pitch := linePitch(lines)
	start := 0
	for i := 1; i <= len(lines); i++ {
		if i == len(lines) || begins(lines[i-1], lines[i], pitch[rounded(rowSize(lines[i].row))]) {
			p.paragraph(lines[start:i], start == 0)
			start = i
		}
	}
}

// linePitch is the usual distance of lines of each size, from top to top.
func linePitch(lines []pdfLine) map[float32]float32 {
	steps := map[float32][]float32{}
	for i := 1; i < len(lines); i++ {
		size := rounded(rowSize(lines[i].row))
		if d := lines[i].top() - lines[i-1].top(); d > 0 && size == rounded(rowSize(lines[i-1].row)) {
			steps[size] = append(steps[size], d)
		}
	}
	out := map[float32]float32{}
	for size, s := range steps {
		slices.Sort(s)
		out[size] = s[len(s)/3]
	}
	return out
}

// begins reports whether a line begins a paragraph.
func begins(before, line pdfLine, pitch float32) bool {
	step := line.top() - before.top()
	size, sizeBefore := rowSize(line.row), rowSize(before.row)
	indent := line.row[0].x0 - before.row[0].x0
	width := max(line.right-line.left, 1)
	short := before.row[len(before.row)-1].x1 < line.left+0.78*width
	switch {
	case step > 1.3*pitch+1 && step > 1.35*size:
		return true
	case size > 1.1*sizeBefore || size < 0.9*sizeBefore:
		return true
	case rowBold(line.row) != rowBold(before.row) && (short || rowBold(before.row)):
		return true
	case startsItem(line.text):
		return true
	case startsItem(before.text) && indent < -0.2*size && (short || endsSentence(before.text)):
		return true
	case indent > 0.8*size && indent < 5*size && !startsItem(before.text) && before.row[0].x0 < line.left+0.4*size:
		return true // the first line of a paragraph is indented
	case short && endsSentence(before.text):
		return true
	case short && width < 30*size && before.row[len(before.row)-1].x1 < line.left+0.5*width && startsUpper(line.text):
		return true // a list of short lines
	}
	return false
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r) || unicode.IsDigit(r)
}

func endsSentence(s string) bool {
	return strings.ContainsRune(".!?:;。؟", lastRune(strings.TrimRight(s, `"'”’)`)))
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// startsItem reports whether a line begins with the mark of an item.
func startsItem(s string) bool {
	mark, rest, ok := strings.Cut(s, " ")
	if !ok || rest == "" {
		return false
	}
	if mark == "o" || mark == "§" || mark == "*" {
		return mark != "o" || startsUpper(rest)
	}
	return isMark(mark)
}

// paragraph writes lines that belong together.
func (p *pdfWriter) paragraph(lines []pdfLine, top bool) {
	text := p.joinLines(lines)
	if text == "" {
		return
	}
	if level := p.headingLevel(lines, text); level > 0 {
		p.flush()
		p.w.heading(level, text)
		return
	}
	if startsItem(text) {
		p.flush()
		p.w.item(0, "", text)
		return
	}
	p.flow(text, top)
}

// headingLevel judges a paragraph by its size, or by standing alone in bold; 0 is none.
func (p *pdfWriter) headingLevel(lines []pdfLine, text string) int {
	n := utf8.RuneCountInString(text)
	if len(lines) > 4 || n > 200 || n < 2 || !strings.ContainsFunc(text, isLetter) || startsItem(text) && strings.Contains("•▪–—-*o", string([]rune(text)[0])) {
		return 0
	}
	size := rounded(rowSize(lines[0].row))
	for i, s := range p.sizes {
		if size == s {
			return min(i+1, 4)
		}
	}
	if p.bold || !allBold(lines) || len(lines) > 2 || n > 120 || endsSentence(text) && !strings.HasSuffix(text, ":") {
		return 0
	}
	return min(len(p.sizes)+1, 5)
}

func allBold(lines []pdfLine) bool {
	for _, l := range lines {
		if !rowBold(l.row) {
			return false
		}
	}
	return true
}

// joinLines joins the lines of a paragraph; words cut at the end of a line are made
// whole.
func (p *pdfWriter) joinLines(lines []pdfLine) string {
	pieces := make([]string, 0, len(lines)*2)
	before := ""
	for _, l := range lines {
		if before != "" {
			end, gap := p.seam(before, l.text)
			pieces[len(pieces)-1] = end
			pieces = append(pieces, gap)
		}
		pieces = append(pieces, l.text)
		before = l.text
	}
	return clean(strings.Join(pieces, ""))
}

func (p *pdfWriter) joined(before, next string) string {
	end, gap := p.seam(before, next)
	return end + gap + next
}

// seam joins the end of a line to the next: it returns the line and what comes between.
func (p *pdfWriter) seam(before, next string) (line, gap string) {
	if cut, ok := p.hyphenated(before, next); ok {
		return cut, ""
	}
	last := lastRune(before)
	switch {
	case unspaced(last):
		return before, ""
	case (last == '–' || last == '/') && len(before) > 1 && !strings.HasSuffix(before, " –") && !strings.HasSuffix(before, " /"):
		return before, "" // 737–9, an address
	}
	return before, " "
}

// hyphenated reports whether the end of a line and the start of the next are one word,
// and returns the text before without the hyphen, or with it if it belongs to the word.
func (p *pdfWriter) hyphenated(before, next string) (string, bool) {
	r, size := utf8.DecodeLastRuneInString(before)
	if r != '-' && r != '\u2010' && r != '\u00ad' {
		return "", false
	}
	stem := before[:len(before)-size]
	first, _ := utf8.DecodeRuneInString(next)
	last := lastRune(stem)
	if !unicode.IsLetter(last) && !unicode.IsDigit(last) || !unicode.IsLetter(first) && !unicode.IsDigit(first) {
		return "", false
	}
	if !unicode.IsLower(first) || !unicode.IsLetter(last) { // 747-400, Anglo-American
		return before, true
	}
	head := stem[strings.LastIndexFunc(stem, unicode.IsSpace)+1:]
	tail := next
	if i := strings.IndexFunc(next, unicode.IsSpace); i >= 0 {
		tail = next[:i]
	}
	word := strings.ToLower(strings.Trim(head+"-"+tail, ".,;:()[]\"'“”"))
	if p.vocab[word] > 0 || strings.Contains(head, "-") && !strings.HasPrefix(head, "-") {
		return before, true
	}
	return stem, true
}

// unspaced reports whether a script is written without blanks between words.
func unspaced(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || 0x3000 <= r && r <= 0x303f || 0xff00 <= r && r <= 0xffef
}

// dots shortens the dots that lead from an entry to its page.
func dots(s string) string {
	if !strings.Contains(s, "..") && !strings.Contains(s, ". .") {
		return s
	}
	return leaders.ReplaceAllString(s, " ... ")
}
