package aviation

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/extract"
	"github.com/sextant-rag/sextant/ingest"
)

// Reports of 2007 to 2024 and the rows of the same cases: each report joins its event, its
// fields agree with the record's but for what is listed, and its pages can be cited.
func TestReportsJoinTheirEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the PDF engine")
	}
	rows := shared(t, "ntsb-aviationdata", "AviationData-2017.csv.gz")
	export := shared(t, "ntsb-carol", "NTSB_2020_2024.csv.gz")
	reports, err := filepath.Glob(filepath.Join(shared(t, "ntsb-pdf"), "*.pdf"))
	if err != nil || len(reports) != 25 {
		t.Fatalf("%d reports, %v", len(reports), err)
	}
	st := openStore(t)
	x := &extract.Extractor{CacheDir: t.TempDir()}
	defer func() { _ = x.Close() }()
	run := func(paths ...string) sextant.Receipt {
		t.Helper()
		src, err := OpenNTSB(paths...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: Incidents(), Source: src.Extracting(x)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	run(rows, export)
	if r := run(reports...); r.Read != 25 || r.Records[sextant.Merged] != 25 {
		t.Errorf("reports: %v", r.Records)
		for _, f := range r.Files {
			t.Logf("%s %v %v", f.Name, f.Records, f.Refused)
		}
	}
	if r := run(reports...); r.Records[sextant.Unchanged] != 25 {
		t.Errorf("again: %v", r.Records)
	}
	c, err := st.Open(t.Context(), "incidents")
	if err != nil {
		t.Fatal(err)
	}
	var differ []string
	for _, path := range reports {
		name := strings.TrimSuffix(filepath.Base(path), ".pdf")
		if strings.HasPrefix(name, "sycamore") {
			continue
		}
		id := eventDocumentID(name) // older reports are named by the event, newer ones by the case
		docs, err := c.Get(t.Context(), []sextant.DocumentID{id})
		if err != nil || len(docs) != 1 {
			t.Fatalf("%s: %d documents, %v", name, len(docs), err)
		}
		doc := docs[0]
		for _, d := range doc.Differences {
			if d.Source.Kind == fromReport {
				differ = append(differ, d.Field)
			}
		}
		pages := 0
		for _, p := range doc.Parts {
			if p.Kind == partPage {
				pages++
			}
		}
		if pages < 2 || !slices.Contains(keywords(doc.Meta.Fields["data_source"]), fromReport) {
			t.Errorf("%s: %d pages, from %v", name, pages, doc.Meta.Fields["data_source"])
		}
	}
	slices.Sort(differ)
	t.Logf("fields in which reports differ from rows: %v", differ)
	for _, field := range []string{"event_date", "fatal_count", "registration", "latitude", "longitude"} {
		if slices.Contains(differ, field) {
			t.Errorf("%s differs", field)
		}
	}
}

// What a report says becomes fields, findings and parts of its event.
func TestAReportBecomesFields(t *testing.T) {
	page1 := "Aviation Investigation Final Report\n\nLocation: | Palmer, Alaska | Accident Number: | ANC25LA012\nDate & Time: | December 24, 2024, 16:00 Local | Registration: | N3802Z\n" +
		"Aircraft: | Piper PA-18-150 | Aircraft Damage: | Substantial\nInjuries: | 1 None\nFlight Conducted Under: | Part 91: General aviation - Personal |\n\n" +
		"Probable Cause and Findings\n\nThe National Transportation Safety Board determines the probable cause(s) of this accident to be:\n\nThe pilot’s improper airspeed management.\n\n" +
		"Findings\n\nPersonnel issues | Aircraft control - Pilot\nAircraft | Airspeed - Not attained/maintained"
	page2 := "Aircraft Make: | Piper | Registration: | N3802Z\nModel/Series: | PA-18-150 Serial Number: | 18-7535\nAirport: | Palmer Municipal (PAQ) | Airport Elevation: | 242 ft msl\n" +
		"Total Injuries: | 1 None | Latitude, Longitude: | 61.614951,-149.07413\nOriginal Publish Date: | June 13, 2025\nInvestigation Docket: | https://data.ntsb.gov/Docket?ProjectID=199467"
	text := extract.Text{Text: page1 + "\n\n" + page2, Parts: []sextant.Part{
		{Kind: "page", Locator: "p. 1", Start: 0, End: len(page1)}, {Kind: "page", Locator: "p. 2", Start: len(page1) + 2, End: len(page1) + 2 + len(page2)},
	}}
	for _, head := range []string{"Probable Cause and Findings", "\nFindings\n"} {
		i := strings.Index(text.Text, head)
		text.Parts = append(text.Parts, sextant.Part{Kind: "heading2", Start: i, End: i + len(head)})
	}
	e, odd, err := readReport(text, reading{now: clock}, "r.pdf")
	if err != nil || len(odd) > 0 {
		t.Fatal(err, odd)
	}
	doc := e.document()
	want := `{"aircraft":[{"accident_number":"ANC25LA012","damage":"substantial","far_description":"Part 91: General aviation","far_part":"91","make":"PIPER","make_recorded":"Piper","model":"PA-18-150","purpose":"Personal","registration":"N3802Z","serial_number":"18-7535"}],` +
		`"airport_code":"PAQ","airport_elevation":242,"airport_name":"Palmer Municipal","case_number":"ANC25LA012","city":"PALMER","country":"United States","data_source":"report","docket_url":"https://data.ntsb.gov/Docket?ProjectID=199467",` +
		`"event_date":"2024-12-24","event_month":12,"event_time":"16:00","filled":["*: report of 2025-06-13, Probable Cause","cause: report of 2025-06-13, Probable Cause","report: report of 2025-06-13, Probable Cause"],` +
		`"findings":[{"finding":"Personnel issues - Aircraft control - Pilot","finding_category":"Personnel issues","finding_order":1,"finding_subcategory":"Aircraft control"},{"finding":"Aircraft - Airspeed - Not attained/maintained","finding_category":"Aircraft","finding_order":2,"finding_subcategory":"Airspeed"}],` +
		`"highest_injury":"none","injuries":"none","latitude":61.614951,"location":"Palmer, AK","longitude":-149.07413,"publication_date":"2025-06-13","report_status":"Probable Cause","severity":"nonfatal","state":"AK","uninjured_count":1}`
	if diff := cmp.Diff(want, meta(t, doc)); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	var parts []string
	for _, p := range doc.Parts {
		if p.Locator != "" && p.Kind != partRecord {
			parts = append(parts, p.Kind+" "+p.Locator)
		}
	}
	if diff := cmp.Diff([]string{"cause Probable cause", "finding Finding 1", "finding Finding 2", "report Report", "page Report, p. 1", "page Report, p. 2"}, parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if again := readEvent(&doc).document(); again.Text != doc.Text || meta(t, again) != meta(t, doc) {
		t.Errorf("read back it is another document:\n%s", cmp.Diff(doc.Text, again.Text))
	}
	if _, _, err := readReport(extract.Text{Text: "A poem."}, reading{now: clock}, "p.pdf"); err == nil {
		t.Error("a poem is no report")
	}
}
