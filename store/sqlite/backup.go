package sqlite

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"
)

// A backup is one tar file: manifest.json, and then each database of the folder as
// VACUUM INTO copies it, under its name in the folder. Derived files are left out.

// manifest says what a backup holds.
type manifest struct {
	Format int            `json:"format"`
	Made   time.Time      `json:"made"`
	Files  []manifestFile `json:"files"`
}

type manifestFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

const manifestName = "manifest.json"

// Backup writes everything in the data folder into a file, while the store goes on
// serving; see Inspector.Backup.
func (s *Store) Backup(ctx context.Context, file string) error {
	return (&Inspector{s.dir, s.isOpen}).Backup(ctx, file)
}

// Backup writes everything in the data folder into a file, beside whichever process has
// it open. Every collection is copied as of one moment. The catalogue is copied first: a
// mark in a backup so never promises a document that is not in it. The file is there
// whole or not at all, and replaces one of its name.
func (i *Inspector) Backup(ctx context.Context, file string) error {
	if err := i.backup(ctx, file); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

func (i *Inspector) backup(ctx context.Context, file string) error {
	scratch, err := os.MkdirTemp(filepath.Dir(file), ".backup-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	m, err := i.copyDatabases(ctx, scratch)
	if err != nil {
		return err
	}
	whole := filepath.Join(scratch, "backup.tar")
	if err := writeTar(whole, scratch, m); err != nil {
		return err
	}
	if err := os.Rename(whole, file); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(file))
}

// copyDatabases copies the databases into a folder, under their names.
func (i *Inspector) copyDatabases(ctx context.Context, into string) (manifest, error) {
	m := manifest{Format: format, Made: time.Now().UTC().Truncate(time.Second)}
	c, err := i.catalog()
	if err != nil {
		return m, err
	}
	err = m.copy(ctx, c.db.read, into, catalogName)
	if err := errors.Join(err, c.close()); err != nil {
		return m, err
	}
	entries, err := entriesOf(ctx, filepath.Join(into, catalogName)) // what the copy names is what it needs
	if err != nil {
		return m, failure("read catalogue", err)
	}
	for _, e := range entries {
		if err := i.copyCollection(ctx, &m, e, into); err != nil {
			return m, fmt.Errorf("copy collection %s: %w", e.spec.Name, err)
		}
	}
	return m, nil
}

func entriesOf(ctx context.Context, path string) ([]entry, error) {
	db, err := openReadOnly(path)
	if err != nil {
		return nil, err
	}
	c := &catalog{db: db}
	defer c.close()
	return c.entries(ctx)
}

func (i *Inspector) copyCollection(ctx context.Context, m *manifest, e entry, into string) error {
	name := path.Join("c", e.folder, "main.db")
	source := filepath.Join(i.dir, filepath.FromSlash(name))
	if _, err := os.Stat(source); errors.Is(err, os.ErrNotExist) {
		return nil // never opened, or dropped meanwhile
	}
	if !i.live(e.spec.Name) {
		if err := checkLog(source); err != nil {
			return err
		}
	}
	db, err := openToRead(source)
	if err != nil {
		return err
	}
	defer db.Close()
	return m.copy(ctx, db, into, name)
}

// copy copies one database and enters it.
func (m *manifest) copy(ctx context.Context, db *sql.DB, into, name string) error {
	target := filepath.Join(into, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, target); err != nil {
		return failure("copy", err)
	}
	size, sum, err := digest(target)
	m.Files = append(m.Files, manifestFile{Name: name, Size: size, SHA256: sum})
	return err
}

func digest(file string) (size int64, sum string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// writeTar packs the files of a manifest, durably.
func writeTar(file, from string, m manifest) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	w := tar.NewWriter(f)
	if err := w.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(body)), ModTime: m.Made}); err != nil {
		return err
	}
	if _, err := w.Write(body); err != nil {
		return err
	}
	for _, entry := range m.Files {
		if err := appendFile(w, from, entry, m.Made); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Sync()
}

func appendFile(w *tar.Writer, from string, entry manifestFile, made time.Time) error {
	if err := w.WriteHeader(&tar.Header{Name: entry.Name, Mode: 0o600, Size: entry.Size, ModTime: made}); err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(from, filepath.FromSlash(entry.Name)))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
