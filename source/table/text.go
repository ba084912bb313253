package table

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/sextant-rag/sextant/source"
)

// textEncoding is how the bytes of a file become UTF-8. The zero textEncoding leaves
// them to decoder, which takes what is not UTF-8 for Windows-1252. Positions in a file
// with another one count the bytes of its UTF-8 form.
type textEncoding struct {
	name string
	enc  encoding.Encoding
}

// namedEncoding returns the encoding that the WHATWG standard calls by name.
func namedEncoding(name string) (textEncoding, error) {
	enc, err := htmlindex.Get(name)
	if err != nil {
		return textEncoding{}, fmt.Errorf("%w: %q is not the name of one (utf-16, shift_jis, gb18030, windows-1251, ...)", ErrEncoding, name)
	}
	if canonical, err := htmlindex.Name(enc); err == nil {
		name = canonical
	}
	if name == "utf-8" {
		return textEncoding{}, nil
	}
	return textEncoding{name, enc}, nil
}

// open returns the text of a blob.
func (t textEncoding) open(blob source.Blob, consumed *atomic.Int64) (io.ReadCloser, error) {
	in, err := blob.Stream(consumed)
	if err != nil || t.enc == nil {
		return in, err
	}
	return struct {
		io.Reader
		io.Closer
	}{transform.NewReader(in, t.enc.NewDecoder()), in}, nil
}

// resume opens a blob and passes over what was read before.
func (t textEncoding) resume(blob source.Blob, consumed *atomic.Int64, after source.Position) (io.ReadCloser, error) {
	in, err := t.open(blob, consumed)
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, in, after.Offset); err != nil {
		_ = in.Close()
		return nil, fmt.Errorf("resume %s at byte %d: %w", blob.Name, after.Offset, err)
	}
	return in, nil
}

// sniffed is how much of a file is looked at to tell its encoding.
const sniffed = 256 << 10

// telling is how many bytes above ASCII it takes to say that they are not Western European.
const telling = 32

// sniff tells the encoding of a file by its beginning: UTF-16 by its mark or its zeros,
// Cyrillic by its runs of letters above ASCII. Text of another script in a legacy
// encoding is ErrEncoding: to guess would be to store what nobody wrote.
func sniff(blob source.Blob) (textEncoding, error) {
	in, err := blob.Stream(nil)
	if err != nil {
		return textEncoding{}, err
	}
	defer func() { _ = in.Close() }()
	head, err := io.ReadAll(io.LimitReader(in, sniffed))
	if err != nil && !ended(err) {
		return textEncoding{}, fmt.Errorf("read %s: %w", blob.Name, err)
	}
	t, err := tellEncoding(head)
	if err != nil {
		return t, fmt.Errorf("read %s: %w", blob.Name, err)
	}
	return t, nil
}

func tellEncoding(head []byte) (textEncoding, error) {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), zeros(head, 1):
		return textEncoding{"UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)}, nil
	case bytes.HasPrefix(head, []byte("\xfe\xff")), zeros(head, 0):
		return textEncoding{"UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)}, nil
	}
	high, inRuns, all := highRuns(head)
	if utf8.Valid(trimRune(head)) || high < telling || inRuns*2 < high && high*5 < all {
		return textEncoding{}, nil // single letters with accents among ASCII, line by line
	}
	best, most := textEncoding{}, 0.0
	for _, c := range []textEncoding{{"windows-1251 (assumed)", charmap.Windows1251}, {"koi8-r (assumed)", charmap.KOI8R}, {"ibm866 (assumed)", charmap.CodePage866}} {
		if share := russian(head, c.enc); share > most {
			best, most = c, share
		}
	}
	if most < 0.5 {
		return textEncoding{}, fmt.Errorf("%w: it is neither UTF-8 nor Western European; name it with --encoding", ErrEncoding)
	}
	return best, nil
}

// zeros reports whether nearly every byte at odd or even places is zero, as in UTF-16.
func zeros(head []byte, place int) bool {
	n, zero, other := len(head)/2, 0, 0
	for i := range n {
		if head[2*i+place] == 0 {
			zero++
		}
		if head[2*i+1-place] == 0 {
			other++
		}
	}
	return n >= 8 && zero*10 > n*7 && other*10 < n
}

// trimRune drops a character that is cut off at the end.
func trimRune(b []byte) []byte {
	for i := 1; i <= 3 && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// highRuns counts bytes above ASCII, those of them that stand four or more together, and
// all bytes. Lines that are valid UTF-8 are left out: they are read as that.
func highRuns(head []byte) (high, inRuns, all int) {
	for line := range bytes.SplitSeq(head, []byte{'\n'}) {
		if utf8.Valid(line) {
			continue
		}
		run := 0
		all += len(line)
		for i := 0; i <= len(line); i++ {
			if i < len(line) && line[i] >= 0x80 {
				high++
				run++
				continue
			}
			if run >= 4 {
				inRuns += run
			}
			run = 0
		}
	}
	return high, inRuns, all
}

// commonest are the six commonest letters of Russian, two fifths of any text.
var commonest = []rune("оеаинт")

// russian is the share of the letters above ASCII that are the commonest six, times two,
// so that Russian text has about 1 and the same bytes read in another code page far less.
func russian(head []byte, enc encoding.Encoding) float64 {
	text, err := enc.NewDecoder().Bytes(head)
	if err != nil {
		return 0
	}
	letters, common := 0, 0
	for _, r := range string(text) {
		if r < 0x80 {
			continue
		}
		letters++
		if slices.Contains(commonest, r) {
			common++
		}
	}
	return 2 * float64(common) / float64(max(letters, 1))
}
