package aviation_test

import (
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/chunk"
)

// Every entry is an abbreviation in capitals of words that are none, and is found in text.
func TestAbbreviations(t *testing.T) {
	g := aviation.Abbreviations()
	if len(g) < 150 {
		t.Errorf("only %d", len(g))
	}
	for short, full := range g {
		if short != strings.ToUpper(short) || full != strings.ToLower(full) || full == "" || len(full) < len(short)-1 {
			t.Errorf("%q: %q", short, full)
		}
		text := "IT WAS SAID THAT THE " + short + " WAS NOT WHAT THEY HAD HOPED FOR"
		doc := &sextant.Document{ID: "d:1", Text: text}
		c := chunk.Split(doc, chunk.Options{Glossary: g})[0]
		if c.Content != text || !strings.Contains(c.Ranked(), "THE "+full+" WAS") {
			t.Errorf("%q is read as %q", c.Content, c.Ranked())
		}
	}
}

func TestCapitalYears(t *testing.T) {
	const text = "DRG LNDG ON RWY 27 THE ACFT VEERED RGT AND HIT A DITCH. PLT RPRTD A LOSS OF BRAKE CTL DUE TO WX."
	c := chunk.Split(&sextant.Document{ID: "d:1", Text: text}, chunk.Options{Glossary: aviation.Abbreviations()})[0]
	const want = "during landing ON runway 27 THE aircraft VEERED right AND HIT A DITCH. pilot reported A LOSS OF BRAKE control DUE TO weather."
	if c.Content != text || c.Ranked() != want {
		t.Errorf("%q", c.Ranked())
	}
}
