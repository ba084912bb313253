package constrain

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Lexicon is what a domain knows about how people speak of its fields. The zero
// Lexicon knows nothing and is fine.
type Lexicon struct {
	Phrases     []Phrase
	Measures    []Measure
	Recognizers []Recognizer
	// Opposites turn a negated value into the value that is meant: "no fatalities" is
	// severity nonfatal, not "severity other than fatal". Keyed by field and value.
	Opposites map[[2]string]Condition
	// Dates is the field a date in a question is about where it names no other, and
	// Months the int field that holds the month alone ("" where there is none).
	Dates, Months string
	// Kinds names fields that say what kind of thing is meant. In a question about a rule
	// that names no event they are its subject: "may a helicopter fly lower under 91.119?"
	Kinds []string
	// Where names the fields that say where: a list may mix them ("except Alaska and Canada").
	Where []string
	// DatedBy names the field that a date after a verb is about ("published": the
	// publication's date), or "" where none holds it. Verbs of making and owning need no
	// entry: "built in 1968" is never the date of an event.
	DatedBy map[string]string
	// Compile overrides how a condition becomes a filter, by field, for fields whose
	// plain comparison is not what people mean.
	Compile map[string]CompileFunc
	// Applies says, by field and over fields of the same group, where a field can be
	// recorded at all: an event abroad has no state, which is not an unknown one.
	Applies map[string]filter.Filter
	// Grave is the numeric field by which one event is worse than another, "" if none is.
	Grave string
	// Summed names fields that a breakdown adds up when the words name them: "deaths by year".
	Summed map[string]bool
	// TypeOf says, by unit, what "which aircraft" asks for a type of.
	TypeOf map[string]Grouping
	// TextNouns maps the words for texts to what they are: "cause", "article". Singular.
	TextNouns map[string]TextNoun
	// Asked maps what people ask of a record they name to the fields that tell it: "docket
	// link", "final out". Opinions are the kinds of parts that hold somebody's opinion and
	// no facts, and Stages the fields that say how far a record has come.
	Asked            map[string][]string
	Opinions, Stages []string
	// Units maps the words for what is counted to a unit: a group's name or "documents".
	Units map[string]string
	// Groupings maps the words after "by", "per" and "which" to what to group by.
	Groupings map[string]Grouping
	// Spoken names fields that only the lexicon's own phrases and recognizers read; their
	// values and names are never matched as bare words. Fields of measures are among them.
	Spoken []string
	// Lookups names fields without facets whose values the recognizers look up, and
	// Searched those whose values they look for by a part ([Vocabulary.Contains]).
	Lookups, Searched []string
	// Abbreviations are words whose full stop ends no sentence: "st", "calif".
	Abbreviations map[string]bool
	EventNouns    []string // what a document is called: "accident", "crash"
	// Documents are those of the event nouns that name the paper and not what happened.
	Documents map[string]bool
	// Ties are words that tie a question to the domain's events by themselves: "overrun",
	// "runway". Beside one a weak claim counts; see [Weakness].
	Ties map[string]bool
	// Generic words say nothing of a question's subject in this domain: "aircraft".
	Generic map[string]bool
	// Words holds common words of the language, lower case, and Names words of the
	// domain's own tables: neither is ever taken for a misspelt value.
	Words, Names map[string]bool
}

// Phrase maps words to conditions. Words are compared lower-case, hyphens, dots and
// blanks being one; a plural of the last word matches too.
type Phrase struct {
	Words      []string
	Conditions []Condition // none: the words are no condition
	Alone      bool        // they count only between commas or the ends of the question
	Weak       Weakness    // they count only in company
	Weight     int         // over other readings of as many words
}

// Measure names a numeric field by the words that count it: "two people killed",
// "killed more than five".
type Measure struct {
	Field string
	After []string // phrases that follow the number: "killed", "fatalities"
	Verbs []string // phrases that precede it: "killed", "killing"
	// Unless are phrases before the number or after the measure that make it count
	// something else: "two engine failures".
	Unless []string
	Most   int // no number above it is this measure ("747 engine surge"); 0 is no limit
}

// Grouping says how rows of a breakdown are made.
type Grouping struct {
	Name  string // on the wire: "year", "make"
	Field string
	By    string // store.Interval for times, "" for values
}

// Recognizer proposes claims for a question. It must not keep the question.
type Recognizer func(q *Query) []Claim

// ParsePhrases reads a phrase table, one entry a line:
//
//	words | other words -> field=value, field>=3, field~sub
//	(a/b) words -> field=value
//	[words] -> field=value
//	<words> -> field=value
//	words ->
//
// "#" starts a comment. "(a/b) c" stands for "a c" and "b c". Words in brackets count only where nothing else stands beside
// them: "[training]" is a condition of "R22, training, Texas" and not of "training
// record". Words in angle brackets count only in company: <landing> is a condition of
// "bounced on landing" and of "landing, Texas", and not of "landing a job". An entry
// without conditions keeps the words from being read as one.
func ParsePhrases(text string) ([]Phrase, error) {
	var out []Phrase
	scanner := bufio.NewScanner(strings.NewReader(text))
	for n := 1; scanner.Scan(); n++ {
		line, _, _ := strings.Cut(scanner.Text(), "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		words, conditions, ok := strings.Cut(line, "->")
		if !ok {
			return nil, fmt.Errorf("phrases: line %d has no arrow", n)
		}
		cs, err := parseConditions(conditions)
		if err != nil {
			return nil, fmt.Errorf("phrases: line %d: %w", n, err)
		}
		for alternative := range strings.SplitSeq(words, "|") {
			alternative = strings.TrimSpace(alternative)
			alone, weakness := strings.HasPrefix(alternative, "["), Firm
			if strings.HasPrefix(alternative, "<") {
				weakness = WeakNoun
			}
			texts := expand(alternative)
			if len(texts) > maxChoices {
				return nil, fmt.Errorf("phrases: line %d: more than %d choices in one alternative", n, maxChoices)
			}
			for _, text := range texts {
				p := Phrase{Words: Words(text), Conditions: cs, Alone: alone, Weak: weakness}
				if len(p.Words) == 0 {
					return nil, fmt.Errorf("phrases: line %d: an alternative without words", n)
				}
				out = append(out, p)
			}
		}
	}
	return out, scanner.Err()
}

// maxChoices bounds what one alternative may stand for.
const maxChoices = 500

// expand writes out the choices in parentheses, and stops soon after maxChoices.
func expand(text string) []string {
	out := []string{""}
	for {
		before, rest, ok := strings.Cut(text, "(")
		choices, after, _ := strings.Cut(rest, ")")
		var next []string
		for _, head := range out {
			for choice := range strings.SplitSeq(choices, "/") {
				next = append(next, head+before+choice)
			}
		}
		if out, text = next, after; !ok || len(out) > maxChoices {
			return out
		}
	}
}

func parseConditions(text string) ([]Condition, error) {
	var out []Condition
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		c, err := parseCondition(part)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func parseCondition(text string) (Condition, error) {
	for _, sign := range []struct {
		text string
		op   sextant.Op
	}{{">=", sextant.OpGte}, {"<=", sextant.OpLte}, {"~", sextant.OpContains}, {"=", sextant.OpEq}} {
		field, value, ok := strings.Cut(text, sign.text)
		if !ok {
			continue
		}
		c := Condition{Op: sign.op}
		c.Field, c.Implied = strings.CutSuffix(strings.TrimSpace(field), "?") // "make?=PIPER": implied
		for v := range strings.SplitSeq(value, "|") {
			c.Values = append(c.Values, number(strings.TrimSpace(v), sign.op))
		}
		if len(c.Values) > 1 && c.Op == sextant.OpEq {
			c.Op = sextant.OpIn
		}
		return c, nil
	}
	return Condition{}, fmt.Errorf("%q is no condition", text)
}

// number reads ints as ints, except as a part of a name.
func number(s string, op sextant.Op) any {
	if n, err := strconv.Atoi(s); err == nil && op != sextant.OpContains && s[0] != '0' || s == "0" {
		return n
	}
	return s
}
