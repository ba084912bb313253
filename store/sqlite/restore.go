package sqlite

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sextant-rag/sextant/store"
)

// A backup is unpacked and checked inside the data folder, in a folder of its own. Then
// one file that names it is written: from there on the backup is the data, and moving it
// into place, which is several renames, is finished by whoever opens the folder next if
// this process does not get to it.

const (
	restoreName   = "RESTORE"   // holds the name of the folder that is to be moved in
	unpackedName  = ".restore-" // and a number
	replacedName  = "replaced"  // in it: what was there before
	collectionDir = "c"
)

// Restore puts the collections and the catalogue of a backup into a data folder, which no
// process may have open. Where there are any, replace must be true, else it is
// fs.ErrExist; nothing else in the folder is touched. They are there whole or not at all,
// and what was there before stays until they are. A file that is not what its manifest
// says is store.ErrCorrupt.
func Restore(ctx context.Context, file, dir string, replace bool) error {
	if err := restore(ctx, file, dir, replace); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

func restore(ctx context.Context, file, dir string, replace bool) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if holds(dir) && !replace {
		return fmt.Errorf("%s holds documents: %w", dir, os.ErrExist)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	l, err := acquire(dir, "")
	if err != nil {
		return err
	}
	defer l.release() //nolint:errcheck // nothing is written through it
	if err := finishRestore(dir); err != nil {
		return err
	}
	if holds(dir) && !replace { // of a restore that was just finished, or of a moment ago
		return fmt.Errorf("%s holds documents: %w", dir, os.ErrExist)
	}
	scratch, err := os.MkdirTemp(dir, unpackedName+"*")
	if err != nil {
		return err
	}
	if err := unpack(ctx, tar.NewReader(f), scratch); err != nil {
		return errors.Join(err, os.RemoveAll(scratch))
	}
	if err := commitRestore(dir, filepath.Base(scratch)); err != nil {
		return errors.Join(err, os.RemoveAll(scratch))
	}
	return finishRestore(dir)
}

// holds reports whether a folder has a catalogue or collections.
func holds(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, catalogName))
	return err == nil || len(databases(dir)) > 0
}

// commitRestore makes the unpacked folder the data.
func commitRestore(dir, unpacked string) error {
	if err := os.MkdirAll(filepath.Join(dir, unpacked, replacedName), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, unpackedName+"*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(unpacked)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := syncFolder(filepath.Join(dir, unpacked)); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, restoreName)); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(dir)
}

// finishRestore moves what a committed restore unpacked into place, however far an
// earlier attempt got. What one that was never committed left behind is removed. The
// caller has the folder's lock.
func finishRestore(dir string) error {
	name, err := os.ReadFile(filepath.Join(dir, restoreName))
	if errors.Is(err, os.ErrNotExist) {
		return removeUnpacked(dir)
	} else if err != nil {
		return err
	}
	unpacked := filepath.Join(dir, filepath.Base(string(name)))
	if !strings.HasPrefix(string(name), unpackedName) {
		return fmt.Errorf("%s names %q: %w", restoreName, name, store.ErrCorrupt)
	}
	// The catalogue is last: until it is in place, so are the log and the index of the
	// old one, which SQLite would take for its own.
	for _, part := range []string{collectionDir, catalogName} {
		if err := moveIn(dir, unpacked, part); err != nil {
			return err
		}
	}
	if err := syncFolder(dir); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, restoreName)); err != nil {
		return err
	}
	return removeUnpacked(dir)
}

// moveIn moves one part into place, and what was there aside. A part that is no longer
// unpacked is in place.
func moveIn(dir, unpacked, part string) error {
	if _, err := os.Stat(filepath.Join(unpacked, part)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, old := range []string{part + "-wal", part + "-shm", part} {
		aside := filepath.Join(unpacked, replacedName, old)
		if err := os.Rename(filepath.Join(dir, old), aside); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.Rename(filepath.Join(unpacked, part), filepath.Join(dir, part))
}

func removeUnpacked(dir string) error {
	left, _ := filepath.Glob(filepath.Join(dir, unpackedName+"*")) // the pattern is well-formed
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// backedUp are the names a backup may hold: nothing in it is written anywhere else.
var backedUp = regexp.MustCompile(`^(catalog\.db|c/[a-z0-9_-]+/main\.db)$`)

func unpack(ctx context.Context, r *tar.Reader, into string) error {
	head, err := r.Next()
	if err != nil || head.Name != manifestName || head.Size > 64<<20 {
		return fmt.Errorf("it is no backup: %w", errors.Join(store.ErrCorrupt, err))
	}
	var m manifest
	if err := json.NewDecoder(io.LimitReader(r, head.Size)).Decode(&m); err != nil {
		return fmt.Errorf("its manifest: %w", errors.Join(store.ErrCorrupt, err))
	}
	if m.Format != format {
		return fmt.Errorf("it has format %d, this program reads %d: %w", m.Format, format, store.ErrUnsupported)
	}
	if err := os.Mkdir(filepath.Join(into, collectionDir), 0o700); err != nil {
		return err
	}
	for _, want := range m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		head, err := r.Next()
		if err != nil || head.Name != want.Name || head.Size != want.Size || !backedUp.MatchString(want.Name) {
			return fmt.Errorf("it does not hold %q as its manifest says: %w", want.Name, errors.Join(store.ErrCorrupt, err))
		}
		if err := unpackFile(r, filepath.Join(into, filepath.FromSlash(want.Name)), want); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(into, catalogName)); err != nil {
		return fmt.Errorf("it holds no catalogue: %w", store.ErrCorrupt)
	}
	return syncFolder(filepath.Join(into, collectionDir))
}

func unpackFile(r io.Reader, target string, want manifestFile) (err error) {
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(f, h), r); err != nil {
		return fmt.Errorf("%s: %w", want.Name, errors.Join(store.ErrCorrupt, err))
	}
	if hex.EncodeToString(h.Sum(nil)) != want.SHA256 {
		return fmt.Errorf("%s is damaged: %w", want.Name, store.ErrCorrupt)
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(target))
}
