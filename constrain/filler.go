package constrain

import "slices"

// Whether a question is about a record, or about what the record tells: "is T-1042 still
// open?" asks how far it has come, "was the door still open in T-1042?" does not.

var (
	// recordNouns name the record, so that a phrase with one is about it by itself.
	recordNouns = set(`investigation investigations inquiry report reports docket dockets publication published recommendation`)
	// recordFill are the words that may stand beside a bare phrase.
	recordFill = set(`what which when where who how whether if does do did can could would you i me us we please tell give show send list get find find out know want need to see with from at there s it its current currently today case record entry file number this that these those all both date please also thanks`)
	// revisionFill are those beside words for a change.
	revisionFill = set(`preliminary final draft first initial original earlier earliest later latest last previous revised revision revisions version versions report reports record records data facts fact entry entries file account accounts history statement publication published since then between two`)
)

// standsFor reports whether tokens from i to to ask for something of a record: they name
// it, or nothing else stands in the question.
func (q *Query) standsFor(i, to int) bool {
	for k := i; k < to; k++ {
		if recordNouns[q.Word(k)] {
			return true
		}
	}
	return q.nothingBut(i, to, recordFill)
}

// revised reports whether the words for a change from i to to are about revisions: states
// of a report are named on both sides, or nothing else stands in the question.
func (q *Query) revised(i, to int) bool {
	has := func(w string) bool { return slices.ContainsFunc(q.Tokens, func(t Token) bool { return t.Lower == w }) }
	return has("preliminary") && has("final") || q.nothingBut(i, to, revisionFill)
}

// onlyRecorded reports whether a question asks for what is recorded and for nothing else, so
// that no word of it is a subject.
func (q *Query) onlyRecorded(r *Request) bool {
	return len(r.Fields) > 0 && q.nothingBut(-1, 0, stageWords)
}

// nothingBut reports whether beside tokens from i to to there are only numbers, what the
// documents are called, words that ask for something of a record, and words of fill.
func (q *Query) nothingBut(i, to int, fill map[string]bool) bool {
	for k := 0; k < len(q.Tokens); k++ {
		if k == i {
			k = to - 1
			continue
		}
		if _, end, ok := q.records.PluralAt(q, k); ok {
			k = end - 1
			continue
		}
		w := q.Word(k)
		numbered := q.Tokens[k].digits > 0 || k+1 < len(q.Tokens) && q.Gap(k+1) == "-"
		if !numbered && !stageFill[w] && !recordFill[w] && !fill[w] && !q.EventNoun(k) {
			return false
		}
	}
	return true
}
