package table

import (
	"bytes"
	"fmt"
	"io"

	"github.com/sextant-rag/sextant/source"
)

// MaxRecord is the longest record in bytes. The longest narrative of the NTSB has
// 14 kB; what is longer than this is a missing quote or no table.
const MaxRecord = 4 << 20

// Row is one record of a table.
type Row struct {
	At, Next source.Position
	Cells    []string // UTF-8, without the quotes; nil if Problem is set or the row is blank
	Problem  string   // why the record is refused
	Short    bool     // had fewer cells than the header; the others are ""
	Blank    string   // why there is nothing in it: an empty line, NULs
}

// reader cuts delimited text into records (RFC 4180, and files that are not quite).
type reader struct {
	in    *window
	comma byte
	width int  // number of cells a record must have; 0 before the header is read
	pad   bool // or may have fewer
	text  decoder
	cells []span

	padded, firstPadded int64 // records with too few cells; the line of the first
}

type span struct {
	start, end int
	quoted     bool // holds doubled quotes
}

func newReader(in io.Reader, comma byte, from source.Position) *reader {
	return &reader{in: newWindow(in, from), comma: comma}
}

// next returns the next record, io.EOF after the last. Other errors are about the
// stream, and come after everything readable before them.
func (r *reader) next() (Row, error) {
	for {
		data, whole := r.in.peek()
		if len(data) == 0 && whole {
			return r.end()
		}
		size, cells, verdict := scanRecord(data, r.comma, r.cells[:0])
		r.cells = cells[:0]
		switch {
		case verdict == incomplete && !whole && len(data) < MaxRecord:
			r.in.more()
		case verdict == incomplete && whole:
			return r.last(data, size, cells)
		case verdict == incomplete:
			return r.overlong(data), nil
		case verdict != complete:
			return r.refuse(lineLength(data), string(verdict)), nil
		default:
			return r.take(data[:size], size, cells), nil
		}
	}
}

// take makes a row of a complete record.
func (r *reader) take(record []byte, size int, cells []span) Row {
	if len(bytes.TrimRight(record, "\r\n")) == 0 {
		row := r.in.row(size)
		row.Blank = "empty line"
		return row
	}
	cells = trimEmpty(record, cells, r.width)
	short := r.pad && len(cells) < r.width
	if r.width > 0 && len(cells) != r.width && !short {
		return r.refuse(size, fmt.Sprintf("%d cells where the header has %d", len(cells), r.width))
	}
	line := r.in.at.Line + 1
	text, recode := r.text.decode(record, line)
	if recode { // the places of quotes and commas moved
		_, cells, _ = scanRecord(text, r.comma, cells[:0])
		cells = trimEmpty(text, cells, r.width)
	}
	out := cellText(text, cells)
	if short {
		if r.padded++; r.padded == 1 {
			r.firstPadded = line
		}
		out = append(out, make([]string, r.width-len(out))...)
	}
	row := r.in.row(size)
	row.Cells, row.Short = out, short
	return row
}

// trimEmpty drops empty cells beyond the header's: spreadsheets leave them behind.
func trimEmpty(record []byte, cells []span, width int) []span {
	for width > 0 && len(cells) > width && len(bytes.TrimSpace(record[cells[len(cells)-1].start:cells[len(cells)-1].end])) == 0 {
		cells = cells[:len(cells)-1]
	}
	return cells
}

func (r *reader) refuse(size int, reason string) Row {
	row := r.in.row(size)
	row.Problem = reason
	return row
}

// last is called with all that is left and no complete record in it. It decides
// what that is: a record without a line break, a stray quote with good records after
// it, or a record cut off.
func (r *reader) last(data []byte, size int, cells []span) (Row, error) {
	unclosed := size == 0
	if !unclosed && r.in.broken() == nil && (r.width == 0 || r.pad || len(trimEmpty(data, cells, r.width)) >= r.width) {
		return r.take(data, len(data), cells), nil
	}
	if line := lineLength(data); unclosed && line < len(data) && r.looksLikeRecords(data[line:]) {
		return r.refuse(line, "a quote is opened and never closed"), nil
	}
	return r.refuse(len(data), "cut off: the file ends within this record"), nil
}

// looksLikeRecords reports whether most of the lines have the table's width: then what
// stands before them is a stray quote; otherwise they are the text of a cell cut off.
func (r *reader) looksLikeRecords(lines []byte) bool {
	records, others := 0, 0
	for len(lines) > 0 {
		size := lineLength(lines)
		_, cells, verdict := scanRecord(lines[:size], r.comma, r.cells[:0])
		if verdict == complete && len(cells) == r.width && r.width > 2 {
			records++
		} else if verdict == complete {
			others++
		}
		lines = lines[size:]
	}
	return records > others
}

// overlong gives up a record longer than MaxRecord. If it has lines, only the first
// is given up, since a lost quote made the record long; a longer line is passed over.
func (r *reader) overlong(data []byte) Row {
	if line := lineLength(data); line < len(data) {
		return r.refuse(line, "a quote is opened and not closed within "+limit)
	}
	return r.in.skipLine(fmt.Sprintf("longer than %s", limit))
}

const limit = "4 MiB"

// end reports trailing NULs as a last blank row, then the end or what cut it short.
func (r *reader) end() (Row, error) {
	if n := r.in.trailing(); n > 0 {
		row := r.in.row(0)
		row.Blank = fmt.Sprintf("%d NUL bytes at the end", n)
		return row, nil
	}
	if err := r.in.broken(); err != nil {
		return Row{}, err
	}
	return Row{}, io.EOF
}

// verdict is how scanning a record went; any other value than these two is the
// reason why it is malformed.
type verdict string

const (
	complete   verdict = ""
	incomplete verdict = "incomplete"
	junk       verdict = "text after the closing quote of a cell (quotes inside a cell must be doubled)"
)

// scanRecord finds the record data begins with: its size with the line break, and its
// cells. Incomplete with size 0 means within quotes, otherwise without a line break.
// A quote inside an unquoted cell stands for itself, as in 5" crack.
func scanRecord(data []byte, comma byte, cells []span) (int, []span, verdict) {
	i := 0
	for {
		cell := span{start: i}
		if i < len(data) && data[i] == '"' {
			end, ok := closingQuote(data, i+1, &cell)
			if !ok {
				return 0, cells, incomplete
			}
			cell.start, cell.end = i+1, end
			i = end + 1
			if i < len(data) && data[i] != comma && data[i] != '\n' && !carriageReturn(data, i) {
				return 0, cells, junk
			}
		} else {
			for i < len(data) && data[i] != comma && data[i] != '\n' {
				i++
			}
			cell.end = i
			if i > cell.start && data[i-1] == '\r' && (i == len(data) || data[i] == '\n') {
				cell.end--
			}
		}
		cells = append(cells, cell)
		switch {
		case i >= len(data):
			return len(data), cells, incomplete
		case data[i] == '\r' && i+1 == len(data):
			return len(data), cells, incomplete
		case data[i] == '\r':
			return i + 2, cells, complete
		case data[i] == '\n':
			return i + 1, cells, complete
		}
		i++
	}
}

// carriageReturn reports whether a \r that belongs to a line break stands at i. At the
// very end of the data it is taken for one.
func carriageReturn(data []byte, i int) bool {
	return data[i] == '\r' && (i+1 == len(data) || data[i+1] == '\n')
}

// closingQuote finds the quote that ends a quoted cell beginning at i.
func closingQuote(data []byte, i int, cell *span) (int, bool) {
	for {
		q := bytes.IndexByte(data[i:], '"')
		if q < 0 {
			return 0, false
		}
		i += q
		if i+1 >= len(data) || data[i+1] != '"' {
			return i, true
		}
		cell.quoted = true
		i += 2
	}
}

// cellText copies the cells out of the record, doubled quotes made single.
func cellText(record []byte, cells []span) []string {
	all := string(record)
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = all[c.start:c.end]
		if c.quoted {
			out[i] = string(bytes.ReplaceAll(record[c.start:c.end], []byte(`""`), []byte(`"`)))
		}
	}
	return out
}

func lineLength(data []byte) int {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1
	}
	return len(data)
}
