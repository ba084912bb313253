package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

type closer interface{ close() error }

// entry is an engine E that takes part in comparisons on data S.
type entry[S any, E closer] struct {
	name string
	in   map[string]float64 // the comparisons, and how many times slower than the first engine it must be there; 0 is no bar
	open func(ctx context.Context, data S, dir string) (E, error)
}

// pick leaves the engines, and of these the comparisons, that -only lets pass.
func pick[S any, E closer](o options, entries []entry[S, E]) []entry[S, E] {
	var picked []entry[S, E]
	for _, e := range entries {
		in := map[string]float64{}
		for comparison, bar := range e.in {
			if o.only == nil || o.only.MatchString(comparison+"/"+e.name) {
				in[comparison] = bar
			}
		}
		if len(in) > 0 {
			picked = append(picked, entry[S, E]{e.name, in, e.open})
		}
	}
	return picked
}

// contest is how an engine is asked and judged in a comparison.
type contest[E any] struct {
	ask    func(engine E, comparison string, question int) (rows []int, err error)
	recall func(comparison string, question int, rows []int) float64
	// published is recall by the formula an engine names, where its own differs; or nil.
	published func(question int, rows []int) float64
}

// enter builds the engine and makes it a contender. What it maps and caches for a few
// questions counts as its memory.
func (e entry[S, E]) enter(ctx context.Context, log io.Writer, data S, dir string, comparisons []*comparison, c contest[E]) (E, error) {
	var cost cost
	before, start := resident(), time.Now()
	engine, err := e.open(ctx, data, dir)
	cost.build = time.Since(start)
	if err != nil {
		return engine, fmt.Errorf("build %s: %w", e.name, err)
	}
	for _, comparison := range comparisons {
		if _, takesPart := e.in[comparison.name]; !takesPart {
			continue
		}
		for i := range min(5, comparison.questions) {
			if _, err := c.ask(engine, comparison.name, i); err != nil {
				engine.close()
				return engine, fmt.Errorf("ask %s: %w", e.name, err)
			}
		}
	}
	cost.memory = resident() - before
	for _, comparison := range comparisons {
		if bar, takesPart := e.in[comparison.name]; takesPart {
			comparison.contenders = append(comparison.contenders, contender{
				name: e.name, bar: bar, cost: cost, published: c.published,
				ask:    func(question int) ([]int, error) { return c.ask(engine, comparison.name, question) },
				recall: func(question int, rows []int) float64 { return c.recall(comparison.name, question, rows) },
			})
		}
	}
	fmt.Fprintf(log, "%s: ready in %.1f s\n", e.name, cost.build.Seconds())
	return engine, nil
}

func runAll(ctx context.Context, o options, comparisons []*comparison, log io.Writer) ([]result, error) {
	var results []result
	for _, c := range comparisons {
		r, err := c.run(ctx, o.rounds, o.limit, log)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// newFolder makes a folder below dir.
func newFolder(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, "*")
}
