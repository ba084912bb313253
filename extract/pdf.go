package extract

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sextant-rag/sextant/extract/pdfium"
)

// DefaultEngines is how many PDF files are read at once. An engine needs 20 MB and up to
// engineMemory.
const DefaultEngines = 2

// engineMemory bounds the memory of one engine. stepTime bounds what opening a file or
// reading one page may take of the processor: a page takes 20 ms, one of dense print
// 200 ms. On a busy machine that is longer by the clock, for which stepWait is the bound.
const (
	engineMemory = 256 << 20
	smallFile    = 4 << 20 // a small file needs no more than smallMemory, unless it is a bomb
	smallMemory  = 48 << 20
	stepTime     = 2 * time.Second
	stepWait     = 30 * time.Second
	stepTick     = 20 * time.Millisecond
)

// heapWatch collects garbage while a page is read and the heap grows beyond stepGarbage. A
// form that draws itself makes PDFium recurse until the stack of its WebAssembly engine is
// full at 100 MB: the engine copies it each time it doubles, and would leave the copies of
// many a page lying about before the collector comes by itself.
type heapWatch struct {
	sample []metrics.Sample
	least  uint64 // bytes after the last collection that is known of
}

const stepGarbage = 24 << 20

func newHeapWatch() *heapWatch {
	w := &heapWatch{sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}}
	w.least = w.read()
	return w
}

func (w *heapWatch) read() uint64 {
	metrics.Read(w.sample)
	return w.sample[0].Value.Uint64()
}

func (w *heapWatch) look() {
	now := w.read()
	w.least = min(w.least, now)
	if now > w.least+stepGarbage {
		debug.FreeOSMemory()
		w.least = w.read()
	}
}

// watch calls stop once a step takes too long, unless done is called before, which
// reports whether it did.
func watch(stop func()) (done func() (hung bool)) {
	began, used := time.Now(), processTime()
	var fired atomic.Bool
	ticker := time.NewTicker(stepTick)
	quit := make(chan struct{})
	go func() {
		defer ticker.Stop()
		heap := newHeapWatch()
		for {
			select {
			case <-quit:
				return
			case <-ticker.C:
				heap.look()
				waited := time.Since(began)
				if waited > stepWait || waited > stepTime && processTime()-used > stepTime {
					fired.Store(true)
					stop()
					return
				}
			}
		}
	}()
	return func() bool {
		close(quit)
		return fired.Load()
	}
}

// pdfConfig is what the engines of an Extractor may use.
func (x *Extractor) pdfConfig(size int64) pdfium.Config {
	c := pdfium.Config{CacheDir: x.CacheDir, Engines: x.Engines, Memory: engineMemory}
	if size <= smallFile {
		c.Memory = smallMemory
	}
	if c.Engines <= 0 {
		c.Engines = DefaultEngines
	}
	return c
}

// readPDF reads the pages of a PDF, first all of them and then their layout: what runs
// along the top and the foot of pages is known only after all have been seen.
func (x *Extractor) readPDF(ctx context.Context, in *input) (Text, error) {
	p := pdfReader{x: x, in: in}
	if err := p.open(ctx); err != nil {
		return Text{}, err
	}
	defer func() { p.close() }()
	info := p.doc.Info()
	if err := p.readPages(ctx); err != nil {
		return Text{}, err
	}
	if err := p.refuseBlank(); err != nil {
		return Text{}, err
	}
	t := Text{Format: FormatPDF, Properties: pdfProperties(info, len(p.pages))}
	removed := removeRunning(p.pages)
	w := newWriter(in)
	w.sections = false
	title := writePages(w, p.pages)
	if t.Title = plausibleTitle(info.Title); t.Title == "" {
		t.Title = title
	}
	t.Warnings = p.warnings(removed)
	var err error
	t.Text, t.Parts, err = w.result()
	return t, err
}

// pdfReader reads one PDF. A page that hangs is given up with its engine, and the rest
// is read with the next.
type pdfReader struct {
	x      *Extractor
	in     *input
	doc    *pdfium.Document
	cancel context.CancelFunc
	pages  []pdfPage
	blank  []int // pages with drawings and without text
	failed []int
	bytes  int64
}

func (p *pdfReader) open(ctx context.Context) error {
	config := p.x.pdfConfig(p.in.size)
	if err := p.x.pdf.Start(config); err != nil { // may take seconds, which no file is to blame for
		return fmt.Errorf("extract %s: %w", p.in.name, err)
	}
	engine, cancel := context.WithCancel(ctx)
	release, err := p.x.pdf.Acquire(engine, config.Memory)
	if err != nil {
		cancel()
		return err
	}
	done := watch(cancel)
	doc, err := p.x.pdf.Open(engine, release, p.in.r, p.in.size)
	if hung := done(); hung && ctx.Err() == nil {
		if err == nil {
			doc.Close()
		}
		return &Refusal{Code: TooSlow, Reason: "its structure cannot be read in reasonable time: it is damaged", Err: err}
	}
	if err != nil {
		cancel()
		return p.unopened(ctx, err)
	}
	p.doc, p.cancel = doc, cancel
	return nil
}

func (p *pdfReader) unopened(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, pdfium.ErrPassword):
		return encrypted()
	case errors.Is(err, pdfium.ErrFormat):
		return &Refusal{Code: Malformed, Reason: "it is no valid PDF: damaged or cut off", Err: err}
	}
	return fmt.Errorf("extract %s: %w", p.in.name, err)
}

func (p *pdfReader) close() {
	if p.cancel != nil {
		p.doc.Close()
		p.cancel()
		p.cancel = nil
	}
}

// mostHangs is how many pages may hang; one more and the file is refused.
const mostHangs = 1

func (p *pdfReader) readPages(ctx context.Context) error {
	n := p.doc.Pages
	if n > p.in.limits.Pages {
		return &Refusal{Code: TooLarge, Reason: fmt.Sprintf("it has %d pages, the limit is %d", n, p.in.limits.Pages)}
	}
	hangs := 0
	for i := range n {
		done := watch(p.cancel)
		page, err := p.doc.Page(i)
		hung := done()
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil || hung {
			p.failed = append(p.failed, i+1)
			p.pages = append(p.pages, pdfPage{number: i + 1})
			if hung {
				if hangs++; hangs > mostHangs {
					return &Refusal{Code: TooSlow, Place: fmt.Sprintf("p. %d", i+1), Reason: fmt.Sprintf("%d of its pages take more than %v each", hangs, stepTime)}
				}
				p.close()
				if err := p.open(ctx); err != nil {
					return err
				}
			}
			continue
		}
		if err := p.take(i+1, page); err != nil {
			return err
		}
	}
	return nil
}

// take keeps a page as rows of its text.
func (p *pdfReader) take(number int, page pdfium.Page) error {
	for _, w := range page.Words {
		p.bytes += int64(len(w.Text)) + 1
	}
	if p.bytes > p.in.left.text {
		return &Refusal{Code: TooLarge, Place: fmt.Sprintf("p. %d", number), Reason: fmt.Sprintf("its text is over the limit of %d bytes", p.in.limits.Text), Hint: "Split the file, or raise the limit."}
	}
	if len(page.Words) == 0 && page.Objects > 0 {
		p.blank = append(p.blank, number)
	}
	upright, turned := page.Words[:0:0], []pdfium.Word(nil)
	for _, w := range page.Words {
		if w.Turned {
			turned = append(turned, w)
		} else {
			upright = append(upright, w)
		}
	}
	p.pages = append(p.pages, pdfPage{number: number, width: page.Width, height: page.Height, rows: rowsOf(segmentsOf(upright)), margin: marginText(turned)})
	return nil
}

// marginText is what is written along the side of a page.
func marginText(turned []pdfium.Word) string {
	var b strings.Builder
	for _, w := range turned {
		b.WriteString(w.Text + " ")
	}
	return clean(b.String())
}

// refuseBlank refuses a file none of whose pages has text.
func (p *pdfReader) refuseBlank() error {
	if p.bytes > 0 {
		return nil
	}
	switch {
	case len(p.failed) > 0:
		return &Refusal{Code: Malformed, Place: fmt.Sprintf("p. %d", p.failed[0]), Reason: "none of its pages can be read"}
	case len(p.blank) > 0:
		return &Refusal{Code: Scanned, Reason: fmt.Sprintf("no text layer: its %d pages are pictures or drawings", len(p.pages)), Hint: "Run text recognition (OCR) over it first."}
	}
	return &Refusal{Code: Empty, Reason: "its pages are blank"}
}

func (p *pdfReader) warnings(removed int) []string {
	var out []string
	if n := len(p.blank); n > 0 {
		out = append(out, fmt.Sprintf("%d of %d pages without text (pictures, needs OCR): %s.", n, len(p.pages), pageList(p.blank)))
	}
	if n := len(p.failed); n > 0 {
		out = append(out, fmt.Sprintf("%d of %d pages could not be read: %s.", n, len(p.pages), pageList(p.failed)))
	}
	if removed > 0 {
		out = append(out, fmt.Sprintf("%d running headers and footers were left out.", removed))
	}
	return out
}

// pageList writes the numbers of pages, the first ten of many.
func pageList(numbers []int) string {
	var b strings.Builder
	for i, n := range numbers {
		if i == 10 {
			fmt.Fprintf(&b, " and %d more", len(numbers)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "p. %d", n)
	}
	return b.String()
}

func pdfProperties(info pdfium.Info, pages int) Properties {
	return Properties{
		Author: clean(info.Author), Subject: clean(info.Subject), Keywords: clean(info.Keywords), Pages: pages,
		Created: pdfTime(info.Created), Modified: pdfTime(info.Modified),
	}
}

// pdfTime reads a date of PDF 1.7 (7.9.4): D:YYYYMMDDHHmmSS and an offset.
func pdfTime(s string) time.Time {
	s = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(s), "D:"), "'", "")
	for _, layout := range []string{"20060102150405-0700", "20060102150405Z0700", "20060102150405Z", "20060102150405", "200601021504", "20060102", "200601", "2006"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1900 && t.Year() < 2200 {
			return t.UTC()
		}
	}
	return time.Time{}
}

// plausibleTitle returns the title a PDF gives itself, "" if it is what programs write
// when nobody has written one: a file name, a template, a number.
func plausibleTitle(s string) string {
	s = clean(s)
	low := strings.ToLower(s)
	for _, junk := range []string{"untitled", "microsoft word", "microsoft powerpoint", "microsoft excel", "document", "slide 1", "powerpoint presentation", "acrobat", "print", "about:blank", "http:", "https:"} {
		if strings.HasPrefix(low, junk) {
			return ""
		}
	}
	for _, ending := range []string{".pdf", ".doc", ".docx", ".dvi", ".indd", ".qxd", ".qxp", ".ps", ".tex", ".xls", ".xlsx", ".ppt", ".pptx", ".wpd", ".rtf", ".odt", ".htm", ".html", ".fm"} {
		if strings.HasSuffix(low, ending) {
			return ""
		}
	}
	if len(s) < 4 || !strings.ContainsFunc(s, isLetter) {
		return ""
	}
	return shorten(s, 200)
}
