package eval

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Find returns the ids of the documents found for a query, best first.
type Find func(ctx context.Context, query string) ([]string, error)

// Ranked is what a way of searching found for every query of a data set.
type Ranked struct {
	Method    string                `json:"method"`
	Mean      Quality               `json:"mean"`
	Against   map[string]Difference `json:"against,omitempty"` // nDCG@10 minus that of another method or of what is committed
	P50       time.Duration         `json:"p50_ns"`
	P99       time.Duration         `json:"p99_ns"`
	Rankings  [][]string            `json:"-"` // by query
	Qualities []Quality             `json:"-"`
}

// Rank has every query searched for, one after the other.
func Rank(ctx context.Context, j Judged, method string, find Find) (Ranked, error) {
	r := Ranked{Method: method, Against: map[string]Difference{}}
	var took []time.Duration
	for _, q := range j.Queries {
		start := time.Now()
		ids, err := find(ctx, q.Text)
		if err != nil {
			return r, fmt.Errorf("eval: %s, query %s: %w", j.Name, q.ID, err)
		}
		took = append(took, time.Since(start))
		r.Rankings, r.Qualities = append(r.Rankings, ids), append(r.Qualities, Measure(ids, q.Grades))
	}
	r.Mean = Mean(r.Qualities)
	if slices.Sort(took); len(took) > 0 {
		r.P50, r.P99 = took[len(took)/2], took[len(took)*99/100]
	}
	return r, nil
}

func (r *Ranked) ndcg() []float64 {
	out := make([]float64, len(r.Qualities))
	for i, q := range r.Qualities {
		out[i] = q.NDCG
	}
	return out
}

// Compare notes how r differs from another ranking of the same queries.
func (r *Ranked) Compare(other *Ranked) { r.Against[other.Method] = Bootstrap(other.ndcg(), r.ndcg()) }

//go:embed rankings/*.tsv
var committed embed.FS

// shown is how many ids of a ranking are committed: enough that a reviewer sees what moved.
const shown = 5

// WriteRankings writes what Committed reads: a line for each query with its id, its
// nDCG@10 and the first five documents.
func WriteRankings(w io.Writer, j Judged, r Ranked) error {
	out := bufio.NewWriter(w)
	for i, q := range j.Queries {
		ids := r.Rankings[i][:min(shown, len(r.Rankings[i]))]
		fmt.Fprintf(out, "%s\t%.4f\t%s\n", q.ID, r.Qualities[i].NDCG, strings.Join(ids, "\t"))
	}
	return out.Flush()
}

// RankingFile is where the rankings of a data set are committed, below this package.
func RankingFile(set string) string { return "rankings/" + set + ".tsv" }

// CompareCommitted notes how r differs from the ranking that is committed for the data
// set, and how many queries have other documents in their first five places. It does
// nothing where none is committed.
func (r *Ranked) CompareCommitted(j Judged) (moved int, err error) {
	data, err := committed.ReadFile(RankingFile(j.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	before := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		before[f[0]] = f[1:]
	}
	var old, now []float64
	for i, q := range j.Queries {
		f, ok := before[q.ID]
		if !ok || len(f) == 0 {
			continue
		}
		figure, err := strconv.ParseFloat(f[0], 64)
		if err != nil {
			return 0, fmt.Errorf("eval: %s: %w", RankingFile(j.Name), err)
		}
		old, now = append(old, figure), append(now, r.Qualities[i].NDCG)
		if ids := r.Rankings[i]; !slices.Equal(f[1:], ids[:min(shown, len(ids))]) {
			moved++
		}
	}
	if len(now) > 0 {
		r.Against["committed"] = Bootstrap(old, now)
	}
	return moved, nil
}
