package eval

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
)

// canonical writes a set of constraints so that equal sets are equal strings. What
// counts as equal:
//
//   - "fatal" as severity and one or more killed; one value in a list and the value;
//     one day and a range from it to itself; a state and the state with its country;
//   - models, registrations and airport codes without blanks and punctuation, a code
//     with and without its leading K; case everywhere;
//   - bounds of one field wherever they stand; a model that equals or contains.
func canonical(cs []Constraint) string {
	lo, hi := map[string]string{}, map[string]string{}
	var out []string
	state := slices.ContainsFunc(cs, func(c Constraint) bool { return c.Field == "state" })
	for _, c := range cs {
		c = equivalent(c)
		vs := listed(c.Value)
		if c.Field == "country" && state && len(vs) == 1 && isUnitedStates(vs[0]) {
			continue
		}
		switch c.Op {
		case "between":
			lo[c.Field], hi[c.Field] = plain(c.Field, vs[0]), plain(c.Field, vs[1])
		case "gte":
			lo[c.Field] = plain(c.Field, vs[0])
		case "lte":
			hi[c.Field] = plain(c.Field, vs[0])
		default:
			texts := make([]string, len(vs))
			for i, v := range vs {
				texts[i] = plain(c.Field, v)
			}
			slices.Sort(texts)
			out = append(out, c.Field+" "+c.Op+" "+strings.Join(slices.Compact(texts), "|"))
		}
	}
	bounds := map[string]bool{}
	for f := range lo {
		bounds[f] = true
	}
	for f := range hi {
		bounds[f] = true
	}
	for f := range bounds {
		if lo[f] == hi[f] && !strings.HasSuffix(f, "date") {
			out = append(out, f+" eq "+lo[f])
			continue
		}
		out = append(out, f+" range "+lo[f]+".."+hi[f])
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " & ")
}

func isUnitedStates(v any) bool {
	return slices.Contains([]string{"UNITED STATES", "USA", "US"}, strings.ToUpper(fmt.Sprint(v)))
}

// equivalent rewrites a constraint into the form its equals are compared in.
func equivalent(c Constraint) Constraint {
	vs := listed(c.Value)
	if c.Field == "severity" && (c.Op == "eq" || c.Op == "in") && len(vs) == 1 && strings.EqualFold(fmt.Sprint(vs[0]), "fatal") {
		return Constraint{"fatal_count", "gte", []any{1}}
	}
	dated := strings.HasSuffix(c.Field, "date")
	switch {
	case c.Op == "eq" && len(vs) > 1:
		c.Op = "in"
	case c.Op == "eq" && dated:
		return Constraint{c.Field, "between", []any{vs[0], vs[0]}}
	case c.Op == "in" && dated && len(vs) == 1:
		if pair, ok := vs[0].([]any); ok && len(pair) == 2 {
			return Constraint{c.Field, "between", pair}
		}
	}
	if c.Op == "in" && len(vs) == 1 {
		c.Op = "eq"
	}
	if (c.Op == "eq" || c.Op == "contains") && slices.Contains([]string{"model", "city", "operator", "airport"}, c.Field) {
		c.Op = "match"
	}
	return c
}

func listed(v any) []any {
	if vs, ok := v.([]any); ok {
		return vs
	}
	return []any{v}
}

var (
	notAlphanumeric = regexp.MustCompile(`[^A-Z0-9]`)
	blanks          = regexp.MustCompile(`\s+`)
)

// plain writes one value in the form it is compared in.
func plain(field string, v any) string {
	if pair, ok := v.([]any); ok {
		texts := make([]string, len(pair))
		for i, p := range pair {
			texts[i] = plain(field, p)
		}
		return strings.Join(texts, "..")
	}
	if n, ok := v.(float64); ok {
		v = strconv.FormatFloat(n, 'f', -1, 64) // a million is no 1e+06
	}
	s := strings.ToUpper(strings.TrimSpace(fmt.Sprint(v)))
	switch field {
	case "model", "registration", "airport", "cfr_part":
		s = notAlphanumeric.ReplaceAllString(s, "")
		if field == "airport" && len(s) == 4 && s[0] == 'K' {
			s = s[1:]
		}
	}
	if strings.HasSuffix(field, "date") && len(s) > 10 {
		s = s[:10]
	}
	return blanks.ReplaceAllString(s, " ")
}

// accepted returns the canonical forms of every right reading of an item.
func (i Item) accepted() ([]string, error) {
	out := []string{canonical(i.Constraints)}
	if len(i.Accept) == 0 {
		return out, nil
	}
	var more [][]Constraint
	if err := json.Unmarshal(i.Accept, &more); err != nil {
		return nil, fmt.Errorf("eval: %s: accept: %w", i.ID, err)
	}
	for _, cs := range more {
		out = append(out, canonical(cs))
	}
	return out, nil
}

// allowedFields are the fields some right reading of an item constrains.
func (i Item) allowedFields() map[string]bool {
	var more [][]Constraint
	_ = json.Unmarshal(i.Accept, &more) // accepted has reported a malformed one
	out := map[string]bool{"country": true}
	for _, cs := range append(more, i.Constraints) {
		for _, c := range cs {
			out[c.Field] = true
		}
	}
	if out["severity"] || out["fatal_count"] {
		out["severity"], out["fatal_count"] = true, true
	}
	return out
}

// read turns a ledger into constraints as data sets write them.
func read(l sextant.Ledger) []Constraint {
	out := []Constraint{}
	for _, c := range l.Constraints {
		values := make([]any, len(c.Values))
		for i, v := range c.Values {
			values[i] = v
			if pair, ok := v.([]string); ok {
				values[i] = []any{pair[0], pair[1]}
			}
		}
		out = append(out, Constraint{c.Field, string(c.Op), values})
	}
	return out
}
