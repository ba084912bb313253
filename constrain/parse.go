package constrain

import (
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
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

	*index
	identifiers  []bool // tokens that name a record by a number of its own
	lower, upper bool   // the question has no letters of the other case
}

// index is what a parser looks words up in.
type index struct {
	phrases    *phraseIndex
	measures   *measureIndex
	quantities *quantities
	values     *valueIndex
	named      *Table[filter.Field] // fields by name
	groupings  *Table[Grouping]
	records    *Table[[]string] // fields that are asked of a record
	spoken     map[string]bool  // fields the lexicon speaks for
	eventNouns map[string]bool  // with their plurals
	datedNouns map[string]string
}

// Reading is what a question was read as.
type Reading struct {
	Constraints   []Constraint
	Request       Request
	Content       string   // the words that are no condition and no request: what to search for
	Words         []string // all words that were read, for judging what the question is about
	Unenforceable []sextant.Unenforceable
	UnknownValues []sextant.UnknownValue
	Ambiguous     []Alternative
	Topic         []string     // the words that are neither condition nor request nor common: the subject
	Part          []Constraint // of a share: the conditions of the part, not of the whole
	Phrases       []string     // the topic's words as they stand together in the question
	Denied        bool         // the question says that something is not so of a word of the topic
	Sides         []Side       // what is set against each other, where values of one field do not tell it
	Notes         []string     // what a reader should know of how the words were read
	Beside        []string     // words no record answers, beside which something else is asked
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
	Text       string // as it stands in the question, from Start to End
	Start, End int
	Origin     sextant.Origin
	Negated    bool
	Inferred   bool // a model's: the value does not stand in the words
}

// Parser reads questions over one vocabulary. It is immutable and safe for
// concurrent use.
type Parser struct {
	vocabulary *Vocabulary
	lexicon    *Lexicon
	index      *index
	made       func(q *Query, i int) bool
}

// NewParser prepares a parser. made may be nil; see Query.Made.
func NewParser(v *Vocabulary, l *Lexicon, made func(q *Query, i int) bool) *Parser {
	x := &index{phrases: newPhraseIndex(l.Phrases), measures: newMeasureIndex(l.Measures), groupings: NewTable(l.Groupings), records: NewTable(l.Asked), spoken: spokenFor(l), eventNouns: map[string]bool{}}
	x.datedNouns = datedNouns(v, l)
	x.named = fieldTable(v, l, x.spoken)
	x.quantities, x.values = newQuantities(v, x.spoken), newValueIndex(v, x.spoken)
	for _, noun := range l.EventNouns {
		for _, ending := range []string{"", "s", "es", "ed", "d"} {
			x.eventNouns[noun+ending] = true
		}
	}
	for _, name := range l.Searched {
		if fv := v.fields[name]; fv != nil {
			fv.partIndex()
		}
	}
	return &Parser{vocabulary: v, lexicon: l, index: x, made: made}
}

func spokenFor(l *Lexicon) map[string]bool {
	out := map[string]bool{l.Months: true}
	for _, name := range l.Spoken {
		out[name] = true
	}
	for _, m := range l.Measures {
		out[m.Field] = true
	}
	return out
}

// Vocabulary returns the vocabulary the parser reads over.
func (p *Parser) Vocabulary() *Vocabulary { return p.vocabulary }

// Lexicon returns the lexicon the parser reads with.
func (p *Parser) Lexicon() *Lexicon { return p.lexicon }

// Parse reads a question. asOf is "now" for relative dates. It never fails: words it
// does not understand are left to the content query. Of a text longer than any question
// only the beginning is read for conditions, which the reading says.
func (p *Parser) Parse(text string, asOf time.Time) Reading {
	tokens, end := tokenize(text)
	q := &Query{Text: text[:end], Tokens: tokens, AsOf: day(asOf.Year(), asOf.Month(), asOf.Day()), Vocabulary: p.vocabulary, Lexicon: p.lexicon, Made: p.made, index: p.index}
	q.lower, q.upper = casing(tokens)
	claims := q.withoutBackground(choose(q.recognize(), len(tokens)))
	r := compose(q, claims)
	for _, t := range tokens {
		r.Words = append(r.Words, t.Lower)
	}
	r.Content, r.Topic, r.Phrases = q.content(claims), q.topic(claims), q.topicPhrases(claims)
	r.Denied = slices.ContainsFunc(q.topicTokens(claims), func(i int) bool { return q.deniedBefore(i, 0) })
	if q.onlyRecorded(&r.Request) {
		r.Topic, r.Phrases = nil, nil
	}
	if rest := strings.TrimSpace(text[end:]); rest != "" {
		r.Content += " " + rest
		r.Unenforceable = append(r.Unenforceable, sextant.Unenforceable{Text: beginning(rest), Reason: "the question is too long to be read for conditions after this point"})
	}
	return r
}

// casing reports whether a question has no words with a capital, codes and abbreviations
// aside ("kodiak AK beaver in IMC"), and whether it has capitals only.
func casing(tokens []Token) (lower, upper bool) {
	lower, upper = true, true
	for i := range tokens {
		t := &tokens[i]
		letters := t.digits < len(t.Text)
		lower = lower && (!t.capital || t.upper)
		upper = upper && (t.upper || !letters)
	}
	return lower && !upper, upper
}

// beginning shortens a text to be shown.
func beginning(s string) string {
	if len(s) <= 40 {
		return s
	}
	return s[:cutRune(s, 40)] + " …"
}

func (q *Query) recognize() []Claim {
	if len(q.Tokens) == 0 {
		return nil
	}
	var claims []Claim
	for _, r := range []Recognizer{recognizeMentions, recognizeBeyond, recognizeDates, recognizeMeasures, recognizePhrases, recognizeValues, recognizeRequests, recognizeFields, recognizeQuantities, recognizeUnheld} {
		claims = append(claims, r(q)...)
	}
	for _, r := range q.Lexicon.Recognizers {
		claims = append(claims, r(q)...)
	}
	q.identifiers = q.identified(claims)
	return append(claims, recognizeRecord(q)...)
}
