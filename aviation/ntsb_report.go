package aviation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/extract"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/table"
)

// maxReport bounds a report as a file.
const maxReport = 256 << 20

// reportInput is a report of the NTSB as a PDF: one record.
type reportInput struct {
	blob      source.Blob
	extractor *extract.Extractor
	*caseFinder
	how      reading
	consumed atomic.Int64
	warnings []string
	unread   unread
}

// Name implements source.Input.
func (in *reportInput) Name() string { return in.blob.Name }

// Kind implements source.Input.
func (in *reportInput) Kind() string { return "ntsb-" + fromReport }

// Size implements source.Input.
func (in *reportInput) Size() int64 { return in.blob.Size }

// Digest implements source.Input.
func (in *reportInput) Digest(ctx context.Context) (string, error) { return in.blob.Digest(ctx) }

// Consumed implements source.Input.
func (in *reportInput) Consumed() int64 { return in.consumed.Load() }

// Notes implements source.Input.
func (in *reportInput) Notes() source.Notes {
	return source.Notes{Encoding: "PDF", Warnings: append(in.warnings, in.unread.warnings()...)}
}

// Items implements source.Input.
func (in *reportInput) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		if after.Record > 0 {
			return
		}
		in.unread, in.warnings = unread{}, nil
		at, next := source.Position{}, source.Position{Record: 1, Offset: in.blob.Size}
		data, err := readWhole(in.blob, &in.consumed, maxReport)
		if err != nil {
			yield(source.Item{}, err)
			return
		}
		text, err := in.extractor.Extract(ctx, in.blob.Name, bytes.NewReader(data), int64(len(data)))
		var refusal *extract.Refusal
		switch {
		case errors.As(err, &refusal):
			yield(source.Refuse(at, next, capital(refusal.Reason)), nil)
			return
		case err != nil:
			yield(source.Item{}, err)
			return
		}
		in.warnings = text.Warnings
		e, odd, err := readReport(text, in.how, in.Name())
		if err != nil {
			yield(source.Refuse(at, next, err.Error()), nil)
			return
		}
		in.unread.add(1, odd)
		item, err := in.caseFinder.item(ctx, at, next, e)
		yield(item, err)
	}
}

// readWhole reads a blob that must fit in memory.
func readWhole(b source.Blob, consumed *atomic.Int64, limit int64) ([]byte, error) {
	in, err := b.Stream(consumed)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", b.Name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: it is larger than %d bytes", b.Name, limit)
	}
	return data, nil
}

// reportLabels are the labels of a report's tables that are read, with where they go.
// Names in capitals are read here.
var reportLabels = []struct{ label, field string }{
	{"Location", "PLACE"}, {"Accident Number", "NUMBER"}, {"Incident Number", "NUMBER"}, {"Date & Time", "WHEN"}, {"Registration", "registration"}, {"Aircraft", "AIRCRAFT"},
	{"Aircraft Damage", "damage"}, {"Defining Event", ""}, {"Injuries", "INJURIES"}, {"Flight Conducted Under", "RULE"},
	{"Aircraft Make", "make_recorded"}, {"Model/Series", "model"}, {"Aircraft Category", "aircraft_category"}, {"Amateur Built", "amateur_built"}, {"Serial Number", "serial_number"},
	{"Year of Manufacture", ""}, {"Airworthiness Certificate", ""}, {"Landing Gear Type", ""}, {"Seats", ""}, {"Engines", "ENGINES"}, {"Operator", "operator"},
	{"Conditions at Accident Site", "WEATHER"}, {"Condition of Light", ""}, {"Airport", "AIRPORT"}, {"Airport Elevation", "ELEVATION"},
	{"Latitude, Longitude", "POSITION"}, {"Total Injuries", "INJURIES"}, {"Report Date", "publication_date"}, {"Original Publish Date", "publication_date"},
	{"Last Revision Date", ""}, {"Additional Participating Persons", ""}, {"Additional Participating", ""}, {"Investigation Class", ""}, {"Note", ""}, {"Publish Date", "publication_date"}, {"Investigation Docket", "docket_url"}, {"Investigator In Charge (IIC)", ""}, {"Runway Surface Type", ""}, {"Operating Certificate(s) Held", ""},
	{"Runway Surface Condition", ""}, {"Engine Manufacturer", ""}, {"Registered Owner", ""}, {"Rated Power", ""}, {"Certified Max Gross Wt.", ""}, {"Aircraft Fire", ""}, {"Aircraft Explosion", ""},
}

var reportLabel = sync.OnceValue(func() *regexp.Regexp {
	var any []string
	for _, l := range reportLabels {
		any = append(any, regexp.QuoteMeta(l.label))
	}
	return regexp.MustCompile(`(?m)(?:^|\| |[^|\w] ?|\w )(` + strings.Join(any, "|") + `):(?: |$)`)
})

// readTables reads the labels of a report's tables. In some files the columns of a table
// run together, so that a label ends the value before it. Of a label that stands several
// times the first with a value counts; a second aircraft's labels are counted.
func readTables(text string) (values map[string]string, aircraft int) {
	values = map[string]string{}
	fieldOf := map[string]string{}
	for _, l := range reportLabels {
		fieldOf[l.label] = l.field
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		at := reportLabel().FindAllStringSubmatchIndex(line, -1)
		for i, m := range at {
			end := len(line)
			if i+1 < len(at) {
				end = at[i+1][2]
			}
			field := fieldOf[line[m[2]:m[3]]]
			value := strings.Trim(line[min(m[3]+1, end):end], " |")
			value, _, _ = strings.Cut(value, " | ")
			if field == "make_recorded" {
				aircraft++
			}
			if value = clean(value); field != "" && value != "" && values[field] == "" {
				values[field] = value
			}
		}
	}
	return values, aircraft
}

var errNoReport = errors.New("it is no report of the NTSB: no accident number stands in it")

var reportNumberForm = regexp.MustCompile(`^[A-Z]{3}\d{2}[A-Z]{1,3}\d{3,4}[A-Z]?$`)

// readReport reads the text of a report as an event.
func readReport(text extract.Text, how reading, uri string) (event, []string, error) {
	values, aircraft := readTables(text.Text)
	number := strings.ToUpper(filter.Squeeze.Of(values["NUMBER"]))
	if !reportNumberForm.MatchString(number) {
		return event{}, nil, errNoReport
	}
	how.order = map[string]table.Order{"event_date": table.MonthFirst, "publication_date": table.MonthFirst}
	r := cellReader{reading: how, rank: rank{kind: fromReport}}
	e := event{cases: []string{caseNumber(number)}, own: claims{}, aircraft: map[string]claims{}, findings: map[string]claims{}, texts: claims{}, sources: []string{fromReport}, uri: uri}
	readReportFields(&r, e.own, values, text)
	element := claims{}
	if aircraft <= 1 { // of two it cannot be told here which cell is whose
		r.claim(element, "accident_number", number)
		readReportAircraft(&r, element, values)
	}
	r.settle(e.own, element)
	if len(element) > 0 {
		e.aircraft[elementKey(element)] = element
	}
	settled := rankOf(fromReport, e.own)
	sections := reportSections(text)
	if cause := reportCause(sections["Probable Cause and Findings"]); cause != "" {
		e.texts[partCause] = textClaim(cause, settled)
	}
	for i, line := range reportFindings(sections["Findings"]) {
		if cs := finding(line); cs != nil {
			cs["finding_order"] = claim{values: []filter.Value{filter.OfInt(int64(i + 1))}}
			cs.stamp(settled)
			e.findings[findingKey(cs)] = cs
		}
	}
	e.texts[partReport] = textClaim(reportPages(text), settled)
	return e, r.odd, nil
}

var (
	reportWhen   = regexp.MustCompile(`^(.*\d{4}),? +(\d{1,2}:?\d{2}) ?([A-Za-z]{3,5})?`)
	reportHarm   = regexp.MustCompile(`(\d+) (Fatal|Serious|Minor|None)`)
	reportNumber = regexp.MustCompile(`-?\d+(?:\.\d+)?`)
	portCode     = regexp.MustCompile(`^(.*?)(?: \(([A-Z0-9]{2,4})\)|,? ?([A-Z0-9]{3,4}))?$`)
)

func readReportFields(r *cellReader, own claims, values map[string]string, text extract.Text) {
	for _, field := range []string{"publication_date", "docket_url"} {
		r.claim(own, field, values[field])
	}
	if m := reportWhen.FindStringSubmatch(values["WHEN"]); m != nil {
		r.claim(own, "event_date", strings.TrimRight(m[1], ", "))
		r.claim(own, "event_time", m[2])
		if zone := strings.ToUpper(m[3]); zone != "LOCAL" {
			r.claim(own, "time_zone", zone)
		}
	}
	place := values["PLACE"]
	if i := strings.LastIndex(place, ","); i > 0 {
		city, tail, country := strings.TrimSpace(place[:i]), strings.TrimSpace(place[i+1:]), ""
		if stateCode(tail) != "" {
			country = "United States"
		} else {
			country = tail
		}
		r.claim(own, "location", location(city, tail, country))
		r.claim(own, "country", country)
	}
	if m := reportNumber.FindAllString(values["POSITION"], -1); len(m) == 2 {
		r.claim(own, "latitude", m[0])
		r.claim(own, "longitude", m[1])
	}
	switch w := strings.ToLower(values["WEATHER"]); {
	case strings.HasPrefix(w, "visual"):
		r.claim(own, "weather", "VMC")
	case strings.HasPrefix(w, "instrument"):
		r.claim(own, "weather", "IMC")
	}
	if m := portCode.FindStringSubmatch(values["AIRPORT"]); m != nil {
		r.claim(own, "airport_name", strings.TrimRight(m[1], ", "))
		r.claim(own, "airport_code", m[2]+m[3])
	}
	r.claim(own, "airport_elevation", reportNumber.FindString(values["ELEVATION"]))
	readHarm(r, own, values["INJURIES"])
	status := ""
	switch head := text.Text[:min(len(text.Text), 400)] + text.Title; {
	case strings.Contains(head, "Final Report"):
		status = "Probable Cause"
	case strings.Contains(head, "Factual Report"):
		status = "Factual"
	case strings.Contains(head, "Preliminary Report"):
		status = "Preliminary"
	}
	r.claim(own, "report_status", status)
}

// readHarm reads "1 Fatal, 2 Serious". The worst of it is the event's severity.
func readHarm(r *cellReader, own claims, text string) {
	counts := map[string]int{}
	for _, m := range reportHarm.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		counts[m[2]] += n
	}
	for level, field := range map[string]string{"Fatal": "fatal_count", "Serious": "serious_count", "Minor": "minor_count", "None": "uninjured_count"} {
		if n, ok := counts[level]; ok {
			r.claim(own, field, strconv.Itoa(n))
		}
	}
	for _, level := range []string{"Fatal", "Serious", "Minor", "None"} {
		if counts[level] > 0 {
			r.claim(own, "highest_injury", level)
			r.claim(own, "severity", level)
			return
		}
	}
}

func readReportAircraft(r *cellReader, cs claims, values map[string]string) {
	for _, field := range []string{"registration", "damage", "make_recorded", "model", "aircraft_category", "amateur_built", "serial_number"} {
		r.claim(cs, field, values[field])
	}
	if operator := values["operator"]; !strings.EqualFold(operator, "On file") {
		r.claim(cs, "operator", operator)
	}
	if n, kind, ok := strings.Cut(values["ENGINES"], " "); ok {
		r.claim(cs, "engine_count", n)
		r.claim(cs, "engine_type", kind)
	}
	rule, purpose, _ := strings.Cut(values["RULE"], " - ")
	r.claim(cs, "far_description", rule)
	r.claim(cs, "purpose", purpose)
}

// reportSections are the texts under the headings of a report, each up to the next.
func reportSections(text extract.Text) map[string]string {
	out := map[string]string{}
	var heads []sextant.Part
	for _, p := range text.Parts {
		if strings.HasPrefix(p.Kind, "heading") {
			heads = append(heads, p)
		}
	}
	for i, p := range heads {
		end := len(text.Text)
		if i+1 < len(heads) {
			end = heads[i+1].Start
		}
		name := strings.TrimSpace(text.Text[p.Start:p.End])
		if body := strings.TrimSpace(text.Text[p.End:end]); body != "" {
			out[name] = strings.TrimSpace(out[name] + "\n" + body)
		}
	}
	return out
}

var determines = regexp.MustCompile(`(?s)^The National Transportation Safety Board determines the probable causes?(?:\(s\))? of this (?:accident|incident|occurrence) to be(?: as follows)?[:.]\s*`)

// reportCause is the probable cause without the words before it.
func reportCause(section string) string {
	return cleanText(determines.ReplaceAllString(section, ""))
}

// reportFindings are the coded findings in a report's table: "Personnel issues | Aircraft
// control - Pilot". The numbered findings of reports before 2009 are of another scheme and
// stay text.
func reportFindings(section string) []string {
	var out []string
	for line := range strings.Lines(section) {
		category, rest, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if ok && findingStart.MatchString(category+" -") && rest != "" {
			out = append(out, category+" - "+clean(rest))
		}
	}
	return out
}

// reportPages is the text with a form feed between pages.
func reportPages(text extract.Text) string {
	var pages []string
	for _, p := range text.Parts {
		if p.Kind == "page" {
			if page := strings.TrimSpace(text.Text[p.Start:p.End]); page != "" {
				pages = append(pages, page)
			}
		}
	}
	if len(pages) == 0 {
		return cleanText(text.Text)
	}
	return strings.Join(pages, pageBreak)
}
