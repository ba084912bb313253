package pdfium

import (
	"context"
	"fmt"
	"math"
	"unicode"
	"unicode/utf16"

	pdf "github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// Document is an open document. Its methods may be called by one goroutine at a time.
type Document struct {
	Pages int

	instance pdf.Pdfium
	ref      references.FPDF_DOCUMENT
	form     bool // it has fields to fill in
	slot     chan struct{}
	ctx      context.Context
	stop     func() bool
	killed   chan struct{}
	closed   bool
}

// Close frees the engine. It may be called more than once.
func (d *Document) Close() {
	if d.closed {
		return
	}
	d.closed = true
	if d.stop() {
		_ = d.instance.Close() // closes the document with it
	} else {
		<-d.killed
	}
	<-d.slot
}

// Info is what a document says of itself; fields may be empty.
type Info struct {
	Title, Author, Subject, Keywords string
	Created, Modified                string // "D:20240131120000+01'00'"
}

// Info returns the document's own description.
func (d *Document) Info() Info {
	tag := func(name string) string {
		got, err := d.instance.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: d.ref, Tag: name})
		if err != nil {
			return ""
		}
		return got.Value
	}
	return Info{tag("Title"), tag("Author"), tag("Subject"), tag("Keywords"), tag("CreationDate"), tag("ModDate")}
}

// Page is the words of a page, as they are seen: upright, from the upper left corner.
type Page struct {
	Width, Height float32 // in points
	Words         []Word  // in the order of the file, which is mostly the order of reading
	Objects       int     // texts, pictures and lines drawn on it
}

// Word is a run of characters without a blank.
type Word struct {
	Text           string
	X0, Y0, X1, Y1 float32 // its box, from ascent to descent; Y grows downwards
	Size           float32 // height of the box of a letter, in points
	Weight         int     // 400 is normal, 700 bold; 0 unknown
	Break          bool    // the engine sees a line's end before it
	Turned         bool    // it runs in another direction than most of the page
	runs           int     // 0 to the right, 1 up, 3 down
}

// Page reads a page; the first is 0.
func (d *Document) Page(index int) (Page, error) {
	var p Page
	loaded, err := d.instance.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: d.ref, Index: index})
	if err != nil {
		return p, d.failed("load", index, err)
	}
	if loaded.Page, err = d.flatten(loaded.Page, index); err != nil {
		return p, err
	}
	page := requests.Page{ByReference: &loaded.Page}
	defer func() { _, _ = d.instance.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}) }()
	w := words{d: d, index: index, shown: d.rotation(page)}
	if w.left, w.bottom, err = d.measure(&p, page, index); err != nil {
		return p, err
	}
	text, err := d.instance.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return p, d.failed("read", index, err)
	}
	defer func() { _, _ = d.instance.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	w.text = text.TextPage
	if err := w.read(); err != nil {
		return p, err
	}
	p.Words = w.out
	quarters := w.turn()
	for i := range p.Words {
		p.Words[i].Turned = p.Words[i].runs%2 != quarters%2 && len(p.Words[i].Text) > 1
	}
	turn(&p, quarters)
	return p, nil
}

// flatten makes what is filled into the fields of a form part of the page.
func (d *Document) flatten(page references.FPDF_PAGE, index int) (references.FPDF_PAGE, error) {
	if !d.form {
		return page, nil
	}
	_, err := d.instance.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: requests.Page{ByReference: &page}, Usage: requests.FPDFPage_FlattenUsageNormalDisplay})
	if err != nil { // the page is read as it is
		return page, nil
	}
	if _, err := d.instance.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page}); err != nil {
		return page, d.failed("load", index, err)
	}
	loaded, err := d.instance.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: d.ref, Index: index})
	if err != nil {
		return page, d.failed("load", index, err)
	}
	return loaded.Page, nil
}

// turn gives boxes in the space of a file (from the lower left corner) as a reader sees
// them who turns the page by quarters to the right.
func turn(p *Page, quarters int) {
	for i := range p.Words {
		upright(&p.Words[i], quarters, p.Width, p.Height)
	}
	if quarters%2 == 1 {
		p.Width, p.Height = p.Height, p.Width
	}
}

func (d *Document) failed(what string, index int, err error) error {
	if d.ctx.Err() != nil {
		return fmt.Errorf("%s page %d: %w", what, index+1, ErrStopped)
	}
	return fmt.Errorf("%s page %d: %w", what, index+1, err)
}

// measure takes a page's size before it is turned, how much is drawn on it, and where its
// lower left corner is.
func (d *Document) measure(p *Page, page requests.Page, index int) (left, bottom float32, err error) {
	box, err := d.instance.FPDF_GetPageBoundingBox(&requests.FPDF_GetPageBoundingBox{Page: page})
	if err != nil {
		return 0, 0, d.failed("measure", index, err)
	}
	p.Width, p.Height = box.Rect.Right-box.Rect.Left, box.Rect.Top-box.Rect.Bottom
	if objects, err := d.instance.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page}); err == nil {
		p.Objects = objects.Count
	}
	return box.Rect.Left, box.Rect.Bottom, nil
}

// rotation is the number of quarter turns to the right that the page is shown with.
func (d *Document) rotation(page requests.Page) int {
	got, err := d.instance.FPDFPage_GetRotation(&requests.FPDFPage_GetRotation{Page: page})
	if err != nil {
		return 0
	}
	return int(got.PageRotation) & 3
}

// upright turns a box from the space of the file (from the lower left corner) to that of
// a reader, for a page of a size shown with quarter turns to the right.
func upright(w *Word, turn int, width, height float32) {
	x0, y0, x1, y1 := w.X0, w.Y0, w.X1, w.Y1
	switch turn {
	case 0:
		w.X0, w.Y0, w.X1, w.Y1 = x0, height-y1, x1, height-y0
	case 1:
		w.X0, w.Y0, w.X1, w.Y1 = y0, x0, y1, x1
	case 2:
		w.X0, w.Y0, w.X1, w.Y1 = width-x1, y0, width-x0, y1
	case 3:
		w.X0, w.Y0, w.X1, w.Y1 = height-y1, width-x1, height-y0, width-x0
	}
}

// words collects the words of a text page. Asking for a character's box takes more time
// than anything else, so that only the first and the last of a word are asked for.
type words struct {
	d     *Document
	text  references.FPDF_TEXTPAGE
	index int
	out   []Word
	runes []rune // of the word at hand
	first int    // its first character
	brk   bool

	left, bottom float32 // corner of the page
	shown        int     // quarters to the right that the page is shown with
	runs         [4]int  // letters that run to the right, up, to the left, down in the file
}

// turn is the number of quarters to the right that make most of the text upright. Pages
// of tables are often turned text on an upright page, and not said to be turned.
func (w *words) turn() int {
	up, down, right := w.runs[1], w.runs[3], w.runs[0]+w.runs[2]
	switch {
	case w.runs[2] > up+down && w.runs[2] > 2*w.runs[0]:
		return 2
	case up > 2*(right+down):
		return 1
	case down > 2*(right+up):
		return 3
	case w.shown%2 == 1 && right > 2*(up+down): // shown on its side: read as it is written
		return 0
	}
	return w.shown
}

// direction finds out where a word runs to, and the height of its letters.
func (w *words) direction(from, to Word, n int) (runs int, size float32) {
	dx, dy := float64(to.X0-from.X0), float64(to.Y0-from.Y0)
	switch {
	case n > 2 && dx < 0 && math.Abs(dx) >= math.Abs(dy) && isLatin(w.runes):
		w.runs[2] += n - 1
		return 2, from.height()
	case n < 2 || math.Abs(dx) >= math.Abs(dy):
		w.runs[0] += n - 1
		return 0, from.height()
	case dy > 0:
		w.runs[1] += n
		return 1, from.X1 - from.X0
	}
	w.runs[3] += n
	return 3, from.X1 - from.X0
}

// most characters of a page: a page of small print has 20,000.
const mostCharacters = 400_000

func (w *words) read() error {
	count, err := w.d.instance.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: w.text})
	if err != nil {
		return w.d.failed("read", w.index, err)
	}
	if count.Count > mostCharacters {
		return fmt.Errorf("read page %d: it has %d characters", w.index+1, count.Count)
	}
	high := rune(0)
	for i := range count.Count {
		r, err := w.unicode(i)
		if err != nil {
			return err
		}
		if utf16.IsSurrogate(r) {
			if high != 0 {
				r, high = utf16.DecodeRune(high, r), 0
			} else {
				high = r
				continue
			}
		}
		if err := w.take(i, r); err != nil {
			return err
		}
	}
	return w.flush(count.Count)
}

func (w *words) unicode(i int) (rune, error) {
	got, err := w.d.instance.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: w.text, Index: i})
	if err != nil {
		return 0, w.d.failed("read", w.index, err)
	}
	return rune(uint32(got.Unicode)), nil
}

// take adds a character to the word at hand, or ends it.
func (w *words) take(i int, r rune) error {
	switch {
	case r == 2: // how the engine writes a hyphen at a line's end
		r = '-'
	case r == 0 || r == 0xfffe || r == 0xffff || r > unicode.MaxRune || r < 0:
		r = unicode.ReplacementChar
	}
	if unicode.IsSpace(r) {
		err := w.flush(i)
		w.brk = w.brk || r == '\n' || r == '\r'
		return err
	}
	if len(w.runes) == 0 {
		w.first = i
	}
	w.runes = append(w.runes, r)
	return nil
}

// flush ends the word before character end.
func (w *words) flush(end int) error {
	if len(w.runes) == 0 {
		return nil
	}
	last := min(w.first+len(w.runes), end) - 1
	from, ok := w.box(w.first)
	to := from
	if last > w.first {
		var ok2 bool
		to, ok2 = w.box(last)
		ok = ok && ok2
	}
	if w.d.ctx.Err() != nil {
		return w.d.failed("read", w.index, ErrStopped)
	}
	runes := w.runes
	w.runes = w.runes[:0]
	if !ok {
		return nil
	}
	heading, size := w.direction(from, to, len(runes))
	word := grow(from, to)
	if scattered(word, size, len(runes)) {
		return w.apart(runes)
	}
	word.Text, word.Size, word.Break, word.Weight, word.runs = w.logical(runes), size, w.brk, w.weight(w.first), heading
	w.brk = false
	w.out = append(w.out, word)
	return nil
}

// isLatin reports whether letters are of a script that runs to the right.
func isLatin(runes []rune) bool {
	for _, r := range runes {
		if unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) {
			return true
		}
		if unicode.IsLetter(r) {
			return false
		}
	}
	return false
}

// logical returns the text of a word with Arabic ligatures of lam and alef in the order
// they are read: the engine turns words from right to left round letter by letter, and
// the two letters of such a glyph with them.
func (w *words) logical(runes []rune) string {
	for k := 0; k+1 < len(runes); k++ {
		if runes[k+1] != 0x644 || runes[k] != 0x627 && runes[k] != 0x622 && runes[k] != 0x623 && runes[k] != 0x625 {
			continue
		}
		a, ok := w.box(w.first + k)
		b, ok2 := w.box(w.first + k + 1)
		if ok && ok2 && max(abs(a.X0-b.X0), abs(a.X1-b.X1)) < 0.1*a.height() {
			runes[k], runes[k+1] = runes[k+1], runes[k]
			k++
		}
	}
	return string(runes)
}

func abs(v float32) float32 { return max(v, -v) }

// apart measures each character of a run that the engine takes for a word although its
// ends lie far apart, and makes words of what stands together.
func (w *words) apart(runes []rune) error {
	var at Word
	for k, r := range runes {
		box, ok := w.box(w.first + k)
		if !ok {
			continue
		}
		near := at.Text != "" && math.Abs(float64(box.Y0-at.Y0)) < float64(at.Size)/2 && box.X0-at.X1 < at.Size/3 && box.X0 >= at.X0-at.Size/3
		if !near && at.Text != "" {
			w.out = append(w.out, at)
			at = Word{}
		}
		if at.Text == "" {
			at = box
			at.Size, at.Break, at.Weight = box.height(), w.brk, w.weight(w.first+k)
			w.brk = false
		}
		at = grow(at, box)
		at.Text += string(r)
	}
	if at.Text != "" {
		w.out = append(w.out, at)
	}
	if w.d.ctx.Err() != nil {
		return w.d.failed("read", w.index, ErrStopped)
	}
	return nil
}

func (w *Word) height() float32 { return w.Y1 - w.Y0 }

func grow(a, b Word) Word {
	a.X0, a.Y0, a.X1, a.Y1 = min(a.X0, b.X0), min(a.Y0, b.Y0), max(a.X1, b.X1), max(a.Y1, b.Y1)
	return a
}

// scattered reports whether a word of n characters is larger than its letters can be,
// in both directions: text that is turned is long in one only.
func scattered(word Word, size float32, n int) bool {
	w, h := word.X1-word.X0, word.Y1-word.Y0
	if n < 2 || size <= 0 {
		return false
	}
	return max(w, h) > 1.8*size*float32(n) || h > 1.6*size && w > 2.5*size
}

// box returns the box of a character in the space of the file.
func (w *words) box(i int) (Word, bool) {
	got, err := w.d.instance.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: w.text, Index: i})
	if err != nil {
		return Word{}, false
	}
	r := got.Rect
	r.Left, r.Right, r.Top, r.Bottom = r.Left-w.left, r.Right-w.left, r.Top-w.bottom, r.Bottom-w.bottom
	for _, v := range []float32{r.Left, r.Right, r.Top, r.Bottom} {
		if v != v || math.Abs(float64(v)) > 1e6 {
			return Word{}, false
		}
	}
	return Word{X0: min(r.Left, r.Right), X1: max(r.Left, r.Right), Y0: min(r.Top, r.Bottom), Y1: max(r.Top, r.Bottom)}, true
}

func (w *words) weight(i int) int {
	got, err := w.d.instance.FPDFText_GetFontWeight(&requests.FPDFText_GetFontWeight{TextPage: w.text, Index: i})
	if err != nil || got.FontWeight < 0 {
		return 0
	}
	return got.FontWeight
}
