package constrain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Proposal is a condition that a model says a question states. It is a claim by somebody
// who may be wrong: see Join.
type Proposal struct {
	Field  string
	Op     sextant.Op
	Values []string
	Words  string // of the question, letter by letter
}

// Refused is a proposal that was not taken, and why.
type Refused struct {
	Proposal
	Reason string
}

// proposable are the operators a proposal may use. Mentions are left out: what a text must
// say is read from quotation marks, never guessed at.
var proposable = map[sextant.Op]bool{sextant.OpEq: true, sextant.OpIn: true, sextant.OpNotIn: true, sextant.OpGte: true, sextant.OpLte: true, sextant.OpBetween: true, sextant.OpContains: true, sextant.OpNotContains: true}

// maxProposals bounds how many conditions one question can be given by a model.
const maxProposals = 12

// Join adds to a reading the proposals that hold: the words stand in the question and no
// condition was read from them, the field exists and can be compared so, and its values are
// known to the corpus or stand in the words. What was read by rules stays, whatever is
// proposed. A condition whose value does not stand in its words ("the Last Frontier" for a
// state) is Inferred.
func (p *Parser) Join(text string, r Reading, proposals []Proposal) (Reading, []Refused) {
	var refused []Refused
	joined := r
	joined.Constraints = slices.Clone(r.Constraints)
	for i, proposal := range proposals {
		if i == maxProposals {
			refused = append(refused, Refused{proposal, fmt.Sprintf("more than %d conditions were proposed", maxProposals)})
			break
		}
		c, reason := p.admit(text, joined.Constraints, proposal)
		if reason != "" {
			refused = append(refused, Refused{proposal, reason})
			continue
		}
		joined.Constraints = append(joined.Constraints, c)
		joined.Topic = unsaid(joined.Topic, c.Text)
	}
	return joined, refused
}

// admit turns a proposal into a constraint, or says why it is none.
func (p *Parser) admit(text string, held []Constraint, proposal Proposal) (Constraint, string) {
	start, end, ok := wordsIn(text, proposal.Words)
	if !ok {
		return Constraint{}, "its words do not stand in the question"
	}
	f, ok := p.vocabulary.Field(proposal.Field)
	if !ok {
		return Constraint{}, "there is no such field"
	}
	if _, special := p.lexicon.Compile[f.Name]; special || len(f.AnyOf) > 0 {
		return Constraint{}, "this field is read by rules only"
	}
	if !proposable[proposal.Op] {
		return Constraint{}, fmt.Sprintf("the operator %q cannot be proposed", proposal.Op)
	}
	for _, c := range held {
		if c.Start < end && start < c.End {
			return Constraint{}, fmt.Sprintf("“%s” is read as a condition already", c.Text)
		}
	}
	c := Constraint{Condition: Condition{Field: f.Name, Op: proposal.Op}, Text: text[start:end], Start: start, End: end, Origin: sextant.FromModel}
	if c.Negated = proposal.Op == sextant.OpNotIn || proposal.Op == sextant.OpNotContains; c.Negated {
		c.Inferred = !slices.ContainsFunc(Words(c.Text), func(w string) bool { return denials[w] }) // the words may as well mean the contrary
	}
	if len(Words(c.Text)) > 0 && !slices.ContainsFunc(Words(c.Text), func(w string) bool { return !stopWords[w] }) {
		return Constraint{}, "its words say nothing"
	}
	if reason := c.fill(p.vocabulary, f, proposal.Values); reason != "" {
		return Constraint{}, reason
	}
	return c, ""
}

// denials are words by which a condition is turned round.
var denials = map[string]bool{"not": true, "no": true, "non": true, "except": true, "excluding": true, "without": true, "outside": true, "other": true, "never": true, "but": true}

// fill reads the values of a proposal as the field holds them.
func (c *Constraint) fill(v *Vocabulary, f filter.Field, values []string) string {
	if least, most := arity(c.Op); len(values) < least || len(values) > most {
		return fmt.Sprintf("%s takes other than %d values", c.Op, len(values))
	}
	switch ordered := f.Kind == filter.Int || f.Kind == filter.Float || f.Kind == filter.Time; {
	case !ordered && (c.Op == sextant.OpGte || c.Op == sextant.OpLte || c.Op == sextant.OpBetween),
		f.Kind != filter.Keyword && (c.Op == sextant.OpContains || c.Op == sextant.OpNotContains):
		return fmt.Sprintf("%s cannot be compared by %s", f.Name, c.Op)
	}
	for _, text := range values {
		value, said, reason := valueFor(v, f, c.Op, text, c.Text)
		if reason != "" {
			return reason
		}
		c.Values = append(c.Values, value)
		c.Inferred = c.Inferred || !said
	}
	if c.Op == sextant.OpBetween && f.Kind == filter.Time { // one span, as dates are kept
		from, to := c.Values[0].(Span), c.Values[1].(Span)
		c.Values = []any{Span{from.From, to.To}}
	}
	return ""
}

func arity(op sextant.Op) (least, most int) {
	switch op {
	case sextant.OpBetween:
		return 2, 2
	case sextant.OpGte, sextant.OpLte:
		return 1, 1
	}
	return 1, 20
}

// valueFor reads one value. said reports whether it stands in the words it came from.
func valueFor(v *Vocabulary, f filter.Field, op sextant.Op, text, words string) (value any, said bool, reason string) {
	text = sextant.CleanText(text)
	none := fmt.Sprintf("“%s” is no value of %s", text, f.Name)
	spoken := " " + strings.Join(Words(words), " ") + " "
	switch f.Kind {
	case filter.Keyword:
		said = strings.Contains(spoken, " "+strings.Join(Words(text), " ")+" ") && len(Words(text)) > 0
		if op == sextant.OpContains || op == sextant.OpNotContains {
			if !said || !v.Contains(f.Name, text, 1) {
				return nil, false, none
			}
			return text, true, ""
		}
		if known, ok := v.LookupFold(f.Name, text); ok {
			return known.Text, said, ""
		}
		return nil, false, none
	case filter.Int:
		n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
		if err != nil || !numberIn(words, n) {
			return nil, false, none
		}
		return n, true, ""
	case filter.Float:
		n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		if err != nil || n-n != 0 || !strings.Contains(strings.ReplaceAll(words, ",", ""), strings.ReplaceAll(text, ",", "")) {
			return nil, false, none
		}
		return n, true, ""
	case filter.Bool:
		b, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			return nil, false, none
		}
		return b, false, ""
	case filter.Time:
		s, ok := isoSpan(text)
		if !ok {
			return nil, false, none
		}
		return s, saysSpan(words, s), ""
	}
	return nil, false, none
}

// saysSpan reports whether words say a span of days themselves: its year, and of a shorter one
// the month by name or number, and of a day that as well.
func saysSpan(words string, s Span) bool {
	days := int(s.To.Sub(s.From).Hours()/24) + 1
	if !numberIn(words, s.From.Year()) {
		return false
	}
	if days > 31 {
		return true
	}
	month := strings.ToLower(s.From.Month().String())
	named := slices.ContainsFunc(Words(words), func(w string) bool { return w == month || len(w) >= 3 && strings.HasPrefix(month, w) })
	if !named && !numberIn(words, int(s.From.Month())) {
		return false
	}
	return days > 1 || numberIn(words, s.From.Day())
}

// numberIn reports whether words say a whole number, in digits or as a word.
func numberIn(words string, n int) bool {
	return slices.ContainsFunc(Words(strings.ReplaceAll(words, ",", "")), func(w string) bool {
		if m, ok := numberWords[w]; ok && m == n {
			return true
		}
		m, err := strconv.Atoi(w)
		return err == nil && m == n
	})
}

// isoSpan reads 2012, 2012-07 and 2012-07-04 as the days they cover.
func isoSpan(text string) (Span, bool) {
	for layout, grow := range map[string]func(t time.Time) Span{
		"2006":        func(t time.Time) Span { return yearSpan(t.Year()) },
		"2006-01":     func(t time.Time) Span { return monthsSpan(t.Year(), t.Month(), 1) },
		time.DateOnly: daySpan,
	} {
		if t, err := time.Parse(layout, text); err == nil && plausible(t.Year()) {
			return grow(t), true
		}
	}
	return Span{}, false
}

// wordsIn finds words in a text as whole words, case and white space aside.
func wordsIn(text, words string) (start, end int, ok bool) {
	sought := Words(words)
	tokens, _ := tokenize(text)
	if len(sought) == 0 {
		return 0, 0, false
	}
	for i := 0; i+len(sought) <= len(tokens); i++ {
		match := true
		for k := range sought {
			if match = tokens[i+k].Lower == sought[k]; !match {
				break
			}
		}
		if match {
			return tokens[i].Start, tokens[i+len(sought)-1].End, true
		}
	}
	return 0, 0, false
}

// unsaid takes the words of a condition out of the topic.
func unsaid(topic []string, text string) []string {
	said := Words(text)
	return slices.DeleteFunc(slices.Clone(topic), func(word string) bool { return slices.Contains(said, strings.ToLower(word)) })
}

// Dispute is a condition that a model thinks the question does not state. It is shown and
// changes nothing.
type Dispute struct{ Words, Reason string }

// Disputed keeps the disputes that are about a condition of the reading, by its place.
func (r Reading) Disputed(text string, all []Dispute) map[int]string {
	out := map[int]string{}
	for _, d := range all {
		start, end, ok := wordsIn(text, d.Words)
		for i, c := range r.Constraints {
			if ok && c.Start < end && start < c.End && c.Origin == sextant.FromRule {
				out[i] = sextant.CleanText(d.Reason)
			}
		}
	}
	return out
}
