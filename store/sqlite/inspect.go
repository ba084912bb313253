package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// Inspector looks into a data folder that may be another process's: it takes no lock and
// changes nothing there. The lock says who may write; whoever reads through SQLite sees
// committed states only, whoever writes meanwhile, and never makes the writer wait.
type Inspector struct {
	dir string
	// live reports whether a collection ("" is the catalogue) may be in use, so that
	// the end of its log may be half written.
	live func(name string) bool
}

// Inspect returns an inspector of a data folder; fs.ErrNotExist if there is none.
func Inspect(dir string) (*Inspector, error) {
	if _, err := os.Stat(filepath.Join(dir, "c")); err != nil {
		return nil, fmt.Errorf("inspect data folder: %w", err)
	}
	_, held := Holder(dir)
	return &Inspector{dir, func(string) bool { return held }}, nil
}

func (i *Inspector) folder(name string) string { return filepath.Join(i.dir, "c", name) }

// catalog opens the catalogue.
func (i *Inspector) catalog() (*catalog, error) {
	path := filepath.Join(i.dir, catalogName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && len(databases(i.dir)) > 0 {
		return nil, fmt.Errorf("there are collections and no catalogue: %w", store.ErrCorrupt)
	}
	if !i.live("") {
		if err := checkLog(path); err != nil {
			return nil, err
		}
	}
	db, err := openToRead(path)
	if err != nil {
		return nil, err
	}
	return &catalog{db: &database{read: db, write: db, broken: errReadOnly}}, nil
}

func (c *catalog) close() error { return c.db.close() }

// openToRead opens a database that is there and changes nothing in it.
func openToRead(path string) (*sql.DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open database: %w: %w", store.ErrUnavailable, err)
	}
	db, err := openReading(path, false)
	if err == nil {
		return db, nil
	}
	// Where nothing at all can be written, not even the index of the log that readers
	// share, nobody else can be writing: without a log the file is all there is.
	if log, e := os.Stat(path + "-wal"); !errors.Is(err, store.ErrUnavailable) || e == nil && log.Size() > 0 {
		return nil, err
	}
	return openReading(path, true)
}

// openReading opens a database for reading; immutable says that it does not change, and
// that a log beside it is to be passed over.
func openReading(path string, immutable bool) (*sql.DB, error) {
	q := url.Values{"_txlock": {"deferred"}, "mode": {"ro"}, "_pragma": {"busy_timeout(5000)", "trusted_schema(0)", "cell_size_check(1)"}}
	if immutable {
		q.Set("immutable", "1")
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, failure("open database", err)
	}
	var tables int
	if err := db.QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
		db.Close()
		return nil, failure("open database", err)
	}
	return db, nil
}

// Check reads everything in the data folder and compares it with its checksums.
func (i *Inspector) Check(ctx context.Context) ([]Problem, error) {
	if _, err := os.Stat(filepath.Join(i.dir, restoreName)); err == nil {
		return []Problem{{What: "restoring a backup was interrupted after it had been unpacked; it is finished when the folder is opened the next time", Remedy: Nothing}}, nil
	}
	c, err := i.catalog()
	if errors.Is(err, store.ErrCorrupt) {
		return []Problem{{What: err.Error(), Remedy: Catalogue}}, nil
	} else if err != nil {
		return nil, fmt.Errorf("check catalogue: %w", err)
	}
	defer c.close()
	problems, err := c.verify(ctx)
	if err != nil {
		return problems, fmt.Errorf("check catalogue: %w", err)
	}
	entries, err := c.entries(ctx)
	if err != nil {
		return append(problems, Problem{What: err.Error(), Remedy: Catalogue}), nil
	}
	for _, e := range entries {
		found, err := i.verify(ctx, e)
		if err != nil {
			return problems, fmt.Errorf("check collection %s: %w", e.spec.Name, err)
		}
		problems = append(problems, found...)
	}
	stray, err := i.unlisted(ctx, c, entries)
	return append(problems, stray...), err
}

// Holding is what a data folder holds of one collection, as its files say.
type Holding struct {
	Spec      sextant.Collection
	Documents int64
	Dimension int   // of its vectors; 0 before the first
	Disk      int64 // bytes of the database, with its log
	Unused    int64 // bytes of these that nothing stands in; new documents fill them
	Derived   int64 // bytes of files that may be deleted
}

// Holdings lists what the folder holds, by name. A collection that cannot be read is
// listed with its files' sizes alone; Check says what is wrong with it.
func (i *Inspector) Holdings(ctx context.Context) ([]Holding, error) {
	c, err := i.catalog()
	if err != nil {
		return nil, fmt.Errorf("list holdings: %w", err)
	}
	defer c.close()
	entries, err := c.entries(ctx)
	if err != nil {
		return nil, failure("list holdings", err)
	}
	out := make([]Holding, len(entries))
	for n, e := range entries {
		out[n] = i.holding(ctx, e)
	}
	return out, nil
}

func (i *Inspector) holding(ctx context.Context, e entry) Holding {
	h := Holding{Spec: e.spec}
	path := filepath.Join(i.folder(e.folder), "main.db")
	h.Disk = sizes(path, path+"-wal")
	derived, _ := filepath.Glob(filepath.Join(i.folder(e.folder), derivedFolder, "*")) // the pattern is well-formed
	h.Derived = sizes(derived...)
	db, err := openToRead(path)
	if err != nil {
		return h
	}
	defer db.Close()
	if st, err := scanState(db.QueryRowContext(ctx, selectState).Scan); err == nil {
		h.Documents, h.Dimension = st.Documents, st.Dimension
	}
	var pages, size int64
	if db.QueryRowContext(ctx, `PRAGMA freelist_count`).Scan(&pages) == nil && db.QueryRowContext(ctx, `PRAGMA page_size`).Scan(&size) == nil {
		h.Unused = pages * size
	}
	return h
}

// sizes adds up the sizes of the files that are there.
func sizes(files ...string) int64 {
	total := int64(0)
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			total += info.Size()
		}
	}
	return total
}
