package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/sextant-rag/sextant/store"
)

// database is one SQLite file: a connection that writes, and as many that read as are
// needed at once. Readers see the state of the moment they begin (write-ahead log) and
// never wait for the writer, nor it for them.
type database struct {
	write *sql.DB
	read  *sql.DB

	mu      sync.Mutex // held while writing
	logged  int        // bytes written since the log was last copied into the file
	logSize int        // at which it is
	broken  error      // why nothing is written any more
}

// errReadOnly is what every change fails with in a store that was opened for reading.
var errReadOnly = fmt.Errorf("the data folder was opened for reading only: %w", store.ErrUnsupported)

// openReadOnly opens a database that nobody changes while it is open. Where there is no
// log the file is all there is, and SQLite leaves nothing beside it.
func openReadOnly(path string) (*database, error) {
	if err := checkLog(path); err != nil {
		return nil, err
	}
	open := openToRead
	if log, err := os.Stat(path + "-wal"); err != nil || log.Size() == 0 {
		open = func(path string) (*sql.DB, error) { return openReading(path, true) }
	}
	db, err := open(path)
	if err != nil {
		return nil, err
	}
	return &database{read: db, write: db, broken: errReadOnly}, nil
}

// smallWrite is about what a transaction of a few small rows writes: some pages.
const smallWrite = 16 << 10

// Result codes of SQLite (sqlite.org/rescode.html): primary ones, and the one extended
// code by which a volume without room for the index of the log says so.
const (
	codeIOErr   = 10
	codeCorrupt = 11
	codeFull    = 13
	codeNotADB  = 26
	codeNoIndex = codeIOErr | 19<<8 // SQLITE_IOERR_SHMSIZE
)

// How often, and how far apart, a volume that is full is tried again before a database
// on it is opened to read only. Derived files being written beside fill a volume for a
// moment, until they find that there is no room and are removed.
const (
	fullTries = 5
	fullPause = 100 * time.Millisecond
)

// openDatabase opens or creates a file. What is there can be read on a full volume too,
// where there is no room even for opening to write: then every change fails with
// store.ErrFull until the file is opened again. vfs is "" except in tests of failing disks.
func openDatabase(path, vfs, schema string, logSize int) (*database, error) {
	db, err := openToWrite(path, vfs, schema, logSize)
	for range fullTries {
		if !errors.Is(err, store.ErrFull) {
			return db, err
		}
		time.Sleep(fullPause)
		db, err = openToWrite(path, vfs, schema, logSize)
	}
	if !errors.Is(err, store.ErrFull) {
		return db, err
	}
	if file, e := os.Stat(path); e != nil || file.Size() == 0 {
		return nil, err // nothing to read
	}
	readable, e := openReadOnly(path)
	if e != nil {
		return nil, err
	}
	readable.breakWith(err)
	return readable, nil
}

func openToWrite(path, vfs, schema string, logSize int) (*database, error) {
	dsn := func(begin string, more ...string) string {
		q := url.Values{"_txlock": {begin},
			"_pragma": append(more, "busy_timeout(5000)", "journal_mode(wal)", "synchronous(full)", "trusted_schema(0)", "cell_size_check(1)")}
		if vfs != "" {
			q.Set("vfs", vfs)
		}
		u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}
		return u.String()
	}
	db := &database{logSize: logSize}
	var err error
	if db.write, err = sql.Open("sqlite", dsn("immediate", "wal_autocheckpoint(0)", "journal_size_limit(67108864)")); err != nil {
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

// update runs f in one durable transaction that writes about size bytes. It does not
// end early when ctx is done: whoever waits for a commit is told how it ended.
//
// After a failed fsync nobody knows what the disk holds: the system may take the lost
// pages for written, so that a second fsync succeeds and proves nothing (LWN 752063).
// So an error of the device ends writing; opening again reads what is really there.
func (db *database) update(ctx context.Context, size int, f func(tx *sql.Tx) error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.broken != nil {
		return db.broken
	}
	err := db.transact(context.WithoutCancel(ctx), f)
	if err == nil {
		db.logged += size
		if db.logged < db.logSize {
			return nil
		}
		db.logged = 0
		if e := db.checkpoint(); e != nil {
			db.breakWith(e) // what was committed is in the log, and durable
		}
		return nil
	}
	err = failure("write", err)
	if errors.Is(err, store.ErrFull) {
		db.letGo()
	}
	if errors.Is(err, store.ErrIO) || errors.Is(err, store.ErrCorrupt) {
		db.breakWith(err)
	}
	return err
}

func (db *database) breakWith(err error) {
	db.broken = fmt.Errorf("nothing is written any more until the store is opened again: %w", err)
}

func (db *database) transact(ctx context.Context, f func(tx *sql.Tx) error) error {
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

// checkpoint copies the log into the file, as far as no reader needs it. SQLite would
// do so by itself, but keep errors of it secret.
func (db *database) checkpoint() error {
	var busy, frames, copied int
	err := db.write.QueryRow(`PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &frames, &copied)
	return failure("checkpoint", err)
}

// letGo gives back what a transaction that found no space has left of its log. Otherwise a
// volume stays full to the last byte, and not even opening to read finds room for the log's
// index. What fails here changes nothing of what is durable, and writing has failed already.
func (db *database) letGo() {
	var busy, frames, copied int
	_ = db.write.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &copied)
}

// failure wraps an error with the operation and, where it is SQLite's own and a caller
// decides on it, with the store's error.
func failure(op string, err error) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{store.ErrFull, store.ErrCorrupt, store.ErrIO, store.ErrUnavailable} {
		if errors.Is(err, known) {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	var e *sqlite3.Error
	if errors.As(err, &e) {
		return fmt.Errorf("%s: %w: %w", op, meaning(e.Code()), err)
	}
	if strings.HasPrefix(err.Error(), "sql: Scan error") { // a column of another type than was written
		return fmt.Errorf("%s: %w: %w", op, store.ErrCorrupt, err)
	}
	if errors.Is(err, sql.ErrConnDone) || strings.HasSuffix(err.Error(), "is closed") { // database/sql has no values for these
		return fmt.Errorf("%s: %w", op, errClosed)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// meaning returns the store's error for a result code of SQLite.
func meaning(code int) error {
	if code == codeNoIndex {
		return store.ErrFull
	}
	switch code & 0xff {
	case codeFull:
		return store.ErrFull
	case codeCorrupt, codeNotADB:
		return store.ErrCorrupt
	case codeIOErr:
		return store.ErrIO
	}
	return store.ErrUnavailable
}
