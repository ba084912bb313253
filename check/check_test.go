package check_test

import (
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/check"
)

var source = sextant.Document{ID: "ntsb:1", Title: "N123AB, 8 May 1996", Text: "The tanks of N123AB were dry. It hit trees at 8,000 feet, 2.5 miles from runway 27L under 14 CFR 91.151(a)."}

func look(id sextant.DocumentID) (sextant.Document, bool) { return source, id == source.ID }

// quoting makes a finding whose quote is the document's text from and to the words.
func quoting(text, from, to string) sextant.Finding {
	start := strings.Index(source.Text, from)
	end := strings.Index(source.Text, to) + len(to)
	return sextant.Finding{Text: text, Quotes: []sextant.Quote{{DocumentID: source.ID, Start: start, End: end, Text: source.Text[start:end]}}}
}

func TestFindings(t *testing.T) {
	all := func(text string) sextant.Finding { return quoting(text, "The", "(a).") }
	moved := all("The tanks were dry.")
	moved.Quotes[0].Start++
	invented := all("The tanks were empty.")
	invented.Quotes[0].Text = "The tanks were empty of usable fuel."
	outside := all("The tanks were dry.")
	outside.Quotes[0].End = len(source.Text) + 1
	stranger := all("The tanks were dry.")
	stranger.Quotes[0].DocumentID = "ntsb:2"
	for name, tt := range map[string]struct {
		finding sextant.Finding
		reason  string // "" holds
	}{
		"verbatim":                      {all(source.Text), ""},
		"a number with its comma":       {all("It hit trees at 8000 feet."), ""},
		"a number in the title":         {all("The accident of 8 May 1996."), ""},
		"identifier in another case":    {all("n123ab was dry."), ""},
		"no quotes":                     {sextant.Finding{Text: "The tanks were dry."}, "quotes nothing"},
		"another number":                {all("It hit trees at 9,000 feet."), `"9,000"`},
		"a number its quote leaves out": {quoting("It hit trees at 8,000 feet.", "The", "dry."), `"8,000"`},
		"another section":               {all("It broke 91.155(a)."), `"91.155(a`},
		"another aircraft":              {all("N123AC was dry."), `"N123AC"`},
		"another runway":                {all("It was near runway 27R."), `"27R`},
		"another decimal":               {all("It was 2.6 miles away."), `"2.6"`},
		"quote moved by a byte":         {moved, "does not stand"},
		"quote invented":                {invented, "does not stand"},
		"quote beyond the end":          {outside, "does not stand"},
		"another document":              {stranger, "does not exist"},
	} {
		kept, removed := check.Findings([]sextant.Finding{tt.finding}, look)
		switch {
		case len(kept)+len(removed) != 1:
			t.Errorf("%s: %d kept, %d removed", name, len(kept), len(removed))
		case tt.reason == "" && len(removed) == 1:
			t.Errorf("%s: removed because %s", name, removed[0].Reason)
		case tt.reason != "" && (len(removed) == 0 || !strings.Contains(removed[0].Reason, tt.reason)):
			t.Errorf("%s: kept, or another reason: %v", name, removed)
		}
	}
}
