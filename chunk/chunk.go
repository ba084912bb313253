// Package chunk cuts documents into the pieces that retrieval finds. A piece is a byte
// range of the document's canonical text, so that whatever is found can be quoted.
//
// Structure comes first: a chunk never spans two sections (a heading starts a
// section), and tables and code are cut between their lines only. Within a section,
// whole sentences are packed to an even size, and the sentences at the end of one
// chunk are repeated at the start of the next. What has no sentences is cut between
// words, and what has no words between characters as people see them: never within
// one, never within a rune.
package chunk

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/sextant-rag/sextant"
)

// Sizer measures a text in tokens of the encoder that will read it. It must be about
// additive: the size of a whole is near the sum of its parts.
type Sizer func(text string) int

// Options say how large chunks are. The zero Options are the defaults.
type Options struct {
	Tokens  int   // most tokens of a chunk, heading path not counted; 0 is DefaultTokens
	Overlap int   // most tokens repeated from the chunk before; 0 is DefaultOverlap, below 0 none
	Size    Sizer // nil is Estimate
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

// Version names the way of cutting: chunks of one version and one document are equal.
// A Sizer of one's own needs a name of its own beside it.
func (o Options) Version() string {
	o = o.withDefaults()
	return fmt.Sprintf("chunk/1 %d/%d", o.Tokens, o.Overlap)
}

// size measures a text, never below what its bytes demand.
func (o *Options) size(text string) int {
	return max(o.Size(text), (len(text)+maxTokenBytes-1)/maxTokenBytes)
}

// Split cuts a document into chunks, in order of the text. Every byte that is not
// white space is in one of them, headings that nothing follows excepted; a document
// with no text below its headings has none. It takes time in proportion to the text.
func Split(doc *sextant.Document, opt Options) []sextant.Chunk {
	opt = opt.withDefaults()
	var out []sextant.Chunk
	for _, s := range sections(doc) {
		p := packer{text: doc.Text, opt: &opt, units: s.units(doc.Text, &opt)}
		for _, r := range p.pack() {
			start, end := trim(doc.Text, r.start, r.end)
			if start == end {
				continue
			}
			i := len(out)
			out = append(out, sextant.Chunk{
				ID: sextant.ChunkID(doc.ID, i), DocumentID: doc.ID, Index: i, Start: start, End: end,
				Heading: joinPath(s.path, r.context), Content: doc.Text[start:end],
			})
		}
	}
	return out
}

func joinPath(path []string, context string) string {
	if context != "" {
		path = append(path[:len(path):len(path)], context)
	}
	return strings.Join(path, " > ")
}

// packer puts units together to chunks.
type packer struct {
	text  string
	opt   *Options
	units []unit
}

// packed is the byte range of a chunk with what stands above it: for a piece of a
// table its caption and header.
type packed struct {
	start, end int
	context    string
}

func (p *packer) pack() []packed {
	var out []packed
	target := p.target()
	for i := 0; i < len(p.units); {
		first, size := p.overlapped(i)
		if size+p.units[i].size > p.opt.Tokens {
			first, size = i, 0
		}
		end := i + 1
		size += p.units[i].size
		for end < len(p.units) && p.joins(end, size, target) {
			size += p.units[end].size
			end++
		}
		out = append(out, packed{p.units[first].start, p.units[end-1].end, p.units[i].context})
		i = end
	}
	return out
}

// target is the size that gives chunks of about equal size instead of full ones and
// a rest.
func (p *packer) target() int {
	total := 0
	for _, u := range p.units {
		total += u.size
	}
	if total <= p.opt.Tokens {
		return p.opt.Tokens
	}
	each := p.opt.Tokens - p.opt.Overlap
	n := (total - p.opt.Overlap + each - 1) / each
	return (total-p.opt.Overlap+n-1)/n + p.opt.Overlap
}

// joins reports whether unit i goes into a chunk of a size so far.
func (p *packer) joins(i, size, target int) bool {
	u := p.units[i]
	switch {
	case size+u.size > p.opt.Tokens:
		return false
	case p.units[i-1].heading: // a heading goes with what follows it
		return true
	case u.context != p.units[i-1].context: // pieces of tables are not mixed with text
		return false
	case size >= target:
		return false
	case u.paragraph > 0 && size >= target/2 && size+u.paragraph > p.opt.Tokens:
		return false // the paragraph will fit into the next chunk whole, or be cut anyway
	}
	return true
}

// overlapped returns the unit a chunk that begins with unit i starts to repeat from,
// and the size of what is repeated.
func (p *packer) overlapped(i int) (first, size int) {
	first = i
	for first > 0 && p.units[first-1].sentence && p.units[i].sentence && size+p.units[first-1].size <= p.opt.Overlap {
		first--
		size += p.units[first].size
	}
	return first, size
}

// trim narrows a range to what is not white space at its ends.
func trim(text string, start, end int) (int, int) {
	s := strings.TrimLeftFunc(text[start:end], unicode.IsSpace)
	start = end - len(s)
	return start, start + len(strings.TrimRightFunc(s, unicode.IsSpace))
}
