package generate

import (
	"math"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/lexical"
)

// Decided is the score from which passages are taken to decide a text: below it one of 60
// texts that are decided is refused, and one of six that are not.
const Decided = 0.116

// Support is what passages found for a text show of whether they can decide it: how much of
// it they say, and whether one of them stands out. All of it follows from the words and from
// retrieval; no model is asked, and none of it depends on how large a collection is.
type Support struct {
	Together float64 // share of its words that stand together: in one sentence and those beside it
	Passage  float64 // in one passage
	Anywhere float64 // in all passages taken together
	Lead     float64 // by how much, of its own score, the best passage by words is ahead of the mean of the next four
}

// Score is how likely the passages are to decide the text, 0 to 1: a logistic regression
// fitted to the 505 supported or contradicted claims of SciFact's training split, each with
// and without its documents. On the validation split it tells the two apart with an area
// under the curve of .82; see docs/evaluation.md.
func (s Support) Score() float64 {
	return 1 / (1 + math.Exp(-(2.12*s.Together + 4.13*s.Passage + 1.87*s.Anywhere + 5.97*s.Lead - 7.10)))
}

// Supports measures passages, best first, that were found for a text.
func Supports(text string, passages []sextant.Passage) Support {
	terms, set := contentOf(text)
	var documents []sextant.Document
	var scores []float64
	for _, p := range passages {
		documents = append(documents, sextant.Document{ID: p.DocumentID, Title: p.Title, Text: p.Content, Parts: []sextant.Part{{Start: 0, End: len(p.Content)}}})
		for _, r := range p.Reasons {
			if r.Kind == "lexical" {
				scores = append(scores, r.Score)
			}
		}
	}
	candidates := gather(documents, vocabularyOf(set))
	weights := byLength(terms)
	s := Support{Lead: lead(scores)}
	all := sentence{matched: map[string]float64{}}
	passage := sentence{matched: map[string]float64{}}
	for i, c := range candidates {
		if c.document != passage.document {
			passage = sentence{document: c.document, matched: map[string]float64{}}
		}
		for t, strength := range c.matched {
			all.matched[t] = max(all.matched[t], strength)
			passage.matched[t] = max(passage.matched[t], strength)
		}
		s.Together = max(s.Together, place(candidates, i).share(terms, weights))
		s.Passage = max(s.Passage, passage.share(terms, weights))
	}
	s.Anywhere = all.share(terms, weights)
	return s
}

// lead is by how much the best of some scores is ahead of the mean of the next four, as a
// share of the best; 0 for none.
func lead(scores []float64) float64 {
	slices.Sort(scores)
	slices.Reverse(scores)
	if len(scores) == 0 || scores[0] <= 0 {
		return 0
	}
	next := scores[1:min(5, len(scores))]
	sum := 0.0
	for _, x := range next {
		sum += x
	}
	return 1 - sum/float64(max(len(next), 1))/scores[0]
}

// contentOf returns the stems of the words of a text that carry meaning, each once.
func contentOf(text string) (terms []string, set map[string]bool) {
	set = map[string]bool{}
	for _, t := range lexical.English().Tokens(text) {
		if len(t.Word) > 1 && !grammar[t.Stem] && !set[t.Stem] {
			set[t.Stem] = true
			terms = append(terms, t.Stem)
		}
	}
	return terms, set
}

var grammar = stems("the a an of in at on to and or it its was were is are be been being do does did how what which who when where that this these those by for from with he she they his her their has had have not no than then there as after before into can may will would could should during between among through more less most such also both each other")

// byLength weighs words without a collection that could be counted: the longer, the rarer.
func byLength(terms []string) map[string]float64 {
	out := map[string]float64{}
	for _, t := range terms {
		out[t] = math.Sqrt(float64(min(len(t), 10)))
	}
	return out
}
