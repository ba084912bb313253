package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant/source"
)

// ErrFormat says that a file holds no table.
var ErrFormat = errors.New("this is no table")

// entry is a record as the format gives it: a row of cells or a JSON object, or neither
// with the reason.
type entry struct {
	at, next       source.Position
	problem, blank string
	short          bool
	row            []string            // by place of the column
	object         map[string][]string // by name; nested names are joined by dots
	left           int                 // values of an object that no column can hold
}

// reading is a table of any format, read as entries.
type reading interface {
	Kind() string
	// columns returns the names known before the records are read; nil of objects.
	columns() []string
	entries(ctx context.Context, after source.Position) iter.Seq2[entry, error]
	Consumed() int64
	Notes() source.Notes
}

// openReading tells the format of a blob by its beginning and reads its header. The
// encoding is told, too, unless it is named.
func openReading(blob source.Blob, encoding string) (reading, error) {
	text, err := sniff(blob)
	if encoding != "" {
		text, err = namedEncoding(encoding)
	}
	if err != nil {
		return nil, err
	}
	head, err := beginning(blob, text)
	if err != nil {
		return nil, err
	}
	switch trimmed := bytes.TrimLeft(head[byteOrderMark(head):], " \t\r\n"); {
	case binary(head) != "":
		return nil, fmt.Errorf("read %s: %w: it is %s", blob.Name, ErrFormat, binary(head))
	case bytes.HasPrefix(trimmed, []byte("[")) && !bracketedHeader(trimmed):
		at := bytes.IndexByte(head, '[') + 1
		return &objectReading{Objects{Lines{Blob: blob, text: text}, position(head[:at])}}, nil
	case bytes.HasPrefix(trimmed, []byte("{")):
		return openObjects(blob, text, trimmed)
	}
	f, err := openAs(blob, text)
	if err != nil {
		return nil, err
	}
	f.Pad = true
	return &rowReading{f, uniqueNames(f.Header)}, nil
}

// beginning returns up to MaxRecord bytes of a text.
func beginning(blob source.Blob, text textEncoding) ([]byte, error) {
	in, err := text.open(blob, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	head, err := io.ReadAll(io.LimitReader(in, sniffed))
	if err != nil && !ended(err) {
		return nil, fmt.Errorf("read %s: %w", blob.Name, err)
	}
	return head, nil
}

func position(before []byte) source.Position {
	return source.Position{Offset: int64(len(before)), Line: int64(bytes.Count(before, []byte{'\n'}))}
}

// binary names what a file that is no text is, "" of text.
func binary(head []byte) string {
	for magic, name := range map[string]string{"%PDF-": "a PDF", "PK\x03\x04": "an archive", "\xd0\xcf\x11\xe0": "a workbook of the old binary format (save it as .xlsx)",
		"\x89PNG": "a picture", "\xff\xd8\xff": "a picture", "SQLite format 3": "a database", "PAR1": "a Parquet file", "<!DOCTYPE": "an HTML page", "<html": "an HTML page", "<?xml": "XML"} {
		if bytes.HasPrefix(bytes.TrimLeft(head[byteOrderMark(head):], " \r\n"), []byte(magic)) {
			return name
		}
	}
	return ""
}

// bracketedHeader reports whether a text that begins with a bracket is delimited text
// whose first column is called so: "[Id],[Name]".
func bracketedHeader(text []byte) bool {
	line := text[:lineLength(text)]
	end := bytes.IndexByte(line, ']')
	return end > 1 && !json.Valid(line) && !bytes.ContainsAny(line[1:end], `{"[,`) && len(bytes.TrimSpace(line)) > end+1
}

// openObjects opens a file whose first value is an object: JSON lines, an array within
// an object, or objects one after the other.
func openObjects(blob source.Blob, text textEncoding, head []byte) (reading, error) {
	line := head[:lineLength(head)]
	if rest := bytes.TrimSpace(head[len(line):]); json.Valid(line) && len(rest) > 0 {
		return &lineReading{Lines{Blob: blob, text: text}}, nil
	}
	in, err := text.open(blob, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	offset, found := findArray(in)
	first := source.Position{}
	if found && !manyObjects(head) {
		first.Offset = offset
	}
	return &objectReading{Objects{Lines{Blob: blob, text: text}, first}}, nil
}

// manyObjects reports whether a second object follows the first.
func manyObjects(head []byte) bool {
	size, ok := elementSize(head, false)
	return ok && bytes.HasPrefix(bytes.TrimLeft(head[size:], " \t\r\n,"), []byte("{"))
}

// uniqueNames returns the names of columns: a repeated one gets its number, an empty one
// its place.
func uniqueNames(header []string) []string {
	out := make([]string, len(header))
	for i, name := range header {
		if name = strings.Join(strings.Fields(name), " "); name == "" {
			name = fmt.Sprintf("column %d", i+1)
		}
		for n, base := 2, name; slices.Contains(out[:i], name); n++ {
			name = fmt.Sprintf("%s (%d)", base, n)
		}
		out[i] = name
	}
	return out
}

// rowReading reads delimited text.
type rowReading struct {
	*File
	names []string
}

// Kind implements reading.
func (r *rowReading) Kind() string {
	if r.Comma == '\t' {
		return "tsv"
	}
	return "csv"
}

func (r *rowReading) columns() []string { return r.names }

func (r *rowReading) entries(ctx context.Context, after source.Position) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		for row, err := range r.Rows(ctx, after) {
			if !yield(entry{at: row.At, next: row.Next, problem: row.Problem, blank: row.Blank, short: row.Short, row: row.Cells}, err) {
				return
			}
		}
	}
}

// lineReading reads JSON lines, objectReading an array of objects.
type (
	lineReading   struct{ Lines }
	objectReading struct{ Objects }
)

// Kind implements reading.
func (*lineReading) Kind() string { return "jsonl" }

// Kind implements reading.
func (*objectReading) Kind() string { return "json" }

func (*lineReading) columns() []string   { return nil }
func (*objectReading) columns() []string { return nil }

func (r *lineReading) entries(ctx context.Context, after source.Position) iter.Seq2[entry, error] {
	return objectEntries(r.All(ctx, after))
}

func (r *objectReading) entries(ctx context.Context, after source.Position) iter.Seq2[entry, error] {
	return objectEntries(r.All(ctx, after))
}

func objectEntries(lines iter.Seq2[Line, error]) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		for line, err := range lines {
			e := entry{at: line.At, next: line.Next, problem: line.Problem, blank: line.Blank}
			if line.Data != nil {
				if e.object, e.left, err = flatten(line.Data); err != nil {
					e.problem, err = err.Error(), nil
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// maxNesting is how deep objects within objects are looked into.
const maxNesting = 8

// flatten reads a JSON object as columns: scalars as text, lists of scalars as several
// values, members of nested objects under their joined names. Lists of objects have no
// place in a table and are counted in left.
func flatten(data []byte) (out map[string][]string, left int, err error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, 0, fmt.Errorf("no JSON object: %w", err)
	}
	out = make(map[string][]string, len(object))
	return out, flattenInto(out, "", object, 0), nil
}

func flattenInto(out map[string][]string, prefix string, object map[string]json.RawMessage, depth int) (left int) {
	for name, raw := range object {
		name = prefix + strings.Join(strings.Fields(name), " ")
		var nested map[string]json.RawMessage
		switch {
		case raw[0] == '{' && depth < maxNesting && json.Unmarshal(raw, &nested) == nil:
			left += flattenInto(out, name+".", nested, depth+1)
		case raw[0] == '{', bytes.HasPrefix(raw, []byte("[{")):
			left++
		default:
			out[name] = jsonCells(raw)
		}
	}
	return left
}
