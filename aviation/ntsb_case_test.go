package aviation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// take ingests files given as name and text, name and text.
func take(t *testing.T, st store.Store, files ...string) sextant.Receipt {
	t.Helper()
	var blobs []source.Blob
	for i := 0; i < len(files); i += 2 {
		blobs = append(blobs, source.Bytes(files[i], []byte(files[i+1])))
	}
	r, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: Incidents(), Source: NewNTSB(blobs...)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func held(t *testing.T, st store.Store) []sextant.Document {
	t.Helper()
	c, err := st.Open(t.Context(), "incidents")
	if err != nil {
		t.Fatal(err)
	}
	var out []sextant.Document
	for doc, err := range c.Scan(t.Context(), filter.All) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, doc)
	}
	return out
}

const (
	collisionRows = "Event.Id,Accident.Number,Registration.Number,Aircraft.damage,Event.Date,Report.Status,Total.Fatal.Injuries\n" +
		"20100203X00001,CEN10LA120A,N1,Destroyed,2010-02-03,Preliminary,1\n20100203X00001,CEN10LA120B,N2,Minor,2010-02-03,Preliminary,1\n"
	collisionExport = "\xef\xbb\xbf\"NtsbNo\",\"Mkey\",\"EventType\",\"EventDate\",\"N#\",\"Make\",\"AirCraftDamage\",\"AmateurBuilt\",\"HighestInjuryLevel\",\"FatalInjuryCount\",\"ProbableCause\",\"ReportStatus\",\"MostRecentReportType\",\"OriginalPublishedDate\"\r\n" +
		"\"CEN10LA120\",\"75000\",\"ACC\",\"2010-02-03T23:50:00Z\",\"N1, N2\",\"PIPER, CESSNA\",\"Destroyed, Minor\",\"false, false\",\"Fatal\",\"2\",\"Neither pilot saw the other.\",\"Completed\",\"Final\",\"2011-01-05T05:00:00Z\"\r\n"
)

// A case that an export names and the event that a table names are one document, in
// whatever order the files come, together or one after the other; and the store's account
// is right after each.
func TestACaseAndItsEventAreOneDocument(t *testing.T) {
	var want string
	for name, runs := range map[string][][]string{
		"together":     {{"a.csv", collisionRows, "b.csv", collisionExport}},
		"export first": {{"b.csv", collisionExport}, {"a.csv", collisionRows}},
		"rows first":   {{"a.csv", collisionRows}, {"b.csv", collisionExport}},
		"named first":  {{"b.csv", collisionExport, "a.csv", collisionRows}},
	} {
		st := openStore(t)
		for _, files := range runs {
			take(t, st, files...)
		}
		docs := held(t, st)
		if len(docs) != 1 || docs[0].ID != "ntsb:20100203X00001" {
			t.Fatalf("%s: %d documents, the first %s", name, len(docs), docs[0].ID)
		}
		if got := meta(t, docs[0]) + docs[0].Text; want == "" {
			want = got
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s gives another document (-want +got):\n%s", name, diff)
		}
		v, err := ingest.Verify(t.Context(), st, "incidents")
		if err != nil || len(v.Missing)+len(v.Changed)+len(v.Extra) > 0 {
			t.Errorf("%s: verify %+v, %v", name, v, err)
		}
		again := take(t, st, "a.csv", collisionRows, "b.csv", collisionExport)
		if n := again.Records[sextant.Unchanged]; n != 3 || again.Read != 3 {
			t.Errorf("%s: the next run found %v", name, again.Records)
		}
	}
}

// CSV-08: what is said of one aircraft in a cell with several stays with that aircraft,
// and the later final report counts while what it replaced is kept.
func TestCSV08CellsWithSeveralAircraft(t *testing.T) {
	st := openStore(t)
	take(t, st, "a.csv", collisionRows, "b.csv", collisionExport)
	doc := held(t, st)[0]
	var got []string
	for _, a := range doc.Meta.Groups[Aircraft] {
		got = append(got, strings.Join([]string{a.One("accident_number").Str(), a.One("registration").Str(), a.One("make").Str(), a.One("damage").Str()}, " "))
	}
	if diff := cmp.Diff([]string{"CEN10LA120A N1 PIPER destroyed", "CEN10LA120B N2 CESSNA minor"}, got); diff != "" {
		t.Errorf("aircraft (-want +got):\n%s", diff)
	}
	own := doc.Meta.Fields
	if own.One("fatal_count").Int() != 2 || own.One("report_status").Str() != "Probable Cause" || own.One("event_time").Str() != "23:50" || own.One("event_date").String() != "2010-02-03" {
		t.Errorf("fields %s", meta(t, doc))
	}
	want := []string{"fatal_count 2 true carol Probable Cause 2011-01-05", "fatal_count 1 false aviationdata Preliminary ", "report_status Probable Cause true carol Probable Cause 2011-01-05", "report_status Preliminary false aviationdata Preliminary "}
	got = nil
	for _, d := range doc.Differences {
		got = append(got, strings.Join([]string{d.Field, d.Value, map[bool]string{true: "true", false: "false"}[d.Kept], d.Source.Kind, d.Status, d.Date}, " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if !strings.Contains(doc.Text, "Probable cause\nNeither pilot saw the other.") {
		t.Errorf("text %q", doc.Text)
	}
}

// A blank level of injury does not mean that nobody was hurt; "None" does.
func TestBlankInjuriesAreUnknown(t *testing.T) {
	header := "NtsbNo,Mkey,EventType,HighestInjuryLevel,FatalInjuryCount,SeriousInjuryCount,MinorInjuryCount,ReportStatus,Latitude,Longitude,N\n"
	for row, want := range map[string]string{
		"CEN20LA001,1,ACC,,0,0,0,In work,0.0,0.0,NONE":           "",
		"CEN20LA001,1,ACC,,0,0,0,,0.0,0.0,UNREG":                 "",
		"CEN20LA001,1,ACC,,0,0,0,Completed,31.5,-110.4,N1":       "nonfatal none or unknown 31.5 N1",
		"CEN20LA001,1,ACC,None,0,0,0,Completed,0.0,0.0,N/A":      "nonfatal none 0",
		"CEN20LA001,1,INC,None,0,0,0,Completed,0.0,0.0,N1":       "incident none 0 N1",
		"CEN20LA001,1,ACC,Fatal,2,0,1,In work,0.0,0.0,N1":        "fatal fatal 2 N1",
		"CEN20LA001,1,ACC,Serious,0,1,0,N/A,0.0,-110.4,UNREG123": "nonfatal serious 0",
	} {
		doc := merged(t, header+row+"\n")
		f := doc.Meta.Fields
		got := strings.Join(strings.Fields(strings.Join([]string{f.One("severity").Str(), f.One("highest_injury").Str(), valueText(f.One("fatal_count")), valueText(f.One("latitude")), doc.Meta.Groups[Aircraft][0].One("registration").Str()}, " ")), " ")
		if got != want && got != want+" 0" {
			t.Errorf("%s: %q, want %q", row, got, want)
		}
		if uninjured := f.One("injuries").Str() == "none"; uninjured != strings.Contains(row, ",None,") {
			t.Errorf("%s: presented as uninjured: %v", row, uninjured)
		}
	}
}

func valueText(v filter.Value) string {
	if v.IsZero() {
		return ""
	}
	return v.String()
}
