package chroma

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// body is a document as the record of its first chunk carries it, in the uri: that is
// read only when it is asked for.
type body struct {
	Document document `json:"document"`
	Chunks   []cut    `json:"chunks,omitempty"`
}

// document is a sextant.Document whose metadata can be read again, which takes a schema.
type document struct {
	sextant.Document
	Meta json.RawMessage `json:"metadata"`
}

// cut is where a chunk stands in the text.
type cut struct {
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Heading string `json:"heading,omitempty"`
}

func packBody(rec store.Record) (string, error) {
	meta, err := withoutEmpty(rec.Document.Meta).MarshalJSON()
	if err != nil {
		return "", fmt.Errorf("document %q: %w", rec.Document.ID, err)
	}
	b := body{Document: document{rec.Document, meta}}
	b.Document.Source.Retrieved, b.Document.Valid.From, b.Document.Valid.To = rec.Document.Source.Retrieved.UTC(), rec.Document.Valid.From.UTC(), rec.Document.Valid.To.UTC()
	for _, c := range rec.Chunks {
		b.Chunks = append(b.Chunks, cut{c.Start, c.End, c.Heading})
	}
	text, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("document %q: %w", rec.Document.ID, err)
	}
	return pack(text), nil
}

// withoutEmpty leaves out what is the same as absent.
func withoutEmpty(m filter.Meta) filter.Meta {
	out := filter.Meta{Fields: m.Fields}
	for g, elements := range m.Groups {
		if len(elements) > 0 {
			if out.Groups == nil {
				out.Groups = map[string][]filter.Fields{}
			}
			out.Groups[g] = elements
		}
	}
	return out
}

// unpackBody reads a document and its chunks.
func unpackBody(text string, schema *filter.Schema, collection string) (sextant.Document, []sextant.Chunk, error) {
	raw, err := unpack(text)
	if err != nil {
		return sextant.Document{}, nil, err
	}
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return sextant.Document{}, nil, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	d := b.Document.Document
	if d.Meta, err = schema.Decode(b.Document.Meta); err != nil {
		return d, nil, fmt.Errorf("metadata of %s: %w: %w", d.ID, store.ErrCorrupt, err)
	}
	d.Collection = collection
	chunks := make([]sextant.Chunk, len(b.Chunks))
	for i, c := range b.Chunks {
		if c.Start < 0 || c.Start > c.End || c.End > len(d.Text) {
			return d, nil, fmt.Errorf("chunk %d of %s: %w", i, d.ID, store.ErrCorrupt)
		}
		chunks[i] = sextant.Chunk{ID: sextant.ChunkID(d.ID, i), DocumentID: d.ID, Index: i, Start: c.Start, End: c.End, Heading: c.Heading, Content: d.Text[c.Start:c.End]}
	}
	return d, chunks, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pack makes text of bytes: their CRC-32C in hexadecimal, a dot, and base64 of them,
// deflated where that is shorter (then the dot is a colon).
func pack(b []byte) string {
	sum := fmt.Sprintf("%08x", crc32.Checksum(b, castagnoli))
	if len(b) > 200 {
		var out bytes.Buffer
		w, _ := flate.NewWriter(&out, flate.BestSpeed) // the level is valid
		_, _ = w.Write(b)                              // a buffer takes everything
		_ = w.Close()
		if out.Len() < len(b) {
			return sum + ":" + base64.StdEncoding.EncodeToString(out.Bytes())
		}
	}
	return sum + "." + base64.StdEncoding.EncodeToString(b)
}

func unpack(s string) ([]byte, error) {
	damaged := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("what was packed cannot be read: %w: %v", store.ErrCorrupt, err)
	}
	if len(s) < 9 {
		return damaged(io.ErrUnexpectedEOF)
	}
	sum, err := strconv.ParseUint(s[:8], 16, 32)
	if err != nil {
		return damaged(err)
	}
	b, err := base64.StdEncoding.DecodeString(s[9:])
	if err != nil {
		return damaged(err)
	}
	if s[8] == ':' {
		if b, err = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), maxAnswer)); err != nil {
			return damaged(err)
		}
	}
	if crc32.Checksum(b, castagnoli) != uint32(sum) {
		return damaged(fmt.Errorf("its checksum is another"))
	}
	return b, nil
}

// Keys of a chunk's metadata that are not fields of its document.
const (
	keyPresent = "_p"  // names of the fields that have a value, elements' as <group>.<field>
	keyFolded  = "_f." // before the name of a keyword field whose fold makes spellings one
)

// own are the keys that every chunk has, whatever its schema says. A field of the same
// name is written as field.<name>.
var own = []string{"chunk_id", "document_id", "source", "chunk_index", "title", "heading", "locator", "start", "end", "revision"}

// keyOf is the metadata key of a field's values.
func keyOf(f filter.Field) string {
	name := f.Name
	if f.Group != "" {
		name = f.Group + "." + f.Name
	}
	if slices.Contains(own, name) || strings.HasPrefix(name, "_") {
		return "field." + name
	}
	return name
}

// asList reports whether a field's values are a list on the server: one element type,
// which Chroma compares exactly.
func asList(f filter.Field) bool { return f.List || f.Group != "" }

// chunkMetadata is a chunk's metadata. Fields are those of the document, which all its
// chunks repeat, since the server filters records and knows no documents.
func chunkMetadata(fields []byte, d *sextant.Document, c sextant.Chunk) (values, error) {
	m := object{}
	m.str("chunk_id", c.ID)
	m.str("document_id", string(c.DocumentID))
	m.str("source", d.Collection)
	m.raw("chunk_index", strconv.Itoa(c.Index))
	m.str("title", d.Title)
	m.str("revision", d.Revision)
	m.raw("start", strconv.Itoa(c.Start))
	m.raw("end", strconv.Itoa(c.End))
	if c.Heading != "" {
		m.str("heading", c.Heading)
	}
	if part, ok := d.PartAt(c.Start); ok && part.Locator != "" {
		m.str("locator", part.Locator)
	}
	return m.with(fields), nil
}

// object writes JSON member by member: floats must keep their point, by which Chroma
// tells them from integers.
type object struct{ b []byte }

func (o *object) raw(name, value string) {
	if len(o.b) > 0 {
		o.b = append(o.b, ',')
	}
	n, _ := json.Marshal(name) // a string always encodes
	o.b = append(append(append(o.b, n...), ':'), value...)
}

func (o *object) str(name, value string) {
	v, _ := json.Marshal(value) // a string always encodes
	o.raw(name, string(v))
}

// with closes the object after members written elsewhere.
func (o *object) with(members []byte) values {
	b := append([]byte{'{'}, o.b...)
	if len(members) > 0 && len(o.b) > 0 {
		b = append(b, ',')
	}
	return append(append(b, members...), '}')
}

// fieldMembers writes a document's fields as members of a JSON object.
func fieldMembers(schema *filter.Schema, m filter.Meta) []byte {
	var o object
	var present []string
	for _, f := range schema.Fields {
		if len(f.AnyOf) > 0 {
			continue
		}
		vs := m.Values(f)
		if len(vs) == 0 {
			continue
		}
		key := keyOf(f)
		present = append(present, jsonOf(filter.OfString(key)))
		if f.Kind == filter.Keyword && f.Fold != filter.Exact {
			o.raw(keyFolded+key, jsonOfAll(f, folded(f, vs)))
		}
		o.raw(key, jsonOfAll(f, vs))
	}
	if len(present) > 0 {
		o.raw(keyPresent, "["+strings.Join(present, ",")+"]")
	}
	return o.b
}

func folded(f filter.Field, vs []filter.Value) []filter.Value {
	out := make([]filter.Value, len(vs))
	for i, v := range vs {
		out[i] = filter.OfString(f.Fold.Of(v.Str()))
	}
	return out
}

func jsonOfAll(f filter.Field, vs []filter.Value) string {
	if !asList(f) {
		return jsonOf(vs[0])
	}
	items := make([]string, len(vs))
	for i, v := range vs {
		items[i] = jsonOf(v)
	}
	return "[" + strings.Join(items, ",") + "]"
}

// jsonOf writes a value as the server stores and compares it: times as microseconds,
// floats with a point or an exponent.
func jsonOf(v filter.Value) string {
	switch v.Kind() {
	case filter.Int:
		return strconv.FormatInt(v.Int(), 10)
	case filter.Time:
		return strconv.FormatInt(v.Micros(), 10)
	case filter.Bool:
		return strconv.FormatBool(v.Bool())
	case filter.Float:
		x := v.Float()
		if math.IsInf(x, 0) {
			x = math.Copysign(math.MaxFloat64, x) // JSON has no infinity; the view knows better
		}
		s := strconv.FormatFloat(x, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	}
	b, _ := json.Marshal(v.Str()) // a string always encodes
	return string(b)
}
