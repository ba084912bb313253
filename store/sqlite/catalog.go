package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// catalog is the folder's own database: which collections there are, and the journal.
type catalog struct {
	db *database

	mu    sync.Mutex
	known map[string]knownSpec // by collection
}

// knownSpec is a collection as it stood in the catalogue when it was listed last, and as it was
// read: every question lists them, to see what other processes have done, and seldom has
// anything changed.
type knownSpec struct {
	body string
	spec sextant.Collection
}

// The sums are CRC-32C of what stands before them in the row, as checksumOf takes
// them: SQLite notices damage to its structure, not to its contents.
const catalogSchema = `
CREATE TABLE IF NOT EXISTS collection(name TEXT PRIMARY KEY, folder TEXT NOT NULL UNIQUE, generation INTEGER NOT NULL, spec TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS generation(last INTEGER NOT NULL);
INSERT INTO generation SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM generation);
CREATE TABLE IF NOT EXISTS dropped(folder TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS receipt(run TEXT PRIMARY KEY, collection TEXT NOT NULL, body TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS receipt_collection ON receipt(collection, run);
CREATE TABLE IF NOT EXISTS mark(key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL);
`

// entry is a collection as the catalogue knows it.
type entry struct {
	spec   sextant.Collection
	folder string
	// generation counts the collections ever made or repaired in this folder. It is the
	// upper part of the sequence, so that one made again under a dropped one's name, or
	// one that lost something, never shows an old number for other content.
	generation int64
}

func openCatalog(path, vfs string) (*catalog, error) {
	if err := checkLog(path); err != nil {
		return nil, err
	}
	db, err := openDatabase(path, vfs, catalogSchema, usual.log)
	if err != nil {
		return nil, err
	}
	return &catalog{db: db}, nil
}

// create enters a new collection.
func (c *catalog) create(ctx context.Context, spec sextant.Collection) error {
	return failure("enter collection", c.db.update(ctx, smallWrite, func(tx *sql.Tx) error {
		var generation int64
		if err := tx.QueryRow(`UPDATE generation SET last = last + 1 RETURNING last`).Scan(&generation); err != nil {
			return err
		}
		return entry{spec, fmt.Sprintf("%s-%d", spec.Name, generation), generation}.insert(tx, "collection")
	}))
}

// renew gives a collection a new generation, so that no sequence it had comes back.
func (c *catalog) renew(ctx context.Context, e entry) (entry, error) {
	err := c.db.update(ctx, smallWrite, func(tx *sql.Tx) error {
		return tx.QueryRow(`UPDATE generation SET last = last + 1 RETURNING last`).Scan(&e.generation)
	})
	if err == nil {
		err = c.respecify(ctx, e)
	}
	return e, failure("renew collection", err)
}

// respecify replaces a collection's entry.
func (c *catalog) respecify(ctx context.Context, e entry) error {
	return failure("change specification", c.db.update(ctx, smallWrite, func(tx *sql.Tx) error { return e.insert(tx, "collection") }))
}

// drop takes a collection's entry out and notes its folder for removal. Folders are
// removed because they are listed here, never because nothing names them: a damaged
// catalogue must not take the documents with it.
func (c *catalog) drop(ctx context.Context, e entry) error {
	return c.db.update(ctx, smallWrite, func(tx *sql.Tx) error {
		if _, err := tx.Exec(`DELETE FROM collection WHERE name = ?`, e.spec.Name); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT OR REPLACE INTO dropped VALUES(?)`, e.folder)
		return err
	})
}

// dropped lists the folders that are to be removed.
func (c *catalog) dropped(ctx context.Context) ([]string, error) {
	rows, err := c.db.read.QueryContext(ctx, `SELECT folder FROM dropped`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var folder string
		if err := rows.Scan(&folder); err != nil {
			return nil, err
		}
		out = append(out, folder)
	}
	return out, rows.Err()
}

func (c *catalog) forget(ctx context.Context, folder string) error {
	return c.db.update(ctx, smallWrite, func(tx *sql.Tx) error {
		_, err := tx.Exec(`DELETE FROM dropped WHERE folder = ?`, folder)
		return err
	})
}

const selectEntry = `SELECT name, folder, generation, spec, sum FROM collection `

// entry returns a collection's entry; store.ErrNotFound if there is none.
func (c *catalog) entry(ctx context.Context, name string) (entry, error) {
	e, err := scanEntry(c.db.read.QueryRowContext(ctx, selectEntry+`WHERE name = ?`, name).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return e, store.ErrNotFound
	}
	return e, failure("read catalogue", err)
}

func scanEntry(scan func(...any) error) (entry, error) {
	return scanEntryBy(scan, func(_, body string) (spec sextant.Collection, err error) {
		err = json.Unmarshal([]byte(body), &spec)
		return spec, err
	})
}

// scanEntryBy reads an entry, its collection by a function of name and text.
func scanEntryBy(scan func(...any) error, read func(name, body string) (sextant.Collection, error)) (entry, error) {
	var e entry
	var name, body string
	var sum uint32
	if err := scan(&name, &e.folder, &e.generation, &body, &sum); err != nil {
		return e, err
	}
	if sum != checksumOf(name, e.folder, fmt.Sprint(e.generation), body) {
		return e, fmt.Errorf("catalogue entry of %q: %w", name, store.ErrCorrupt)
	}
	var err error
	if e.spec, err = read(name, body); err != nil {
		return e, fmt.Errorf("catalogue entry of %q: %w", name, err)
	}
	return e, nil
}

// readSpec reads the text of a collection, unless it is the one that was read last. Who gets it
// may change its lists.
func (c *catalog) readSpec(name, body string) (sextant.Collection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.known[name]
	if !ok || k.body != body {
		k = knownSpec{body: body}
		if err := json.Unmarshal([]byte(body), &k.spec); err != nil {
			return sextant.Collection{}, err
		}
		if c.known == nil {
			c.known = map[string]knownSpec{}
		}
		c.known[name] = k
	}
	spec := k.spec
	spec.Schema.Fields, spec.Schema.Groups = slices.Clone(spec.Schema.Fields), slices.Clone(spec.Schema.Groups)
	return spec, nil
}

// entries returns all entries by name.
func (c *catalog) entries(ctx context.Context) ([]entry, error) {
	rows, err := c.db.read.QueryContext(ctx, selectEntry+`ORDER BY name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []entry
	for rows.Next() {
		e, err := scanEntryBy(rows.Scan, c.readSpec)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

func (c *catalog) specs(ctx context.Context) ([]sextant.Collection, error) {
	entries, err := c.entries(ctx)
	if err != nil {
		return nil, err
	}
	specs := make([]sextant.Collection, len(entries))
	for i, e := range entries {
		specs[i] = e.spec
	}
	return specs, nil
}
