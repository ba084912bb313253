package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/sextant-rag/sextant/extract"
	"github.com/sextant-rag/sextant/source"
)

// Options say what of a folder is taken.
type Options struct {
	Hidden bool     // names that begin with a dot, too
	Ignore []string // patterns (path.Match) of names, or of paths below the folder
}

// Source is some files and folders.
type Source struct {
	name      string
	extractor *extract.Extractor
	options   Options
	places    []place
}

// place is a path as it was given: a folder, or one file of it.
type place struct {
	folder string // on this machine
	label  string // what ids begin with: the folder's own name
	only   string // the one file, "" for all
}

// reader is the version of the reading. Documents made by another one are made again.
const reader = "files/1"

// ErrSameName says that two folders would give documents of one id.
var ErrSameName = errors.New("two folders have the same name")

// New returns the source of files and folders. collection is the prefix of ids. A path
// that does not exist is an error, as are two folders of one name.
func New(collection string, x *extract.Extractor, o Options, paths ...string) (*Source, error) {
	s := &Source{name: collection, extractor: x, options: o}
	for _, pattern := range o.Ignore {
		if _, err := filepath.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("ignore %q: %w", pattern, err)
		}
	}
	for _, path := range paths {
		p, err := placeOf(path)
		if err != nil {
			return nil, err
		}
		if slices.Contains(s.places, p) {
			continue
		}
		if slices.ContainsFunc(s.places, func(q place) bool { return q.label == p.label && q.folder != p.folder }) {
			return nil, fmt.Errorf("%w: %s", ErrSameName, p.label)
		}
		s.places = append(s.places, p)
	}
	return s, nil
}

func placeOf(path string) (place, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return place{}, fmt.Errorf("open %s: %w", path, err)
	}
	info, err := os.Stat(whole)
	if err != nil {
		return place{}, fmt.Errorf("open %s: %w", path, err)
	}
	p := place{folder: whole}
	if !info.IsDir() {
		p.folder, p.only = filepath.Dir(whole), filepath.Base(whole)
	}
	if p.label = escape(filepath.Base(p.folder)); p.label == "/" || p.label == "." {
		p.label = "root"
	}
	return p, nil
}

// Name implements source.Source.
func (s *Source) Name() string { return s.name }

// Version implements source.Source. What is hidden and ignored decides which documents
// there are, not what they say; it is part of a folder's digest.
func (s *Source) Version() string { return reader }

// Covers implements source.Covering.
func (s *Source) Covers(name string) bool {
	return slices.ContainsFunc(s.places, func(p place) bool { return p.name() == name })
}

// name is the input's: of the folder, or of the file with its folder.
func (p place) name() string {
	if p.only == "" {
		return p.label
	}
	return p.label + "/" + escape(p.only)
}

// Inputs implements source.Source. Folders are listed here.
func (s *Source) Inputs(ctx context.Context) ([]source.Input, error) {
	var out []source.Input
	for _, p := range s.places {
		in := &input{source: s, place: p}
		if err := in.list(ctx); err != nil {
			return nil, err
		}
		out = append(out, in)
	}
	return out, nil
}
