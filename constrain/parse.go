package constrain

import (
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
)

// Query is a question being read: what recognizers look at.
type Query struct {
	Text       string
	Tokens     []Token
	AsOf       time.Time // the reference date, a UTC midnight
	Vocabulary *Vocabulary
	Lexicon    *Lexicon
	// Made reports whether the tokens from i name a thing that is made, so that a
	// year with an article before it is its year of manufacture.
	Made func(q *Query, i int) bool

	phrases *phraseIndex
	spoken  map[string]bool
	stop    map[string]bool
}

// Reading is what a question was read as.
type Reading struct {
	Constraints   []Constraint
	Request       Request
	Content       string   // the words that are no condition and no request: what to search for
	Words         []string // all words, for judging what the question is about
	Unenforceable []sextant.Unenforceable
	UnknownValues []sextant.UnknownValue
	Ambiguous     []Alternative
	Topic         []string     // the words that are neither condition nor request nor common: the subject
	Part          []Constraint // of a share: the conditions of the part, not of the whole
}

// Alternative is another reading of the words of a constraint.
type Alternative struct {
	Text   string
	Taken  Condition
	Others []Condition
}

// Constraint is a condition with its place in the question and what is needed to
// turn it into a filter.
type Constraint struct {
	Condition
	Text       string
	Start, End int
	Origin     sextant.Origin
	Negated    bool
}

// Parser reads questions over one vocabulary. It is immutable and safe for
// concurrent use.
type Parser struct {
	vocabulary *Vocabulary
	lexicon    *Lexicon
	phrases    *phraseIndex
	spoken     map[string]bool
	made       func(q *Query, i int) bool
}

// NewParser prepares a parser. made may be nil; see Query.Made.
func NewParser(v *Vocabulary, l *Lexicon, made func(q *Query, i int) bool) *Parser {
	p := &Parser{vocabulary: v, lexicon: l, phrases: newPhraseIndex(l.Phrases), spoken: map[string]bool{}, made: made}
	for _, name := range l.Spoken {
		p.spoken[name] = true
	}
	for _, phrase := range l.Phrases {
		for _, c := range phrase.Conditions {
			p.spoken[c.Field] = true
		}
	}
	for _, m := range l.Measures {
		p.spoken[m.Field] = true
	}
	return p
}

// Vocabulary returns the vocabulary the parser reads over.
func (p *Parser) Vocabulary() *Vocabulary { return p.vocabulary }

// Lexicon returns the lexicon the parser reads with.
func (p *Parser) Lexicon() *Lexicon { return p.lexicon }

// Parse reads a question. asOf is "now" for relative dates. It never fails: words it
// does not understand are left to the content query.
func (p *Parser) Parse(text string, asOf time.Time) Reading {
	q := &Query{Text: text, Tokens: tokenize(text), AsOf: day(asOf.Year(), asOf.Month(), asOf.Day()), Vocabulary: p.vocabulary, Lexicon: p.lexicon,
		Made: p.made, phrases: p.phrases, spoken: p.spoken, stop: stopWords}
	claims := q.recognize()
	claims = q.withoutBackground(choose(claims))
	r := compose(q, claims)
	r.Words = Words(text)
	r.Content, r.Topic = q.content(claims), q.topic(claims)
	return r
}

// topic returns the words no claim took, without those that say nothing of a subject.
func (q *Query) topic(claims []Claim) []string {
	taken := map[int]bool{}
	for _, c := range claims {
		for i := c.From; i < c.To && (len(c.Conditions) > 0 || c.Request != nil || c.Drop); i++ {
			taken[i] = true
		}
	}
	var out []string
	for i, t := range q.Tokens {
		if taken[i] || q.stop[t.Lower] || q.eventNoun(i) || inquiring[t.Lower] || q.Lexicon.Generic[t.Lower] || len(t.Text) < 2 || negations[t.Lower] || clear[t.Lower] {
			continue
		}
		out = append(out, t.Text)
	}
	return out
}

func (q *Query) recognize() []Claim {
	var claims []Claim
	for _, r := range []Recognizer{recognizeDates, recognizeMeasures, recognizePhrases, recognizeValues, recognizeRequests, recognizeFields} {
		claims = append(claims, r(q)...)
	}
	for _, r := range q.Lexicon.Recognizers {
		claims = append(claims, r(q)...)
	}
	return claims
}

// content joins the words that no dropped claim took and that mean something. Values
// stay: a passage that names the aircraft should rank above one that does not.
func (q *Query) content(claims []Claim) string {
	dropped := map[int]bool{}
	for _, c := range claims {
		for i := c.From; c.Drop && i < c.To; i++ {
			dropped[i] = true
		}
	}
	var words []string
	for i, t := range q.Tokens {
		if dropped[i] || q.stop[t.Lower] || i > 0 && t.Gap == "'" && len(t.Text) == 1 {
			continue
		}
		if i > 0 && len(words) > 0 && strings.Trim(t.Gap, "-.&/") == "" && !dropped[i-1] {
			words[len(words)-1] += t.Gap + t.Text // identifiers stay whole: PA-28-161
			continue
		}
		words = append(words, t.Text)
	}
	return strings.Join(words, " ")
}

// clause is a run of tokens between full stops, semicolons and turns of speech.
type clause struct {
	from, to int
	question bool // ends in a question mark
}

func (q *Query) clauses() []clause {
	var out []clause
	start := 0
	for i, t := range q.Tokens {
		if i == 0 {
			continue
		}
		turn := q.turn(i)
		if strings.ContainsAny(t.Gap, ".?!;") && !q.abbreviation(i) || turn {
			out = append(out, clause{from: start, to: i, question: strings.Contains(t.Gap, "?")})
			start = i
		}
	}
	last := clause{from: start, to: len(q.Tokens), question: strings.HasSuffix(strings.TrimSpace(q.Text), "?")}
	return append(out, last)
}

// abbreviation tells the stop of "U.S.", "St. Louis" or a decimal from a full stop.
func (q *Query) abbreviation(i int) bool {
	if strings.TrimSpace(q.Tokens[i].Gap) != "." {
		return false
	}
	before := q.Tokens[i-1]
	return q.Tokens[i].Gap == "." || len(before.Text) <= 2 && !before.Number() || monthNames[before.Lower] > 0 && len(before.Text) <= 4
}

func (q *Query) turn(i int) bool {
	for _, w := range [][]string{{"but", "i", "want"}, {"but", "i", "need"}, {"but", "show", "me"}, {"but", "tell", "me"}, {"what", "i", "want"}} {
		if q.hasWords(i, w) {
			return true
		}
	}
	return false
}

// withoutBackground drops the conditions of clauses that only set the scene: a
// statement that names no event before a question, what precedes "but I want", and
// what the asker says of himself.
func (q *Query) withoutBackground(claims []Claim) []Claim {
	clauses := q.clauses()
	background := map[int]bool{}
	for k, c := range clauses {
		later := k+1 < len(clauses)
		turned := later && q.turn(clauses[k+1].from)
		statement := later && !c.question && !q.eventful(c) && !q.asks(c) && q.asksLater(clauses[k+1:], claims)
		if turned || statement {
			for i := c.from; i < c.to; i++ {
				background[i] = true
			}
		}
	}
	q.ownStory(background)
	defined := q.definitional()
	var out []Claim
	for _, c := range claims {
		if (background[c.From] || defined && q.eventCondition(c)) && (len(c.Conditions) > 0 || c.Unknown != nil) {
			c.Conditions, c.Unknown, c.Others, c.Cannot = nil, nil, nil, nil
		}
		out = append(out, c)
	}
	return out
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

var asking = map[string]bool{"what": true, "which": true, "who": true, "why": true, "how": true, "when": true, "where": true, "show": true, "list": true, "give": true, "find": true, "tell": true,
	"count": true, "did": true, "does": true, "is": true, "are": true, "was": true, "were": true, "any": true, "compare": true, "want": true, "pull": true}

func (q *Query) asks(c clause) bool {
	return c.from < c.to && asking[q.Tokens[c.from].Lower]
}

func (q *Query) eventful(c clause) bool {
	for i := c.from; i < c.to; i++ {
		if q.eventNoun(i) {
			return true
		}
	}
	return false
}

// eventNoun reports whether token i is what the collection's documents are called.
func (q *Query) eventNoun(i int) bool {
	if i < 0 || i >= len(q.Tokens) {
		return false
	}
	w := q.Tokens[i].Lower
	for _, noun := range q.Lexicon.EventNouns {
		if w == noun || w == noun+"s" || w == noun+"es" || w == noun+"ed" || w == noun+"d" {
			return true
		}
	}
	return false
}

// eventCondition reports whether a claim is about a field of events; a question
// about what a rule says still names the rule.
func (q *Query) eventCondition(c Claim) bool {
	for _, spec := range q.Vocabulary.Collections {
		for _, cond := range c.Conditions {
			if _, ok := spec.Schema.Field(cond.Field); ok && spec.Role == sextant.RoleEvents {
				return true
			}
		}
	}
	return false
}

// definitional reports whether the question asks what words mean or how a thing is
// done, and names no event: its values are its subject, not conditions.
func (q *Query) definitional() bool {
	if q.Eventful() {
		return false
	}
	_, ok := q.anyOf(0, "what is the difference", "what s the difference", "what does", "define", "how do i", "how do you", "how does", "how can i", "how should i", "how to", "what is a", "what is an", "what is meant")
	return ok
}

// ownStory marks "I fly out of Boise in a Maule, ...": the asker's own life is no
// condition on the corpus, up to the next comma.
func (q *Query) ownStory(background map[int]bool) {
	if len(q.Tokens) < 4 || q.Tokens[0].Lower != "i" && q.Tokens[0].Lower != "my" && q.Tokens[0].Lower != "we" {
		return
	}
	switch q.Tokens[1].Lower {
	case "want", "need", "would", "am", "like", "m", "d", "wonder":
		return
	}
	for i := range q.Tokens {
		if i > 0 && strings.ContainsAny(q.Tokens[i].Gap, ",;.?!") || q.turn(i) {
			return
		}
		background[i] = true
	}
}

// inquiring are words that ask and are not what is asked about.
var inquiring = wordSet(`cause caused causes causing reason reasons contributed contributing contribute led explain describe tell summarize summary compare compared comparison difference differ say says mean means know happen happened went wrong`)

var stopWords = wordSet(`a an the of in on at to for from by with and or nor is are was were be been being do does did has have had i you we they it its this that these those there
 what which who whom whose when where why how any some all me my our your us please show list give tell find about as if than then so not no but into out up down over under
 between during within without per each every more most less least many much number count total can could would should may might will shall must im whats s t`)

func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}
