package constrain

import (
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
	fields      map[string]*fieldValues
}

type fieldValues struct {
	field   filter.Field
	byWords map[string]Value // words joined by blanks -> the commonest spelling
	byFold  map[string]Value
	values  []Value // by falling count
	longest int     // most words in a value
	first   map[string]bool
}

// BuildVocabulary reads the values of all faceted keyword fields, and of those named
// in also, from the store.
func BuildVocabulary(ctx context.Context, collections []store.Collection, also ...string) (*Vocabulary, error) {
	v := &Vocabulary{Documents: map[string]int64{}, fields: map[string]*fieldValues{}}
	for _, c := range collections {
		if err := v.add(ctx, c, also); err != nil {
			return nil, fmt.Errorf("vocabulary of %s: %w", c.Spec().Name, err)
		}
	}
	return v, nil
}

func (v *Vocabulary) add(ctx context.Context, c store.Collection, also []string) error {
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
		v.addValues(f, facet.Buckets)
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
	v.Coverage = append(v.Coverage, sextant.Coverage{Collection: spec.Name, Field: spec.DateField,
		From: sum.Min.Time().Format(time.DateOnly), To: sum.Max.Time().Format(time.DateOnly)})
	return nil
}

func (v *Vocabulary) addValues(f filter.Field, buckets []store.Bucket) {
	fv := v.fields[f.Name]
	if fv == nil {
		fv = &fieldValues{field: f, byWords: map[string]Value{}, byFold: map[string]Value{}, first: map[string]bool{}}
		v.fields[f.Name] = fv
	}
	for _, b := range buckets {
		value := Value{Text: b.Value.Str(), Count: b.Count}
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
	slices.SortStableFunc(fv.values, func(a, b Value) int { return int(b.Count - a.Count) })
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

// Has reports whether any collection has the field, empty or not.
func (v *Vocabulary) Has(field string) bool {
	return slices.ContainsFunc(v.Collections, func(c sextant.Collection) bool {
		_, ok := c.Schema.Field(field)
		return ok
	})
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

// Containing counts the units whose value contains sub, letters and digits alone.
func (v *Vocabulary) Containing(field, sub string) (n int64) {
	sub = filter.Squeeze.Of(sub)
	if fv := v.fields[field]; fv != nil && sub != "" {
		for folded, value := range fv.byFold {
			if strings.Contains(folded, sub) {
				n += value.Count
			}
		}
	}
	return n
}

// longestAt returns the longest run of tokens from i that is a value of the field.
func (q *Query) longestAt(field string, i int) (value Value, to int, ok bool) {
	fv := q.Vocabulary.fields[field]
	if fv == nil || !fv.first[q.Tokens[i].Lower] {
		return Value{}, i, false
	}
	key := ""
	for n := 0; n < fv.longest && i+n < len(q.Tokens); n++ {
		if n > 0 {
			if !q.Tokens[i+n].joins() {
				break
			}
			key += " "
		}
		key += q.Tokens[i+n].Lower
		if v, hit := fv.byWords[key]; hit {
			value, to, ok = v, i+n+1, true
		}
	}
	return value, to, ok
}

// LongestAt is longestAt for recognizers: the longest value of the field that
// starts at token i, and the token after it.
func (q *Query) LongestAt(field string, i int) (Value, int, bool) { return q.longestAt(field, i) }
