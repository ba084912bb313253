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
	v := vocabularyOf(contentOf(text))
	defer v.release()
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
	f := field{candidates: gather(documents, v), weights: byLength(v.terms)}
	s := Support{Lead: lead(scores)}
	anywhere, passage, place := make(matches, len(v.terms)), make(matches, len(v.terms)), make(matches, len(v.terms))
	document := 0
	for i, c := range f.candidates {
		if c.document != document {
			document = c.document
			clear(passage)
		}
		anywhere.add(c.matched, 1)
		passage.add(c.matched, 1)
		s.Together = max(s.Together, f.place(i, place).ofAll(f.weights))
		s.Passage = max(s.Passage, passage.ofAll(f.weights))
	}
	s.Anywhere = anywhere.ofAll(f.weights)
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
func contentOf(text string) (terms []string) {
	lexical.English().Each(text, func(word, stem string) {
		if len(word) > 1 && !grammar[stem] && !slices.Contains(terms, stem) {
			terms = append(terms, stem)
		}
	})
	return terms
}

var grammar = stems("the a an of in at on to and or it its was were is are be been being do does did how what which who when where that this these those by for from with he she they his her their has had have not no than then there as after before into can may will would could should during between among through more less most such also both each other")

// byLength weighs words without a collection that could be counted: the longer, the rarer.
func byLength(terms []string) []float64 {
	out := make([]float64, len(terms))
	for i, t := range terms {
		out[i] = math.Sqrt(float64(min(len(t), 10)))
	}
	return out
}
