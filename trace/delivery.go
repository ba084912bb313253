package trace

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"
)

// Feedback is a judgement of an answer, by a person or a program.
type Feedback struct {
	ID        string          `json:"id"` // given by the archive when empty
	TraceID   string          `json:"trace_id"`
	Name      string          `json:"name"`  // what is judged: "helpful", "correct"
	Value     json.RawMessage `json:"value"` // number, bool, string, list or object
	Rationale string          `json:"rationale,omitempty"`
	Human     bool            `json:"human"`
	Source    string          `json:"source,omitempty"` // who: a user's id, a program's name
	At        time.Time       `json:"at"`
}

// Delivery is one thing that is owed to an exporter: a trace, or feedback on one.
type Delivery struct {
	Record   *Record
	Feedback *Feedback // nil: the trace itself
	// Progress is the exporter's own memory of this item, kept across failures and
	// restarts: nil at first.
	Progress json.RawMessage
	// Tried reports whether an attempt was ever begun, also by a process that is gone: a
	// request without an answer may have been carried out.
	Tried bool
}

// Exporter takes traces elsewhere. Send returns nil when the item has arrived, a
// *SendError that says what to do otherwise; any other error is taken for a server that
// is down. It must be safe to repeat.
type Exporter interface {
	Target() string
	Send(ctx context.Context, d *Delivery) error
}

// SendError is a failed attempt.
type SendError struct {
	Err error
	// Refused: the server will never take this item. It is dropped, counted as lost, and
	// the next one goes on.
	Refused bool
	// Doubtful: it may be the item's fault or the server's. After maxDoubtful attempts the
	// next item is tried: if that one is taken, the fault is the first one's, and it is given
	// up when it fails once more. A server that fails with everything loses nothing.
	Doubtful bool
	After    time.Duration // the server's own wish, from Retry-After
}

// Error is the cause's text.
func (e *SendError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *SendError) Unwrap() error { return e.Err }

const (
	maxDoubtful = 5
	maxSuspects = 8
	firstPause  = time.Second
	longestWait = time.Minute
)

// Deliver sends what is owed to an exporter, oldest first, until ctx ends. It is the only
// sender of its target: one at a time is what a tracing server takes best, and keeps
// feedback behind its trace. A server that is down is asked again after a pause that
// doubles from one second to one minute.
func (a *Archive) Deliver(ctx context.Context, e Exporter) {
	d := &deliverer{archive: a, exporter: e, log: a.options.Log.With("target", e.Target())}
	for ctx.Err() == nil {
		wait := d.round(ctx)
		if wait == 0 {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-d.wake():
		}
		timer.Stop()
	}
}

// Drain sends what is owed until nothing is left, an attempt fails, or ctx ends, and
// returns how much is still owed.
func (a *Archive) Drain(ctx context.Context, e Exporter) (left int64, err error) {
	if err := a.Flush(ctx); err != nil {
		return 0, err
	}
	d := &deliverer{archive: a, exporter: e, log: a.options.Log}
	for ctx.Err() == nil && d.round(ctx) == 0 {
	}
	err = a.db.QueryRow("SELECT count(*) FROM owed WHERE target = ?", e.Target()).Scan(&left)
	return left, err
}

type deliverer struct {
	archive  *Archive
	exporter Exporter
	log      *slog.Logger
	pause    time.Duration // 0 while the server answers
	suspects []int64       // items that failed doubtfully too often, passed over for now
	proven   bool          // an item was taken since: what fails doubtfully now is at fault
}

// wake tells of new items, unless the server is down: then only time does.
func (d *deliverer) wake() <-chan struct{} {
	if d.pause > 0 {
		return nil
	}
	return d.archive.wake
}

// idle is how long a deliverer sleeps when nothing is owed and nobody wakes it: several
// may share the bell.
const idle = 2 * time.Second

// round sends the next item and returns how long to wait before the one after.
func (d *deliverer) round(ctx context.Context) time.Duration {
	item, err := d.archive.next(ctx, d.exporter.Target(), d.passedOver())
	if errors.Is(err, sql.ErrNoRows) {
		if len(d.suspects) > 0 { // nothing else to learn from: try them again
			d.suspects = nil
			return d.backOff(0)
		}
		return idle
	}
	if err != nil {
		if ctx.Err() == nil {
			d.log.Warn("what is owed cannot be read", "error", err)
		}
		return idle
	}
	err = d.archive.begin(item)
	if err == nil {
		err = d.exporter.Send(ctx, &item.Delivery)
	}
	if ctx.Err() != nil && err != nil {
		_ = d.archive.failed(item, false) // what was reached is remembered; stopping is nobody's fault
		return idle
	}
	return d.settle(item, err)
}

// settle records what became of an attempt.
func (d *deliverer) settle(item *owed, err error) time.Duration {
	if err == nil {
		if d.pause > 0 {
			d.log.Info("traces are delivered again")
		}
		d.pause, d.proven = 0, len(d.suspects) > 0
		d.archive.stats.delivered.Add(1)
		return d.written(d.archive.settled(item, ""))
	}
	d.archive.stats.failed.Add(1)
	var send *SendError
	if !errors.As(err, &send) {
		send = &SendError{Err: err}
	}
	if send.Refused || send.Doubtful && d.proven && slices.Contains(d.suspects, item.item) {
		d.suspects = slices.DeleteFunc(d.suspects, func(i int64) bool { return i == item.item })
		d.log.Warn("a trace was refused and is given up", "trace", item.Record.ID.String(), "error", err)
		return d.written(d.archive.settled(item, err.Error()))
	}
	if werr := d.archive.failed(item, send.Doubtful); werr != nil {
		d.log.Warn("progress cannot be written", "error", werr)
	}
	if send.Doubtful && item.tries+1 >= maxDoubtful && len(d.suspects) < maxSuspects && !slices.Contains(d.suspects, item.item) {
		d.suspects, d.proven = append(d.suspects, item.item), false
	}
	if d.pause == 0 {
		d.log.Warn("traces wait: the server cannot take them", "error", err)
	}
	return d.backOff(send.After)
}

// backOff is the next pause: at least what the server asks for, within reason.
func (d *deliverer) backOff(asked time.Duration) time.Duration {
	d.pause = max(firstPause, min(2*d.pause, longestWait))
	return max(d.pause/2+rand.N(d.pause/2+1), min(asked, 10*longestWait))
}

// passedOver lists the suspects that are not tried now: none once another item was taken.
func (d *deliverer) passedOver() []int64 {
	if d.proven {
		return nil
	}
	return d.suspects
}

func (d *deliverer) written(err error) time.Duration {
	if err != nil {
		d.log.Warn("what was delivered cannot be written down", "error", err)
		return firstPause // it will be sent again, under the same ids
	}
	return 0
}

// owed is an item with its place in the file.
type owed struct {
	Delivery
	item     int64
	feedback string
	tries    int
}

// next returns the oldest item that is owed to a target, leaving some out.
func (a *Archive) next(ctx context.Context, target string, without []int64) (*owed, error) {
	o := &owed{}
	var seq int64
	var begun bool
	err := a.db.QueryRowContext(ctx, "SELECT item, trace, feedback, progress, tries, begun FROM owed WHERE target = ? AND item NOT IN (SELECT value FROM json_each(?)) ORDER BY item LIMIT 1", target, listed(without)).
		Scan(&o.item, &seq, &o.feedback, (*[]byte)(&o.Progress), &o.tries, &begun)
	if err != nil {
		return nil, err
	}
	o.Tried = begun
	if o.Record, err = a.read(ctx, "seq = ?", seq); err != nil {
		return nil, fmt.Errorf("read what is owed: %w", err)
	}
	if o.feedback == "" {
		return o, nil
	}
	var body []byte
	if err := a.db.QueryRowContext(ctx, "SELECT body FROM feedback WHERE id = ?", o.feedback).Scan(&body); err != nil {
		return nil, fmt.Errorf("read feedback: %w", err)
	}
	o.Feedback = new(Feedback)
	return o, json.Unmarshal(body, o.Feedback)
}

// listed is a list of numbers as JSON.
func listed(list []int64) string {
	b, _ := json.Marshal(append([]int64{}, list...))
	return string(b)
}

// begin notes that an attempt was begun, before the first byte leaves: after a crash the
// exporter must look whether the server has it.
func (a *Archive) begin(o *owed) error {
	if o.Tried {
		return nil
	}
	_, err := a.db.Exec("UPDATE owed SET begun = 1 WHERE item = ?", o.item)
	return err
}

func (a *Archive) failed(o *owed, counts bool) error {
	tries := o.tries
	if counts {
		tries++
	}
	_, err := a.db.Exec("UPDATE owed SET progress = ?, tries = ? WHERE item = ?", []byte(o.Progress), tries, o.item)
	return err
}

// settled removes an item; with a reason it is counted as lost.
func (a *Archive) settled(o *owed, reason string) error {
	tx, err := a.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if reason != "" {
		if _, err := tx.Exec("INSERT INTO lost SELECT target, 1, ?2 FROM owed WHERE item = ?1 ON CONFLICT (target) DO UPDATE SET n = n + 1, reason = excluded.reason", o.item, reason); err != nil {
			return err
		}
	}
	if _, err := tx.Exec("DELETE FROM owed WHERE item = ?", o.item); err != nil {
		return err
	}
	return tx.Commit()
}

// Judge keeps feedback on a trace, and owes it to every target. It returns ErrNotFound
// when the trace is not kept. Feedback with an id that is known replaces nothing and
// changes nothing.
func (a *Archive) Judge(ctx context.Context, f Feedback) error {
	id, err := ParseID(f.TraceID)
	if err != nil {
		return err
	}
	if f.ID == "" {
		f.ID = NewID().String()
	}
	if f.At.IsZero() {
		f.At = a.options.Now().UTC()
	}
	body, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("feedback: %w", err)
	}
	if err := a.Flush(ctx); err != nil {
		return err
	}
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("feedback: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var seq int64
	if err := tx.QueryRow("SELECT seq FROM trace WHERE id = ? ORDER BY seq DESC LIMIT 1", id[:]).Scan(&seq); errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	} else if err != nil {
		return fmt.Errorf("feedback: %w", err)
	}
	res, err := tx.Exec("INSERT INTO feedback VALUES (?, ?, ?) ON CONFLICT DO NOTHING", f.ID, seq, body)
	if err != nil {
		return fmt.Errorf("feedback: %w", err)
	}
	if n, _ := res.RowsAffected(); n == 0 {
		return nil
	}
	for _, target := range a.options.Targets {
		if _, err := tx.Exec("INSERT INTO owed (target, trace, feedback) VALUES (?, ?, ?)", target, seq, f.ID); err != nil {
			return fmt.Errorf("feedback: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("feedback: %w", err)
	}
	select {
	case a.wake <- struct{}{}:
	default:
	}
	return nil
}
