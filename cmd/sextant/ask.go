package main

import (
	"context"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
)

// askCommand answers one question. Its exit code tells how the question ended.
type askCommand struct {
	jsonFlag
	exports
	Collection  []string `help:"Look in this collection only; may be repeated." placeholder:"NAME" sep:"none"`
	Filter      string   `help:"A further condition, such as \"state = AK and event_date >= 2010-01-01\"." placeholder:"EXPR"`
	AsOf        string   `help:"Day that relative dates are counted from; today otherwise." placeholder:"YYYY-MM-DD"`
	Rerank      string   `help:"Whether a model reads question and passage together and orders passages anew: ${enum}." enum:"none,cross_encoder" default:"none" placeholder:"MODE"`
	Refine      string   `help:"How the passages an answer is written from are chosen: ${enum}." enum:"none,dedup,filter,synthesize" default:"dedup" placeholder:"MODE"`
	Traditional bool     `help:"Answer by plain retrieval: one query, no conditions, nothing checked. For comparison."`
	NoModel     bool     `name:"no-model" help:"Answer without language models, whatever is configured."`
	Rounds      int      `help:"Rounds of retrieval at most; 3 otherwise." placeholder:"N"`
	ModelCalls  int      `name:"model-calls" help:"Calls of language models at most; 24 otherwise." placeholder:"N"`
	TopK        int      `help:"Passages an answer may use, at most 50; 10 otherwise." placeholder:"N"`
	Question    []string `arg:"" help:"The question, in plain words."`
}

// Help implements kong's HelpProvider.
func (askCommand) Help() string {
	return "Exit codes: 0 answered, wholly or in part; 3 nothing matches the conditions; 4 not enough evidence; 5 not a question for these collections; " +
		"6 it could mean several things; 7 a limit was reached; 8 a source cannot be reached; 1 failure; 2 wrong usage."
}

// Run asks.
func (c *askCommand) Run(ctx context.Context, s *session) error {
	if err := c.check(); err != nil {
		return err
	}
	q := sextant.Question{Text: strings.Join(c.Question, " "), Collections: c.Collection, FilterText: c.Filter, TopK: c.TopK, Rerank: c.Rerank, Refine: c.Refine, NoModel: c.NoModel, Limits: sextant.Limits{Rounds: c.Rounds, ModelCalls: c.ModelCalls}}
	if c.Traditional {
		q.Mode = sextant.Traditional
	}
	if c.AsOf != "" {
		day, err := time.Parse(time.DateOnly, c.AsOf)
		if err != nil {
			return usage("--as-of is %q, which is no date; write it as year-month-day: 2012-07-04.", c.AsOf)
		}
		q.AsOf = day
	}
	r, done, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer done()
	answer, err := r.Ask(ctx, q)
	if err != nil {
		return err
	}
	if err := s.print(answer, func(p *page) { writeAnswer(p, &answer.value) }); err != nil {
		return err
	}
	if err := c.write(ctx, r, &answer.value); err != nil {
		return err
	}
	if code := answer.value.Status.ExitCode(); code != exitOK {
		return exit(code)
	}
	return nil
}
