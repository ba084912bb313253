package extract

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// decoded returns the whole of a text file as UTF-8, with the encoding it was in.
func (in *input) decoded(ctx context.Context) (string, Properties, []string, error) {
	raw, err := in.all(ctx, in.limits.Text)
	if err != nil {
		return "", Properties{}, nil, err
	}
	text, name, warnings := decode(raw, "")
	return text, Properties{Encoding: name}, warnings, nil
}

// decode turns text bytes in any common encoding into UTF-8. What a byte-order mark
// says wins, then whether the bytes are valid UTF-8 (other text hardly ever is by
// chance), then what is declared, then what the bytes look like. declared may be empty.
func decode(raw []byte, declared string) (text, name string, warnings []string) {
	if enc, name, skip := byMark(raw); enc != nil {
		return convert(enc, raw[skip:]), name, nil
	} else if skip > 0 {
		raw = raw[skip:]
	}
	if enc, name := byZeros(raw); enc != nil {
		return convert(enc, raw), name, []string{fmt.Sprintf("No byte-order mark; read as %s.", name)}
	}
	if isISO2022JP(raw) {
		return convert(japanese.ISO2022JP, raw), "ISO-2022-JP", nil
	}
	valid := utf8.Valid(raw)
	if valid {
		return string(raw), "UTF-8", contradicted(declared, raw)
	}
	if text, n, total := mostlyUTF8(raw); n > 0 {
		return text, "UTF-8", []string{fmt.Sprintf("%d of %d lines are not valid UTF-8 and were read as windows-1252.", n, total)}
	}
	if enc, label := lookup(declared); enc != nil && label != "utf-8" {
		if text := convert(enc, raw); faults(text)*100 <= utf8.RuneCountInString(text) {
			return text, label, nil
		}
		warnings = append(warnings, fmt.Sprintf("It declares %s, but is not.", label))
	}
	enc, name := guess(raw)
	return convert(enc, raw), name + " (assumed)", warnings
}

// byMark reads a byte-order mark. For UTF-8 there is nothing to convert after it.
func byMark(raw []byte) (encoding.Encoding, string, int) {
	switch {
	case bytes.HasPrefix(raw, []byte{0xef, 0xbb, 0xbf}):
		return nil, "UTF-8", 3
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe, 0, 0}):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "UTF-32LE", 4
	case bytes.HasPrefix(raw, []byte{0, 0, 0xfe, 0xff}):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "UTF-32BE", 4
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "UTF-16LE", 2
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "UTF-16BE", 2
	}
	return nil, "", 0
}

// byZeros finds UTF-16 and UTF-32 without a mark: text has many characters below 256,
// blanks and line ends at least, and so zeros at the same side of its units.
func byZeros(raw []byte) (encoding.Encoding, string) {
	sample := raw[:min(len(raw), 4096)&^3]
	if len(sample) < 8 {
		return nil, ""
	}
	var zeros [4]int
	for i, c := range sample {
		if c == 0 {
			zeros[i&3]++
		}
	}
	units := len(sample) / 4
	most := func(n int) bool { return n*10 >= units*9 }
	some := func(n int) bool { return n*5 >= units }
	few := func(n int) bool { return n*50 <= units }
	switch {
	case most(zeros[0]) && most(zeros[1]) && few(zeros[3]):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "UTF-32BE"
	case most(zeros[2]) && most(zeros[3]) && few(zeros[0]):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "UTF-32LE"
	case some(zeros[1]) && some(zeros[3]) && few(zeros[0]) && few(zeros[2]):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "UTF-16LE"
	case some(zeros[0]) && some(zeros[2]) && few(zeros[1]) && few(zeros[3]):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "UTF-16BE"
	}
	return nil, ""
}

// isISO2022JP looks for the escapes that switch to Japanese and back, in 7-bit text.
func isISO2022JP(raw []byte) bool {
	sample := raw[:min(len(raw), 64<<10)]
	for _, c := range sample {
		if c >= 0x80 {
			return false
		}
	}
	return bytes.Contains(sample, []byte("\x1b$B")) || bytes.Contains(sample, []byte("\x1b$@"))
}

// convert decodes; what the encoding has no character for becomes U+FFFD.
func convert(enc encoding.Encoding, raw []byte) string {
	out, err := enc.NewDecoder().Bytes(raw)
	if err != nil {
		out = append(out, "\ufffd"...) // a character cut off at the end
	}
	return strings.ToValidUTF8(string(out), "\ufffd")
}

func faults(text string) int { return strings.Count(text, "\ufffd") }

// mostlyUTF8 reads text that is UTF-8 but for some bytes: lines that are not valid are
// taken as Windows-1252. A text with more odd bytes than UTF-8 characters is no UTF-8,
// and n is 0.
func mostlyUTF8(raw []byte) (text string, n, total int) {
	good, bad := 0, 0
	for b := raw; len(b) > 0; {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		b = b[size:]
	}
	if good < bad {
		return "", 0, 0
	}
	var b strings.Builder
	for line := range bytes.Lines(raw) {
		total++
		if utf8.Valid(line) {
			b.Write(line)
			continue
		}
		n++
		for len(line) > 0 {
			r, size := utf8.DecodeRune(line)
			if r == utf8.RuneError && size == 1 {
				r = charmap.Windows1252.DecodeByte(line[0])
			}
			b.WriteRune(r)
			line = line[size:]
		}
	}
	return b.String(), n, total
}

// lookup finds an encoding by any of the names of the WHATWG Encoding Standard.
func lookup(label string) (encoding.Encoding, string) {
	label = strings.Trim(strings.ToLower(strings.TrimSpace(label)), `"'`)
	if label == "" {
		return nil, ""
	}
	if enc, err := htmlindex.Get(label); err == nil {
		name, err := htmlindex.Name(enc)
		if err != nil {
			name = label
		}
		if name == "replacement" || name == "x-user-defined" {
			return nil, ""
		}
		return enc, name
	}
	switch label { // names mail and old systems use beside those
	case "cp850", "ibm850", "850":
		return charmap.CodePage850, "cp850"
	case "cp437", "ibm437", "437":
		return charmap.CodePage437, "cp437"
	case "cp1252", "ansi", "iso-8859-1-windows":
		return charmap.Windows1252, "windows-1252"
	case "cp932", "mskanji":
		return japanese.ShiftJIS, "shift_jis"
	}
	return nil, ""
}

// contradicted warns when valid UTF-8 declares to be something else. ASCII is valid in
// nearly every encoding.
func contradicted(declared string, raw []byte) []string {
	enc, label := lookup(declared)
	if enc == nil || label == "utf-8" || plainASCII(string(raw[:min(len(raw), 1<<20)])) {
		return nil
	}
	return []string{fmt.Sprintf("It declares %s, but is UTF-8.", label)}
}
