package constrain

import "strings"

// Plain words and bare names are conditions only in company (see Weakness): "landing" is a
// phase of flight in "bounced on landing" and none in "landing a job". What company there
// is, is found out once for a question.

// company is what ties weak claims of a question to the records.
type company struct {
	q         *Query
	claims    []Claim
	happening bool // what happened is named, not only papers
	firm      int  // claims that need no company themselves
	weak      int  // claims that do
	guesses   int  // claims read from misspellings
	ties      []bool
	tied      int // tokens that are the domain's own
	plain     int // tokens that are neither stop words nor event nouns
}

func newCompany(q *Query, claims []Claim) *company {
	x := &company{q: q, claims: claims, ties: make([]bool, len(q.Tokens))}
	for k, c := range claims {
		switch {
		case !x.counts(k):
		case guessed(c):
			x.guesses++
		case c.Weak > Firm:
			x.weak++
		default:
			x.firm++
		}
	}
	for i := range q.Tokens {
		w := q.Tokens[i].Lower
		event := q.EventNoun(i)
		x.happening = x.happening || event && !q.document(i)
		if x.ties[i] = q.Lexicon.Ties[w]; x.ties[i] {
			x.tied++
		}
		if !stopWords[w] && !event {
			x.plain++
		}
	}
	return x
}

// counts reports whether a claim says anything that others can keep company with.
func (x *company) counts(k int) bool {
	c := x.claims[k]
	return (len(c.Conditions) > 0 || c.Cannot != nil || c.Request != nil) && !(c.Apart && !x.apart(k))
}

// guessed reports whether a weak name was read from a misspelling.
func guessed(c Claim) bool {
	return c.Weak == WeakName && len(c.Conditions) > 0 && c.Conditions[0].Assumed != ""
}

// keeps reports whether a weak claim has company: an event, one of the domain's words,
// another condition, a word like "during" before it; or whether the question says nothing
// else, or no further noun follows. A guess is no company for a guess; three together are
// ("robinsn r22 helecopter Texs").
func (x *company) keeps(k int) bool {
	q, c := x.q, x.claims[k]
	switch {
	case x.happening, q.Joined(c.From) && whileIn[q.Word(c.From-1)]:
		return true
	case c.Weak == WeakNoun && (!q.Joined(c.To) || situating[q.Word(c.To)]):
		return true
	case guessed(c):
		return x.firm > 0 || x.weak+x.guesses-1 > 1 || x.alone(c)
	}
	return x.firm+x.weak-1 > 0 || x.guesses > 1 || x.tiedBeside(c) || x.alone(c)
}

func (x *company) tiedBeside(c Claim) bool {
	n := x.tied
	for i := c.From; i < c.To; i++ {
		if x.ties[i] {
			n--
		}
	}
	return n > 0
}

// alone reports whether a question says nothing beside a claim.
func (x *company) alone(c Claim) bool {
	n := x.plain
	for i := c.From; i < c.To; i++ {
		if !stopWords[x.q.Tokens[i].Lower] && !x.q.EventNoun(i) {
			n--
		}
	}
	return n == 0
}

// apart reports whether on both sides of a claim stand other conditions, commas, stops or
// the ends of the question: "R22 training Texas".
func (x *company) apart(k int) bool {
	q, c := x.q, x.claims[k]
	if c.From > 0 && (negations[q.Word(c.From-1)] || adjacentOnly[q.Word(c.From-1)]) {
		c.From--
	}
	before := c.From == 0 || strings.ContainsAny(q.Gap(c.From), ",;:.?!(") || k > 0 && x.beside(x.claims[k-1], c)
	after := c.To == len(q.Tokens) || strings.ContainsAny(q.Gap(c.To), ",;:.?!)") || k+1 < len(x.claims) && x.beside(c, x.claims[k+1])
	return before && after
}

// beside reports whether a condition stands right before another, or only a word of a list
// between two of one field: "instructional or personal".
func (x *company) beside(a, b Claim) bool {
	if len(a.Conditions) == 0 || len(b.Conditions) == 0 {
		return false
	}
	return a.To == b.From || a.To+1 == b.From && conjunctions[x.q.Word(a.To)] && sameField(a, b)
}

var conjunctions = set(`and or vs versus nor than`)

// document reports whether token i names the paper rather than what happened.
func (q *Query) document(i int) bool {
	return q.Lexicon.Documents[strings.TrimSuffix(q.Tokens[i].Lower, "s")]
}

// whileIn are words before what was being done, situating those after what it is about.
var (
	whileIn   = set(`on during in while after before when`)
	situating = set(`with during over near that which since from without being while`)
)
