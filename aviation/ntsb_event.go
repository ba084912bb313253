package aviation

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// event is what is known of one NTSB event: for each field, text, aircraft and finding
// what the records claim (see claim). Joining two events joins claim by claim and is, like
// that, commutative, associative and idempotent. A blank is no claim and never takes a
// value away.
//
// A record that gives no event id is about a case: it makes a document of its own under
// the case's number until a record that gives both is read.
type event struct {
	id       string            // the event's id, "" if only the case is known
	cases    []string          // numbers of its cases without the letters of aircraft, sorted
	own      claims            // the event's fields
	aircraft map[string]claims // by elementKey
	whole    claims            // what a narrative file says of all aircraft at once; counts while no row does
	findings map[string]claims // by findingKey
	advice   []string          // safety recommendations, sorted
	texts    claims            // running texts, by the kind of their part
	sources  []string          // kinds of file, sorted
	uri      string            // a file it was read from
}

// join is the event that two sets of records make together.
func (e event) join(f event) event {
	out := event{
		id: max(e.id, f.id), cases: union(e.cases, f.cases), own: e.own.join(f.own), whole: e.whole.join(f.whole), texts: e.texts.join(f.texts),
		aircraft: joinElements(e.aircraft, f.aircraft), findings: joinElements(e.findings, f.findings),
		advice: union(e.advice, f.advice), sources: union(e.sources, f.sources),
	}
	settleElements(out.aircraft)
	settleFindings(out.findings)
	out.uri = betterURI(e, f)
	return out
}

func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

func joinElements(a, b map[string]claims) map[string]claims {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]claims{}
	}
	for key, cs := range b {
		out[key] = out[key].join(cs)
	}
	return out
}

// betterURI prefers a file of rows, then the name that sorts first.
func betterURI(e, f event) string {
	eRows, fRows := slices.Contains(e.sources, fromRows), slices.Contains(f.sources, fromRows)
	switch {
	case e.uri == "" || f.uri == "":
		return max(e.uri, f.uri)
	case eRows && !fRows:
		return e.uri
	case fRows && !eRows:
		return f.uri
	}
	return min(e.uri, f.uri)
}

// has reports whether the event already holds the row f was made of. Of other records an
// event can have many of one kind.
func (e event) has(f event) bool {
	if f.sources[0] != fromRows && f.sources[0] != fromNarratives || !slices.Contains(e.sources, f.sources[0]) {
		return false
	}
	for key, cs := range f.aircraft {
		if cs.top().row() && !e.aircraft[key].top().row() {
			return false
		}
	}
	return true
}

// The fields that records state: ownFields of the event, elementFields of an aircraft,
// findingFields of a finding, and wholeFields those a narrative file states once for all
// aircraft. All other fields are derived.
var (
	ownFields = []string{
		"investigation_type", "event_date", "event_time", "time_zone", "location", "country", "latitude", "longitude",
		"airport_code", "airport_name", "airport_elevation", "severity", "highest_injury",
		"fatal_count", "serious_count", "minor_count", "uninjured_count", "weather", "report_status", "investigation_status", "publication_date",
		"case_key", "report_number", "report_type", "docket_url", "docket_date", "report_url", "safety_recommendation",
	}
	elementFields = []string{
		"accident_number", "registration", "make_recorded", "model", "serial_number", "damage", "aircraft_category", "amateur_built",
		"engine_count", "engine_type", "far_description", "schedule", "purpose", "operator", "phase", "phase_recorded", "aircraft_order",
	}
	findingFields = []string{"finding", "finding_code", "cause_factor", "finding_order"}
	wholeFields   = []string{"phase", "purpose", "far_description"}
)

// shownWhole returns the claims about all aircraft that count: those of fields that
// no row of the event knows.
func (e event) shownWhole() claims {
	out := maps.Clone(e.whole)
	for name := range e.whole {
		for _, cs := range e.aircraft {
			if _, known := cs[name]; known {
				delete(out, name)
			}
		}
	}
	return out
}

// document renders the event: metadata, text, parts and differences.
func (e event) document() sextant.Document {
	meta := filter.Meta{Fields: filter.Fields{}, Groups: map[string][]filter.Fields{}}
	setKeyword(meta.Fields, "event_id", e.id)
	setKeywords(meta.Fields, "case_number", e.caseNumbers())
	base := e.plainRank()
	if len(e.own) > 0 {
		base = e.own.top()
	}
	var filled []string
	if base != e.plainRank() {
		filled = append(filled, everything+base.String())
	}
	filled = append(filled, e.own.write(meta.Fields, "", base)...)
	doc := sextant.Document{ID: e.documentID(), Collection: "incidents", Differences: e.own.differences("")}
	whole := e.shownWhole()
	filled = append(filled, whole.write(filter.Fields{}, "", base)...)
	for _, key := range slices.Sorted(maps.Keys(e.aircraft)) {
		fields := filter.Fields{}
		filled = append(filled, e.aircraft[key].writeElement(fields, key, base)...)
		whole.write(fields, "", base)
		deriveElement(fields)
		meta.Groups[Aircraft] = append(meta.Groups[Aircraft], fields)
		doc.Differences = append(doc.Differences, e.aircraft[key].differences(key)...)
	}
	for _, key := range e.findingOrder() {
		fields := filter.Fields{}
		filled = append(filled, e.findings[key].writeElement(fields, key, base)...)
		deriveFinding(fields)
		meta.Groups[Findings] = append(meta.Groups[Findings], fields)
	}
	filled = append(filled, e.texts.write(filter.Fields{}, "", rank{})...)
	doc.Differences = append(doc.Differences, e.texts.differences("")...)
	splitDate(meta.Fields)
	setKeywords(meta.Fields, "data_source", e.sources)
	setKeywords(meta.Fields, "filled", filled)
	deriveOwn(meta.Fields)
	doc.Meta = meta
	doc.Source = sextant.Source{Name: "ntsb", Kind: "table", URI: e.uri, Authority: authority(meta.Fields.One("report_status").Str())}
	writeText(&doc, e.texts, e.advice)
	return doc
}

// everything is how filled names the rank of all that it does not name.
const everything = "*: "

// documentID names the document by the event, or by the case as long as that is all
// there is.
func (e event) documentID() sextant.DocumentID {
	if e.id == "" && len(e.cases) > 0 {
		return eventDocumentID(e.cases[0])
	}
	return eventDocumentID(e.id)
}

// caseNumbers are the numbers of the event's cases: those of its aircraft without their
// letters, and what records without aircraft gave.
func (e event) caseNumbers() []string {
	out := slices.Clone(e.cases)
	for _, cs := range e.aircraft {
		if c, ok := cs["accident_number"]; ok {
			out = append(out, caseNumber(c.values[0].Str()))
		}
	}
	return union(out, nil)
}

func eventDocumentID(id string) sextant.DocumentID { return sextant.DocumentID("ntsb:" + id) }

// Authority of the NTSB's records by the status of their report: what is final counts
// for more than what is not, and a notification from abroad, which the NTSB does not
// investigate itself, for least.
func authority(status string) int {
	return 60 + 10*max(slices.Index(statuses, status), 0)
}

// write puts values into fields and names those whose rank is not the base.
func (cs claims) write(into filter.Fields, prefix string, base rank) (filled []string) {
	for _, name := range slices.Sorted(maps.Keys(cs)) {
		into[name] = cs[name].values
		if cs[name].rank != base {
			filled = append(filled, prefix+name+": "+cs[name].rank.String())
		}
	}
	return filled
}

// writeElement is write for an aircraft; if nothing of it has the base rank, one entry
// says so for all of its fields.
func (cs claims) writeElement(into filter.Fields, key string, base rank) []string {
	filled := cs.write(into, key+" ", base)
	top := cs.top()
	if len(filled) == 0 {
		return nil
	}
	for _, c := range cs {
		if c.rank != top || top == base {
			return filled
		}
	}
	return []string{key + ": " + top.String()}
}

// plainRank is the rank of all values that filled does not name where it does not say
// otherwise: that of the row the publication date and the status come from.
func (e event) plainRank() rank {
	if !slices.Contains(e.sources, fromRows) {
		return rank{}
	}
	return rankOf(fromRows, e.own)
}

// rankOf is the rank of a record of some kind with these claims.
func rankOf(kind string, own claims) rank {
	if kind == "" {
		return rank{}
	}
	r := rank{kind: kind}
	if c, ok := own["publication_date"]; ok {
		r.published = c.values[0].String()
	}
	if c, ok := own["report_status"]; ok {
		r.status = c.values[0].Str()
	}
	return r
}

// readEvent is the inverse of document: it reads claims back from what is stored.
func readEvent(doc *sextant.Document) event {
	f := doc.Meta.Fields
	e := event{
		id: f.One("event_id").Str(), whole: claims{}, aircraft: map[string]claims{}, findings: map[string]claims{},
		own: readClaims(f, ownFields), uri: doc.Source.URI,
	}
	e.texts, e.advice = readTexts(doc)
	e.sources, e.cases = keywords(f["data_source"]), keywords(f["case_number"])
	joinDate(e.own, f)
	ranks := readRanks(f["filled"])
	base, ok := ranks["*"]
	if !ok {
		base = e.plainRank()
	}
	e.own.setRanks(ranks, "", base)
	e.own.disagree(doc.Differences, "")
	e.texts.setRanks(ranks, "", rank{})
	e.texts.disagree(doc.Differences, "")
	e.readWhole(doc.Meta.Groups[Aircraft], ranks, base)
	for _, fields := range doc.Meta.Groups[Aircraft] {
		cs := readClaims(fields, elementFields)
		for name := range e.whole {
			delete(cs, name)
		}
		key := elementKey(cs)
		cs.setElementRanks(ranks, key, base)
		cs.disagree(doc.Differences, key)
		e.aircraft[key] = cs
	}
	for _, fields := range doc.Meta.Groups[Findings] {
		cs := readClaims(fields, findingFields)
		key := findingKey(cs)
		cs.setElementRanks(ranks, key, base)
		e.findings[key] = cs
	}
	return e
}

func readClaims(f filter.Fields, names []string) claims {
	out := claims{}
	for _, name := range names {
		if values := f[name]; len(values) > 0 {
			out[name] = claim{values: values}
		}
	}
	return out
}

// readWhole finds what is said of all aircraft at once: filled names it, or there is no
// row at all.
func (e *event) readWhole(elements []filter.Fields, ranks map[string]rank, base rank) {
	for _, name := range wholeFields {
		r, filled := ranks[name]
		if !filled && base.row() {
			continue
		}
		for _, fields := range elements {
			if values := fields[name]; len(values) > 0 {
				e.whole[name] = claim{values: values, rank: r}
			}
		}
	}
}

func (cs claims) setElementRanks(ranks map[string]rank, key string, base rank) {
	if r, ok := ranks[key]; ok {
		base = r
	}
	cs.setRanks(ranks, key+" ", base)
}

func readRanks(filled []filter.Value) map[string]rank {
	out := map[string]rank{}
	for _, v := range filled {
		if path, r, ok := strings.Cut(v.Str(), ": "); ok {
			out[path] = parseRank(r)
		}
	}
	return out
}

func (cs claims) setRanks(ranks map[string]rank, prefix string, base rank) {
	for name, c := range cs {
		c.rank = base
		if r, ok := ranks[prefix+name]; ok {
			c.rank = r
		}
		cs[name] = c
	}
}

func keywords(values []filter.Value) []string {
	var out []string
	for _, v := range values {
		out = append(out, v.Str())
	}
	return out
}

func setKeywords(f filter.Fields, name string, texts []string) {
	values := make([]filter.Value, len(texts))
	for i, t := range texts {
		values[i] = filter.OfString(t)
	}
	f.Set(name, values...)
}

// A date that is not known to the day is one claim of two values, time and precision,
// so that the two are never taken from different records. Documents keep them apart.
func splitDate(f filter.Fields) {
	if v := f["event_date"]; len(v) == 2 {
		f["event_date"], f["event_date_precision"] = v[:1:1], v[1:]
	}
}

func joinDate(cs claims, f filter.Fields) {
	if p := f["event_date_precision"]; len(p) == 1 && len(cs["event_date"].values) == 1 {
		cs["event_date"] = claim{values: []filter.Value{cs["event_date"].values[0], p[0]}}
	}
}

func dateValues(t time.Time, precision string) []filter.Value {
	if precision == "day" {
		return []filter.Value{filter.OfTime(t)}
	}
	return []filter.Value{filter.OfTime(t), filter.OfString(precision)}
}
