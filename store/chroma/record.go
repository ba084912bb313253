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
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// packBody is a document as the record of its first chunk carries it, in the uri: that is
// read only when it is asked for. Vectors are the records' own.
func packBody(rec store.Record) (string, error) {
	rec.Vectors = nil
	b, err := store.EncodeRecord(rec)
	if err != nil {
		return "", err
	}
	return pack(b), nil
}

// unpackBody reads a document and its chunks.
func unpackBody(text string, schema *filter.Schema, collection string) (sextant.Document, []sextant.Chunk, error) {
	b, err := unpack(text)
	if err != nil {
		return sextant.Document{}, nil, err
	}
	rec, err := store.DecodeRecord(b, schema)
	rec.Document.Collection = collection
	return rec.Document, rec.Chunks, err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pack makes text of bytes: their CRC-32C in hexadecimal, a dot, and base64 of them,
// deflated where that is shorter (then the dot is a colon).
func pack(b []byte) string {
	sum := fmt.Sprintf("%08x", crc32.Checksum(b, castagnoli))
	if len(b) > 200 {
		var out bytes.Buffer
		w := deflaters.Get().(*flate.Writer)
		w.Reset(&out)
		_, _ = w.Write(b) // a buffer takes everything
		_ = w.Close()
		deflaters.Put(w)
		if out.Len() < len(b) {
			return sum + ":" + base64.StdEncoding.EncodeToString(out.Bytes())
		}
	}
	return sum + "." + base64.StdEncoding.EncodeToString(b)
}

// deflaters are kept: making one takes longer than using it.
var deflaters = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is valid
	return w
}}

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
var own = []string{"chunk_id", "document_id", "source", "chunk_index", "title", "revision", "content"}

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

// chunkMetadata is a chunk's metadata: few keys, since each is a row and two entries of
// an index on the server, and takes longer to write than the vector. Fields are those of the document, which all its
// chunks repeat, since the server filters records and knows no documents.
func chunkMetadata(fields []byte, d *sextant.Document, c sextant.Chunk) values {
	m := object{}
	m.str("chunk_id", c.ID)
	m.str("document_id", string(c.DocumentID))
	m.str("source", d.Collection)
	m.raw("chunk_index", strconv.Itoa(c.Index))
	if d.Title != "" {
		m.str("title", d.Title)
	}
	if c.Index == 0 {
		m.str("revision", d.Revision)
	}
	return m.with(fields)
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
