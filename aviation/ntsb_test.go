package aviation

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
)

func TestCSV10ColumnNamesDiffer(t *testing.T) {
	published := merged(t, "Event.Id,Make,Model,Location,Country\nE1,Cessna,172,\"AUSTIN, TX\",United States\n")
	for name, text := range map[string]string{
		"blanks for dots":   "Event Id,Make,Model,Location,Country\nE1,Cessna,172,\"AUSTIN, TX\",United States\n",
		"the NTSB's tables": "ev_id,acft_make,acft_model,ev_city,ev_state\nE1,Cessna,172,AUSTIN,TX\n",
		"with its country":  "ev_id,acft_make,acft_model,ev_city,ev_state,ev_country\nE1,Cessna,172,AUSTIN,tx,USA\n",
	} {
		doc := merged(t, text)
		if strings.HasPrefix(text, "ev_id") { // which file it was is said, too
			if got := doc.Meta.Fields.One("data_source").Str(); got != fromTables {
				t.Errorf("%s: read as %s", name, got)
			}
			doc.Meta.Fields["data_source"] = published.Meta.Fields["data_source"]
			delete(doc.Meta.Fields, "filled")
		}
		if diff := cmp.Diff(meta(t, published), meta(t, doc)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	only := merged(t, "ev_id,acft_make,acft_model,ev_state\nE1,Cessna,172,TX\n")
	if got := only.Meta.Fields.One("state").Str(); got != "TX" {
		t.Errorf("a state without a city: %q", got)
	}
}

func meta(t *testing.T, d sextant.Document) string {
	t.Helper()
	m, err := d.Meta.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(m)
}

func TestCSV10ExtraAndRepeatedColumnsAreSaid(t *testing.T) {
	s := NewNTSB(source.Bytes("a.csv", []byte("Event.Id,Make,Colour,Make\nE1,Cessna,red,Piper\n")))
	inputs, err := s.Inputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for item, err := range inputs[0].Items(t.Context(), source.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		doc, _, err := item.Contribution.Merge(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := doc.Meta.Groups[Aircraft][0].One("make").Str(); got != "CESSNA" {
			t.Errorf("make %q: the first of two columns counts", got)
		}
	}
	want := []string{`Columns stand more than once, the first counts: "Make".`, `Columns not used: "Colour".`}
	if diff := cmp.Diff(want, inputs[0].Notes().Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestUnknownLayoutsNameWhatWasSeen(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no id column":    {"Make,Model\nCessna,172\n", `its header has "Make", "Model"`},
		"only an id":      {"Event.Id\nE1\n", `its header has "Event.Id"`},
		"other JSON":      {`{"NtsbNo":"X","City":"Y"}` + "\n", `the keys "City", "NtsbNo", not event_id`},
		"a list":          {"[{\"event_id\":1}]\n", "its header has"},
		"UTF-16":          {"\xff\xfeE\x00", `its header has "E"`},
		"a zip":           {"PK\x03\x04stuff,\n", "no text file"},
		"nothing":         {"\n\n", "no first line"},
		"a wide stranger": {strings.Repeat("c,", 40) + "\n", "and 29 more"},
	} {
		_, err := NewNTSB(source.Bytes("x.csv", []byte(c.text))).Inputs(t.Context())
		message, hint := sextant.PublicMessage(err)
		if sextant.ErrorCode(err) != sextant.CodeBadRequest || !strings.Contains(message, c.want) || hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCSV11PaddingCaseAndPlaceholders(t *testing.T) {
	doc := merged(t, "Event.Id,Make,Airport.Code,Airport.Name,Weather.Condition,Location,Country,Total.Fatal.Injuries,Registration.Number\n"+
		"E1,\"CESSNA  \",N/A,n/a,UNK,\"austin, tx\", united states ,,None\n")
	f := doc.Meta.Fields
	if got := doc.Meta.Groups[Aircraft][0]; got.One("make").Str() != "CESSNA" || !got.One("registration").IsZero() {
		t.Errorf("aircraft %v", got)
	}
	if f.One("state").Str() != "TX" || f.One("city").Str() != "AUSTIN" {
		t.Errorf("place %v", f)
	}
	for _, name := range []string{"airport_code", "airport_name", "fatal_count", "injuries"} {
		if v := f.One(name); !v.IsZero() {
			t.Errorf("%s is %q, want unknown", name, v)
		}
	}
	if strings.Contains(doc.Text, "N/A") || strings.Contains(doc.Text, "UNK") || strings.Contains(doc.Text, "killed") {
		t.Errorf("placeholders in the text:\n%s", doc.Text)
	}
}

func TestFLT23SeverityIsComparedWhole(t *testing.T) {
	docs := documents(t, "Event.Id,Injury.Severity,Total.Uninjured\nA,Fatal(2),\nB,Non-Fatal,1\nC,Unavailable,1\nD,Fatal(1),1\nE,Incident,1\nF,Fatal,\nG,,1\n")
	var got []string
	for _, d := range docs {
		got = append(got, d.Meta.Fields.One("severity").Str()+" "+d.Meta.Fields.One("injuries").Str())
	}
	want := []string{"fatal any", "nonfatal none", "unavailable ", "fatal any", "incident none", "fatal any", " "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInjuries(t *testing.T) {
	n := func(v int64) []filter.Value { return []filter.Value{filter.OfInt(v)} }
	s := func(v string) []filter.Value { return []filter.Value{filter.OfString(v)} }
	for name, c := range map[string]struct {
		fields filter.Fields
		want   string
	}{
		"hurt":                  {filter.Fields{"severity": s("nonfatal"), "minor_count": n(1), "uninjured_count": n(3)}, "any"},
		"nobody hurt":           {filter.Fields{"severity": s("nonfatal"), "fatal_count": n(0), "uninjured_count": n(3)}, "none"},
		"nobody hurt, blanks":   {filter.Fields{"severity": s("nonfatal"), "uninjured_count": n(3)}, "none"},
		"nobody recorded":       {filter.Fields{"severity": s("nonfatal"), "fatal_count": n(0), "uninjured_count": n(0)}, ""},
		"severity not recorded": {filter.Fields{"uninjured_count": n(3)}, ""},
		"nothing recorded":      {filter.Fields{}, ""},
	} {
		if got := injuries(c.fields); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestValues(t *testing.T) {
	for s, want := range map[string][]string{
		"Part 91: General Aviation": {"91"}, "Part 91 Subpart K: Fractional": {"91", "91K"}, "Part 91F: Special Flt Ops.": {"91", "91F"},
		"Part 135: Air Taxi & Commuter": {"135"}, "091": {"91"}, "091K": {"91", "91K"}, "Non-U.S., Commercial": nil, "Public Use": nil, "": nil,
	} {
		if got := farParts(s); !slices.Equal(got, want) {
			t.Errorf("parts of %q: %q, want %q", s, got, want)
		}
	}
	for s, want := range map[string]string{"kden": "DEN", "KDEN": "DEN", "DEN": "DEN", "K12": "K12", "D/FW": "D/FW", "NONE": "", "N/A": "", "pvt": "", "---": ""} {
		if got, ok := readAirportCode(s); !ok || got != want {
			t.Errorf("airport code %q: %q, want %q", s, got, want)
		}
	}
	if _, ok := readAirportCode("1.00E+06"); ok {
		t.Error("a code that a spreadsheet made a number is no code")
	}
	for s, want := range map[string]string{"n123ab": "N123AB", "C-GABC": "C-GABC", "NONE": "", "Unreg.": "", "UNREGISTERE": "", "USAF": "", "UNK": ""} {
		if got := readRegistration(s); got != want {
			t.Errorf("registration %q: %q, want %q", s, got, want)
		}
	}
	for _, c := range []struct{ location, country, city, state string }{
		{"LEADVILLE, CO", "United States", "LEADVILLE", "CO"},
		{"Coeur d'Alene, id", "united states", "COEUR D'ALENE", "ID"},
		{"Etchoropo, Sonora, Mexico", "Mexico", "ETCHOROPO, SONORA", ""},
		{"Toronto, ON", "Canada", "TORONTO", ""},
		{"Atlantic Ocean", "", "ATLANTIC OCEAN", ""},
		{", Gabon", "Gabon", ", GABON", ""},
		{"", "United States", "", ""},
	} {
		if city, state := place(c.location, c.country); city != c.city || state != c.state {
			t.Errorf("%q: %q %q, want %q %q", c.location, city, state, c.city, c.state)
		}
	}
}

func TestUnreadableCellsAreSaid(t *testing.T) {
	s := NewNTSB(source.Bytes("a.csv", []byte("Event.Id,Make,Event.Date,Latitude,Longitude,Total.Fatal.Injuries,Airport.Code\nE1,X,31-02-2001,91,0,some,1.00E+06\nE2,X,2001-02-03,0.0,0.0,1,KDEN\n")))
	inputs, err := s.Inputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for item, err := range inputs[0].Items(t.Context(), source.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		doc, _, err := item.Contribution.Merge(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"latitude", "fatal_count", "event_date", "airport_code"} {
			if v := doc.Meta.Fields.One(name); doc.ID == "ntsb:E1" && !v.IsZero() {
				t.Errorf("%s of E1 is %s", name, v)
			}
		}
		if doc.ID == "ntsb:E2" && (!doc.Meta.Fields.One("latitude").IsZero() || !doc.Meta.Fields.One("longitude").IsZero()) {
			t.Error("0/0 is no position")
		}
	}
	want := []string{`4 cells could not be read and were left unknown (line 2: event_date "31-02-2001"; line 2: latitude "91"; line 2: fatal_count "some"; line 2: airport_code "1.00E+06").`}
	if diff := cmp.Diff(want, inputs[0].Notes().Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestFLT08MonthPrecisionIsKept(t *testing.T) {
	doc := merged(t, "Event.Id,Make,Event.Date\nE1,Cessna,Nov-94\n")
	f := doc.Meta.Fields
	if f.One("event_date") != filter.Date(1994, 11, 1) || f.One("event_date_precision").Str() != "month" || f.One("event_month").Int() != 11 {
		t.Errorf("%v", f)
	}
	if !strings.Contains(doc.Text, "In November 1994, an event occurred.") {
		t.Errorf("text:\n%s", doc.Text)
	}
}

func TestBadRecordsAreRefusedWithTheReason(t *testing.T) {
	for text, want := range map[string]string{
		"Event.Id,Make\n,Cessna\n":                                  "the record has no event id",
		"Event.Id,Make\na b,Cessna\n":                               `"A B" is no event id`,
		"Event.Id,Make\nE1":                                         "cut off",
		"Event.Id,Make\nE1\nE2,x\n":                                 "1 cells where the header has 2",
		"{\"event_id\":\"E1\"}\n{\"event_id\":":                     "no narrative record",
		"{\"event_id\":\"E1\"}\n{\"x\":1}":                          "no event id",
		"{\"event_id\":\"E1\"}\n{\"event_id\":\"E2\",\"fatal\":{}}": "an object or list where a value belongs",
	} {
		inputs, err := NewNTSB(source.Bytes("a", []byte(text))).Inputs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var refused []string
		for item, err := range inputs[0].Items(t.Context(), source.Position{}) {
			if err != nil {
				t.Fatal(err)
			}
			if item.Outcome == sextant.Refused {
				refused = append(refused, item.Reason)
			}
		}
		if len(refused) != 1 || !strings.Contains(refused[0], want) {
			t.Errorf("%q: refused %q, want %q", text, refused, want)
		}
	}
}

func TestOpenNTSB(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.csv", "a.jsonl.gz", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := OpenNTSB(dir)
	if err != nil || len(s.blobs) != 2 || s.blobs[0].Name != "a.jsonl.gz" {
		t.Errorf("%v, %v", s, err)
	}
	for _, bad := range []string{filepath.Join(dir, "none.csv"), t.TempDir()} {
		_, err := OpenNTSB(bad)
		if message, _ := sextant.PublicMessage(err); sextant.ErrorCode(err) != sextant.CodeBadRequest || strings.Contains(message, dir) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := OpenNTSB(filepath.Join(dir, "none.csv")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestTextReadsWell(t *testing.T) {
	doc := merged(t, `Event.Id,Investigation.Type,Accident.Number,Event.Date,Location,Country,Latitude,Longitude,Airport.Code,Airport.Name,Injury.Severity,Aircraft.damage,Aircraft.Category,Registration.Number,Make,Model,Amateur.Built,Number.of.Engines,Engine.Type,FAR.Description,Schedule,Purpose.of.flight,Air.carrier,Total.Fatal.Injuries,Total.Serious.Injuries,Total.Minor.Injuries,Total.Uninjured,Weather.Condition,Broad.phase.of.flight,Report.Status,Publication.Date
20001208X05756,Accident,FTW96LA203,1996-05-08,"LEADVILLE, CO",United States,39.25,-106.3,LXV,LAKE COUNTY,Fatal(1),Destroyed,Airplane,N79212,CESSNA,172K,No,1,Reciprocating,Part 135: Air Taxi & Commuter,NSCH,Personal,"MOUNTAIN AIR, INC.",1,0,,2,IMC,LANDING,Probable Cause,17-07-1996
`, `{"event_id":"20001208X05756","narrative":"The pilot\u00a0turned.\r\nThen he landed.","probable_cause":"Wind."}`)
	const want = `Record
On 8 May 1996, a fatal accident occurred in or near Leadville, CO, United States. The NTSB number is FTW96LA203, the event id 20001208X05756. The airport recorded is Lake County (LXV). The position recorded is 39.25, -106.3.
The aircraft was a Cessna 172K, registration N79212, with 1 reciprocating engine. Its category is airplane. It was not amateur-built. The purpose of the flight was personal. The operating rule was Part 135: Air Taxi & Commuter. The flight was not scheduled. The operator was MOUNTAIN AIR, INC. The phase of flight was landing. The aircraft was destroyed.
1 person was killed, nobody was seriously injured and 2 were not injured. The injury severity is recorded as fatal.
The weather was instrument meteorological conditions (IMC).
The status of the report is Probable Cause. It was published on 17 July 1996.

Narrative
The pilot turned.
Then he landed.

Probable cause
Wind.`
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if doc.Title != "Cessna 172K, Leadville, CO, 8 May 1996 (FTW96LA203)" {
		t.Errorf("title %q", doc.Title)
	}
	var got []string
	for _, p := range doc.Parts {
		got = append(got, p.Kind+"|"+p.Locator+"|"+doc.Text[p.Start:min(p.End, p.Start+9)])
	}
	parts := []string{"heading||Record", "record|Record|On 8 May ", "heading||Narrative", "narrative|Narrative|The pilot", "heading||Probable ", "cause|Probable cause|Wind."}
	if diff := cmp.Diff(parts, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestUnknownMakersAreSaid(t *testing.T) {
	doc := merged(t, "Event.Id,Make,Model\nE1,UNKNOWN,N/A\n")
	if doc.Title != "Aircraft of unrecorded make" || !strings.Contains(doc.Text, "The aircraft was an aircraft of unrecorded make.") {
		t.Errorf("%s\n%s", doc.Title, doc.Text)
	}
	if got := doc.Meta.Groups[Aircraft][0].One("make").Str(); got != "UNKNOWN" {
		t.Errorf("make %q: what the record says stays a value", got)
	}
}

func TestProperNames(t *testing.T) {
	for s, want := range map[string]string{
		"LEADVILLE": "Leadville", "PZL BIELSKO": "PZL Bielsko", "O'HARE": "O'Hare", "ST. PAUL": "St. Paul", "PIPER'S": "Piper's",
		"AIR TRACTOR INC": "Air Tractor Inc", "deHavilland": "deHavilland", "ÅLESUND": "Ålesund", "7AC": "7AC", "": "",
	} {
		if got := proper(s); got != want {
			t.Errorf("proper(%q) = %q, want %q", s, got, want)
		}
	}
}

// Whatever a line holds, it is a document that fits the schema, or refused.
func FuzzNarrative(f *testing.F) {
	f.Add([]byte(`{"event_id":"E1","event_date":"Nov-94","fatal":2,"latitude":"0","aircraft":[{"make":"CESSNA","engines":"1"},{}],"narrative":"x\u0000\u000b","phase":"LANDING"}`))
	f.Add([]byte(`{"event_id":"E1","aircraft":null,"probable_cause":"\ud800"}`))
	f.Add([]byte(`{"event_id":"","x":[[[[]]]]}`))
	schema := Incidents().Schema
	f.Fuzz(func(t *testing.T, data []byte) {
		in := newNarrativeInput(source.Bytes("n.jsonl", nil), nil, clock)
		e, _, err := in.event(data)
		if err != nil {
			return
		}
		doc, _, err := contribution{e}.Merge(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(doc.Meta); err != nil {
			t.Fatal(err)
		}
		again, _, err := contribution{e}.Merge(&doc)
		if err != nil || again.Text != doc.Text || meta(t, again) != meta(t, doc) {
			t.Fatalf("merging again changed\n%s\nto\n%s\n%v", meta(t, doc)+doc.Text, meta(t, again)+again.Text, err)
		}
	})
}
