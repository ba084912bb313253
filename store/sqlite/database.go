package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"unsafe"

	sqlite3 "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/sextant-rag/sextant/store"
)

// database is one SQLite file: a connection that writes, and as many that read as are
// needed at once. Readers see the state of the moment they begin (write-ahead log) and
// never wait for the writer, nor it for them.
type database struct {
	write *sql.DB
	read  *sql.DB
}

// Result codes of SQLite (sqlite.org/rescode.html), primary ones.
const (
	codeIOErr   = 10
	codeCorrupt = 11
	codeFull    = 13
	codeNotADB  = 26
)

// openDatabase opens or creates a file. vfs is "" except in tests of failing disks.
func openDatabase(path, vfs, schema string) (*database, error) {
	dsn := func(begin string, more ...string) string {
		q := url.Values{"_txlock": {begin},
			"_pragma": append(more, "busy_timeout(5000)", "journal_mode(wal)", "synchronous(full)", "trusted_schema(0)", "cell_size_check(1)")}
		if vfs != "" {
			q.Set("vfs", vfs)
		}
		u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}
		return u.String()
	}
	db := &database{}
	var err error
	if db.write, err = sql.Open("sqlite", dsn("immediate", "wal_autocheckpoint(4000)", "journal_size_limit(67108864)")); err != nil {
		return nil, failure("open database", err)
	}
	db.write.SetMaxOpenConns(1)
	if db.read, err = sql.Open("sqlite", dsn("deferred", "query_only(1)")); err != nil {
		db.write.Close()
		return nil, failure("open database", err)
	}
	db.read.SetMaxOpenConns(0)
	db.read.SetMaxIdleConns(4)
	if _, err := db.write.Exec(schema); err != nil {
		db.close()
		return nil, failure("create tables", err)
	}
	return db, nil
}

// close closes readers first, so that the writer is the last connection and leaves
// one file without a log behind.
func (db *database) close() error {
	return errors.Join(db.read.Close(), db.write.Close())
}

// update runs f in one durable transaction. It does not end early when ctx is done:
// whoever waits for a commit is told how it ended.
func (db *database) update(ctx context.Context, f func(tx *sql.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

// failure wraps an error of SQLite with the operation and, where a caller decides on
// it, the store's own error.
func failure(op string, err error) error {
	if err == nil {
		return nil
	}
	var e *sqlite3.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case codeFull:
			return fmt.Errorf("%s: %w: %w", op, store.ErrFull, err)
		case codeCorrupt, codeNotADB:
			return fmt.Errorf("%s: %w: %w", op, store.ErrCorrupt, err)
		case codeIOErr:
			return fmt.Errorf("%s: %w: %w", op, store.ErrIO, err)
		default:
			return fmt.Errorf("%s: %w: %w", op, store.ErrUnavailable, err)
		}
	}
	if errors.Is(err, sql.ErrConnDone) || err.Error() == "sql: database is closed" {
		return fmt.Errorf("%s: %w: it is closed", op, store.ErrUnavailable)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// bytesOf returns the bytes of a string without copying; they must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
