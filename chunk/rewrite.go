package chunk

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// Glossary is what abbreviations stand for, by their spelling in capitals. They are looked
// for in text in capitals only: what "FT" is in other text, nobody can say.
type Glossary map[string]string

// stretch is how many words in a row are in capitals where the text is.
const stretch = 5

// rewrites finds the abbreviations of a text.
func (g Glossary) rewrites(text string) (out []sextant.Rewrite) {
	if len(g) == 0 || !shouts(text) {
		return nil
	}
	words := capitalWords(text)
	for from := 0; from < len(words); {
		to := from
		for to < len(words) && words[to].capitals {
			to++
		}
		if to-from >= stretch {
			for _, w := range words[from:to] {
				if full, known := g[w.text]; known {
					out = append(out, sextant.Rewrite{Start: w.start, End: w.end, Text: full})
				}
			}
		}
		from = to + 1
	}
	return out
}

// shouts reports whether a text has a stretch of capitals worth looking at.
func shouts(text string) bool {
	upper, lower := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		}
	}
	return upper > 20 && upper*3 > lower
}

// word is a run of letters, with / ' and & inside it.
type word struct {
	text       string
	start, end int
	capitals   bool
}

func capitalWords(text string) (out []word) {
	for i := 0; i < len(text); {
		if !letterByte(text[i]) {
			i++
			continue
		}
		w := word{start: i, capitals: true}
		for i < len(text) && (letterByte(text[i]) || strings.IndexByte("/'&", text[i]) >= 0 && i+1 < len(text) && letterByte(text[i+1])) {
			w.capitals = w.capitals && (text[i] < 'a' || text[i] > 'z')
			i++
		}
		w.text, w.end = text[w.start:i], i
		out = append(out, w)
	}
	return out
}

func letterByte(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80 }

// rewrite says how a chunk's content is read where it is ranked: quiet are the ranges of the
// document that open many others.
func (o *Options) rewrite(c *sextant.Chunk, quiet []Span) {
	left := len(strings.TrimSpace(c.Content))
	for _, q := range quiet {
		start, end := max(q.Start, c.Start), min(q.End, c.End)
		if start < end {
			c.Rewrites = append(c.Rewrites, sextant.Rewrite{Start: start - c.Start, End: end - c.Start})
			left -= end - start
		}
	}
	if left <= 0 { // what says nothing else is found by what it says
		c.Rewrites = nil
	}
	for _, r := range o.Glossary.rewrites(c.Content) {
		if !slices.ContainsFunc(c.Rewrites, func(q sextant.Rewrite) bool { return r.Start < q.End && q.Start < r.End }) {
			c.Rewrites = append(c.Rewrites, r)
		}
	}
	slices.SortFunc(c.Rewrites, func(a, b sextant.Rewrite) int { return a.Start - b.Start })
}
