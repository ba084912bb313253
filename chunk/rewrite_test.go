package chunk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
)

func TestGlossary(t *testing.T) {
	g := Glossary{"ACFT": "aircraft", "ARPT": "airport", "W/O": "without", "FT": "feet"}
	const rest = " WHILE THE OTHER FLIGHT WAS STILL HOLDING"
	for text, want := range map[string]string{
		"THE ACFT LANDED AT THE ARPT W/O FUEL." + rest:             "THE aircraft LANDED AT THE airport without FUEL." + rest,
		"THE ACFT'S WING AND 20 FT, HE SAID" + rest:                "THE ACFT'S WING AND 20 feet, HE SAID" + rest,
		"The ACFT flew at 20 FT above the others and then landed.": "The ACFT flew at 20 FT above the others and then landed.",
		"ACFT": "ACFT",
		"The ACFT of KSFO TWR GND fell. And more" + rest: "The ACFT of KSFO TWR GND fell. And more" + rest,
		"DRAFT FACTS CRAFT" + rest:                       "DRAFT FACTS CRAFT" + rest,
	} {
		c := sextant.Chunk{Content: text, End: len(text)}
		(&Options{Glossary: g}).rewrite(&c, nil)
		if got := c.Ranked(); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}

const opening = "Investigators may not have traveled in support of this investigation and used data of others."

func letter(i int) *sextant.Document {
	text := fmt.Sprintf("%sThe pump number %d of the station was found dry and was replaced by another one.", opening, i)
	return &sextant.Document{ID: sextant.DocumentID(fmt.Sprint("d:", i)), Text: text, Parts: []sextant.Part{{Kind: "narrative", Start: 0, End: len(text)}}}
}

func learned(n int) *Openings {
	o := NewOpenings(Learned{})
	for i := range n {
		o.Learn(letter(i), nil)
	}
	return o
}

// A sentence that opens many documents is passed over where chunks are ranked; the content
// stays whole.
func TestOpenings(t *testing.T) {
	few := learned(maxAlike - 1)
	if c := Split(letter(1), Options{Openings: few})[0]; len(c.Rewrites) > 0 || len(few.Fresh()) > 0 {
		t.Errorf("learned from too few: %+v", c)
	}
	o := learned(maxAlike)
	fresh := o.Fresh()
	if len(fresh) != 1 || fresh[0].Sentence != opening || len(fresh[0].Documents) != maxAlike || !fresh[0].All || len(o.Fresh()) > 0 {
		t.Errorf("%+v", fresh)
	}
	c := Split(letter(7), Options{Openings: o})[0]
	if c.Content != letter(7).Text || c.Ranked() != strings.TrimPrefix(letter(7).Text, opening) {
		t.Errorf("%+v is read as %q", c, c.Ranked())
	}
	again := NewOpenings(o.Learned())
	if diff := cmp.Diff(c, Split(letter(7), Options{Openings: again})[0]); diff != "" {
		t.Error(diff)
	}
	if elsewhere := Split(&sextant.Document{Text: "He wrote that much more must be known. " + opening}, Options{Openings: o})[0]; len(elsewhere.Rewrites) > 0 {
		t.Errorf("not an opening there: %+v", elsewhere)
	}
	if alone := Split(&sextant.Document{Text: opening}, Options{Openings: o})[0]; alone.Ranked() != opening {
		t.Errorf("a text of nothing else is found by it: %q", alone.Ranked())
	}
}

// What is common to a small share only, headings, and records of fields are no openings.
func TestNoOpenings(t *testing.T) {
	o := NewOpenings(Learned{})
	for i := range 40_000 {
		o.Learn(&sextant.Document{Text: fmt.Sprintf("Report number %d of the station says a good deal about its pumps. Then more.", i)}, nil)
	}
	for i := range 100 {
		o.Learn(letter(i), nil)
	}
	text := "The accident happened in the state of Alaska in daylight. More."
	for range 2000 {
		o.Learn(&sextant.Document{Text: text, Parts: []sextant.Part{{Kind: "record", Start: 0, End: len(text)}}}, nil)
		o.Learn(letter(1), letter(1)) // merged again
	}
	if fresh := o.Fresh(); len(fresh) > 0 {
		t.Errorf("%+v", fresh)
	}
}

// Whatever the texts: rewrites are in order, apart, within their content, and what they
// leave out was an opening.
func TestRewritesHold(t *testing.T) {
	o := learned(200)
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{opening, "THE ACFT WAS AT THE ARPT AND HIT TREES.", " ", "\n\n", "A word. ", "é世", "ACFT", strings.Repeat("long words of a sentence ", 40)})
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		doc := &sextant.Document{ID: "d:1", Text: text}
		if n := rapid.IntRange(0, len(text)).Draw(t, "part"); n > 0 {
			doc.Parts = []sextant.Part{{Kind: "narrative", Start: n - 1, End: len(text)}}
		}
		for _, c := range Split(doc, Options{Tokens: 64, Openings: o, Glossary: Glossary{"ACFT": "aircraft"}}) {
			at := 0
			for _, r := range c.Rewrites {
				if r.Start < at || r.End <= r.Start || r.End > len(c.Content) {
					t.Fatalf("%+v in %q", c.Rewrites, c.Content)
				}
				if gone := c.Content[r.Start:r.End]; r.Text == "" && !strings.Contains(opening, gone) || r.Text != "" && gone != "ACFT" {
					t.Fatalf("%q is read as %q", gone, r.Text)
				}
				at = r.End
			}
			_ = c.Ranked()
		}
	})
}
