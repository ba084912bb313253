package trace

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
)

// writer is what the archive's goroutine remembers between its transactions. Statements are
// parsed once: parsing took longer than writing.
type writer struct {
	bytes  int64 // of all kept traces
	oldest int64 // when the oldest kept trace began, or a moment before it; 0: not known

	insertTrace, insertOwed, insertConfig, first *sql.Stmt

	config [sha256.Size]byte // of the configuration that is in the file, and its name
	hash   string
}

func (w *writer) prepare(ctx context.Context, db *sql.DB) (err error) {
	for _, s := range []struct {
		statement **sql.Stmt
		text      string
	}{
		{&w.insertTrace, "INSERT INTO trace (id, began, duration, status, question, collections, intent, tokens, cost, config, summary, exchanges, spans, bytes) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
		{&w.insertOwed, "INSERT INTO owed (target, trace) VALUES (?, ?)"},
		{&w.insertConfig, "INSERT INTO config VALUES (?, ?) ON CONFLICT DO NOTHING"},
		{&w.first, "SELECT seq, bytes, began FROM trace ORDER BY seq LIMIT 1"},
	} {
		if *s.statement, err = db.PrepareContext(ctx, s.text); err != nil {
			return err
		}
	}
	return nil
}

// insert stores records and what is owed of them, and makes room, in one transaction.
func (a *Archive) insert(records []*Record) error {
	tx, err := a.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	after := a.writer
	for _, r := range records {
		if err := a.insertOne(tx, r, &after); err != nil {
			return err
		}
	}
	if err := a.makeRoom(tx, &after); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	a.writer = after
	a.stats.kept.Add(int64(len(records)))
	return nil
}

func (a *Archive) insertOne(tx *sql.Tx, r *Record, w *writer) error {
	spans, err := encodeSpans(r.Spans)
	if err != nil {
		return err
	}
	s := r.Summary
	summary, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}
	var exchanges []byte
	if len(r.Exchanges) > 0 {
		if exchanges, err = json.Marshal(r.Exchanges); err != nil {
			return fmt.Errorf("encode exchanges: %w", err)
		}
	}
	if err := w.keepConfig(tx, r.Config); err != nil {
		return err
	}
	collections, _ := json.Marshal(s.Collections)
	size := int64(len(spans) + len(summary) + len(exchanges))
	began := r.Began.UnixNano()
	res, err := tx.Stmt(w.insertTrace).Exec(r.ID[:], began, r.Duration.Nanoseconds(), s.Status, s.Question, string(collections), s.Intent, r.Tokens, r.Cost, w.hash, summary, exchanges, spans, size)
	if err != nil {
		return err
	}
	w.bytes += size
	w.oldest = min(w.oldest, began)
	if len(a.options.Targets) == 0 {
		return nil
	}
	seq, err := res.LastInsertId()
	if err != nil {
		return err
	}
	owed := tx.Stmt(w.insertOwed)
	for _, target := range a.options.Targets {
		if _, err := owed.Exec(target, seq); err != nil {
			return err
		}
	}
	return nil
}

// keepConfig stores a configuration under its hash, unless it is the one that was stored last.
func (w *writer) keepConfig(tx *sql.Tx, config json.RawMessage) error {
	sum := sha256.Sum256(config)
	if w.hash != "" && sum == w.config {
		return nil
	}
	hash := Hash(config)
	if _, err := tx.Stmt(w.insertConfig).Exec(hash, append([]byte{}, config...)); err != nil {
		return err
	}
	w.config, w.hash = sum, hash
	return nil
}

// makeRoom removes the oldest traces until age and size are within bounds. What is removed
// while it is still owed to somebody is lost to them, and counted.
func (a *Archive) makeRoom(tx *sql.Tx, w *writer) error {
	bound := a.options.Now().Add(-a.options.MaxAge).UnixNano()
	for w.oldest < bound || w.bytes > a.options.MaxBytes {
		var seq, size, began int64
		err := tx.Stmt(w.first).QueryRow().Scan(&seq, &size, &began)
		switch {
		case err == sql.ErrNoRows:
			w.oldest = math.MaxInt64 // what comes in next is the first
			return nil
		case err != nil:
			return err
		case began >= bound && w.bytes <= a.options.MaxBytes:
			w.oldest = began
			return nil
		}
		if err := a.forget(tx, seq); err != nil {
			return err
		}
		w.bytes -= size
	}
	return nil
}
