package extract

import (
	"context"
	"fmt"
	"strings"
)

// readCSV reads a file of separated values as a table. Its first row names the columns.
// Rows may be ragged, quotes stray: what is there is kept.
func readCSV(ctx context.Context, in *input) (Text, error) {
	text, properties, warnings, err := in.decoded(ctx)
	if err != nil {
		return Text{}, err
	}
	t := Text{Format: FormatCSV, Properties: properties, Warnings: warnings}
	text = strings.TrimLeft(text, "\ufeff")
	separator := findSeparator(text)
	if rest, ok := strings.CutPrefix(text, "sep="); ok && len(rest) > 0 {
		separator = rest[0]
		if _, text, ok = strings.Cut(rest, "\n"); !ok {
			text = ""
		}
	}
	w := newWriter(in)
	rows := pieceWriter{w: w}
	open, err := csvRows(ctx, text, separator, rows.add)
	if err != nil {
		return Text{}, err
	}
	rows.flush()
	if open > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("The quotation that begins in row %d does not end; its lines were read as rows.", open))
	}
	t.Text, t.Parts, err = w.result()
	return t, err
}

// findSeparator picks what cuts the first lines into the same number of cells most often.
func findSeparator(text string) byte {
	lines := strings.SplitN(text[:min(len(text), 64<<10)], "\n", 60)
	if len(lines) > 2 {
		lines = lines[:len(lines)-1]
	}
	best, top := byte(','), 0
	for _, c := range []byte(",;\t|") {
		first, same := -1, 0
		for _, line := range lines {
			n := countOutside(line, c)
			if first < 0 {
				first = n
			}
			if n == first && n > 0 {
				same += 2
			} else if n > 0 {
				same++
			}
		}
		if first > 0 && same*8+first > top {
			best, top = c, same*8+min(first, 7)
		}
	}
	return best
}

// countOutside counts a separator outside of quotes.
func countOutside(line string, c byte) int {
	n, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			quoted = !quoted
		case c:
			if !quoted {
				n++
			}
		}
	}
	return n
}

// csvRows cuts text into rows (RFC 4180, but for what people do). A quotation that never
// ends would swallow the rest of the file: it is read as text of its line, and open is
// the row it begins in.
func csvRows(ctx context.Context, text string, separator byte, add func(sparseRow)) (open int, err error) {
	number := 1
	for at := 0; at < len(text); number++ {
		if number%4096 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		r, end, ok := csvRow(text[at:], separator, true)
		if !ok {
			if open == 0 {
				open = number
			}
			r, end, _ = csvRow(text[at:], separator, false)
		}
		at += end
		r.number = number
		add(r)
		if open > 0 && !ok { // one search for the end of a quotation is enough
			for at < len(text) {
				number++
				r, end, _ := csvRow(text[at:], separator, false)
				at += end
				r.number = number
				add(r)
			}
		}
	}
	return open, nil
}

// csvRow reads one row and says where the next begins. Not ok is a quotation without end.
func csvRow(text string, separator byte, quotes bool) (r sparseRow, end int, ok bool) {
	column, i := 0, 0
	for {
		var cell string
		if quotes && i < len(text) && text[i] == '"' {
			var n int
			if cell, n, ok = csvQuoted(text[i:]); !ok {
				return r, 0, false
			}
			i += n
		}
		from := i
		for i < len(text) && text[i] != separator && text[i] != '\n' && text[i] != '\r' {
			i++
		}
		cell += text[from:i]
		if cell = clean(cell); cell != "" {
			r.cells = append(r.cells, sparseCell{column, cell})
		}
		column++
		if i >= len(text) {
			return r, i, true
		}
		c := text[i]
		i++
		if c == '\r' && i < len(text) && text[i] == '\n' {
			i++
		}
		if c != separator {
			return r, i, true
		}
	}
}

// csvQuoted reads a quotation at the start of a cell.
func csvQuoted(text string) (cell string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(text); {
		j := strings.IndexByte(text[i:], '"')
		if j < 0 {
			return "", 0, false
		}
		b.WriteString(text[i : i+j])
		i += j + 1
		if i < len(text) && text[i] == '"' {
			b.WriteByte('"')
			i++
			continue
		}
		return b.String(), i, true
	}
	return "", 0, false
}
