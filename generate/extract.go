// Package generate turns passages into findings: statements with the quotes that
// support them.
//
// Without a model the statements are the sentences themselves: those that say most of
// what is asked, quoted where they stand. Nothing is rephrased, so nothing can be
// said that the documents do not say.
package generate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
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
	text     string
	matched  map[string]float64 // terms of the topic, 1 for the word itself, less for others that can mean it
	score    float64
}

// Extract picks the sentences that answer.
func Extract(in Input) Output {
	asked := aspects(in.Question, in.Topic)
	if in.Question == "" {
		asked = aspects(strings.Join(in.Topic, " "), in.Topic)
	}
	terms := stems(strings.Join(in.Topic, " "))
	unnamed := ""
	if !in.Narrow {
		in.Documents, unnamed = naming(in.Documents, names(in.Question, in.Topic))
	}
	candidates := gather(in.Documents, vocabularyOf(terms))
	weights := rarity(candidates, terms)
	for i := range candidates {
		candidates[i].score = candidates[i].weigh(in, weights)
	}
	var out Output
	said := map[string]bool{}
	best := -1.0
	for _, s := range pick(in, asked, candidates, weights) {
		f, err := finding(in.Documents[s.document], s)
		if err != nil {
			continue
		}
		if s.score > best {
			best, out.Best = s.score, f.Text
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
	out.Sufficiency = suffices(asked, candidates, weights)
	out.Sufficiency.Pinned = pin(asked, candidates, weights) >= 0
	if unnamed != "" {
		out.Sufficiency.Score = min(out.Sufficiency.Score, nameMissing)
		out.Sufficiency.Lacking = append(out.Sufficiency.Lacking, fmt.Sprintf("“%s”", unnamed))
	}
	return out
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
	for _, t := range lexical.English().Tokens(text) {
		out[t.Stem] = true
	}
	return out
}

// How much a word says of a term that it is not itself.
const (
	synonymous = 0.6
	derivative = 0.7
	kindOf     = 0.65
)

// vocabularyOf returns for each stem that can stand for a term which term, and how surely.
func vocabularyOf(terms map[string]bool) map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	add := func(stem, term string, strength float64) {
		if out[stem] == nil {
			out[stem] = map[string]float64{}
		}
		out[stem][term] = max(out[stem][term], strength)
	}
	for t := range terms {
		add(t, t, 1)
		for _, s := range thesaurus.Synonyms(t) {
			add(s, t, synonymous)
		}
		for _, s := range thesaurus.Kinds(t) {
			add(s, t, kindOf)
		}
	}
	return out
}

// derived reports whether one stem is made of the other: collid and collis, depart and
// departur.
func derived(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= 5 && n >= min(len(a), len(b))-2 && max(len(a), len(b))-n <= 5
}

func gather(documents []sextant.Document, vocabulary map[string]map[string]float64) []sentence {
	var terms []string
	for s, of := range vocabulary {
		if of[s] == 1 && len(s) >= 5 {
			terms = append(terms, s)
		}
	}
	var out []sentence
	for i, d := range documents {
		for _, p := range d.Parts {
			if p.Kind == partHeading {
				continue // a heading says nothing by itself
			}
			for _, span := range chunk.Sentences(d.Text[p.Start:p.End]) {
				s := sentence{document: i, part: p, start: p.Start + span.Start, end: p.Start + span.End, matched: map[string]float64{}}
				s.text = d.Text[s.start:s.end]
				s.match(vocabulary, terms)
				out = append(out, s)
			}
		}
	}
	return out
}

// match notes what a sentence says of the terms.
func (s *sentence) match(vocabulary map[string]map[string]float64, terms []string) {
	for _, word := range lexical.English().Tokens(s.text) {
		for term, strength := range vocabulary[word.Stem] {
			s.matched[term] = max(s.matched[term], strength)
		}
		if len(word.Stem) < 5 {
			continue
		}
		for _, term := range terms {
			if term[0] == word.Stem[0] && term != word.Stem && derived(term, word.Stem) {
				s.matched[term] = max(s.matched[term], derivative)
			}
		}
	}
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

// share is how much of some terms, weighted by rarity, a sentence says.
func (s sentence) share(terms []string, weights map[string]float64) float64 {
	var all, got float64
	for _, t := range terms {
		all += weights[t]
		got += weights[t] * s.matched[t]
	}
	if all == 0 {
		return 0
	}
	return got / all
}

// weigh is the share of the topic a sentence says, with a lead for the part that
// states the cause where causes are asked for, and for better ranked documents.
func (s sentence) weigh(in Input, weights map[string]float64) float64 {
	score := s.share(slices.Collect(maps.Keys(weights)), weights)
	if s.part.Kind == partCause && (in.Causal || causal.MatchString(in.Question)) {
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

// What a sentence gains by having the kind of thing that is asked for, and by what stands
// right before and behind it.
const (
	fitting     = 0.35
	surrounding = 0.3
	repeated    = 0.7 // of what a sentence says of terms that were said already, so much is lost
)

// pick chooses sentences that complement each other: in turn for each thing that is asked
// the one that says most of it that has not been said. They come in the order of the text.
func pick(in Input, asked []aspect, candidates []sentence, weights map[string]float64) []sentence {
	most := 2
	switch {
	case in.Narrow && len(in.Topic) == 0:
		most = in.Limit // the record is the answer: as much of it as fits
	case in.Narrow:
		most = max(4, in.Limit-2)
	}
	pinned := pin(asked, candidates, weights)
	switch {
	case pinned >= 0:
		most = max(2, in.Limit-2)
	case !in.Narrow:
		in.Limit = min(in.Limit, scattered)
	}
	p := picker{pinned: pinned, most: most, candidates: candidates, weights: weights, taken: map[int]bool{}, perDocument: map[int]int{}, said: map[string]float64{}}
	if len(asked) == 0 {
		asked = []aspect{{}}
	}
	for tired := 0; tired < len(asked) && len(p.taken) < in.Limit; {
		tired = 0
		for _, a := range asked {
			if len(p.taken) < in.Limit && !p.next(a) {
				tired++
			}
		}
	}
	if in.Narrow || pinned >= 0 {
		p.complete(min(in.Limit, told+len(in.Documents)/2))
	}
	var out []sentence
	for i, s := range candidates {
		if p.taken[i] {
			out = append(out, s)
		}
	}
	return out
}

// scattered is how many sentences of different documents stand for what they say.
const scattered = 6

// told is how many sentences of a record tell what it is about.
const told = 8

// pin returns the one document that says so much more of the question than all others that
// it must be the one that is meant; -1 if there is none.
func pin(asked []aspect, candidates []sentence, weights map[string]float64) int {
	var terms []string
	for _, a := range asked {
		terms = append(terms, a.terms...)
	}
	if len(terms) < 3 {
		return -1
	}
	whole := map[int]sentence{}
	for _, s := range candidates {
		d, ok := whole[s.document]
		if !ok {
			d = sentence{document: s.document, matched: map[string]float64{}}
		}
		for t, strength := range s.matched {
			d.matched[t] = max(d.matched[t], strength)
		}
		whole[s.document] = d
	}
	best, first, second := -1, 0.0, 0.0
	for i, d := range whole {
		switch share := d.share(terms, weights); {
		case share > first:
			best, first, second = i, share, first
		case share > second:
			second = share
		}
	}
	const ahead = 0.15
	if first < 0.5 || first < second+ahead {
		return -1
	}
	return best
}

// rounds is how often complete goes over the text.
const rounds = 6

// complete adds what stands right behind the sentences that were taken, then what stands
// before them: the circumstances without which they are hard to understand.
func (p *picker) complete(limit int) {
	for round, step := 0, 1; round < rounds; round, step = round+1, -step {
		var at []int
		for i := range p.taken {
			at = append(at, i)
		}
		slices.SortFunc(at, func(a, b int) int {
			return cmp.Or(cmp.Compare(p.candidates[b].score, p.candidates[a].score), cmp.Compare(a, b))
		})
		for _, i := range at {
			k := i + step
			if len(p.taken) >= limit || k < 0 || k >= len(p.candidates) || p.taken[k] {
				continue
			}
			if p.candidates[k].document == p.candidates[i].document {
				p.taken[k] = true
			}
		}
	}
}

// picker is the choice of sentences under way.
type picker struct {
	pinned      int // the one document they come from, -1: any
	most        int // of one document
	candidates  []sentence
	weights     map[string]float64
	taken       map[int]bool
	perDocument map[int]int
	said        map[string]float64
}

// next takes the best sentence for an aspect, if there is one that says enough.
func (p *picker) next(a aspect) bool {
	best, at := least, -1
	for i, s := range p.candidates {
		if p.taken[i] || p.perDocument[s.document] >= p.most || p.pinned >= 0 && s.document != p.pinned {
			continue
		}
		if score := p.gain(i, a); score > best {
			best, at = score, i
		}
	}
	if at < 0 {
		return false
	}
	s := &p.candidates[at]
	p.taken[at] = true
	p.perDocument[s.document]++
	s.score = max(s.score, best)
	for t, strength := range s.matched {
		p.said[t] = max(p.said[t], strength)
	}
	return true
}

// gain is what a sentence adds for an aspect.
func (p *picker) gain(i int, a aspect) float64 {
	s := p.candidates[i]
	score := s.score
	if len(a.terms) > 0 {
		fresh := sentence{matched: map[string]float64{}}
		for t, strength := range s.matched {
			fresh.matched[t] = strength * (1 - repeated*min(p.said[t], strength))
		}
		score = 0.5*s.score + fresh.share(a.terms, p.weights)
	}
	if score > 0 {
		score += surrounding * p.around(i, a)
	}
	if a.want != anything && forms[a.want].MatchString(s.text) {
		score += fitting * min(1, 0.3+2*(s.share(a.terms, p.weights)+surrounding*p.around(i, a)))
	}
	return score
}

// around is what the sentences next to one say of an aspect.
func (p *picker) around(i int, a aspect) float64 {
	best := 0.0
	for _, k := range []int{i - 1, i + 1} {
		if k >= 0 && k < len(p.candidates) && p.candidates[k].document == p.candidates[i].document {
			best = max(best, p.candidates[k].share(a.terms, p.weights))
		}
	}
	return best
}

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
