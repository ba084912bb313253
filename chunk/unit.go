package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is what is not cut any further: a sentence, a row, a run of words of a sentence
// too long for a chunk.
type unit struct {
	start, end int
	size       int
	paragraph  int    // at the first unit of a paragraph its size, else 0
	sentence   bool   // may be repeated as overlap
	heading    bool   // goes with the unit after it
	context    string // what must be said above it
}

// units cuts the blocks of a section.
func (s section) units(text string, opt *Options) []unit {
	var out []unit
	for _, b := range s.blocks {
		switch {
		case b.kind == kindHeading:
			out = appendText(out, text, b.start, b.end, opt)
			out[len(out)-1].heading = true
		case b.kind == kindTable || b.kind == kindCode:
			out = appendLines(out, text, b, opt)
		default:
			for start := b.start; start < b.end; {
				end := start + paragraphLength(text[start:b.end])
				out = appendText(out, text, start, end, opt)
				start = end
			}
		}
	}
	return out
}

// paragraphLength is the length of the first paragraph, the blank lines after it
// included.
func paragraphLength(text string) int {
	i := strings.Index(text, "\n\n")
	if i < 0 {
		return len(text)
	}
	return len(text) - len(strings.TrimLeftFunc(text[i:], unicode.IsSpace))
}

// appendText cuts a paragraph into sentences, and sentences too long into pieces.
func appendText(out []unit, text string, start, end int, opt *Options) []unit {
	first := len(out)
	total := 0
	for _, s := range Sentences(text[start:end]) {
		u := unit{start: start + s.Start, end: start + s.End, sentence: true}
		if u.size = opt.size(text[u.start:u.end]); u.size > opt.Tokens {
			out = appendWords(out, text, u.start, u.end, opt)
		} else {
			out = append(out, u)
		}
	}
	for _, u := range out[first:] {
		total += u.size
	}
	if len(out) > first {
		out[first].paragraph = total
	}
	return out
}

// appendWords cuts at white space into pieces of a quarter chunk, so that packing can
// fill chunks with them.
func appendWords(out []unit, text string, start, end int, opt *Options) []unit {
	limit := max(opt.Tokens/4, 1)
	u := unit{start: start, end: start}
	flush := func(next int) {
		if u.end > u.start {
			out = append(out, u)
		}
		u = unit{start: next, end: next}
	}
	for at := start; at < end; {
		word := at + wordLength(text[at:end])
		size := opt.size(text[at:word])
		if u.size+size > limit {
			flush(at)
		}
		if size > limit {
			out = appendClusters(out, text, at, word, opt)
			u = unit{start: word, end: word}
		} else {
			u.end = word
			u.size += size
		}
		at = word
	}
	flush(end)
	return out
}

// wordLength is the length of the white space at the start of text and the word after
// it. In scripts without spaces between words each character is one.
func wordLength(text string) int {
	i := 0
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsSpace(r) {
			break
		}
		i += size
	}
	for begin := i; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			break
		}
		if unspaced(r) {
			if i == begin {
				i += clusterLength(text[i:])
			}
			break
		}
		i += size
	}
	return i
}

// unspaced reports whether a character belongs to a script written without spaces.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// appendClusters cuts a run without white space between characters, into pieces of a
// quarter chunk by bytes: no tokenizer makes more tokens than there are bytes.
func appendClusters(out []unit, text string, start, end int, opt *Options) []unit {
	whole := opt.size(text[start:end])
	per := max((end-start)*(opt.Tokens/4)/max(whole, 1), 1)
	for at := start; at < end; {
		piece := at
		for piece < end && (piece == at || piece-at < per) {
			n := clusterLength(text[piece:end])
			if piece > at && piece-at+n > per {
				break
			}
			piece += n
		}
		share := ((piece-at)*whole + end - start - 1) / (end - start) // a piece alone may look smaller
		out = append(out, unit{start: at, end: piece, size: max(opt.size(text[at:piece]), share)})
		at = piece
	}
	return out
}

// maxCluster bounds what is taken for one character, in bytes: combining marks can be
// piled up without end.
const maxCluster = 64

// clusterLength is the length of the first character as people see it: a letter with
// its combining marks, a flag of two letters, emoji joined to a family. It is the part
// of Unicode's grapheme clusters (UAX 29) that matters where text is cut.
func clusterLength(text string) int {
	r, i := utf8.DecodeRuneInString(text)
	if regional(r) {
		if next, size := utf8.DecodeRuneInString(text[i:]); regional(next) {
			i += size
		}
	}
	for i < len(text) && i < maxCluster {
		next, size := utf8.DecodeRuneInString(text[i:])
		const joiner = '\u200d'
		switch {
		case next == joiner:
			i += size
			if i < len(text) {
				_, joined := utf8.DecodeRuneInString(text[i:])
				i += joined
			}
		case unicode.Is(unicode.M, next), next >= 0x1f3fb && next <= 0x1f3ff: // marks, skin tones
			i += size
		default:
			return i
		}
	}
	return i
}

func regional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// appendLines cuts a table or code. One that fits a chunk is a single unit; of a
// longer one each line is, under its caption and, for tables, its header. A line is cut
// only if it is longer than a chunk by itself.
func appendLines(out []unit, text string, b block, opt *Options) []unit {
	whole := text[b.start:b.end]
	if size := opt.size(whole); size <= opt.Tokens {
		return append(out, unit{start: b.start, end: b.end, size: size, paragraph: size})
	}
	context := b.locator
	if header := tableHeader(whole); b.kind == kindTable && header != "" {
		context = joinPath(nonEmpty(b.locator), oneLine(header))
	}
	if context == "" {
		context = b.kind
	}
	at := b.start
	for line := range strings.Lines(whole) {
		first := len(out)
		if size := opt.size(line); size <= opt.Tokens {
			out = append(out, unit{start: at, end: at + len(line), size: size})
		} else {
			out = appendWords(out, text, at, at+len(line), opt)
		}
		for i := range out[first:] {
			out[first+i].context = context
		}
		at += len(line)
	}
	return out
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// tableHeader is what stands above a rule of dashes (Markdown), else the first line.
func tableHeader(table string) string {
	var header []string
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if len(header) > 0 && strings.Trim(line, "|-: +=") == "" {
			return strings.Join(header, " / ")
		}
		if header = append(header, line); len(header) > 4 {
			break
		}
	}
	return header[0]
}
