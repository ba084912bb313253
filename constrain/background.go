package constrain

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// What a question says without asking for it: clauses that set the scene, the asker's
// own story, and words whose meaning is asked.

// clause is a run of tokens between full stops, semicolons and turns of speech.
type clause struct {
	from, to int
	question bool // ends in a question mark
}

func (q *Query) clauses() []clause {
	var out []clause
	start := 0
	for i := 1; i < len(q.Tokens); i++ {
		gap := q.Tokens[i].Gap
		if strings.ContainsAny(gap, ".?!;") && !q.abbreviation(i) || q.turn(i) {
			out = append(out, clause{from: start, to: i, question: strings.Contains(gap, "?")})
			start = i
		}
	}
	return append(out, clause{from: start, to: len(q.Tokens), question: strings.HasSuffix(strings.TrimSpace(q.Text), "?")})
}

// abbreviation tells the stop of "U.S.", "St. Louis" or a decimal from a full stop.
func (q *Query) abbreviation(i int) bool {
	if strings.HasPrefix(q.Tokens[i].Gap, ".,") {
		return true
	}
	if strings.TrimSpace(q.Tokens[i].Gap) != "." {
		return false
	}
	before := &q.Tokens[i-1]
	return q.Tokens[i].Gap == "." || len(before.Text) <= 2 && !before.Number() || monthNames[before.Lower] > 0 && len(before.Text) <= 4 || q.Lexicon.Abbreviations[before.Lower]
}

var turns = NewTable(map[string]bool{"but i want": true, "but i need": true, "but show me": true, "but tell me": true, "what i want": true, "but what i want": true, "instead show me": true, "but now i want": true})

// turn reports whether what was said before token i is taken back there.
func (q *Query) turn(i int) bool {
	_, _, ok := turns.At(q, i)
	return ok
}

// withoutBackground drops the conditions of clauses that only set the scene: a
// statement that names no event before a question, what precedes "but I want", and
// what the asker says of himself.
func (q *Query) withoutBackground(claims []Claim) []Claim {
	background := make([]bool, len(q.Tokens))
	clauses := q.clauses()
	for k, c := range clauses[:len(clauses)-1] {
		later := clauses[k+1:]
		statement := !c.question && !q.eventful(c) && !q.asks(c) && q.asksLater(later, claims) && !q.pointsBack(later[0])
		if q.turn(later[0].from) || statement {
			for i := c.from; i < c.to; i++ {
				background[i] = true
			}
		}
	}
	q.titles(background)
	if len(clauses) == 1 || !q.pointsBack(clauses[1]) {
		q.ownStory(background)
	}
	defined, ruled := q.definitional(), q.aboutRule(claims) || q.ofMeaning()
	company := newCompany(q, claims)
	var out []Claim
	for k, c := range claims {
		if background[c.From] || defined && q.eventCondition(c) || ruled && q.kind(c) || c.Weak > Firm && (!company.keeps(k) || q.asVerb(c)) || c.Apart && !company.apart(k) {
			c.Conditions, c.Unknown, c.Others, c.Cannot = nil, nil, nil, nil
		}
		out = append(out, c)
	}
	return out
}

// works are what a title in quotation marks follows.
var works = set(`film movie song book novel album poem play series episode show documentary titled entitled`)

// titles marks what stands in quotation marks as the title of a work: the film "Airport 1975".
func (q *Query) titles(background []bool) {
	for i := 1; i < len(q.Tokens); i++ {
		if q.work(i-1) && strings.ContainsAny(q.Gap(i), "\"“«") {
			for k := i; k < len(q.Tokens) && (k == i || !strings.ContainsAny(q.Gap(k), "\"”»")); k++ {
				background[k] = true
			}
		}
	}
}

// work reports whether token i names a kind of work. "Show" and "play" ask for something as
// well, and name one only with an article: a TV show.
func (q *Query) work(i int) bool {
	w := q.Tokens[i].Lower
	if w != "show" && w != "play" {
		return works[w]
	}
	before := q.Word(i - 1)
	return articles[before] || before == "the" || before == "tv" || before == "television"
}

// pronouns point back at what was said before: "Part 121 carriers. Which of their ...".
var pronouns = set(`their theirs them they those these`)

// pointsBack reports whether a clause speaks of what was said before it: by a pronoun, or
// as "the accident" whose particulars it does not say itself ("He died near Duluth. Can
// you find the accident?").
func (q *Query) pointsBack(c clause) bool {
	for i := c.from; i < c.to; i++ {
		last := i+1 == c.to || !q.Joined(i+1)
		if pronouns[q.Tokens[i].Lower] || last && q.EventNoun(i) && (q.Word(i-1) == "the" || q.Word(i-1) == "that" || q.Word(i-1) == "this") && i > c.from {
			return true
		}
	}
	return false
}

// asksLater reports whether a later clause asks for something of its own: it names
// events, or states a condition.
func (q *Query) asksLater(cs []clause, claims []Claim) bool {
	for _, c := range cs {
		if q.eventful(c) {
			return true
		}
		for _, claim := range claims {
			if (c.question || q.asks(c)) && claim.From >= c.from && claim.To <= c.to && len(claim.Conditions) > 0 {
				return true
			}
		}
	}
	return false
}

var asking = set(`what which who why how when where show list give find tell count did does is are was were any compare want pull please can could`)

func (q *Query) asks(c clause) bool { return c.from < c.to && asking[q.Tokens[c.from].Lower] }

func (q *Query) eventful(c clause) bool {
	for i := c.from; i < c.to; i++ {
		if q.EventNoun(i) {
			return true
		}
	}
	return false
}

// eventCondition reports whether a claim is about a field of events; a question
// about what a rule says still names the rule.
func (q *Query) eventCondition(c Claim) bool { return q.ofRole(c, sextant.RoleEvents) }

func (q *Query) ofRole(c Claim, role sextant.Role) bool {
	for _, spec := range q.Vocabulary.Collections {
		for _, cond := range c.Conditions {
			if _, ok := spec.Schema.Field(cond.Field); ok && spec.Role == role {
				return true
			}
		}
	}
	return false
}

// aboutRule reports whether the question names no event and cites a rule, or asks what
// is allowed, or what the asker himself may or should do.
func (q *Query) aboutRule(claims []Claim) bool {
	return !q.Eventful() && (q.permissive() || slices.ContainsFunc(claims, func(c Claim) bool {
		return len(c.Conditions) > 0 && q.ofRole(c, sextant.RoleRules) && !q.eventCondition(c)
	}))
}

var (
	permitting = set(`required requires require requirement requirements allowed permitted prohibited forbidden legal legally illegal lawful unlawful mandatory compulsory must shall definition`)
	ruling     = set(`rule rules regulation regulations`)
	governing  = set(`about on for regarding concerning governing`)
	auxiliary  = set(`do can may should must am could would shall`)
	looking    = set(`see get have find read search view look download export know ask pull filter sort compare count list`)
)

// permissive reports whether a question is about what may, must or should be done: "are
// balloons required to", "can I", "may a student"; "can I see" asks for the records.
func (q *Query) permissive() bool {
	for i, t := range q.Tokens {
		next := q.Word(i + 1)
		switch {
		case permitting[t.Lower], ruling[t.Lower] && governing[next]:
			return true
		case t.Lower == "may" && (i == 0 && next != "" && monthNames[next] == 0 && !q.Tokens[i+1].HasDigit() && q.Joined(i+1) || i > 0 && !t.capital && next != "have" && next != "be" && !monthBefore[q.Word(i-1)] && !q.Tokens[i-1].HasDigit()):
			return true
		case auxiliary[t.Lower] && next == "i" && !looking[q.Word(i+2)]:
			return true
		}
	}
	return false
}

// auxiliaries stand before what someone did; doers are who did it.
var (
	auxiliaries = set(`did does do could would can cannot`)
	doers       = set(`it he she they we pilot crew captain airplane aircraft plane helicopter glider balloon student instructor`)
)

// asVerb reports whether a word is what someone did and no condition: "how high did N218DT
// climb?"
func (q *Query) asVerb(c Claim) bool {
	if c.To != c.From+1 || c.From < 2 || !q.Joined(c.From) {
		return false
	}
	if before := &q.Tokens[c.From-1]; !doers[before.Lower] && before.digits == 0 {
		return false
	}
	for k := c.From - 2; k >= 0 && k > c.From-6; k-- {
		if auxiliaries[q.Tokens[k].Lower] {
			return true
		}
	}
	return false
}

// kind reports whether a claim only says what kind of thing is meant.
func (q *Query) kind(c Claim) bool {
	return len(c.Conditions) > 0 && !slices.ContainsFunc(c.Conditions, func(cond Condition) bool { return !slices.Contains(q.Lexicon.Kinds, cond.Field) })
}

// definitions begin such questions; those that ask for a meaning are true.
var definitions = NewTable(map[string]bool{"what is the difference": true, "what s the difference": true, "what does": false, "define": true, "how do i": false, "how do you": false, "how does": false,
	"how can i": false, "how should i": false, "how to": false, "what is the best": false, "what s the best": false, "what is a": true, "the definition of": true, "definition of": true, "what is the definition": true, "what s the definition": true, "the meaning of": true, "what is the meaning": true, "what is an": true, "what s a": true, "what s an": true, "what is meant": true})

// definitional reports whether the question asks what words mean or how a thing is
// done, and names no event: its values are its subject, not conditions.
func (q *Query) definitional() bool {
	_, _, ok := definitions.At(q, 0)
	return ok && !q.Eventful()
}

// ofMeaning reports whether the question asks what a word means and names papers at most:
// "what is the difference between a factual and a preliminary report?"
func (q *Query) ofMeaning() bool {
	meaning, _, ok := definitions.At(q, 0)
	if !ok || !meaning {
		return false
	}
	for i := range q.Tokens {
		if q.EventNoun(i) && !q.document(i) {
			return false
		}
	}
	return true
}

// ownStory marks "I fly out of Boise in a Maule, ...": the asker's own life is no
// condition on the corpus, up to the next comma.
func (q *Query) ownStory(background []bool) {
	if len(q.Tokens) < 4 || q.Tokens[0].Lower != "i" && q.Tokens[0].Lower != "my" && q.Tokens[0].Lower != "we" {
		return
	}
	switch q.Tokens[1].Lower {
	case "heard", "read", "saw", "remember", "recall", "think", "believe", "understand", "know", "want", "need", "would", "am", "like", "m", "d", "wonder", "don", "dont", "only", "just":
		if !q.introduction() {
			return
		}
	}
	for i := range q.Tokens {
		if i > 0 && strings.ContainsAny(q.Tokens[i].Gap, ",;.?!") || q.turn(i) {
			return
		}
		background[i] = true
	}
}

// introduction reports whether the first clause says who the asker is and no more: "I am a
// student; what are ...", and not "I'm a pilot looking for accidents in Ohio".
func (q *Query) introduction() bool {
	if w := q.Word(1); w != "am" && w != "m" || q.Word(2) != "a" && q.Word(2) != "an" && q.Word(2) != "the" && q.Word(2) != "from" {
		return false
	}
	for i := range q.Tokens {
		if i > 0 && strings.ContainsAny(q.Tokens[i].Gap, ",;.?!") {
			return true
		}
		if q.EventNoun(i) {
			return false
		}
	}
	return false
}
