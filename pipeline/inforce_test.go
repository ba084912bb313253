package pipeline

import (
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

func day(t *testing.T, s string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// text is a text of one rule that is known to be in force from a day; amended "" names no
// amendment.
func text(t *testing.T, from, amended, words string) sextant.Document {
	t.Helper()
	d := sextant.Document{ID: sextant.DocumentID("r:1@" + from), Title: "§ 1", Text: words, Valid: sextant.Period{From: day(t, from)}, Meta: filter.Meta{Fields: filter.Fields{}}}
	if amended != "" {
		d.Meta.Fields.Set("amended", filter.OfTime(day(t, amended)))
	}
	return d
}

// The text in force on a day is the last one known by then. Where only later ones are
// held, the note of the last amendment decides; without a note nothing is known.
func TestTheTextInForce(t *testing.T) {
	versions := []sextant.Document{text(t, "2017-01-01", "1996-08-16", "old"), text(t, "2019-01-01", "1996-08-16", "old"), text(t, "2021-06-01", "2021-03-01", "new")}
	for _, tt := range []struct {
		day      string
		versions []sextant.Document
		id       sextant.DocumentID
		status   string
		says     string
	}{
		{"2018-05-05", versions, "r:1@2017-01-01", applied, "held until 2021-05-31"},
		{"2020-05-05", versions, "r:1@2019-01-01", applied, "held until 2021-05-31"},
		{"2021-06-01", versions, "r:1@2021-06-01", applied, "the text of 2021-06-01"},
		{"2014-03-01", versions, "r:1@2017-01-01", applied, "last amended on 1996-08-16, so it applied already"},
		{"1990-01-01", versions, "r:1@2017-01-01", notYet, "after 1990-01-01: the text in force then is not held"},
		{"2014-03-01", []sextant.Document{text(t, "2017-01-01", "", "x")}, "r:1@2017-01-01", undetermined, "is unknown"},
		{"2018-03-01", []sextant.Document{text(t, "2017-01-01", "", "x")}, "r:1@2017-01-01", applied, "in force on 2018-03-01"},
	} {
		d, s := choose(tt.versions, day(t, tt.day), "amended")
		if d.ID != tt.id || s.status != tt.status || !strings.Contains(s.text, tt.says) {
			t.Errorf("%s: %s %s: %s", tt.day, d.ID, s.status, s.text)
		}
	}
}

// Sides of a conflict stand by authority, then by date; a source that leaves a field
// blank says nothing, and the value that counts is quoted where it stands.
func TestConflictsOfOneDocument(t *testing.T) {
	d := sextant.Document{ID: "n:1", Collection: "events", Title: "Event", Text: "Killed were 295 people.", Differences: []sextant.Difference{
		{Field: "dead", Value: "298", Status: "Foreign", Source: sextant.Source{Kind: "rows", Authority: 70}},
		{Field: "dead", Value: "295", Kept: true, Status: "Final", Date: "2015-10-13", Source: sextant.Source{Kind: "export", Authority: 100}},
		{Field: "dead", Status: "Preliminary", Source: sextant.Source{Kind: "old", Authority: 80}},
		{Field: "place", Value: "Kiev", Source: sextant.Source{Kind: "rows"}},
	}}
	spec := sextant.Collection{Schema: filter.Schema{Fields: []filter.Field{{Name: "dead", Label: "people killed", Kind: filter.Int}}}}
	got := within(spec, d)
	if len(got) != 1 || len(got[0].Sides) != 3 || got[0].Subject != "people killed of Event" {
		t.Fatalf("%+v", got)
	}
	sides := got[0].Sides
	if sides[0].Text != "people killed: “295” (export, Final, 2015-10-13)" || len(sides[0].Quotes) != 1 || sides[0].Quotes[0].Text != "295" {
		t.Errorf("first %+v", sides[0])
	}
	if !strings.Contains(sides[1].Text, "“nothing” (old") || !strings.Contains(sides[2].Text, "“298”") {
		t.Errorf("others %q, %q", sides[1].Text, sides[2].Text)
	}
}
