package constrain

import (
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// TextNoun is a word for a text or a part of one: "narrative", "article".
type TextNoun struct {
	Part string       // kind of part; "" is the whole text
	Role sextant.Role // of the collections that have such texts; "" is any
}

// TextField is the field of a condition on the whole text; one on a part has the part's
// kind for a field. No schema has to have either.
const TextField = "text"

func isMention(op sextant.Op) bool { return op == sextant.OpMentions || op == sextant.OpNotMentions }

// mention is what a claim says of a text.
func mention(noun TextNoun, m filter.Mentions) Condition {
	m.Part = noun.Part
	c := Condition{Field: TextField, Op: sextant.OpMentions, Role: noun.Role, Narrow: m}
	if m.Part != "" {
		c.Field = m.Part
	}
	for _, p := range m.Phrases {
		c.Values = append(c.Values, p)
	}
	if len(m.Near) > 0 {
		c.Note = "near " + strings.Join(m.Near, " or ")
	}
	return c
}

// compileMention returns the filter of a condition on the text, if texts of the role are
// what it is about. What is said not to be mentioned must have a text that could have.
func compileMention(c Condition, role sextant.Role) (filter.Filter, bool) {
	m, ok := c.Narrow.(filter.Mentions)
	if !ok || c.Role != "" && c.Role != role {
		return nil, false
	}
	if c.Op == sextant.OpNotMentions {
		return filter.And{filter.Mentions{Part: m.Part}, filter.Not{Filter: m}}, true
	}
	return m, true
}

// untold is the condition that there is no text which could have said it.
func untold(c Condition) filter.Filter {
	m, _ := c.Narrow.(filter.Mentions)
	return filter.Not{Filter: filter.Mentions{Part: m.Part}}
}

var (
	// mentionVerbs say that a text has the words that follow; of the others (false) only
	// if those are quoted or called words: a rule "says", a tank "contains".
	mentionVerbs = tableOf(
		phrases(true, "mentions, mention, mentioned, mentioning, makes mention of, make mention of, mention of, mentions of, with the phrase, with the word, with the words, containing the phrase, containing the word, containing the words, "+
			"contains the phrase, contains the word, contains the words, contain the phrase, contain the word, contain the words, contained the phrase, contained the word, includes the phrase, includes the word, includes the words, include the phrase, include the word, "+
			"including the phrase, including the word, including the words, uses the phrase, uses the word, use the phrase, use the word, using the phrase, using the word, has the phrase, has the word, has the words, have the phrase, have the word, have the words, where the phrase, where the word, where the words"),
		phrases(false, "says, say, said, saying, states, state, stated, stating, contains, contain, containing, reads, includes, include, including, speaks of, speak of, talks of, refers to, refer to, referring to"),
	)
	relatives     = set(`whose that which who where with without whom`)
	mentionStops  = set(`in at on since between during before after from until till through by per for where when whose who that which and but or near within than as is was were are did do does have has had involving with without not`)
	mentionAsking = set(`does do did is are was were has have can could should may must`)
	mentionFill   = set(`does do did not the its their his her report reports probable final text full ever never even also any no it they narrative which`)
	articles      = set(`a an the any some`)
	possessives   = set(`the its their his her a`)
)

// maxPhrase bounds the words of a phrase that is not quoted.
const maxPhrase = 6

// recognizeMentions claims conditions on what a text says: "whose report mentions mast
// bumping", "with the words "ran out of"", "no mention of fuel in the cause".
func recognizeMentions(q *Query) []Claim {
	var out []Claim
	for i := range q.Tokens {
		if c, ok := q.mentionedAt(i); ok {
			out = append(out, c)
		}
		plain, at, ok := mentionVerbs.At(q, i)
		if !ok || plain && !q.ofTexts(i) {
			continue
		}
		if !plain && (!q.quoted(at) || mentionAsking[q.Word(0)] && q.relativeBefore(i) < 0) {
			continue // `did the pilot say "ok"` asks what someone said
		}
		if c, ok := q.mentionAt(i, at); ok {
			out = append(out, c)
		}
	}
	return out
}

// ofTexts reports whether a verb at i tells which texts are meant, and does not ask what
// one of them says: "does the rule mention oxygen?".
func (q *Query) ofTexts(i int) bool {
	if q.relativeBefore(i) >= 0 || strings.HasSuffix(q.Word(i), "ing") || q.HasWords(i, "mention", "of") || q.HasWords(i, "mentions", "of") {
		return true
	}
	if q.Word(i) == "with" || strings.HasPrefix(q.Word(i), "contain") && !mentionAsking[q.Word(0)] {
		return true
	}
	if mentionAsking[q.Word(0)] {
		return false
	}
	k := i - 1
	for k > 0 && mentionFill[q.Word(k)] && !q.textNoun(k) {
		k--
	}
	return k >= 0 && (q.EventNoun(k) || q.textNoun(k)) && !q.textAsked(k)
}

// textAsked: in "what does the report mention" the text is known and asked about.
func (q *Query) textAsked(k int) bool {
	for back := k - 1; back >= 0 && back > k-4; back-- {
		if w := q.Word(back); w == "does" || w == "did" {
			return true
		}
	}
	return false
}

func (q *Query) textNoun(k int) bool {
	_, ok := q.nounAt(k)
	return ok
}

func (q *Query) nounAt(k int) (TextNoun, bool) {
	w := q.Word(k)
	if n, ok := q.Lexicon.TextNouns[w]; ok {
		return n, true
	}
	n, ok := q.Lexicon.TextNouns[strings.TrimSuffix(w, "s")]
	return n, ok
}

// relativeBefore finds the "whose" or "that" a verb belongs to, or -1: only words that say
// which text is meant may stand between.
func (q *Query) relativeBefore(i int) int {
	for k := i - 1; k >= 0 && k >= i-6; k-- {
		switch {
		case relatives[q.Word(k)]:
			return k
		case !mentionFill[q.Word(k)] && !q.textNoun(k) && q.Word(k) != "t":
			return -1
		}
	}
	return -1
}

// quoted reports whether a quote opens before token i.
func (q *Query) quoted(i int) bool {
	return i < len(q.Tokens) && strings.ContainsAny(q.Gap(i), "\"“„«")
}

// mentionAt reads the claim of a verb at i whose phrases begin at token at.
func (q *Query) mentionAt(i, at int) (Claim, bool) {
	noun, from, negated := q.mentionBefore(i)
	var m filter.Mentions
	to := at
	m.Phrases, to = q.alternatives(to)
	if len(m.Phrases) == 0 {
		return Claim{}, false
	}
	m.Near, m.Within, to = q.nearPhrase(to)
	c := Claim{From: from, Weight: 8, Negated: negated, Conditions: []Condition{}}
	all := []filter.Mentions{m}
	for q.Word(to) == "and" && q.quoted(to+1) {
		more, after := q.alternatives(to + 1)
		all, to = append(all, filter.Mentions{Phrases: more}), after
	}
	if after, part, ok := q.partNamed(to); ok {
		noun, to = part, after
	}
	for _, m := range all {
		c.Conditions = append(c.Conditions, mention(noun, m))
	}
	c.To = to
	return c, true
}

// mentionBefore looks at what stands before a verb: which text, where the claim begins,
// and whether it is denied.
func (q *Query) mentionBefore(i int) (noun TextNoun, from int, negated bool) {
	from = i
	if r := q.relativeBefore(i); r >= 0 {
		from = r
	}
	for k := i - 1; k >= max(from, i-6) || k >= 0 && k >= i-3 && !relatives[q.Word(k)]; k-- {
		if n, ok := q.nounAt(k); ok && (noun == TextNoun{} || noun.Part == "") {
			noun = TextNoun{Part: n.Part, Role: n.Role}
		}
	}
	for k := from; k < i; k++ {
		negated = negated || negations[q.Word(k)] || q.Word(k) == "no" || q.Word(k) == "t"
	}
	if !negated && from == i && (q.Word(i-1) == "no" || q.Word(i-1) == "without") {
		from, negated = i-1, true
	}
	if (noun == TextNoun{}) { // "accidents that mention": what the events' texts say
		for k := from - 1; k >= 0 && k >= from-4; k-- {
			if n, ok := q.nounAt(k); ok {
				return TextNoun{Part: n.Part, Role: n.Role}, from, negated
			}
		}
	}
	return noun, from, negated
}

// alternatives reads phrases joined by "or".
func (q *Query) alternatives(i int) (phrases []string, to int) {
	to = i
	for {
		p, after := q.phraseAt(i)
		if p == "" {
			return phrases, to
		}
		phrases, to = append(phrases, p), after
		if q.Word(to) != "or" {
			return phrases, to
		}
		i = to + 1
	}
}

// phraseAt reads one phrase: what is quoted, or the words up to the end of the clause.
func (q *Query) phraseAt(i int) (phrase string, to int) {
	if q.quoted(i) {
		return q.quotedAt(i)
	}
	if articles[q.Word(i)] {
		i++
	}
	to = i
	for to < len(q.Tokens) && to < i+maxPhrase && !mentionStops[q.Word(to)] && (to == i || !strings.ContainsAny(q.Gap(to), ",;:?!()\"")) && !q.asksAt(to) {
		to++
	}
	if to == i {
		return "", i
	}
	return q.Written(i, to) + q.star(to), to
}

// asksAt keeps the words of a request ("per year" aside, which stops) out of a phrase.
func (q *Query) asksAt(i int) bool {
	_, _, ok := intervals.At(q, i)
	return ok
}

// star is the asterisk that stands right behind the words before token to.
func (q *Query) star(to int) string {
	end := q.Tokens[to-1].End
	if strings.HasPrefix(q.Text[end:], "*") {
		return "*"
	}
	return ""
}

// quotedAt reads from a quote that opens before token i to where it closes.
func (q *Query) quotedAt(i int) (phrase string, to int) {
	for to = i + 1; to < len(q.Tokens); to++ {
		if strings.ContainsAny(q.Gap(to), "\"”“»") {
			break
		}
	}
	return q.Written(i, to) + q.star(to), to
}

// nearPhrase reads "near fuel", "within 5 words of fuel".
func (q *Query) nearPhrase(i int) (phrases []string, within, to int) {
	at, within := i, filter.DefaultWithin
	switch {
	case q.Word(i) == "near":
		at++
	case q.Word(i) == "within" && (q.HasLoose(i+2, "words", "of") || q.HasLoose(i+2, "word", "of")):
		n, after, ok := q.numberAt(i + 1)
		if !ok || n > filter.MaxWithin {
			return nil, 0, i
		}
		at, within = after+2, n
	default:
		return nil, 0, i
	}
	if phrases, to = q.alternatives(at); len(phrases) == 0 || q.Word(i) == "near" && !q.quoted(at) && q.Tokens[at].Capital() {
		return nil, 0, i // "near Boise" is a place
	}
	return phrases, within, to
}

// partNamed reads "in the probable cause", "in its narrative".
func (q *Query) partNamed(i int) (to int, noun TextNoun, ok bool) {
	if q.Word(i) != "in" || i == 0 {
		return i, noun, false
	}
	for k := i + 1; k < i+5; k++ {
		if n, ok := q.nounAt(k); ok && n.Part != "" {
			return k + 1, n, true
		}
		if !possessives[q.Word(k)] && !mentionFill[q.Word(k)] {
			break
		}
	}
	return i, noun, false
}

// mentionedAt reads what a text is said to have in the passive: "accidents in which birds
// are mentioned", "where the words "low fuel" were named".
func (q *Query) mentionedAt(i int) (Claim, bool) {
	if w := q.Word(i); w != "where" && !(w == "which" && q.Word(i-1) == "in") && w != "whose" || i == 0 {
		return Claim{}, false
	}
	at, denied := i+1, false
	switch q.Word(at) {
	case "no", "none", "neither":
		at, denied = at+1, true
	}
	for articles[q.Word(at)] || denied && q.Word(at) == "of" || denied && q.Word(at) == "such" {
		at++
	}
	for to := at + 1; to < len(q.Tokens) && to <= at+maxPhrase; to++ {
		if w := q.Word(to); w != "is" && w != "are" && w != "was" && w != "were" {
			continue
		}
		end := to + 1
		if q.Word(end) == "not" || q.Word(end) == "never" {
			end, denied = end+1, true
		}
		if q.Word(end) != "mentioned" {
			return Claim{}, false
		}
		noun := TextNoun{}
		for k := i - 1; k >= 0 && k >= i-4; k-- {
			if n, ok := q.nounAt(k); ok {
				noun = n
				break
			}
		}
		from := i
		if q.Word(i-1) == "in" {
			from--
		}
		m := filter.Mentions{Phrases: []string{q.Written(at, to)}}
		return Claim{From: from, To: end + 1, Weight: 8, Negated: denied, Conditions: []Condition{mention(noun, m)}}, true
	}
	return Claim{}, false
}
