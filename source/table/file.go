package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sextant-rag/sextant/source"
)

// Errors about a file as a whole.
var (
	ErrEncoding = errors.New("the encoding of the text cannot be told")
	ErrEmpty    = errors.New("there is no header line")
)

// File is a delimited file whose header has been read.
type File struct {
	Blob   source.Blob
	Header []string // column names, outer blanks off; a repeated name stands in Header again
	Comma  byte     // what separates cells: one of , ; tab |
	Pad    bool     // take records with fewer cells than the header as if empty ones followed

	text     textEncoding
	first    source.Position // of the first record
	consumed atomic.Int64
	notes    atomic.Pointer[source.Notes]
}

// Open reads the header of delimited text. The separator is the one of comma,
// semicolon, tab and bar that stands most often in it.
func Open(blob source.Blob) (*File, error) {
	text, err := sniff(blob)
	if err != nil {
		return nil, err
	}
	return openAs(blob, text)
}

func openAs(blob source.Blob, text textEncoding) (*File, error) {
	f := &File{Blob: blob, text: text}
	in, err := text.open(blob, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	if err := f.readHeader(in); err != nil {
		return nil, fmt.Errorf("header of %s: %w", blob.Name, err)
	}
	return f, nil
}

func (f *File) readHeader(in io.Reader) error {
	w := newWindow(in, source.Position{})
	start, _ := w.peek()
	w.row(byteOrderMark(start))
	start, _ = w.peek()
	if line := start[:lineLength(start)]; declared(line) != 0 { // Excel's "sep=;"
		f.Comma = declared(line)
		w.row(len(line))
	} else {
		f.Comma = separator(line)
	}
	r := &reader{in: w, comma: f.Comma}
	w.at.Record = 0
	row, err := r.next()
	switch {
	case errors.Is(err, io.EOF) || row.Blank != "":
		return ErrEmpty
	case err != nil:
		return err
	case row.Problem != "":
		return errors.New(row.Problem)
	}
	for _, c := range row.Cells {
		f.Header = append(f.Header, strings.TrimSpace(c))
	}
	f.first = source.Position{Line: row.Next.Line, Offset: row.Next.Offset}
	return nil
}

// byteOrderMark returns the size of UTF-8's mark at the start of the data, 0 without.
func byteOrderMark(data []byte) int {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return 3
	}
	return 0
}

// declared returns the separator that a line "sep=;" declares, 0 if it is none.
func declared(line []byte) byte {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) == 5 && bytes.EqualFold(line[:4], []byte("sep=")) {
		return line[4]
	}
	return 0
}

// separator returns the one of comma, semicolon, tab and bar that stands most often in
// the header, not counting what is quoted.
func separator(header []byte) byte {
	best, most := byte(','), 0
	for _, c := range []byte(",;\t|") {
		n, quoted := 0, false
		for _, b := range header {
			switch {
			case b == '"':
				quoted = !quoted
			case b == c && !quoted:
				n++
			}
		}
		if n > most {
			best, most = c, n
		}
	}
	return best
}

// Repeated returns the names that stand more than once in the header.
func (f *File) Repeated() []string {
	var out []string
	for i, name := range f.Header {
		if slices.Index(f.Header, name) < i && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Rows yields the records after a position, those refused and those that are blank
// included. A compressed stream that is cut short ends with its last complete record
// and a warning; other failures to read are errors.
func (f *File) Rows(ctx context.Context, after source.Position) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if after == (source.Position{}) {
			after = f.first
		}
		in, err := f.text.resume(f.Blob, &f.consumed, after)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer func() { _ = in.Close() }()
		r := newReader(in, f.Comma, after)
		r.width, r.pad = len(f.Header), f.Pad
		defer func() { f.notes.Store(r.notes(f.text)) }()
		for n := 0; ; n++ {
			if n%256 == 0 && ctx.Err() != nil {
				yield(Row{}, ctx.Err())
				return
			}
			row, err := r.next()
			if err != nil {
				if !ended(err) {
					yield(Row{}, fmt.Errorf("read %s: %w", f.Blob.Name, err))
				}
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// ended reports whether an error only says that there is no more: at the end of the
// file, or of a compressed stream that was cut.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// Consumed returns the bytes of the blob read by the running sequence of Rows.
func (f *File) Consumed() int64 { return f.consumed.Load() }

// Notes returns what the last sequence of Rows assumed and noticed.
func (f *File) Notes() source.Notes {
	if n := f.notes.Load(); n != nil {
		return *n
	}
	return source.Notes{}
}

func (r *reader) notes(text textEncoding) *source.Notes {
	encoding, warnings := r.text.describe()
	if text.name != "" {
		encoding = text.name
	}
	if r.padded > 0 {
		warnings = append(warnings, fmt.Sprintf("%d records have fewer cells than the header (the first on line %d); those missing are unknown.", r.padded, r.firstPadded))
	}
	return &source.Notes{Encoding: encoding, Warnings: append(r.in.warnings(), warnings...)}
}

// warnings says what the window removed or could not read.
func (w *window) warnings() []string {
	var out []string
	if w.removed > 0 {
		out = append(out, fmt.Sprintf("%d NUL bytes were removed (the first at byte %d).", w.removed, w.firstAt))
	}
	if errors.Is(w.broken(), io.ErrUnexpectedEOF) {
		out = append(out, "The compressed file is cut off; its complete records were read.")
	}
	return out
}
