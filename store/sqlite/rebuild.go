package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// The catalogue can be made again: every collection's database says what it is, in the
// table about, which has the columns of the catalogue's own. What only the catalogue has
// are receipts and marks: of a damaged one those that are whole are taken over. A lost
// mark makes its file be read again, which changes nothing; a lost receipt is lost.

const (
	catalogName = "catalog.db"
	asideSuffix = ".damaged-" // and the seconds since 1970
)

// Rebuild makes the catalogue of a data folder again, which must be in no other
// process's hands. The old one is set aside, as catalog.db.damaged-<time>.
func Rebuild(ctx context.Context, o Options) error {
	l, err := acquire(o.Dir, o.Address)
	if err == nil {
		if err = finishRestore(o.Dir); err == nil {
			err = rebuild(ctx, o.Dir, o.vfs)
		}
		err = errors.Join(err, l.release())
	}
	if err != nil {
		return fmt.Errorf("rebuild catalogue: %w", err)
	}
	return nil
}

// soundCatalog opens the catalogue, made again if it is damaged, or missing where
// collections are. The caller has the folder's lock.
func soundCatalog(ctx context.Context, dir, vfs string, log *slog.Logger) (*catalog, error) {
	c, err := readableCatalog(ctx, dir, vfs)
	if err == nil || !errors.Is(err, store.ErrCorrupt) {
		return c, err
	}
	log.Warn("the catalogue is damaged and is made again from the collections; receipts of earlier runs may be lost", "folder", dir, "reason", err)
	if err := rebuild(ctx, dir, vfs); err != nil {
		return nil, err
	}
	return readableCatalog(ctx, dir, vfs)
}

// readableCatalog opens the catalogue and reads its entries; store.ErrCorrupt if one is
// damaged, or if a collection is not there that has not been dropped.
func readableCatalog(ctx context.Context, dir, vfs string) (*catalog, error) {
	c, err := openCatalog(filepath.Join(dir, catalogName), vfs)
	if err != nil {
		return nil, err
	}
	missing, err := c.missing(ctx, dir)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("it does not know the collection in %s: %w", missing[0], store.ErrCorrupt)
	}
	if err != nil {
		c.db.close()
		return nil, failure("read catalogue", err)
	}
	return c, nil
}

// missing lists the folders of collections that are neither entered nor dropped. A
// folder that does not say it is one, such as a copy by hand, is none.
func (c *catalog) missing(ctx context.Context, dir string) ([]string, error) {
	entries, err := c.entries(ctx)
	if err != nil {
		return nil, err
	}
	known, err := c.dropped(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		known = append(known, e.folder)
	}
	var out []string
	for _, path := range databases(dir) {
		folder := filepath.Base(filepath.Dir(path))
		if slices.Contains(known, folder) {
			continue
		}
		if e, err := readAbout(ctx, path); err == nil && e.folder == folder {
			out = append(out, folder)
		}
	}
	return out, nil
}

// databases lists the databases of a folder's collections.
func databases(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "c", "*", "main.db")) // the pattern is well-formed
	return files
}

// rebuild makes a catalogue beside its place, sets the old one aside and puts it there.
// It may be interrupted anywhere: without a catalogue the newest one set aside is the old one.
func rebuild(ctx context.Context, dir, vfs string) error {
	path, fresh := filepath.Join(dir, catalogName), filepath.Join(dir, catalogName+".new")
	if err := removeDatabase(fresh); err != nil {
		return err
	}
	c, err := openCatalog(fresh, vfs)
	if err != nil {
		return err
	}
	err = c.fill(ctx, dir, oldCatalog(path))
	if err := errors.Join(err, c.db.close()); err != nil {
		return err
	}
	aside := fmt.Sprintf("%s%s%d", path, asideSuffix, time.Now().Unix())
	for _, part := range []string{"-wal", "-shm", ""} { // a log beside the new file would be taken for its own
		if err := os.Rename(path+part, aside+part); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return syncFolder(dir)
}

func removeDatabase(path string) error {
	for _, part := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + part); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// oldCatalog returns the catalogue in place, or else the newest one set aside; "" if
// there is none.
func oldCatalog(path string) string {
	if _, err := os.Stat(path); err == nil {
		return path
	}
	aside, _ := filepath.Glob(path + asideSuffix + "*[0-9]") // the pattern is well-formed
	if len(aside) == 0 {
		return ""
	}
	return slices.Max(aside)
}

// fill enters what the collections say of themselves, and what can be read of an old
// catalogue.
func (c *catalog) fill(ctx context.Context, dir, old string) error {
	var kept remains
	if old != "" {
		kept = salvage(ctx, old)
	}
	entries, dropped, err := surviving(ctx, dir, kept.dropped)
	if err != nil {
		return err
	}
	kept.dropped = dropped
	// Sequences of a collection dropped before must not come back: no more than one
	// collection was ever made in a second.
	last := time.Now().Unix()
	for _, e := range entries {
		last = max(last, e.generation)
	}
	return c.db.update(ctx, smallWrite, func(tx *sql.Tx) error {
		for _, e := range entries {
			if err := e.insert(tx, "collection"); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(`UPDATE generation SET last = ?`, last); err != nil {
			return err
		}
		return kept.insert(tx)
	})
}

// insert enters the entry into a table that has the columns of the catalogue's.
func (e entry) insert(tx *sql.Tx, table string) error {
	body, err := json.Marshal(e.spec)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT OR REPLACE INTO `+table+`(name, folder, generation, spec, sum) VALUES(?,?,?,?,?)`, e.spec.Name, e.folder, e.generation, string(body),
		checksumOf(e.spec.Name, e.folder, fmt.Sprint(e.generation), string(body)))
	return err
}

// surviving returns the entries of the collections whose databases can be read, and the
// folders of dropped ones: of two of one name, the earlier was dropped and not yet removed.
func surviving(ctx context.Context, dir string, dropped []string) ([]entry, []string, error) {
	byName := map[string]entry{}
	for _, path := range databases(dir) {
		folder := filepath.Base(filepath.Dir(path))
		if slices.Contains(dropped, folder) {
			continue
		}
		e, err := readAbout(ctx, path)
		if errors.Is(err, store.ErrIO) || errors.Is(err, store.ErrUnavailable) {
			return nil, nil, fmt.Errorf("collection in %s: %w", folder, err) // for now: it must not be left out
		}
		if err != nil || e.folder != folder {
			continue
		}
		other, twice := byName[e.spec.Name]
		if twice && other.generation > e.generation {
			e, other = other, e
		}
		if twice {
			dropped = append(dropped, other.folder)
		}
		byName[e.spec.Name] = e
	}
	var out []entry
	for _, e := range byName {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.spec.Name, b.spec.Name) })
	return out, dropped, nil
}

const selectAbout = `SELECT name, folder, generation, spec, sum FROM about`

// readAbout reads what a collection's database says it is.
func readAbout(ctx context.Context, path string) (entry, error) {
	db, err := openToRead(path)
	if err != nil {
		return entry{}, err
	}
	defer db.Close()
	e, err := scanEntry(db.QueryRowContext(ctx, selectAbout).Scan)
	return e, failure("read what the collection is", err)
}

// introduce has the collection's database say what it is, if it does not yet.
func (c *collection) introduce(ctx context.Context) error {
	e, err := scanEntry(c.db.write.QueryRowContext(ctx, selectAbout).Scan)
	if err == nil && e.folder == c.entry.folder && e.generation == c.entry.generation && sameSpec(e.spec, c.entry.spec) {
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) && !errors.Is(err, store.ErrCorrupt) {
		return failure("read what the collection is", err)
	}
	return c.db.update(ctx, smallWrite, c.entry.writeAbout)
}

func (e entry) writeAbout(tx *sql.Tx) error {
	if _, err := tx.Exec(`DELETE FROM about`); err != nil {
		return err
	}
	return e.insert(tx, "about")
}

// remains is what could be read of a damaged catalogue, its rows as they were.
type remains struct {
	dropped  []string
	receipts [][]any
	marks    [][]any
}

// salvage reads the rows of a damaged catalogue whose sums are right, as far as SQLite
// gets.
func salvage(ctx context.Context, path string) remains {
	var r remains
	db, err := openToRead(path)
	if err != nil {
		return r
	}
	defer db.Close()
	r.receipts = wholeRows(ctx, db, `SELECT run, collection, body, sum FROM receipt`)
	r.marks = wholeRows(ctx, db, `SELECT key, value, sum FROM mark`)
	for _, row := range readRows(ctx, db, `SELECT folder FROM dropped`) {
		if folder, ok := row[0].(string); ok {
			r.dropped = append(r.dropped, folder)
		}
	}
	return r
}

// wholeRows returns the rows of text columns whose last column is their sum.
func wholeRows(ctx context.Context, db *sql.DB, query string) [][]any {
	return slices.DeleteFunc(readRows(ctx, db, query), func(row []any) bool {
		n := len(row) - 1
		texts := make([]string, n)
		for i := range texts {
			text, ok := row[i].(string)
			if !ok {
				return true
			}
			texts[i] = text
		}
		sum, ok := row[n].(int64)
		return !ok || sum != int64(checksumOf(texts...))
	})
}

// readRows reads rows until an error.
func readRows(ctx context.Context, db *sql.DB, query string) [][]any {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil
	}
	var out [][]any
	for rows.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if rows.Scan(into...) != nil {
			break
		}
		out = append(out, row)
	}
	if rows.Err() != nil {
		return out // what lies behind the damage is lost with it
	}
	return out
}

func (r remains) insert(tx *sql.Tx) error {
	for _, row := range r.receipts {
		if _, err := tx.Exec(`INSERT OR REPLACE INTO receipt VALUES(?,?,?,?)`, row...); err != nil {
			return err
		}
	}
	for _, row := range r.marks {
		if _, err := tx.Exec(`INSERT OR REPLACE INTO mark VALUES(?,?,?)`, row...); err != nil {
			return err
		}
	}
	for _, folder := range r.dropped {
		if _, err := tx.Exec(`INSERT OR REPLACE INTO dropped VALUES(?)`, folder); err != nil {
			return err
		}
	}
	return nil
}
