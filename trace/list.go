package trace

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Listed is one line of a list of traces.
type Listed struct {
	Seq         int64     `json:"seq"` // rises with every trace of this archive
	TraceID     string    `json:"trace_id"`
	Began       time.Time `json:"began"`
	DurationMS  float64   `json:"duration_ms"`
	Status      string    `json:"status"`
	Question    string    `json:"question"`
	Collections []string  `json:"collections,omitempty"`
	Intent      string    `json:"intent,omitempty"`
	Tokens      int64     `json:"tokens"`
	CostUSD     float64   `json:"cost_usd"`
}

// Search says which traces are wanted; zero fields want all.
type Search struct {
	Status     string
	Text       string // within the question, whatever its case
	Collection string
	MinCost    float64 // US dollars
	From, To   time.Time
	Before     int64 // seq of the last trace of the page before
	Limit      int   // 0: 50; at most 1,000
}

// ErrNotFound means that the archive has no such trace.
var ErrNotFound = errors.New("there is no such trace")

// List returns traces, newest first.
func (a *Archive) List(ctx context.Context, s Search) ([]Listed, error) {
	where, args := []string{"1"}, []any{}
	add := func(condition string, arg any) { where, args = append(where, condition), append(args, arg) }
	if s.Status != "" {
		add("status = ?", s.Status)
	}
	if s.Text != "" {
		add(`question LIKE ? ESCAPE '\'`, "%"+strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s.Text)+"%")
	}
	if s.Collection != "" {
		add("EXISTS (SELECT 1 FROM json_each(collections) WHERE value = ?)", s.Collection)
	}
	if s.MinCost > 0 {
		add("cost >= ?", s.MinCost)
	}
	if !s.From.IsZero() {
		add("began >= ?", s.From.UnixNano())
	}
	if !s.To.IsZero() {
		add("began < ?", s.To.UnixNano())
	}
	if s.Before > 0 {
		add("seq < ?", s.Before)
	}
	limit := s.Limit
	if limit <= 0 {
		limit = 50
	}
	args = append(args, min(limit, 1000))
	rows, err := a.db.QueryContext(ctx, "SELECT seq, id, began, duration, status, question, collections, intent, tokens, cost FROM trace WHERE "+strings.Join(where, " AND ")+" ORDER BY seq DESC LIMIT ?", args...)
	if err != nil {
		return nil, fmt.Errorf("list traces: %w", err)
	}
	defer rows.Close()
	out := []Listed{}
	for rows.Next() {
		l, err := scanListed(rows)
		if err != nil {
			return nil, fmt.Errorf("list traces: %w", err)
		}
		out = append(out, l)
	}
	return out, rows.Err()
}

func scanListed(rows *sql.Rows) (l Listed, err error) {
	var id, collections []byte
	var began, duration int64
	if err := rows.Scan(&l.Seq, &id, &began, &duration, &l.Status, &l.Question, &collections, &l.Intent, &l.Tokens, &l.CostUSD); err != nil {
		return l, err
	}
	l.TraceID, l.Began, l.DurationMS = ID(id).String(), time.Unix(0, began).UTC(), milliseconds(time.Duration(duration))
	return l, json.Unmarshal(collections, &l.Collections)
}

// Get returns the newest trace of an id; ErrNotFound without one. Questions asked within
// one trace of a caller share its id.
func (a *Archive) Get(ctx context.Context, id ID) (*Record, error) {
	r, err := a.read(ctx, "id = ? ORDER BY seq DESC LIMIT 1", id[:])
	if !errors.Is(err, ErrNotFound) {
		return r, err
	}
	bounded, cancel := context.WithTimeout(ctx, longestFlush) // it may be on its way
	defer cancel()
	if a.Flush(bounded) != nil {
		return nil, err
	}
	return a.read(ctx, "id = ? ORDER BY seq DESC LIMIT 1", id[:])
}

// longestFlush is how long a reader waits for what is on its way to a disk that does not take it.
const longestFlush = 2 * time.Second

func (a *Archive) read(ctx context.Context, where string, arg any) (*Record, error) {
	var id, summary, exchanges, spans, config []byte
	var began, duration int64
	r := &Record{}
	err := a.db.QueryRowContext(ctx, "SELECT id, began, duration, tokens, cost, summary, exchanges, spans, (SELECT body FROM config WHERE hash = trace.config) FROM trace WHERE "+where, arg).
		Scan(&id, &began, &duration, &r.Tokens, &r.Cost, &summary, &exchanges, &spans, &config)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	if len(id) != len(r.ID) {
		return nil, fmt.Errorf("read trace: the id has %d bytes", len(id))
	}
	r.ID, r.Began, r.Duration, r.Config = ID(id), time.Unix(0, began).UTC(), time.Duration(duration), config
	if err := json.Unmarshal(summary, &r.Summary); err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	if exchanges != nil {
		if err := json.Unmarshal(exchanges, &r.Exchanges); err != nil {
			return nil, fmt.Errorf("read trace: %w", err)
		}
	}
	r.Spans, err = decodeSpans(spans)
	return r, err
}
