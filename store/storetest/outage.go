package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// Patience is how long a question may take that cannot be answered.
const Patience = 3 * time.Second

// Outages asks a store everything while what lies between it and its server fails in
// every way of Faults, in all requests, every third and every 25th. Every answer is the right one or
// an error that says what kind it is, in time; never nothing found. What was acknowledged
// is there afterwards. open opens the store at an address; a request of its may take half
// a second.
func Outages(t *testing.T, target string, open func(t testing.TB, url string) store.Store) {
	p := NewProxy(t, target)
	o := &outage{t: t, proxy: p, open: open, acknowledged: map[sextant.DocumentID]string{}}
	o.store = open(t, p.URL)
	t.Cleanup(func() { o.store.Close() })
	o.fill()
	faults := Faults()
	for i := range faults {
		for _, every := range []int{1, 3, 25} {
			o.during(&faults[i], every)
		}
	}
	o.settled()
	t.Logf("%d kinds of faults: %d answers, %d errors; %d of %d changes acknowledged; the longest answer took %s", len(faults), o.answers, o.errors, o.changes-o.refused, o.changes, o.longest.Round(time.Millisecond))
}

type outage struct {
	t     *testing.T
	proxy *Proxy
	open  func(t testing.TB, url string) store.Store
	store store.Store
	right map[string]any

	mu               sync.Mutex
	acknowledged     map[sextant.DocumentID]string
	answers, errors  int
	changes, refused int
	longest          time.Duration
}

func (o *outage) collection(st store.Store) store.Collection {
	o.t.Helper()
	c, err := st.Open(o.t.Context(), "states")
	if err != nil {
		o.t.Fatal(err)
	}
	return c
}

// fill stores what is asked about; the documents written during faults are in no state
// that questions ask for.
func (o *outage) fill() {
	c := ensure(o.t, o.store, states("test-4"))
	var records []store.Record
	for i := range 40 {
		records = append(records, ofState(fmt.Sprintf("s:%02d", i), []string{"TX", "AK"}[i%2], "1", float64(i)))
	}
	if err := c.Upsert(o.t.Context(), records); err != nil {
		o.t.Fatal(err)
	}
	if err := o.store.Journal().PutMark(o.t.Context(), "mark", "set"); err != nil {
		o.t.Fatal(err)
	}
	if err := o.store.Journal().PutReceipt(o.t.Context(), sextant.Receipt{Run: "r", Collection: "states"}); err != nil {
		o.t.Fatal(err)
	}
	o.right = map[string]any{}
	for name, ask := range questions(o.store, c) {
		v, err := ask(o.t.Context())
		if err != nil {
			o.t.Fatalf("%s: %v", name, err)
		}
		o.right[name] = v
	}
}

func ofState(id, state, revision string, angle float64) store.Record {
	rec := plain("states", id, "ice on wing of "+state, inState(state))
	rec.Document.Revision = revision
	rec.Vectors = [][]float32{{float32(math.Cos(angle)), float32(math.Sin(angle)), 0, 0}}
	return rec
}

// questions are asked of documents in Texas only.
func questions(st store.Store, c store.Collection) map[string]func(context.Context) (any, error) {
	texas := isState("TX")
	ids := func(hits []store.Hit, err error) (any, error) {
		var out []string
		for _, h := range hits {
			out = append(out, h.Chunk.ID)
		}
		return out, err
	}
	return map[string]func(context.Context) (any, error){
		"count": func(ctx context.Context) (any, error) { return c.Count(ctx, texas, "") },
		"facet": func(ctx context.Context) (any, error) {
			return c.Facet(ctx, store.FacetQuery{Field: "state", Filter: texas})
		},
		"list":      func(ctx context.Context) (any, error) { return c.List(ctx, store.ListQuery{Filter: texas}) },
		"get":       func(ctx context.Context) (any, error) { return c.Get(ctx, []sextant.DocumentID{"s:00", "s:02"}) },
		"chunks":    func(ctx context.Context) (any, error) { return c.Chunks(ctx, "s:04") },
		"revisions": func(ctx context.Context) (any, error) { return c.Revisions(ctx, []sextant.DocumentID{"s:00", "s:02"}) },
		"words": func(ctx context.Context) (any, error) {
			return ids(c.SearchLexical(ctx, store.LexicalQuery{Text: "ice", Filter: texas}))
		},
		"vectors": func(ctx context.Context) (any, error) {
			return ids(c.SearchDense(ctx, store.DenseQuery{Vector: []float32{1, 0, 0, 0}, Filter: texas}))
		},
		"scan": func(ctx context.Context) (any, error) {
			var out []sextant.DocumentID
			for d, err := range c.Scan(ctx, texas) {
				if err != nil {
					return nil, err
				}
				out = append(out, d.ID)
			}
			return out, nil
		},
		"mark": func(ctx context.Context) (any, error) { return st.Journal().Mark(ctx, "mark") },
		"receipts": func(ctx context.Context) (any, error) {
			r, err := st.Journal().Receipts(ctx, "states", 0)
			return len(r), err
		},
		"collections": func(ctx context.Context) (any, error) {
			all, err := st.Collections(ctx)
			return len(all), err
		},
		"open": func(ctx context.Context) (any, error) {
			_, err := st.Open(ctx, "states")
			return nil, err
		},
	}
}

// during asks everything of a store that was open before and of one that is opened now,
// and writes.
func (o *outage) during(f *Fault, every int) {
	cold := o.open(o.t, o.proxy.URL)
	defer func() {
		o.proxy.Heal()
		cold.Close()
	}()
	c := o.collection(o.store)
	o.proxy.Fail(f, every)
	var all sync.WaitGroup
	for name, ask := range questions(o.store, c) {
		all.Go(func() { o.answer(fmt.Sprintf("%s (1 of %d): %s", f.Name, every, name), o.right[name], ask) })
	}
	for name, ask := range questionsOpening(cold) {
		all.Go(func() { o.answer(fmt.Sprintf("%s (1 of %d): opened now: %s", f.Name, every, name), o.right[name], ask) })
	}
	all.Wait()
	_ = o.write(c) // counted there
	o.proxy.Heal()
	o.kept(f.Name, c)
	if every == 1 {
		if err := o.write(c); err != nil {
			o.t.Errorf("%s: nothing can be written afterwards: %v", f.Name, err)
		}
	}
}

// questionsOpening open the collection first.
func questionsOpening(st store.Store) map[string]func(context.Context) (any, error) {
	out := map[string]func(context.Context) (any, error){}
	for _, name := range []string{"count", "words", "vectors", "get"} {
		out[name] = func(ctx context.Context) (any, error) {
			c, err := st.Open(ctx, "states")
			if err != nil {
				return nil, err
			}
			return questions(st, c)[name](ctx)
		}
	}
	return out
}

func (o *outage) answer(what string, right any, ask func(context.Context) (any, error)) {
	began := time.Now()
	got, err := ask(o.t.Context())
	took := time.Since(began)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.longest = max(o.longest, took)
	if took > Patience {
		o.t.Errorf("%s: took %s", what, took)
	}
	if err != nil {
		o.errors++
		if !typed(err) {
			o.t.Errorf("%s: an error of no kind: %v", what, err)
		}
		return
	}
	o.answers++
	if diff := cmp.Diff(right, got, same); diff != "" {
		o.t.Errorf("%s: a wrong answer: %s", what, diff)
	}
}

// typed reports whether an error says that the store is at fault. ErrNotFound does not:
// that something is not there is an answer.
func typed(err error) bool {
	return slices.ContainsFunc([]error{store.ErrUnavailable, store.ErrUnsupported, store.ErrCorrupt, store.ErrFull, store.ErrIO}, func(kind error) bool { return errors.Is(err, kind) })
}

func (o *outage) write(c store.Collection) error {
	o.changes++
	id, revision := fmt.Sprintf("w:%02d", o.changes%20), fmt.Sprint(o.changes)
	if err := c.Upsert(o.t.Context(), []store.Record{ofState(id, "WA", revision, 1)}); err != nil {
		o.refused++
		if !typed(err) && !errors.Is(err, store.ErrLocked) {
			o.t.Errorf("upsert: an error of no kind: %v", err)
		}
		delete(o.acknowledged, sextant.DocumentID(id)) // it may be the new one or the old
		return err
	}
	o.acknowledged[sextant.DocumentID(id)] = revision
	return nil
}

// kept compares what was acknowledged in a fault with what is there, before the next covers
// it.
func (o *outage) kept(fault string, c store.Collection) {
	now, err := c.Revisions(o.t.Context(), slices.Collect(maps.Keys(o.acknowledged)))
	if diff := cmp.Diff(o.acknowledged, now); diff != "" || err != nil {
		o.t.Errorf("%s: acknowledged and there: %v %s", fault, err, diff)
	}
}

// settled compares what was acknowledged with what is there.
func (o *outage) settled() {
	st := o.open(o.t, o.proxy.URL)
	defer st.Close()
	for _, s := range []store.Store{o.store, st} {
		c := o.collection(s)
		now, err := c.Revisions(o.t.Context(), slices.Collect(maps.Keys(o.acknowledged)))
		if diff := cmp.Diff(o.acknowledged, now); diff != "" || err != nil {
			o.t.Errorf("acknowledged and there: %v %s", err, diff)
		}
		for name, ask := range questions(s, c) {
			if v, err := ask(o.t.Context()); err != nil || !cmp.Equal(o.right[name], v, same) {
				o.t.Errorf("%s after all faults: %v, %v", name, v, err)
			}
		}
		rec := ofState("w:last", "WA", "last", 2)
		if err := c.Upsert(o.t.Context(), []store.Record{rec}); err != nil {
			o.t.Errorf("upsert after all faults: %v", err)
		}
	}
}
