// Package pipeline takes one question to one answer. pipeline.go reads as prose; each
// stage has a file of its own. Stages that call no model are pure functions of typed
// values; an optional stage that fails is recorded as degraded, never silent.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/compute"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/rerank"
	"github.com/sextant-rag/sextant/retrieve"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/trace"
)

// Domain is what a domain pack hands to the engine: values, no code of the engine's.
// The zero Domain answers over whatever collections the store holds.
type Domain struct {
	Collections []sextant.Collection // known to the domain, also while they are empty
	Lexicon     *constrain.Lexicon
	Made        func(q *constrain.Query, i int) bool // see constrain.Query.Made
	Words       plan.Words
	Compute     compute.Domain
	Rule        RuleFields
	Examples    map[string][]string // questions to show, by collection
}

// Wordings returns what the owner of a collection says about how people speak of it; the
// zero Wording where nothing is said. It is read again whenever a collection has changed.
type Wordings func(collection string) (constrain.Wording, error)

// RuleFields are the fields of collections of rules: the one by which several texts are
// versions of one rule, and the date of a text's last amendment.
type RuleFields struct{ Name, Amended string }

// Config is what an engine is made of.
type Config struct {
	Store  store.Store
	Domain Domain
	Words  Wordings         // nil: nothing is said
	Search retrieve.Options // the encoder of queries among them; none is by words alone
	Rerank *rerank.Stage    // what cross_encoder stands for; nil: it can only be said that there is none
	Models Models
	Now    func() time.Time // nil: time.Now
	Traces *trace.Recorder  // nil: no trace is kept
}

// Engine answers questions over one store. It is safe for concurrent use.
type Engine struct {
	store    store.Store
	domain   Domain
	words    Wordings
	search   *retrieve.Retriever
	rerank   *rerank.Stage
	models   Models
	now      func() time.Time
	recorder *trace.Recorder

	ensured atomic.Bool // the domain's collections are there

	mu    sync.Mutex
	state *state
}

// New makes an engine and makes sure that the domain's collections exist.
func New(ctx context.Context, c Config) (*Engine, error) {
	e := &Engine{store: c.Store, domain: c.Domain, words: c.Words, search: retrieve.New(c.Search), rerank: c.Rerank, models: c.Models, now: c.Now, recorder: c.Traces}
	if e.now == nil {
		e.now = time.Now
	}
	if e.domain.Lexicon == nil {
		e.domain.Lexicon = &constrain.Lexicon{}
	}
	// A server that is not up yet is asked again with the first question: what is started
	// together starts in any order.
	if err := e.ensure(ctx); err != nil && !errors.Is(err, store.ErrUnavailable) {
		return nil, err
	}
	return e, nil
}

// ensure makes the domain's collections unless they are known to be there. A store that is
// opened for reading has those it has.
func (e *Engine) ensure(ctx context.Context) error {
	if e.ensured.Load() {
		return nil
	}
	for _, spec := range e.domain.Collections {
		held, err := e.store.Open(ctx, spec.Name)
		switch {
		case err == nil:
			spec.Encoder, spec.Chunking = held.Spec().Encoder, held.Spec().Chunking // whoever takes documents in decides on them
		case !errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("engine: %w", err)
		}
		if _, err := e.store.Ensure(ctx, spec); err != nil && !errors.Is(err, store.ErrUnsupported) {
			return fmt.Errorf("engine: %w", err)
		}
	}
	e.ensured.Store(true)
	return nil
}

// Warm loads the encoder of queries ahead of the first one.
func (e *Engine) Warm(ctx context.Context) error { return e.search.Warm(ctx) }

// Record lets the engine keep traces of its questions. It must be called before the first
// one.
func (e *Engine) Record(r *trace.Recorder) { e.recorder = r }

// state is everything derived from the collections at one moment.
type state struct {
	sequences   map[string]uint64
	collections []store.Collection
	subjects    []*subject
	files       map[string][]string // by collection, newest run first
	sources     map[string][]string // by collection: the first part of its documents' ids
}

// current returns the state of the collections as they are now, derived anew only if
// one of them changed.
func (e *Engine) current(ctx context.Context) (*state, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// What is begun for one who gives up is finished for the next: on a busy machine callers
	// that each wait two seconds would otherwise keep it from ever being ready.
	ctx = context.WithoutCancel(ctx)
	if err := e.ensure(ctx); err != nil {
		return nil, unavailable("open collections", err)
	}
	collections, sequences, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state != nil && maps.Equal(e.state.sequences, sequences) {
		return e.state, nil
	}
	subjects, err := e.subjects(ctx, collections)
	if sextant.ErrorCode(err) == sextant.CodeBadRequest {
		return nil, err
	}
	if err != nil {
		return nil, unavailable("read the vocabulary", err)
	}
	s := &state{sequences: sequences, collections: collections, subjects: subjects, files: map[string][]string{}, sources: map[string][]string{}}
	for _, c := range collections {
		if s.files[c.Spec().Name], err = e.files(ctx, c.Spec().Name); err != nil {
			return nil, unavailable("read receipts", err)
		}
		if s.sources[c.Spec().Name], err = sourceNames(ctx, c); err != nil {
			return nil, unavailable("read sources", err)
		}
	}
	e.state = s
	return s, nil
}

func (e *Engine) open(ctx context.Context) ([]store.Collection, map[string]uint64, error) {
	specs, err := e.store.Collections(ctx)
	if err != nil {
		return nil, nil, unavailable("list collections", err)
	}
	sequences := map[string]uint64{}
	var out []store.Collection
	for _, spec := range specs {
		c, err := e.store.Open(ctx, spec.Name)
		if err != nil {
			return nil, nil, unavailable("open "+spec.Name, err)
		}
		out = append(out, c)
		sequences[spec.Name] = c.Sequence()
	}
	return out, sequences, nil
}

// lexicon is the domain's; where the domain names no date field, the date of the one
// collection that has one is meant.
func (e *Engine) lexicon(collections []store.Collection) *constrain.Lexicon {
	l := *e.domain.Lexicon
	if l.Dates != "" {
		return &l
	}
	for _, c := range collections {
		if spec := c.Spec(); spec.DateField != "" {
			l.Dates = spec.DateField
			break
		}
	}
	return &l
}

const maxFiles = 20

// files names what a collection was read from.
func (e *Engine) files(ctx context.Context, collection string) ([]string, error) {
	receipts, err := e.store.Journal().Receipts(ctx, collection, maxFiles)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range receipts {
		for _, f := range r.Files {
			if !slices.Contains(out, f.Name) && len(out) < maxFiles {
				out = append(out, f.Name)
			}
		}
	}
	return out, nil
}

// collection finds an open collection by name.
func (s *state) collection(name string) (store.Collection, bool) {
	for _, c := range s.collections {
		if c.Spec().Name == name {
			return c, true
		}
	}
	return nil, false
}

// holds reports how many documents a collection holds.
func (s *state) holds(name string) int64 {
	for _, sub := range s.subjects {
		if sub.has(name) {
			return sub.parser.Vocabulary().Documents[name]
		}
	}
	return 0
}

// coverage returns the period that a collection's dates cover.
func (s *state) coverage(name string) (sextant.Coverage, bool) {
	for _, sub := range s.subjects {
		for _, c := range sub.parser.Vocabulary().Coverage {
			if c.Collection == name {
				return c, true
			}
		}
	}
	return sextant.Coverage{}, false
}

// unavailable turns a failure of the store into the error that ends a question as
// source_unavailable. Cancelled work and errors that already speak to the user stay.
func unavailable(op string, err error) error {
	var known *sextant.Error
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &known) {
		return err
	}
	return &sextant.Error{Code: sextant.CodeUnavailable, Op: op, Message: "The document store could not be read.", Hint: "Nothing is said about the documents: try again, or look at the log.", Err: err}
}
