package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// recordJSON is a record as EncodeRecord writes it.
type recordJSON struct {
	Document documentJSON `json:"document"`
	Chunks   []chunkJSON  `json:"chunks,omitempty"`
}

// documentJSON is a document whose metadata can be read again, which takes a schema.
type documentJSON struct {
	sextant.Document
	Meta json.RawMessage `json:"metadata"`
}

// chunkJSON is a chunk without what its document says already. Vector is its components as
// little-endian float32, in base64.
type chunkJSON struct {
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Heading string `json:"heading,omitempty"`
	Vector  []byte `json:"vector,omitempty"`
}

// EncodeRecord writes a record as JSON: the same bytes for the same content, whichever
// store it comes from.
func EncodeRecord(rec Record) ([]byte, error) {
	meta := filter.Meta{Fields: rec.Document.Meta.Fields}
	for g, elements := range rec.Document.Meta.Groups {
		if len(elements) > 0 { // none is the same as absent
			if meta.Groups == nil {
				meta.Groups = map[string][]filter.Fields{}
			}
			meta.Groups[g] = elements
		}
	}
	raw, err := meta.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode record %q: %w", rec.Document.ID, err)
	}
	out := recordJSON{Document: documentJSON{rec.Document, raw}}
	for _, t := range []*time.Time{&out.Document.Source.Retrieved, &out.Document.Valid.From, &out.Document.Valid.To} {
		*t = t.UTC()
	}
	if len(out.Document.Parts) == 0 {
		out.Document.Parts = nil
	}
	for i, ch := range rec.Chunks {
		x := chunkJSON{Start: ch.Start, End: ch.End, Heading: ch.Heading}
		if i < len(rec.Vectors) {
			for _, f := range rec.Vectors[i] {
				x.Vector = binary.LittleEndian.AppendUint32(x.Vector, math.Float32bits(f))
			}
		}
		out.Chunks = append(out.Chunks, x)
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode record %q: %w", rec.Document.ID, err)
	}
	return b, nil
}

// DecodeRecord reads what EncodeRecord wrote, of a collection with the schema. What is
// no such thing is ErrCorrupt.
func DecodeRecord(b []byte, schema *filter.Schema) (Record, error) {
	var in recordJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return Record{}, fmt.Errorf("decode record: %w: %w", ErrCorrupt, err)
	}
	rec := Record{Document: in.Document.Document}
	d := &rec.Document
	var err error
	if d.Meta, err = schema.Decode(in.Document.Meta); err != nil {
		return rec, fmt.Errorf("metadata of %s: %w: %w", d.ID, ErrCorrupt, err)
	}
	for i, x := range in.Chunks {
		if x.Start < 0 || x.Start > x.End || x.End > len(d.Text) || len(x.Vector)%4 != 0 {
			return rec, fmt.Errorf("chunk %d of %s: %w", i, d.ID, ErrCorrupt)
		}
		rec.Chunks = append(rec.Chunks, sextant.Chunk{ID: sextant.ChunkID(d.ID, i), DocumentID: d.ID, Index: i, Start: x.Start, End: x.End, Heading: x.Heading, Content: d.Text[x.Start:x.End]})
		if x.Vector != nil {
			v := make([]float32, len(x.Vector)/4)
			for k := range v {
				v[k] = math.Float32frombits(binary.LittleEndian.Uint32(x.Vector[4*k:]))
			}
			rec.Vectors = append(rec.Vectors, v)
		}
	}
	return rec, nil
}
