package bert

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sextant-rag/sextant/bert/internal/kernel"
)

// Options are how an [Encoder] uses the machine. They never change a result.
type Options struct {
	// Workers is how many sequences run at once; 0 is one for each CPU that Go uses.
	Workers int
	// Instructions names the instruction set, one of [Instructions]; empty is the fastest.
	Instructions string
}

// Instructions lists the instruction sets this machine can use, fastest first; the last,
// generic, is plain Go.
func Instructions() []string {
	var names []string
	for _, s := range kernel.Sets() {
		names = append(names, s.Name())
	}
	return names
}

// An Encoder runs a model. It is safe for concurrent use: all callers share its workers.
type Encoder struct {
	model *Model
	set   kernel.Set
	// idle holds one workspace for each worker; a sequence runs while it holds one.
	idle chan *workspace
}

// NewEncoder returns an encoder for m. It takes memory only as texts come: for each worker
// about 25·Hidden bytes a token of its longest text, plus 5·ffnRows·Intermediate bytes.
func NewEncoder(m *Model, o Options) (*Encoder, error) {
	sets := kernel.Sets()
	i := 0
	if o.Instructions != "" {
		i = slices.IndexFunc(sets, func(s kernel.Set) bool { return s.Name() == o.Instructions })
		if i < 0 {
			return nil, fmt.Errorf("instruction set %q is not one of %q that this machine has", o.Instructions, Instructions())
		}
	}
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	e := &Encoder{model: m, set: sets[i], idle: make(chan *workspace, workers)}
	for range workers {
		e.idle <- &workspace{}
	}
	return e, nil
}

// Model returns the model that e runs.
func (e *Encoder) Model() *Model { return e.model }

// Instructions returns the name of the instruction set in use.
func (e *Encoder) Instructions() string { return e.set.Name() }

// window is how many texts of a batch are looked at together, to start long ones first.
// It bounds what a batch of any size takes beside its results.
const window = 2048

// Encode returns one vector of Hidden numbers for each text, in their order. Texts longer
// than MaxTokens are cut there. A text's vector depends on nothing but the text. When ctx
// ends first, its error is returned and nothing else.
func (e *Encoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	h := e.model.config.Hidden
	all := make([]float32, len(texts)*h)
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = all[i*h : (i+1)*h : (i+1)*h]
	}
	if len(texts) == 1 { // without the closures below: queries come one by one
		if err := e.encode(ctx, texts[0], vectors[0]); err != nil {
			return nil, err
		}
		return vectors, nil
	}
	err := e.each(len(texts), func(i int) int { return len(texts[i]) }, func(i int) error {
		return e.encode(ctx, texts[i], vectors[i])
	})
	if err != nil {
		return nil, err
	}
	return vectors, nil
}

// each calls run for 0..n-1, spread over the workers, those of the largest size first, so
// that no worker is left with a long text when the others are done. Bytes stand for tokens
// well enough. It stops at the first error.
func (e *Encoder) each(n int, size func(int) int, run func(int) error) error {
	for first := 0; first < n; first += window {
		order := make([]int, min(window, n-first))
		for i := range order {
			order[i] = first + i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size(b), size(a)) })
		if err := e.eachOf(order, run); err != nil {
			return err
		}
	}
	return nil
}

func (e *Encoder) eachOf(order []int, run func(int) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	errs := make([]error, min(cap(e.idle), len(order)))
	var wg sync.WaitGroup
	for worker := range errs {
		wg.Go(func() {
			for !failed.Load() {
				at := int(next.Add(1)) - 1
				if at >= len(order) {
					return
				}
				if errs[worker] = run(order[at]); errs[worker] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// encode writes the vector of one text.
func (e *Encoder) encode(ctx context.Context, text string, vector []float32) error {
	w, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer e.release(w)
	w.tokenize(e.model, text)
	if err := e.model.forward(ctx, e.set, w); err != nil {
		return err
	}
	return e.pool(w, vector)
}

func (e *Encoder) acquire(ctx context.Context) (*workspace, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case w := <-e.idle:
		return w, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *Encoder) release(w *workspace) { e.idle <- w }

// tokenize sets the sequence to the tokens of text between the control tokens.
func (w *workspace) tokenize(m *Model, text string) {
	v := m.tokenizer.vocab
	w.tokens = m.tokenizer.Append(w.tokens[:0], text, m.config.MaxTokens-2)
	w.ids = append(w.ids[:0], v.begin)
	for _, t := range w.tokens {
		w.ids = append(w.ids, t.ID)
	}
	w.ids = append(w.ids, v.end)
	w.types = slices.Grow(w.types[:0], len(w.ids))[:len(w.ids)]
	clear(w.types)
}

// pool turns the states of a sequence into its vector. Weights can be such that there is
// none; an index must not find that out later.
func (e *Encoder) pool(w *workspace, vector []float32) error {
	c := &e.model.config
	if c.Pooling == CLSPooling {
		copy(vector, w.x[:c.Hidden])
	} else {
		e.set.SumRows(vector, w.x, len(w.ids), c.Hidden)
		scale(vector, 1/float64(len(w.ids)))
	}
	square := 0.0
	for _, v := range vector {
		square += float64(float64(v) * float64(v))
	}
	if !(square > 0) || math.IsInf(square, 0) {
		return fmt.Errorf("%w: it gives a vector of length %v", ErrModel, math.Sqrt(square))
	}
	if c.Normalize {
		scale(vector, 1/math.Sqrt(square))
	}
	return nil
}

func scale(vector []float32, factor float64) {
	for i, v := range vector {
		vector[i] = float32(float64(v) * factor)
	}
}
