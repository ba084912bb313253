// Package pdfium reads the words of PDF pages with their places, by running PDFium as
// WebAssembly. The module has no files, no network and a bound on its memory: whatever a
// file does to it stays inside, and it can be stopped at any moment.
//
// An engine is an instance with memory of its own. Each document gets a fresh one, so
// that nothing of a document can be found in the next; instances cost milliseconds. The
// compiled module is shared by all and made when the first document is opened.
package pdfium

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	pdf "github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Config says what engines may use.
type Config struct {
	CacheDir string // folder of compiled code: seconds on the first start become 0.1 s; empty is none
	Engines  int    // most that run at once
	Memory   int64  // most bytes of an engine's memory
}

// Engines opens documents. The zero Engines is ready; it starts nothing until the first
// document. Its methods may be called from several goroutines.
type Engines struct {
	mu    sync.Mutex
	cache wazero.CompilationCache
	pools map[int64]pdf.Pool // by the memory their engines may use
	slot  chan struct{}
}

// Errors of documents that cannot be opened.
var (
	ErrPassword = errors.New("the document needs a password")
	ErrFormat   = errors.New("no PDF document")
	ErrStopped  = errors.New("the engine was stopped")
)

// Start makes engines of a configuration ready, unless that was done before. The module is
// compiled once for all of them. Of several configurations only the memory may differ.
func (e *Engines) Start(c Config) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pools[c.Memory] != nil {
		return nil
	}
	if e.cache == nil {
		e.cache = newCache(c.CacheDir)
	}
	const page = 64 << 10
	runtime := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithCloseOnContextDone(true).
		WithMemoryLimitPages(uint32(min(c.Memory/page, 65536))).
		WithCompilationCache(e.cache)
	pool, err := webassembly.Init(webassembly.Config{
		MaxIdle: 1, MaxTotal: c.Engines, RuntimeConfig: runtime,
		FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return fmt.Errorf("start the PDF engine: %w", err)
	}
	if e.pools == nil {
		e.pools, e.slot = map[int64]pdf.Pool{}, make(chan struct{}, c.Engines)
	}
	e.pools[c.Memory] = pool
	return nil
}

// newCache keeps compiled code in a folder. One that cannot be used costs time and nothing
// else: then the code is kept in memory.
func newCache(dir string) wazero.CompilationCache {
	if dir != "" {
		if cache, err := wazero.NewCompilationCacheWithDir(dir); err == nil {
			return cache
		}
	}
	return wazero.NewCompilationCache()
}

// Close stops all engines and frees the compiled module. Documents that are open fail
// from then on. The next Open starts it again.
func (e *Engines) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for _, pool := range e.pools {
		errs = append(errs, pool.Close())
	}
	if e.cache != nil {
		errs = append(errs, e.cache.Close(context.Background()))
	}
	e.pools, e.cache = nil, nil
	return errors.Join(errs...)
}

// Slot is the right to run one engine. Open takes it over.
type Slot struct {
	pool pdf.Pool
	free chan struct{}
}

// Acquire waits for an engine of so much memory to be free, once Start was called for it.
func (e *Engines) Acquire(ctx context.Context, memory int64) (Slot, error) {
	e.mu.Lock()
	s := Slot{e.pools[memory], e.slot}
	e.mu.Unlock()
	if s.pool == nil {
		return s, ErrStopped
	}
	select {
	case s.free <- struct{}{}:
		return s, nil
	case <-ctx.Done():
		return s, ctx.Err()
	}
}

// Open opens a document of size bytes. Once the context is done its engine stops, and
// all calls of the document fail. The slot is free again when the document is closed, or
// could not be opened.
func (e *Engines) Open(ctx context.Context, slot Slot, r io.ReaderAt, size int64) (*Document, error) {
	instance, err := slot.pool.GetInstance(time.Minute)
	if err != nil {
		<-slot.free
		return nil, fmt.Errorf("start a PDF engine: %w", err)
	}
	d := &Document{instance: instance, slot: slot.free, ctx: ctx, killed: make(chan struct{})}
	d.stop = context.AfterFunc(ctx, func() {
		defer close(d.killed)
		_ = instance.Kill()
	})
	if err := d.open(r, size); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Document) open(r io.ReaderAt, size int64) error {
	opened, err := d.instance.OpenDocument(&requests.OpenDocument{FileReader: io.NewSectionReader(r, 0, size), FileReaderSize: size})
	switch {
	case d.ctx.Err() != nil:
		return d.ctx.Err()
	case errors.Is(err, pdferrors.ErrPassword):
		return ErrPassword
	case errors.Is(err, pdferrors.ErrSecurity):
		return fmt.Errorf("%w: its encryption is of an unknown kind", ErrPassword)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	d.ref = opened.Document
	count, err := d.instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: d.ref})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	d.Pages = count.PageCount
	if form, err := d.instance.FPDF_GetFormType(&requests.FPDF_GetFormType{Document: d.ref}); err == nil {
		d.form = form.FormType != enums.FPDF_FORMTYPE_NONE
	}
	return nil
}
