package filter

import (
	"regexp"
	"strconv"
	"strings"
)

// String writes a filter as EXPR, so that ParseExpr of it matches the same
// documents.
func String(f Filter) string {
	var b strings.Builder
	write(&b, f, precedenceOr)
	return b.String()
}

const (
	precedenceOr = iota
	precedenceAnd
	precedenceUnary
)

func write(b *strings.Builder, f Filter, within int) {
	switch f := f.(type) {
	case nil:
		b.WriteString("all")
	case And:
		writeJoined(b, f, "and", "all", precedenceAnd, within)
	case Or:
		writeJoined(b, f, "or", "none", precedenceOr, within)
	case Not:
		b.WriteString("not ")
		write(b, f.Filter, precedenceUnary)
	case Mentions:
		writeMentions(b, f)
	case Each:
		b.WriteString(f.Group + "(")
		write(b, f.Filter, precedenceOr)
		b.WriteString(")")
	default:
		writeCondition(b, f)
	}
}

func writeJoined(b *strings.Builder, fs []Filter, word, empty string, precedence, within int) {
	switch len(fs) {
	case 0:
		b.WriteString(empty)
		return
	case 1:
		write(b, fs[0], within)
		return
	}
	if field, values, ok := asDiffers(fs, word); ok {
		writeDiffers(b, field, values)
		return
	}
	if within > precedence {
		b.WriteString("(")
		defer b.WriteString(")")
	}
	for i, sub := range fs {
		if i > 0 {
			b.WriteString(" " + word + " ")
		}
		write(b, sub, precedence+1)
	}
}

// asDiffers recognises what Differs builds, which has a shorter form.
func asDiffers(fs []Filter, word string) (field string, values []Value, ok bool) {
	if word != "and" || len(fs) != 2 {
		return "", nil, false
	}
	exists, isExists := fs[0].(Exists)
	not, isNot := fs[1].(Not)
	if !isExists || !isNot {
		return "", nil, false
	}
	switch inner := not.Filter.(type) {
	case Eq:
		values = []Value{inner.Value}
	case In:
		values = inner.Values
	default:
		return "", nil, false
	}
	return exists.Field, values, FieldOf(not.Filter) == exists.Field && len(values) > 0
}

func writeDiffers(b *strings.Builder, field string, values []Value) {
	if len(values) == 1 {
		b.WriteString(field + " != " + literal(values[0]))
		return
	}
	b.WriteString(field + " not in ")
	writeList(b, values)
}

func writeList(b *strings.Builder, values []Value) {
	b.WriteString("(")
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(literal(v))
	}
	b.WriteString(")")
}

func writeMentions(b *strings.Builder, f Mentions) {
	b.WriteString("mentions ")
	if f.Part != "" {
		b.WriteString("in " + quoted(f.Part) + " ")
	}
	if len(f.Phrases) == 0 {
		b.WriteString("any")
		return
	}
	writePhrases(b, f.Phrases)
	if len(f.Near) > 0 {
		b.WriteString(" near ")
		writePhrases(b, f.Near)
		b.WriteString(" within " + strconv.Itoa(f.Within))
	}
}

func writePhrases(b *strings.Builder, phrases []string) {
	texts := make([]string, len(phrases))
	for i, p := range phrases {
		texts[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p) + `"`
	}
	if len(texts) == 1 {
		b.WriteString(texts[0])
		return
	}
	b.WriteString("(" + strings.Join(texts, ", ") + ")")
}

func writeCondition(b *strings.Builder, f Filter) {
	switch f := f.(type) {
	case Eq:
		b.WriteString(f.Field + " = " + literal(f.Value))
	case In:
		b.WriteString(f.Field + " in ")
		writeList(b, f.Values)
	case Exists:
		b.WriteString(f.Field + " exists")
	case Contains:
		b.WriteString(f.Field + " contains " + quoted(f.Sub))
	case Range:
		writeRange(b, f)
	}
}

func writeRange(b *strings.Builder, f Range) {
	if from, to, ok := f.Days(); ok && f.kind() == Time {
		writeDays(b, f, from.IsZero(), to.IsZero(), OfTime(from).String(), OfTime(to).String())
		return
	}
	switch {
	case f.Hi.IsZero():
		b.WriteString(f.Field + map[bool]string{true: " > ", false: " >= "}[f.LoExcl] + literal(f.Lo))
	case f.Lo.IsZero():
		b.WriteString(f.Field + map[bool]string{true: " < ", false: " <= "}[f.HiExcl] + literal(f.Hi))
	default: // one between, not two conditions: of a list the same value must satisfy both
		b.WriteString(f.Field + " between " + map[bool]string{true: "above "}[f.LoExcl] + literal(f.Lo) +
			" and " + map[bool]string{true: "below "}[f.HiExcl] + literal(f.Hi))
	}
}

func writeDays(b *strings.Builder, f Range, openFrom, openTo bool, from, to string) {
	switch {
	case openFrom:
		b.WriteString(f.Field + " <= " + to)
	case openTo:
		b.WriteString(f.Field + " >= " + from)
	case from == to:
		b.WriteString(f.Field + " = " + from)
	default:
		b.WriteString(f.Field + " between " + from + " and " + to)
	}
}

func (f Range) kind() Kind {
	if !f.Lo.IsZero() {
		return f.Lo.Kind()
	}
	return f.Hi.Kind()
}

var bareWord = regexp.MustCompile(`^[\p{L}\p{N}_.:+/'&-]+$`)

var reserved = map[string]bool{"and": true, "or": true, "not": true, "in": true, "between": true, "contains": true, "exists": true, "all": true, "none": true, "above": true, "below": true}

// literal writes a value so that it is read back as itself: an instant always with
// its time of day, because a bare date stands for the whole day.
func literal(v Value) string {
	if v.Kind() == Time {
		return v.Time().Format("2006-01-02T15:04:05.999999Z07:00")
	}
	return quoted(v.String())
}

func quoted(s string) string {
	if bareWord.MatchString(s) && !reserved[strings.ToLower(s)] {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
