package check

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sextant-rag/sextant"
)

// code is something that is named by letters and digits: a registration, a case, a model,
// a runway, a section of law. Two codes are the same only if all of it is.
type code struct {
	name    string // capitals, without hyphens and blanks: N123AB
	written string
	section bool   // of law
	places  string // of a section: its paragraphs, "(a)(1)"
}

// readCodes finds the identifiers and takes their tokens.
func (r *reading) readCodes() {
	for i := 0; i < len(r.tokens); i++ {
		if r.tokens[i].taken {
			continue
		}
		n, c := r.section(i)
		if n == 0 {
			n, c = r.mixed(i)
		}
		if n > 0 {
			r.codes = append(r.codes, c)
			r.take(i, n)
			i += n - 1
		}
	}
}

// section reads "§ 91.151(a)(1)", "section 91.151 (a)", "91.151(a)", "14 CFR part 91" from
// the number on; i is the first token of what makes it one.
func (r *reading) section(i int) (n int, c code) {
	at, marked := r.skip(i, "§", "section", "sections", "sec", ".", "cfr", "part", "parts", "far"), false
	marked = at > i
	t := r.at(at)
	if lower := r.at(i).lower; at == i && (lower == "paragraph" || lower == "subparagraph") {
		if places, end := r.paragraphs(i + 1); places != "" {
			return end - i, code{written: "paragraph " + places, section: true, places: places}
		}
	}
	if t.kind != number || strings.Contains(t.text, ",") {
		return 0, c
	}
	if !marked && i > 0 && r.at(i+1).lower == "cfr" { // the 14 of 14 CFR says nothing by itself
		return 0, c
	}
	places, end := r.paragraphs(at + 1)
	pointed := strings.Contains(t.text, ".")
	if !marked && (!pointed || places == "" || !r.at(at+1).glued) {
		return 0, c
	}
	if marked && !pointed && r.at(i).lower == "." {
		return 0, c
	}
	return end - i, code{name: t.text, written: strings.TrimSpace(t.text + places), section: true, places: places}
}

// paragraphs reads "(a)(1)(ii)" from token i: what it says and where it ends.
func (r *reading) paragraphs(i int) (string, int) {
	var out strings.Builder
	for r.at(i).text == "(" && r.at(i+2).text == ")" && r.at(i+1).glued && len(r.at(i+1).text) <= 4 && (out.Len() == 0 || r.at(i).glued) {
		if t := r.at(i + 1); t.kind == word && len(t.text) > 2 && strings.Trim(t.lower, "ivx") != "" {
			break // a word in brackets
		}
		out.WriteString("(" + r.at(i+1).lower + ")")
		i += 3
	}
	return out.String(), i
}

// mixed reads letters and digits without a blank between them, as in N123AB, PA-28-161 and
// 27L. A number with a unit or the ending of an ordinal is none.
func (r *reading) mixed(i int) (n int, c code) {
	if !r.at(i + 1).glued {
		return 0, c // one token alone is letters or digits
	}
	end, digits, letters := i, false, false
	for ; end == i || r.at(end).glued && end < len(r.tokens); end++ {
		t := r.at(end)
		switch {
		case t.kind == number:
			digits = true
		case t.kind == word && codeLetters(t, end == i):
			letters = true
		case t.text == "-" && end > i && r.at(end+1).glued && joins(r.at(end-1), r.at(end+1)):
			continue
		default:
			goto done
		}
	}
done:
	if !digits || !letters {
		return 0, c
	}
	first, second := r.at(i), r.at(i+1)
	if first.kind == number && second.kind == word && end == i+2 && (unitOf(second.lower) != "" || ordinalEnding[second.lower] || len(second.lower) > 2) {
		return 0, c
	}
	var name, written strings.Builder
	for _, t := range r.tokens[i:end] {
		text := strings.TrimSuffix(t.text, "'s")
		written.WriteString(text)
		if text != "-" {
			name.WriteString(strings.ToUpper(text))
		}
	}
	return end - i, code{name: name.String(), written: written.String()}
}

// codeLetters reports whether letters can belong to a code: few, or capitals.
func codeLetters(t *token, first bool) bool {
	if first && notInCodes[t.lower] {
		return false
	}
	text := strings.TrimSuffix(t.text, "'s")
	return len(text) <= 3 || capitals(text)
}

// joins reports whether a hyphen between two tokens can belong to a code: capitals before
// digits (PA-28), or a part of one already.
func joins(before, after *token) bool {
	switch {
	case before.kind == word && after.kind == number:
		return len(before.text) <= 3 || capitals(before.text)
	case before.kind == number && after.kind == word:
		return after.upper && len(after.text) <= 4 && capitals(after.text)
	}
	return before.kind == number && after.kind == number && before.glued
}

// capitals reports whether a text has no letter in lower case.
func capitals(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			return strings.ToUpper(text) == text
		case c >= 'a' && c <= 'z':
			return false
		}
	}
	return true
}

var notInCodes = setOf("mid", "pre", "non", "sub", "post", "the", "a", "an", "of", "to", "at", "in", "on", "and", "or", "for", "by", "no")

var ordinalEnding = setOf("st", "nd", "rd", "th", "s")

func setOf(words ...string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}

// identifierFault names the first identifier of a statement that its evidence lacks.
func identifierFault(said, have *reading) *fault {
	for _, c := range said.codes {
		if slices.ContainsFunc(have.codes, c.in) || have.spells(c) {
			continue
		}
		if c.section {
			return faulty(sextant.FaultSection, "section %s stands in none of its quotes", c.written)
		}
		return faulty(sextant.FaultIdentifier, "%q stands in none of its quotes", c.written)
	}
	return nil
}

// in reports whether another code says as much as c: a paragraph says its section too, and
// a section its part.
func (c code) in(have code) bool {
	if c.name == have.name {
		return c.places == "" || strings.HasPrefix(have.places, c.places)
	}
	part, _, ok := strings.Cut(have.name, ".")
	return c.section && ok && part == c.name && c.places == ""
}

// spells reports whether the characters of a code stand in a text in a row, as in "N 123 AB",
// or the paragraphs of a section apart from its number, as where a locator names them.
func (r *reading) spells(c code) bool {
	if c.section && c.name == "" {
		return strings.Contains(strings.ReplaceAll(strings.ToLower(r.text), " ", ""), c.places)
	}
	if c.section {
		number := slices.ContainsFunc(r.codes, func(have code) bool { return have.name == c.name }) ||
			slices.ContainsFunc(r.tokens, func(t token) bool { return t.kind == number && t.text == c.name })
		return number && (c.places == "" || strings.Contains(strings.ReplaceAll(strings.ToLower(r.text), " ", ""), c.places))
	}
	for i := range r.tokens {
		rest := c.name
		for k := i; k < len(r.tokens) && rest != ""; k++ {
			if r.tokens[k].text == "-" {
				continue
			}
			var ok bool
			if rest, ok = strings.CutPrefix(rest, strings.ToUpper(r.tokens[k].text)); !ok {
				break
			}
			if rest == "" {
				return true
			}
		}
	}
	return false
}
