package constrain

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Wording is what the owner of a collection says about how people speak of its fields. It
// is kept as a small YAML file beside the collection's schema and needs no Go:
//
//	called: [visits, stays]
//	phrases: |
//	  casualty | A&E -> department=Emergency
//	  the coast -> city=Hull|Whitby
//	  long wait -> waiting_minutes>=240
//	  yellow card ->
//	counted:
//	  waiting_minutes: {after: [minutes of waiting], before: [waited]}
//	patterns:
//	  visit_no: 'V\d{5}'
type Wording struct {
	Called   []string           `yaml:"called,omitempty" json:"called,omitempty"`     // what one record is called
	Phrases  string             `yaml:"phrases,omitempty" json:"phrases,omitempty"`   // as [ParsePhrases] reads them
	Counted  map[string]Counted `yaml:"counted,omitempty" json:"counted,omitempty"`   // by numeric field
	Patterns map[string]string  `yaml:"patterns,omitempty" json:"patterns,omitempty"` // by field: a regular expression of its values
}

// Counted are the phrases that stand after or before the numbers of a field.
type Counted struct {
	After  []string `yaml:"after,omitempty" json:"after,omitempty"`
	Before []string `yaml:"before,omitempty" json:"before,omitempty"`
}

// overWeight puts what an owner says over what anyone else does of the same words.
const overWeight = 9

// Extend returns the lexicon with the wording added to it. It is an error if the wording
// names a field the schema does not have, or cannot be read.
func (w Wording) Extend(l *Lexicon, schema filter.Schema) (*Lexicon, error) {
	out := *l
	phrases, err := ParsePhrases(w.Phrases)
	if err != nil {
		return nil, fmt.Errorf("wording: %w", err)
	}
	for i := range phrases {
		phrases[i].Weight = overWeight
		for k, c := range phrases[i].Conditions {
			f, ok := schema.Field(c.Field)
			if !ok {
				return nil, fmt.Errorf("wording: %q: there is no field %q", strings.Join(phrases[i].Words, " "), c.Field)
			}
			if phrases[i].Conditions[k], err = typedCondition(c, f); err != nil {
				return nil, fmt.Errorf("wording: %q: %w", strings.Join(phrases[i].Words, " "), err)
			}
		}
	}
	out.Phrases = append(phrases, l.Phrases...)
	out.EventNouns = slices.Concat(l.EventNouns, w.Called)
	out.Measures = slices.Clone(l.Measures)
	for _, name := range slices.Sorted(maps.Keys(w.Counted)) {
		if f, ok := schema.Field(name); !ok || f.Kind != filter.Int {
			return nil, fmt.Errorf("wording: counted: %q is no field of whole numbers", name)
		}
		out.Measures = append(out.Measures, Measure{Field: name, After: w.Counted[name].After, Verbs: w.Counted[name].Before})
	}
	recognizers, err := w.recognizers(schema)
	if err != nil {
		return nil, err
	}
	out.Recognizers = slices.Concat(l.Recognizers, recognizers)
	return &out, nil
}

// Lines returns the wording as its owner wrote it, one saying a line, for people.
func (w Wording) Lines() []string {
	var out []string
	for line := range strings.Lines(w.Phrases) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Counted)) {
		c := w.Counted[name]
		out = append(out, strings.Join(slices.Concat(c.After, c.Before), " | ")+" -> counts "+name)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Patterns)) {
		out = append(out, w.Patterns[name]+" -> "+name)
	}
	return out
}

// typedCondition gives the values of a condition the field's kind: a phrase says
// "insured=yes" of a flag and "code=007" of a keyword.
func typedCondition(c Condition, f filter.Field) (Condition, error) {
	c.Values = slices.Clone(c.Values)
	for i, v := range c.Values {
		switch text := fmt.Sprint(v); f.Kind {
		case filter.Bool:
			truth, ok := map[string]bool{"yes": true, "true": true, "no": false, "false": false}[strings.ToLower(text)]
			if !ok {
				return c, fmt.Errorf("%s is yes or no, not %q", f.Name, text)
			}
			c.Values[i] = truth
		case filter.Keyword:
			c.Values[i] = text
		case filter.Int, filter.Float:
			if _, ok := v.(int); !ok {
				return c, fmt.Errorf("%s is a number, not %q", f.Name, text)
			}
		default:
			return c, fmt.Errorf("%s is a date; phrases cannot name one", f.Name)
		}
	}
	return c, nil
}

// maxPattern bounds a pattern's length; what it matches is a few words of a question.
const maxPattern = 200

// recognizers makes one of each pattern.
func (w Wording) recognizers(schema filter.Schema) (out []Recognizer, err error) {
	for _, name := range slices.Sorted(maps.Keys(w.Patterns)) {
		if f, ok := schema.Field(name); !ok || f.Kind != filter.Keyword {
			return nil, fmt.Errorf("wording: patterns: %q is no field of words", name)
		}
		if len(w.Patterns[name]) > maxPattern {
			return nil, fmt.Errorf("wording: the pattern of %s is longer than %d characters", name, maxPattern)
		}
		form, err := regexp.Compile(`^(?i:` + w.Patterns[name] + `)$`)
		if err != nil {
			return nil, fmt.Errorf("wording: the pattern of %s: %w", name, err)
		}
		out = append(out, formed(name, form))
	}
	return out, nil
}

// mostParts is how many tokens a value of a pattern may have: "V-2021-00017" has three.
const mostParts = 5

// formed claims runs of tokens that look like the values of a field, whether any record
// has them or not: an absent one is a condition that nothing satisfies.
func formed(field string, form *regexp.Regexp) Recognizer {
	return func(q *Query) []Claim {
		var out []Claim
		for i := range q.Tokens {
			for to := min(i+mostParts, len(q.Tokens)); to > i; to-- {
				text := q.Written(i, to)
				if !form.MatchString(text) {
					continue
				}
				if known, ok := q.Vocabulary.LookupFold(field, text); ok {
					text = known.Text
				}
				out = append(out, Claim{From: i, To: to, Weight: overWeight, Conditions: []Condition{{Field: field, Op: sextant.OpEq, Values: []any{text}}}})
				break
			}
		}
		return out
	}
}
