package constrain

import "github.com/sextant-rag/sextant"

// What no record tells, whatever is held: what will be, and what is thought of things. Such
// words are said to be beyond the records, beside whatever of the question they do answer.

// Why a question cannot be answered by any record.
const (
	noDay         = "there is no such day"
	beyondFuture  = "records tell what happened, not what will"
	beyondOpinion = "records tell what happened, not what is thought of it"
)

var (
	// foretelling needs no company; "will" alone is a name and a testament too.
	foretelling = NewTable(map[string]bool{"will there be": true, "will there still be": true, "will happen": true, "going to happen": true, "predict": true, "predicts": true, "forecast for next year": true, "in the future": true, "in future years": true})
	judging     = NewTable(map[string]bool{"do you think": true, "in your opinion": true, "your opinion": true, "your favorite": true, "your favourite": true, "do you recommend": true, "would you recommend": true, "is the best": true, "are the best": true, "the nicest": true, "most beautiful": true, "should i buy": true})
	questioning = set(`who what which when where how`)
)

// Unanswerable reports whether what cannot be enforced is what the question is about, so that
// no record answers it: the future, an opinion, a day that no calendar has.
func Unanswerable(u sextant.Unenforceable) bool {
	return u.Reason == noDay || u.Reason == beyondFuture || u.Reason == beyondOpinion
}

// recognizeBeyond claims such words.
func recognizeBeyond(q *Query) []Claim {
	var out []Claim
	for i := range q.Tokens {
		switch {
		case q.foretold(i):
			out = append(out, unrecorded(i, i+1, "future", beyondFuture))
		default:
			if _, to, ok := foretelling.At(q, i); ok {
				out = append(out, unrecorded(i, to, "future", beyondFuture))
			} else if _, to, ok := judging.At(q, i); ok {
				out = append(out, unrecorded(i, to, "opinion", beyondOpinion))
			}
		}
	}
	return out
}

func unrecorded(from, to int, field, reason string) Claim {
	return Claim{From: from, To: to, Weight: 1, Cannot: &sextant.Unenforceable{Field: field, Reason: reason}}
}

// foretold reports whether token i is the "will" of "who will win", "how many will crash".
func (q *Query) foretold(i int) bool {
	if q.Tokens[i].Lower != "will" || q.Tokens[i].capital || i == 0 || i > 4 || !q.Joined(i) {
		return false
	}
	return questioning[q.Word(0)]
}
