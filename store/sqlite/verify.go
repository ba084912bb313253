package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// Problem is something wrong with a data folder.
type Problem struct {
	Collection string             // "" is the catalogue
	Document   sextant.DocumentID // where it is known and only this one is damaged
	What       string
	Remedy     Remedy
}

// Remedy is what helps against a Problem.
type Remedy string

// The remedies.
const (
	Nothing   Remedy = "nothing needs to be done"                         // it mends itself
	Mend      Remedy = "repair, then ingest again what is lost"           // Store.Repair
	Catalogue Remedy = "make the catalogue again from the collections"    // Rebuild
	Replace   Remedy = "restore a backup, or ingest everything once more" // damage to the file's structure
)

// Check reads everything in the data folder and compares it with its checksums, while the
// store serves. Damage that keeps a collection from opening is found as well.
func (s *Store) Check(ctx context.Context) ([]Problem, error) {
	return (&Inspector{s.dir, s.isOpen}).Check(ctx)
}

// verify looks through the catalogue's file and its rows.
func (c *catalog) verify(ctx context.Context) ([]Problem, error) {
	problems, err := quickCheck(ctx, c.db.read, "", Catalogue)
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	if _, err := c.Receipts(ctx, "", 0); err != nil {
		problems = append(problems, Problem{What: err.Error(), Remedy: Catalogue})
	}
	rows, err := c.db.read.QueryContext(ctx, `SELECT key, value, sum FROM mark`)
	if err != nil {
		return problems, failure("read marks", err)
	}
	defer rows.Close()
	for rows.Next() {
		var key, value string
		var sum uint32
		if err := rows.Scan(&key, &value, &sum); err != nil {
			return problems, failure("read marks", err)
		}
		if sum != checksumOf(key, value) {
			problems = append(problems, Problem{What: fmt.Sprintf("mark %q has a wrong checksum", key), Remedy: Catalogue})
		}
	}
	return problems, failure("read marks", rows.Err())
}

// quickCheck has SQLite look through the structure of a file. Damage it does not even
// get past is a problem like any other.
func quickCheck(ctx context.Context, db *sql.DB, collection string, remedy Remedy) ([]Problem, error) {
	rows, err := db.QueryContext(ctx, `PRAGMA quick_check`)
	var problems []Problem
	if err == nil {
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return nil, failure("check structure", err)
			}
			if line != "ok" {
				problems = append(problems, Problem{Collection: collection, What: line, Remedy: remedy})
			}
		}
		err = rows.Err()
	}
	if err = failure("check structure", err); errors.Is(err, store.ErrCorrupt) {
		return append(problems, Problem{Collection: collection, What: err.Error(), Remedy: remedy}), nil
	}
	return problems, err
}

// unlisted reports folders that no entry of the catalogue names, and catalogues set aside.
func (i *Inspector) unlisted(ctx context.Context, c *catalog, entries []entry) ([]Problem, error) {
	folders, err := os.ReadDir(filepath.Join(i.dir, "c"))
	if err != nil {
		return nil, fmt.Errorf("check folders: %w", err)
	}
	dropped, err := c.dropped(ctx)
	if err != nil {
		return nil, failure("check folders", err)
	}
	missing, err := c.missing(ctx, i.dir)
	if err != nil {
		return nil, failure("check folders", err)
	}
	var problems []Problem
	for _, f := range folders {
		remedy := Nothing
		if slices.Contains(missing, f.Name()) {
			remedy = Catalogue
		}
		listed := slices.ContainsFunc(entries, func(e entry) bool { return e.folder == f.Name() })
		if !listed && !slices.Contains(dropped, f.Name()) {
			problems = append(problems, Problem{What: fmt.Sprintf("folder c/%s belongs to no collection of the catalogue", f.Name()), Remedy: remedy})
		}
	}
	aside, _ := filepath.Glob(filepath.Join(i.dir, catalogName+asideSuffix+"*[0-9]")) // the pattern is well-formed
	for _, path := range aside {
		problems = append(problems, Problem{What: fmt.Sprintf("the catalogue was made again, and receipts may have been lost; the old one is %s, which can be deleted", filepath.Base(path)), Remedy: Nothing})
	}
	return problems, nil
}

// verify looks through one collection. The log of one that is in use is being written,
// and was looked at when it was opened.
func (i *Inspector) verify(ctx context.Context, e entry) ([]Problem, error) {
	path := filepath.Join(i.folder(e.folder), "main.db")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil // never opened
	}
	if !i.live(e.spec.Name) {
		if err := checkLog(path); err != nil {
			return []Problem{{Collection: e.spec.Name, What: err.Error(), Remedy: Mend}}, nil
		}
	}
	db, err := openToRead(path)
	if err != nil {
		return asProblem(e.spec.Name, err)
	}
	defer db.Close()
	problems, err := quickCheck(ctx, db, e.spec.Name, Replace)
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, failure("begin", err)
	}
	defer tx.Rollback()
	a := audit{collection: e.spec.Name}
	if a.state, err = readState(ctx, tx); errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	} else if err != nil {
		return asProblem(e.spec.Name, err)
	}
	if err := a.run(ctx, tx); err != nil {
		return a.problems, err
	}
	i.verifyDerived(e, a.state, &a)
	return a.problems, nil
}

// isOpen reports whether a collection is in use. The catalogue always is.
func (s *Store) isOpen(name string) bool {
	if name == "" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[name] != nil
}

// asProblem turns damage that ends a check into what it found.
func asProblem(collection string, err error) ([]Problem, error) {
	if err = failure("read", err); errors.Is(err, store.ErrCorrupt) {
		return []Problem{{Collection: collection, What: err.Error(), Remedy: Replace}}, nil
	}
	return nil, err
}

func (i *Inspector) verifyDerived(e entry, st state, a *audit) {
	c := &collection{folder: i.folder(e.folder), readOnly: true, log: slog.New(slog.DiscardHandler)}
	for _, path := range c.derivedFiles() {
		_, _, err := readDerived(path, c.place(), e.spec, st)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errNewer) { // these come of work going on
			a.report("", Nothing, "derived file %s is of no use: %v", filepath.Base(path), err)
		}
	}
}

// audit compares the rows of a collection with their sums and with its state.
type audit struct {
	collection string
	state      state
	problems   []Problem
	damaged    []int64         // rows that are not what was written
	chunks     map[int64]int64 // by row: how many chunks it has
	found      int64
	marks      uint64
	last       int64
}

func (a *audit) report(id string, r Remedy, format string, args ...any) {
	a.problems = append(a.problems, Problem{Collection: a.collection, Document: sextant.DocumentID(id), What: fmt.Sprintf(format, args...), Remedy: r})
}

func (a *audit) run(ctx context.Context, tx *sql.Tx) error {
	a.chunks = map[int64]int64{}
	if err := a.documents(ctx, tx); err != nil {
		return failure("check documents", err)
	}
	if err := a.vectors(ctx, tx); err != nil {
		return failure("check vectors", err)
	}
	if len(a.damaged) == 0 && (a.found != a.state.Documents || a.marks != a.state.Marks) {
		a.report("", Mend, "there are %d documents of %d, or others", a.found, a.state.Documents)
	}
	return nil
}

func (a *audit) documents(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, selectDoc+`ORDER BY row`)
	if err != nil {
		return err
	}
	defer rows.Close()
	known := newNames(a.state.Names)
	ids := map[string]bool{}
	for rows.Next() {
		r, err := scanRow(rows.Scan)
		if err == nil {
			_, err = r.document(a.collection, known)
		}
		if err == nil {
			_, err = r.decodeChunks()
		}
		if err == nil && ids[r.id] {
			err = fmt.Errorf("%s stands twice: %w", r.id, store.ErrCorrupt)
		}
		a.last = max(a.last, r.number)
		if err != nil {
			a.damaged = append(a.damaged, r.number)
			a.report(r.id, Mend, "%v", err)
			continue
		}
		ids[r.id] = true
		a.found++
		a.marks ^= mark(r.number, r.sum)
		a.chunks[r.number] = int64(r.chunkCount())
	}
	return rows.Err()
}

func (a *audit) vectors(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `SELECT chunk, v FROM vec ORDER BY chunk`)
	if err != nil {
		return err
	}
	defer rows.Close()
	good := map[int64]int64{}
	v := make([]float32, a.state.Dimension)
	for rows.Next() {
		var key int64
		var blob sql.RawBytes
		if err := rows.Scan(&key, &blob); err != nil {
			return err
		}
		if decodeVector(v, key, blob) == nil && key&(1<<chunkBits-1) == good[key>>chunkBits] {
			good[key>>chunkBits]++
		}
	}
	if a.state.Dimension > 0 {
		for number, n := range a.chunks {
			if good[number] != n {
				a.damaged = append(a.damaged, number)
				a.report("", Mend, "row %d has %d whole vectors for %d chunks", number, good[number], n)
			}
		}
	}
	return rows.Err()
}

// Repair takes out of a collection what is damaged, so that it opens again, and reports
// what that was; what is left is as it was written. The documents that are gone come
// back by ingesting again. Damage to the structure of the file is store.ErrCorrupt: it
// takes a backup, or a new start.
func (s *Store) Repair(ctx context.Context, name string) ([]Problem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return nil, fmt.Errorf("repair %s: %w", name, errClosed)
	}
	if s.options.ReadOnly {
		return nil, fmt.Errorf("repair %s: %w", name, errReadOnly)
	}
	e, err := s.catalog.entry(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("repair %q: %w", name, err)
	}
	if c := s.open[name]; c != nil {
		delete(s.open, name)
		if err := c.close(false); err != nil {
			return nil, fmt.Errorf("repair %s: %w", name, err)
		}
	}
	if err := os.RemoveAll(filepath.Join(s.folder(e.folder), derivedFolder)); err != nil {
		return nil, fmt.Errorf("repair %s: %w", name, err)
	}
	if e, err = s.catalog.renew(ctx, e); err != nil {
		return nil, fmt.Errorf("repair %s: %w", name, err)
	}
	problems, err := s.mend(ctx, e)
	if err != nil {
		return problems, fmt.Errorf("repair %s: %w", name, err)
	}
	return problems, nil
}

// mend deletes damaged rows and writes a state that fits what is left.
func (s *Store) mend(ctx context.Context, e entry) ([]Problem, error) {
	db, err := openDatabase(filepath.Join(s.folder(e.folder), "main.db"), s.options.vfs, collectionSchema, s.options.at.log)
	if err != nil {
		return nil, err
	}
	defer db.close()
	a := audit{collection: e.spec.Name}
	problems, err := quickCheck(ctx, db.read, e.spec.Name, Replace)
	if err == nil && len(problems) > 0 {
		return problems, fmt.Errorf("the file's structure is damaged: %w", store.ErrCorrupt)
	}
	if err != nil {
		return nil, err
	}
	err = db.update(ctx, smallWrite, func(tx *sql.Tx) error {
		var err error
		if a.state, err = readState(ctx, tx); errors.Is(err, sql.ErrNoRows) {
			return nil // it begins anew when it is opened
		} else if err != nil {
			return err
		}
		if err := a.run(ctx, tx); err != nil {
			return err
		}
		return errors.Join(a.mend(ctx, tx, e.generation), e.writeAbout(tx))
	})
	return a.problems, err
}

func (a *audit) mend(ctx context.Context, tx *sql.Tx, generation int64) error {
	for _, number := range a.damaged {
		if _, err := tx.Exec(`DELETE FROM doc WHERE row = ?`, number); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(`DELETE FROM vec WHERE chunk >> ? NOT IN (SELECT row FROM doc)`, chunkBits); err != nil {
		return err
	}
	again := audit{collection: a.collection, state: a.state}
	if err := again.run(ctx, tx); err != nil {
		return err
	}
	st := a.state
	st.Documents, st.Marks = again.found, again.marks
	st.Next = max(st.Next, again.last+1)
	st.Sequence = uint64(generation) << 32
	return st.write(tx)
}
