// Package tune learns from a collection's own pairs how its questions lie to its
// documents (package embed/adapt), keeps what it learnt with the collection as a version
// that can be switched off, and hands it to retrieval. Nothing is encoded again but the
// questions of the pairs.
package tune

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// Pair is a question, or what stands for one, and what answers it: a document of the
// collection, or a text.
type Pair struct {
	Query    string
	Document sextant.DocumentID
	Text     string // the answer itself; "" is the document's best chunk
	// Start and End are where Query itself stands in the document: no chunk from there is
	// its answer.
	Start, End int
}

// Pairs are what to learn from.
type Pairs struct {
	Kind string // causes, titles, headings, file
	All  []Pair
	// Strength is how far to go: 1 where people ask such questions, 0.5 where the pairs
	// only stand in for questions.
	Strength float32
}

// most is how many pairs are used: more take longer and gained nothing measurable.
const most = 9000

// Own collects pairs from a collection's documents: parts that say a cause with their
// documents if there are enough, else headings with the chunks under them, else titles
// with documents.
func Own(ctx context.Context, c store.Collection) (Pairs, error) {
	var causes, titles, headings []Pair
	for d, err := range c.Scan(ctx, filter.All) {
		if err != nil {
			return Pairs{}, fmt.Errorf("collect pairs: %w", err)
		}
		for _, p := range d.Parts {
			text := strings.TrimSpace(d.Text[p.Start:p.End])
			switch {
			case p.Kind == "cause" && len(text) >= leastQuery:
				causes = append(causes, Pair{Query: text, Document: d.ID, Start: p.Start, End: p.End})
			case p.Kind == "heading" && len(text) >= leastQuery:
				headings = append(headings, Pair{Query: text, Document: d.ID, Start: p.Start, End: p.End})
			}
		}
		if len(d.Title) >= leastQuery {
			titles = append(titles, Pair{Query: d.Title, Document: d.ID})
		}
	}
	for _, p := range []Pairs{{"causes", causes, 1}, {"headings", headings, 0.5}, {"titles", titles, 0.5}} {
		if len(p.All) >= enough {
			p.All = Sampled(p.All, most)
			return p, nil
		}
	}
	return Pairs{Kind: "titles", All: Sampled(titles, most), Strength: 0.5}, nil
}

const (
	leastQuery = 12  // bytes of what may stand for a question
	enough     = 200 // pairs of one kind
)

// Sampled keeps at most n pairs, which ones following from the pairs alone, in an order
// that has nothing to do with theirs.
func Sampled(all []Pair, n int) []Pair {
	slices.SortStableFunc(all, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(hashOf(a), hashOf(b)), cmp.Compare(a.Document, b.Document))
	})
	return all[:min(len(all), n)]
}

func hashOf(p Pair) uint32 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, string(p.Document)+"\n"+p.Query)
	return h.Sum32()
}

// ReadPairs reads pairs as JSON lines: {"query": ..., "document_id": ...} or {"query":
// ..., "text": ...}. They are taken for questions of the kind that people ask.
func ReadPairs(r io.Reader) (Pairs, error) {
	out := Pairs{Kind: "file", Strength: 1}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<22)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var p struct {
			Query    string             `json:"query"`
			Document sextant.DocumentID `json:"document_id"`
			Text     string             `json:"text"`
		}
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return out, fmt.Errorf("read pairs: line %d: %w", n, err)
		}
		if p.Query == "" || p.Document == "" && p.Text == "" {
			return out, fmt.Errorf("read pairs: line %d has no query, or neither document_id nor text", n)
		}
		out.All = append(out.All, Pair{Query: p.Query, Document: p.Document, Text: p.Text})
	}
	out.All = Sampled(out.All, most)
	return out, lines.Err()
}
