package sqlite

import (
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/internal/intern"
	"github.com/sextant-rag/sextant/store"
)

// row is one version of a document as the table doc holds it. Rows are immutable and
// their numbers rise: a changed document is a new row, and the old one is deleted.
type row struct {
	number   int64
	id       string
	revision string
	title    string
	text     string
	meta     []byte   // metadata by numbered name, see encodeMeta
	chunks   []byte   // byte ranges and headings
	rest     []byte   // source, parts, validity, differences: shown, never searched
	sum      uint32   // CRC-32C of all the above
	vectors  [][]byte // of new rows: one a chunk, see encodeVector
}

// names numbers the names of fields and groups, so that metadata do not repeat them.
// Numbers are never reused.
type names struct {
	list   []string
	number map[string]int
}

func newNames(list []string) *names {
	n := &names{list: list, number: make(map[string]int, len(list))}
	for i, name := range list {
		n.number[name] = i
	}
	return n
}

// with returns names that cover the schema, the same ones if they already do.
func (n *names) with(s filter.Schema) *names {
	list := slices.Clip(n.list)
	for _, g := range s.Groups {
		if _, ok := n.number[g.Name]; !ok {
			list = append(list, g.Name)
		}
	}
	for _, f := range s.Fields {
		if _, ok := n.number[f.Name]; !ok && len(f.AnyOf) == 0 {
			list = append(list, f.Name)
		}
	}
	if len(list) == len(n.list) {
		return n
	}
	return newNames(list)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers every column, each with its length, so that bytes cannot move
// between them unnoticed.
func (r *row) checksum() uint32 {
	var e encoder
	e.int(r.number)
	for _, n := range []int{len(r.id), len(r.revision), len(r.title), len(r.text), len(r.meta), len(r.chunks), len(r.rest)} {
		e.uint(uint64(n))
	}
	sum := crc32.Update(0, castagnoli, e.b)
	for _, s := range []string{r.id, r.revision, r.title, r.text} {
		sum = crc32.Update(sum, castagnoli, intern.Bytes(s))
	}
	for _, b := range [][]byte{r.meta, r.chunks, r.rest} {
		sum = crc32.Update(sum, castagnoli, b)
	}
	return sum
}

// mark is the row's share in the checksum of a set of rows, which is the exclusive
// or of the marks of its members. The mixing is the finaliser of SplitMix64.
func mark(number int64, sum uint32) uint64 {
	x := uint64(number)<<32 ^ uint64(number)>>32 ^ uint64(sum)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// encodeRow makes a row of a checked record. Its number is not yet known.
func encodeRow(rec store.Record, n *names) (row, error) {
	d := rec.Document
	r := row{
		id: string(d.ID), revision: d.Revision, title: d.Title, text: d.Text,
		meta: encodeMeta(d.Meta, n), chunks: encodeChunks(rec.Chunks), rest: encodeRest(d),
	}
	for _, v := range rec.Vectors {
		blob, err := encodeVector(v)
		if err != nil {
			return r, fmt.Errorf("document %q: %w", d.ID, err)
		}
		r.vectors = append(r.vectors, blob)
	}
	return r, nil
}

// encodeMeta writes the document's fields, then its groups with their elements. A
// field is its name's number and kind, the count of its values and the values;
// fields are in the order of their numbers, so that equal metadata are equal bytes.
func encodeMeta(m filter.Meta, n *names) []byte {
	var e encoder
	encodeFields(&e, m.Fields, n)
	groups := slices.DeleteFunc(slices.Collect(maps.Keys(m.Groups)), func(g string) bool { return len(m.Groups[g]) == 0 })
	slices.SortFunc(groups, func(a, b string) int { return n.number[a] - n.number[b] })
	e.uint(uint64(len(groups)))
	for _, g := range groups {
		e.uint(uint64(n.number[g]))
		e.uint(uint64(len(m.Groups[g])))
		for _, element := range m.Groups[g] {
			encodeFields(&e, element, n)
		}
	}
	return e.b
}

func encodeFields(e *encoder, fields filter.Fields, n *names) {
	list := slices.DeleteFunc(slices.Collect(maps.Keys(fields)), func(f string) bool { return len(fields[f]) == 0 })
	slices.SortFunc(list, func(a, b string) int { return n.number[a] - n.number[b] })
	e.uint(uint64(len(list)))
	for _, f := range list {
		values := fields[f]
		e.uint(uint64(n.number[f])<<3 | uint64(values[0].Kind()))
		e.uint(uint64(len(values)))
		for _, v := range values {
			e.value(v)
		}
	}
}

func decodeMeta(b []byte, n *names) (filter.Meta, error) {
	d := decoder{b: b}
	m := filter.Meta{Fields: decodeFields(&d, n)}
	for range d.count() {
		name := n.name(&d, d.uint())
		elements := make([]filter.Fields, d.count())
		for i := range elements {
			elements[i] = decodeFields(&d, n)
		}
		if m.Groups == nil {
			m.Groups = map[string][]filter.Fields{}
		}
		m.Groups[name] = elements
	}
	return m, d.err
}

func decodeFields(d *decoder, n *names) filter.Fields {
	count := d.count()
	fields := make(filter.Fields, count)
	for range count {
		tag := d.uint()
		name, kind := n.name(d, tag>>3), filter.Kind(tag&7)
		values := make([]filter.Value, d.count())
		for i := range values {
			values[i] = d.value(kind)
		}
		fields[name] = values
	}
	return fields
}

// name returns a numbered name; one that does not exist fails the decoder.
func (n *names) name(d *decoder, number uint64) string {
	if number >= uint64(len(n.list)) {
		d.fail()
		return ""
	}
	return n.list[number]
}

func encodeChunks(chunks []sextant.Chunk) []byte {
	var e encoder
	e.uint(uint64(len(chunks)))
	for _, c := range chunks {
		e.uint(uint64(c.Start))
		e.uint(uint64(c.End))
		e.str(c.Heading)
	}
	encodeRewrites(&e, chunks)
	return e.b
}

// encodeRewrites writes nothing where there are none: so did rows of earlier versions.
func encodeRewrites(e *encoder, chunks []sextant.Chunk) {
	for i, c := range chunks {
		if len(c.Rewrites) == 0 {
			continue
		}
		e.uint(uint64(i))
		e.uint(uint64(len(c.Rewrites)))
		for _, r := range c.Rewrites {
			e.uint(uint64(r.Start))
			e.uint(uint64(r.End))
			e.str(r.Text)
		}
	}
}

func decodeRewrites(d *decoder, chunks []sextant.Chunk) {
	for len(d.b) > 0 && d.err == nil {
		i := d.uint()
		if i >= uint64(len(chunks)) {
			d.fail()
			return
		}
		c := &chunks[i]
		c.Rewrites = make([]sextant.Rewrite, d.count())
		at := 0
		for k := range c.Rewrites {
			r := sextant.Rewrite{Start: int(d.uint()), End: int(d.uint()), Text: d.str()}
			if r.Start < at || r.End < r.Start || r.End > len(c.Content) {
				d.fail()
				return
			}
			c.Rewrites[k], at = r, r.End
		}
	}
}

func (r *row) chunkCount() int {
	d := decoder{b: r.chunks}
	return d.count()
}

// decodeChunks rebuilds a row's chunks; their text is part of the row's.
func (r *row) decodeChunks() ([]sextant.Chunk, error) {
	d := decoder{b: r.chunks}
	chunks := make([]sextant.Chunk, d.count())
	for i := range chunks {
		start, end := d.uint(), d.uint()
		if start > end || end > uint64(len(r.text)) {
			d.fail()
			break
		}
		id := sextant.DocumentID(r.id)
		chunks[i] = sextant.Chunk{ID: sextant.ChunkID(id, i), DocumentID: id, Index: i,
			Start: int(start), End: int(end), Heading: d.str(), Content: r.text[start:end]}
	}
	if d.err == nil {
		decodeRewrites(&d, chunks)
	}
	if d.err != nil {
		return nil, fmt.Errorf("chunks of %s: %w", r.id, d.err)
	}
	return chunks, nil
}

func encodeRest(d sextant.Document) []byte {
	var e encoder
	e.str(d.Source.Name)
	e.str(d.Source.Kind)
	e.str(d.Source.URI)
	e.int(int64(d.Source.Authority))
	e.time(d.Source.Retrieved)
	e.time(d.Valid.From)
	e.time(d.Valid.To)
	e.uint(uint64(len(d.Parts)))
	for _, p := range d.Parts {
		e.str(p.Kind)
		e.str(p.Locator)
		e.uint(uint64(p.Start))
		e.uint(uint64(p.End))
	}
	encodeDifferences(&e, d.Differences)
	return e.b
}

// encodeDifferences writes nothing where there are none: so did rows of earlier versions.
func encodeDifferences(e *encoder, differences []sextant.Difference) {
	if len(differences) == 0 {
		return
	}
	e.uint(uint64(len(differences)))
	for _, x := range differences {
		for _, s := range []string{x.Field, x.Element, x.Value, x.Status, x.Date, x.Source.Name, x.Source.Kind, x.Source.URI} {
			e.str(s)
		}
		e.int(int64(x.Source.Authority))
		e.time(x.Source.Retrieved)
		kept := uint64(0)
		if x.Kept {
			kept = 1
		}
		e.uint(kept)
	}
}

func decodeDifferences(d *decoder) []sextant.Difference {
	if len(d.b) == 0 {
		return nil
	}
	out := make([]sextant.Difference, d.count())
	for i := range out {
		x := &out[i]
		for _, s := range []*string{&x.Field, &x.Element, &x.Value, &x.Status, &x.Date, &x.Source.Name, &x.Source.Kind, &x.Source.URI} {
			*s = d.str()
		}
		x.Source.Authority, x.Source.Retrieved = int(d.int()), d.time()
		x.Kept = d.uint() != 0
	}
	return out
}

// document rebuilds the document of a row.
func (r *row) document(collection string, n *names) (sextant.Document, error) {
	meta, err := decodeMeta(r.meta, n)
	if err != nil {
		return sextant.Document{}, fmt.Errorf("metadata of %s: %w", r.id, err)
	}
	doc := sextant.Document{ID: sextant.DocumentID(r.id), Collection: collection, Title: r.title, Text: r.text, Meta: meta, Revision: r.revision}
	rest, err := r.decodeRest()
	if err != nil {
		return sextant.Document{}, err
	}
	doc.Source, doc.Valid, doc.Parts, doc.Differences = rest.Source, rest.Valid, rest.Parts, rest.Differences
	return doc, nil
}

func (r *row) decodeParts() ([]sextant.Part, error) {
	rest, err := r.decodeRest()
	return rest.Parts, err
}

// decodeRest returns what encodeRest wrote of a document.
func (r *row) decodeRest() (doc sextant.Document, err error) {
	d := decoder{b: r.rest}
	doc.Source = sextant.Source{Name: d.str(), Kind: d.str(), URI: d.str(), Authority: int(d.int()), Retrieved: d.time()}
	doc.Valid = sextant.Period{From: d.time(), To: d.time()}
	if n := d.count(); n > 0 {
		doc.Parts = make([]sextant.Part, n)
		for i := range doc.Parts {
			doc.Parts[i] = sextant.Part{Kind: d.str(), Locator: d.str(), Start: int(d.uint()), End: int(d.uint())}
		}
	}
	doc.Differences = decodeDifferences(&d)
	if d.err != nil {
		return sextant.Document{}, fmt.Errorf("record of %s: %w", r.id, d.err)
	}
	return doc, nil
}
