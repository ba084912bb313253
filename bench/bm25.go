package main

import (
	"math"

	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/search"

	"github.com/sextant-rag/sextant/lexical"
)

// inverted is the oracle of the text comparison: every row that has a word of the
// question is scored in float64, from plain lists. Each engine has one of its own words,
// so what is judged is its search, not its idea of a word.
type inverted struct {
	lists    map[string][]posting
	lengths  []float64 // words of each row
	distinct int       // words of the dictionary
	mean     float64   // of lengths
}

type posting struct {
	row   int
	count float64
}

// asked is a word of a question.
type asked struct {
	word   string
	weight float64
}

// oracle is how an engine reads and ranks, as its documentation or source has it.
type oracle struct {
	words  func(text string) (words []string, length int)
	terms  func(x *inverted, question string) []asked
	weigh  func(x *inverted, t asked, p posting) float64 // of one word in one row
	coord  bool                                          // a row's sum is multiplied by the share of words it has
	scores *inverted
}

func (o *oracle) index(texts []string) {
	x := &inverted{lists: map[string][]posting{}, lengths: make([]float64, len(texts))}
	total := 0.0
	for row, text := range texts {
		words, length := o.words(text)
		for _, w := range words {
			list := x.lists[w]
			if n := len(list); n > 0 && list[n-1].row == row {
				list[n-1].count++
				continue
			}
			x.lists[w] = append(list, posting{row, 1})
		}
		x.lengths[row] = float64(length)
		total += float64(length)
	}
	x.mean, x.distinct = total/float64(max(1, len(texts))), len(x.lists)
	o.scores = x
}

// judgement is what a question's right hits are: any of these rows, of which there are
// more than size where rows tie.
type judgement struct {
	rows map[int]bool
	size int
}

// judge scores all rows. Engines add up in float32, so rows within a part in 100,000
// count as tied.
func (o *oracle) judge(question string) judgement {
	x := o.scores
	scores, matched := make([]float64, len(x.lengths)), make([]float64, len(x.lengths))
	for _, t := range o.terms(x, question) {
		for _, p := range x.lists[t.word] {
			scores[p.row] += o.weigh(x, t, p)
			matched[p.row]++
		}
	}
	if o.coord {
		for row := range scores {
			scores[row] *= matched[row]
		}
	}
	top := best(scores, func(row int) bool { return scores[row] > 0 })
	j := judgement{rows: map[int]bool{}, size: len(top)}
	if len(top) == 0 {
		return j
	}
	least := scores[top[len(top)-1]] * (1 - 1e-5)
	for row, score := range scores {
		if score > 0 && score >= least {
			j.rows[row] = true
		}
	}
	return j
}

// recall is the share of the right hits among rows.
func (j judgement) recall(rows []int) float64 {
	if j.size == 0 {
		return 1
	}
	found := 0
	for _, row := range rows {
		if j.rows[row] {
			found++
		}
	}
	return float64(found) / float64(j.size)
}

// idf is that of Lucene: ln(1 + (N - n + 0.5) / (n + 0.5)).
func (x *inverted) idf(word string) float64 {
	n := float64(len(x.lists[word]))
	return math.Log(1 + (float64(len(x.lengths))-n+0.5)/(n+0.5))
}

// saturated is BM25's f / (f + k1*(1 - b + b*length/mean)).
func saturated(f, length, mean, k1, b float64) float64 {
	return f / (f + k1*(1-b+b*length/mean))
}

// ofLexical is package lexical's documented ranking.
func ofLexical() *oracle {
	analyzer := lexical.English()
	return &oracle{
		words: func(text string) (words []string, length int) {
			for _, t := range analyzer.Tokens(text) {
				words = append(words, t.Stem)
				if t.Span == 1 {
					length++
				}
			}
			return words, length
		},
		terms: func(x *inverted, question string) (out []asked) {
			for _, t := range analyzer.Query(question).Terms {
				if t.Unless == "" || len(x.lists[t.Unless]) == 0 {
					out = append(out, asked{t.Stem, float64(t.Weight)})
				}
			}
			return out
		},
		weigh: func(x *inverted, t asked, p posting) float64 {
			k1, b := float64(lexical.DefaultBM25.K1), float64(lexical.DefaultBM25.B)
			return t.weight * x.idf(t.word) * saturated(min(p.count, 255), x.lengths[p.row], x.mean, k1, b)
		},
	}
}

// ofBleve is what bleve 2.6.3 calls "bm25". Its source differs from the published formula:
// the root of the frequency, the idf squared (once as the weight of the word in the
// question), a bonus for having more of the words, and for the mean length the words of
// the dictionary divided by the rows, rounded up.
func ofBleve() *oracle {
	o := publishedOfBleve()
	o.coord = true
	o.weigh = func(x *inverted, t asked, p posting) float64 {
		mean := math.Ceil(float64(x.distinct) / float64(len(x.lengths)))
		idf := x.idf(t.word)
		return idf * idf * saturated(math.Sqrt(p.count), x.lengths[p.row], mean, search.BM25_k1, search.BM25_b)
	}
	return o
}

// publishedOfBleve is BM25 as published, over bleve's words and with its constants.
func publishedOfBleve() *oracle {
	m := bleveMapping()
	words := func(text string) (words []string) {
		for _, t := range m.AnalyzerNamed(en.AnalyzerName).Analyze([]byte(text)) {
			words = append(words, string(t.Term))
		}
		return words
	}
	return &oracle{
		words: func(text string) ([]string, int) { w := words(text); return w, len(w) },
		terms: func(_ *inverted, question string) (out []asked) {
			for _, w := range words(question) {
				out = append(out, asked{w, 1})
			}
			return out
		},
		weigh: func(x *inverted, t asked, p posting) float64 {
			return t.weight * x.idf(t.word) * saturated(p.count, x.lengths[p.row], x.mean, search.BM25_k1, search.BM25_b)
		},
	}
}

// judgeAll returns the right hits of every question, and drops the lists.
func (o *oracle) judgeAll(s *textSet) []judgement {
	o.index(s.chunks)
	out := make([]judgement, len(s.questions))
	onAllCores(len(out), func(i int) { out[i] = o.judge(s.questions[i]) })
	o.scores = nil
	return out
}
