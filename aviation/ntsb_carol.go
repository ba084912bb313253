package aviation

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/table"
)

// carolField names the field a column of a CAROL export feeds, by the column's name
// reduced to letters and digits. Names in capitals are read here, the others as they are.
var carolField = map[string]string{
	"ntsbno": "NUMBER", "eventtype": "investigation_type", "mkey": "case_key", "eventdate": "DATE",
	"city": "CITY", "state": "STATE", "country": "COUNTRY", "reportno": "report_number",
	"n": "registration", "serialnumber": "serial_number", "hassafetyrec": "safety_recommendation", "mode": "MODE", "reporttype": "report_type",
	"originalpublishdate": "publication_date", "originalpublisheddate": "publication_date",
	"docketpublishdate": "docket_date", "docketoriginalpublisheddate": "docket_date",
	"highestinjurylevel": "highest_injury", "fatalinjurycount": "fatal_count", "seriousinjurycount": "serious_count", "minorinjurycount": "minor_count",
	"probablecause": "CAUSE", "findings": "FINDINGS", "eventid": "EVENT", "latitude": "latitude", "longitude": "longitude",
	"make": "make_recorded", "vehiclemake": "make_recorded", "model": "model", "vehiclemodel": "model",
	"aircraftcategory": "aircraft_category", "airportid": "airport_code", "airportname": "airport_name",
	"amateurbuilt": "amateur_built", "numberofengines": "engine_count", "enginetype": "engine_type", "scheduled": "schedule", "purposeofflight": "purpose",
	"far": "far_description", "aircraftdamage": "damage", "weathercondition": "weather", "operator": "operator", "broadphaseofflight": "phase",
	"reportstatus": "STATUS", "completionstatus": "STATUS", "mostrecentreporttype": "MOST", "docketurl": "docket_url", "reporturl": "report_url", "repgenflag": "IGNORED",
}

// carolRecord is a row of an export or a result of a search, by the names of carolField.
// An export has a cell for each, a search the list of its values.
type carolRecord map[string]string

// isCarol reports whether a header is that of a CAROL export.
func isCarol(header []string) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(header, func(h string) bool { return strings.EqualFold(filter.Squeeze.Of(h), name) })
	}
	return has("ntsbno") && has("mkey")
}

// carolInput is an export of CAROL: a row for each case, and in one cell, in one order,
// what there is several times in a case with several aircraft.
type carolInput struct {
	*table.File
	*caseFinder
	fields []string
	unused []string
	how    reading
	unread unread
}

func newCarolInput(f *table.File, finder *caseFinder, now time.Time) *carolInput {
	in := &carolInput{File: f, caseFinder: finder, how: carolReading(now)}
	for _, name := range f.Header {
		field := carolField[strings.ToLower(filter.Squeeze.Of(name))]
		if field == "" || slices.Contains(in.fields, field) {
			in.unused = append(in.unused, name)
			field = ""
		}
		in.fields = append(in.fields, field)
	}
	return in
}

// carolReading is how CAROL writes: dates in figures with the month first.
func carolReading(now time.Time) reading {
	return reading{now: now, order: map[string]table.Order{"docket_date": table.MonthFirst, "publication_date": table.MonthFirst, "event_date": table.MonthFirst}}
}

// Name implements source.Input.
func (in *carolInput) Name() string { return in.Blob.Name }

// Kind implements source.Input.
func (in *carolInput) Kind() string { return "ntsb-" + fromCarol }

// Size implements source.Input.
func (in *carolInput) Size() int64 { return in.Blob.Size }

// Digest implements source.Input.
func (in *carolInput) Digest(ctx context.Context) (string, error) { return in.Blob.Digest(ctx) }

// Items implements source.Input.
func (in *carolInput) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		in.unread = unread{}
		source.ReadEach(in.Rows(ctx, after), func(row table.Row) (source.Item, error) { return in.item(ctx, row) }, yield)
	}
}

func (in *carolInput) item(ctx context.Context, row table.Row) (source.Item, error) {
	switch {
	case row.Problem != "":
		return source.Refuse(row.At, row.Next, row.Problem), nil
	case row.Blank != "":
		return source.Skip(row.At, row.Next, row.Blank), nil
	}
	record := carolRecord{}
	for i, cell := range row.Cells {
		if field := in.fields[i]; field != "" && clean(cell) != "" {
			record[field] = cell
		}
	}
	return in.read(ctx, row.At, row.Next, record, fromCarol, in.Name(), in.how, &in.unread)
}

// Notes implements source.Input.
func (in *carolInput) Notes() source.Notes {
	n := in.File.Notes()
	if unused := slices.DeleteFunc(slices.Clone(in.unused), func(name string) bool { return name == "" || strings.HasPrefix(name, "Unnamed") }); len(unused) > 0 {
		n.Warnings = append(n.Warnings, "Columns not used: "+shortList(unused)+".")
	}
	n.Warnings = append(n.Warnings, in.unread.warnings()...)
	return n
}

// read makes the item of a record.
func (finder *caseFinder) read(ctx context.Context, at, next source.Position, record carolRecord, kind, uri string, how reading, odd *unread) (source.Item, error) {
	if mode := clean(record["MODE"]); mode != "" && !strings.EqualFold(mode, "Aviation") {
		return source.Skip(at, next, "the case is not one of aviation"), nil
	}
	number, err := eventID(record["NUMBER"])
	if err != nil {
		return source.Refuse(at, next, "the record has no NTSB number"), nil //nolint:nilerr // it is the record that is wrong
	}
	r := cellReader{reading: how, rank: rank{kind: kind}}
	e := record.event(&r, number)
	e.sources, e.uri = []string{kind}, uri
	odd.add(at.Line+1, r.odd)
	return finder.item(ctx, at, next, e)
}

// event reads a record.
func (record carolRecord) event(r *cellReader, number string) event {
	e := event{cases: []string{caseNumber(number)}, own: claims{}, texts: claims{}}
	if id, err := eventID(record["EVENT"]); err == nil {
		e.id = id
	}
	own := claims{}
	for field, cell := range record {
		if field == strings.ToLower(field) && !slices.Contains(elementFields, field) {
			r.claim(own, field, cell)
		}
	}
	record.when(r, own)
	record.where(r, own)
	record.status(r, own)
	record.harm(r, own)
	e.own = own
	aircraft := record.aircraft(r, number)
	r.settle(own, aircraft...)
	e.aircraft = map[string]claims{}
	for _, cs := range aircraft {
		e.aircraft[elementKey(cs)] = cs
	}
	settled := rankOf(r.rank.kind, own)
	if cause := cleanText(record["CAUSE"]); cause != "" {
		e.texts[partCause] = textClaim(cause, settled)
	}
	e.findings = readFindings(record["FINDINGS"], settled)
	return e
}

// readFindings reads a cell of findings. It gives neither codes nor marks, and its order
// is not the NTSB's.
func readFindings(cell string, r rank) map[string]claims {
	out := map[string]claims{}
	for _, text := range splitFindings(cell) {
		if cs := finding(text); cs != nil {
			cs.stamp(r)
			out[findingKey(cs)] = cs
		}
	}
	return out
}

// when reads the date. CAROL writes local clock time and calls it UTC: it is kept as it
// stands, and never shifted.
func (record carolRecord) when(r *cellReader, own claims) {
	date, clock := clean(record["DATE"]), ""
	if i := strings.IndexAny(date, "T "); i == len(time.DateOnly) {
		date, clock = date[:i], date[i+1:]
	}
	r.claim(own, "event_date", date)
	if len(clock) >= 5 && clock[:5] != "00:00" {
		r.claim(own, "event_time", clock[:5])
	}
}

func (record carolRecord) where(r *cellReader, own claims) {
	country := clean(record["COUNTRY"])
	r.claim(own, "country", country)
	r.claim(own, "location", location(clean(record["CITY"]), record["STATE"], country))
}

// status says how far along the case is, in the words of the published file, and keeps
// CAROL's own. Foreign cases are not the NTSB's to complete.
func (record carolRecord) status(r *cellReader, own claims) {
	recorded := clean(record["STATUS"])
	r.claim(own, "investigation_status", recorded)
	most := spell("report_status", clean(record["MOST"]))
	status := ""
	switch strings.ToLower(recorded) {
	case "completed":
		status = "Completed"
		if clean(record["CAUSE"]) != "" || most == "Probable Cause" {
			status = "Probable Cause"
		}
	case "in work":
		status = "Preliminary"
		if most == "Factual" {
			status = most
		}
	case "", "n/a":
		if country := clean(record["COUNTRY"]); country != "" && !strings.EqualFold(country, "United States") {
			status = "Foreign"
		}
	}
	r.claim(own, "report_status", status)
}

// harm reads injuries. A blank level means that nobody was hurt, that nothing is known or
// that the case is open, and the counts beside it are written zeros: none of them is
// believed. Where the case is complete it is known at least that nobody was killed.
func (record carolRecord) harm(r *cellReader, own claims) {
	level := strings.ToLower(clean(record["highest_injury"]))
	incident := strings.EqualFold(clean(record["investigation_type"]), "INC") || strings.EqualFold(clean(record["investigation_type"]), "Incident")
	completed := strings.EqualFold(clean(record["STATUS"]), "completed")
	if level == "" {
		for _, field := range []string{"fatal_count", "serious_count", "minor_count"} {
			if c, ok := own[field]; ok && c.values[0].Int() == 0 {
				delete(own, field)
			}
		}
	}
	severity := ""
	switch {
	case level == "fatal":
		severity = "fatal"
	case incident && (level != "" || completed):
		severity = "incident"
	case level == "none", level == "minor", level == "serious", level == "" && completed:
		severity = "nonfatal"
	}
	if level == "" && completed {
		r.claim(own, "highest_injury", noneOrUnknown)
	}
	r.claim(own, "severity", severity)
}

// noneOrUnknown is the level of a completed case that leaves it blank.
const noneOrUnknown = "none or unknown"

// aircraft reads the cells that have a value for each aircraft. How many there are the
// registrations tell, and where they are blank the flags; a cell with another number of
// values cannot be shared out and is left unknown.
func (record carolRecord) aircraft(r *cellReader, number string) []claims {
	n := max(len(shareOut(record["registration"])), len(shareOut(record["amateur_built"])), 1)
	out := make([]claims, n)
	for i := range out {
		out[i] = claims{}
		name := number
		if base := caseNumber(number); n > 1 && base == filter.Squeeze.Of(number) {
			name = number + letter(i)
		}
		r.claim(out[i], "accident_number", name)
	}
	for _, field := range elementFields {
		cell, ok := record[field]
		if !ok {
			continue
		}
		values := []string{cell}
		if n > 1 {
			if values = shareOut(cell); len(values) != n {
				if strings.Trim(cell, ", ") != "" {
					r.odd = append(r.odd, fmt.Sprintf("%s %q of %d aircraft", field, cell, n))
				}
				continue
			}
		}
		for i, v := range values {
			r.claim(out[i], field, v)
			if field == "phase" && out[i]["phase"].values != nil && !strings.EqualFold(clean(v), out[i]["phase"].values[0].Str()) {
				r.claim(out[i], "phase_recorded", v)
			}
		}
	}
	return out
}

// shareOut cuts a cell at its commas.
func shareOut(cell string) []string {
	if clean(cell) == "" {
		return nil
	}
	parts := strings.Split(cell, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
