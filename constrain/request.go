package constrain

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// Request is what a question asks to be computed, apart from its conditions.
type Request struct {
	Kind     string // count, list, group, compare, top, share, first, last, sum; "" when nothing is asked for by words
	Groups   []Grouping
	N        int    // of a top
	Least    bool   // of a top: the fewest
	SumOf    string // field
	Unit     string // what the words count: "documents" or a group; "" not said
	Compared bool   // values of one field are set against each other

	from, to int
}

// recognizeRequests claims the words that ask for a computation, so that "five
// makes" or "by number of" are no conditions.
func recognizeRequests(q *Query) []Claim {
	var out []Claim
	for i := range q.Tokens {
		for _, read := range []func(int) (Claim, bool){q.howMany, q.byGroup, q.topN, q.whichMost, q.shareOf, q.firstLast, q.listing, q.splitOf, q.versus} {
			if c, ok := read(i); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

func asks(from, to int, r Request) (Claim, bool) {
	return Claim{From: from, To: to, Request: &r, Drop: true, Weight: 1}, true
}

// any of the phrases that starts at token i, longest first in the list.
func (q *Query) anyOf(i int, phrases ...string) (int, bool) {
	for _, p := range phrases {
		if w := strings.Fields(p); q.hasWords(i, w) {
			return i + len(w), true
		}
	}
	return i, false
}

func (q *Query) howMany(i int) (Claim, bool) {
	to, ok := q.anyOf(i, "what is the total number of", "what is the number of", "the total number of", "what was the number of", "total number of", "the number of", "number of", "how many", "how often", "count of", "count the", "total of", "tally of", "total count of")
	if !ok && (i == 0 && q.hasWords(i, []string{"count"}) || i == 0 && q.hasWords(i, []string{"total"})) {
		to, ok = i+1, true
	}
	if !ok || i > 0 && q.Tokens[i-1].Lower == "by" && !strings.HasPrefix(q.Tokens[i].Lower, "how") {
		return Claim{}, false
	}
	r := Request{Kind: "count"}
	if field, after, ok := q.deaths(to); ok {
		r.Kind, r.SumOf = "sum", field
		return asks(i, after, r)
	}
	if to < len(q.Tokens) {
		r.Unit = q.unitWord(to)
	}
	return asks(i, to, r)
}

// deaths reads what is summed rather than counted: "how many [people] died",
// "number of fatalities".
func (q *Query) deaths(i int) (field string, to int, ok bool) {
	at := q.skipPeople(i)
	for _, m := range q.Lexicon.Measures {
		for _, phrase := range m.After {
			if w := strings.Fields(phrase); q.hasWords(at, w) && q.endsCount(at+len(w)) {
				return m.Field, at + len(w), true
			}
		}
	}
	return "", i, false
}

// endsCount: "how many killed in 2006" sums, "how many killed Cessna pilots" does not
// make sense of the measure alone.
func (q *Query) endsCount(i int) bool {
	if i >= len(q.Tokens) {
		return true
	}
	if !q.Tokens[i].joins() {
		return true
	}
	return slices.Contains([]string{"in", "on", "at", "during", "since", "from", "by", "between", "were", "have", "did", "occurred", "resulted", "happened", "over", "after", "before", "of", "across", "when", "per"}, q.Tokens[i].Lower)
}

// unitWord returns the unit the words from i count, looking over adjectives up to
// the next event noun or unit word: "how many twin-engine airplanes".
func (q *Query) unitWord(i int) string {
	for k := i; k < len(q.Tokens) && k < i+6; k++ {
		w := q.Tokens[k].Lower
		if q.eventNoun(k) {
			return ""
		}
		if unit, ok := q.Lexicon.Units[w]; ok {
			return unit
		}
		if slices.Contains([]string{"in", "were", "was", "are", "have", "had", "with", "that", "happened", "involved", "did", "of"}, w) {
			return ""
		}
	}
	return ""
}

// groupingAt reads the name of a grouping at token i, with its article.
func (q *Query) groupingAt(i int) (Grouping, int, bool) {
	for _, article := range []string{"the", "each", "calendar", "aircraft"} {
		i = q.skip(i, article)
	}
	best, to := Grouping{}, i
	for words, g := range q.Lexicon.Groupings {
		if w := strings.Fields(words); len(w) > to-i && (q.hasWords(i, w) || q.hasPlural(i, w)) {
			best, to = g, i+len(w)
		}
	}
	return best, to, to > i
}

func (q *Query) hasPlural(i int, w []string) bool {
	last := i + len(w) - 1
	if last >= len(q.Tokens) || len(w) > 1 && !q.hasWords(i, w[:len(w)-1]) {
		return false
	}
	return slices.Contains(singulars(q.Tokens[last].Lower), w[len(w)-1])
}

func (q *Query) byGroup(i int) (Claim, bool) {
	at, ok := q.anyOf(i, "broken down by", "break down by", "breakdown by", "grouped by", "group by", "split by", "for each", "in each", "by", "per", "each", "every")
	if !ok {
		at, ok = q.anyOf(i, "a breakdown of", "distribution of", "distribution by")
	}
	if ok {
		return q.groupings(i, at)
	}
	if to, ok := q.anyOf(i, "year by year", "yearly", "annually", "annual"); ok {
		g, known := q.Lexicon.Groupings["year"]
		c, _ := asks(i, to, Request{Kind: "group", Groups: []Grouping{g}})
		return c, known
	}
	if to, ok := q.anyOf(i, "monthly", "month by month"); ok {
		g, known := q.Lexicon.Groupings["month"]
		c, _ := asks(i, to, Request{Kind: "group", Groups: []Grouping{g}})
		return c, known
	}
	return Claim{}, false
}

// groupings reads one or two names after "by": "by state and year".
func (q *Query) groupings(from, at int) (Claim, bool) {
	g, to, ok := q.groupingAt(at)
	if !ok || slices.Contains([]string{"each", "every"}, q.Tokens[from].Lower) && g.By == "" {
		return Claim{}, false
	}
	r := Request{Kind: "group", Groups: []Grouping{g}}
	if q.hasWords(to, []string{"and"}) {
		if second, after, ok := q.groupingAt(q.skip(to+1, "by")); ok && second != g {
			r.Groups, to = append(r.Groups, second), after
		}
	}
	return asks(from, to, r)
}

// splitOf reads "how did damage split", "break down ... by" being byGroup's.
func (q *Query) splitOf(i int) (Claim, bool) {
	at, ok := q.anyOf(i, "how did the", "how did", "how does", "how do")
	if !ok {
		return Claim{}, false
	}
	g, to, ok := q.groupingAt(at)
	if !ok {
		return Claim{}, false
	}
	end, ok := q.anyOf(to, "split", "break down", "vary", "divide", "distribute")
	if !ok {
		return Claim{}, false
	}
	return asks(i, end, Request{Kind: "group", Groups: []Grouping{g}})
}

// topN reads "top 5 states", "five makes have the most", "top three".
func (q *Query) topN(i int) (Claim, bool) {
	if !q.hasWords(i, []string{"top"}) {
		return Claim{}, false
	}
	n, to, ok := q.numberAt(i + 1)
	if !ok {
		n, to = 10, i+1
	}
	r := Request{Kind: "top", N: n}
	if g, after, found := q.groupingAt(to); found {
		r.Groups, to = []Grouping{g}, after
	} else if !ok {
		return Claim{}, false
	}
	if after, ok := q.anyOf(to, "by number of", "by the number of", "by count of", "by"); ok {
		to = after
	}
	return asks(i, to, r)
}

// whichMost reads "which five makes have the most", "which month of 2012 saw the most".
func (q *Query) whichMost(i int) (Claim, bool) {
	at, ok := q.anyOf(i, "which", "what", "in which", "in what")
	if !ok {
		return Claim{}, false
	}
	n, after, counted := q.numberAt(at)
	if counted {
		at = after
	}
	g, to, ok := q.groupingAt(at)
	if !ok {
		return Claim{}, false
	}
	most, least := q.mostAhead(to)
	if !most && !least {
		return Claim{}, false
	}
	if !counted {
		n = 1
		if strings.HasSuffix(q.Tokens[to-1].Lower, "s") && !strings.HasSuffix(q.Tokens[to-1].Lower, "ss") {
			n = 10
		}
	}
	return asks(i, to, Request{Kind: "top", Groups: []Grouping{g}, N: n, Least: least})
}

func (q *Query) mostAhead(i int) (most, least bool) {
	for k := i; k < len(q.Tokens) && k < i+14; k++ {
		switch q.Tokens[k].Lower {
		case "most", "highest", "largest", "deadliest", "worst", "leads", "lead", "led":
			return true, false
		case "fewest", "least", "lowest":
			return false, true
		}
	}
	return false, false
}

func (q *Query) shareOf(i int) (Claim, bool) {
	to, ok := q.anyOf(i, "what percentage of the", "what share of the", "what proportion of the", "what fraction of the", "what percentage of", "what share of", "what proportion of", "what fraction of", "what percent of", "what per cent of",
		"percentage of", "share of", "proportion of", "fraction of", "percent of", "how large a share of", "what portion of", "portion of")
	if !ok {
		return Claim{}, false
	}
	return asks(i, to, Request{Kind: "share"})
}

var (
	firsts = wordSet(`first earliest oldest`)
	lasts  = wordSet(`last latest newest recent`)
)

// firstLast reads "first R66 accident", "the latest DC-10 event", "most recent": an
// event noun must follow before the clause ends.
func (q *Query) firstLast(i int) (Claim, bool) {
	w := q.Tokens[i].Lower
	kind := ""
	switch {
	case firsts[w]:
		kind = "first"
	case lasts[w]:
		kind = "last"
	default:
		return Claim{}, false
	}
	from := i
	if w == "recent" {
		if i == 0 || q.Tokens[i-1].Lower != "most" {
			return Claim{}, false
		}
		from = i - 1
	}
	n, at, counted := q.numberAt(i + 1)
	if !counted {
		n, at = 1, i+1
	}
	for k := at; k < len(q.Tokens) && k < at+7; k++ {
		if strings.ContainsAny(q.Tokens[k].Gap, ",;.?!") && k > at {
			break
		}
		if _, isSpan := spanWord(q.Tokens[k].Lower); isSpan && k == at {
			break
		}
		if q.eventNoun(k) {
			return asks(from, at, Request{Kind: kind, N: n})
		}
	}
	return Claim{}, false
}

func (q *Query) listing(i int) (Claim, bool) {
	to, ok := q.anyOf(i, "list all of the", "list all the", "list all", "list the", "list every", "list", "show me all the", "show me all", "show me every", "show me", "show all", "show", "give me all", "give me", "find all", "find me", "find", "name all", "which", "every", "all the", "pull up")
	if !ok || (q.Tokens[i].Lower == "list" && i > 0) || (q.Tokens[i].Lower == "every" || q.Tokens[i].Lower == "all") && i > 0 {
		return Claim{}, false
	}
	if q.Tokens[i].Lower == "which" && to < len(q.Tokens) && !q.eventfulWithin(to, 5) {
		return Claim{}, false
	}
	c, _ := asks(i, to, Request{Kind: "list"})
	c.Weight = 0
	return c, true
}

func (q *Query) eventfulWithin(i, n int) bool {
	for k := i; k < len(q.Tokens) && k < i+n; k++ {
		if q.eventNoun(k) {
			return true
		}
	}
	return false
}

// versus reads the words that set two values against each other.
func (q *Query) versus(i int) (Claim, bool) {
	to, ok := q.anyOf(i, "versus", "vs", "against", "compared with", "compared to", "in comparison with", "compare")
	if !ok {
		return Claim{}, false
	}
	c, _ := asks(i, to, Request{Compared: true})
	return c, true
}

// request joins what the claims ask for. The most specific request wins: a
// breakdown of a count is a breakdown.
func (q *Query) request(claims []Claim) Request {
	rank := map[string]int{"": 0, "list": 1, "count": 2, "first": 3, "last": 3, "sum": 4, "group": 5, "share": 6, "top": 7}
	var out Request
	compared := q.comparative()
	for _, c := range claims {
		if c.Request == nil {
			continue
		}
		r := *c.Request
		r.from, r.to = c.From, c.To
		compared = compared || r.Compared
		switch {
		case out.Kind == "top" && r.Kind == "top":
			out.N = r.N // "... most records? Top three."
			if len(out.Groups) == 0 {
				out.Groups = r.Groups
			}
		case rank[r.Kind] > rank[out.Kind]:
			if r.Unit == "" {
				r.Unit = out.Unit
			}
			out = r
		}
	}
	out.Compared = compared
	return out
}

// orAhead reads "more Cessnas or Pipers", "more on approach or more on climb".
func (q *Query) orAhead(i int) bool {
	if i > 0 && q.Tokens[i-1].Lower == "or" {
		return false
	}
	for k := i + 2; k < len(q.Tokens) && k < i+7; k++ {
		if q.Tokens[k].Lower == "or" {
			return k+1 < len(q.Tokens)
		}
	}
	return false
}

var comparatives = wordSet(`safer deadlier riskier worse better higher lower larger smaller bigger greater commoner rarer frequent dangerous`)

// comparative reads "which was deadlier, California or Texas", "is X safer than Y",
// "number of events each".
func (q *Query) comparative() bool {
	for i, t := range q.Tokens {
		switch {
		case t.Lower == "more" && q.orAhead(i):
			return true
		case t.Lower == "than" && i > 0 && strings.HasSuffix(q.Tokens[i-1].Lower, "er"), t.Lower == "each" && i == len(q.Tokens)-1:
			return true
		case comparatives[t.Lower] && i <= 4 && (q.Tokens[0].Lower == "which" || q.Tokens[0].Lower == "is" || q.Tokens[0].Lower == "are"):
			return true
		}
	}
	return false
}

// groupedAway takes out the conditions that are only the rows of a comparison over a
// closed field: "VMC against IMC" sets two values against each other and excludes
// nothing else that is recorded, so the rows are its keys and the ledger's one "in".
func (q *Query) groupedAway(r *Reading, claims *[]Claim) {
	if r.Request.Kind != "group" || len(r.Request.Groups) == 0 {
		return
	}
	// A breakdown by a field whose values are listed names its rows: "damage split,
	// destroyed, substantial or minor" asks for the rows and excludes nothing.
	field := r.Request.Groups[0].Field
	var listed []int
	for i, c := range *claims {
		if !c.Negated && len(c.Conditions) == 1 && c.Conditions[0].Field == field && c.Conditions[0].Op == sextant.OpEq && r.Request.Groups[0].By == "" {
			listed = append(listed, i)
		}
	}
	if len(listed) < 2 {
		return
	}
	*claims = slices.DeleteFunc(*claims, func(c Claim) bool {
		return len(c.Conditions) == 1 && c.Conditions[0].Field == field && !c.Negated
	})
}

var shareVerbs = wordSet(`were was are is had have has involved involve happened occurred ended resulted took came`)

// partOfShare splits the conditions of a share at its verb: "of the A accidents, what
// share were B".
func (q *Query) partOfShare(r *Reading, claims *[]Claim) []Claim {
	if r.Request.Kind != "share" {
		return nil
	}
	verb := -1
	for i := r.Request.to; i < len(q.Tokens); i++ {
		if shareVerbs[q.Tokens[i].Lower] {
			verb = i
			break
		}
	}
	var whole, part []Claim
	for _, c := range *claims {
		if verb >= 0 && c.From > verb {
			part = append(part, c)
		} else {
			whole = append(whole, c)
		}
	}
	*claims = whole
	return part
}
