package storetest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// dimensions of the encoders that collections go through. Two have the same number, so that
// only its name tells the one's vectors from the other's.
var dimensions = map[string]int{"test-8": 8, "other-8": 8, "small-4": 4}

// encoded is the vector that an encoder has for a text.
func encoded(encoder, text string) []float32 { return Vector(encoder, text, dimensions[encoder]) }

// Vector makes a vector of length 1 out of what an encoder is called and a text: the same
// for the same, and another for anything else.
func Vector(encoder, text string, dimension int) []float32 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", encoder, text)
	rng := rand.New(rand.NewPCG(h.Sum64(), 1)) //nolint:gosec // repeatable on purpose
	v, sum := make([]float32, dimension), 0.0
	for i := range v {
		x := rng.NormFloat64()
		v[i], sum = float32(x), sum+x*x
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// encode gives a record the vectors of an encoder, none of "".
func encode(encoder string, rec store.Record) store.Record {
	rec.Vectors = nil
	if encoder == "" {
		return rec
	}
	for _, ch := range rec.Chunks {
		rec.Vectors = append(rec.Vectors, encoded(encoder, ch.ID+ch.Content))
	}
	return rec
}

// testReencode makes new vectors in steps, while documents are replaced and deleted and
// the store is closed and opened, gives up one encoder for another, swaps, and takes all
// vectors away. After every step the collection answers by the vectors that are in use, and
// by those alone.
func (d Differences) testReencode(t *testing.T, open Open) {
	dir := t.TempDir()
	s := open(t, dir)
	defer func() { s.Close() }()
	if _, ok := ensure(t, s, sextant.Collection{Name: "probe", Encoder: "test-8"}).(store.Reencoder); !ok {
		t.Skip("this store does not make vectors anew")
	}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		spec := Specs(fmt.Sprintf("r%d", n)).Draw(rt, "spec")
		spec.Encoder = rapid.SampledFrom([]string{"", "test-8"}).Draw(rt, "encoder")
		r := &reencoding{subject: &subject{rt, ensure(t, s, spec), NewReference(spec), d}, encoder: spec.Encoder}
		defer func() { s.Drop(context.Background(), spec.Name) }()
		for range rapid.IntRange(2, 8).Draw(rt, "steps") {
			switch rapid.IntRange(0, 6).Draw(rt, "step") {
			case 0, 1:
				r.write()
			case 2:
				r.delete()
			case 3:
				r.begin(rapid.SampledFrom([]string{"test-8", "other-8", "small-4"}).Draw(rt, "next"))
				r.page(rapid.IntRange(1, 4).Draw(rt, "pages"))
			case 4:
				r.finish()
			case 5:
				if rapid.IntRange(0, 2).Draw(rt, "drop") == 0 {
					r.drop()
				}
			case 6:
				r.c = reopened(t, &s, open, dir, spec.Name)
				r.held() // what was begun has to be begun again by whoever goes on
				r.began = false
			}
			r.check()
		}
		r.finish()
		r.check()
		r.held()
	})
	t.Run("refused", func(t *testing.T) { testReencodeRefused(t, s) })
	t.Run("emptied", func(t *testing.T) { testReencodeEmptied(t, s) })
}

func reopened(t *testing.T, s *store.Store, open Open, dir, name string) store.Collection {
	if err := (*s).Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	*s = open(t, dir)
	c, err := (*s).Open(context.Background(), name)
	if err != nil {
		t.Fatalf("open again: %v", err)
	}
	return c
}

// reencoding is a subject whose vectors are of an encoder, and new ones of another.
type reencoding struct {
	*subject
	encoder string // in use
	next    string // of the vectors that were begun, "" if none were
	began   bool   // by this process
}

func (r *reencoding) again() store.Reencoder { return r.c.(store.Reencoder) }

func (r *reencoding) write() {
	records := rapid.SliceOfN(Records(r.ref.spec), 1, 6).Draw(r.t, "records")
	for i := range records {
		records[i] = encode(r.encoder, records[i])
	}
	r.upsert(records)
}

func (r *reencoding) begin(encoder string) {
	if err := r.again().BeginVectors(context.Background(), encoder); err != nil {
		r.t.Fatalf("begin vectors of %s: %v", encoder, err)
	}
	r.next, r.began = encoder, true
}

// page encodes some pages of what has no new vector, and says whether that was all.
func (r *reencoding) page(pages int) (all bool) {
	ctx := context.Background()
	limit := rapid.IntRange(1, 5).Draw(r.t, "limit")
	for after := ""; pages > 0; pages-- {
		docs, next, err := r.again().WithoutVectors(ctx, after, limit)
		if err != nil || len(docs) > limit {
			r.t.Fatalf("without vectors: %d documents of at most %d, %v", len(docs), limit, err)
		}
		vectors := make([][][]float32, len(docs))
		for i, d := range docs {
			held := r.ref.records[d.Document.ID]
			if d.Document.Revision != held.Document.Revision || d.Document.Text != held.Document.Text || len(d.Chunks) != len(held.Chunks) || len(d.Chunks) == 0 {
				r.t.Fatalf("without vectors: %+v of %d chunks; it is %+v of %d", d.Document, len(d.Chunks), held.Document, len(held.Chunks))
			}
			vectors[i] = encode(r.next, store.Record{Chunks: d.Chunks}).Vectors
		}
		// What is replaced or deleted between reading and storing is passed over.
		switch rapid.IntRange(0, 9).Draw(r.t, "meanwhile") {
		case 0:
			r.write()
		case 1:
			r.delete()
		}
		if err := r.again().PutVectors(ctx, docs, vectors); err != nil {
			r.t.Fatalf("put vectors: %v", err)
		}
		if after = next; after == "" {
			return true
		}
	}
	return false
}

// finish encodes all that is left and swaps.
func (r *reencoding) finish() {
	if r.next == "" {
		return
	}
	if !r.began {
		r.begin(r.next)
	}
	for range 10 {
		r.page(math.MaxInt)
		err := r.again().SwapVectors(context.Background())
		if errors.Is(err, store.ErrIncomplete) {
			r.check() // nothing has changed
			continue
		}
		if err != nil {
			r.t.Fatalf("swap: %v", err)
		}
		r.use(r.next)
		return
	}
	r.t.Fatalf("ten times encoded, and still incomplete")
}

func (r *reencoding) drop() {
	if err := r.again().DropVectors(context.Background()); err != nil {
		r.t.Fatalf("drop vectors: %v", err)
	}
	r.use("") // what was begun is gone too
}

// use makes an encoder that of the oracle.
func (r *reencoding) use(encoder string) {
	r.encoder, r.next, r.began = encoder, "", false
	r.ref.spec.Encoder = encoder
	for id, rec := range r.ref.records {
		r.ref.records[id] = encode(encoder, rec)
	}
}

// check asks by the encoder in use, and by every other.
func (r *reencoding) check() {
	if got := r.c.Spec().Encoder; got != r.encoder {
		r.t.Fatalf("the encoder is %q, want %q", got, r.encoder)
	}
	if n, err := r.c.Count(context.Background(), filter.All, ""); n != r.ref.Count(filter.All, "") || err != nil {
		r.t.Fatalf("%d documents, %v; want %d", n, err, r.ref.Count(filter.All, ""))
	}
	r.words(filter.All, filter.All)
	for encoder := range dimensions {
		v := encoded(encoder, "a question")
		if h, ok := r.c.(store.Hybrid); ok && encoder != r.encoder {
			q := store.HybridQuery{Text: "ice", Vector: v, Encoder: encoder, Choose: func([]store.Candidate) []int { return nil }}
			if _, err := h.SearchHybrid(context.Background(), q); !errors.Is(err, store.ErrEncoder) {
				r.t.Fatalf("a vector of %s while those of %q are in use: %v", encoder, r.encoder, err)
			}
		}
	}
	if r.encoder == "" {
		if _, err := r.c.SearchDense(context.Background(), store.DenseQuery{Vector: encoded("test-8", "a question")}); !errors.Is(err, store.ErrUnsupported) {
			r.t.Fatalf("search without vectors: %v", err)
		}
		return
	}
	v := encoded(r.encoder, "a question")
	want := r.ref.Nearest(filter.All, v)
	hits, err := r.c.SearchDense(context.Background(), store.DenseQuery{Vector: v, Limit: 100})
	if err != nil || len(hits) != len(want) {
		r.t.Fatalf("nearest by %s: %d hits, %v; want %d", r.encoder, len(hits), err, len(want))
	}
	scores := map[string]float64{}
	for _, w := range want {
		scores[w.Chunk] = w.Score
	}
	for _, h := range hits {
		if score, ok := scores[h.Chunk.ID]; !ok || math.Abs(score-h.Score) > precision {
			r.t.Fatalf("nearest by %s: %s with %g, want %g", r.encoder, h.Chunk.ID, h.Score, score)
		}
	}
}

// testReencodeRefused: what cannot be new vectors is refused, and nothing is swapped that
// was not begun.
func testReencodeRefused(t *testing.T, s store.Store) {
	ctx := t.Context()
	c := ensure(t, s, states("test-4"))
	r := c.(store.Reencoder)
	rec := plain("states", "s:1", "ice on wing", inState("TX"))
	rec.Vectors = [][]float32{{1, 0, 0, 0}}
	if err := c.Upsert(ctx, []store.Record{rec}); err != nil {
		t.Fatal(err)
	}
	if err := r.SwapVectors(ctx); err == nil {
		t.Error("swapped, though nothing was begun")
	}
	if err := r.BeginVectors(ctx, "other-3"); err != nil {
		t.Fatal(err)
	}
	docs, _, err := r.WithoutVectors(ctx, "", 10)
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents without vectors, %v", len(docs), err)
	}
	for _, cursor := range []string{"no cursor", "\x00"} {
		if _, _, err := r.WithoutVectors(ctx, cursor, 10); !errors.Is(err, store.ErrCursor) {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
	nan := float32(math.NaN())
	for _, vectors := range [][][]float32{{}, {{1, 0, 0}, {1, 0, 0}}, {{1, 1, 0}}, {{nan, 0, 0}}, {nil}} {
		if err := r.PutVectors(ctx, docs, [][][]float32{vectors}); !errors.Is(err, store.ErrRecord) {
			t.Errorf("vectors %v: %v", vectors, err)
		}
	}
	if err := r.SwapVectors(ctx); !errors.Is(err, store.ErrIncomplete) {
		t.Errorf("swap without vectors: %v", err)
	}
	if hits, err := c.SearchDense(ctx, store.DenseQuery{Vector: []float32{1, 0, 0, 0}}); err != nil || len(hits) != 1 {
		t.Errorf("by the vectors in use: %d hits, %v", len(hits), err)
	}
}

// A collection that has held documents and holds none any more takes an encoder; the first
// vector after that is its chunk's own, and not one of what is gone.
func testReencodeEmptied(t *testing.T, s store.Store) {
	ctx := t.Context()
	spec := states("")
	spec.Name = "emptied"
	c := ensure(t, s, spec)
	r := c.(store.Reencoder)
	first := []store.Record{plain(spec.Name, "s:1", "ice on wing", inState("TX")), plain(spec.Name, "s:2", "snow", inState("AK"))}
	if err := c.Upsert(ctx, first); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Delete(ctx, []sextant.DocumentID{"s:1", "s:2"}); n != 2 || err != nil {
		t.Fatalf("%d deleted, %v", n, err)
	}
	if err := errors.Join(r.BeginVectors(ctx, "test-4"), r.SwapVectors(ctx)); err != nil {
		t.Fatal(err)
	}
	rec := plain(spec.Name, "s:3", "rain", inState("TX"))
	rec.Vectors = [][]float32{{0, 1, 0, 0}}
	if err := c.Upsert(ctx, []store.Record{rec}); err != nil {
		t.Fatal(err)
	}
	hits, err := c.SearchDense(ctx, store.DenseQuery{Vector: []float32{0, 1, 0, 0}})
	if err != nil || len(hits) != 1 || hits[0].Chunk.DocumentID != "s:3" {
		t.Errorf("nearest after the collection was emptied: %+v, %v", hits, err)
	}
}
