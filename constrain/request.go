package constrain

import (
	"strings"
)

// Request is what a question asks to be computed, apart from its conditions.
type Request struct {
	Kind     string // count, list, group, compare, top, share, first, last, sum, mean, distinct, max, min; "" when nothing is asked for by words
	Groups   []Grouping
	N        int    // of a top, and of firsts, lasts, max and min
	Least    bool   // of a top: the fewest
	Of       string // field of a sum, mean, max or min; of a breakdown, what its rows add up instead of counting
	Risk     bool   // the words ask what is dangerous or safe
	Unit     string // what the words count: "documents" or a group; "" not said
	Compared bool   // values of one field are set against each other

	Fields   []string // of the records that are named: whose values are asked
	With     []string // kinds of parts to stand beside each record of a list
	Without  []string // kinds of parts that no answer may quote
	Changes  bool     // what changed between revisions of a record is asked
	Timeline bool     // the course of what a record tells is asked, in order

	from, to int
}

// recognizeRequests claims the words that ask for a computation, so that "five
// makes" or "by number of" are no conditions.
func recognizeRequests(q *Query) []Claim {
	var out []Claim
	for i := range q.Tokens {
		for _, read := range []func(int) (Claim, bool){q.howMany, q.byGroup, q.topN, q.withMost, q.commonest, q.whichMost, q.shareOf, q.firstLast, q.listing, q.splitOf, q.versus, q.extreme, q.mean, q.trend} {
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

var counting = NewTable(phrases(true, "what is the total number of, what is the number of, the total number of, what was the number of, total number of, the number of, number of, how many, how many times, how often, how frequently, the count of, count of, count the, total of, tally of, tally the, total count of, what is the count of, what s the number of, what was the total number of"))

func (q *Query) howMany(i int) (Claim, bool) {
	_, to, ok := counting.At(q, i)
	if !ok && i == 0 && (q.Word(0) == "count" || q.Word(0) == "total") {
		to, ok = 1, true
	}
	if !ok || q.Word(i-1) == "by" && q.Word(i) != "how" {
		return Claim{}, false
	}
	r := Request{Kind: "count"}
	if g, after, ok := q.distinctOf(to); ok {
		return asks(i, after, Request{Kind: "distinct", Groups: []Grouping{g}})
	}
	if field, after, ok := q.deaths(to); ok {
		r.Kind, r.Of = "sum", field
		return asks(i, after, r)
	}
	r.Unit = q.unitWord(to)
	return asks(i, to, r)
}

// deaths reads what is summed rather than counted: "how many [people] died",
// "number of fatalities".
func (q *Query) deaths(i int) (field string, to int, ok bool) {
	if m, to, ok := q.measures.after.At(q, q.skipPeople(i)); ok && q.endsCount(to) {
		return m.Field, to, true
	}
	return "", i, false
}

var countEnds = set(`in on at during since from by between were have did occurred resulted happened over after before of across when per`)

// endsCount: "how many killed in 2006" sums, "how many killed Cessna pilots" does not
// make sense of the measure alone.
func (q *Query) endsCount(i int) bool { return !q.Joined(i) || countEnds[q.Tokens[i].Lower] }

var unitEnds = set(`in were was are have had with that happened involved did of`)

// unitWord returns the unit the words from i count, looking over adjectives up to
// the next event noun or unit word: "how many twin-engine airplanes".
func (q *Query) unitWord(i int) string {
	for k := i; k < len(q.Tokens) && k < i+6; k++ {
		w := q.Tokens[k].Lower
		if unit, ok := q.Lexicon.Units[w]; ok && !q.EventNoun(k) {
			return unit
		}
		if q.EventNoun(k) || unitEnds[w] {
			return ""
		}
	}
	return ""
}

var (
	firsts = set(`first earliest oldest`)
	lasts  = set(`last latest newest recent`)
)

// firstLast reads "first R66 accident", "the latest DC-10 event", "most recent": an
// event noun must follow before the clause ends.
func (q *Query) firstLast(i int) (Claim, bool) {
	w, kind, from := q.Tokens[i].Lower, "", i
	switch {
	case firsts[w]:
		kind = "first"
	case w == "recent" && q.Word(i-1) != "most":
		return Claim{}, false
	case lasts[w]:
		kind = "last"
	default:
		return Claim{}, false
	}
	if w == "recent" {
		from = i - 1
	}
	n, at, counted := q.numberAt(i + 1)
	if !counted {
		n, at = 1, i+1
		if before, end, ok := q.numberAt(from - 1); from > 0 && ok && end == from && q.Joined(from) { // "the 100 latest"
			n, from = before, from-1
		}
	}
	if calendarUnits[q.Word(at)] != "" {
		return Claim{}, false
	}
	for k := at; k < len(q.Tokens) && k < at+7; k++ {
		if strings.ContainsAny(q.Tokens[k].Gap, ",;.?!") && k > at {
			break
		}
		if q.EventNoun(k) {
			return asks(from, at, Request{Kind: kind, N: n})
		}
	}
	return Claim{}, false
}

// listings ask for a list wherever they stand (false) or at the beginning only (true).
var listings = tableOf(
	phrases(false, "show me all the, show me all, show me every, show me, show all, show, give me all, give me, find all, find me, find, name all, which, all the, pull up"),
	phrases(true, "list all of the, list all the, list all, list the, list every, list, every, all the"),
)

func (q *Query) listing(i int) (Claim, bool) {
	leading, to, ok := listings.At(q, i)
	if !ok || i > 0 && (leading || q.Word(i) == "all") || q.Word(i) == "which" && !q.eventfulWithin(to, 5) {
		return Claim{}, false
	}
	c, _ := asks(i, to, Request{Kind: "list"})
	c.Weight = 0
	return c, true
}

func (q *Query) eventfulWithin(i, n int) bool {
	return q.eventful(clause{from: i, to: min(i+n, len(q.Tokens))})
}

// rank says which of several requests is meant: a breakdown of a count is a breakdown.
var rank = map[string]int{"": 0, "list": 1, "count": 2, "first": 3, "last": 3, "max": 4, "min": 4, "mean": 4, "sum": 4, "distinct": 5, "group": 5, "share": 6, "top": 7}

// request joins what the claims ask for. The most specific request wins.
func (q *Query) request(claims []Claim) Request {
	var out Request
	var record Request
	compared := q.comparative()
	for _, c := range claims {
		if c.Request == nil {
			continue
		}
		r := *c.Request
		r.from, r.to = c.From, c.To
		compared = compared || r.Compared
		record.ofRecord(r)
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
			if out.Kind == "sum" && (r.Kind == "group" || r.Kind == "top") {
				r.Of = out.Of
			}
			if len(r.Groups) == 0 && r.Kind == "share" {
				r.Groups = out.Groups
			}
			r.Risk = r.Risk || out.Risk
			out = r
		case r.Kind == "sum" && out.Of == "" && (out.Kind == "group" || out.Kind == "top"):
			out.Of = r.Of
		case r.Kind == "group" && out.Kind == "share" && len(out.Groups) == 0:
			out.Groups = r.Groups
		}
	}
	out.Compared = compared
	out.Fields, out.With, out.Without, out.Changes, out.Timeline = record.Fields, record.With, record.Without, record.Changes, record.Timeline
	q.sumsOf(&out, claims)
	for _, t := range q.Tokens {
		out.Risk = out.Risk || riskWords[t.Lower] && (compared || out.Kind == "top" || out.Kind == "group")
	}
	if out.Risk && out.Kind == "top" {
		out.N = max(out.N, riskRows) // the first alone would look like an answer
	}
	return out
}

// riskRows is how many rows a question of danger is shown.
const riskRows = 10
