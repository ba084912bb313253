package aviation

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// event is what is known of one NTSB event: for each field a claim, the value with
// the rank of the record it comes from. Two events are joined claim by claim, the
// higher rank winning and, between equal ranks, the greater value. Join is therefore
// commutative, associative and idempotent: the order in which files arrive, and how
// often, does not matter. A blank is no claim and never takes a value away.
type event struct {
	id       string
	own      claims            // the event's fields
	aircraft map[string]claims // by elementKey
	whole    claims            // what a narrative file says of all aircraft at once; counts while no row does
	texts    map[string]string // narrative and cause, by the kind of their part
	sources  []string          // kinds of file, sorted
	uri      string            // a file it was read from
}

type claims map[string]claim

type claim struct {
	values []filter.Value
	rank   rank
}

// Kinds of file an event is put together from: the values of data_source.
const (
	fromRows       = "aviationdata"
	fromNarratives = "narratives"
)

// rank orders records by how far their values are to be believed: rows of the database
// before what a narrative file repeats, later publications before earlier ones, and on
// one day the report that is further along.
type rank struct {
	row       bool
	published string // date, "" if unknown
	status    string
}

// statuses of a report from the least to the furthest along.
var statuses = []string{"", "Foreign", "Preliminary", "Factual", "Probable Cause"}

func (r rank) compare(s rank) int {
	if r.row != s.row {
		if r.row {
			return 1
		}
		return -1
	}
	return cmp.Or(
		cmp.Compare(r.published, s.published),
		cmp.Compare(slices.Index(statuses, r.status), slices.Index(statuses, s.status)),
		cmp.Compare(r.status, s.status))
}

// String writes the rank as it stands in the field filled.
func (r rank) String() string {
	if !r.row {
		return fromNarratives
	}
	s := "row"
	if r.published != "" {
		s += " of " + r.published
	}
	if r.status != "" {
		s += ", " + r.status
	}
	return s
}

func parseRank(s string) rank {
	rest, ok := strings.CutPrefix(s, "row")
	if !ok {
		return rank{}
	}
	published, status, _ := strings.Cut(rest, ", ")
	return rank{true, strings.TrimPrefix(published, " of "), status}
}

// better reports whether c is to be shown rather than d.
func (c claim) better(d claim) bool {
	if by := c.rank.compare(d.rank); by != 0 {
		return by > 0
	}
	return slices.CompareFunc(c.values, d.values, filter.Value.Compare) > 0
}

func (cs claims) join(more claims) claims {
	out := maps.Clone(cs)
	if out == nil {
		out = claims{}
	}
	for name, c := range more {
		if have, ok := out[name]; !ok || c.better(have) {
			out[name] = c
		}
	}
	return out
}

func (e event) join(f event) event {
	out := event{
		id: e.id, own: e.own.join(f.own), whole: e.whole.join(f.whole),
		aircraft: maps.Clone(e.aircraft), texts: maps.Clone(e.texts),
	}
	if out.aircraft == nil {
		out.aircraft = map[string]claims{}
	}
	for key, cs := range f.aircraft {
		out.aircraft[key] = out.aircraft[key].join(cs)
	}
	if len(out.aircraft) > 1 {
		delete(out.aircraft, anonymous)
	}
	if out.texts == nil {
		out.texts = map[string]string{}
	}
	for kind, text := range f.texts {
		if have := out.texts[kind]; cmp.Or(cmp.Compare(len(text), len(have)), cmp.Compare(text, have)) > 0 {
			out.texts[kind] = text
		}
	}
	out.sources = slices.Compact(slices.Sorted(slices.Values(slices.Concat(e.sources, f.sources))))
	out.uri = betterURI(e, f)
	return out
}

// betterURI prefers a file of rows, then the name that sorts first.
func betterURI(e, f event) string {
	eRows, fRows := slices.Contains(e.sources, fromRows), slices.Contains(f.sources, fromRows)
	switch {
	case eRows && !fRows:
		return e.uri
	case fRows && !eRows:
		return f.uri
	}
	return min(e.uri, f.uri)
}

// has reports whether the event already holds the record f was made of.
func (e event) has(f event) bool {
	if !slices.Contains(e.sources, f.sources[0]) {
		return false
	}
	for key, cs := range f.aircraft {
		if cs.top().row && !e.aircraft[key].top().row {
			return false
		}
	}
	return true
}

// top returns the highest rank among claims.
func (cs claims) top() rank {
	var best rank
	for _, c := range cs {
		if c.rank.compare(best) > 0 {
			best = c.rank
		}
	}
	return best
}

// anonymous is the key of the aircraft of a narrative that names none; it gives way to
// any other.
const anonymous = "?"

// elementKey tells the aircraft of an event apart: by accident number, else by
// registration, else by everything that is said of it.
func elementKey(cs claims) string {
	if c, ok := cs["accident_number"]; ok {
		return filter.Squeeze.Of(c.values[0].Str())
	}
	if c, ok := cs["registration"]; ok {
		return "REG-" + filter.Squeeze.Of(c.values[0].Str())
	}
	if len(cs) == 0 {
		return anonymous
	}
	h := fnv.New32a()
	for _, name := range slices.Sorted(maps.Keys(cs)) {
		fmt.Fprintf(h, "%s=%s;", name, cs[name].values[0])
	}
	return fmt.Sprintf("ROW-%08x", h.Sum32())
}

// ownFields and elementFields are the fields that records state; wholeFields those a
// narrative file states once for all aircraft. All other fields are derived.
var (
	ownFields = []string{
		"investigation_type", "event_date", "location", "country", "latitude", "longitude", "airport_code", "airport_name",
		"severity", "fatal_count", "serious_count", "minor_count", "uninjured_count", "weather", "report_status", "publication_date",
	}
	elementFields = []string{
		"accident_number", "registration", "make_recorded", "model", "damage", "aircraft_category", "amateur_built",
		"engine_count", "engine_type", "far_description", "schedule", "purpose", "operator", "phase",
	}
	wholeFields = []string{"phase", "purpose", "far_description"}
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

// document renders the event: metadata, text and parts.
func (e event) document() sextant.Document {
	meta := filter.Meta{Fields: filter.Fields{}, Groups: map[string][]filter.Fields{}}
	meta.Fields.Set("event_id", filter.OfString(e.id))
	base := e.baseRank()
	filled := e.own.write(meta.Fields, "", base)
	whole := e.shownWhole()
	filled = append(filled, whole.write(filter.Fields{}, "", base)...)
	for _, key := range slices.Sorted(maps.Keys(e.aircraft)) {
		fields := filter.Fields{}
		filled = append(filled, e.aircraft[key].writeElement(fields, key, base)...)
		whole.write(fields, "", base)
		deriveElement(fields)
		meta.Groups[Aircraft] = append(meta.Groups[Aircraft], fields)
	}
	splitDate(meta.Fields)
	setKeywords(meta.Fields, "data_source", e.sources)
	setKeywords(meta.Fields, "filled", filled)
	deriveOwn(meta.Fields)
	doc := sextant.Document{ID: eventDocumentID(e.id), Collection: "incidents", Meta: meta}
	doc.Source = sextant.Source{Name: "ntsb", Kind: "table", URI: e.uri, Authority: authority(meta.Fields.One("report_status").Str())}
	writeText(&doc, e.texts)
	return doc
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

// baseRank is the rank of all values that filled does not name: that of the row the
// publication date and the status come from.
func (e event) baseRank() rank {
	return rankOf(slices.Contains(e.sources, fromRows), e.own)
}

func rankOf(row bool, own claims) rank {
	if !row {
		return rank{}
	}
	r := rank{row: true}
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
	e := event{id: f.One("event_id").Str(), own: claims{}, whole: claims{}, aircraft: map[string]claims{}, texts: readTexts(doc), uri: doc.Source.URI}
	for _, v := range f["data_source"] {
		e.sources = append(e.sources, v.Str())
	}
	for _, name := range ownFields {
		if values := f[name]; len(values) > 0 {
			e.own[name] = claim{values: values}
		}
	}
	joinDate(e.own, f)
	ranks := readRanks(f["filled"])
	base := rankOf(slices.Contains(e.sources, fromRows), e.own)
	e.own.setRanks(ranks, "", base)
	elements := doc.Meta.Groups[Aircraft]
	for _, name := range wholeFields {
		r, filled := ranks[name]
		if !filled && base.row {
			continue
		}
		for _, fields := range elements {
			if values := fields[name]; len(values) > 0 {
				e.whole[name] = claim{values, r}
			}
		}
	}
	for _, fields := range elements {
		cs := claims{}
		for _, name := range elementFields {
			if _, isWhole := e.whole[name]; !isWhole && len(fields[name]) > 0 {
				cs[name] = claim{values: fields[name]}
			}
		}
		key := elementKey(cs)
		elementBase := base
		if r, ok := ranks[key]; ok {
			elementBase = r
		}
		cs.setRanks(ranks, key+" ", elementBase)
		e.aircraft[key] = cs
	}
	return e
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
