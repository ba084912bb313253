package eval

import (
	"slices"
	"strings"
)

// atoms are the single conditions of a canonical set; the field is the first word, the
// operator the second.
func atoms(canonical string) []string {
	if canonical == "" {
		return nil
	}
	return strings.Split(canonical, " & ")
}

// kindOf splits a condition into its field and operator.
func kindOf(atom string) (field, op string) {
	words := strings.SplitN(atom, " ", 3)
	if len(words) < 2 {
		return atom, ""
	}
	return words[0], words[1]
}

// tally counts what was read against the right reading that is nearest to it, by field and
// by operator, and pairs what is wrong with what is missed of the same field.
func (r *Report) tally(got string, right []string) {
	read := atoms(got)
	want := atoms(nearest(read, right))
	var wrong, missed []string
	for _, a := range read {
		if slices.Contains(want, a) {
			r.add(a, Tally{Right: 1})
		} else {
			wrong = append(wrong, a)
			r.add(a, Tally{Wrong: 1})
		}
	}
	for _, a := range want {
		if !slices.Contains(read, a) {
			missed = append(missed, a)
			r.add(a, Tally{Missed: 1})
		}
	}
	r.confuse(wrong, missed)
}

// nearest is the right reading with the fewest differences; of equals the first, which is
// the one the set prefers.
func nearest(read []string, right []string) string {
	best, least := "", -1
	for _, candidate := range right {
		want := atoms(candidate)
		n := len(want) + len(read)
		for _, a := range want {
			if slices.Contains(read, a) {
				n -= 2
			}
		}
		if least < 0 || n < least {
			best, least = candidate, n
		}
	}
	return best
}

func (r *Report) add(atom string, t Tally) {
	field, op := kindOf(atom)
	for key, m := range map[string]map[string]Tally{field: r.ByField, op: r.ByOp} {
		have := m[key]
		m[key] = Tally{have.Right + t.Right, have.Wrong + t.Wrong, have.Missed + t.Missed}
	}
}

// confuse names what stands for what: a wrong condition beside a missed one of its field,
// or nothing.
func (r *Report) confuse(wrong, missed []string) {
	for _, a := range wrong {
		field, op := kindOf(a)
		at := slices.IndexFunc(missed, func(m string) bool { f, _ := kindOf(m); return f == field })
		if at < 0 {
			r.Confused[field+" "+op+" for nothing"]++
			continue
		}
		_, meant := kindOf(missed[at])
		missed = slices.Delete(slices.Clone(missed), at, at+1)
		r.Confused[field+" "+op+" for "+field+" "+meant]++
	}
	for _, m := range missed {
		field, op := kindOf(m)
		r.Confused["nothing for "+field+" "+op]++
	}
}
