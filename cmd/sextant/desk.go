package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/extract"
	"github.com/sextant-rag/sextant/fetch"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/source/file"
	tables "github.com/sextant-rag/sextant/source/table"
)

// openDesk opens the desk of a server: what clients send is taken in as the commands of
// the same names would.
func (s *session) openDesk(ctx context.Context, e *engine, upload int64) (*ingest.Desk, error) {
	client, err := s.config.Fetch.client(maxFetched)
	if err != nil {
		return nil, err
	}
	journal := e.store.Journal()
	if s.external() {
		journal = localMarks{journal, filepath.Join(s.config.Data, "jobs")}
	}
	return ingest.NewDesk(ctx, ingest.DeskConfig{
		Journal: journal, Folder: filepath.Join(s.config.Data, "intake"), Upload: upload,
		Open: func(ctx context.Context, o ingest.Order, paths []string) (ingest.Job, []string, func(), error) {
			return s.open(ctx, e, o, paths)
		},
		Fetch: func(ctx context.Context, address, folder string) (string, error) {
			return fetchInto(ctx, client, address, folder)
		},
	})
}

// open turns an order into a job on the engine's store.
func (s *session) open(ctx context.Context, e *engine, o ingest.Order, paths []string) (job ingest.Job, notes []string, done func(), err error) {
	done = func() {}
	switch o.Kind {
	case "table":
		job, notes, done, err = s.openTable(ctx, e, o, paths)
	case "files":
		job, done, err = s.openFiles(o, paths)
	case "ntsb":
		job, done, err = s.openNTSB(paths)
	case "ecfr":
		job.Collection = aviation.Regulations()
		job.Source, err = aviation.OpenECFR(paths...)
	case "news":
		job.Collection = aviation.News()
		job.Source, err = aviation.OpenNews(paths...)
	default:
		err = usage("Unknown kind %q.", o.Kind)
	}
	if err != nil {
		done()
		return job, notes, nil, err
	}
	job.Store, job.Reread, job.Prune = e.store, o.Reread, o.Prune
	if err := o.Cutting().Apply(ctx, &job, s.config.Chunks.of(job.Collection.Name)); err != nil {
		done()
		return job, notes, nil, err
	}
	note, err := s.encoding(ctx, e, &job, o.NoEncode)
	if note != "" {
		notes = append(notes, note)
	}
	if err != nil {
		done()
		return job, notes, nil, err
	}
	return job, notes, done, nil
}

func (s *session) openTable(ctx context.Context, e *engine, o ingest.Order, paths []string) (ingest.Job, []string, func(), error) {
	done := func() {}
	if err := ownCollection(o.Collection); err != nil {
		return ingest.Job{}, nil, done, err
	}
	r := &tableRequest{collection: o.Collection, data: s.config.Data, wish: tables.Wish{Collection: o.Collection, ID: o.ID, Title: o.Title, Text: o.Text, Encoding: o.Encoding}, anew: o.Replace}
	if o.Schema != "" {
		r.schema = []byte(o.Schema)
	}
	blobs, remove, err := openTables(ctx, paths, o.Sheet)
	if err != nil {
		return ingest.Job{}, nil, done, err
	}
	r.blobs, done = blobs, remove
	plan, err := r.plan(ctx)
	if err != nil {
		return ingest.Job{}, nil, done, err
	}
	job, err := s.tableJob(ctx, e, r, &plan, o.NoEncode, o.Cutting())
	return job, plan.notes(), done, err
}

// openNTSB takes NTSB records of any layout, reports among them.
func (s *session) openNTSB(paths []string) (ingest.Job, func(), error) {
	src, err := aviation.OpenNTSB(paths...)
	if err != nil {
		return ingest.Job{}, func() {}, err
	}
	x := &extract.Extractor{CacheDir: filepath.Join(s.config.Data, "cache")}
	return ingest.Job{Collection: aviation.Incidents(), Source: src.Extracting(x), Chunks: reading(aviation.Incidents().Name)}, func() { _ = x.Close() }, nil
}

// reading is how ranking reads the documents of a collection, besides their sizes: the
// domain's collections by its abbreviations.
func reading(collection string) chunk.Options {
	for _, c := range aviation.Collections() {
		if c.Name == collection {
			return chunk.Options{Glossary: aviation.Abbreviations()}
		}
	}
	return chunk.Options{}
}

// openFiles takes the files that were sent one by one, unless they are to replace all
// there was in their folders.
func (s *session) openFiles(o ingest.Order, paths []string) (ingest.Job, func(), error) {
	if err := ownCollection(o.Collection); err != nil {
		return ingest.Job{}, nil, err
	}
	if o.Prune {
		paths = foldersOf(paths, filepath.Join(s.config.Data, "intake"))
	}
	x := &extract.Extractor{CacheDir: filepath.Join(s.config.Data, "cache")}
	done := func() { _ = x.Close() }
	src, err := file.New(o.Collection, x, file.Options{Hidden: true}, paths...)
	if err != nil {
		return ingest.Job{}, done, usage("%s", sentence(err.Error()))
	}
	return ingest.Job{Collection: file.Collection(o.Collection, "sextant ingest files PATH... --collection "+o.Collection), Source: src}, done, nil
}

// foldersOf returns the topmost folders of files that lie in the folder of a task.
func foldersOf(paths []string, intake string) (out []string) {
	for _, p := range paths {
		rest, err := filepath.Rel(intake, p)
		if err != nil {
			continue
		}
		parts := strings.SplitN(filepath.ToSlash(rest), "/", 3) // task, folder, the rest
		if folder := filepath.Join(intake, parts[0], parts[1]); len(out) == 0 || out[len(out)-1] != folder {
			out = append(out, folder)
		}
	}
	return out
}

// maxFetched bounds what an address may hold.
const maxFetched = 256 << 20

// fetchInto gets an address into a folder, under the name it has there.
func fetchInto(ctx context.Context, client *fetch.Client, address, folder string) (string, error) {
	refused := func(message, hint string, err error) error {
		return &sextant.Error{Code: sextant.CodeBadRequest, Op: "fetch", Message: message, Hint: hint, Err: err}
	}
	res, err := client.Get(ctx, fetch.Request{URL: address})
	switch {
	case errors.Is(err, fetch.ErrPrivate):
		return "", refused("The address is not a public one.", "Send the file itself, or take it in with `sextant ingest` on the server's machine.", nil)
	case errors.Is(err, fetch.ErrURL):
		return "", refused("That is no address that can be fetched.", "It begins with https:// or http://.", nil)
	case err != nil:
		var status *fetch.StatusError
		if errors.As(err, &status) {
			return "", refused(fmt.Sprintf("The address answered with status %d.", status.Status), "", nil)
		}
		return "", refused("The address could not be fetched.", "Check it, and try again.", err)
	}
	defer func() { _ = res.Body.Close() }()
	name := nameOf(res.URL, res.ContentType)
	f, err := os.OpenFile(filepath.Join(folder, name+".part"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", fmt.Errorf("fetch: %w", err)
	}
	_, err = io.Copy(f, res.Body)
	if err = errors.Join(err, f.Close()); errors.Is(err, fetch.ErrTooLarge) {
		return "", refused(fmt.Sprintf("The address holds more than %d bytes.", maxFetched), "Send the file itself.", nil)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", refused("The address could not be fetched to its end.", "Try again.", err)
	}
	if modified, err := time.Parse(time.RFC1123, res.LastModified); err == nil {
		_ = os.Chtimes(f.Name(), modified, modified) // when it was fetched is not wrong either
	}
	return name, os.Rename(f.Name(), filepath.Join(folder, name))
}

// nameOf makes the name of a file of an address, with an extension of its type if the
// address has none.
func nameOf(address, contentType string) string {
	name := "download"
	if u, err := url.Parse(address); err == nil {
		if base := path.Base(u.Path); base != "." && base != "/" && filepath.IsLocal(base) && !strings.ContainsAny(base, "\\\x00") {
			name = base
		}
	}
	name = strings.TrimLeft(name, ".")
	if name == "" {
		name = "download"
	}
	if path.Ext(name) == "" {
		if extensions, err := mime.ExtensionsByType(contentType); err == nil && len(extensions) > 0 {
			name += extensions[0]
		}
	}
	return name[max(0, len(name)-120):]
}
