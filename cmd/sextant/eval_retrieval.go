package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/adapt"
	"github.com/sextant-rag/sextant/eval"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/rerank"
	"github.com/sextant-rag/sextant/retrieve"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/tune"
)

// retrievalFlags are those of eval retrieval.
type retrievalFlags struct {
	Split  string  `help:"Which judgements of the data set: test otherwise. SciFact has train too." placeholder:"NAME"`
	Half   string  `help:"Only the first or the second half of the queries, by a hash of their ids." enum:",first,second" default:"" placeholder:"HALF"`
	Alpha  float64 `help:"Share of meaning in the fusion, instead of the encoder's own." placeholder:"SHARE"`
	Rerank bool    `help:"Also measure what reranking makes of it, as it is set up."`
	Tune   string  `help:"Also measure after tuning on pairs: \"own\", the titles of the data set itself, or narratives, those of the data set left out." placeholder:"PAIRS"`
	Pairs  int     `help:"At most so many pairs; 4,000 otherwise." default:"4000" placeholder:"N"`
	Write  string  `help:"Folder to write the rankings to, to be committed: eval/rankings." placeholder:"DIR" type:"path"`
}

// retrievalReport is the result of eval retrieval.
type retrievalReport struct {
	Set       string        `json:"set"`
	Documents int           `json:"documents"`
	Queries   int           `json:"queries"`
	Encoder   string        `json:"encoder"`
	Methods   []eval.Ranked `json:"methods"`
	Tuned     *tune.Report  `json:"tuned,omitempty"`
	Moved     int           `json:"moved"` // queries whose first five documents are not the committed ones
}

// The ways of searching that are compared.
const (
	byWords   = "words"
	byMeaning = "meaning"
	byBoth    = "both"
	byTuned   = "both, tuned"
	reranked  = "reranked"
)

// retrieval measures how well documents are found.
func (c *evalCommand) retrieval(ctx context.Context, s *session) error {
	set, err := eval.OpenJudged(c.File, c.Split)
	if err == nil {
		set, err = set.Of(eval.Half(c.Half))
	}
	if err != nil {
		return &sextant.Error{Code: sextant.CodeBadRequest, Op: "eval retrieval", Message: fmt.Sprintf("The data set %s cannot be read: %v.", c.File, err),
			Hint: "It is a folder in the layout of BEIR (corpus.jsonl, queries.jsonl, qrels.tsv) or NTSB narratives as JSON lines."}
	}
	r, err := s.measureRetrieval(ctx, set, c.retrievalFlags)
	if err != nil {
		return err
	}
	if err := s.print(reply[retrievalReport]{value: r}, func(p *page) { writeRetrieval(p, &r) }); err != nil {
		return err
	}
	if r.Methods[len(r.Methods)-1].Mean.NDCG < c.Floor {
		return exit(exitFailure)
	}
	return nil
}

// measureRetrieval takes the data set in, in a folder of its own below the data folder
// where the next run finds it, and searches it in three ways.
func (s *session) measureRetrieval(ctx context.Context, set eval.Judged, flags retrievalFlags) (retrievalReport, error) {
	out := retrievalReport{Set: set.Name, Documents: len(set.Documents), Queries: len(set.Queries)}
	enc, err := s.openEncoder(ctx)
	if err != nil {
		return out, err
	}
	st, err := s.openFolder(ctx, filepath.Join(s.config.Data, "eval", folderOf(set)))
	if err != nil {
		return out, err
	}
	defer st.Close()
	job := ingest.Job{Store: st, Collection: set.Collection(), Source: set.Source()}
	if _, err := (ingest.Encoding{Embedder: enc.Embedder, Missing: enc.missing}).Apply(ctx, &job); err != nil {
		return out, err
	}
	began := time.Now()
	if _, err := s.ingest(ctx, job); err != nil {
		return out, err
	}
	s.terminal.say("%s: %d documents taken in in %s", set.Name, len(set.Documents), time.Since(began).Round(10*time.Millisecond))
	c, err := st.Open(ctx, job.Collection.Name)
	if err != nil {
		return out, err
	}
	const patience = time.Minute // what the encoder earns, not what it earns in time
	methods := map[string]retrieve.Options{byWords: {}}
	order := []string{byWords}
	if enc.Embedder != nil {
		out.Encoder = enc.Fingerprint().String()
		methods[byMeaning] = retrieve.Options{Encoder: enc.Embedder, Alpha: 1, Patience: patience}
		methods[byBoth] = retrieve.Options{Encoder: enc.Embedder, Alpha: flags.Alpha, Patience: patience}
		order = append(order, byMeaning, byBoth)
	}
	if flags.Tune != "" && enc.Embedder != nil {
		report, err := s.tuneSet(ctx, c, enc.Embedder, set, flags)
		if err != nil {
			return out, err
		}
		out.Tuned = &report
		methods[byTuned] = retrieve.Options{Encoder: enc.Embedder, Alpha: flags.Alpha, Patience: patience, Adapt: func(context.Context, sextant.Collection) (adapt.Map, string, error) { return report.Map, "", nil }}
		order = append(order, byTuned)
	}
	for _, name := range order {
		ranked, err := eval.Rank(ctx, set, name, finding(c, retrieve.New(methods[name]), nil))
		if err != nil {
			return out, err
		}
		for i := range out.Methods {
			ranked.Compare(&out.Methods[i])
		}
		out.Methods = append(out.Methods, ranked)
	}
	last := &out.Methods[min(2, len(out.Methods)-1)] // without tuning: that is the product as it comes
	if out.Moved, err = last.CompareCommitted(set); err != nil {
		return out, err
	}
	if flags.Rerank {
		judge, err := s.reranker(ctx, s.config.Data, enc)
		if err != nil || judge == nil {
			return out, cmp.Or(err, usage("Nothing is set up that reranks."))
		}
		judge.Patience = time.Minute // what it earns, not what it earns in time
		ranked, err := eval.Rank(ctx, set, reranked, finding(c, retrieve.New(methods[order[len(order)-1]]), judge))
		if err != nil {
			return out, err
		}
		ranked.Compare(last)
		out.Methods = append(out.Methods, ranked)
	}
	if flags.Write == "" {
		return out, nil
	}
	var rankings bytes.Buffer
	if err := eval.WriteRankings(&rankings, set, *last); err != nil {
		return out, err
	}
	return out, os.WriteFile(filepath.Join(flags.Write, filepath.Base(eval.RankingFile(set.Name))), rankings.Bytes(), 0o644)
}

// tuneSet learns from pairs that are not the questions to be measured.
func (s *session) tuneSet(ctx context.Context, c store.Collection, e embed.Embedder, set eval.Judged, flags retrievalFlags) (tune.Report, error) {
	pairs := tune.Pairs{Kind: "titles", Strength: 0.5}
	if flags.Tune == "own" {
		for _, d := range set.Documents {
			if d.Title != "" {
				pairs.All = append(pairs.All, tune.Pair{Query: d.Title, Text: d.Text})
			}
		}
	} else {
		known := map[string]bool{}
		for _, d := range set.Documents {
			known[d.ID] = true
		}
		others, err := eval.OpenJudged(flags.Tune, "")
		if err != nil {
			return tune.Report{}, err
		}
		pairs = tune.Pairs{Kind: "causes", Strength: 1}
		for i, d := range others.Documents {
			if !known[d.ID] {
				pairs.All = append(pairs.All, tune.Pair{Query: others.Queries[i].Text, Text: d.Text, Document: sextant.DocumentID(d.ID)})
			}
		}
	}
	pairs.All = tune.Sampled(pairs.All, flags.Pairs)
	return tune.Learn(ctx, c, e, pairs, s.tuneProgress())
}

// folderOf names the data set's documents, which all its splits and halves share.
func folderOf(set eval.Judged) string {
	digest := ""
	inputs, err := set.Source().Inputs(context.Background())
	if err == nil && len(inputs) == 1 {
		digest, err = inputs[0].Digest(context.Background())
	}
	if err != nil {
		return "set"
	}
	return digest[:16]
}

// rankedDeep is how many documents of a ranking are measured.
const rankedDeep = 100

// finding searches a collection for documents. With judge, the best are reranked.
func finding(c store.Collection, r *retrieve.Retriever, judge *rerank.Stage) eval.Find {
	return func(ctx context.Context, query string) ([]string, error) {
		out, err := r.Search(ctx, c, retrieve.Query{Text: query, Filter: filter.All, Limit: rankedDeep, PerDocument: 1})
		if err != nil {
			return nil, err
		}
		if len(out.Degraded) > 0 && r.Model() != "" {
			return nil, errors.New(out.Degraded[0].Reason) // a measurement is of what it says or nothing
		}
		if judge != nil {
			better, err := judge.Run(ctx, query, out.Passages)
			if err != nil {
				return nil, err
			}
			if !better.Applied && len(out.Passages) > 1 {
				return nil, errors.New(strings.Join(better.Degraded, " "))
			}
			out.Passages = better.Passages
		}
		ids := make([]string, len(out.Passages))
		for i, p := range out.Passages {
			ids[i] = eval.NativeID(p.DocumentID)
		}
		return ids, nil
	}
}

func writeRetrieval(p *page, r *retrievalReport) {
	p.text("", fmt.Sprintf("%s: %d documents, %d queries", r.Set, r.Documents, r.Queries))
	t := table{head: []string{"by", "nDCG@10", "recall@2", "@10", "@100", "MRR@10", "MAP", "p50"}, right: []bool{false, true, true, true, true, true, true, true}}
	for _, m := range r.Methods {
		q := m.Mean
		row := []string{m.Method}
		for _, x := range []float64{q.NDCG, q.Recall2, q.Recall10, q.Recall, q.MRR, q.MAP} {
			row = append(row, fmt.Sprintf("%.4f", x))
		}
		t.rows = append(t.rows, append(row, m.P50.Round(10*time.Microsecond).String()))
	}
	p.table(t)
	if r.Tuned != nil {
		writeTuning(p, r.Tuned)
	}
	for _, m := range r.Methods {
		for _, other := range []string{byWords, byMeaning, byBoth, "committed"} {
			if d, ok := m.Against[other]; ok {
				p.text("", fmt.Sprintf("%s minus %s: %+.4f, 95 %% between %+.4f and %+.4f", m.Method, other, d.Mean, d.Low, d.High))
			}
		}
	}
	if r.Moved > 0 {
		p.text("", fmt.Sprintf("%d queries have other documents in their first five places than committed.", r.Moved))
	}
}
