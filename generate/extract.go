// Package generate turns passages into findings: statements with the quotes that
// support them.
//
// Without a model the statements are the sentences themselves: those that say most of
// what is asked, quoted where they stand. Nothing is rephrased, so nothing can be
// said that the documents do not say.
package generate

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/lexical"
)

// Input is what findings may be made of.
type Input struct {
	Topic     []string           // the words of the question that are its subject
	Causal    bool               // causes are asked for: parts that state the cause come first
	Narrow    bool               // the conditions leave only a few documents: their records are the answer
	Documents []sextant.Document // in the order of their rank
	Limit     int                // findings at most
}

// Output is what was found, and which of the topic's words nothing said anything of.
type Output struct {
	Findings    []sextant.Finding
	CausalChain []sextant.Finding
	Missing     []string
	Coverage    float64 // share of the topic, weighted by rarity, that the findings speak of; 1 if there is no topic
}

// Parts a finding prefers when causes are asked for, and what a record begins with.
const (
	partCause   = "cause"
	partFinding = "finding" // one coded finding a part
	partRecord  = "record"

	partHeading = "heading"
)

// sentence is a candidate with what it says of the topic.
type sentence struct {
	document int
	part     sextant.Part
	start    int
	end      int
	matched  map[string]bool
	score    float64
}

// Extract picks the sentences that answer.
func Extract(in Input) Output {
	terms := stems(strings.Join(in.Topic, " "))
	candidates := gather(in.Documents, terms)
	weights := rarity(candidates, terms)
	for i := range candidates {
		candidates[i].score = candidates[i].weigh(in, weights)
	}
	slices.SortStableFunc(candidates, func(a, b sentence) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.document, b.document), cmp.Compare(a.start, b.start))
	})
	var out Output
	said := map[string]bool{}
	for _, s := range pick(in, candidates) {
		f, err := finding(in.Documents[s.document], s)
		if err != nil {
			continue
		}
		out.Findings = append(out.Findings, f)
		for t := range s.matched {
			said[t] = true
		}
		for t := range stems(in.Documents[s.document].Title) {
			said[t] = true // what a document is called, all of its sentences speak of
		}
	}
	if in.Causal {
		out.CausalChain = chain(in.Documents)
	}
	out.Coverage, out.Missing = coverage(in.Topic, weights, said)
	return out
}

// stems returns the distinct stems of a text.
func stems(text string) map[string]bool {
	out := map[string]bool{}
	for _, t := range lexical.English().Tokens(text) {
		out[t.Stem] = true
	}
	return out
}

func gather(documents []sextant.Document, terms map[string]bool) []sentence {
	var out []sentence
	for i, d := range documents {
		for _, p := range d.Parts {
			if p.Kind == partHeading {
				continue // a heading says nothing by itself
			}
			for _, span := range chunk.Sentences(d.Text[p.Start:p.End]) {
				s := sentence{document: i, part: p, start: p.Start + span.Start, end: p.Start + span.End, matched: map[string]bool{}}
				for _, t := range lexical.English().Tokens(d.Text[s.start:s.end]) {
					if terms[t.Stem] {
						s.matched[t.Stem] = true
					}
				}
				out = append(out, s)
			}
		}
	}
	return out
}

// rarity weighs each term by how few of the candidate sentences say it.
func rarity(candidates []sentence, terms map[string]bool) map[string]float64 {
	df := map[string]int{}
	for _, s := range candidates {
		for t := range s.matched {
			df[t]++
		}
	}
	out := map[string]float64{}
	for t := range terms {
		out[t] = math.Log(1 + float64(len(candidates)+1)/float64(df[t]+1))
	}
	return out
}

// weigh is the share of the topic a sentence says, with a lead for the part that
// states the cause where causes are asked for, and for better ranked documents.
func (s sentence) weigh(in Input, weights map[string]float64) float64 {
	var all, got float64
	for t, w := range weights {
		all += w
		if s.matched[t] {
			got += w
		}
	}
	score := 0.0
	if all > 0 {
		score = got / all
	}
	if in.Causal && s.part.Kind == partCause {
		score += 0.5
	}
	if len(weights) == 0 {
		score += s.telling()
	}
	return score - 0.02*float64(s.document)
}

// telling ranks sentences where nothing but the conditions was asked, so that the
// record itself is the answer: what it is about, why it happened, how it began.
func (s sentence) telling() float64 {
	switch {
	case s.part.Kind == partRecord && s.start == s.part.Start:
		return 0.5
	case s.part.Kind == partCause:
		return 0.45
	case s.part.Kind == partRecord:
		return 0.3
	case s.start < s.part.Start+opening:
		return 0.4
	}
	return 0
}

// opening is how far into a narrative, in bytes, its beginning reaches.
const opening = 400

// least is the score under which a sentence says too little of the topic.
const least = 0.2

func pick(in Input, candidates []sentence) []sentence {
	var out []sentence
	perDocument := map[int]int{}
	most := 2
	switch {
	case in.Narrow && len(in.Topic) == 0:
		most = in.Limit // the record is the answer: as much of it as fits
	case in.Narrow:
		most = 4
	}
	for _, s := range candidates {
		if len(out) == in.Limit || s.score < least {
			break
		}
		if perDocument[s.document]++; perDocument[s.document] > most {
			continue
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b sentence) int {
		return cmp.Or(cmp.Compare(a.document, b.document), cmp.Compare(a.start, b.start))
	})
	return out
}

func finding(d sextant.Document, s sentence) (sextant.Finding, error) {
	q, err := d.Quote(s.start, s.end)
	if err != nil {
		return sextant.Finding{}, err
	}
	confidence := "medium"
	if s.score >= 0.6 {
		confidence = "high"
	}
	return sextant.Finding{Text: q.Text, Quotes: []sextant.Quote{q}, Source: d.Collection, Confidence: confidence}, nil
}

// maxCoded is how many coded findings follow the cause in a chain.
const maxCoded = 6

// chain quotes the cause of the best ranked document that states one, sentence by
// sentence, and the coded findings that led to it.
func chain(documents []sextant.Document) []sextant.Finding {
	for _, d := range documents {
		var out, coded []sextant.Finding
		for _, p := range d.Parts {
			switch {
			case p.Kind == partCause:
				for _, span := range chunk.Sentences(d.Text[p.Start:p.End]) {
					out = appendQuoted(out, d, p.Start+span.Start, p.Start+span.End)
				}
			case p.Kind == partFinding && len(coded) < maxCoded:
				coded = appendQuoted(coded, d, p.Start, p.End)
			}
		}
		if out = append(out, coded...); len(out) > 0 {
			return out
		}
	}
	return nil
}

func appendQuoted(out []sextant.Finding, d sextant.Document, start, end int) []sextant.Finding {
	if f, err := finding(d, sentence{start: start, end: end, score: 1}); err == nil {
		out = append(out, f)
	}
	return out
}

// coverage returns how much of the topic was said, and the words that were not.
func coverage(topic []string, weights map[string]float64, said map[string]bool) (float64, []string) {
	var all, got float64
	for t, w := range weights {
		all += w
		if said[t] {
			got += w
		}
	}
	var missing []string
	for _, word := range topic {
		known := false
		for t := range stems(word) {
			known = known || said[t]
		}
		if !known {
			missing = append(missing, word)
		}
	}
	if all == 0 {
		return 1, nil
	}
	return got / all, missing
}
