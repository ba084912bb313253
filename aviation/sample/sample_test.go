package sample_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/aviation/sample"
	"github.com/sextant-rag/sextant/source"
)

// read returns the sample's documents by id, and fails the test on any record that made
// none.
func read(t *testing.T) (map[sextant.DocumentID]sextant.Document, source.Input, int) {
	t.Helper()
	inputs, err := sample.Open().Inputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(inputs) != 1 {
		t.Fatalf("%d inputs, want 1", len(inputs))
	}
	docs, rows := map[sextant.DocumentID]sextant.Document{}, 0
	for item, err := range inputs[0].Items(t.Context(), source.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Contribution == nil {
			t.Fatalf("line %d is %s: %s", item.At.Line+1, item.Outcome, item.Reason)
		}
		merge(t, docs, item)
		rows++
	}
	return docs, inputs[0], rows
}

func merge(t *testing.T, docs map[sextant.DocumentID]sextant.Document, item source.Item) {
	t.Helper()
	var old *sextant.Document
	if d, ok := docs[item.ID]; ok {
		old = &d
	}
	doc, _, err := item.Contribution.Merge(old)
	if err != nil {
		t.Fatalf("line %d: %v", item.At.Line+1, err)
	}
	docs[item.ID] = doc
}

func TestEveryRowIsAccountedFor(t *testing.T) {
	docs, in, rows := read(t)
	if rows != sample.Rows || len(docs) != sample.Events {
		t.Errorf("%d rows of %d events; the constants say %d of %d", rows, len(docs), sample.Rows, sample.Events)
	}
	if in.Name() != sample.File || in.Kind() != "ntsb-aviationdata" || in.Consumed() != in.Size() {
		t.Errorf("%s, %s, %d of %d bytes", in.Name(), in.Kind(), in.Consumed(), in.Size())
	}
	if n := in.Notes(); n.Encoding != "UTF-8" || len(n.Warnings) > 0 {
		t.Errorf("the sample should read without a doubt: %+v", n)
	}
	schema := aviation.Incidents().Schema
	for id, d := range docs {
		if err := schema.Check(d.Meta); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// Every month has its events, and every year as many as the full file has of it (counted
// there by distinct Event.Id, without this project's reader).
func TestDatesFillThePeriod(t *testing.T) {
	docs, _, _ := read(t)
	years, months := map[string]int{}, map[string]int{}
	for id, d := range docs {
		date := d.Meta.Fields.One("event_date").String()
		if date < fmt.Sprint(sample.FirstYear) || date >= fmt.Sprint(sample.LastYear+1) {
			t.Errorf("%s happened on %q", id, date)
			continue
		}
		years[date[:4]]++
		months[date[:7]]++
	}
	want := map[string]int{"2008": 1892, "2009": 1784, "2010": 1781, "2011": 1848, "2012": 1834}
	if !maps.Equal(want, years) {
		t.Errorf("events by year (-want +got):\n%s", cmp.Diff(want, years))
	}
	if len(months) != 12*(sample.LastYear-sample.FirstYear+1) {
		t.Errorf("%d months have events", len(months))
	}
}

// byAccident finds a document by its NTSB number.
func byAccident(docs map[sextant.DocumentID]sextant.Document, number string) (sextant.Document, bool) {
	schema := aviation.Incidents().Schema
	for _, d := range docs {
		for _, f := range schema.Fields {
			if f.Name != "accident_number" {
				continue
			}
			for _, v := range d.Meta.Values(f) {
				if v.String() == number {
					return d, true
				}
			}
		}
	}
	return sextant.Document{}, false
}

func TestWellKnownEventsAreThere(t *testing.T) {
	docs, _, _ := read(t)
	for _, want := range []struct {
		number, name, date, state string
		fatal, serious            string
		aircraft                  int
	}{
		{"DCA09MA026", "US Airways 1549, Hudson River", "2009-01-15", "NJ", "", "5", 1},
		{"DCA09MA027", "Colgan Air 3407, Clarence Center", "2009-02-12", "NY", "50", "", 1},
		{"WPR11MA454", "Reno Air Races", "2011-09-16", "NV", "11", "66", 1},
		{"DCA12CA082A", "a 747 and an EMB 135 at O’Hare", "2012-05-30", "IL", "", "", 2},
	} {
		d, ok := byAccident(docs, want.number)
		if !ok {
			t.Errorf("%s (%s) is missing", want.number, want.name)
			continue
		}
		f := d.Meta.Fields
		got := []string{f.One("event_date").String(), f.One("state").String(), f.One("fatal_count").String(), f.One("serious_count").String()}
		if diff := cmp.Diff([]string{want.date, want.state, want.fatal, want.serious}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.name, diff)
		}
		if n := len(d.Meta.Groups[aviation.Aircraft]); n != want.aircraft {
			t.Errorf("%s: %d aircraft, want %d", want.name, n, want.aircraft)
		}
	}
}
