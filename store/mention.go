package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
)

// Kinds of part that no document speaks in: what names it and its parts, and sentences
// that repeat its metadata. They are found by their words, and are not mentioned.
const (
	PartHeading = "heading"
	PartRecord  = "record"
)

const (
	zoneTitle lexical.Zone = iota // title, and the headings above a chunk
	zoneOther                     // words in no part, or in one of a kind that is not told apart
	firstZone                     // of partKinds[0]
)

// partKinds are the kinds that a Mentions can be restricted to, in the order of their
// zones: add at the end only.
var partKinds = []string{PartHeading, PartRecord, "narrative", "cause", "paragraph", "page", "table", "section", "item", "code", "slide", "sheet", "rows", "lines", "note",
	"message", "attachment", "cue", "text", "title", "summary", "analysis", "finding", "factor", "recommendation", "facts", "source", "caption", "list", "heading2", "entry"}

func zoneOf(kind string) lexical.Zone {
	if i := slices.Index(partKinds, kind); i >= 0 {
		return firstZone + lexical.Zone(i)
	}
	return zoneOther
}

// ownWords are the zones a document speaks in.
var ownWords = lexical.AllZones &^ lexical.ZonesOf(zoneTitle, zoneOf(PartHeading), zoneOf(PartRecord))

// ErrPart is a Mentions of a kind of part that is not told apart from others.
var ErrPart = fmt.Errorf("texts are not told apart by this kind of part: %w", ErrUnsupported)

// CheckMentions returns ErrPart if a filter is about a kind of part that cannot be
// asked for.
func CheckMentions(f filter.Filter) error {
	switch f := f.(type) {
	case filter.And:
		return checkAll(f)
	case filter.Or:
		return checkAll(f)
	case filter.Not:
		return CheckMentions(f.Filter)
	case filter.Mentions:
		if f.Part != "" && zoneOf(f.Part) == zoneOther {
			return fmt.Errorf("mentions in %q: %w", f.Part, ErrPart)
		}
	}
	return nil
}

func checkAll(fs []filter.Filter) error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = CheckMentions(f)
	}
	return errors.Join(errs...)
}

// Mention is a Mentions as the engine of words takes it: where to look, and for what.
// Expr is nil where any word will do.
func Mention(m filter.Mentions) (lexical.Expr, lexical.Zones) {
	zones := ownWords
	if m.Part != "" {
		zones = lexical.ZonesOf(zoneOf(m.Part))
	}
	switch {
	case len(m.Phrases) == 0:
		return nil, zones
	case len(m.Near) > 0:
		return lexical.Near{A: anyPhrase(m.Phrases), B: anyPhrase(m.Near), Words: m.Within}, zones
	}
	return anyPhrase(m.Phrases), zones
}

func anyPhrase(phrases []string) lexical.Expr {
	out := make(lexical.Any, len(phrases))
	for i, p := range phrases {
		out[i] = lexical.ParsePhrase(p)
	}
	return out
}

// TextFields returns what of a chunk is found by its words, in every store: what it
// says, the headings it stands under, and its document's title, which often names what
// the chunk only calls "the airplane". What it says is divided by the kind of the
// innermost part, and a mention is a match within one such piece of one chunk: chunks
// end where sentences do, and repeat some of what stood before.
//
// Words that abbreviations stand for are found, too, and not mentioned. A sentence that
// ranking passes over stays: its words stand in so many texts that they weigh next to
// nothing, and it can be mentioned.
func TextFields(title string, parts []sextant.Part, c sextant.Chunk) []lexical.Field {
	out := pieces(parts, c)
	if words := expansions(c); words != "" {
		out = append(out, lexical.Field{Text: words, Weight: 1, Zone: zoneTitle})
	}
	return append(out, lexical.Field{Text: c.Heading, Weight: 1, Zone: zoneTitle}, lexical.Field{Text: title, Weight: 1, Zone: zoneTitle})
}

// expansions are the words that a chunk's abbreviations stand for.
func expansions(c sextant.Chunk) string {
	var words []string
	for _, r := range c.Rewrites {
		if r.Text != "" {
			words = append(words, r.Text)
		}
	}
	return strings.Join(words, " ")
}

// pieces cuts a chunk where the kind of the innermost part changes.
func pieces(parts []sextant.Part, c sextant.Chunk) []lexical.Field {
	var inside []sextant.Part
	cuts := []int{c.Start, c.End}
	for _, p := range parts {
		if p.Start < c.End && p.End > c.Start {
			inside = append(inside, p)
			cuts = append(cuts, max(p.Start, c.Start), min(p.End, c.End))
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	d := sextant.Document{Parts: inside}
	var out []lexical.Field
	from := c.Start
	for i, at := range cuts[:len(cuts)-1] {
		zone, next := kindAt(&d, at), cuts[i+1]
		if n := len(out); n > 0 && out[n-1].Zone == zone {
			out[n-1].Text = c.Content[from-c.Start : next-c.Start]
			continue
		}
		from = at
		out = append(out, lexical.Field{Text: c.Content[at-c.Start : next-c.Start], Weight: 1, Zone: zone})
	}
	return out
}

func kindAt(d *sextant.Document, offset int) lexical.Zone {
	p, _ := d.PartAt(offset)
	return zoneOf(p.Kind)
}

// Mentioned reports whether a document satisfies a Mentions, by reading its chunks: what
// every store answers from its index.
func Mentioned(a *lexical.Analyzer, parts []sextant.Part, chunks []sextant.Chunk, m filter.Mentions) bool {
	expr, zones := Mention(m)
	return slices.ContainsFunc(chunks, func(c sextant.Chunk) bool {
		return slices.ContainsFunc(pieces(parts, c), func(f lexical.Field) bool {
			if !zones.Has(f.Zone) {
				return false
			}
			if expr == nil {
				return len(a.Tokens(f.Text)) > 0
			}
			return len(a.Find(expr, f.Text)) > 0
		})
	})
}

// Snippets returns where a document's own words satisfy a Mentions, as byte ranges of
// its text, in order and each once; at most limit of them.
func Snippets(a *lexical.Analyzer, d *sextant.Document, m filter.Mentions, limit int) []lexical.Range {
	expr, zones := Mention(m)
	if expr == nil {
		return nil
	}
	var out []lexical.Range
	at := 0
	for _, f := range pieces(d.Parts, sextant.Chunk{End: len(d.Text), Content: d.Text}) {
		if zones.Has(f.Zone) {
			for _, r := range a.Find(expr, f.Text) {
				if len(out) == limit {
					return out
				}
				out = append(out, lexical.Range{Start: at + r.Start, End: at + r.End})
			}
		}
		at += len(f.Text)
	}
	return out
}
