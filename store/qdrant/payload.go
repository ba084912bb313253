package qdrant

import (
	"crypto/sha1" //nolint:gosec // UUIDs of version 5 are defined by it
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/vector"
)

// namespace of the ids of points: a UUID of version 5 is made of it and a name (RFC 9562).
var namespace = [16]byte{0x9c, 0x1f, 0x7e, 0x52, 0x1a, 0x0b, 0x5e, 0x0d, 0x8d, 0x5c, 0x3a, 0x86, 0x2c, 0x6f, 0x41, 0x70}

// pointID is the id of a record's point.
func pointID(collection, record string) string {
	h := sha1.New() //nolint:gosec // see above
	h.Write(namespace[:])
	h.Write([]byte(collection + "\x00" + record))
	b := h.Sum(nil)[:16]
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// isPointID reports whether a text is an id as pointID makes them.
func isPointID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i, r := range text {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (r == '-') || !dash && !strings.ContainsRune("0123456789abcdef", r) {
			return false
		}
	}
	return true
}

func headRecord(id sextant.DocumentID) string        { return string(id) + "#head" }
func textRecord(id sextant.DocumentID, i int) string { return string(id) + "#text-" + strconv.Itoa(i) }
func elementRecord(id sextant.DocumentID, group string, i int) string {
	return string(id) + "#" + group + "-" + strconv.Itoa(i)
}

func (c *collection) id(record string) string { return pointID(c.current().Spec.Name, record) }

func (c *collection) stateID() string { return c.id("#state") }

// state is the payload of a collection's own point.
type state struct {
	Kind     string `json:"_kind"`
	Sequence string `json:"_sequence"` // in decimal: float64 would round it
}

// chunkPayload is what is stored of a chunk. Names without an underscore are for any
// client.
type chunkPayload struct {
	Kind     string          `json:"_kind"`
	ID       string          `json:"chunk_id"`
	Document string          `json:"document_id"`
	Source   string          `json:"source"`
	Index    int             `json:"chunk_index"`
	Content  string          `json:"content"`
	Title    string          `json:"title"`
	Heading  string          `json:"heading,omitempty"`
	Start    int             `json:"start"`
	End      int             `json:"end"`
	Metadata json.RawMessage `json:"metadata"`
	Groups   map[string]int  `json:"_g,omitempty"`
	Parts    string          `json:"_parts,omitempty"` // those that meet the chunk, as JSON
	Length   int             `json:"_length,omitempty"`
	Stems    []string        `json:"_stems,omitempty"`
	Words    []string        `json:"_words,omitempty"` // that are not their own stems
	Zones    []int64         `json:"_zones,omitempty"` // of text that have words, as package store numbers them
}

// headPayload is what is stored of a document.
type headPayload struct {
	Kinds    []string        `json:"_kind"`
	Document string          `json:"document_id"`
	Source   string          `json:"source"`
	Title    string          `json:"title"`
	Metadata json.RawMessage `json:"metadata"`
	Groups   map[string]int  `json:"_g,omitempty"`
	Revision string          `json:"_revision"`
	Record   string          `json:"_record"` // a record, as JSON
	Text     string          `json:"text"`    // the first piece of it
	Texts    int             `json:"_texts"`  // further pieces
	Chunks   int             `json:"_chunks"`
	Elements map[string]int  `json:"_elements,omitempty"` // points of elements, by group
	Stamp    int64           `json:"_stamp"`              // microseconds; of the batch it was written with
}

type elementPayload struct {
	Kind     string          `json:"_kind"`
	Document string          `json:"document_id"`
	Source   string          `json:"source"`
	Element  int             `json:"element"`
	Metadata json.RawMessage `json:"metadata"`
	Groups   map[string]int  `json:"_g"`
}

type textPayload struct {
	Kind     string `json:"_kind"`
	Document string `json:"document_id"`
	Source   string `json:"source"`
	Text     string `json:"text"`
}

// record is what of a document stands nowhere else in its head, and its metadata once
// more: what filters ask is not exact in floats nor in what an empty list was.
type record struct {
	Source      sextant.Source       `json:"source"`
	Parts       []sextant.Part       `json:"parts,omitempty"`
	Valid       sextant.Period       `json:"valid,omitzero"`
	Differences []sextant.Difference `json:"differences,omitempty"`
	Metadata    json.RawMessage      `json:"metadata"`
}

// maxPiece is how much text one point holds.
const maxPiece = 256 << 10

// writer makes the points of records.
type writer struct {
	spec     sextant.Collection
	analyzer *lexical.Analyzer
	pivot    float64
	stamp    int64
}

// written are the points of one document, its head last: until that is stored, the
// document is still its former version.
func (w *writer) written(rec store.Record, analysed []analysis) ([]point, error) {
	d := &rec.Document
	counts := groupCounts(d.Meta)
	metadata, err := filterable(&w.spec.Schema, d.Meta)
	if err != nil {
		return nil, err
	}
	var out []point
	add := func(record string, payload any, vectors point) error {
		body, err := encode(payload)
		vectors.ID, vectors.Payload = pointID(w.spec.Name, record), body
		out = append(out, vectors)
		return err
	}
	for i, ch := range rec.Chunks {
		p := chunkPayload{Kind: kindChunk, ID: ch.ID, Document: string(d.ID), Source: d.Collection, Index: i, Content: ch.Content, Title: d.Title, Heading: ch.Heading,
			Start: ch.Start, End: ch.End, Metadata: metadata, Groups: counts, Parts: partsOf(d, ch), Length: analysed[i].length, Stems: analysed[i].stems, Words: analysed[i].words, Zones: analysed[i].zones}
		v := point{Words: analysed[i].sparse(w.pivot)}
		if rec.Vectors != nil {
			if v.Dense, err = halves(rec.Vectors[i]); err != nil {
				return nil, fmt.Errorf("document %q: %w: %w", d.ID, store.ErrRecord, err)
			}
		}
		if err := add(ch.ID, p, v); err != nil {
			return nil, err
		}
	}
	head := headPayload{Kinds: []string{kindHead}, Document: string(d.ID), Source: d.Collection, Title: d.Title, Metadata: metadata, Groups: counts, Revision: d.Revision,
		Chunks: len(rec.Chunks), Stamp: w.stamp, Elements: map[string]int{}}
	for _, g := range w.spec.Schema.Groups {
		elements := d.Meta.Groups[g.Name]
		if len(elements) == 1 {
			head.Kinds = append(head.Kinds, kindElement+g.Name)
			continue
		}
		for i, e := range elements {
			one := filter.Meta{Fields: d.Meta.Fields, Groups: maps.Clone(d.Meta.Groups)}
			one.Groups[g.Name] = []filter.Fields{e}
			m, err := filterable(&w.spec.Schema, one)
			if err != nil {
				return nil, err
			}
			p := elementPayload{Kind: kindElement + g.Name, Document: string(d.ID), Source: d.Collection, Element: i, Metadata: m, Groups: groupCounts(one)}
			if err := add(elementRecord(d.ID, g.Name, i), p, point{}); err != nil {
				return nil, err
			}
			head.Elements[g.Name]++
		}
	}
	pieces := cutText(d.Text)
	head.Text, head.Texts = pieces[0], len(pieces)-1
	for i, text := range pieces[1:] {
		if err := add(textRecord(d.ID, i+1), textPayload{Kind: kindText, Document: string(d.ID), Source: d.Collection, Text: text}, point{}); err != nil {
			return nil, err
		}
	}
	if head.Record, err = recordOf(d); err != nil {
		return nil, err
	}
	return out, add(headRecord(d.ID), head, point{})
}

func recordOf(d *sextant.Document) (string, error) {
	meta, err := d.Meta.MarshalJSON()
	if err != nil {
		return "", err
	}
	body, err := encode(record{Source: d.Source, Parts: d.Parts, Valid: d.Valid, Differences: d.Differences, Metadata: meta})
	return string(body), err
}

// cutText cuts a text into pieces that are UTF-8, one at least.
func cutText(text string) []string {
	var out []string
	for len(text) > maxPiece {
		n := maxPiece
		for n > maxPiece-4 && text[n]&0xc0 == 0x80 {
			n--
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return append(out, text)
}

// partsOf returns the parts that a chunk meets, as JSON: what its words are divided by.
func partsOf(d *sextant.Document, ch sextant.Chunk) string {
	var meets []sextant.Part
	for _, p := range d.Parts {
		if p.Start < ch.End && p.End > ch.Start {
			meets = append(meets, sextant.Part{Kind: p.Kind, Start: p.Start, End: p.End})
		}
	}
	if meets == nil {
		return ""
	}
	body, err := json.Marshal(meets)
	if err != nil {
		return ""
	}
	return string(body)
}

func groupCounts(m filter.Meta) map[string]int {
	out := map[string]int{}
	for g, elements := range m.Groups {
		if len(elements) > 0 {
			out[g] = len(elements)
		}
	}
	return out
}

// halves rounds a vector to half floats, as the embedded store keeps them.
func halves(v []float32) ([]float32, error) {
	b, err := vector.AppendHalf(nil, v)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(v))
	return out, vector.DecodeHalf(out, b)
}

// filterable writes metadata as filters ask them.
func filterable(s *filter.Schema, m filter.Meta) (json.RawMessage, error) {
	out := fieldsOf(s, m.Fields)
	for g, elements := range m.Groups {
		list := make([]map[string]any, len(elements))
		for i, e := range elements {
			list[i] = fieldsOf(s, e)
		}
		if len(list) > 0 {
			out[g] = list
		}
	}
	return encode(out)
}

// half is an integer in two numbers that a float64 holds.
type half struct {
	High int64 `json:"h"`
	Low  int64 `json:"l"`
}

func fieldsOf(s *filter.Schema, fields filter.Fields) map[string]any {
	out := map[string]any{}
	folds, wides := map[string]any{}, map[string]any{}
	for name, values := range fields {
		f, ok := s.Field(name)
		if !ok || len(values) == 0 {
			continue
		}
		out[name] = plainValues(f, values)
		if f.Fold != filter.Exact {
			folded := make([]string, len(values))
			for i, v := range values {
				folded[i] = f.Fold.Of(v.Str())
			}
			slices.Sort(folded)
			folds[name] = bare(slices.Compact(folded))
		}
		var wide []half
		for _, v := range values {
			if n := v.Int() + v.Micros(); (f.Kind == filter.Int || f.Kind == filter.Time) && isWide(n) {
				wide = append(wide, half{n >> 32, int64(uint32(n))})
			}
		}
		if wide != nil {
			wides[name] = wide
		}
	}
	if len(folds) > 0 {
		out["_fold"] = folds
	}
	if len(wides) > 0 {
		out["_wide"] = wides
	}
	return out
}

// plainValues are the values of a field as JSON has them, times as microseconds, a single
// one bare.
func plainValues(f filter.Field, values []filter.Value) any {
	if f.Kind == filter.Time {
		ns := make([]int64, len(values))
		for i, v := range values {
			ns[i] = v.Micros()
		}
		return bare(ns)
	}
	return bare(values)
}

func bare[T any](values []T) any {
	if len(values) == 1 {
		return values[0]
	}
	return values
}

// analysis is what the words of a chunk come to.
type analysis struct {
	length int // atoms
	stems  []string
	words  []string
	zones  []int64
	counts map[string]int // by stem
}

// analyse reads a chunk's words, as lexical.Index would.
func (w *writer) analyse(d *sextant.Document, ch sextant.Chunk) analysis {
	a := analysis{counts: map[string]int{}}
	words := map[string]bool{}
	for _, f := range store.TextFields(d.Title, d.Parts, ch) {
		for _, t := range w.analyzer.Tokens(f.Text) {
			if t.Span == 1 {
				a.length++
			}
			a.counts[t.Stem]++
			if t.Word != t.Stem {
				words[t.Word] = true
			}
			if !slices.Contains(a.zones, int64(f.Zone)) {
				a.zones = append(a.zones, int64(f.Zone))
			}
		}
	}
	a.stems = slices.Sorted(maps.Keys(a.counts))
	a.words = slices.Sorted(maps.Keys(words))
	return a
}

// maxFrequency is where lexical stops counting.
const maxFrequency = 255

// sparse is BM25's share of each stem, for texts of an average length of pivot.
func (a *analysis) sparse(pivot float64) sparse {
	k1, b := float64(lexical.DefaultBM25.K1), float64(lexical.DefaultBM25.B)
	norm := k1 * (1 - b + b*float64(a.length)/pivot)
	values := map[uint32]float32{}
	for stem, n := range a.counts {
		f := float64(min(n, maxFrequency))
		values[dimensionOf(stem)] += float32(f / (f + norm))
	}
	var s sparse
	s.Indices = slices.Sorted(maps.Keys(values))
	for _, i := range s.Indices {
		s.Values = append(s.Values, values[i])
	}
	return s
}

// dimensionOf is the component of sparse vectors that a stem has. Two stems may share one:
// that makes a chunk a candidate which is none, and is put right when it is scored.
func dimensionOf(stem string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(stem))
	return h.Sum32()
}
