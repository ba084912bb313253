package table

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// decoder turns records into UTF-8 and remembers what it assumed. A record that is
// valid UTF-8 is taken as that; any other as Windows-1252, which is what spreadsheets
// and older exports write. Judging each record alone keeps one odd byte from spoiling
// the rest of a file.
type decoder struct {
	utf8, western int64
	lines         []int64 // of the first western records
	undefined     int64   // bytes that Windows-1252 has no character for
}

// decode returns the record in UTF-8 and whether that is another byte string.
func (d *decoder) decode(record []byte, line int64) ([]byte, bool) {
	if utf8.Valid(record) {
		d.utf8++
		return record, false
	}
	d.western++
	if len(d.lines) < 5 {
		d.lines = append(d.lines, line)
	}
	out := make([]byte, 0, len(record)+16)
	for _, b := range record {
		r := charmap.Windows1252.DecodeByte(b)
		if r == utf8.RuneError {
			d.undefined++
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out, true
}

// describe says what was assumed, in the words of a receipt.
func (d *decoder) describe() (encoding string, warnings []string) {
	if d.undefined > 0 {
		warnings = append(warnings, fmt.Sprintf("%d bytes that are no character in Windows-1252 were left out.", d.undefined))
	}
	switch {
	case d.western == 0:
		return "UTF-8", warnings
	case d.utf8 == 0:
		return "Windows-1252 (assumed)", warnings
	}
	return fmt.Sprintf("UTF-8, Windows-1252 assumed for %d of %d records (first on lines %s)",
		d.western, d.western+d.utf8, joinLines(d.lines)), warnings
}

func joinLines(lines []int64) string {
	var b bytes.Buffer
	for i, l := range lines {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d", l)
	}
	return b.String()
}
