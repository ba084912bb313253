package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

// The index of words lies in files beside the derived file, but for what was added last
// (see lexical.Files). A derived file names those it is not whole without, so these stay
// until the next one is published, even where the index has merged them into others. All
// are caches: one that is missing or damaged has the index made anew of the rows.

// files says where an index keeps its words.
func (p derivedPlace) files() lexical.Files {
	var once sync.Once
	return lexical.Files{Folder: p.folder, ReadOnly: p.readOnly, Least: p.words, Warn: func(err error) {
		if errors.Is(err, lexical.ErrUnreadable) {
			p.damaged(err)
			return
		}
		once.Do(func() {
			p.log.Warn("the index of words cannot be written to files and stays in memory; nothing is lost", "folder", p.folder, "reason", err)
		})
	}}
}

// removeWordFiles removes the files that neither the index nor the newest derived file
// has any use for. The caller holds the writing lock, or is the only one here: a merge
// that goes on would lose its file.
func (c *collection) removeWordFiles() {
	if c.readOnly {
		return
	}
	used := append(c.index.text.View().Files(), c.saved...)
	files, _ := filepath.Glob(filepath.Join(c.folder, derivedFolder, "*"+lexical.FileSuffix)) // the pattern is well-formed
	for _, f := range files {
		if !slices.Contains(used, filepath.Base(f)) {
			os.Remove(f) // or the next time
		}
	}
}

// reading runs f, which may look at words. A file of theirs that cannot be read is
// store.ErrIO, and has the index made anew.
func (c *collection) reading(f func() error) error {
	var err error
	fault := lexical.Guard(func() { err = f() })
	if fault == nil && errors.Is(err, lexical.ErrUnreadable) { // of another goroutine
		fault = err
	}
	if fault != nil {
		if c.cannotRead(fault) {
			go c.maintainSoon()
		}
		return fmt.Errorf("%w: %w", store.ErrIO, fault)
	}
	return err
}

// cannotRead has the index made anew by the next maintenance, which every commit begins,
// and reports whether it is the first to say so.
func (c *collection) cannotRead(fault error) bool {
	first := c.unreadable.CompareAndSwap(false, true)
	if first {
		c.log.Warn("the index of words cannot be read and is made anew of the documents", "collection", c.name, "reason", fault)
	}
	return first
}

func (c *collection) maintainSoon() {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.maintain()
}
