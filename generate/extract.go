// Package generate turns passages into findings: statements with the quotes that
// support them.
//
// Without a model the statements are the sentences themselves: those that say most of
// what is asked, quoted where they stand. Nothing is rephrased, so nothing can be
// said that the documents do not say.
package generate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/lexical"
)

// Input is what findings may be made of.
type Input struct {
	Question  string             // as asked; "" is the topic alone
	Topic     []string           // the words of the question that are its subject
	Causal    bool               // causes are asked for: parts that state the cause come first
	Narrow    bool               // the conditions leave only a few documents: their records are the answer
	Documents []sextant.Document // in the order of their rank
	Limit     int                // findings at most
}

// Output is what was found, and which of the topic's words nothing said anything of.
type Output struct {
	Findings    []sextant.Finding
	Best        string // the text of the finding that says most
	CausalChain []sextant.Finding
	Missing     []string
	Coverage    float64 // share of the topic, weighted by rarity, that the findings speak of; 1 if there is no topic
	Sufficiency Sufficiency
}

// Parts a finding prefers when causes are asked for, and what a record begins with.
const (
	PartCause   = "cause"
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
	text     string
	matched  matches
	score    float64
}

// Extract picks the sentences that answer.
func Extract(in Input) Output {
	v := vocabularyOf(slices.Sorted(maps.Keys(stems(strings.Join(in.Topic, " ")))))
	defer v.release()
	question := in.Question
	if question == "" {
		question = strings.Join(in.Topic, " ")
	}
	asked := aspects(question, in.Topic)
	for i := range asked {
		asked[i].in(v)
	}
	unnamed := ""
	if !in.Narrow {
		in.Documents, unnamed = naming(in.Documents, names(in.Question, in.Topic))
	}
	f := field{candidates: gather(in.Documents, v)}
	f.weights = rarity(f.candidates, v)
	why := in.Causal || causal.MatchString(in.Question)
	for i := range f.candidates {
		f.candidates[i].score = f.candidates[i].weigh(why, f.weights)
	}
	out, said := f.findings(in, asked, v)
	if in.Causal {
		out.CausalChain = chain(in.Documents)
	}
	out.Coverage, out.Missing = coverage(in.Topic, v.terms, f.weights, said)
	out.Sufficiency = f.suffices(asked)
	out.Sufficiency.Pinned = f.pin(asked) >= 0
	if unnamed != "" {
		out.Sufficiency.Score = min(out.Sufficiency.Score, nameMissing)
		out.Sufficiency.Lacking = append(out.Sufficiency.Lacking, fmt.Sprintf("“%s”", unnamed))
	}
	return out
}

// findings quotes the sentences that are picked, and returns what they and the titles of their
// documents say.
func (f *field) findings(in Input, asked []aspect, v *vocabulary) (out Output, said map[string]bool) {
	said = map[string]bool{}
	titled := map[int]bool{}
	best := -1.0
	for _, s := range f.pick(in, asked) {
		found, err := finding(in.Documents[s.document], s)
		if err != nil {
			continue
		}
		if s.score > best {
			best, out.Best = s.score, found.Text
		}
		out.Findings = append(out.Findings, found)
		for i, strength := range s.matched {
			if strength > 0 {
				said[v.terms[i]] = true
			}
		}
		if !titled[s.document] {
			titled[s.document] = true // what a document is called, all of its sentences speak of
			lexical.English().Each(in.Documents[s.document].Title, func(_, stem string) { said[stem] = true })
		}
	}
	return out, said
}

// naming keeps the documents that have the most of the names a question has, for what stands
// in others is about something else. Missing is a name that none of them has.
func naming(documents []sextant.Document, names []string) (kept []sextant.Document, missing string) {
	if len(names) == 0 || len(documents) == 0 {
		return documents, ""
	}
	most := -1
	for _, d := range documents {
		said, n, lacks := stems(d.Title+" "+d.Text), 0, ""
		for _, name := range names {
			if said[name] {
				n++
			} else {
				lacks = name
			}
		}
		if n > most {
			most, kept, missing = n, nil, lacks
		}
		if n == most {
			kept = append(kept, d)
		}
	}
	return kept, missing
}

// stems returns the distinct stems of a text.
func stems(text string) map[string]bool {
	out := map[string]bool{}
	lexical.English().Each(text, func(_, stem string) { out[stem] = true })
	return out
}

// gather cuts documents into sentences and notes what each says of the terms.
func gather(documents []sextant.Document, v *vocabulary) []sentence {
	var out []sentence
	for i, d := range documents {
		for _, p := range d.Parts {
			if p.Kind == partHeading {
				continue // a heading says nothing by itself
			}
			for _, span := range chunk.Sentences(d.Text[p.Start:p.End]) {
				s := sentence{document: i, part: p, start: p.Start + span.Start, end: p.Start + span.End}
				s.text = d.Text[s.start:s.end]
				out = append(out, s)
			}
		}
	}
	n := len(v.terms)
	all := make(matches, n*len(out))
	for i := range out {
		out[i].matched = all[i*n : (i+1)*n]
		v.match(out[i].text, out[i].matched)
	}
	return out
}

// rarity weighs each term by how few of the candidate sentences say it.
func rarity(candidates []sentence, v *vocabulary) []float64 {
	said := make([]int, len(v.terms))
	for _, s := range candidates {
		for i, strength := range s.matched {
			if strength > 0 {
				said[i]++
			}
		}
	}
	out := make([]float64, len(v.terms))
	for i := range out {
		out[i] = math.Log(1 + float64(len(candidates)+1)/float64(said[i]+1))
	}
	return out
}

// weigh is the share of the topic a sentence says, with a lead for the part that
// states the cause where causes are asked for, and for better ranked documents.
func (s sentence) weigh(causal bool, weights []float64) float64 {
	score := s.matched.ofAll(weights)
	if s.part.Kind == PartCause && causal {
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
	case s.part.Kind == PartCause:
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

func finding(d sextant.Document, s sentence) (sextant.Finding, error) {
	q, err := d.Quote(s.start, s.end)
	if err != nil {
		return sextant.Finding{}, err
	}
	confidence := "medium"
	switch {
	case s.score >= 0.6:
		confidence = "high"
	case s.score < least:
		confidence = "low" // it stands beside one that answers
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
			case p.Kind == PartCause:
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
func coverage(topic, terms []string, weights []float64, said map[string]bool) (float64, []string) {
	var all, got float64
	for i, t := range terms {
		all += weights[i]
		if said[t] {
			got += weights[i]
		}
	}
	if all == 0 {
		return 1, nil
	}
	var missing []string
	for _, word := range topic {
		known := false
		lexical.English().Each(word, func(_, stem string) { known = known || said[stem] })
		if !known {
			missing = append(missing, word)
		}
	}
	return got / all, missing
}
