package check

import (
	"fmt"
	"strings"

	"github.com/sextant-rag/sextant"
)

// figureFault checks a statement that quotes nothing against computed figures: each of its
// numbers must be one of theirs, and in a table the number of the row it names.
func figureFault(text string, computed []sextant.Computed) *fault {
	said := read(text)
	if len(said.quantities) == 0 && len(said.dates) == 0 {
		return faulty(sextant.FaultNoQuote, "it quotes nothing and states no computed figure")
	}
	have := read(figures(computed))
	for _, q := range said.quantities {
		if !q.hint && !have.says(q.value) && !have.numbered(q) {
			return faulty(sextant.FaultComputed, "%s is not among the figures that were computed", q.written)
		}
	}
	for _, d := range said.dates {
		if !have.dated(d) {
			return faulty(sextant.FaultComputed, "%s is not among the figures that were computed", d)
		}
	}
	return rowFault(said, computed)
}

// rowFault finds a number that a table has, but in another row than the one that is named.
// A statement that names one row can only have numbers of that row, or of no row.
func rowFault(said *reading, computed []sextant.Computed) *fault {
	for _, c := range computed {
		var named [][]any
		for _, row := range c.Rows {
			if len(row) > 1 && said.namesKey(fmt.Sprint(row[0])) {
				named = append(named, row)
			}
		}
		if len(named) != 1 {
			continue
		}
		own := read(fmt.Sprintln(named[0]...))
		for _, q := range said.quantities {
			if !q.hint && !own.says(q.value) && !own.numbered(q) && inRows(c.Rows, q.value) && !total(c, q.value) {
				return faulty(sextant.FaultComputed, "%s is not the figure of %v", q.written, named[0][0])
			}
		}
	}
	return nil
}

func (r *reading) namesKey(key string) bool {
	words := lex(key)
	for _, w := range words {
		found := false
		for _, t := range r.tokens {
			found = found || t.lower == w.lower
		}
		if !found {
			return false
		}
	}
	return len(words) > 0
}

func inRows(rows [][]any, value float64) bool {
	for _, row := range rows {
		if read(fmt.Sprintln(row...)).says(value) {
			return true
		}
	}
	return false
}

func total(c sextant.Computed, value float64) bool {
	return float64(c.Total) == value || float64(c.PartCount) == value || float64(c.Sum) == value || float64(c.Distinct) == value
}

// figures writes what was computed as text, one figure a line.
func figures(computed []sextant.Computed) string {
	var b strings.Builder
	for _, c := range computed {
		fmt.Fprintf(&b, "\n%s\n%d %s\n", c.Title, c.Total, c.UnitLabel)
		for _, n := range []int64{c.PartCount, c.Sum, c.Distinct, c.Unknown} {
			if n != 0 {
				fmt.Fprintf(&b, "%d\n", n)
			}
		}
		for _, s := range []string{c.Percent, c.Low, c.High} {
			if s != "" {
				fmt.Fprintf(&b, "%s percent\n", s)
			}
		}
		fmt.Fprintf(&b, "%s\n%s\n%s\n%s\n", c.Value, c.Date, c.Filter, c.Method.Period)
		for _, row := range c.Rows {
			b.WriteString(fmt.Sprintln(row...))
		}
	}
	return b.String()
}
