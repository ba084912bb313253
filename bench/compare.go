package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

// wanted is how many hits every question asks for.
const wanted = 10

// contender is an engine in one comparison.
type contender struct {
	name   string
	bar    float64 // how many times slower than the first contender it must be; 0 is no bar
	cost   cost
	ask    func(question int) (rows []int, err error)
	recall func(question int, rows []int) float64 // the share of the right hits that rows has

	published func(question int, rows []int) float64 // see contest; may be nil
}

// cost is what it took to have an engine ready.
type cost struct {
	build  time.Duration
	memory int64 // bytes resident after building and some questions, above before; 0 where unknown
}

// comparison is the same questions put to several contenders, who take turns.
type comparison struct {
	name       string
	title      string
	questions  int
	block      int // questions in a turn
	contenders []contender
}

// result is a comparison as measured.
type result struct {
	name, title string
	rounds      int
	lines       []line
}

// line is what one contender did.
type line struct {
	contender
	took    []time.Duration   // of every question, sorted
	medians []time.Duration   // of each round
	work    []time.Duration   // processor time of a question, in each round; then sorted
	times   map[string]spread // how many times slower than the contender of that name
	right   float64           // mean recall
	as      float64           // mean of published
}

// spread is a figure of every round: its median, lowest and highest.
type spread struct{ median, low, high float64 }

// run gives every contender its turn in every round: one question that is not counted,
// for the caches to hold its data and not its neighbour's, then the block. Engines are
// compared within a round, which is a moment shared by all; each round another one begins.
// On a busy machine that still favours short questions, which end before another process
// is let in; processor time tells.
func (c *comparison) run(ctx context.Context, rounds int, limit time.Duration, log io.Writer) (result, error) {
	lines := make([]line, len(c.contenders))
	for i, contender := range c.contenders {
		lines[i].contender = contender
	}
	start, done := time.Now(), 0
	for done < rounds && len(lines) > 0 && (done == 0 || time.Since(start) < limit) {
		for i := range lines {
			if err := ctx.Err(); err != nil {
				return result{}, err
			}
			if err := lines[(done+i)%len(lines)].turn(c, done); err != nil {
				return result{}, err
			}
		}
		done++
	}
	for i := range lines {
		lines[i].settle()
		for _, other := range lines[:i] {
			lines[i].times[other.name] = ratios(lines[i].medians, other.medians)
		}
	}
	fmt.Fprintf(log, "%s: %d rounds in %.0f s\n", c.name, done, time.Since(start).Seconds())
	return result{name: c.name, title: c.title, rounds: done, lines: lines}, nil
}

// turn asks the questions of a round.
func (l *line) turn(c *comparison, round int) error {
	runtime.GC() // what others left behind is not this one's to clear up
	first := round * c.block
	if _, err := l.ask((first + c.questions - 1) % c.questions); err != nil {
		return fmt.Errorf("%s of %s: %w", c.name, l.name, err)
	}
	took, found := make([]time.Duration, c.block), make([][]int, c.block)
	before := processor()
	for i := range c.block {
		var err error
		start := time.Now()
		found[i], err = l.ask((first + i) % c.questions)
		took[i] = time.Since(start)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", c.name, l.name, err)
		}
	}
	l.work = append(l.work, (processor()-before)/time.Duration(c.block))
	for i, rows := range found {
		l.judge((first+i)%c.questions, rows)
	}
	slices.Sort(took)
	l.medians = append(l.medians, percentile(took, 50))
	l.took = append(l.took, took...)
	return nil
}

func (l *line) judge(question int, rows []int) {
	l.right += l.recall(question, rows)
	if l.published != nil {
		l.as += l.published(question, rows)
	}
}

func (l *line) settle() {
	slices.Sort(l.took)
	slices.Sort(l.work)
	asked := float64(max(1, len(l.took)))
	l.right, l.as = l.right/asked, l.as/asked
	l.times = map[string]spread{}
}

// percentile is the nearest rank of sorted durations; 0 of none.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*p/100]
}

// ratios divides the figures of each round.
func ratios(a, b []time.Duration) spread {
	each := make([]float64, len(a))
	for i := range a {
		each[i] = float64(a[i]) / float64(max(1, b[i]))
	}
	slices.Sort(each)
	n := len(each)
	return spread{median: (each[(n-1)/2] + each[n/2]) / 2, low: each[0], high: each[n-1]}
}
