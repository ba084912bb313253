package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// maxExamples is how many questions are shown to begin with.
const maxExamples = 6

// examples are the domain's questions about a collection, and otherwise some made from its
// commonest values, the middle of its numbers and its latest year. Only what is read as it
// is meant is shown.
func (e *Engine) examples(s *state, spec sextant.Collection, d sextant.Description) []string {
	out := slices.Concat([]string{}, e.domain.Examples[spec.Name])
	if len(out) > 0 || d.Documents == 0 {
		return out
	}
	x := exampleMaker{unit: d.Unit}
	for i := range d.Fields {
		x.look(&d.Fields[i], spec.DateField)
	}
	for _, example := range x.questions() {
		if len(out) < maxExamples && s.reads(spec.Name, example.text, example.conditions) {
			out = append(out, example.text)
		}
	}
	return out
}

// reads reports whether a question is read as so many conditions and nothing else.
func (s *state) reads(collection, text string, conditions int) bool {
	for _, subject := range s.subjects {
		if subject.has(collection) {
			r := subject.parser.Parse(text, time.Time{})
			return len(r.Constraints) == conditions && len(r.Unenforceable) == 0 && len(r.UnknownValues) == 0
		}
	}
	return false
}

// exampleMaker collects what questions can be made of.
type exampleMaker struct {
	unit   string
	values []namedValue // the commonest of each field
	others []namedValue // the second commonest of each
	number string       // "waiting minutes above 150"
	flag   string
	year   int
	group  string
}

type namedValue struct{ label, value string }

func (v namedValue) String() string { return v.label + " " + v.value }

func labelOf(f filter.Field) string {
	if f.Label != "" {
		return f.Label
	}
	return strings.ReplaceAll(f.Name, "_", " ")
}

func (x *exampleMaker) look(f *sextant.FieldInfo, dateField string) {
	label := labelOf(f.Field)
	switch {
	case f.Kind == filter.Keyword && f.Facet && len(f.Values) > 1 && f.Distinct < f.Known:
		x.values = append(x.values, namedValue{label, fmt.Sprint(f.Values[0][0])})
		x.others = append(x.others, namedValue{label, fmt.Sprint(f.Values[1][0])})
		if x.group == "" && f.Distinct <= maxValues {
			x.group = label
		}
	case f.Kind == filter.Bool && x.flag == "" && len(f.Values) > 1:
		x.flag = label
	case (f.Kind == filter.Int || f.Kind == filter.Float) && x.number == "" && f.Max != nil:
		x.number = fmt.Sprintf("%s above %d", label, middle(f))
	case f.Kind == filter.Time && f.Name == dateField && f.Max != nil:
		if v, ok := f.Max.(filter.Value); ok {
			x.year = v.Time().Year()
		}
	}
}

// middle is the middle of a field's range, as a whole number.
func middle(f *sextant.FieldInfo) int64 {
	low, ok1 := f.Min.(filter.Value)
	high, ok2 := f.Max.(filter.Value)
	if !ok1 || !ok2 {
		return 0
	}
	if f.Kind == filter.Int {
		return (low.Int() + high.Int()) / 2
	}
	return int64((low.Float() + high.Float()) / 2)
}

// madeQuestion is a question and how many conditions it should be read as.
type madeQuestion struct {
	text       string
	conditions int
}

func (x *exampleMaker) questions() []madeQuestion {
	var out []madeQuestion
	add := func(conditions int, format string, args ...any) {
		out = append(out, madeQuestion{fmt.Sprintf(format, args...), conditions})
	}
	for i, v := range x.values[:min(len(x.values), 2)] {
		if i == 0 && x.year > 0 {
			add(2, "How many %s with %s in %d?", x.unit, v, x.year)
			continue
		}
		add(1, "How many %s with %s?", x.unit, v)
	}
	if x.number != "" {
		add(1, "List %s with %s", x.unit, x.number)
	}
	if len(x.values) > 1 && x.group != "" {
		add(1, "%s with %s by %s", capital(x.unit), x.values[1], x.group)
	}
	if len(x.others) > 0 {
		add(1, "How many %s with %s not %s?", x.unit, x.others[0].label, x.others[0].value)
	}
	if len(x.values) > 2 && x.flag != "" {
		add(2, "%s: %s, not %s", capital(x.unit), x.values[2], x.flag)
	}
	if len(x.values) > 0 {
		add(1, "How many %s with %s or %s?", x.unit, x.values[0], x.others[0].value)
	}
	return out
}
