package check_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/check"
	"github.com/sextant-rag/sextant/embed/embedtest"
)

var source = sextant.Document{ID: "ntsb:1", Title: "N123AB, 8 May 1996", Text: "The tanks of N123AB were dry. It hit trees at 8,000 feet, 2.5 miles from runway 27L under 14 CFR 91.151(a)."}

var other = sextant.Document{ID: "ntsb:3", Title: "N9, 1 June 1996", Text: "The student pilot flared high.\nThe left main gear collapsed."}

func look(id sextant.DocumentID) (sextant.Document, bool) {
	for _, d := range []sextant.Document{source, other} {
		if d.ID == id {
			return d, true
		}
	}
	return sextant.Document{}, false
}

// quoting makes a finding whose quote is the document's text from and to the words.
func quoting(text, from, to string) sextant.Finding {
	start := strings.Index(source.Text, from)
	end := strings.Index(source.Text, to) + len(to)
	return sextant.Finding{Text: text, Quotes: []sextant.Quote{{DocumentID: source.ID, Start: start, End: end, Text: source.Text[start:end]}}}
}

func TestFindings(t *testing.T) {
	all := func(text string) sextant.Finding { return quoting(text, "The", "(a).") }
	invented := all("The tanks were empty.")
	invented.Quotes[0].Text = "The tanks were empty of usable fuel."
	stranger := all("The tanks were dry.")
	stranger.Quotes[0].DocumentID = "ntsb:2"
	elsewhere := sextant.Finding{Text: "The left main gear collapsed.", Quotes: []sextant.Quote{{DocumentID: source.ID, Text: "The left main gear collapsed."}, {DocumentID: other.ID, Text: "The student pilot flared high."}}}
	for name, tt := range map[string]struct {
		finding sextant.Finding
		fault   sextant.Fault // "" holds
		reason  string
	}{
		"verbatim":                      {all(source.Text), "", ""},
		"a number with its comma":       {all("It hit trees at 8000 feet."), "", ""},
		"a number in the title":         {all("The accident of 8 May 1996."), "", ""},
		"identifier in another case":    {all("n123ab was dry."), "", ""},
		"no quotes":                     {sextant.Finding{Text: "The tanks were dry."}, sextant.FaultNoQuote, "quotes nothing"},
		"no words":                      {all(" "), sextant.FaultUnsupported, "says nothing"},
		"another number":                {all("It hit trees at 9,000 feet."), sextant.FaultNumber, `"9,000 feet" stands in none of its quotes, which say "8,000 feet"`},
		"a number its quote leaves out": {quoting("It hit trees at 8,000 feet.", "The", "dry."), sextant.FaultNumber, `"8,000 feet"`},
		"another unit":                  {all("It hit trees at 8,000 meters."), sextant.FaultUnit, "8,000 feet, which is 2438 meters"},
		"another section":               {all("It broke 91.155(a)."), sextant.FaultSection, `91.155(a)`},
		"another aircraft":              {all("N123AC was dry."), sextant.FaultIdentifier, `"N123AC"`},
		"another runway":                {all("It was near runway 27R."), sextant.FaultIdentifier, `"27R`},
		"another decimal":               {all("It was 2.6 miles away."), sextant.FaultNumber, `"2.6 miles"`},
		"quote invented":                {invented, sextant.FaultQuote, "does not stand"},
		"quote of another document":     {elsewhere, sextant.FaultSource, "but in ntsb:3"},
		"another document":              {stranger, sextant.FaultDocument, "does not exist"},
		"quotes that say nothing of it": {quoting("The mechanic forgot the spinner bolts.", "The", "dry."), sextant.FaultUnsupported, "of its words"},
	} {
		kept, removed := check.Findings([]sextant.Finding{tt.finding}, look)
		switch {
		case len(kept)+len(removed) != 1:
			t.Errorf("%s: %d kept, %d removed", name, len(kept), len(removed))
		case tt.fault == "" && len(removed) == 1:
			t.Errorf("%s: removed because %s", name, removed[0].Reason)
		case tt.fault != "" && (len(removed) == 0 || removed[0].Fault != tt.fault || !strings.Contains(removed[0].Reason, tt.reason)):
			t.Errorf("%s: kept, or another reason: %v", name, removed)
		}
	}
}

// A model says what it quotes, not where: the place is found, the words are the document's.
func TestQuotesGetTheirPlace(t *testing.T) {
	f := sextant.Finding{Text: "The left gear collapsed.", Quotes: []sextant.Quote{{DocumentID: other.ID, Start: 7, End: 3000, Text: "the LEFT main  gear collapsed"}}}
	kept, removed := check.Findings([]sextant.Finding{f}, look)
	if len(kept) != 1 {
		t.Fatal(removed)
	}
	want := []sextant.Quote{{DocumentID: other.ID, Title: other.Title, Start: 31, End: 59, Text: "The left main gear collapsed"}}
	if diff := cmp.Diff(want, kept[0].Quotes); diff != "" {
		t.Error(diff)
	}
}

// opinion is a second opinion that says the same to all, or fails.
type opinion struct {
	sure  float64
	err   error
	asked *int
}

func (o opinion) Supports(context.Context, string, string) (float64, error) {
	*o.asked++
	return o.sure, o.err
}

func TestASecondOpinionIsAskedInDoubtOnly(t *testing.T) {
	plain := quoting("The tanks were dry.", "The", "dry.")
	doubtful := quoting("Tanks of the accident aeroplane: dry.", "The", "dry.") // half of its words
	wrong := quoting("The tanks of N123AB held 40 gallons.", "The", "dry.")
	for _, tt := range []struct {
		name        string
		finding     sextant.Finding
		o           opinion
		kept, asked int
	}{
		{"no doubt", plain, opinion{sure: 0}, 1, 0},
		{"doubt, agreed", doubtful, opinion{sure: 0.9}, 1, 1},
		{"doubt, not agreed", doubtful, opinion{sure: 0.1}, 0, 1},
		{"a wrong fact is not asked about", wrong, opinion{sure: 1}, 0, 0},
		{"no opinion to be had: the rules decide", doubtful, opinion{err: errors.New("down")}, 1, 1},
	} {
		asked := 0
		tt.o.asked = &asked
		r := check.Checker{Document: look, Opinion: tt.o}.Findings(t.Context(), []sextant.Finding{tt.finding})
		if len(r.Kept) != tt.kept || asked != tt.asked || (r.Unasked != nil) != (tt.o.err != nil) {
			t.Errorf("%s: %d kept, asked %d times, %v, %v", tt.name, len(r.Kept), asked, r.Unasked, r.Removed)
		}
	}
}

func TestSimilarityIsAnOpinion(t *testing.T) {
	s := check.Similarity{Embedder: embedtest.Fake{Concepts: map[string]string{"tank": "reservoir", "dry": "empty"}}}
	near, err := s.Supports(t.Context(), "The reservoir was empty.", "The tank was dry.")
	if err != nil || near < 0.9 {
		t.Errorf("the same in other words: %.2f, %v", near, err)
	}
	if far, err := s.Supports(t.Context(), "A lamp fell.", "The tank was dry."); err != nil || far > 0.5 || far < 0 {
		t.Errorf("another thing: %.2f, %v", far, err)
	}
	down := errors.New("down")
	if _, err := (check.Similarity{Embedder: embedtest.Fake{Err: down}}).Supports(t.Context(), "a", "b"); !errors.Is(err, down) {
		t.Error(err)
	}
}

func TestComputedFiguresNeedNoQuote(t *testing.T) {
	c := check.Checker{Document: look, Computed: []sextant.Computed{{Kind: "group", Total: 17, UnitLabel: "events", Percent: "12.5", Rows: [][]any{{"2010", 3}, {"2011", 14}}}}}
	for text, fault := range map[string]sextant.Fault{
		"There were 17 events.":                   "",
		"Seventeen events happened.":              "",
		"In 2011 there were 14 events.":           "",
		"Of 17 events, 3 were in 2010.":           "",
		"There were 18 events.":                   sextant.FaultComputed,
		"In 2010 there were 14 events.":           sextant.FaultComputed,
		"The share was 12.6 %.":                   sextant.FaultComputed,
		"The share was 12.5 percent of 17 events": "",
		"Flying is dangerous.":                    sextant.FaultNoQuote,
	} {
		r := c.Findings(t.Context(), []sextant.Finding{{Text: text}})
		if fault == "" && len(r.Kept) != 1 || fault != "" && (len(r.Removed) != 1 || r.Removed[0].Fault != fault) {
			t.Errorf("%q: %v, want %q", text, r.Removed, fault)
		}
	}
}

func TestLocate(t *testing.T) {
	d := sextant.Document{Text: "The cause was fuel ex-\nhaustion. He said “the ﬁeld” was `soft`.\n  It rolled  2.5 miles, then stop-\nped at 25 knots."}
	for _, tt := range []struct{ quoted, want string }{
		{"The cause was fuel exhaustion.", "The cause was fuel ex-\nhaustion"},
		{"fuel ex-haustion", "fuel ex-\nhaustion"},
		{`"the field" was soft`, "the ﬁeld” was `soft"},
		{"THE FIELD", "the ﬁeld"},
		{"was soft. It rolled", "was `soft`.\n  It rolled"},
		{"The cause ... stopped", "The cause|stop-\nped"},
		{"25 knots", "25 knots"},
		{"2.5 miles", "2.5 miles"},
		{"stopped [...] The cause", ""},
		{"fuel starvation", ""},
		{"use was", ""},
		{"5 knots", ""},
		{"", ""},
		{"...", ""},
	} {
		var got []string
		ranges, ok := check.Locate(d, tt.quoted)
		for _, r := range ranges {
			got = append(got, d.Text[r[0]:r[1]])
		}
		if ok != (tt.want != "") || ok && strings.Join(got, "|") != tt.want {
			t.Errorf("%q: %q, want %q", tt.quoted, got, tt.want)
		}
	}
}
