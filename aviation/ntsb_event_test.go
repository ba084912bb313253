package aviation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
)

var clock = time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)

// contributions reads a file's text and returns what it contributes and what became of
// the other records.
func contributions(t *rapid.T, name, text string) []source.Item {
	s := NewNTSB(source.Bytes(name, []byte(text)))
	s.now = func() time.Time { return clock }
	inputs, err := s.Inputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []source.Item
	for item, err := range inputs[0].Items(t.Context(), source.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, item)
	}
	return out
}

func mergeAll(t *rapid.T, items []source.Item) sextant.Document {
	var doc *sextant.Document
	for _, item := range items {
		if item.Contribution == nil {
			t.Fatalf("%s: %s", item.Outcome, item.Reason)
		}
		merged, _, err := item.Contribution.Merge(doc)
		if err != nil {
			t.Fatal(err)
		}
		doc = &merged
	}
	return *doc
}

// anyRow writes a row of event E1 with few values in each column, so that rows of one
// aircraft meet, agree and differ.
func anyRow(t *rapid.T) string {
	pick := func(values ...string) string { return rapid.SampledFrom(values).Draw(t, "cell") }
	return strings.Join([]string{
		"E1", pick("", "FTW01LA001A", "FTW01LA001B", "FTW01LA001"), pick("", "N1", "NONE", "N2"), pick("", "CESSNA", "Piper"),
		pick("", "LANDING", "TAXI"), pick("", "Personal"), pick("", "VMC", "IMC"), pick("", "0", "2"),
		pick("", "2001-02-03", "Mar-01", "2001"), pick("", "01-02-2003", "04-05-2006"), pick("", "Preliminary", "Probable Cause"), pick("", `"RENO, NV"`),
		pick("", "United States"),
	}, ",")
}

const rowHeader = "Event.Id,Accident.Number,Registration.Number,Make,Broad.phase.of.flight,Purpose.of.flight,Weather.Condition,Total.Fatal.Injuries,Event.Date,Publication.Date,Report.Status,Location,Country\n"

func anyNarrative(t *rapid.T) string {
	pick := func(values ...string) string { return rapid.SampledFrom(values).Draw(t, "value") }
	aircraft := pick(``, `,"aircraft":[]`, `,"aircraft":[{"accident_number":"FTW01LA001A","make":"CESSNA","model":"172"}]`,
		`,"aircraft":[{"accident_number":"FTW01LA001B","registration":"N2","operator":"X"},{"accident_number":"FTW01LA001C"}]`)
	return fmt.Sprintf(`{"event_id":"E1","phase":%q,"purpose":%q,"far":%q,"weather":%q,"fatal":%s,"narrative":%s,"probable_cause":%q%s}`,
		pick("", "CRUISE"), pick("", "Business"), pick("", "Part 91 Subpart K: Fractional"), pick("", "UNK"), pick("1", "null"),
		pick(`""`, `"It flew."`, `"It flew\u000bwell."`), pick("", "Ice."), aircraft)
}

// anyCarol writes a row of a CAROL export about the case FTW01LA001 of event E1.
func anyCarol(t *rapid.T) string {
	pick := func(values ...string) string { return rapid.SampledFrom(values).Draw(t, "cell") }
	cells := []string{"FTW01LA001", "1", pick("ACC", "INC"), pick("2001-02-03 16:05:00+00:00", "2001-02-04T00:00:00Z"), pick("N1", "N1, N2", "N2, N1", ""), pick("CESSNA", "CESSNA, PIPER", ""),
		pick("", "Fatal", "None"), pick("", "0", "2"), pick("FALSE", "FALSE,TRUE"), pick("", "Completed", "In work"), pick("", "Enroute", "Landing"), pick("", "0.0", "31.95"),
		pick("", "Ice.", "ICE", "Fuel."), pick("", "Aircraft - Fuel - Fluid level - (general) - Pilot, Personnel issues - A - B - C - D"), pick("", "2003-02-01T04:00:00Z")}
	for i, c := range cells {
		cells[i] = `"` + c + `"`
	}
	return strings.Join(cells, ",")
}

const carolHeader = "NtsbNo,Mkey,EventType,EventDate,N,Make,HighestInjuryLevel,FatalInjuryCount,AmateurBuilt,ReportStatus,BroadPhaseofFlight,Latitude,ProbableCause,Findings,OriginalPublishDate\n"

// anyTable writes a file of the database's own tables about event E1.
func anyTable(t *rapid.T) string {
	pick := func(values ...string) string { return rapid.SampledFrom(values).Draw(t, "cell") }
	return rapid.SampledFrom([]string{
		"ev_id,ntsb_no,ev_type,ev_time,ev_highest_injury,inj_tot_f,apt_elev\nE1,FTW01LA001," + pick("ACC", "INC") + "," + pick("", "5", "1545.0") + "," + pick("", "FATL", "NONE") + "," + pick("0", "1") + ",120\n",
		"ev_id,Aircraft_Key,finding_no,finding_code,finding_description,Cause_Factor,lchg_date\nE1," + pick("1", "2") + "," + pick("1", "2") + ",01,Aircraft-Fuel-Fluid level-(general)-Pilot - C,C,2015-01-02\n",
		"ev_id,aircraft_key,narr_accp,narr_accf,narr_cause,lchg_date\nE1,1," + pick("It flew low.", "") + "," + pick("Facts.", "") + "," + pick("", "Ice.", "Low.") + ",2015-01-02\n",
		"ntsbno,event.id,findings,probablecause,x.Recommendation\nFTW01LA001,E1,Aircraft - Fuel - Fluid level - (general) - Pilot,Ice.," + pick("Look out.", "Do it.", "") + "\n",
	}).Draw(t, "table")
}

// ofEvent does what a look-up would do: the case is one of the event.
func ofEvent(id string, items []source.Item) []source.Item {
	for i := range items {
		c := items[i].Contribution.(contribution)
		c.event.id = id
		items[i].Contribution = c
	}
	return items
}

// An event is the same document in whatever order, and however often, the records
// about it arrive; and a merge that changes nothing is seen as one.
func TestMergingIsOrderIndependentAndIdempotent(t *testing.T) {
	schema := incidentSchema()
	rapid.Check(t, func(t *rapid.T) {
		var records []source.Item
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			file := rapid.SampledFrom([]string{"a.csv", "b.csv"}).Draw(t, "file")
			records = append(records, contributions(t, file, rowHeader+anyRow(t)+"\n")...)
		}
		for range rapid.IntRange(0, 2).Draw(t, "narratives") {
			records = append(records, contributions(t, "n.jsonl", anyNarrative(t)+"\n")...)
		}
		for range rapid.IntRange(0, 2).Draw(t, "exports") {
			records = append(records, ofEvent("E1", contributions(t, "c.csv", carolHeader+anyCarol(t)+"\n"))...)
		}
		for range rapid.IntRange(0, 2).Draw(t, "tables") {
			records = append(records, contributions(t, "t.csv", anyTable(t))...)
		}
		if len(records) == 0 {
			return
		}
		want := mergeAll(t, records)
		if err := schema.Check(want.Meta); err != nil {
			t.Fatal(err)
		}
		again := rapid.Permutation(slices.Concat(records, records[:1])).Draw(t, "order")
		got := mergeAll(t, again)
		if diff := cmp.Diff(marshal(t, want), marshal(t, got)); diff != "" {
			t.Fatalf("another order gives another document (-want +got):\n%s", diff)
		}
		for _, item := range records {
			same, _, err := item.Contribution.Merge(&want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(marshal(t, want), marshal(t, same)); diff != "" {
				t.Fatalf("merging again changes the document (-want +got):\n%s", diff)
			}
		}
	})
}

func marshal(t *rapid.T, d sextant.Document) string {
	meta, err := d.Meta.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join([]string{d.Title, d.Text, string(meta), fmt.Sprintf("%+v %+v %+v", d.Parts, d.Source, d.Differences)}, "\n")
}

// merged reads the files in order and returns the one document they make.
func merged(t *testing.T, files ...string) sextant.Document {
	t.Helper()
	docs := documents(t, files...)
	if len(docs) != 1 {
		t.Fatalf("%d documents", len(docs))
	}
	return docs[0]
}

// documents reads the files in order and returns their documents in order of appearance.
func documents(t *testing.T, files ...string) []sextant.Document {
	t.Helper()
	var order []sextant.DocumentID
	docs := map[sextant.DocumentID]*sextant.Document{}
	for i, text := range files {
		s := NewNTSB(source.Bytes(fmt.Sprintf("%d.csv", i), []byte(text)))
		s.now = func() time.Time { return clock }
		inputs, err := s.Inputs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for item, err := range inputs[0].Items(t.Context(), source.Position{}) {
			if err != nil {
				t.Fatal(err)
			}
			if item.Contribution == nil {
				t.Fatalf("%s: %s", item.Outcome, item.Reason)
			}
			doc, _, err := item.Contribution.Merge(docs[item.ID])
			if err != nil {
				t.Fatal(err)
			}
			if docs[item.ID] == nil {
				order = append(order, item.ID)
			}
			docs[item.ID] = &doc
		}
	}
	out := make([]sextant.Document, len(order))
	for i, id := range order {
		out[i] = *docs[id]
	}
	return out
}

const collision = `Event.Id,Accident.Number,Registration.Number,Make,Model,Aircraft.damage,Broad.phase.of.flight,Weather.Condition,Event.Date,Location,Country,Publication.Date,Report.Status
E1,CEN17FA063B,N222BB,PIPER,PA28,Minor,,VMC,2016-12-31,"Reno, NV",United States,01-02-2017,Preliminary
E1,CEN17FA063A,N111AA,CESSNA,172,Destroyed,LANDING,VMC,2016-12-31,"Reno, NV",United States,01-02-2017,Preliminary
`

func TestCSV08OneEventSeveralAircraft(t *testing.T) {
	doc := merged(t, collision, collision)
	aircraft := doc.Meta.Groups[Aircraft]
	if len(aircraft) != 2 {
		t.Fatalf("%d aircraft", len(aircraft))
	}
	for i, want := range []struct{ number, registration, damage string }{{"CEN17FA063A", "N111AA", "destroyed"}, {"CEN17FA063B", "N222BB", "minor"}} {
		f := aircraft[i]
		if f.One("accident_number").Str() != want.number || f.One("registration").Str() != want.registration || f.One("damage").Str() != want.damage {
			t.Errorf("aircraft %d is %v, want %v", i+1, f, want)
		}
	}
	if doc.Title != "Cessna 172 and Piper PA28, Reno, NV, 31 December 2016 (CEN17FA063)" {
		t.Errorf("title %q", doc.Title)
	}
	at := strings.Index(doc.Text, "N222BB")
	if p, _ := doc.PartAt(at); p.Locator != "Record, aircraft 2" {
		t.Errorf("the part that names N222BB is %q", p.Locator)
	}
	if strings.Contains(doc.Text[at:strings.IndexByte(doc.Text[at:], '\n')+at], "destroyed") {
		t.Error("the damage of one aircraft stands with the other")
	}
}

func TestNarrativeFillsWhatNoRowHas(t *testing.T) {
	narrative := `{"event_id":"E1","weather":"IMC","phase":"CRUISE","purpose":"Business","fatal":2,"narrative":"They met.","probable_cause":"Haste.",` +
		`"aircraft":[{"accident_number":"CEN17FA063B","make":"Cessna","engines":"1"}]}` + "\n"
	for name, files := range map[string][]string{"rows first": {collision, narrative}, "narrative first": {narrative, collision}} {
		doc := merged(t, files...)
		a, b := doc.Meta.Groups[Aircraft][0], doc.Meta.Groups[Aircraft][1]
		for what, got := range map[string][2]string{
			"a row's weather is not overwritten": {doc.Meta.Fields.One("weather").Str(), "VMC"},
			"a row's make is not overwritten":    {b.One("make").Str(), "PIPER"},
			"a row knows a phase":                {a.One("phase").Str() + "," + b.One("phase").Str(), "LANDING,"},
			"no row knows a purpose":             {a.One("purpose").Str() + "," + b.One("purpose").Str(), "Business,Business"},
			"no row counts the dead":             {doc.Meta.Fields.One("fatal_count").String(), "2"},
			"engines of the one aircraft":        {a.One("engine_count").String() + "," + b.One("engine_count").String(), ",1"},
			"what was filled": {join(doc.Meta.Fields["filled"]),
				"fatal_count: narratives|purpose: narratives|CEN17FA063B engine_count: narratives"},
			"sources":   {join(doc.Meta.Fields["data_source"]), "aviationdata|narratives"},
			"read from": {doc.Source.URI, map[string]string{"rows first": "0.csv", "narrative first": "1.csv"}[name]},
		} {
			if got[0] != got[1] {
				t.Errorf("%s: %s: %q, want %q", name, what, got[0], got[1])
			}
		}
		for _, p := range doc.Parts {
			if p.Kind == partCause && doc.Text[p.Start:p.End] != "Haste." {
				t.Errorf("%s: cause %q", name, doc.Text[p.Start:p.End])
			}
		}
	}
}

func join(values []filter.Value) string {
	var out []string
	for _, v := range values {
		out = append(out, v.String())
	}
	return strings.Join(out, "|")
}

func TestTheLaterPublicationCounts(t *testing.T) {
	const header = "Event.Id,Accident.Number,Weather.Condition,Total.Fatal.Injuries,Publication.Date,Report.Status\n"
	preliminary := header + "E1,CEN17FA001,VMC,1,13-01-2017,Preliminary\n"
	final := header + "E1,CEN17FA001,,2,30-06-2018,Probable Cause\n"
	for _, files := range [][]string{{preliminary, final}, {final, preliminary}} {
		doc := merged(t, files...)
		if n := doc.Meta.Fields.One("fatal_count").Int(); n != 2 {
			t.Errorf("%d killed, want the final report's 2", n)
		}
		if got := join(doc.Meta.Fields["filled"]); got != "weather: row of 2017-01-13, Preliminary" {
			t.Errorf("filled %q", got)
		}
		if doc.Source.Authority != authority("Probable Cause") {
			t.Errorf("authority %d", doc.Source.Authority)
		}
	}
}

func TestJoinedTellsANewRecordFromANewVersion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := contributions(t, "a.csv", collision)
		first, joined, err := rows[0].Contribution.Merge(nil)
		if err != nil || joined {
			t.Fatal("the first record makes the document")
		}
		if _, joined, _ = rows[1].Contribution.Merge(&first); !joined {
			t.Error("the second aircraft joins it")
		}
		if _, joined, _ = rows[0].Contribution.Merge(&first); joined {
			t.Error("the same row again joins nothing")
		}
		narrative := contributions(t, "n.jsonl", `{"event_id":"E1","narrative":"x"}`)
		if _, joined, _ = narrative[0].Contribution.Merge(&first); !joined {
			t.Error("a narrative joins the row's document")
		}
	})
}

func TestAnotherEventsDocumentIsRefused(t *testing.T) {
	docs := documents(t, "Event.Id,Make\nE1,CESSNA\nE2,PIPER\n")
	_, _, err := contribution{event{id: "E1"}}.Merge(&docs[1])
	if err == nil {
		t.Error("E1 merged into E2")
	}
}
