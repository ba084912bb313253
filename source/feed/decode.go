package feed

import (
	"bytes"
	"fmt"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/sextant-rag/sextant/extract"
)

// Decode returns the text of a feed as UTF-8 and the words of a receipt on which of the
// sources of its encoding won: the byte order mark, the pattern of its first bytes, the
// bytes themselves if they are valid UTF-8, the charset its server named ("" is none), or
// its XML declaration, in this order. A
// declaration that the bytes contradict loses, since publishers change servers and
// editors without it. Bytes that are neither valid UTF-8 nor declared to be anything
// else are taken for Windows-1252 one by one, so that one odd byte spoils nothing else; if
// most of them are, and nothing is declared, the encoding is guessed.
func Decode(raw []byte, served string) (text, won string) {
	if text, won, ok := decodeByMark(raw); ok {
		return text, won
	}
	declared, by := declaredCharset(raw), "declared"
	if e, _ := htmlindex.Get(served); e != nil && served != "utf-8" && served != "us-ascii" {
		declared, by = served, "named by the server"
	}
	named, _ := htmlindex.Get(declared)
	valid := utf8.Valid(raw)
	switch {
	case named != nil && bytes.IndexByte(raw, 0x1b) >= 0 && strings.HasPrefix(declared, "iso-2022-"):
		return decodeAs(named, raw), declared + " (" + by + ")"
	case valid && declared != "" && declared != "utf-8" && !ascii(raw):
		return string(raw), "UTF-8 (found; " + declared + " was declared)"
	case valid:
		return string(raw), "UTF-8"
	case declared == "" && mostlyInvalid(raw):
		guessed, name := extract.GuessEncoding(raw)
		return decodeAs(guessed, raw), name + " (guessed)"
	case named == nil || declared == "utf-8" || strings.HasPrefix(declared, "utf-16"):
		return westernBytes(raw), westernWon(declared)
	}
	return decodeAs(named, raw), declared + " (" + by + ")"
}

// mostlyInvalid reports whether most of what is not ASCII is no UTF-8 either: then it is
// in another encoding, and not UTF-8 with an odd byte.
func mostlyInvalid(raw []byte) bool {
	valid, invalid := 0, 0
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case r == utf8.RuneError && size == 1:
			invalid++
		case size > 1:
			valid++
		}
		raw = raw[size:]
	}
	return invalid > valid
}

func westernWon(declared string) string {
	if declared == "" {
		return "Windows-1252 (assumed)"
	}
	return "Windows-1252 (assumed; " + declared + " was declared)"
}

// marks are the first bytes that settle an encoding: byte order marks, then how "<?" and
// "<r" begin in encodings of two and four bytes (XML 1.0, appendix F) and EBCDIC.
var marks = []struct {
	prefix string
	skip   int
	name   string
	enc    encoding.Encoding
}{
	{"\x00\x00\xfe\xff", 4, "UTF-32", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"\xff\xfe\x00\x00", 4, "UTF-32", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"\xef\xbb\xbf", 3, "UTF-8", nil},
	{"\xfe\xff", 2, "UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	{"\xff\xfe", 2, "UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"\x00\x00\x00<", 0, "UTF-32", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"<\x00\x00\x00", 0, "UTF-32", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"\x00<\x00", 0, "UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	{"<\x00", 0, "UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"\x4c\x6f\xa7\x94", 0, "EBCDIC", charmap.CodePage037},
}

func decodeByMark(raw []byte) (text, won string, ok bool) {
	for _, m := range marks {
		if !bytes.HasPrefix(raw, []byte(m.prefix)) {
			continue
		}
		raw = raw[m.skip:]
		switch {
		case m.enc != nil:
			return decodeAs(m.enc, raw), m.name + " (by its first bytes)", true
		case utf8.Valid(raw):
			return string(raw), "UTF-8", true
		}
		return westernBytes(raw), "UTF-8, Windows-1252 assumed for some bytes", true
	}
	return "", "", false
}

// charsetOf is the charset of a Content-Type in small letters, "" if it names none.
func charsetOf(contentType string) string {
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return strings.ToLower(parameters["charset"])
}

var declaration = regexp.MustCompile(`^[\s\x00]*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']`)

// declaredCharset returns the charset of the XML declaration in small letters.
func declaredCharset(raw []byte) string {
	if m := declaration.FindSubmatch(raw[:min(len(raw), 1024)]); m != nil {
		return strings.ToLower(string(m[1]))
	}
	return ""
}

func ascii(raw []byte) bool {
	for _, b := range raw {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// decodeAs decodes; what the encoding has no character for becomes U+FFFD.
func decodeAs(enc encoding.Encoding, raw []byte) string {
	out, err := enc.NewDecoder().Bytes(raw)
	if err != nil {
		return fmt.Sprintf("%s\uFFFD", out)
	}
	return string(out)
}

// westernBytes keeps valid UTF-8 and decodes every other byte as Windows-1252.
func westernBytes(raw []byte) string {
	var b strings.Builder
	b.Grow(len(raw) + len(raw)/16)
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		if r == utf8.RuneError && size == 1 {
			r = charmap.Windows1252.DecodeByte(raw[0])
		}
		b.WriteRune(r)
		raw = raw[size:]
	}
	return b.String()
}

// modern maps a C1 control character to what Windows-1252 has in its place: a feed that
// holds one was written in that and labelled Latin-1. 0 drops it.
func modern(r rune) rune {
	if r < 0x80 || r > 0x9f {
		return r
	}
	if r = charmap.Windows1252.DecodeByte(byte(r)); r == utf8.RuneError {
		return 0
	}
	return r
}
