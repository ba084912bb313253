package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// collection is one open collection: its database and what is held in RAM for it.
type collection struct {
	name     string
	folder   string
	readOnly bool // nothing is written, derived files neither
	db       *database
	readers  readers
	log      *slog.Logger
	at       thresholds
	queue    queue

	life       context.Context // of work in the background; stop ends it
	stop       context.CancelFunc
	background sync.WaitGroup

	// writing is held by whoever commits, see submit. Only its holder changes anything
	// below, and so reads all of it without mu.
	writing sync.Mutex
	unsaved int      // documents changed since a derived file was written
	saved   []string // files of words that the newest derived file names
	busy    bool     // maintenance is going on
	closing bool
	warned  bool

	unreadable atomic.Bool // a file of words is; the index is to be made anew

	mu        sync.RWMutex // held for moments, never during I/O
	catalog   *catalog     // set once it is open
	entry     entry
	schemas   int // versions of the schema seen
	state     state
	index     *index
	published chan struct{} // closed when a newer state has been published
	failed    error         // why nothing can be written any more
	closed    bool
}

var _ store.Collection = (*collection)(nil)

// A chunk's vector has the key <row of its document> << chunkBits | <its ordinal>.
const chunkBits = 20

const collectionSchema = `
CREATE TABLE IF NOT EXISTS state(id INTEGER PRIMARY KEY CHECK(id = 1), body TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS doc(
	row INTEGER PRIMARY KEY, id TEXT NOT NULL, revision TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
	meta BLOB NOT NULL, chunks BLOB NOT NULL, rest BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS vec(chunk INTEGER PRIMARY KEY, v BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS about(name TEXT NOT NULL, folder TEXT NOT NULL, generation INTEGER NOT NULL, spec TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS gone(row INTEGER PRIMARY KEY, sequence INTEGER NOT NULL);
`

// format is the version of the tables and encodings; docs/formats.md describes them.
const format = 1

// state is what is true of a collection's database as a whole. It is written in the
// transaction of every change, so that rows lost or swapped are noticed: Documents and
// Marks are those of all its rows.
type state struct {
	Format    int      `json:"format"`
	Sequence  uint64   `json:"sequence"`
	Documents int64    `json:"documents"`
	Marks     uint64   `json:"marks"`
	Next      int64    `json:"next"` // number of the next row
	Dimension int      `json:"dimension,omitempty"`
	Names     []string `json:"names"`
}

func (s state) write(tx *sql.Tx) error {
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT OR REPLACE INTO state VALUES(1,?,?)`, string(body), checksumOf(string(body)))
	return err
}

func scanState(scan func(...any) error) (state, error) {
	var s state
	var body string
	var sum uint32
	if err := scan(&body, &sum); err != nil {
		return s, err
	}
	if sum != checksumOf(body) {
		return s, fmt.Errorf("state of the collection: %w", store.ErrCorrupt)
	}
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		return s, fmt.Errorf("state of the collection: %w", err)
	}
	if s.Format != format {
		return s, fmt.Errorf("collection has format %d, this program reads %d: %w", s.Format, format, store.ErrUnsupported)
	}
	return s, nil
}

func readState(ctx context.Context, tx *sql.Tx) (state, error) {
	return scanState(tx.QueryRowContext(ctx, selectState).Scan)
}

const selectState = `SELECT body, sum FROM state`

// openCollection opens or creates a collection's database and loads it.
func openCollection(ctx context.Context, folder string, e entry, o Options) (*collection, error) {
	db, err := collectionDatabase(folder, o)
	if err != nil {
		return nil, err
	}
	c := &collection{name: e.spec.Name, folder: folder, readOnly: o.ReadOnly, db: db, readers: readers{db: db.read}, entry: e, published: make(chan struct{}), log: o.Log, at: o.at}
	c.life, c.stop = context.WithCancel(context.Background())
	c.adoptEncoder(ctx)
	err = c.load(ctx)
	if err == nil && !c.readOnly {
		err = c.introduce(ctx)
	}
	if err != nil {
		c.stop()
		db.close()
		return nil, err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.maintain()
	return c, nil
}

// collectionDatabase opens a collection's database, which is made if it is missing.
func collectionDatabase(folder string, o Options) (*database, error) {
	file := filepath.Join(folder, "main.db")
	if err := checkLog(file); err != nil {
		return nil, err
	}
	if o.ReadOnly {
		return openReadOnly(file)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return openDatabase(file, o.vfs, collectionSchema+freshSchema, o.at.log)
}

// respecify makes spec the collection's specification, if what it holds allows that.
func (c *collection) respecify(ctx context.Context, spec sextant.Collection, cat *catalog) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	e := c.entry
	if err := store.CheckChange(e.spec, spec, c.state.Documents > 0); err != nil {
		return err
	}
	if sameSpec(e.spec, spec) {
		return nil
	}
	e.spec = spec
	next := c.state
	known := c.index.names.with(spec.Schema)
	next.Names = known.list
	if err := c.db.update(ctx, smallWrite, func(tx *sql.Tx) error { return errors.Join(next.write(tx), e.writeAbout(tx)) }); err != nil {
		return failure("change specification", err)
	}
	if err := cat.respecify(ctx, e); err != nil {
		return err
	}
	analyzer, err := store.AnalyzerOf(spec)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.Documents == 0 { // kinds and folds may have changed: nothing holds them
		next.Dimension = 0
		c.index.file.close()
		c.index = newIndex(spec.Schema, known, analyzer, c.place())
	} else {
		c.index.define(spec.Schema, known)
	}
	c.entry, c.state = e, next
	c.schemas++
	c.unsaved = c.index.documents.slots // a derived file is of one specification
	return nil
}

func sameSpec(a, b sextant.Collection) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Spec implements store.Collection.
func (c *collection) Spec() sextant.Collection {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.entry.spec
}

// Sequence implements store.Collection.
func (c *collection) Sequence() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.Sequence
}

// Size implements store.Collection.
func (c *collection) Size(ctx context.Context) (store.Size, error) {
	if err := c.check(ctx); err != nil {
		return store.Size{}, fmt.Errorf("size: %w", err)
	}
	disk, err := c.disk()
	if err != nil {
		return store.Size{}, fmt.Errorf("size: %w", err)
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	size := store.Size{
		Documents: c.index.alive,
		Chunks:    c.index.chunks.live.count(),
		Disk:      disk,
		Memory:    c.index.memory(),
	}
	if c.index.vectors != nil {
		size.Vectors = size.Chunks
	}
	return size, nil
}

// disk adds up the collection's files.
func (c *collection) disk() (int64, error) {
	var total int64
	err := filepath.WalkDir(c.folder, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// check reports why nothing can be asked: the caller has given up, or the collection
// is closed.
func (c *collection) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return errClosed
	}
	return nil
}
