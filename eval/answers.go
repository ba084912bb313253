package eval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// answers scores an answer: of a question that the documents answer, every key fact must
// stand in what is quoted or said; one they do not answer must be refused. Of both it counts
// how many there are and how many are right.
func answers(r *Report, item Item, a sextant.Answer) (bool, error) {
	if !item.Answerable {
		r.Figures["unanswerable"]++
		if slices.Contains([]sextant.Status{sextant.InsufficientEvidence, sextant.NoData, sextant.OutOfScope}, a.Status) {
			r.Figures["unanswerable, refused"]++
			return true, nil
		}
		r.miss(item, string(a.Status)+": "+a.Summary, "a refusal")
		return false, nil
	}
	r.Figures["answerable"]++
	text, missing := said(a), []string(nil)
	for _, f := range item.KeyFacts {
		if !slices.ContainsFunc(append([]string{f.Fact}, f.Also...), func(s string) bool { return strings.Contains(text, strings.ToLower(s)) }) {
			missing = append(missing, f.Fact)
		}
	}
	if len(missing) == 0 && (a.Status == sextant.Answered || a.Status == sextant.Partial) {
		r.Figures["answerable, with all facts"]++
		return true, nil
	}
	r.miss(item, fmt.Sprintf("%s without %q", a.Status, missing), "all facts")
	return false, nil
}

// said is all that an answer says or quotes, in lower case.
func said(a sextant.Answer) string {
	var b strings.Builder
	quoted := func(text string, quotes []sextant.Quote) {
		b.WriteString(text + "\n")
		for _, q := range quotes {
			b.WriteString(q.Text + "\n" + q.Title + "\n")
		}
	}
	b.WriteString(a.Summary + "\n")
	for _, f := range slices.Concat(a.Findings, a.CausalChain) {
		quoted(f.Text, f.Quotes)
	}
	for _, x := range a.Regulatory {
		quoted(x.Regulation+"\n"+x.Note, x.Quotes)
	}
	for _, c := range a.Conflicts {
		for _, side := range c.Sides {
			quoted(side.Text, side.Quotes)
		}
	}
	return strings.ToLower(b.String())
}
