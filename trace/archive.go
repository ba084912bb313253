package trace

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// Options say where traces are kept and for how long.
type Options struct {
	Path     string        // the database file
	MaxAge   time.Duration // older traces go; 0: 30 days
	MaxBytes int64         // of all kept traces; the oldest go; 0: 1 GiB
	Queue    int           // finished traces that may wait for the disk; 0: 1,024
	Targets  []string      // exporters that each trace waits for
	Log      *slog.Logger  // nil: nothing is logged
	Now      func() time.Time
}

// Archive is the local store of traces, and the spool of the exporters: a trace and what
// is still owed of it to whom are written in one transaction. Writing happens on the
// archive's goroutine. It is safe for concurrent use.
//
// The file is SQLite with a write-ahead log and synchronous=NORMAL: what was written
// survives the end of the process in any way; a power cut may take the last moments. Traces
// are written as they come, or where they come fast, those of 25 ms together.
type Archive struct {
	db      *sql.DB
	options Options
	queue   chan *Finished
	hurry   chan struct{} // ends the writer's wait for more
	written chan struct{} // closed when the writer has ended
	wake    chan struct{} // tells deliverers that something came in
	stats   stats

	mu     sync.RWMutex // guards closed, so that nothing is sent to a closed queue
	closed bool
	writer writer
}

// stats are counted since the archive was opened.
type stats struct {
	kept, refused, delivered, failed atomic.Int64
}

// Stats says how the archive is doing. Counts are since it was opened, except Pending and
// Lost, which the file remembers.
type Stats struct {
	Kept      int64             `json:"kept"`
	Refused   int64             `json:"refused"` // the queue was full: the trace was not kept
	Traces    int64             `json:"traces"`
	Bytes     int64             `json:"bytes"`
	Delivered int64             `json:"delivered"`
	Failed    int64             `json:"failed_attempts"`
	Pending   map[string]int64  `json:"pending"`            // by target
	Lost      map[string]int64  `json:"lost"`               // by target: dropped at the bound, or refused for good
	LostWhy   map[string]string `json:"lost_why,omitempty"` // by target: the last reason
}

const schema = `
CREATE TABLE IF NOT EXISTS config (hash TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trace (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL, began INTEGER NOT NULL, duration INTEGER NOT NULL,
	status TEXT NOT NULL, question TEXT NOT NULL, collections TEXT NOT NULL, intent TEXT NOT NULL, tokens INTEGER NOT NULL, cost REAL NOT NULL,
	config TEXT NOT NULL, summary BLOB NOT NULL, exchanges BLOB, spans BLOB NOT NULL, bytes INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS trace_id ON trace(id);
CREATE INDEX IF NOT EXISTS trace_began ON trace(began);
CREATE TABLE IF NOT EXISTS feedback (id TEXT PRIMARY KEY, trace INTEGER NOT NULL, body BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS feedback_trace ON feedback(trace);
CREATE TABLE IF NOT EXISTS owed (
	item INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL, trace INTEGER NOT NULL, feedback TEXT NOT NULL DEFAULT '',
	progress BLOB, tries INTEGER NOT NULL DEFAULT 0, begun INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS owed_target ON owed(target, item);
CREATE INDEX IF NOT EXISTS owed_trace ON owed(trace);
CREATE TABLE IF NOT EXISTS lost (target TEXT PRIMARY KEY, n INTEGER NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;`

// Open opens or creates an archive. It does not wait for any exporter's server.
func Open(ctx context.Context, o Options) (*Archive, error) { return open(ctx, o) }

// open takes further pragmas, by which tests make a disk full.
func open(ctx context.Context, o Options, pragmas ...string) (*Archive, error) {
	o.MaxAge, o.MaxBytes, o.Queue = cmp.Or(o.MaxAge, 30*24*time.Hour), cmp.Or(o.MaxBytes, 1<<30), cmp.Or(o.Queue, 1024)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(o.Path), RawQuery: url.Values{"_txlock": {"immediate"},
		"_pragma": append(pragmas, "busy_timeout(5000)", "journal_mode(wal)", "synchronous(normal)", "trusted_schema(0)", "journal_size_limit(16777216)", "wal_autocheckpoint(4000)")}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, fmt.Errorf("open traces: %w", err)
	}
	db.SetMaxOpenConns(4)
	if len(pragmas) > 0 {
		db.SetMaxOpenConns(1)
	}
	a := &Archive{db: db, options: o, queue: make(chan *Finished, o.Queue), hurry: make(chan struct{}, 1), written: make(chan struct{}), wake: make(chan struct{}, 1)}
	if _, err = db.ExecContext(ctx, schema); err == nil {
		err = db.QueryRowContext(ctx, "SELECT coalesce(sum(bytes), 0) FROM trace").Scan(&a.writer.bytes)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open traces: %w", err), db.Close())
	}
	if err := a.writer.prepare(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("open traces: %w", err), db.Close())
	}
	go a.write()
	return a, nil
}

// Keep takes a finished trace. It never waits: when the disk has not kept up with more
// than Options.Queue traces, the trace is refused and counted.
func (a *Archive) Keep(f *Finished) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.closed {
		a.stats.refused.Add(1)
		return
	}
	select {
	case a.queue <- f:
		if len(a.queue) == cap(a.queue)/2 {
			a.hasten()
		}
	default:
		if a.stats.refused.Add(1) == 1 {
			a.options.Log.Warn("a trace was not kept: the disk does not keep up")
		}
	}
}

// Close writes what is waiting and closes the file. Exporters must have stopped.
func (a *Archive) Close() error {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return nil
	}
	a.closed = true
	close(a.queue)
	a.hasten()
	a.mu.Unlock()
	<-a.written
	return a.db.Close()
}

// Flush returns once everything kept before it is in the file, or ctx ends.
func (a *Archive) Flush(ctx context.Context) error {
	barrier := &Finished{flushed: make(chan struct{})}
	a.mu.RLock()
	if a.closed {
		a.mu.RUnlock()
		return nil
	}
	select {
	case a.queue <- barrier:
		a.hasten()
		a.mu.RUnlock()
	case <-ctx.Done():
		a.mu.RUnlock()
		return ctx.Err()
	}
	select {
	case <-barrier.flushed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hasten has the writer write what has come in without waiting for more.
func (a *Archive) hasten() {
	select {
	case a.hurry <- struct{}{}:
	default:
	}
}

// How traces share a transaction when they come fast: so many at most, and those that come
// within a gathering. One that comes after a pause is written at once. Waking the writer, and
// a transaction, cost more than what a trace has in it.
const (
	batch     = 64
	gathering = 25 * time.Millisecond
	lull      = 100 * time.Millisecond
)

// gather waits for more traces to come, unless the last ones were written a while ago.
func (a *Archive) gather(last time.Time) {
	if time.Since(last) > lull || len(a.queue) >= batch {
		return
	}
	timer := time.NewTimer(gathering)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.hurry:
	}
}

// write is the archive's goroutine: it encodes and stores whatever has come in, many at
// a time when they come fast.
func (a *Archive) write() {
	defer close(a.written)
	var last time.Time
	for f := range a.queue {
		if f.flushed == nil {
			a.gather(last)
		}
		group := []*Finished{f}
	more:
		for len(group) < batch {
			select {
			case next, ok := <-a.queue:
				if !ok {
					break more
				}
				group = append(group, next)
			default:
				break more
			}
		}
		a.store(group)
		last = time.Now()
	}
}

// store writes a group, and does not give up while the disk says no: what cannot be kept
// meanwhile is refused at the door, where it is counted.
func (a *Archive) store(group []*Finished) {
	var records []*Record
	for _, f := range group {
		if f.flushed == nil {
			records = append(records, f.Record())
		}
	}
	for pause, said := 100*time.Millisecond, false; len(records) > 0; pause = min(2*pause, 5*time.Second) {
		err := a.insert(records)
		if err == nil {
			break
		}
		if !said {
			a.options.Log.Warn("traces cannot be written", "error", err)
			said = true
		}
		a.mu.RLock()
		ending := a.closed
		a.mu.RUnlock()
		if ending {
			a.stats.refused.Add(int64(len(records)))
			break
		}
		time.Sleep(pause)
	}
	for _, f := range group {
		if f.flushed != nil {
			close(f.flushed)
		}
	}
	select {
	case a.wake <- struct{}{}:
	default:
	}
}
