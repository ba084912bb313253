// Package eval measures the engine on questions with known right answers, and says
// what it got wrong. Its figures are the ones in docs/evaluation.md.
//
// A data set is a file of JSON lines, one question each; the fields are those of the
// types below. Sets speak the wire's names: a constraint is right when field, operator
// and values say the same, whatever way they are written (see canonical).
package eval

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/sextant-rag/sextant"
)

// Asker is what is measured: the engine, or a server that has one.
type Asker interface {
	Ask(ctx context.Context, q sextant.Question) iter.Seq2[sextant.Event, error]
}

// Constraint is one hard condition of a data set.
type Constraint struct {
	Field string `json:"field"`
	Op    string `json:"op"`
	Value any    `json:"value"`
}

// Item is a question with what is right about it. Which fields count depends on the
// set: constraints, counts, intents or answers.
type Item struct {
	ID            string           `json:"id"`
	Question      string           `json:"question"`
	ReferenceDate string           `json:"reference_date,omitempty"`
	Constraints   []Constraint     `json:"constraints"`
	Accept        json.RawMessage  `json:"accept,omitempty"`
	Kind          string           `json:"kind,omitempty"`
	Count         int64            `json:"count"`
	AltCounts     map[string]int64 `json:"alt_counts,omitempty"`
	Table         [][]any          `json:"table,omitempty"`
	Percent       float64          `json:"percent,omitempty"`
	Value         float64          `json:"value,omitempty"` // of a sum, a mean or a number of different values
	EventIDs      []string         `json:"event_ids,omitempty"`
	Relaxations   []struct {
		Drop  []string `json:"drop"`
		Count int64    `json:"count"`
	} `json:"relaxations,omitempty"`
	Intent string `json:"intent,omitempty"`
	// Of answers: whether the documents tell, and the facts a right answer must hold.
	Answerable bool `json:"answerable,omitempty"`
	KeyFacts   []struct {
		Fact string   `json:"fact"`
		Also []string `json:"also"`
	} `json:"key_facts,omitempty"`
}

// Miss is a question that was got wrong.
type Miss struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Got      string `json:"got"`
	Want     string `json:"want"`
}

// Tally counts single conditions: those read and right, read and wrong, and not read.
type Tally struct {
	Right  int `json:"right"`
	Wrong  int `json:"wrong"`  // in no right reading of the question
	Missed int `json:"missed"` // in the right reading nearest to what was read
}

// Precision is the share of what was read that is right; 1 where nothing was read.
func (t Tally) Precision() float64 { return ratio(t.Right, t.Right+t.Wrong) }

// Recall is the share of what should be read that was; 1 where there was nothing to read.
func (t Tally) Recall() float64 { return ratio(t.Right, t.Right+t.Missed) }

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// Report is the result of one set.
type Report struct {
	Set       string             `json:"set"`
	Questions int                `json:"questions"`
	Right     int                `json:"right"`
	Misses    []Miss             `json:"misses"`
	Figures   map[string]float64 `json:"figures"` // further measures, by name
	ByField   map[string]Tally   `json:"by_field,omitempty"`
	ByOp      map[string]Tally   `json:"by_op,omitempty"`
	Confused  map[string]int     `json:"confused,omitempty"` // "field op: read for field op", by how often
	P50, P99  time.Duration      `json:"-"`
}

// Accuracy is the share of questions got right.
func (r Report) Accuracy() float64 {
	if r.Questions == 0 {
		return 0
	}
	return float64(r.Right) / float64(r.Questions)
}

const maxLine = 1 << 20

// Read reads a data set. A line that is no item is an error that names it.
func Read(r io.Reader) ([]Item, error) {
	var out []Item
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var item Item
		if err := json.Unmarshal(lines.Bytes(), &item); err != nil {
			return nil, fmt.Errorf("eval: line %d: %w", n, err)
		}
		out = append(out, item)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	return out, nil
}

// ask returns the final answer to an item, and how long it took.
func ask(ctx context.Context, a Asker, item Item) (sextant.Answer, time.Duration, error) {
	q := sextant.Question{Text: item.Question}
	if item.ReferenceDate != "" {
		day, err := time.Parse(time.DateOnly, item.ReferenceDate)
		if err != nil {
			return sextant.Answer{}, 0, fmt.Errorf("eval: %s: %w", item.ID, err)
		}
		q.AsOf = day
	}
	start := time.Now()
	for event, err := range a.Ask(ctx, q) {
		if err != nil {
			return sextant.Answer{}, 0, fmt.Errorf("eval: %s: %w", item.ID, err)
		}
		if final, ok := event.(sextant.Final); ok {
			return final.Answer, time.Since(start), nil
		}
	}
	return sextant.Answer{}, 0, fmt.Errorf("eval: %s: the question ended without an answer", item.ID)
}
