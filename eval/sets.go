package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
)

// Sets are the kinds of data set that can be run.
var Sets = []string{"constraints", "counts", "intents", "answers"}

// Run asks every question of a set and scores the answers.
func Run(ctx context.Context, a Asker, set string, items []Item) (Report, error) {
	score, ok := map[string]func(*Report, Item, sextant.Answer) (bool, error){"constraints": constraints, "counts": counts, "intents": intents, "answers": answers}[set]
	if !ok {
		return Report{}, &sextant.Error{Code: sextant.CodeBadRequest, Op: "eval", Message: fmt.Sprintf("There is no kind of data set %q.", set), Hint: "There are: " + strings.Join(Sets, ", ") + "."}
	}
	r := Report{Set: set, Questions: len(items), Misses: []Miss{}, Figures: map[string]float64{}, ByField: map[string]Tally{}, ByOp: map[string]Tally{}, Confused: map[string]int{}}
	var times []time.Duration
	for _, item := range items {
		answer, took, err := ask(ctx, a, item)
		if err != nil {
			return r, err
		}
		times = append(times, took)
		right, err := score(&r, item, answer)
		if err != nil {
			return r, err
		}
		if right {
			r.Right++
		}
	}
	slices.Sort(times)
	if n := len(times); n > 0 {
		r.P50, r.P99 = times[n/2], times[min(n-1, n*99/100)]
	}
	return r, nil
}

func (r *Report) miss(item Item, got, want string) {
	r.Misses = append(r.Misses, Miss{item.ID, item.Question, got, want})
}

// constraints scores the exact set of conditions, and counts the questions with one
// that no right reading has.
func constraints(r *Report, item Item, a sextant.Answer) (bool, error) {
	right, err := item.accepted()
	if err != nil {
		return false, err
	}
	got := read(a.Ledger)
	allowed := item.allowedFields()
	if slices.ContainsFunc(got, func(c Constraint) bool { return !allowed[c.Field] }) {
		r.Figures["questions with a false condition"]++
	}
	r.tally(canonical(got), right)
	if slices.Contains(right, canonical(got)) {
		return true, nil
	}
	r.miss(item, canonical(got), strings.Join(right, "  or  "))
	return false, nil
}

// counts scores the figure: for a count the total under the default rule or another
// defensible one, for a table its rows, for no data the status with the smallest
// relaxation.
func counts(r *Report, item Item, a sextant.Answer) (bool, error) {
	var right bool
	switch {
	case item.Count == 0 && item.Kind == "count":
		right = a.Status == sextant.NoData && relaxed(item, a)
	case item.Kind == "group", item.Kind == "top", item.Kind == "compare":
		right = slices.ContainsFunc(a.Computed, func(c sextant.Computed) bool { return tabled(item, c) })
	case item.Kind == "first", item.Kind == "last":
		right = slices.ContainsFunc(a.Computed, func(c sextant.Computed) bool {
			return slices.ContainsFunc(item.EventIDs, func(id string) bool { return slices.Contains(c.IDs, id) })
		})
	case item.Kind == "share":
		right = slices.ContainsFunc(a.Computed, func(c sextant.Computed) bool { return c.Percent == fmt.Sprintf("%.1f", item.Percent) })
	case item.Kind == "sum", item.Kind == "mean", item.Kind == "distinct":
		right = slices.ContainsFunc(a.Computed, func(c sextant.Computed) bool {
			return c.Kind == item.Kind && valued(c) == fmt.Sprintf("%g", item.Value)
		})
	default:
		right = slices.ContainsFunc(a.Computed, func(c sextant.Computed) bool { return defensible(item, c.Total) })
	}
	r.alternatives(item, a)
	if a.Status == sextant.NoData && !(item.Count == 0 && item.Kind == "count") {
		r.Figures["false no_data"]++
	}
	if !right {
		got, _ := json.Marshal(a.Computed)
		r.miss(item, string(a.Status)+" "+string(got), fmt.Sprint(item.Kind, " ", item.Count, " ", item.Table))
	}
	return right, nil
}

// valued writes the one number of a sum, a mean or a count of different values.
func valued(c sextant.Computed) string {
	switch c.Kind {
	case "sum":
		return fmt.Sprint(c.Sum)
	case "distinct":
		return fmt.Sprint(c.Distinct)
	}
	n, _ := strconv.ParseFloat(c.Value, 64)
	return fmt.Sprintf("%g", n)
}

// alternatives counts the questions that have other defensible counts, and those of them
// whose method card names every one.
func (r *Report) alternatives(item Item, a sextant.Answer) {
	if len(item.AltCounts) == 0 {
		return
	}
	r.Figures["with other defensible counts"]++
	stated := map[int64]bool{}
	for _, c := range a.Computed {
		stated[c.Total] = true
		for _, o := range c.Method.OtherCounts {
			stated[o.Count] = true
		}
	}
	var missing []string
	for _, rule := range slices.Sorted(maps.Keys(item.AltCounts)) {
		if !stated[item.AltCounts[rule]] {
			missing = append(missing, fmt.Sprintf("%s %d", rule, item.AltCounts[rule]))
		}
	}
	if len(missing) == 0 {
		r.Figures["with all of them on the card"]++
		return
	}
	r.miss(item, "a card without them", "other counts "+strings.Join(missing, ", "))
}

func defensible(item Item, total int64) bool {
	if total == item.Count {
		return true
	}
	for _, n := range item.AltCounts {
		if n == total {
			return true
		}
	}
	return false
}

func relaxed(item Item, a sextant.Answer) bool {
	if len(item.Relaxations) == 0 {
		return true
	}
	for _, want := range item.Relaxations {
		for _, got := range a.Ledger.Relaxations {
			if got.Count == want.Count && slices.Equal(slices.Sorted(slices.Values(got.Drop)), slices.Sorted(slices.Values(want.Drop))) {
				return true
			}
		}
	}
	return false
}

func tabled(item Item, c sextant.Computed) bool {
	want, got := rows(item.Table), rows(c.Rows)
	if item.Kind == "compare" {
		slices.Sort(want)
		slices.Sort(got)
	}
	return len(got) >= len(want) && slices.Equal(got[:len(want)], want)
}

func rows(table [][]any) []string {
	out := make([]string, len(table))
	for i, r := range table {
		if len(r) >= 2 {
			out[i] = strings.ToUpper(fmt.Sprint(r[0])) + " " + fmt.Sprint(r[1])
		}
	}
	return out
}

func intents(r *Report, item Item, a sextant.Answer) (bool, error) {
	right := []string{item.Intent}
	if len(item.Accept) > 0 {
		if err := json.Unmarshal(item.Accept, &right); err != nil {
			return false, fmt.Errorf("eval: %s: accept: %w", item.ID, err)
		}
		right = append(right, item.Intent)
	}
	got := a.Intent
	if a.Status == sextant.OutOfScope {
		got = string(sextant.OutOfScope)
	}
	if slices.Contains(right, got) {
		return true, nil
	}
	r.miss(item, got, strings.Join(right, " or "))
	return false, nil
}
