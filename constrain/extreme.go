package constrain

import (
	"strings"

	"github.com/sextant-rag/sextant/filter"
)

// Requests for the document with the most or least of something, for how many values
// there are, for a mean, and for what the words call danger or safety.

var different = NewTable(phrases(true, "different, distinct, unique, separate kinds of, kinds of"))

// distinctOf reads "different makes" behind a word of counting.
func (q *Query) distinctOf(i int) (Grouping, int, bool) {
	if _, at, ok := different.At(q, i); ok {
		return q.groupingAt(at)
	}
	g, to, ok := q.groupingAt(i) // "how many states had accidents"
	return g, to, ok && g.By == "" && strings.HasSuffix(q.Tokens[to-1].Lower, "s") && having[q.Word(to)]
}

var having = set(`had have has saw see were are of appear appeared crashed reported recorded suffered did`)

var (
	gravest  = NewTable(phrases(true, "deadliest, worst, most deadly, most lethal, bloodiest, gravest, most serious, most severe"))
	greatest = tableOf(
		phrases(false, "highest, largest, biggest, greatest, maximum, max, most"),
		phrases(true, "lowest, smallest, least, minimum, min, fewest"),
	)
	quantity = NewTable(phrases(true, "number of, numbers of, count of, total of, amount of, total, toll of"))
)

// extreme reads "the five deadliest accidents", "the accident with the most deaths", "the
// highest number of people killed", "lowest price".
func (q *Query) extreme(i int) (Claim, bool) {
	if q.Lexicon.Grave != "" {
		if _, to, ok := gravest.At(q, i); ok && q.eventAhead(to) {
			n, from := q.howManyBefore(i, to)
			return asks(from, to, Request{Kind: "max", Of: q.Lexicon.Grave, N: n})
		}
	}
	least, at, ok := greatest.At(q, i)
	if !ok {
		return Claim{}, false
	}
	if _, after, ok := quantity.At(q, at); ok {
		at = after
	}
	field, to, ok := q.fieldNamed(q.skipPeople(at))
	if !ok || !q.ofOne(i, to) {
		return Claim{}, false
	}
	r := Request{Kind: "max", Of: field, N: 1}
	if least {
		r.Kind = "min"
	}
	return asks(i, to, r)
}

// fieldNamed reads the name of a number, by a measure's words or by the field's own.
func (q *Query) fieldNamed(i int) (field string, to int, ok bool) {
	if m, to, ok := q.measures.after.At(q, i); ok {
		return m.Field, to, true
	}
	if f, to, ok := q.named.At(q, i); ok && ordered(f) {
		return f.Name, to, true
	}
	return "", i, false
}

// ordered reports whether a field's values have a greatest one that is no date.
func ordered(f filter.Field) bool { return f.Kind == filter.Int || f.Kind == filter.Float }

// ofOne reports whether a superlative at i is about one document and not about a row of
// a breakdown: "the accident with the most deaths", "most deaths in a single accident".
func (q *Query) ofOne(i, to int) bool {
	for k := i - 1; k >= 0 && k >= i-4; k-- {
		if q.EventNoun(k) {
			return true
		}
		if _, _, ok := q.groupings.PluralAt(q, k); ok {
			return false
		}
	}
	for k := to; k < len(q.Tokens) && k < to+5; k++ {
		if _, _, ok := q.groupings.PluralAt(q, k); ok {
			return false
		}
	}
	if q.HasWords(to, "in", "a", "single") || q.HasWords(to, "in", "one") || q.HasWords(to, "in", "any", "one") || q.HasWords(to, "in", "a") {
		return true
	}
	return i == 0 || q.Word(i-1) == "the" || q.Word(i-1) == "what" || q.Word(i-1) == "which"
}

// eventAhead reports whether the documents are named soon after token i, or the question
// goes on with a period ("the worst of 1985").
func (q *Query) eventAhead(i int) bool {
	for k := i; k < len(q.Tokens) && k < i+6; k++ {
		if q.EventNoun(k) {
			return true
		}
		if k > i && strings.ContainsAny(q.Tokens[k].Gap, ",;.?!") {
			return false
		}
		if _, _, ok := q.groupings.PluralAt(q, k); ok {
			return false
		}
	}
	return q.Word(i) == "of" || q.Word(i) == "in"
}

// howManyBefore reads the number of a superlative at i: before it, or one; of a plural
// without a number ten.
func (q *Query) howManyBefore(i, to int) (n, from int) {
	if n, at, ok := q.numberAt(i - 1); i > 0 && ok && at == i {
		return n, i - 1
	}
	for k := to; k < len(q.Tokens) && k < to+6; k++ {
		if q.EventNoun(k) {
			if strings.HasSuffix(q.Tokens[k].Lower, "s") {
				return 10, i
			}
			break
		}
	}
	return 1, i
}

var means = NewTable(phrases(true, "average number of, mean number of, average number, mean number, average, mean, on average"))

// mean reads "the average number of deaths".
func (q *Query) mean(i int) (Claim, bool) {
	_, at, ok := means.At(q, i)
	if !ok {
		return Claim{}, false
	}
	field, to, ok := q.fieldNamed(q.skipPeople(at))
	if !ok {
		return Claim{}, false
	}
	return asks(i, to, Request{Kind: "mean", Of: field})
}

var (
	trends = tableOf(
		phrases(false, "trend in, trends in, trend of, trend for, trends for, what is the trend, the trend, over time, over the years, over the decades, through the years, year over year, year on year, gone up, going up, gone down, going down, on the rise, on the decline, "+
			"increased or decreased, increasing or decreasing, rising or falling, rise or fall"),
		phrases(true, "getting safer, got safer, gotten safer, become safer, becoming safer, getting more dangerous, become more dangerous, becoming more dangerous, getting better or worse, safer than it used to be, safer than they used to be, safer than before, safer than it was, safer than they were, safer than in the past, more dangerous than it used to be, more dangerous than they used to be, more dangerous than before, safer today, safer now, safer over time, safer over the years"),
	)
	riskWords = set(`dangerous safest safer riskiest riskier unsafe risky deadlier safe danger risk`)
)

// trend reads a question about how things went: counted by year, since no other rows
// show it.
func (q *Query) trend(i int) (Claim, bool) {
	risk, to, ok := trends.At(q, i)
	g, known := q.Lexicon.Groupings["year"]
	if !ok || !known {
		return Claim{}, false
	}
	return asks(i, to, Request{Kind: "group", Groups: []Grouping{g}, Risk: risk})
}

// sumsOf lets a breakdown add up what the words name instead of counting: "deaths by
// year", "which state had the most fatalities".
func (q *Query) sumsOf(r *Request, claims []Claim) {
	if r.Of != "" || r.Kind != "group" && r.Kind != "top" {
		return
	}
	claimed := q.taken(claims, func(c Claim) bool {
		m, to, ok := q.measures.after.At(q, c.From) // "deaths" may also say that somebody died
		return len(c.Conditions) > 0 && !(ok && to == c.To && q.Lexicon.Summed[m.Field])
	})
	for i := range q.Tokens {
		m, to, ok := q.measures.after.At(q, i)
		if !ok || claimed[i] || !q.Lexicon.Summed[m.Field] {
			continue
		}
		if near := to == r.from || i >= r.to && i <= r.to+14; near && q.endsCount(to) || to == r.from {
			r.Of = m.Field
			return
		}
	}
}
