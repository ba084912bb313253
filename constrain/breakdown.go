package constrain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// Requests for a breakdown: by a field, the top of one, comparisons and shares.

// groupingAt reads the name of a grouping at token i, with its article.
func (q *Query) groupingAt(i int) (Grouping, int, bool) {
	for _, article := range []string{"the", "each", "calendar", "aircraft"} {
		if _, _, ok := q.groupings.PluralAt(q, i); ok {
			break
		}
		i = q.Skip(i, article)
	}
	if _, _, ok := q.groupings.PluralAt(q, i); !ok && q.Lexicon.Units[q.Word(i)] != "" {
		i++ // "airplane model"
	}
	return q.groupings.PluralAt(q, i)
}

var (
	groupers  = NewTable(phrases(true, "broken down by, break down by, breakdown by, grouped by, group by, split by, for each, in each, by, per, each, every, a breakdown of, distribution of, distribution by"))
	intervals = NewTable(map[string]string{"year by year": "year", "yearly": "year", "annually": "year", "annual": "year", "monthly": "month", "month by month": "month"})
)

func (q *Query) byGroup(i int) (Claim, bool) {
	if _, at, ok := groupers.At(q, i); ok {
		return q.groupedBy(i, at)
	}
	if g, to, ok := q.groupingAt(i); ok && (q.Word(to) == "breakdown" || q.Word(to) == "distribution") && q.Joined(to) {
		return asks(i, to+1, Request{Kind: "group", Groups: []Grouping{g}}) // "a weekday breakdown"
	}
	if g, to, ok := q.groupingAt(i); ok && i == 0 && g.By == "" && subjectOf[q.Word(to)] && q.pluralEvents(to) && !slices.Contains(q.Lexicon.Where, g.Field) {
		return asks(i, to, Request{Kind: "group", Groups: []Grouping{g}}) // "Purpose of flight of fatal accidents in Wyoming"
	}
	name, to, ok := intervals.At(q, i)
	if !ok {
		name, to, ok = q.rateOf(i)
	}
	g, known := q.Lexicon.Groupings[name]
	if !ok || !known {
		return Claim{}, false
	}
	return asks(i, to, Request{Kind: "group", Groups: []Grouping{g}})
}

// rateOf reads "accidents a year", "deaths a month": an article after what is counted
// says per, and nowhere else ("a year ago", "in a year", "accidents a month later").
func (q *Query) rateOf(i int) (interval string, to int, ok bool) {
	if q.Word(i) != "a" && q.Word(i) != "an" || i == 0 || !q.Joined(i) {
		return "", i, false
	}
	counted := q.EventNoun(i-1) && strings.HasSuffix(q.Word(i-1), "s")
	for k := max(0, i-3); k < i && !counted; k++ {
		_, end, measured := q.measures.after.At(q, k)
		counted = measured && end == i
	}
	if !counted || rateEnds[q.Word(i+2)] {
		return "", i, false
	}
	for _, unit := range []string{"year", "month", "quarter", "decade", "day"} {
		if q.Word(i+1) == unit {
			return unit, i + 2, true
		}
	}
	return "", i, false
}

var rateEnds = set(`ago later earlier before after old or and apart`)

var subjectOf = set(`of in for among`)

// pluralEvents reports whether events in the plural are named from token i on.
func (q *Query) pluralEvents(i int) bool {
	for ; i < len(q.Tokens); i++ {
		if q.EventNoun(i) && strings.HasSuffix(q.Tokens[i].Lower, "s") {
			return true
		}
	}
	return false
}

// groupedBy reads one or two names after "by": "by state and year".
func (q *Query) groupedBy(from, at int) (Claim, bool) {
	g, to, ok := q.groupingAt(at)
	if !ok || (q.Word(from) == "each" || q.Word(from) == "every") && g.By == "" {
		return Claim{}, false
	}
	r := Request{Kind: "group", Groups: []Grouping{g}}
	for {
		at := to
		if q.Gap(at) == ", " {
			at = q.Skip(at, "and")
		} else if q.HasWords(at, "and") {
			at++
		} else {
			break
		}
		next, after, ok := q.groupingAt(q.Skip(at, "by"))
		if !ok || slices.Contains(r.Groups, next) || q.Gap(to) == ", " && subjectOf[q.Word(after)] {
			break
		}
		r.Groups, to = append(r.Groups, next), after
	}
	return asks(from, to, r)
}

var (
	splitting = NewTable(phrases(true, "how did the, how did, how does, how do"))
	splits    = NewTable(phrases(true, "split, break down, vary, divide, distribute"))
)

// splitOf reads "how did damage split", "break down ... by" being byGroup's.
func (q *Query) splitOf(i int) (Claim, bool) {
	_, at, ok := splitting.At(q, i)
	if !ok {
		return Claim{}, false
	}
	g, to, ok := q.groupingAt(at)
	if !ok {
		return Claim{}, false
	}
	for end := to; end < to+4; end++ { // "how did the severity of accidents split"
		if _, after, ok := splits.At(q, end); ok {
			c, _ := asks(i, to, Request{Kind: "group", Groups: []Grouping{g}})
			if end == to {
				c.To = after
			}
			return c, true
		}
	}
	return Claim{}, false
}

// superlatives make a number of a grouping a top, of the least ones where true.
var superlatives = tableOf(
	phrases(false, "most common, most frequent, commonest, deadliest, worst, leading, biggest, largest, most dangerous, busiest"),
	phrases(true, "least common, least frequent, rarest, safest, fewest"),
)

// commonest reads "five most common makes", "the deadliest year", "rank states by".
func (q *Query) commonest(i int) (Claim, bool) {
	if q.HasWords(i, "rank") {
		g, to, ok := q.groupingAt(i + 1)
		if _, after, by := byNumber.At(q, to); by {
			to = after
		}
		c, _ := asks(i, to, Request{Kind: "top", N: 10, Groups: []Grouping{g}})
		return c, ok
	}
	n, at, counted := q.numberAt(i)
	if !counted {
		n, at = 1, i
	}
	least, to, ok := superlatives.At(q, at)
	g, end, grouped := q.groupingAt(to)
	if !ok || !grouped {
		return Claim{}, false
	}
	if w := q.Tokens[end-1].Lower; !counted && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		n = 10
	}
	r := Request{Kind: "top", N: n, Least: least, Groups: []Grouping{g}}
	if w := q.Tokens[at].Lower; w == "deadliest" || w == "worst" {
		r.Of = q.Lexicon.Grave
	}
	return asks(i, end, r)
}

var byNumber = NewTable(phrases(true, "by number of, by the number of, by count of, by"))

// topN reads "top 5 states", "top three".
func (q *Query) topN(i int) (Claim, bool) {
	if !q.HasWords(i, "top") {
		return Claim{}, false
	}
	n, to, counted := q.numberAt(i + 1)
	if !counted {
		n, to = 10, i+1
	}
	r := Request{Kind: "top", N: n}
	if g, after, ok := q.groupingAt(to); ok {
		r.Groups, to = []Grouping{g}, after
	} else if !counted {
		return Claim{}, false
	}
	if _, after, ok := byNumber.At(q, to); ok {
		to = after
	}
	return asks(i, to, r)
}

// withMost reads "the three countries abroad with the most accidents", "states with the
// fewest crashes".
func (q *Query) withMost(i int) (Claim, bool) {
	n, at, counted := q.numberAt(i)
	if !counted {
		n, at = 1, i
	}
	g, to, ok := q.groupingAt(at)
	if !ok || q.Word(at-1) == "by" || q.Word(at-1) == "per" {
		return Claim{}, false
	}
	if w := q.Tokens[to-1].Lower; !counted && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		n = 10
	}
	for k := to; k < len(q.Tokens) && k < to+8; k++ {
		if w := q.Word(k); w != "with" && w != "having" && w != "that" {
			continue
		}
		next := q.Skip(q.Skip(k+1, "have", "had", "has"), "the")
		if most, least := mostWords[q.Word(next)], leastWords[q.Word(next)]; most || least {
			return asks(i, to, Request{Kind: "top", Groups: []Grouping{g}, N: n, Least: least})
		}
	}
	return Claim{}, false
}

var whichOf = NewTable(phrases(true, "which, what, in which, in what"))

// whichMost reads "which five makes have the most", "which month of 2012 saw the most".
func (q *Query) whichMost(i int) (Claim, bool) {
	_, at, ok := whichOf.At(q, i)
	if !ok {
		return Claim{}, false
	}
	n, after, counted := q.numberAt(at)
	if counted {
		at = after
	}
	g, to, ok := q.groupingAt(at)
	if !ok {
		if g, to, ok = q.typeAt(at); !ok || !q.dangerAhead(to) {
			return Claim{}, false
		}
	}
	most, least := q.mostAhead(to)
	if !most && !least {
		return Claim{}, false
	}
	if !counted {
		n = 1
		if w := q.Tokens[to-1].Lower; strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			n = 10
		}
	}
	return asks(i, to, Request{Kind: "top", Groups: []Grouping{g}, N: n, Least: least})
}

// typeAt reads "which aircraft", which asks for a type of them.
func (q *Query) typeAt(i int) (Grouping, int, bool) {
	g, ok := q.Lexicon.TypeOf[q.Lexicon.Units[q.Word(i)]]
	return g, i + 1, ok
}

func (q *Query) dangerAhead(i int) bool {
	for k := i; k < len(q.Tokens) && k < i+8; k++ {
		if riskWords[q.Tokens[k].Lower] {
			return true
		}
	}
	return false
}

var (
	mostWords  = set(`most highest largest deadliest worst leads lead led riskiest`)
	leastWords = set(`fewest least lowest safest`)
)

func (q *Query) mostAhead(i int) (most, least bool) {
	for k := i; k < len(q.Tokens) && k < i+14; k++ {
		switch w := q.Tokens[k].Lower; {
		case mostWords[w]:
			return true, false
		case leastWords[w]:
			return false, true
		}
	}
	return false, false
}

var versusWords = NewTable(phrases(true, "versus, vs, against, compared with, compared to, in comparison with, compare"))

// versus reads the words that set two values against each other.
func (q *Query) versus(i int) (Claim, bool) {
	_, to, ok := versusWords.At(q, i)
	if !ok {
		return Claim{}, false
	}
	return asks(i, to, Request{Compared: true})
}

var comparatives = set(`safer unsafe deadlier riskier worse better higher lower larger smaller bigger greater commoner rarer frequent dangerous`)

// comparative reads "which was deadlier, California or Texas", "is X safer than Y",
// "number of events each".
func (q *Query) comparative() bool {
	for i, t := range q.Tokens {
		switch {
		case t.Lower == "more" && (q.orAhead(i) || q.orBehind(i)):
			return true
		case t.Lower == "than" && strings.HasSuffix(q.Word(i-1), "er"), t.Lower == "each" && i == len(q.Tokens)-1:
			return true
		case comparatives[t.Lower] && i <= 4 && (q.Word(0) == "which" || q.Word(0) == "is" || q.Word(0) == "are"):
			return true
		}
	}
	return false
}

// orAhead reads "more Cessnas or Pipers", "more on approach or more on climb".
func (q *Query) orAhead(i int) bool {
	if q.Word(i-1) == "or" {
		return false
	}
	for k := i + 2; k < len(q.Tokens)-1 && k < i+7; k++ {
		if q.Tokens[k].Lower == "or" {
			return true
		}
	}
	return false
}

// orBehind reads "is Bell or Robinson involved in more accidents", "takeoff or landing:
// where do more happen".
func (q *Query) orBehind(i int) bool {
	if q.Word(i-1) == "or" || q.Word(i+1) == "than" || q.Word(i-1) == "no" {
		return false
	}
	asked := comparing[q.Word(0)]
	or := false
	for k := 1; k < i; k++ {
		or = or || q.Tokens[k].Lower == "or"
		asked = asked || or && strings.ContainsAny(q.Gap(k), ":,?") && comparing[q.Word(k)]
	}
	return or && asked
}

var comparing = set(`is are do does did which what who where was were has have`)

// groupedAway takes out the conditions that only name the rows of a breakdown: "damage
// split, destroyed, substantial or minor" asks for the rows and excludes nothing.
func (q *Query) groupedAway(r *Reading, claims *[]Claim) {
	if r.Request.Kind != "group" || r.Request.Groups[0].By != "" {
		return
	}
	row := func(c Claim) bool {
		return !c.Negated && len(c.Conditions) == 1 && c.Conditions[0].Field == r.Request.Groups[0].Field && c.Conditions[0].Op == sextant.OpEq
	}
	listed := 0
	for _, c := range *claims {
		if row(c) {
			listed++
		}
	}
	if listed >= 2 {
		*claims = slices.DeleteFunc(*claims, row)
	}
}

var sharing = NewTable(phrases(true, "what percentage of the, what share of the, what proportion of the, what fraction of the, what percentage of, what share of, what proportion of, what fraction of, what percent of, what per cent of, "+
	"what percentage, what share, what proportion, what fraction, what percent, percentage of, share of, proportion of, fraction of, percent of, how large a share of, what portion of, portion of"))

func (q *Query) shareOf(i int) (Claim, bool) {
	_, to, ok := sharing.At(q, i)
	if !ok && i > 0 && shareNouns[q.Word(i)] && q.Joined(i) { // "the fatal share"
		_, end, said := q.PhraseAt(i - 1)
		to, ok = i+1, said && end == i
	}
	if !ok {
		return Claim{}, false
	}
	return asks(i, to, Request{Kind: "share"})
}

var shareNouns = set(`share shares percentage percentages proportion proportions`)

var shareVerbs = set(`were was are is had have has involved involve happened occurred ended resulted took came`)

// partOfShare splits the conditions of a share at its verb: "of the A accidents, what
// share were B".
func (q *Query) partOfShare(r *Reading, claims *[]Claim) []Claim {
	if r.Request.Kind != "share" {
		return nil
	}
	if among := q.wordAfter(r.Request.to, "among"); among > 0 { // "share of fatal ones among Bonanza accidents"
		return splitClaims(claims, func(c Claim) bool { return c.From >= r.Request.to && c.From < among })
	}
	verb := len(q.Tokens)
	for i := r.Request.to; i < len(q.Tokens); i++ {
		if w := q.Tokens[i].Lower; shareVerbs[w] || (w == "that" || w == "which" || w == "where") && q.EventNoun(i-1) {
			verb = i
			break
		}
	}
	isPart := func(c Claim) bool { return c.From > verb && !q.comparedWith(verb, c.From) }
	if slices.ContainsFunc(*claims, func(c Claim) bool { return c.To == r.Request.from && q.Joined(c.To) }) && q.Word(r.Request.to) != "of" && r.Request.to-r.Request.from == 1 { // "the fatal share"
		isPart = func(c Claim) bool { return c.To == r.Request.from }
	} else if verb == len(q.Tokens) { // "share of fatal accidents, Acme against Bolt"
		noun := r.Request.to
		for noun < verb && !q.EventNoun(noun) {
			noun++
		}
		if slices.ContainsFunc(*claims, func(c Claim) bool { return c.From == noun+1 && q.Joined(c.From) }) { // "share of Vermont accidents destroyed the aircraft"
			isPart = func(c Claim) bool { return c.From > noun }
		} else {
			isPart = func(c Claim) bool { return c.From >= r.Request.to && c.From <= noun && noun < verb }
		}
	}
	return splitClaims(claims, isPart)
}

// partApart takes conditions of the part out of the whole: the share of fatal ones among
// fatal ones is all of them, and nobody asks for that.
func (q *Query) partApart(r *Reading) {
	r.Constraints = slices.DeleteFunc(r.Constraints, func(c Constraint) bool {
		same := slices.ContainsFunc(r.Part, func(p Constraint) bool { return p.Field == c.Field && p.Op == c.Op && slices.Equal(p.Values, c.Values) })
		if same && !isMention(c.Op) {
			r.Notes = append(r.Notes, fmt.Sprintf("“%s” is the part whose share is asked, so the whole is counted without that condition", c.Text))
			return true
		}
		return false
	})
}

// comparedWith reports whether what begins at token i is set against something said before
// the verb: "what share of A are urgent compared with B".
func (q *Query) comparedWith(verb, i int) bool {
	for k := verb; k < i; k++ {
		if _, to, ok := versusWords.At(q, k); ok && to <= i {
			return true
		}
	}
	return false
}

// splitClaims takes those claims out that isPart holds for, and returns them.
func splitClaims(claims *[]Claim, isPart func(Claim) bool) []Claim {
	var whole, part []Claim
	for _, c := range *claims {
		if isPart(c) {
			part = append(part, c)
		} else {
			whole = append(whole, c)
		}
	}
	*claims = whole
	return part
}

// wordAfter returns the first place of a word from token i on, 0 if there is none.
func (q *Query) wordAfter(i int, word string) int {
	for ; i < len(q.Tokens); i++ {
		if q.Tokens[i].Lower == word {
			return i
		}
	}
	return 0
}
