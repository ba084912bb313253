package sextant

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/filter"
)

// DocumentID names a document: "<source>:<native id>", the same on every run and
// machine, so that ingesting twice replaces and never doubles.
type DocumentID string

// Native returns the id without its source: what the source system calls the record.
func (id DocumentID) Native() string {
	for i := 0; i < len(id); i++ {
		if id[i] == ':' {
			return string(id[i+1:])
		}
	}
	return string(id)
}

// Source says where a document comes from.
type Source struct {
	Name      string    `json:"name"`                // the id prefix: "ntsb"
	Kind      string    `json:"kind,omitempty"`      // table, file, feed, ecfr ...
	URI       string    `json:"uri,omitempty"`       // file name or address it was read from
	Authority int       `json:"authority,omitempty"` // rank among sources that disagree; higher wins
	Retrieved time.Time `json:"retrieved_at,omitzero"`
}

// Part is a range of a document's text that has a kind and a place a person can find.
type Part struct {
	Kind    string `json:"kind"`              // facts, narrative, cause, heading, page, table, paragraph ...
	Locator string `json:"locator,omitempty"` // "Probable cause", "p. 4", "(b)(1)"
	Start   int    `json:"start"`             // byte offsets into Document.Text, half open
	End     int    `json:"end"`
}

// Period is a span of time, From inclusive and To exclusive; zero ends are open.
type Period struct {
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
}

// Document is one source record or file in its canonical form.
type Document struct {
	ID         DocumentID  `json:"id"`
	Collection string      `json:"collection"`
	Source     Source      `json:"source"`
	Title      string      `json:"title"`
	Text       string      `json:"text"` // canonical UTF-8; every Quote indexes it by byte
	Parts      []Part      `json:"parts,omitempty"`
	Meta       filter.Meta `json:"metadata"`
	Valid      Period      `json:"valid,omitzero"` // law and procedures: in force; zero is always
	Revision   string      `json:"revision"`       // see ComputeRevision
	// Differences are fields on which what the document was made of disagrees: of each
	// such field every value that was found, the one in Meta first. Nil: none do.
	Differences []Difference `json:"differences,omitempty"`
}

// Difference is one value of a field on which the sources of a document, or the
// revisions of one source, disagree. It is kept so that nothing is blended or lost.
type Difference struct {
	Field   string `json:"field"`             // name in the schema
	Element string `json:"element,omitempty"` // of a group: what names the element, such as its accident number; "": the document itself
	Value   string `json:"value"`             // as filter.Value writes it; "" where this source leaves the field blank
	Kept    bool   `json:"kept"`              // it is the value in Meta
	Status  string `json:"status,omitempty"`  // how far along the source was: "Preliminary"
	Date    string `json:"date,omitempty"`    // ISO date of this version of the source
	Source  Source `json:"source"`            // Authority ranks the sides; URI is the file it was read from
}

// ComputeRevision returns the hash of all that a reader could notice: title, text,
// parts, metadata, validity and differences. Where it was read from and when do not count, so
// that the same record in another file is unchanged. 32 hex digits of SHA-256.
func (d *Document) ComputeRevision() (string, error) {
	meta, err := d.Meta.MarshalJSON()
	if err != nil {
		return "", fmt.Errorf("revision of %s: %w", d.ID, err)
	}
	parts, err := json.Marshal(d.Parts)
	if err != nil {
		return "", fmt.Errorf("revision of %s: %w", d.ID, err)
	}
	h := sha256.New()
	for _, s := range []string{d.Title, d.Text, string(parts), string(meta), d.Valid.From.UTC().String(), d.Valid.To.UTC().String()} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	for _, x := range d.Differences { // a document without has the hash it always had
		fmt.Fprintf(h, "%q", []string{x.Field, x.Element, x.Value, fmt.Sprint(x.Kept), x.Status, x.Date, x.Source.Name})
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// PartAt returns the innermost part that holds the byte offset, if one does.
func (d *Document) PartAt(offset int) (Part, bool) {
	best, found := Part{}, false
	for _, p := range d.Parts {
		if p.Start <= offset && offset < p.End && (!found || p.End-p.Start < best.End-best.Start) {
			best, found = p, true
		}
	}
	return best, found
}

// Quote cuts [start, end) out of the document's text as a Quote with its locator.
// Offsets outside the text are an error: a quote that cannot be shown is no quote.
func (d *Document) Quote(start, end int) (Quote, error) {
	if start < 0 || end > len(d.Text) || start >= end {
		return Quote{}, fmt.Errorf("quote %s[%d:%d] of %d bytes: out of range", d.ID, start, end, len(d.Text))
	}
	q := Quote{DocumentID: d.ID, Collection: d.Collection, Title: d.Title, Start: start, End: end, Text: d.Text[start:end]}
	if p, ok := d.PartAt(start); ok {
		q.Locator = p.Locator
	}
	return q, nil
}

// Quote is a byte range of a document's canonical text, with the text itself.
// Text equals the document's Text[Start:End] byte for byte.
type Quote struct {
	DocumentID DocumentID `json:"document_id"`
	Collection string     `json:"collection"`
	Title      string     `json:"title"`
	Locator    string     `json:"locator,omitempty"`
	Start      int        `json:"start"`
	End        int        `json:"end"`
	Text       string     `json:"text"`
}

// Chunk is a piece of a document made for retrieval.
type Chunk struct {
	ID         string     `json:"chunk_id"` // "<document id>#<ordinal>"
	DocumentID DocumentID `json:"document_id"`
	Index      int        `json:"chunk_index"` // ordinal within the document, from 0
	Start      int        `json:"start"`       // byte range of the document's text, half open
	End        int        `json:"end"`
	Heading    string     `json:"heading,omitempty"` // path of headings above it, joined by " > "
	Content    string     `json:"content"`           // Text[Start:End]
	// Rewrites are what ranking reads in place of ranges of Content, in order and apart from
	// each other. Whatever is shown, quoted, counted or mentioned is Content itself.
	Rewrites []Rewrite `json:"rewrites,omitempty"`
}

// Rewrite is a range of a chunk's content that is read otherwise where chunks are ranked:
// an abbreviation as the words it stands for, a sentence that opens many documents as
// nothing.
type Rewrite struct {
	Start int    `json:"start"` // byte range of the content, half open
	End   int    `json:"end"`
	Text  string `json:"text"`
}

// Ranked returns the chunk's content as ranking reads it.
func (c *Chunk) Ranked() string {
	if len(c.Rewrites) == 0 {
		return c.Content
	}
	var b strings.Builder
	at := 0
	for _, r := range c.Rewrites {
		b.WriteString(c.Content[at:r.Start])
		b.WriteString(r.Text)
		at = r.End
	}
	b.WriteString(c.Content[at:])
	return strings.TrimSpace(b.String())
}

// ChunkID builds the id of a document's chunk.
func ChunkID(id DocumentID, index int) string { return fmt.Sprintf("%s#%d", id, index) }

// Passage is a chunk as found for a query. The JSON names are those of a chunk
// everywhere, so that any client can read them.
type Passage struct {
	ChunkID    string      `json:"chunk_id"`
	DocumentID DocumentID  `json:"document_id"`
	Source     string      `json:"source"` // the collection
	ChunkIndex int         `json:"chunk_index"`
	Content    string      `json:"content"`
	Metadata   filter.Meta `json:"metadata"`
	Title      string      `json:"title"`
	Locator    string      `json:"locator,omitempty"`
	Heading    string      `json:"heading,omitempty"`
	Start      int         `json:"start"` // byte range in the document's text
	End        int         `json:"end"`
	Score      float64     `json:"score"`   // higher is better; comparable within one result only
	Reasons    []Reason    `json:"reasons"` // why it ranks where it does
}

// Reason is one ground of a passage's score.
type Reason struct {
	Kind   string   `json:"kind"` // lexical, dense, identifier, rerank
	Score  float64  `json:"score"`
	Rank   int      `json:"rank,omitempty"`  // place in that ranking, from 1
	Terms  []string `json:"terms,omitempty"` // matched words, lexical only
	Detail string   `json:"detail,omitempty"`
}
