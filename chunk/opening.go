package chunk

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant"
)

// Openings learns which sentences open the texts of many documents alike: "This message is
// confidential.", "Investigators may not have traveled in support of this investigation."
// They say nothing of the one they stand in, and would make all that begin with them look
// alike. A sentence is one of them when it opens maxAlike documents and one of rareOpening
// of all. After such a sentence the next may be one, too. Safe for concurrent use.
type Openings struct {
	mu        sync.Mutex
	documents int64 // that had a text with an opening
	counts    map[string]*alike
	known     map[string]bool
	fresh     []Opening // known since Fresh was last called
	partial   bool      // there are documents that were not learned from
}

// alike is what is known of a sentence that opens documents.
type alike struct {
	n   int64
	ids []sextant.DocumentID // the documents; fewer than n where they were too many, or of earlier runs
}

// Opening is a sentence that opens many documents, and those that were cut before that was
// known.
type Opening struct {
	Sentence  string
	Documents []sextant.DocumentID
	All       bool // Documents are all of them
}

const (
	maxAlike      = 64
	rareOpening   = 200
	minOpening    = 40  // bytes of a sentence that is looked at
	maxOpening    = 400 // bytes
	maxSentences  = 20_000
	maxRemembered = 1_000 // sentences whose counts are kept between runs
	maxInRow      = 4     // openings after each other
	maxNamed      = 2_000 // documents that are remembered of a sentence
)

// NewOpenings returns openings that know what an earlier one had learned.
func NewOpenings(from Learned) *Openings {
	o := &Openings{documents: from.Documents, counts: map[string]*alike{}, known: map[string]bool{}}
	for s, n := range from.Counts {
		o.counts[s] = &alike{n: n}
	}
	for _, s := range from.Known {
		o.known[s] = true
	}
	return o
}

// Partial tells that there are documents that nothing was learned from, so that no Opening
// names all of its own.
func (o *Openings) Partial() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.partial = true
}

// Learned is what Openings have learned, to be kept.
type Learned struct {
	Documents int64            `json:"documents"`
	Known     []string         `json:"known"`  // sentences that open many documents
	Counts    map[string]int64 `json:"counts"` // of those that may come to
}

// Learned returns what is worth keeping, known sentences in order.
func (o *Openings) Learned() Learned {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := Learned{Documents: o.documents, Known: slices.Sorted(maps.Keys(o.known)), Counts: map[string]int64{}}
	commonest := slices.SortedFunc(maps.Keys(o.counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(o.counts[b].n, o.counts[a].n), cmp.Compare(a, b))
	})
	for _, s := range commonest[:min(len(commonest), maxRemembered)] {
		if a := o.counts[s]; a.n > 1 {
			out.Counts[s] = a.n
		}
	}
	return out
}

// Fresh returns the sentences that have become known since it was last called.
func (o *Openings) Fresh() []Opening {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.fresh
	o.fresh = nil
	return out
}

// Learn counts the openings of a document. old is what was stored of it before, nil if
// nothing was: what stood there already is not counted again.
func (o *Openings) Learn(doc, old *sextant.Document) {
	seen := map[string]bool{}
	for _, at := range openingPlaces(doc) {
		if s := o.candidate(doc.Text[at:]); s != "" && (old == nil || !strings.Contains(old.Text, s)) {
			seen[s] = true
		}
	}
	if len(seen) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.documents++
	for s := range seen {
		o.count(s, doc.ID)
	}
	if len(o.counts) > maxSentences {
		maps.DeleteFunc(o.counts, func(_ string, a *alike) bool { return a.n == 1 })
	}
	if len(o.counts) > maxSentences { // a corpus of many openings has none that counts
		clear(o.counts)
	}
}

func (o *Openings) count(sentence string, id sextant.DocumentID) {
	a := o.counts[sentence]
	if a == nil {
		a = &alike{}
		o.counts[sentence] = a
	}
	a.n++
	if o.known[sentence] {
		return
	}
	if len(a.ids) < maxNamed {
		a.ids = append(a.ids, id)
	}
	if a.n >= maxAlike && a.n*rareOpening >= o.documents {
		o.known[sentence] = true
		o.fresh = append(o.fresh, Opening{sentence, a.ids, !o.partial && int64(len(a.ids)) == a.n})
		a.ids = nil
	}
}

// candidate is the first sentence of a text that is not known yet, "" if it is none to look
// at.
func (o *Openings) candidate(text string) string {
	for range maxInRow {
		n := openingLength(text)
		if n < minOpening {
			return ""
		}
		if !o.isKnown(text[:n]) {
			return strings.Clone(text[:n])
		}
		text = strings.TrimLeft(text[n:], " \n\t\r")
	}
	return ""
}

func (o *Openings) isKnown(sentence string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[sentence]
}

// quiet returns the ranges of a document that known openings take, in order.
func (o *Openings) quiet(doc *sextant.Document) (out []Span) {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	none := len(o.known) == 0
	o.mu.Unlock()
	if none {
		return nil
	}
	for _, at := range openingPlaces(doc) {
		for range maxInRow {
			n := openingLength(doc.Text[at:])
			if n < minOpening || !o.isKnown(doc.Text[at:at+n]) {
				break
			}
			out = append(out, Span{at, at + n})
			at += n + len(doc.Text[at+n:]) - len(strings.TrimLeft(doc.Text[at+n:], " \n\t\r"))
		}
	}
	slices.SortFunc(out, func(a, b Span) int { return a.Start - b.Start })
	return slices.CompactFunc(out, func(a, b Span) bool { return b.Start < a.End })
}

// openingPlaces are where texts begin: the document's, and those of its parts that are
// neither headings, tables nor records of its fields.
func openingPlaces(doc *sextant.Document) []int {
	places := make([]int, 0, 8)
	spoken := len(doc.Parts) == 0
	for _, p := range doc.Parts {
		kind, _ := kindOf(p)
		if kind == "" && p.Kind != kindRecord && p.Start >= 0 && p.Start < p.End && p.End <= len(doc.Text) {
			places = append(places, p.Start)
		}
		spoken = spoken || p.Start > 0
	}
	if spoken && !slices.ContainsFunc(doc.Parts, func(p sextant.Part) bool { return p.Start == 0 }) {
		places = append(places, 0)
	}
	slices.Sort(places)
	places = slices.Compact(places)
	for i, at := range places {
		places[i] = at + len(doc.Text[at:]) - len(strings.TrimLeft(doc.Text[at:], " \n\t\r"))
	}
	return places
}

// kindRecord is the kind of parts that say a document's fields in sentences: they open
// alike wherever fields are alike, and are what it is found by.
const kindRecord = "record"

// openingLength is the length of the first sentence of a text, as far as that can be told
// without knowing abbreviations; 0 if none ends within maxOpening bytes.
func openingLength(text string) int {
	text = text[:min(len(text), maxOpening)]
	for i := range len(text) {
		switch text[i] {
		case '\n':
			return len(strings.TrimRight(text[:i], " \t\r"))
		case '.', '!', '?':
			if next := text[i+1:]; i >= minOpening && (next == "" || next[0] == ' ' || next[0] == '\n' || next[0] >= 'A' && next[0] <= 'Z') {
				return i + 1
			}
		}
	}
	return 0
}
