// Package extract turns the bytes of a file into canonical text: UTF-8, in reading
// order, with parts that give every quote a place a person can find ("p. 4",
// "Sheet1, row 12", "Brakes > Inspection").
//
// It believes nothing. What a file is, its content says and not its name; every size
// a file declares is a claim, and only what was really read counts; each reader is
// bounded in bytes, depth and time. A file that cannot be read is a Refusal with a code,
// a reason and a place, never a panic and never an empty success.
//
// The canonical text is made for quoting and for retrieval: blocks are separated by a
// blank line, a table's row is one line with its cells separated by " | ", an item of a
// list is a line with its mark, markup is gone. Nothing a reader would see is left out,
// but what repeats on every page (running headers, menus, notices about cookies), and
// what was left out is counted in the Warnings.
package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/extract/pdfium"
)

// Extractor reads files of all formats. The zero Extractor is ready for use; it must
// not be copied after first use. Its methods may be called from several goroutines.
type Extractor struct {
	// Limits bound each file; zero fields are the defaults.
	Limits Limits
	// CacheDir is a folder for compiled code of the PDF engine, which makes its start
	// fifty times faster; empty is none.
	CacheDir string
	// Engines is the most PDF engines that run at once, each with memory of its own;
	// 0 is DefaultEngines. More files wait for their turn.
	Engines int

	pdf pdfium.Engines
}

// Close stops the engines the Extractor started. It may be used again afterwards.
func (x *Extractor) Close() error { return x.pdf.Close() }

// Text is what a file says.
type Text struct {
	Format     Format
	Title      string
	Text       string         // canonical, valid UTF-8
	Parts      []sextant.Part // ranges of Text, outer ones before those inside them
	Properties Properties
	Warnings   []string // full sentences: what was assumed, repaired or left out
}

// Extract reads one file: size bytes of r, called name. The name is a hint where
// content leaves a choice, and never opened. The error is a *Refusal if the file is
// the reason, else the context's or that of r.
func (x *Extractor) Extract(ctx context.Context, name string, r io.ReaderAt, size int64) (Text, error) {
	limits := x.Limits.withDefaults()
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Time, errTime)
	defer cancel()
	t, err := x.extract(ctx, input{name: name, r: r, size: size, limits: limits, left: newBudget(limits, size)})
	if err != nil {
		if errors.Is(context.Cause(ctx), errTime) {
			return Text{}, &Refusal{Code: TooSlow, Reason: fmt.Sprintf("reading it took more than %v", limits.Time)}
		}
		return Text{}, err
	}
	return t, nil
}

// errTime is the cause of a context that ended by Limits.Time.
var errTime = errors.New("time limit")

// extract reads an input of any format. It is called again for files inside of files,
// with what the outer file has left of its limits.
func (x *Extractor) extract(ctx context.Context, in input) (t Text, err error) {
	defer func() {
		// The readers are fuzzed and meant not to panic. Should one do so, it must cost
		// one file and not the run; the stack goes to the log with the error.
		if p := recover(); p != nil {
			t, err = Text{}, &Refusal{Code: Malformed, Reason: "the reader of this format failed on it", Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	if in.size == 0 {
		return Text{}, &Refusal{Code: Empty, Reason: "the file has no bytes"}
	}
	if in.size > in.limits.Input {
		return Text{}, &Refusal{Code: TooLarge, Reason: fmt.Sprintf("the file has %d bytes, the limit is %d", in.size, in.limits.Input)}
	}
	format, err := detect(&in)
	if err != nil {
		return Text{}, err
	}
	t, err = x.read(ctx, format, &in)
	if err != nil {
		return Text{}, err
	}
	t.Warnings = append(in.warnings, t.Warnings...)
	if err := ctx.Err(); err != nil {
		return Text{}, fmt.Errorf("extract %s: %w", in.name, err)
	}
	return finish(t, in.name)
}

// read calls the format's reader.
func (x *Extractor) read(ctx context.Context, format Format, in *input) (Text, error) {
	switch format {
	case FormatText:
		return readPlain(ctx, in)
	case FormatMarkdown:
		return readMarkdown(ctx, in)
	case FormatHTML:
		return readHTML(ctx, in)
	case FormatDOCX:
		return readDOCX(ctx, in)
	case FormatXLSX:
		return readXLSX(ctx, in)
	case FormatCSV:
		return readCSV(ctx, in)
	case FormatPPTX:
		return readPPTX(ctx, in)
	case FormatJSON:
		return readJSON(ctx, in)
	case FormatJSONL:
		return readJSONL(ctx, in)
	case FormatNotebook:
		return readNotebook(ctx, in)
	case FormatSubtitle:
		return readSubtitle(ctx, in)
	case FormatAsciiDoc:
		return readAsciiDoc(ctx, in)
	case FormatGzip:
		return x.readGzip(ctx, in)
	case FormatODT:
		return readODT(ctx, in)
	case FormatXML:
		return readXML(ctx, in)
	case FormatEPUB:
		return readEPUB(ctx, in)
	case FormatEmail:
		return x.readEmail(ctx, in)
	case FormatPDF:
		return x.readPDF(ctx, in)
	}
	return Text{}, &Refusal{Code: Unsupported, Reason: fmt.Sprintf("%s files cannot be read", format)}
}

// finish checks what every reader promises and gives the text a title.
func finish(t Text, name string) (Text, error) {
	if t.Text == "" {
		return Text{}, &Refusal{Code: Empty, Reason: "there is no text in it"}
	}
	numberParagraphs(&t)
	if t.Title == "" {
		t.Title = titleOf(t, name)
	}
	return t, nil
}
