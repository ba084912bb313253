package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// checksumOf returns the CRC-32C of strings, each with its length.
func checksumOf(parts ...string) uint32 {
	var e encoder
	for _, p := range parts {
		e.str(p)
	}
	return crc32.Checksum(e.b, castagnoli)
}

// PutReceipt implements store.Journal.
func (c *catalog) PutReceipt(ctx context.Context, r sextant.Receipt) error {
	if r.Run == "" {
		return fmt.Errorf("put receipt: it names no run: %w", store.ErrRecord)
	}
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("put receipt %s: %w", r.Run, err)
	}
	return failure("put receipt "+r.Run, c.db.update(ctx, smallWrite, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT OR REPLACE INTO receipt VALUES(?,?,?,?)`, r.Run, r.Collection, string(body), checksumOf(r.Run, r.Collection, string(body)))
		return err
	}))
}

// Receipts implements store.Journal. Runs sort by time, so newest first is by falling
// run. A limit of 0 is all.
func (c *catalog) Receipts(ctx context.Context, collection string, limit int) ([]sextant.Receipt, error) {
	if limit <= 0 {
		limit = -1
	}
	rows, err := c.db.read.QueryContext(ctx, `SELECT run, collection, body, sum FROM receipt WHERE ?1 = '' OR collection = ?1 ORDER BY run DESC LIMIT ?2`, collection, limit)
	if err != nil {
		return nil, failure("read receipts", err)
	}
	defer rows.Close()
	var out []sextant.Receipt
	for rows.Next() {
		r, err := scanReceipt(rows)
		if err != nil {
			return nil, failure("read receipts", err)
		}
		out = append(out, r)
	}
	return out, failure("read receipts", rows.Err())
}

func scanReceipt(rows *sql.Rows) (sextant.Receipt, error) {
	var r sextant.Receipt
	var run, collection, body string
	var sum uint32
	if err := rows.Scan(&run, &collection, &body, &sum); err != nil {
		return r, err
	}
	if sum != checksumOf(run, collection, body) {
		return r, fmt.Errorf("receipt %s: %w", run, store.ErrCorrupt)
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return r, fmt.Errorf("receipt %s: %w", run, err)
	}
	return r, nil
}

// PutMark implements store.Journal.
func (c *catalog) PutMark(ctx context.Context, key, value string) error {
	return failure("put mark", c.db.update(ctx, smallWrite, func(tx *sql.Tx) error {
		if value == "" {
			_, err := tx.Exec(`DELETE FROM mark WHERE key = ?`, key)
			return err
		}
		_, err := tx.Exec(`INSERT OR REPLACE INTO mark VALUES(?,?,?)`, key, value, checksumOf(key, value))
		return err
	}))
}

// Mark implements store.Journal.
func (c *catalog) Mark(ctx context.Context, key string) (string, error) {
	var value string
	var sum uint32
	err := c.db.read.QueryRowContext(ctx, `SELECT value, sum FROM mark WHERE key = ?`, key).Scan(&value, &sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", failure("read mark", err)
	case sum != checksumOf(key, value):
		return "", fmt.Errorf("read mark %q: %w", key, store.ErrCorrupt)
	}
	return value, nil
}
