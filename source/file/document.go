package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/extract"
	"github.com/sextant-rag/sextant/filter"
)

// contribution is a file on its way to be a document. It is opened only when the
// document as stored is known, and closed again at once.
type contribution struct {
	ctx   context.Context //nolint:containedctx // the work is the caller's, who cannot hand it over later
	in    *input
	entry *entry
	id    sextant.DocumentID
}

// Merge implements source.Contribution. An error is about the file: it refuses it.
func (c *contribution) Merge(old *sextant.Document) (sextant.Document, bool, error) {
	if c.known(old) {
		return *old, false, nil
	}
	root, err := os.OpenRoot(c.in.place.folder)
	if err != nil {
		return sextant.Document{}, false, fmt.Errorf("%s", reasonOf(err))
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(c.entry.path)
	if err != nil {
		return sextant.Document{}, false, fmt.Errorf("%s", reasonOf(err))
	}
	defer func() { _ = f.Close() }()
	doc, err := c.read(f, old)
	return doc, false, err
}

// known reports whether the document as stored was made of the file as it is.
func (c *contribution) known(old *sextant.Document) bool {
	if old == nil || old.Meta.Fields.One(fieldReader).Str() != reader {
		return false
	}
	modified := filter.OfTime(c.entry.modified)
	settled := old.Source.Retrieved.Sub(c.entry.modified) > settling
	return settled && old.Meta.Fields.One(fieldSize).Int() == c.entry.size && old.Meta.Fields.One(fieldModified) == modified
}

// attempts is how often a file that changes under the reader is tried.
const attempts = 2

func (c *contribution) read(f *os.File, old *sextant.Document) (sextant.Document, error) {
	for range attempts {
		before, err := f.Stat()
		if err != nil {
			return sextant.Document{}, fmt.Errorf("%s", reasonOf(err))
		}
		if !before.Mode().IsRegular() {
			return sextant.Document{}, fmt.Errorf("it is no regular file any more")
		}
		digest, err := digestOf(c.ctx, f, before.Size())
		if err != nil {
			return sextant.Document{}, err
		}
		if old != nil && old.Meta.Fields.One(fieldDigest).Str() == digest && old.Meta.Fields.One(fieldReader).Str() == reader {
			return *old, nil
		}
		text, err := c.in.source.extractor.Extract(c.ctx, path.Base(c.entry.path), f, before.Size())
		if r := extract.RefusalOf(err); r != nil && r.Code == extract.Changed {
			continue
		}
		if err != nil {
			return sextant.Document{}, err
		}
		after, err := f.Stat()
		if err != nil {
			return sextant.Document{}, fmt.Errorf("%s", reasonOf(err))
		}
		if after.Size() == before.Size() && after.ModTime().Equal(before.ModTime()) {
			return c.document(text, digest, before.Size(), before.ModTime()), nil
		}
	}
	return sextant.Document{}, fmt.Errorf("it changed while it was read: take it in again when nothing writes to it")
}

func digestOf(ctx context.Context, r io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	section := io.NewSectionReader(r, 0, size)
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := io.CopyN(h, section, 4<<20)
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", fmt.Errorf("%s", reasonOf(err))
		}
	}
}

// document puts together what a file says and what is known of it.
func (c *contribution) document(t extract.Text, digest string, size int64, modified time.Time) sextant.Document {
	where := c.in.place.label + "/" + escape(c.entry.path)
	doc := sextant.Document{
		ID: c.id, Collection: c.in.source.name, Title: t.Title, Text: t.Text, Parts: t.Parts,
		Source: sextant.Source{Name: c.in.source.name, Kind: "file", URI: where},
		Meta:   filter.Meta{Fields: filter.Fields{}},
	}
	f := doc.Meta.Fields
	set := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			f.Set(name, filter.OfString(text))
		}
	}
	set(fieldPath, where)
	set(fieldFolder, path.Dir(where))
	set(fieldType, string(t.Format))
	set(fieldAuthor, t.Properties.Author)
	set(fieldLanguage, t.Properties.Language)
	set(fieldDigest, digest)
	set(fieldReader, reader)
	f.Set(fieldSize, filter.OfInt(size))
	f.Set(fieldModified, filter.OfTime(modified))
	if created := t.Properties.Created; !created.IsZero() {
		f.Set(fieldCreated, filter.OfTime(created))
	}
	if t.Properties.Pages > 0 {
		f.Set(fieldPages, filter.OfInt(int64(t.Properties.Pages)))
	}
	return doc
}
