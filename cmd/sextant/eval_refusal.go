package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/eval"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/retrieve"
)

// refusal measures whether it can be told that the documents which decide a claim are not
// held. The documents are taken in beside the data, where the next run finds them.
func (c *evalCommand) refusal(ctx context.Context, s *session) error {
	set, err := eval.OpenJudged(c.File, "")
	if err != nil {
		return claimsProblem(c.File, err)
	}
	claims, err := eval.OpenClaims(c.File, c.Split)
	if err != nil {
		return claimsProblem(c.File, err)
	}
	report, err := s.measureRefusal(ctx, set, claims)
	if err != nil {
		return err
	}
	if err := s.print(reply[eval.Refusal]{value: report}, func(p *page) { writeRefusal(p, report) }); err != nil {
		return err
	}
	if report.AUC < c.Floor {
		return exit(exitFailure)
	}
	return nil
}

func claimsProblem(dir string, err error) error {
	return &sextant.Error{Code: sextant.CodeBadRequest, Op: "eval refusal", Message: fmt.Sprintf("The data set %s cannot be read: %v.", dir, err),
		Hint: "It is a folder in the layout of SciFact: corpus.jsonl, queries.jsonl, qrels and claims.jsonl."}
}

func (s *session) measureRefusal(ctx context.Context, set eval.Judged, claims []eval.Claim) (eval.Refusal, error) {
	enc, err := s.openEncoder(ctx)
	if err != nil {
		return eval.Refusal{}, err
	}
	st, err := s.openFolder(ctx, filepath.Join(s.config.Data, "eval", folderOf(set)))
	if err != nil {
		return eval.Refusal{}, err
	}
	defer st.Close()
	job := ingest.Job{Store: st, Collection: set.Collection(), Source: set.Source()}
	if _, err := (ingest.Encoding{Embedder: enc.Embedder, Missing: enc.missing}).Apply(ctx, &job); err != nil {
		return eval.Refusal{}, err
	}
	if _, err := s.ingest(ctx, job); err != nil {
		return eval.Refusal{}, err
	}
	c, err := st.Open(ctx, job.Collection.Name)
	if err != nil {
		return eval.Refusal{}, err
	}
	search := retrieve.New(retrieve.Options{Encoder: enc.Embedder, Patience: time.Minute})
	const found = 20 // so that ten are left without the claim's own
	return eval.Refuse(ctx, claims, func(ctx context.Context, claim string) ([]sextant.Passage, error) {
		r, err := search.Search(ctx, c, retrieve.Query{Text: claim, Filter: filter.All, Limit: found, PerDocument: 2})
		return r.Passages, err
	})
}

func writeRefusal(p *page, r eval.Refusal) {
	p.text("", fmt.Sprintf("refusal: %d claims with and without their documents, area under the curve %.3f", r.Claims, r.AUC))
	t := table{head: []string{"refused under", "falsely", "rightly"}, right: []bool{true, true, true}}
	for _, x := range r.Curve {
		t.rows = append(t.rows, []string{fmt.Sprintf("%.3f", x.Score), fmt.Sprintf("%.3f", x.False), fmt.Sprintf("%.3f", x.Recall)})
	}
	p.table(t)
}
