package retrieve

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// identifierPattern is a word of letters and digits, with hyphens and dots inside, or a
// number of parts: "N106US", "ERA12FA001", "737-800", "91.103".
var identifierPattern = regexp.MustCompile(`[\pL\pN]+(?:[-.][\pL\pN]+)*`)

// maxIdentifiers is how many of a query are looked up: each is a search.
const maxIdentifiers = 4

// identifiers returns the words of a query that name one thing: those of at least four
// characters with digits and letters, or with digits on both sides of a dot.
func identifiers(text string) []string {
	var out []string
	for _, word := range identifierPattern.FindAllString(text, -1) {
		if isIdentifier(word) && !slices.Contains(out, word) && len(out) < maxIdentifiers {
			out = append(out, word)
		}
	}
	return out
}

func isIdentifier(word string) bool {
	if utf8.RuneCountInString(word) < 4 || !strings.ContainsFunc(word, unicode.IsDigit) {
		return false
	}
	if before, after, dotted := strings.Cut(word, "."); dotted && isDigits(before) && isDigits(after) {
		return true
	}
	return strings.ContainsFunc(word, unicode.IsLetter) && !isMeasure(word)
}

func isDigits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// isMeasure reports whether a word is a number with an ending: "1970s", "100th", "2000ft".
func isMeasure(word string) bool {
	ending := strings.TrimLeftFunc(word, unicode.IsDigit)
	return len(ending) < len(word) && !strings.ContainsFunc(ending, unicode.IsDigit)
}

// named puts the passages that say an identifier of the query exactly before all others,
// whatever their rank. What ranks by words knows an identifier only as a rare word; one
// who names a thing wants that thing.
func (r *Retriever) named(ctx context.Context, c store.Collection, q Query, ranked []sextant.Passage) ([]sextant.Passage, error) {
	var first []sextant.Passage
	for _, id := range identifiers(q.Text) {
		hits, err := c.SearchLexical(ctx, store.LexicalQuery{Text: id, Filter: q.Filter, Limit: max(q.Limit, 4*mostNamed)})
		if err != nil {
			return nil, err
		}
		first = append(first, naming(c.Spec().Name, id, hits, first)...)
	}
	if len(first) == 0 {
		return ranked, nil
	}
	return ahead(first, ranked, q), nil
}

// mostNamed is how many documents can have a name: what more say is a word like any other,
// such as that of a gene or a type of aircraft.
const mostNamed = 3

// naming returns the hits that say an identifier, if they are of few documents, without
// those that are among the first already.
func naming(collection, id string, hits []store.Hit, first []sextant.Passage) []sextant.Passage {
	var out []sextant.Passage
	documents := map[sextant.DocumentID]bool{}
	for _, h := range hits {
		p := passage(collection, h)
		if !says(&p, id) {
			continue
		}
		documents[p.DocumentID] = true
		if !contains(first, p.ChunkID) {
			p.Reasons = []sextant.Reason{{Kind: "lexical", Score: h.Score, Terms: h.Terms}}
			out = append(out, p)
		}
	}
	if len(documents) > mostNamed {
		return nil
	}
	return out
}

// ahead joins the passages that are named with the others. Those that were ranked keep
// their reasons; their scores rise above all that are not named.
func ahead(first, ranked []sextant.Passage, q Query) []sextant.Passage {
	top := 0.0
	for _, p := range ranked {
		top = max(top, p.Score)
	}
	place := map[string]int{}
	for i, p := range ranked {
		place[p.ChunkID] = i + 1
	}
	slices.SortStableFunc(first, func(a, b sextant.Passage) int { return rankOf(place, a) - rankOf(place, b) })
	perDocument := map[sextant.DocumentID]int{}
	var out []sextant.Passage
	add := func(p sextant.Passage) {
		if perDocument[p.DocumentID]++; q.PerDocument <= 0 || perDocument[p.DocumentID] <= q.PerDocument {
			out = append(out, p)
		}
	}
	for _, p := range first {
		if at := place[p.ChunkID]; at > 0 {
			p.Reasons = ranked[at-1].Reasons
		}
		p.Reasons = append([]sextant.Reason{{Kind: "identifier", Score: 1, Detail: "names what the query names"}}, p.Reasons...)
		p.Score = top + 1
		add(p)
	}
	for _, p := range ranked {
		if !contains(first, p.ChunkID) {
			add(p)
		}
	}
	return out
}

// rankOf is a passage's place in the ranking; those without one come last, in their order.
func rankOf(place map[string]int, p sextant.Passage) int {
	if at := place[p.ChunkID]; at > 0 {
		return at
	}
	return len(place) + 1
}

func contains(ps []sextant.Passage, id string) bool {
	return slices.ContainsFunc(ps, func(p sextant.Passage) bool { return p.ChunkID == id })
}

// says reports whether a passage or its titles hold an identifier, as a whole word in any
// case.
func says(p *sextant.Passage, id string) bool {
	for _, text := range []string{p.Content, p.Title, p.Heading, string(p.DocumentID)} {
		if hasWord(strings.ToLower(text), strings.ToLower(id)) {
			return true
		}
	}
	return false
}

// hasWord reports whether word stands in text with no letter or digit beside it, nor a
// dot or hyphen that goes on with one.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start := from + i
		end := start + len(word)
		if !joins(text[:start], true) && !joins(text[end:], false) {
			return true
		}
		from = start + 1
	}
}

// joins reports whether a text goes on into a word at its end (before) or its beginning.
func joins(text string, before bool) bool {
	next := utf8.DecodeRuneInString
	if before {
		next = utf8.DecodeLastRuneInString
	}
	r, n := next(text)
	if n == 0 {
		return false
	}
	if r == '.' || r == '-' {
		if before {
			r, n = next(text[:len(text)-n])
		} else {
			r, n = next(text[n:])
		}
	}
	return n > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
