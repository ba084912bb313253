package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

// Reference is a collection written to be obviously right: a map of records, every
// question answered by looking at all of them with filter.Match. It is the oracle of
// the suite, and does not check what it is given.
type Reference struct {
	spec    sextant.Collection
	mu      sync.RWMutex
	records map[sextant.DocumentID]store.Record
}

// NewReference returns an empty collection.
func NewReference(spec sextant.Collection) *Reference {
	return &Reference{spec: spec, records: map[sextant.DocumentID]store.Record{}}
}

// Upsert stores records.
func (r *Reference) Upsert(records []store.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range records {
		r.records[rec.Document.ID] = rec
	}
}

// Delete removes documents and says how many there were.
func (r *Reference) Delete(ids []sextant.DocumentID) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.records)
	for _, id := range ids {
		delete(r.records, id)
	}
	return n - len(r.records)
}

// matching returns the records under a filter, by id.
func (r *Reference) matching(f filter.Filter) []store.Record {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []store.Record
	for _, id := range slices.Sorted(maps.Keys(r.records)) {
		if rec := r.records[id]; r.matcher(rec).Match(f, rec.Document.Meta) {
			out = append(out, rec)
		}
	}
	return out
}

// matcher decides filters over a record, its text included.
func (r *Reference) matcher(rec store.Record) filter.Matcher {
	return filter.Matcher{Schema: &r.spec.Schema, Mentioned: func(m filter.Mentions) bool {
		return store.Mentioned(lexical.English(), rec.Document.Parts, rec.Chunks, m)
	}}
}

// element is one element of a group, or a document as its own only element.
type element struct {
	document sextant.DocumentID
	fields   filter.Fields
	meta     filter.Meta
}

// elements returns what is counted under a filter when the unit is the group.
func (r *Reference) elements(f filter.Filter, group string) []element {
	var out []element
	for _, rec := range r.matching(filter.All) {
		for i, e := range rec.Document.Meta.Groups[group] {
			if r.matcher(rec).MatchElement(f, rec.Document.Meta, group, i) {
				out = append(out, element{rec.Document.ID, e, rec.Document.Meta})
			}
		}
	}
	return out
}

func isDocuments(unit string) bool { return unit == "" || unit == store.Documents }

// Count counts documents or elements.
func (r *Reference) Count(f filter.Filter, unit string) int64 {
	if isDocuments(unit) {
		return int64(len(r.matching(f)))
	}
	return int64(len(r.elements(f, unit)))
}

// unitValues returns, for each unit under the filter, the values of the field that
// count for it.
func (r *Reference) unitValues(f filter.Filter, field filter.Field, unit string) [][]filter.Value {
	var out [][]filter.Value
	if !isDocuments(unit) {
		for _, e := range r.elements(f, unit) {
			if field.Group == "" {
				out = append(out, e.meta.Fields[field.Name])
			} else {
				out = append(out, e.fields[field.Name])
			}
		}
		return out
	}
	reasons := map[sextant.DocumentID][]filter.Value{}
	if field.Group != "" {
		for _, e := range r.elements(f, field.Group) {
			reasons[e.document] = append(reasons[e.document], e.fields[field.Name]...)
		}
	}
	for _, rec := range r.matching(f) {
		if field.Group == "" {
			out = append(out, rec.Document.Meta.Fields[field.Name])
		} else {
			out = append(out, reasons[rec.Document.ID])
		}
	}
	return out
}

// Facet counts by value, interval or range.
func (r *Reference) Facet(q store.FacetQuery) store.Facet {
	field, _ := r.spec.Schema.Field(q.Field)
	units := r.unitValues(q.Filter, field, q.Unit)
	out := store.Facet{Total: int64(len(units))}
	for _, values := range units {
		if len(values) == 0 {
			out.Unknown++
		}
	}
	switch {
	case q.Ranges != nil:
		for _, rg := range q.Ranges {
			out.Buckets = append(out.Buckets, store.Bucket{Count: countUnits(units, rg.Includes)})
		}
		return out
	case q.By != "":
		out.Buckets = intervalBuckets(units, q.By)
	default:
		out.Buckets = valueBuckets(units, field)
	}
	if q.Limit > 0 && len(out.Buckets) > q.Limit {
		out.Buckets = out.Buckets[:q.Limit]
	}
	return out
}

func countUnits(units [][]filter.Value, is func(filter.Value) bool) int64 {
	n := int64(0)
	for _, values := range units {
		if slices.ContainsFunc(values, is) {
			n++
		}
	}
	return n
}

func valueBuckets(units [][]filter.Value, field filter.Field) []store.Bucket {
	same := func(v, w filter.Value) bool {
		return v == w || field.Kind == filter.Keyword && field.Fold.Of(v.Str()) == field.Fold.Of(w.Str())
	}
	var out []store.Bucket
	for _, v := range slices.Concat(units...) {
		if slices.ContainsFunc(out, func(b store.Bucket) bool { return same(b.Value, v) }) {
			continue
		}
		b := store.Bucket{Count: countUnits(units, func(w filter.Value) bool { return same(v, w) })}
		best := int64(0)
		for _, w := range slices.Concat(units...) { // the spelling to show
			n := countUnits(units, func(u filter.Value) bool { return u == w })
			if same(v, w) && (n > best || n == best && w.Compare(b.Value) < 0) {
				best, b.Value = n, w
			}
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b store.Bucket) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Value.Compare(b.Value))
	})
	return out
}

func intervalBuckets(units [][]filter.Value, by store.Interval) []store.Bucket {
	type key struct {
		order int64
		label string
	}
	labels := map[key]bool{}
	for _, v := range slices.Concat(units...) {
		order, label := intervalOf(v.Time(), by)
		labels[key{order, label}] = true
	}
	sorted := slices.SortedFunc(maps.Keys(labels), func(a, b key) int { return cmp.Compare(a.order, b.order) })
	var out []store.Bucket
	for _, k := range sorted {
		out = append(out, store.Bucket{Value: filter.OfString(k.label), Count: countUnits(units, func(v filter.Value) bool {
			_, label := intervalOf(v.Time(), by)
			return label == k.label
		})})
	}
	return out
}

func intervalOf(t time.Time, by store.Interval) (order int64, label string) {
	year := t.Format("2006")
	switch by {
	case store.Year:
		return int64(t.Year()), year
	case store.Quarter:
		q := (int(t.Month()) + 2) / 3
		return int64(10*t.Year() + q), fmt.Sprintf("%s-Q%d", year, q)
	case store.Month:
		return int64(100*t.Year() + int(t.Month())), t.Format("2006-01")
	case store.Day:
		return t.Truncate(24 * time.Hour).Unix(), t.Format(time.DateOnly)
	case store.MonthOfYear:
		return int64(t.Month()), fmt.Sprint(int(t.Month()))
	case store.Weekday:
		return int64(t.Weekday()+6) % 7, t.Weekday().String()
	}
	return int64(t.Hour()), fmt.Sprint(t.Hour())
}

// Sum adds up a field, and its values without their signs: what a float64 loses in
// adding is in proportion to these.
func (r *Reference) Sum(f filter.Filter, name string) (s store.Sum, magnitude float64) {
	field, _ := r.spec.Schema.Field(name)
	for _, values := range r.unitValues(f, field, field.Group) {
		for _, v := range values {
			if s.Known == 0 || v.Compare(s.Min) < 0 {
				s.Min = v
			}
			if s.Known == 0 || v.Compare(s.Max) > 0 {
				s.Max = v
			}
			s.Known++
			s.Total += v.Float()
			magnitude += math.Abs(v.Float())
		}
	}
	return s, magnitude
}

// List returns all ids in order.
func (r *Reference) List(f filter.Filter, by string, desc bool) []sextant.DocumentID {
	records := r.matching(f)
	slices.SortStableFunc(records, func(a, b store.Record) int { // stable: ids rise
		v, w := a.Document.Meta.Fields.One(by), b.Document.Meta.Fields.One(by)
		switch {
		case v.IsZero() || w.IsZero():
			return cmp.Compare(boolInt(v.IsZero()), boolInt(w.IsZero()))
		case desc:
			return w.Compare(v)
		}
		return v.Compare(w)
	})
	var ids []sextant.DocumentID
	for _, rec := range records {
		ids = append(ids, rec.Document.ID)
	}
	return ids
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Documents returns the documents under a filter, by id.
func (r *Reference) Documents(f filter.Filter) []sextant.Document {
	var out []sextant.Document
	for _, rec := range r.matching(f) {
		out = append(out, rec.Document)
	}
	return out
}

// WithWords returns the ids of the chunks that have a word of the query, sorted.
func (r *Reference) WithWords(f filter.Filter, a *lexical.Analyzer, query string) []string {
	var out []string
	index := lexical.New(a)
	var ids []string
	for _, rec := range r.matching(filter.All) {
		for _, ch := range rec.Chunks {
			if err := index.Add(uint32(len(ids)), store.TextFields(rec.Document.Title, rec.Document.Parts, ch)...); err != nil {
				panic(err)
			}
			ids = append(ids, ch.ID)
		}
	}
	allowed := map[string]bool{}
	for _, rec := range r.matching(f) {
		for _, ch := range rec.Chunks {
			allowed[ch.ID] = true
		}
	}
	for _, h := range index.Search(a.Query(query), lexical.DefaultBM25, nil, len(ids)).Hits {
		if allowed[ids[h.Row]] {
			out = append(out, ids[h.Row])
		}
	}
	slices.Sort(out)
	return out
}

// Scored is a chunk with its cosine.
type Scored struct {
	Chunk string
	Score float64
}

// Nearest returns all chunks under the filter by falling cosine, then document and
// ordinal, computed in float64.
func (r *Reference) Nearest(f filter.Filter, v []float32) []Scored {
	var out []Scored
	for _, rec := range r.matching(f) {
		for i, ch := range rec.Chunks {
			s := Scored{Chunk: ch.ID}
			for j, x := range rec.Vectors[i] {
				s.Score += float64(x) * float64(v[j])
			}
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	return out
}
