package extract

import (
	"strings"
	"unicode"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// candidate is a legacy encoding with what its text is mostly made of.
type candidate struct {
	enc    encoding.Encoding
	name   string
	common string // letters that are frequent in its languages; the decoded text is scored by them
	wide   bool   // characters of two bytes
}

// candidates come from the most likely on: of equal scores the first wins. The letters
// are the commonest of each script's languages by published frequency counts.
var candidates = []candidate{
	{charmap.Windows1252, "windows-1252", "éèàçùâêîôûëïüöäßñáíóúãõåæøœÉÀÈÄÖÜÅØÑÇ", false},
	{charmap.Windows1251, "windows-1251", "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфіїєґ", false},
	{charmap.KOI8U, "koi8-u", "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфіїєґ", false},
	{charmap.CodePage866, "ibm866", "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф", false},
	{charmap.ISO8859_5, "iso-8859-5", "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф", false},
	{charmap.Windows1250, "windows-1250", "ąćęłńóśźżáčďéěíňřšťúůýžőűüöäâîăţşđ", false},
	{charmap.ISO8859_2, "iso-8859-2", "ąćęłńóśźżáčďéěíňřšťúůýžőűüöäâîăţşđ", false},
	{charmap.Windows1254, "windows-1254", "ğışçöüİâ", false},
	{charmap.Windows1253, "windows-1253", "αοιετσνηυρπκμλςωόίάήέύώδγχθφβξζψ", false},
	{charmap.Windows1255, "windows-1255", "אבגדהוזחטיכלמנסעפצקרשתםןךףץ", false},
	{charmap.Windows1256, "windows-1256", "ابتثجحخدذرزسشصضطظعغفقكلمنهويةىأإآءئؤپچگ", false},
	{charmap.Windows874, "windows-874", "กขคงจชซญดตถทนบปผพฟมยรลวสหอฮะัาำิีึืุูเแโใไ่้๊๋์็", false},
	{charmap.Macintosh, "macintosh", "éèàçùâêîôûëïüöäßñáíóúãõåæøœÉÄÖÜ", false},
	{charmap.CodePage850, "cp850", "éèàçùâêîôûëïüöäßñáíóúãõåæøÉÄÖÜ", false},
	{japanese.ShiftJIS, "shift_jis", "", true},
	{japanese.EUCJP, "euc-jp", "", true},
	{simplifiedchinese.GB18030, "gb18030", "", true},
	{traditionalchinese.Big5, "big5", "", true},
	{korean.EUCKR, "euc-kr", "", true},
}

// GuessEncoding finds the encoding of bytes that are not valid UTF-8 and that nothing
// declares: the one in which they read most like text, and its name. Western European is
// what it falls back to.
func GuessEncoding(raw []byte) (encoding.Encoding, string) { return guess(raw) }

// guess finds the encoding of bytes that are not valid UTF-8, by decoding a sample with
// every candidate and scoring what comes out.
func guess(raw []byte) (encoding.Encoding, string) {
	sample := highSample(raw, 16<<10)
	best, top := candidates[0], -1e9
	for _, c := range candidates {
		text := convert(c.enc, sample)
		score := narrowScore(text, c.common)
		if c.wide {
			score = wideScore(text, sample, c.name)
		}
		if score > top+1e-9 {
			best, top = c, score
		}
	}
	return best.enc, best.name
}

// highSample collects lines with bytes above ASCII, which are the ones that tell.
func highSample(raw []byte, most int) []byte {
	var out []byte
	for len(raw) > 0 && len(out) < most {
		n := len(raw)
		for i, c := range raw {
			if c == '\n' {
				n = i + 1
				break
			}
		}
		line := raw[:n]
		raw = raw[n:]
		for _, c := range line {
			if c >= 0x80 {
				out = append(out, line[:min(n, most)]...)
				break
			}
		}
	}
	return out
}

// narrowScore judges a decoded text for each of its foreign characters: common letters
// count for it, rare and upper-case ones inside words and symbols next to letters against it.
func narrowScore(text, common string) float64 {
	score, n := 0.0, 0
	before := ' '
	runes := []rune(text)
	for i, r := range runes {
		after := ' '
		if i+1 < len(runes) {
			after = runes[i+1]
		}
		if r >= 0x80 {
			n++
			score += judge(before, r, after, common)
		}
		before = r
	}
	if n == 0 {
		return 0
	}
	return score / float64(n)
}

func judge(before, r, after rune, common string) float64 {
	inWord := unicode.IsLetter(before) || unicode.IsLetter(after)
	switch {
	case r == unicode.ReplacementChar || unicode.IsControl(r):
		return -4
	case unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) && (isASCIILetter(before) || isASCIILetter(after)):
		return -2 // no word is spelt in two scripts
	case unicode.IsLetter(r) || unicode.Is(unicode.M, r):
		known := strings.ContainsRune(common, r)
		if !known {
			known = strings.ContainsRune(common, unicode.ToLower(r))
		}
		switch {
		case unicode.IsUpper(r) && unicode.IsLower(before):
			return -1.5
		case !known:
			return -0.5
		case unicode.IsUpper(r):
			return 0.6
		case !inWord:
			return 0.3
		}
		return 1
	case strings.ContainsRune("’‘“”„–—…•€£§©®°™«»·¿¡ ", r):
		if strings.ContainsRune("’–—·", r) || !(unicode.IsLetter(before) && unicode.IsLetter(after)) {
			return 0.7
		}
		return -0.5
	case unicode.IsLetter(before) && unicode.IsLetter(after):
		return -2
	}
	return -0.3
}

func isASCIILetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }

// wideScore judges text decoded from characters of two bytes: by the kinds of
// characters that its language is mostly written in.
func wideScore(text string, sample []byte, name string) float64 {
	counts := map[string]int{}
	n := 0
	for _, r := range text {
		if r < 0x80 {
			continue
		}
		n++
		counts[wideKind(r)]++
	}
	if n == 0 {
		return -1
	}
	share := func(kind string) float64 { return float64(counts[kind]) / float64(n) }
	bad := 8*share("fault") + 2*share("other") + 1.5*share("half")
	switch name {
	case "shift_jis", "euc-jp":
		if share("kana") < 0.05 && share("han") < 0.9 {
			return -1
		}
		return 1.2*share("kana") + 0.8*share("han") + 0.8*share("mark") - bad - 2*share("hangul")
	case "euc-kr":
		return 1.1*share("hangul") + 0.5*share("mark") - 0.3*share("han") - bad
	case "big5":
		return share("han") + 0.8*share("mark") - 2*rareLead(sample, 0xa4, 0xc6) - bad
	}
	return share("han") + 0.8*share("mark") - 2*rareLead(sample, 0xb0, 0xd7) - bad - 0.5*share("kana")
}

func wideKind(r rune) string {
	switch {
	case r == unicode.ReplacementChar:
		return "fault"
	case 0x3041 <= r && r <= 0x30ff:
		return "kana"
	case 0xff61 <= r && r <= 0xff9f:
		return "half" // half-width kana: what other encodings look like in Shift-JIS
	case 0x4e00 <= r && r <= 0x9fff:
		return "han"
	case 0xac00 <= r && r <= 0xd7a3:
		return "hangul"
	case 0x3000 <= r && r <= 0x303f, 0xff01 <= r && r <= 0xff5e, 0x2010 <= r && r <= 0x2027:
		return "mark"
	}
	return "other"
}

// rareLead is the share of pairs whose first byte lies outside the rows of the common
// characters, of all pairs that can be Chinese characters. Marks are in rows A1 to A3.
func rareLead(sample []byte, from, to byte) float64 {
	pairs, rare := 0, 0
	for i := 0; i+1 < len(sample); i++ {
		c := sample[i]
		if c < 0x81 {
			continue
		}
		i++
		if 0xa1 <= c && c <= 0xa3 {
			continue
		}
		pairs++
		if c < from || c > to {
			rare++
		}
	}
	if pairs == 0 {
		return 0
	}
	return float64(rare) / float64(pairs)
}
