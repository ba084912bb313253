package httpapi

import (
	"fmt"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// The corpus behind the fake engine: a few invented documents with what real ones have,
// characters of several bytes included, so that offsets in bytes and in UTF-16 differ.

type section struct{ kind, locator, text string }

func document(id, collection, title string, meta filter.Meta, sections ...section) sextant.Document {
	d := sextant.Document{ID: sextant.DocumentID(id), Collection: collection, Title: title, Meta: meta,
		Source: sextant.Source{Name: strings.SplitN(id, ":", 2)[0], Kind: "table", URI: "sample.csv", Authority: 30, Retrieved: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}}
	for i, s := range sections {
		if i > 0 {
			d.Text += "\n\n"
		}
		d.Parts = append(d.Parts, sextant.Part{Kind: s.kind, Locator: s.locator, Start: len(d.Text), End: len(d.Text) + len(s.text)})
		d.Text += s.text
	}
	revision, err := d.ComputeRevision()
	if err != nil {
		panic(err)
	}
	d.Revision = revision
	return d
}

func keywords(pairs ...string) filter.Fields {
	f := filter.Fields{}
	for i := 0; i < len(pairs); i += 2 {
		f[pairs[i]] = []filter.Value{filter.OfString(pairs[i+1])}
	}
	return f
}

func talkeetna() sextant.Document {
	fields := keywords("event_id", "20100701X33001", "state", "AK", "city", "TALKEETNA", "country", "United States", "severity", "fatal", "weather", "VMC")
	fields["event_date"] = []filter.Value{filter.Date(2010, time.June, 27)}
	fields["fatal_count"] = []filter.Value{filter.OfInt(2)}
	meta := filter.Meta{Fields: fields, Groups: map[string][]filter.Fields{"aircraft": {keywords("registration", "N733QX", "make", "CESSNA", "model", "172N", "phase", "CRUISE", "damage", "destroyed")}}}
	return document("ntsb:20100701X33001", "incidents", "Cessna 172N, N733QX, Talkeetna, AK, 27 June 2010", meta,
		section{"facts", "Facts", "Event 20100701X33001, accident ANC10FA061. 27 June 2010, Talkeetna, Alaska. Cessna 172N, N733QX, destroyed. 2 fatal injuries. Visual conditions; temperature 14 °C, dew point 13 °C."},
		section{"narrative", "Narrative", "The airplane left Talkeetna for a café strip 40 nm to the north. The pilot reported a rough engine eleven minutes later and turned back. " +
			"A witness — a lodge owner — heard the engine “cough” twice and stop. The airplane stalled at about 200 ft above the trees. " +
			"Examination found the fuel selector on both tanks, 22 gallons of clean fuel, and no defect of the engine. The carburetor heat control was found in the OFF position."},
		section{"cause", "Probable cause", "A loss of engine power due to carburetor ice, and the pilot’s failure to keep flying speed afterwards. Contributing was that carburetor heat was not applied."})
}

func merrill() sextant.Document {
	fields := keywords("event_id", "20100815X44002", "state", "AK", "city", "ANCHORAGE", "country", "United States", "severity", "nonfatal", "airport", "MRI")
	fields["event_date"] = []filter.Value{filter.Date(2010, time.August, 14)}
	meta := filter.Meta{Fields: fields, Groups: map[string][]filter.Fields{"aircraft": {
		keywords("registration", "N1904S", "make", "CESSNA", "model", "207", "damage", "substantial"),
		keywords("registration", "N52PA", "make", "PIPER", "model", "PA-18", "damage", "minor")}}}
	return document("ntsb:20100815X44002", "incidents", "Cessna 207 and Piper PA-18, Anchorage, AK, 14 August 2010", meta,
		section{"facts", "Facts", "Event 20100815X44002, accident ANC10LA077. 14 August 2010, Merrill Field, Anchorage, Alaska. Two aircraft: Cessna 207, N1904S, substantial damage; Piper PA-18, N52PA, minor damage. No injuries."},
		section{"cause", "Probable cause", "The failure of the pilot of the Cessna to see the taxiing Piper in time."})
}

// longDocument is large enough to scroll in, with one sentence far down.
func longDocument() sextant.Document {
	sections := []section{{"facts", "Facts", "Event 19960612X00099. A long report for scrolling."}}
	for i := 1; i <= 60; i++ {
		sections = append(sections, section{"page", fmt.Sprintf("p. %d", i), strings.Repeat(fmt.Sprintf("Paragraph %d describes what was examined at the site and found to be in order. ", i), 6)})
	}
	sections[48].text = "The left magneto — serial № 4471 — was found with its contact points welded. " + sections[48].text
	return document("ntsb:19960612X00099", "incidents", "Beech 35, N35LT, Laredo, TX, 12 June 1996", filter.Meta{Fields: keywords("event_id", "19960612X00099", "state", "TX")}, sections...)
}

func everyDocument() []sextant.Document {
	return []sextant.Document{talkeetna(), merrill(), longDocument(), hostileDocument()}
}

// quote cuts the first occurrence of text out of the document.
func quote(d sextant.Document, text string) sextant.Quote {
	start := strings.Index(d.Text, text)
	q, err := d.Quote(start, start+len(text))
	if err != nil {
		panic(err)
	}
	return q
}

func passage(d sextant.Document, index int, text string, score float64) sextant.Passage {
	q := quote(d, text)
	return sextant.Passage{ChunkID: sextant.ChunkID(d.ID, index), DocumentID: d.ID, Source: d.Collection, ChunkIndex: index, Content: text, Metadata: d.Meta,
		Title: d.Title, Locator: q.Locator, Heading: q.Locator, Start: q.Start, End: q.End, Score: score,
		Reasons: []sextant.Reason{{Kind: "lexical", Score: score, Rank: 1, Terms: []string{"carburetor", "power"}}}}
}

func collections() []sextant.CollectionInfo {
	coverage := sextant.Coverage{Collection: "incidents", Field: "event_date", From: "1982-01-01", To: "2017-03-20"}
	return []sextant.CollectionInfo{
		{Name: "incidents", Title: "NTSB accidents and incidents", Role: sextant.RoleEvents, Unit: "events", Documents: 78405, Chunks: 81220, Disk: 311 << 20, Memory: 96 << 20,
			Coverage: &coverage, Fill: "sextant ingest ntsb FILE", Files: []string{"AviationData-2017.csv.gz", "1992-1995.jsonl.gz"}, DataDate: "2017-03-20"},
		{Name: "news", Title: "Aviation news", Role: sextant.RoleReports, Unit: "articles", Fill: "sextant ingest news"},
		{Name: "regulations", Title: "14 CFR, Aeronautics and Space", Role: sextant.RoleRules, Unit: "sections", Fill: "sextant ingest ecfr --parts 1,61,91,121,135"},
	}
}

func incidents() sextant.Description {
	keyword := func(name, label, group string, known, unknown, distinct int64, values ...[]any) sextant.FieldInfo {
		return sextant.FieldInfo{Field: filter.Field{Name: name, Label: label, Kind: filter.Keyword, Facet: len(values) > 0, Fold: filter.Case, Group: group},
			Known: known, Unknown: unknown, Distinct: distinct, Values: values}
	}
	return sextant.Description{
		CollectionInfo: collections()[0],
		Fields: []sextant.FieldInfo{
			{Field: filter.Field{Name: "event_date", Label: "date", Description: "Day of the event, local.", Kind: filter.Time}, Known: 78405, Min: "1948-10-24", Max: "2017-03-20"},
			keyword("state", "state", "", 74120, 4285, 62, []any{"CA", 8410}, []any{"TX", 5613}, []any{"FL", 5520}, []any{"AK", 5388}),
			keyword("severity", "injury severity", "", 78300, 105, 4, []any{"nonfatal", 59713}, []any{"fatal", 15554}, []any{"incident", 3033}),
			keyword("make", "make", "aircraft", 79484, 73, 7510, []any{"CESSNA", 25467}, []any{"PIPER", 14091}),
			keyword("model", "model", "aircraft", 79467, 90, 10787),
			keyword("city", "city", "", 78390, 15, 17102),
			{Field: filter.Field{Name: "fatal_count", Label: "deaths", Kind: filter.Int}, Known: 55123, Unknown: 23282, Min: 0, Max: 349},
		},
		Groups: []sextant.GroupInfo{{Name: "aircraft", Label: "aircraft", Count: 79557}},
		Examples: []string{
			"How many fatal Cessna 172 accidents happened in Alaska between 2008 and 2012, by year?",
			"What caused the Cessna 172 accident at Talkeetna on 27 June 2010?",
			"How many fatal Cessna 172 accidents happened in Vermont in 2016?",
			"Which five makes had the most accidents in Texas in 2014?",
		},
	}
}
