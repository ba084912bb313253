package constrain

import (
	"strings"

	"github.com/sextant-rag/sextant"
)

// What no record tells, whatever is held: what will be, and what is thought of things. Such
// words are said to be beyond the records, beside whatever of the question they do answer.

// Why a question cannot be answered by any record.
const (
	noDay         = "there is no such day"
	beyondFuture  = "records tell what happened, not what will"
	beyondOpinion = "records tell what happened, not what is thought of it"
)

var (
	// foretelling asks for what is to come wherever it begins a question or follows its
	// "how many"; "will" alone is a name and a testament too.
	foretelling = NewTable(phrases(true, "will there be, will there still be, what will happen, what is going to happen, predict, can you predict, forecast for next year"))
	// judging asks for an opinion; what is the best (false) only where no noun goes on: the
	// best glide speed stands in a book.
	judging = tableOf(
		phrases(true, "do you think, in your opinion, your opinion, your favorite, your favourite, do you recommend, would you recommend, should i buy"),
		phrases(false, "is the best, are the best, is the nicest, are the nicest, is the most beautiful, are the most beautiful"),
	)
	questioning = set(`who what which when where how`)
	// happenings are what befalls people and things; what a thing is like ("will be valid",
	// "will stall") is told by rules and books.
	happenings = set(`win lose crash die perish happen occur killed injured hurt lost destroyed elected hired fired sold bought closed`)
	leadsIn    = set(`be still ever also get`)
	// supposing and legal say that a rule or a case that is put is asked about.
	supposing = set(`if when unless whenever provided suppose`)
	legal     = set(`rule rules regulation regulations requirement requirements cfr far section sections paragraph certificate certificates license licence rating ratings must shall allowed permitted required legal legally`)
	// reaching lead from "the best" to where it is: nothing else may follow.
	reaching = set(`in for of at on among here there`)
	causing  = set(`caused happened led`)
)

// Unanswerable reports whether what cannot be enforced is what the question is about, so that
// no record answers it: the future, an opinion, a day that no calendar has.
func Unanswerable(u sextant.Unenforceable) bool {
	return u.Reason == noDay || u.Reason == beyondFuture || u.Reason == beyondOpinion
}

// recognizeBeyond claims such words.
func recognizeBeyond(q *Query) []Claim {
	var out []Claim
	supposed := q.supposes()
	for i := range q.Tokens {
		if to, ok := q.foretells(i); ok && !supposed {
			out = append(out, unrecorded(i, to, "future", beyondFuture))
		} else if to, ok := q.judges(i); ok && q.asksCause(i, to) {
			out = append(out, Claim{From: i, To: to, Drop: true})
		} else if ok {
			out = append(out, unrecorded(i, to, "opinion", beyondOpinion))
		}
	}
	return out
}

func unrecorded(from, to int, field, reason string) Claim {
	return Claim{From: from, To: to, Weight: 1, Cannot: &sextant.Unenforceable{Field: field, Reason: reason}}
}

// supposes reports whether a question asks what follows from a rule, or from a case that
// is put: "what will happen if a pilot deviates from 91.3?".
func (q *Query) supposes() bool {
	for i, t := range q.Tokens {
		switch {
		case i > 0 && supposing[t.Lower], legal[t.Lower], strings.Contains(t.Gap, "§"):
			return true
		case i > 0 && t.Gap == "." && t.HasDigit() && q.Tokens[i-1].Number():
			return true
		}
	}
	return false
}

// foretells reports whether words from token i on ask for what is to come: "who will win",
// "how many will crash", "will there be more".
func (q *Query) foretells(i int) (to int, ok bool) {
	starts := q.questions()
	from := starts[0]
	for _, start := range starts {
		if start <= i {
			from = q.Skip(start, "and", "but", "or")
		}
	}
	asked := i > from && i-from <= 4 && questioning[q.Word(from)] && (q.Word(from) != "when" || i == from+1)
	if _, to, ok := foretelling.At(q, i); ok && (i == from || asked) {
		return to, true
	}
	if q.Tokens[i].Lower != "will" || q.Tokens[i].capital || !asked || !q.Joined(i) {
		return i, false
	}
	verb := i + 1
	for q.Joined(verb) && leadsIn[q.Word(verb)] {
		verb++
	}
	return i + 1, q.Joined(verb) && happenings[q.Word(verb)]
}

// judges reports whether words from token i on ask what somebody thinks.
func (q *Query) judges(i int) (to int, ok bool) {
	firm, to, ok := judging.At(q, i)
	return to, ok && (firm || !q.Joined(to) || reaching[q.Word(to)])
}

// asksCause reports whether a judgement is asked on why something happened, and nothing
// else: who asks "why do you think it failed?" asks why it failed.
func (q *Query) asksCause(from, to int) bool {
	return len(q.questions()) == 1 && (q.Word(from-1) == "why" || causing[q.Word(to)])
}

// questions returns the tokens at which what is asked begins, and what is asked besides:
// after a stop, or at an "and" that a word of asking follows.
func (q *Query) questions() []int {
	starts := []int{0}
	for i := 1; i < len(q.Tokens); i++ {
		if strings.ContainsAny(q.Gap(i), ".?!;") && !q.abbreviation(i) || joining[q.Word(i)] && askers[q.Word(i+1)] {
			starts = append(starts, i)
		}
	}
	return starts
}

// besides returns the words that no record answers where something else is asked in another
// part of the question, which can be answered without them: "how many were there, and which
// do you recommend?".
func (q *Query) besides(claims []Claim) (out []string) {
	answerable := false
	starts := append(q.questions(), len(q.Tokens))
	for k, from := range starts[:len(starts)-1] {
		asked, beyond := askers[q.Word(q.Skip(from, "and", "but", "or"))], false
		for _, c := range claims {
			if c.From < from || c.From >= starts[k+1] {
				continue
			}
			asked = asked || c.Request != nil && c.Request.Kind != ""
			if c.Cannot != nil && Unanswerable(*c.Cannot) {
				beyond = true
				out = append(out, q.words(c))
			}
		}
		answerable = answerable || asked && !beyond
	}
	if !answerable {
		return nil
	}
	return out
}

var (
	joining = set(`and but or`)
	askers  = set(`who what which when where how why is are was were do does did will would can could should has have`)
)
