// Command cases makes the file that package rerank weighs rerankers on:
//
//	go run ./rerank/cases -without SAMPLE.jsonl NARRATIVES.jsonl.gz... > rerank/cases.jsonl.gz
//
// It reads accident reports as JSON lines with event_id, narrative and probable_cause (works of the
// US National Transportation Safety Board, in the public domain), cuts the narratives into
// pieces, and asks for each cause with words and meaning together, as retrieval does. A case
// is a cause, the six pieces found first, and which of them are of the same event. Kept are
// the first where one is, wherever it stands: were those picked that retrieval gets wrong,
// any change would look like a gain. Reports of the sample are left out: they are what
// ranking is measured on.
package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed/local"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/rerank"
)

const (
	perFile    = 250 // reports read of each file
	words      = 70  // of a piece
	candidates = 6
	most       = 48 // cases
)

func main() {
	without := flag.String("without", "", "JSON lines with reports to leave out")
	flag.Parse()
	if err := run(context.Background(), *without, flag.Args()); err != nil {
		log.Fatal("cases: ", err)
	}
}

type report struct {
	ID        string `json:"event_id"`
	Narrative string `json:"narrative"`
	Cause     string `json:"probable_cause"`
}

// A corpus is pieces of reports, found by words and by meaning.
type corpus struct {
	owner   []int
	texts   []string
	vectors [][]float32
	index   *lexical.Index
	encoder *local.Embedder
}

func run(ctx context.Context, without string, files []string) error {
	sample, err := os.ReadFile(without)
	if err != nil {
		return err
	}
	var reports []report
	for _, file := range files {
		some, err := read(file, string(sample))
		if err != nil {
			return err
		}
		reports = append(reports, some...)
	}
	slices.SortFunc(reports, byHash) // so that cases are of all files
	c, err := newCorpus(ctx, reports)
	if err != nil {
		return err
	}
	var out []rerank.Case
	for i, r := range reports {
		k, err := c.find(ctx, r.Cause, i)
		if err != nil {
			return err
		}
		if slices.Contains(k.Answer, true) && len(out) < most {
			out = append(out, k)
		}
	}
	return write(out)
}

// read takes the reports whose id's hash is smallest, so that a file's order means nothing.
func read(file, sample string) ([]report, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var out []report
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if n := len(strings.Fields(r.Cause)); n >= 8 && n <= 40 && len(r.Narrative) > 600 && !strings.Contains(sample, `"`+r.ID+`"`) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, byHash)
	return out[:min(perFile, len(out))], lines.Err()
}

func byHash(a, b report) int { return cmp.Compare(hash(a.ID), hash(b.ID)) }

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

func newCorpus(ctx context.Context, reports []report) (*corpus, error) {
	c := &corpus{index: lexical.New(lexical.English())}
	batch := c.index.NewBatch()
	for i, r := range reports {
		all := strings.Fields(r.Narrative)
		for at := 0; at < len(all); at += words {
			at = min(at, max(0, len(all)-words)) // the last piece is as long as the others: length shall tell nothing
			text := strings.Join(all[at:min(at+words, len(all))], " ")
			if err := batch.Add(uint32(len(c.texts)), lexical.Field{Text: text, Weight: 1}); err != nil {
				return nil, err
			}
			c.owner, c.texts = append(c.owner, i), append(c.texts, text)
		}
	}
	if err := batch.Commit(); err != nil {
		return nil, err
	}
	var err error
	if c.encoder, err = local.New(bert.Options{}); err != nil {
		return nil, err
	}
	c.vectors, err = c.encoder.Embed(ctx, c.texts)
	return c, err
}

// find returns the case of a query whose answers are the pieces of one report.
func (c *corpus) find(ctx context.Context, query string, owner int) (rerank.Case, error) {
	vector, err := c.encoder.EmbedQuery(ctx, query)
	if err != nil {
		return rerank.Case{}, err
	}
	meaning, byWords := make([]float64, len(c.texts)), make([]float64, len(c.texts))
	for i, v := range c.vectors {
		for j := range v {
			meaning[i] += float64(v[j]) * float64(vector[j])
		}
	}
	for _, h := range c.index.Search(lexical.English().Query(query), lexical.DefaultBM25, nil, 100).Hits {
		byWords[h.Row] = float64(h.Score)
	}
	standardize(meaning)
	standardize(byWords)
	order := make([]int, len(c.texts))
	for i := range order {
		order[i] = i
		meaning[i] += byWords[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(meaning[b], meaning[a]) })
	k := rerank.Case{Query: query}
	for _, i := range order[:candidates] {
		k.Texts = append(k.Texts, c.texts[i])
		k.Retrieval = append(k.Retrieval, math.Round(1000*meaning[i])/1000)
		k.Answer = append(k.Answer, c.owner[i] == owner)
	}
	return k, nil
}

func standardize(x []float64) {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	for i := range x {
		x[i] = (x[i] - mean) / (math.Sqrt(variance) + 1e-12)
	}
}

func write(cases []rerank.Case) error {
	z, err := gzip.NewWriterLevel(os.Stdout, gzip.BestCompression)
	if err != nil {
		return err
	}
	e := json.NewEncoder(z)
	for _, c := range cases {
		if err := e.Encode(c); err != nil {
			return err
		}
	}
	return z.Close()
}
