package aviation

import (
	"regexp"
	"slices"
	"strings"
)

// Levels of paragraphs in the Code: (a), (1), (i), (A), and below them (1) and (i)
// printed in italics (1 CFR 21.11 and the Federal Register's Document Drafting
// Handbook).
const (
	levelLetter = iota
	levelNumber
	levelRoman
	levelCapital
	levelItalicNumber
	levelItalicRoman
	levels
)

// label is what stands in parentheses before a paragraph.
type label struct {
	text   string // "a", "12", "iv"
	last   string // the end of a range: "d" in "(b)-(d) [Reserved]"
	italic bool
}

func (l label) end() string {
	if l.last != "" {
		return l.last
	}
	return l.text
}

func (l label) String() string {
	if l.last != "" {
		return "(" + l.text + ")-(" + l.last + ")"
	}
	return "(" + l.text + ")"
}

// outline resolves labels in the order of the text. A letter that is also a Roman
// numeral is settled by what it continues and by what follows it.
type outline struct {
	at [levels]string // the last label of each level on the current path
}

// path enters a label and returns the path to it: "(b)(1)(i)". The labels after it,
// in the order of the text, may be any number.
func (o *outline) path(l label, following []label) string {
	level := o.level(l, following)
	for deeper := level; deeper < levels; deeper++ {
		o.at[deeper] = ""
	}
	var b strings.Builder
	for above := range level {
		if o.at[above] != "" {
			b.WriteString("(" + o.at[above] + ")")
		}
	}
	o.at[level] = l.end()
	return b.String() + l.String()
}

func (o *outline) level(l label, following []label) int {
	c := l.text[0]
	switch {
	case c >= '0' && c <= '9' && l.italic && o.at[levelCapital] != "":
		return levelItalicNumber
	case c >= '0' && c <= '9':
		return levelNumber
	case c >= 'A' && c <= 'Z':
		return levelCapital
	case fromRoman(l.text) == 0:
		return levelLetter
	case l.italic && o.at[levelItalicNumber] != "":
		return levelItalicRoman
	}
	letter, roman := follows(o.at[levelLetter], l.text), o.continuesRoman(l.text)
	switch {
	case letter && roman:
		return o.ambiguous(l, following)
	case letter:
		return levelLetter
	case roman || len(l.text) > 1:
		return levelRoman
	case l.text == "i" && o.at[levelLetter] != "":
		return levelRoman
	}
	return levelLetter
}

func (o *outline) continuesRoman(text string) bool {
	n := fromRoman(text)
	if o.at[levelRoman] == "" {
		return n == 1 && o.at[levelNumber] != ""
	}
	return fromRoman(o.at[levelRoman])+1 == n
}

// ambiguous settles a label that continues both the letters and the numerals: (i)
// after (h)(2), (v) after (u)(1)(iv). What comes next tells.
func (o *outline) ambiguous(l label, following []label) int {
	for _, next := range following {
		switch n := next.text; {
		case fromRoman(n) == fromRoman(l.text)+1 && len(n) > 1, n[0] >= 'A' && n[0] <= 'Z':
			return levelRoman
		case follows(l.text, n), n == "1" && !next.italic:
			return levelLetter
		case n[0] >= '0' && n[0] <= '9' && !next.italic:
			return levelRoman // (3) after (h)(2)(i) goes on above it
		}
	}
	return levelRoman
}

// follows reports whether a letter label comes next: a at the start, b after a, aa
// after z, bb after aa. Labels left out, as reserved ones are, are none that follow.
func follows(before, text string) bool {
	switch {
	case before == "":
		return text == "a"
	case strings.Trim(text, text[:1]) != "" || strings.Trim(before, before[:1]) != "":
		return false
	case before[0] == 'z':
		return text[0] == 'a' && len(text) == len(before)+1
	}
	return text[0] == before[0]+1 && len(text) == len(before)
}

var romanDigits = map[byte]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100}

// fromRoman is the value of a Roman numeral in small letters, written as usual, below
// 400; 0 if it is none.
func fromRoman(s string) int {
	total := 0
	for i := range len(s) {
		d := romanDigits[s[i]]
		if d == 0 {
			return 0
		}
		if i+1 < len(s) && romanDigits[s[i+1]] > d {
			total -= d
		} else {
			total += d
		}
	}
	if total <= 0 || toRoman(total) != s {
		return 0
	}
	return total
}

func toRoman(n int) string {
	var b strings.Builder
	for _, d := range []struct {
		value int
		text  string
	}{{100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}} {
		for ; n >= d.value; n -= d.value {
			b.WriteString(d.text)
		}
	}
	return b.String()
}

var labelStart = regexp.MustCompile(`^\s*\(\s?([a-z]{1,5}|[A-Z]{1,2}|[0-9]{1,3})\s?\)(?:\s*(?:-|–|—|through|and)\s*\(([a-z]{1,5}|[A-Z]{1,2}|[0-9]{1,3})\))?`)

// placed is a label with the byte of the line where its paragraph begins.
type placed struct {
	label
	at  int
	end int // of the label
}

// labelsOf returns the labels a line begins with. After one, a heading in italics may
// stand before the next: "(b) Takeoff speeds. (1) The decision speed".
func labelsOf(l line) []placed {
	var out []placed
	at := 0
	for {
		m := labelStart.FindStringSubmatchIndex(l.text[at:])
		if m == nil || !isLabel(l.text[at+m[2]:at+m[3]]) {
			return out
		}
		p := placed{label: label{text: l.text[at+m[2] : at+m[3]], italic: l.isItalic(at+m[2], at+m[3])}, at: at + strings.IndexByte(l.text[at:], '(')}
		end := m[3] + strings.IndexByte(l.text[at+m[3]:], ')') + 1
		if m[4] >= 0 && strings.Contains(l.text, "[Reserved]") {
			p.last, end = l.text[at+m[4]:at+m[5]], m[1]
		}
		at += end
		p.end = at
		out = append(out, p)
		at = l.afterItalic(at)
	}
}

// isLabel tells a label from a word in parentheses: (a), (aa), (iv), but not (see).
func isLabel(s string) bool {
	return len(s) == 1 || s[0] <= '9' || strings.Trim(s, s[:1]) == "" || fromRoman(s) > 0
}

// afterItalic is the end of what stands in italics at an offset, or the offset.
func (l line) afterItalic(at int) int {
	start := at + len(l.text[at:]) - len(strings.TrimLeft(l.text[at:], " "))
	i := slices.IndexFunc(l.italic, func(s span) bool { return s.from == start })
	if i < 0 || strings.HasPrefix(l.text[start:], "(") {
		return at
	}
	end := l.italic[i].to
	return end + len(l.text[end:]) - len(strings.TrimLeft(l.text[end:], " —."))
}

func (l line) isItalic(from, to int) bool {
	return slices.ContainsFunc(l.italic, func(s span) bool { return s.from <= from && to <= s.to })
}
