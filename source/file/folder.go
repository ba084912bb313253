package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/source"
)

// input is one folder, or one file of it.
type input struct {
	source *Source
	place  place

	entries  []entry
	size     int64
	digest   string
	consumed atomic.Int64
}

// entry is what a folder holds at a path.
type entry struct {
	path     string // below the folder, with slashes
	size     int64
	modified time.Time
	skipped  string // why it is not read
	refused  string // why it cannot be
}

// list walks the folder in order of paths.
func (in *input) list(ctx context.Context) error {
	root, err := os.OpenRoot(in.place.folder)
	if err != nil {
		return fmt.Errorf("open %s: %w", in.place.label, err)
	}
	defer func() { _ = root.Close() }()
	if in.place.only != "" {
		in.add(root, in.place.only)
	} else if err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return in.visit(root, name, d, err)
	}); err != nil {
		return fmt.Errorf("list %s: %w", in.place.label, err)
	}
	in.digest = in.sum()
	return nil
}

func (in *input) visit(root *os.Root, name string, d fs.DirEntry, err error) error {
	switch {
	case err != nil && name == ".":
		return err
	case err != nil:
		in.entries = append(in.entries, entry{path: name, refused: reasonOf(err)})
		if d != nil && d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case name == ".":
		return nil
	}
	if why := in.source.options.passes(name); why != "" {
		in.entries = append(in.entries, entry{path: name, skipped: why})
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if !d.IsDir() {
		in.add(root, name)
	}
	return nil
}

// add notes a file, without opening it: to open a pipe would wait for its other end.
func (in *input) add(root *os.Root, name string) {
	e := entry{path: name}
	switch info, err := root.Lstat(name); {
	case err != nil:
		e.refused = reasonOf(err)
	case info.Mode()&fs.ModeSymlink != 0:
		e.skipped = "a symbolic link, which is not followed"
	case !info.Mode().IsRegular():
		e.skipped = "no regular file"
	default:
		e.size, e.modified = info.Size(), info.ModTime()
		in.size += e.size
	}
	in.entries = append(in.entries, e)
}

// passes says why a name is passed over, "" if it is not.
func (o Options) passes(name string) string {
	base := path.Base(name)
	switch {
	case strings.HasPrefix(base, ".") && !o.Hidden:
		return "hidden (its name begins with a dot)"
	case strings.HasPrefix(base, "~$"):
		return "a lock of an office program"
	}
	for _, pattern := range o.Ignore {
		for _, text := range []string{base, name} {
			if ok, _ := path.Match(strings.TrimSuffix(pattern, "/"), text); ok { // patterns were checked
				return "ignored (" + pattern + ")"
			}
		}
	}
	return ""
}

// reasonOf is what the system says about a file, without its path.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "it may not be read: check its owner and permissions"
	case errors.Is(err, fs.ErrNotExist):
		return "it was removed while the folder was read"
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// settling is how old a file must be for its time to tell that it has not changed since:
// file systems count in steps of up to two seconds.
const settling = 3 * time.Second

// sum is the digest of the listing. A file that is too young for its time to tell makes
// it unlike any other.
func (in *input) sum() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %+v\n", reader, in.place.name(), in.source.options)
	for _, e := range in.entries {
		fmt.Fprintf(h, "%q %d %d %q %q\n", e.path, e.size, e.modified.UnixNano(), e.skipped, e.refused)
		if time.Since(e.modified) < settling {
			fmt.Fprintf(h, "young %d\n", time.Now().UnixNano())
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Name implements source.Input.
func (in *input) Name() string { return in.place.name() }

// Kind implements source.Input.
func (in *input) Kind() string {
	if in.place.only != "" {
		return "file"
	}
	return "folder"
}

// Size implements source.Input.
func (in *input) Size() int64 { return in.size }

// Digest implements source.Input.
func (in *input) Digest(context.Context) (string, error) { return in.digest, nil }

// Consumed implements source.Input.
func (in *input) Consumed() int64 { return in.consumed.Load() }

// Notes implements source.Input.
func (in *input) Notes() source.Notes { return source.Notes{} }

// Items implements source.Input. Records are entries; they stand on no line.
func (in *input) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		in.consumed.Store(0)
		at := source.Position{Line: noLine}
		for i := range in.entries {
			e := &in.entries[i]
			next := source.Position{Record: at.Record + 1, Line: noLine}
			in.consumed.Add(e.size)
			if at.Record >= after.Record {
				if err := ctx.Err(); err != nil {
					yield(source.Item{}, err)
					return
				}
				if !yield(in.item(ctx, e, at, next), nil) {
					return
				}
			}
			at = next
		}
	}
}

// noLine makes the first line of a record, from 1, none.
const noLine = -1

func (in *input) item(ctx context.Context, e *entry, at, next source.Position) source.Item {
	id := in.id(e)
	item := source.Item{At: at, Next: next, ID: id, Size: e.size}
	switch {
	case e.refused != "":
		item.Outcome, item.Reason = sextant.Refused, e.refused
	case e.skipped != "":
		item.Outcome, item.Reason = sextant.Skipped, e.skipped
	default:
		item.Contribution = &contribution{ctx: ctx, in: in, entry: e, id: id}
	}
	return item
}

func (in *input) id(e *entry) sextant.DocumentID {
	return sextant.DocumentID(in.source.name + ":" + in.place.label + "/" + escape(e.path))
}

// escape writes bytes that are no characters, and those that control a terminal or would
// end a line, as %XX.
func escape(name string) string {
	plain := utf8.ValidString(name) && strings.IndexFunc(name, unicode.IsControl) < 0
	if plain {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) {
			for _, c := range []byte(name[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}
