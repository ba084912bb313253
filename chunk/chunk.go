// Package chunk cuts documents into the pieces that retrieval finds. A piece is a byte
// range of the document's canonical text, so that whatever is found can be quoted.
//
// Structure comes first: a chunk never spans two sections (a heading starts a
// section), never runs from the text of a part into that of a part inside it, and
// tables and code are cut between their lines only. Within a section, whole sentences
// are packed to an even size, and the sentences at the end of one chunk are repeated at
// the start of the next. What has no sentences is cut between words, and what has no
// words between characters as people see them; never within a code point.
package chunk

import (
	"fmt"

	"github.com/sextant-rag/sextant"
)

// Sizer measures a text in tokens of the encoder that will read it. It must be about
// additive: the size of a whole is near the sum of its parts. White space around a text
// must not make it smaller. It is never given a text of more than 24 bytes for each
// token of Options.Tokens, so that a Sizer in linear time keeps Split linear.
type Sizer func(text string) int

// Options say how large chunks are. The zero Options are the defaults.
type Options struct {
	Tokens  int   // most tokens of a chunk with its headings; 0 is DefaultTokens
	Overlap int   // most tokens repeated from the chunk before; 0 is DefaultOverlap, below 0 none
	Size    Sizer // nil is Estimate

	Glossary Glossary  // abbreviations that ranking reads as words; nil is none
	Openings *Openings // sentences that ranking passes over; nil is none
}

// Defaults. Small sentence encoders are trained on 128 to 256 tokens; what is longer
// they cut off or blur.
const (
	DefaultTokens  = 224
	DefaultOverlap = 32
)

// maxTokenBytes bounds a token whatever the Sizer says: a tokenizer may take a run of
// 200,000 letters for a single unknown token.
const maxTokenBytes = 24

func (o Options) withDefaults() Options {
	if o.Tokens <= 0 {
		o.Tokens = DefaultTokens
	}
	switch {
	case o.Overlap == 0:
		o.Overlap = DefaultOverlap
	case o.Overlap < 0:
		o.Overlap = 0
	}
	o.Overlap = min(o.Overlap, o.Tokens/3)
	if o.Size == nil {
		o.Size = Estimate
	}
	return o
}

// OptionsOf returns the Options of a collection's way of cutting.
func OptionsOf(c sextant.Chunking) Options {
	o := Options{Tokens: c.Size, Overlap: c.Overlap}
	if c.Size > 0 && c.Overlap <= 0 {
		o.Overlap = -1
	}
	return o
}

// Chunking is what of the Options is recorded with a collection.
func (o Options) Chunking() sextant.Chunking {
	o = o.withDefaults()
	return sextant.Chunking{Size: o.Tokens, Overlap: o.Overlap}
}

// Version names the way of cutting: chunks of one version and one document are equal.
// A Sizer of one's own needs a name of its own beside it.
func (o Options) Version() string {
	o = o.withDefaults()
	return fmt.Sprintf("chunk/3 %d/%d", o.Tokens, o.Overlap)
}

// size measures a text, never below what its bytes demand. What the bytes alone make
// larger than a chunk the Sizer is not asked about.
func (o *Options) size(text string) int {
	least := (len(text) + maxTokenBytes - 1) / maxTokenBytes
	if least > o.Tokens {
		return least
	}
	return max(o.Size(text), least)
}

func (o *Options) fits(text string, budget int) bool { return o.size(text) <= budget }

// Split cuts a document into chunks, in order of the text. Every byte that is not
// white space is in one of them; a document with no text below its headings has none.
// A chunk and its heading together have at most opt.Tokens tokens, unless a single
// code point has more. Ranges of parts are clipped to the text and to whole code
// points. It takes time in proportion to the text and the parts.
func Split(doc *sextant.Document, opt Options) []sextant.Chunk {
	opt = opt.withDefaults()
	var out []sextant.Chunk
	quiet := opt.Openings.quiet(doc)
	for _, s := range sections(doc) {
		p := packer{text: doc.Text, opt: &opt}
		p.pack(s.units(doc.Text, &opt))
		for _, r := range p.out {
			i := len(out)
			out = append(out, sextant.Chunk{
				ID: sextant.ChunkID(doc.ID, i), DocumentID: doc.ID, Index: i, Start: r.start, End: r.end,
				Heading: r.heading, Content: doc.Text[r.start:r.end],
			})
			opt.rewrite(&out[i], quiet)
		}
	}
	return out
}
