package constrain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Value is one value a field has somewhere in the corpus.
type Value struct {
	Text  string // as stored
	Count int64  // documents, or elements for a group's field
}

// Vocabulary is what the corpus itself can say: the collections, the values of their
// keyword fields and the period they cover. It is immutable; the engine makes a new
// one when a collection's sequence moves.
type Vocabulary struct {
	Collections []sextant.Collection
	Documents   map[string]int64 // by collection
	Coverage    []sextant.Coverage
	Years       map[string][]store.Bucket // by collection: documents by the year of their date
	fields      map[string]*fieldValues
	names       []string // of fields, in the order of the schemas
}

// fieldValues are the values of one field, found by their words, by their letters and
// digits alone, and by a part of those.
type fieldValues struct {
	field   filter.Field
	byWords map[string]Value // words joined by blanks -> the commonest spelling
	byFold  map[string]Value // filter.Squeeze of the value
	values  []Value          // by falling count
	longest int              // most words in a value
	first   map[string]bool  // first words
	parts   parts
}

// BuildVocabulary reads the values of all faceted keyword fields, and of those named
// in also, from the store.
func BuildVocabulary(ctx context.Context, collections []store.Collection, also ...string) (*Vocabulary, error) {
	v := &Vocabulary{Documents: map[string]int64{}, fields: map[string]*fieldValues{}}
	for _, c := range collections {
		if err := v.read(ctx, c, also); err != nil {
			return nil, fmt.Errorf("vocabulary of %s: %w", c.Spec().Name, err)
		}
	}
	v.finish()
	return v, nil
}

// NewVocabulary makes a vocabulary of values that are known without a store. Every
// collection is taken to hold one document.
func NewVocabulary(collections []sextant.Collection, values map[string][]Value) *Vocabulary {
	v := &Vocabulary{Documents: map[string]int64{}, fields: map[string]*fieldValues{}}
	for _, spec := range collections {
		v.Collections = append(v.Collections, spec)
		v.Documents[spec.Name] = 1
		for _, f := range spec.Schema.Fields {
			if len(values[f.Name]) > 0 {
				v.add(f, values[f.Name])
			}
		}
	}
	v.finish()
	return v
}

func (v *Vocabulary) read(ctx context.Context, c store.Collection, also []string) error {
	spec := c.Spec()
	v.Collections = append(v.Collections, spec)
	n, err := c.Count(ctx, filter.All, store.Documents)
	if err != nil {
		return err
	}
	v.Documents[spec.Name] = n
	if n == 0 {
		return nil
	}
	if err := v.addCoverage(ctx, c); err != nil {
		return err
	}
	for _, f := range spec.Schema.Fields {
		if f.Kind != filter.Keyword || len(f.AnyOf) > 0 || !f.Facet && !slices.Contains(also, f.Name) {
			continue
		}
		facet, err := c.Facet(ctx, store.FacetQuery{Field: f.Name, Unit: unitOf(f)})
		if err != nil {
			return err
		}
		values := make([]Value, len(facet.Buckets))
		for i, b := range facet.Buckets {
			values[i] = Value{Text: b.Value.Str(), Count: b.Count}
		}
		v.add(f, values)
	}
	return nil
}

func unitOf(f filter.Field) string {
	if f.Group != "" {
		return f.Group
	}
	return store.Documents
}

func (v *Vocabulary) addCoverage(ctx context.Context, c store.Collection) error {
	spec := c.Spec()
	if spec.DateField == "" {
		return nil
	}
	sum, err := c.Sum(ctx, filter.All, spec.DateField)
	if err != nil || sum.Min.IsZero() {
		return err
	}
	years, err := c.Facet(ctx, store.FacetQuery{Field: spec.DateField, By: store.Year})
	if err != nil {
		return err
	}
	if v.Years == nil {
		v.Years = map[string][]store.Bucket{}
	}
	v.Years[spec.Name] = years.Buckets
	v.Coverage = append(v.Coverage, sextant.Coverage{Collection: spec.Name, Field: spec.DateField,
		From: sum.Min.Time().Format(time.DateOnly), To: sum.Max.Time().Format(time.DateOnly)})
	return nil
}

func (v *Vocabulary) add(f filter.Field, values []Value) {
	fv := v.fields[f.Name]
	if fv == nil {
		fv = &fieldValues{field: f, byWords: map[string]Value{}, byFold: map[string]Value{}, first: map[string]bool{}}
		v.fields[f.Name] = fv
		v.names = append(v.names, f.Name)
	}
	for _, value := range values {
		words := Words(value.Text)
		if len(words) == 0 {
			continue
		}
		fv.values = append(fv.values, value)
		fv.longest = max(fv.longest, len(words))
		fv.first[words[0]] = true
		keep(fv.byWords, strings.Join(words, " "), value)
		keep(fv.byFold, filter.Squeeze.Of(value.Text), value)
	}
}

func (v *Vocabulary) finish() {
	for _, fv := range v.fields {
		slices.SortStableFunc(fv.values, func(a, b Value) int { return cmp.Compare(b.Count, a.Count) })
	}
}

// keep stores the commoner of two values of one key and adds their counts.
func keep(m map[string]Value, key string, v Value) {
	if old, ok := m[key]; ok {
		if old.Count > v.Count {
			v.Text = old.Text
		}
		v.Count += old.Count
	}
	m[key] = v
}

// Has reports whether some collection has the field, empty or not.
func (v *Vocabulary) Has(field string) bool {
	_, ok := v.Field(field)
	return ok
}

// Field returns the definition of a field from the first collection that has it.
func (v *Vocabulary) Field(name string) (filter.Field, bool) {
	for _, c := range v.Collections {
		if f, ok := c.Schema.Field(name); ok {
			return f, true
		}
	}
	return filter.Field{}, false
}

// Values returns a field's values by falling count.
func (v *Vocabulary) Values(field string) []Value {
	if fv := v.fields[field]; fv != nil {
		return fv.values
	}
	return nil
}

// Lookup finds a value of the field by its words, case and punctuation aside.
func (v *Vocabulary) Lookup(field string, words ...string) (Value, bool) {
	fv := v.fields[field]
	if fv == nil {
		return Value{}, false
	}
	value, ok := fv.byWords[strings.Join(words, " ")]
	return value, ok
}

// LookupFold finds a value of the field by its letters and digits alone.
func (v *Vocabulary) LookupFold(field, text string) (Value, bool) {
	fv := v.fields[field]
	if fv == nil {
		return Value{}, false
	}
	value, ok := fv.byFold[filter.Squeeze.Of(text)]
	return value, ok
}

// Contains reports whether at least so many units have a value of the field that
// contains the text, letters and digits alone.
func (v *Vocabulary) Contains(field, text string, least int64) bool {
	fv := v.fields[field]
	sub := filter.Squeeze.Of(text)
	return fv != nil && sub != "" && fv.partIndex().atLeast(sub, least)
}

// LongestAt returns the longest value of the field that starts at token i, and the
// token after it.
func (q *Query) LongestAt(field string, i int) (Value, int, bool) {
	fv := q.Vocabulary.fields[field]
	if fv == nil || i < 0 || i >= len(q.Tokens) {
		return Value{}, i, false
	}
	return fv.longestAt(q, i)
}

func (fv *fieldValues) longestAt(q *Query, i int) (value Value, to int, ok bool) {
	if !fv.first[q.Tokens[i].Lower] {
		return Value{}, i, false
	}
	var room [96]byte
	key := room[:0]
	for n := 0; n < fv.longest && i+n < len(q.Tokens); n++ {
		if n > 0 {
			if !q.Tokens[i+n].joins {
				break
			}
			key = append(key, ' ')
		}
		key = append(key, q.Tokens[i+n].Lower...)
		if v, hit := fv.byWords[string(key)]; hit {
			value, to, ok = v, i+n+1, true
		}
	}
	return value, to, ok
}

// Begins is Contains for values that begin with the text.
func (v *Vocabulary) Begins(field, text string, least int64) bool {
	fv := v.fields[field]
	sub := filter.Squeeze.Of(text)
	return fv != nil && sub != "" && fv.partIndex().atLeast("\x00"+sub, least)
}
