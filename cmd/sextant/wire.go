package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/retrieve"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
	"github.com/sextant-rag/sextant/tune"
)

// engine is the engine with the store below it.
type engine struct {
	*pipeline.Engine
	store   store.Store
	encoder encoder
	traces  *traces // nil: none are kept
	say     func(format string, args ...any)
}

// close lets go of the data folder. Nothing is lost by it: what was acknowledged is
// durable already.
func (e *engine) close() {
	e.traces.close(e.say)
	_ = e.store.Close()
}

// openEngine opens a data folder and puts the engine together over it. All wiring is
// here; the parts do not know each other.
func (s *session) openEngine(ctx context.Context, dir string) (*engine, error) {
	enc, err := s.openEncoder(ctx)
	if err != nil {
		return nil, err
	}
	judge, err := s.reranker(ctx, dir, enc)
	if err != nil {
		return nil, err
	}
	helping, err := s.config.Models.models()
	if err != nil {
		return nil, err
	}
	if s.external() {
		if err := os.MkdirAll(dir, 0o700); err != nil { // traces and what is made of models lie there
			return nil, storeError(dir, err)
		}
	}
	st, err := s.openStore(ctx)
	if err != nil {
		return nil, err
	}
	search := retrieve.Options{Encoder: embed.Traced(enc.Embedder), Missing: enc.missing, Adapt: tune.NewMaps(st.Journal()).Of}
	p, err := pipeline.New(ctx, pipeline.Config{Store: st, Domain: domain(), Words: wordsIn(dir), Search: search, Rerank: judge, Models: helping})
	if err != nil {
		_ = st.Close()
		return nil, s.storeError(err)
	}
	return &engine{Engine: p, store: st, encoder: enc, say: s.terminal.say}, nil
}

// trace lets an engine keep traces of its questions.
func (s *session) trace(ctx context.Context, e *engine, dir string) error {
	t, recorder, err := s.openTraces(ctx, dir, s.log(defaultLog))
	if err != nil || t == nil {
		return err
	}
	t.engine, e.traces = e.Engine, t
	e.Engine.Record(recorder)
	return nil
}

// openTraced opens an engine that keeps traces: for verbs that answer people's questions.
func (s *session) openTraced(ctx context.Context, dir string) (*engine, error) {
	e, err := s.openEngine(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := s.trace(ctx, e, dir); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// domain is what the engine is told about flying, and the only place that tells it.
func domain() pipeline.Domain {
	return pipeline.Domain{
		Collections: aviation.Collections(),
		Lexicon:     aviation.Lexicon(),
		Made:        aviation.Made,
		Words:       aviation.Words(),
		Compute:     aviation.Counting(),
		Rule:        pipeline.RuleFields{Name: "cfr_section", Amended: "amended"},
		Examples:    aviation.Examples(),
	}
}

// reader returns what answers about the data folder: the server that holds it, if one
// does, or an engine in this process. done lets go of it.
func (s *session) reader(ctx context.Context) (r reader, done func(), err error) {
	if h, held := s.holder(); held && h.Address != "" {
		return newRemote(h.Address, s.config.Serve.key()), func() {}, nil
	}
	e, err := s.openTraced(ctx, s.config.Data)
	if err != nil {
		return nil, nil, err
	}
	return local{e}, e.close, nil
}

// Commands that only ask hold the folder for moments. One that finds it held waits about
// as long as a person would before it says so.
const (
	patience = 2 * time.Second
	glance   = 50 * time.Millisecond
)

// openFolder opens the embedded store in a folder. An error says what to do.
func (s *session) openFolder(ctx context.Context, dir string) (*sqlite.Store, error) {
	for deadline := time.Now().Add(patience); ; {
		st, err := sqlite.Open(ctx, sqlite.Options{Dir: dir, ReadOnly: s.config.Store.ReadOnly, Log: s.log(defaultLog)})
		if err == nil {
			return st, nil
		}
		h, held := sqlite.Holder(dir)
		if !errors.Is(err, store.ErrLocked) || held && h.Address != "" || time.Now().After(deadline) {
			return nil, storeError(dir, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(glance):
		}
	}
}

// storeError turns what went wrong where documents are kept into an error that says what
// to do next.
func (s *session) storeError(err error) error {
	if !s.external() {
		return storeError(s.config.Data, err)
	}
	e := &sextant.Error{Code: sextant.CodeUnavailable, Op: "store", Err: err}
	switch {
	case errors.Is(err, store.ErrUnavailable):
		e.Message = "The store cannot be reached."
		e.Hint = "Check that the server runs, its address (QDRANT_URL, CHROMA_URL, store.url) and its key; `sextant doctor` says what it finds."
	case errors.Is(err, store.ErrCorrupt):
		e.Code = sextant.CodeInternal
		e.Message = "Somebody else has changed what the store holds: " + err.Error() + "."
		e.Hint = "`sextant verify` names what is not whole, and `sextant verify --repair` lets go of it; taking the files in again brings it back."
	case errors.Is(err, store.ErrLocked):
		e.Code = sextant.CodeConflict
		e.Message = "Another process writes there: " + err.Error() + "."
		e.Hint = "Wait for it to end; if it was killed on another machine, for half a minute."
	case errors.Is(err, store.ErrSpec):
		e.Code = sextant.CodeConflict
		e.Message = "The store keeps these documents differently than this version does."
		e.Hint = "Take the documents in again under another name (store.names)."
	case errors.Is(err, store.ErrUnsupported):
		e.Code = sextant.CodeConflict
		e.Message = "The store does not do that."
	default:
		return err
	}
	return e
}

// storeError turns what went wrong with the data folder into an error that says what to
// do next. Other errors are returned as they are.
func storeError(dir string, err error) error {
	e := &sextant.Error{Code: sextant.CodeInternal, Op: "data folder", Err: err}
	switch {
	case errors.Is(err, store.ErrLocked):
		e.Code, e.Err = sextant.CodeConflict, nil
		e.Message, e.Hint = heldBy(dir)
	case errors.Is(err, store.ErrFull), errors.Is(err, syscall.ENOSPC):
		e.Message = "There is no space left for the data folder " + dir + "."
		e.Hint = "Free some, or keep the data elsewhere with --data DIR (SEXTANT_DATA). What was taken in before is unharmed."
	case errors.Is(err, store.ErrCorrupt):
		e.Message = "The data folder " + dir + " is damaged."
		e.Hint = "`sextant doctor` says what is wrong with it and which command helps."
	case errors.Is(err, store.ErrSpec):
		e.Code = sextant.CodeConflict
		e.Message = "The data folder " + dir + " was made by a version that keeps these documents differently."
		e.Hint = "Take the documents in again in a new folder with --data DIR."
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Message = sextant.CodeForbidden, "You may not use the data folder "+dir+"."
		e.Hint = "Check who owns it, or choose another with --data DIR (SEXTANT_DATA)."
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrIO):
		e.Message = "The data folder " + dir + " cannot be used."
		e.Hint = "Check the path and the disk, or choose another with --data DIR (SEXTANT_DATA)."
	default:
		return err
	}
	return e
}

// heldBy says who has the data folder and what to do about it.
func heldBy(dir string) (message, hint string) {
	h, held := sqlite.Holder(dir)
	switch {
	case !held:
		return "The data folder " + dir + " was in use by another process.", "Try again."
	case h.Address == "":
		return fmt.Sprintf("The data folder %s is in use by %s.", dir, h), "It is probably taking documents in. Wait until it has ended, and try again."
	}
	return fmt.Sprintf("The data folder %s is in use by %s.", dir, h),
		fmt.Sprintf("Stop that server (kill %d), run this again, and start it again; or use another folder with --data DIR.", h.PID)
}
