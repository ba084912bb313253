package check

import (
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// link is one thing before another: a cause and its effect, or what came first and what
// came later. Sides are the stems of the words near the words that link them.
type link struct {
	causal        bool
	first, second map[string]bool
}

// linkWords are the words that link two things. Forward: what stands before them comes
// first. Longer ones are tried first.
var linkWords = []struct {
	words   string
	causal  bool
	forward bool
}{
	{"as a result of", true, false}, {"as a consequence of", true, false}, {"was the cause of", true, true}, {"were the cause of", true, true}, {"is the cause of", true, true},
	{"was caused by", true, false}, {"were caused by", true, false}, {"is caused by", true, false}, {"due to", true, false}, {"because of", true, false}, {"caused by", true, false}, {"resulted from", true, false}, {"resulting from", true, false}, {"results from", true, false},
	{"attributed to", true, false}, {"triggered by", true, false}, {"induced by", true, false}, {"stemmed from", true, false}, {"owing to", true, false}, {"resulted in", true, true}, {"resulting in", true, true}, {"results in", true, true}, {"result in", true, true}, {"led to", true, true}, {"leads to", true, true}, {"leading to", true, true}, {"lead to", true, true},
	{"contributed to", true, true}, {"contributing to", true, true}, {"gave rise to", true, true}, {"brought about", true, true},
	{"because", true, false}, {"caused", true, true}, {"causing", true, true}, {"causes", true, true}, {"triggered", true, true}, {"induced", true, true},
	{"followed by", false, true}, {"prior to", false, true}, {"before", false, true}, {"preceded by", false, false}, {"after", false, false}, {"following", false, false}, {"subsequent to", false, false},
}

// linkWordsFrom are the linkWords by the first of their words.
var linkWordsFrom = func() map[string][]linkWord {
	out := map[string][]linkWord{}
	for _, l := range linkWords {
		words := strings.Fields(l.words)
		out[words[0]] = append(out[words[0]], linkWord{words, l.causal, l.forward})
	}
	return out
}()

type linkWord struct {
	words           []string
	causal, forward bool
}

// stands reports whether some words in lower case stand from token i on.
func (r *reading) stands(i int, words []string) bool {
	if i+len(words) > len(r.tokens) {
		return false
	}
	for k, w := range words {
		if r.tokens[i+k].lower != w {
			return false
		}
	}
	return true
}

// links finds what is linked in a text.
func (r *reading) links() []link {
	if !r.hasRead.links {
		r.linked, r.hasRead.links = r.readLinks(), true
	}
	return r.linked
}

func (r *reading) readLinks() []link {
	var out []link
	for i := range r.tokens {
		for _, l := range linkWordsFrom[r.tokens[i].lower] {
			if !r.stands(i, l.words) || r.denies(i) {
				continue
			}
			if first, second := r.sides(i, len(l.words), !(l.causal && l.forward)); len(first) > 0 && len(second) > 0 {
				if !l.forward || l.causal && len(l.words) == 1 && r.byBehind(i) {
					first, second = second, first
				}
				out = append(out, link{l.causal, first, second})
			}
			break
		}
	}
	return out
}

// reach is how many words of meaning on each side of a link belong to it.
const reach = 8

// sides returns the words before and behind the link at token i. One that can begin its
// sentence, and does, has its second side behind the comma: "After the stall, the airplane spun".
func (r *reading) sides(i, n int, begins bool) (before, behind map[string]bool) {
	before, behind = map[string]bool{}, map[string]bool{}
	for k := i - 1; k >= 0 && len(before) < reach && !r.stops(k); k-- {
		r.collect(k, before)
	}
	k := i + n
	fronted := begins && r.fronted(i)
	if fronted {
		clear(before)
		if !r.commaBehind(k) {
			return nil, nil
		}
	}
	for ; k < len(r.tokens) && len(behind) < reach && !r.stops(k) && !(fronted && r.tokens[k].text == ","); k++ {
		r.collect(k, behind)
	}
	for ; fronted && k < len(r.tokens) && len(before) < reach && !r.stops(k); k++ {
		r.collect(k, before)
	}
	return before, behind
}

// byBehind reports whether a participle at token i is of the passive voice: induced in mice by.
func (r *reading) byBehind(i int) bool {
	if !strings.HasSuffix(r.tokens[i].lower, "ed") {
		return false
	}
	for k := i + 1; k < min(i+6, len(r.tokens)) && !r.stops(k) && r.tokens[k].text != ","; k++ {
		if r.tokens[k].lower == "by" {
			return true
		}
	}
	return false
}

// fronted reports whether only words that say how long before or after stand between a link
// at token i and the beginning of its sentence: "Shortly after", "Six minutes before".
func (r *reading) fronted(i int) bool {
	k := i - 1
	if opening[r.at(k).lower] && r.commaBehind(i) {
		return true // he landed, and after the tail settled, a gust caught the wing
	}
	for ; k >= 0 && !r.stops(k); k-- {
		if t := &r.tokens[k]; t.kind == word && !functionWords[t.lower] && t.class() != thesaurus.Adverb && !t.taken {
			return false
		}
	}
	return true
}

var opening = setOf("and", "but", "that")

// commaBehind reports whether a comma stands in the sentence from token k on.
func (r *reading) commaBehind(k int) bool {
	for ; k < len(r.tokens) && !r.stops(k); k++ {
		if r.tokens[k].text == "," {
			return true
		}
	}
	return false
}

func (r *reading) stops(k int) bool {
	t := &r.tokens[k]
	return k < r.begin || t.kind == mark && (t.text == ";" || t.text == "." && !r.at(k+1).glued || t.text == "!" || t.text == "?" || t.text == paragraph)
}

func (r *reading) collect(k int, into map[string]bool) {
	if t := &r.tokens[k]; t.kind != mark && !functionWords[t.lower] && t.stem != "result" && t.stem != "caus" {
		into[t.stem] = true
	}
}

// causeFault finds that a statement turns a link of its evidence round, or makes a cause of
// what only came first.
func causeFault(said, have *reading) *fault {
	mine := said.links()
	if len(mine) == 0 {
		return nil
	}
	theirs := have.links()
	for _, l := range mine {
		straight, crossed, causal := 0, 0, false
		for _, other := range theirs {
			s, c := l.fit(other)
			if l.causal != other.causal {
				if l.causal && s > 1 {
					causal = true
				}
				continue
			}
			straight, crossed = max(straight, s), max(crossed, c)
		}
		switch {
		case crossed > straight && l.causal:
			return faulty(sextant.FaultCause, "its quotes have cause and effect the other way round")
		case crossed > straight:
			return faulty(sextant.FaultCause, "its quotes have it in the other order")
		case straight == 0 && causal:
			return faulty(sextant.FaultCause, "its quotes say that one thing came after the other, not that it was caused by it")
		}
	}
	return nil
}

// fit counts the words that two links have on the same sides, and crosswise. What stands on
// both sides of either tells nothing. Crosswise needs both sides, or one that is plainly
// the other link's other side while nothing stands where it should.
func (l link) fit(other link) (straight, crossed int) {
	shared := func(a, b map[string]bool) (n int) {
		for w := range a {
			if b[w] && !(l.first[w] && l.second[w]) && !(other.first[w] && other.second[w]) {
				n++
			}
		}
		return n
	}
	const plainly = 3
	straight = shared(l.first, other.first) + shared(l.second, other.second)
	a, b := shared(l.first, other.second), shared(l.second, other.first)
	if a > 0 && b > 0 || straight == 0 && a+b >= plainly && l.causal {
		crossed = a + b
	}
	return straight, crossed
}
