// Package check lets through only what the quotes support. It reads a finding and the
// words it quotes into facts that can be compared: numbers with their units and bounds,
// dates, identifiers, names, what is denied, what is more and what is less, what caused
// what. A finding that says a thing its quotes do not say is removed and counted, never
// softened.
//
// The rules compare text with text and ask no model. They know English and no subject: an
// aircraft and an invoice are the same to them. What they cannot decide, whether one
// wording follows from a quite different one, a second opinion may: see [Opinion].
package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// A Checker checks findings. Its zero value knows no document, so it removes all of them.
type Checker struct {
	// Document gives what may be quoted.
	Document func(sextant.DocumentID) (sextant.Document, bool)
	// Others are documents in which a quote that does not stand where it should is looked
	// for, so that a wrong citation is told from an invented one.
	Others []sextant.DocumentID
	// Computed are figures that findings may state without a quote.
	Computed []sextant.Computed
	// Opinion is asked about findings that the rules leave in doubt; nil: the rules decide.
	Opinion Opinion
}

// Result is what became of findings.
type Result struct {
	Kept     []sextant.Finding // in order, their quotes where they stand, in the document's own words
	Removed  []sextant.Removed // in order
	Unasked  error             // why the opinion could not be had, nil if it was or none was needed
	Opinions int               // how many findings it was asked about
}

// Findings checks findings by the rules alone against the documents they quote.
func Findings(findings []sextant.Finding, document func(sextant.DocumentID) (sextant.Document, bool)) (kept []sextant.Finding, removed []sextant.Removed) {
	r := Checker{Document: document}.Findings(context.Background(), findings)
	return r.Kept, r.Removed
}

// Findings checks each finding. Quotes may come without a place or with a wrong one, as a
// model gives them: those that stand in their document get the right one.
func (c Checker) Findings(ctx context.Context, findings []sextant.Finding) Result {
	var out Result
	for _, f := range findings {
		for _, q := range f.Quotes {
			if !slices.Contains(c.Others, q.DocumentID) {
				c.Others = append(slices.Clip(c.Others), q.DocumentID)
			}
		}
	}
	for _, f := range findings {
		if fault := c.finding(ctx, &f, &out); fault != nil {
			out.Removed = append(out.Removed, sextant.Removed{Text: f.Text, Fault: fault.kind, Reason: fault.reason})
			continue
		}
		out.Kept = append(out.Kept, f)
	}
	return out
}

// finding returns what is wrong with a finding, nil if it holds, and puts its quotes right.
func (c Checker) finding(ctx context.Context, f *sextant.Finding, out *Result) *fault {
	if strings.TrimSpace(f.Text) == "" {
		return faulty(sextant.FaultUnsupported, "it says nothing")
	}
	if len(f.Quotes) == 0 && len(c.Computed) == 0 {
		return faulty(sextant.FaultNoQuote, "it quotes nothing")
	}
	var quotes []sextant.Quote
	for _, q := range f.Quotes {
		placed, fault := c.place(q)
		if fault != nil {
			return fault
		}
		quotes = append(quotes, placed...)
	}
	f.Quotes = quotes
	if len(quotes) == 0 {
		return figureFault(f.Text, c.Computed)
	}
	if verbatim(f.Text, quotes) {
		return nil
	}
	said, have := read(f.Text), read(evidence(quotes))
	have.documents = c.documents(quotes)
	if fault := compare(said, have); fault != nil {
		return fault
	}
	if fault := c.judge(ctx, said, have, quotes, out); fault != nil {
		return fault
	}
	return thingFault(said, have)
}

// verbatim reports whether a statement is one of its quotes.
func verbatim(text string, quotes []sextant.Quote) bool {
	return slices.ContainsFunc(quotes, func(q sextant.Quote) bool { return q.Text == text })
}

// titles is the mark behind which evidence has titles and places.
const titles = "\x1e"

// evidence is all that quotes say: their words, and what their documents and places are
// called, which may hold a date or a number that the words take for granted.
func evidence(quotes []sextant.Quote) string {
	var b strings.Builder
	for _, q := range quotes {
		b.WriteString(q.Text + "\n\n")
	}
	b.WriteString(titles)
	for i, q := range quotes {
		if i == 0 || q.Title != quotes[i-1].Title || q.Locator != quotes[i-1].Locator {
			b.WriteString(q.Title + "\n\n" + q.Locator + "\n\n")
		}
	}
	return b.String()
}

// documents returns the texts that quotes stand in.
func (c Checker) documents(quotes []sextant.Quote) []string {
	var out []string
	for i, q := range quotes {
		if d, ok := c.document(q.DocumentID); ok && (i == 0 || q.DocumentID != quotes[i-1].DocumentID) {
			out = append(out, d.Text)
		}
	}
	return out
}

// compare looks for the first fact of a statement that its evidence does not say. The most
// exact come first: a number is wrong for certain where a word may be another word's other
// name.
func compare(said, have *reading) *fault {
	for _, rule := range []func(said, have *reading) *fault{identifierFault, dateFault, quantityFault, nameFault, exchangedNumbers, contrastFault, negationFault, causeFault, relationFault, degreeFault, roleFault, exchangedNames, wordFault} {
		if f := rule(said, have); f != nil {
			return f
		}
	}
	return nil
}

// place finds a quote in its document: one quote, or several where it leaves words out.
func (c Checker) place(q sextant.Quote) ([]sextant.Quote, *fault) {
	d, ok := c.document(q.DocumentID)
	if !ok {
		return nil, faulty(sextant.FaultDocument, "the quoted document %s does not exist", q.DocumentID)
	}
	if q.Start >= 0 && q.End <= len(d.Text) && q.Start < q.End && d.Text[q.Start:q.End] == q.Text {
		cut, err := d.Quote(q.Start, q.End)
		if err == nil {
			return []sextant.Quote{cut}, nil
		}
	}
	ranges, ok := Locate(d, q.Text)
	if !ok {
		return nil, c.nowhere(q)
	}
	var out []sextant.Quote
	for _, r := range ranges {
		cut, err := d.Quote(r[0], r[1])
		if err != nil {
			return nil, faulty(sextant.FaultQuote, "the quote does not stand in %s", q.DocumentID)
		}
		out = append(out, cut)
	}
	return out, nil
}

func (c Checker) document(id sextant.DocumentID) (sextant.Document, bool) {
	if c.Document == nil {
		return sextant.Document{}, false
	}
	return c.Document(id)
}

// nowhere tells a quote of another document from one that was made up.
func (c Checker) nowhere(q sextant.Quote) *fault {
	for _, id := range c.Others {
		if id == q.DocumentID {
			continue
		}
		if d, ok := c.document(id); ok {
			if _, ok := Locate(d, q.Text); ok {
				return faulty(sextant.FaultSource, "the quote does not stand in %s but in %s", q.DocumentID, id)
			}
		}
	}
	return faulty(sextant.FaultQuote, "the quote does not stand in %s", q.DocumentID)
}

// Statement checks a sentence that stands for several findings, such as a summary, against
// all their quotes and the figures. It returns nil if it holds.
func (c Checker) Statement(text string, quotes []sextant.Quote) *sextant.Removed {
	return c.Statements(quotes)(text)
}

// Statements returns [Checker.Statement] over some quotes, for one goroutine: they are read
// once for all the sentences that are checked against them.
func (c Checker) Statements(quotes []sextant.Quote) func(text string) *sextant.Removed {
	var have *reading
	fault := func(text string) *fault {
		if len(quotes) == 0 {
			return figureFault(text, c.Computed)
		}
		if have == nil {
			have = read(evidence(quotes) + figures(c.Computed))
			have.documents = c.documents(quotes)
		}
		said := read(text)
		if f := compare(said, have); f != nil {
			return f
		}
		return thingFault(said, have)
	}
	return func(text string) *sextant.Removed {
		if f := fault(text); f != nil {
			return &sextant.Removed{Text: text, Fault: f.kind, Reason: f.reason}
		}
		return nil
	}
}

func (f *fault) String() string { return fmt.Sprintf("%s: %s", f.kind, f.reason) }
