package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/embedtest"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

// variant is the fake encoder under another name, with another meaning.
type variant struct {
	embedtest.Fake
	model string
	texts *atomic.Int64
	limit int64 // texts after which it fails; 0 is none
}

func (v variant) Fingerprint() embed.Fingerprint {
	f := v.Fake.Fingerprint()
	f.Model = v.model
	return f
}

var errStopped = errors.New("stopped")

func (v variant) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if n := v.texts.Add(int64(len(texts))); v.limit > 0 && n > v.limit {
		return nil, errStopped
	}
	return v.Fake.Embed(ctx, texts)
}

// The words "x" and "y" mean the same to new, and not to old.
func encoders() (older, newer variant) {
	return variant{model: "old", texts: &atomic.Int64{}}, variant{Fake: embedtest.Fake{Concepts: map[string]string{"x": "y"}}, model: "new", texts: &atomic.Int64{}}
}

func filled(t *testing.T, dir string, e embed.Embedder, lines ...string) store.Store {
	t.Helper()
	st := openStore(t, dir)
	job := ingest.Job{Store: st, Collection: notes(), Source: &words{files: []*wordFile{file("one", lines...)}}}
	if _, err := (ingest.Encoding{Embedder: e}).Apply(t.Context(), &job); err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	return st
}

func collection(t *testing.T, st store.Store) store.Collection {
	t.Helper()
	c, err := st.Open(t.Context(), "notes")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// nearest is the cosine of the best document for a word by an encoder; err is the
// store's.
func nearest(t *testing.T, c store.Collection, e embed.Embedder, word string) (float64, error) {
	v := embedtest.Query(t, e, word)
	hits, err := c.(store.Hybrid).SearchHybrid(t.Context(), store.HybridQuery{Text: word, Vector: v, Encoder: e.Fingerprint().String(), Choose: func(all []store.Candidate) []int {
		best := 0
		for i := range all {
			if all[i].Dense > all[best].Dense {
				best = i
			}
		}
		return []int{best}[:min(1, len(all))]
	}})
	if err != nil || len(hits) == 0 {
		return 0, err
	}
	return hits[0].Candidate.Dense, nil
}

func TestReembedMovesFromOneEncoderToAnother(t *testing.T) {
	older, newer := encoders()
	for _, tt := range []struct {
		name     string
		from, to embed.Embedder
	}{{"adds vectors", nil, newer}, {"replaces them", older, newer}, {"takes them away", older, nil}} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			st := filled(t, dir, tt.from, "a x", "b y", "c z")
			out, err := ingest.Reembed(t.Context(), st, "notes", tt.to, nil)
			if err != nil || out.Documents != 3 {
				t.Fatalf("%+v, %v", out, err)
			}
			check := func(c store.Collection) {
				t.Helper()
				want := ""
				if tt.to != nil {
					want = tt.to.Fingerprint().String()
				}
				if got := c.Spec().Encoder; got != want {
					t.Errorf("encoder %q, want %q", got, want)
				}
				if tt.to == nil {
					return
				}
				if cosine, err := nearest(t, c, newer, "x"); err != nil || cosine < 0.3 {
					t.Errorf("cosine %g, %v", cosine, err)
				}
				if _, err := nearest(t, c, older, "x"); !errors.Is(err, store.ErrEncoder) {
					t.Errorf("a query of the old encoder: %v", err)
				}
			}
			check(collection(t, st))
			st.Close()
			check(collection(t, openStore(t, dir)))
		})
	}
}

// apart is n lines, each of a document of its own.
func apart(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("d%d w%d", i, i)
	}
	return lines
}

// What was encoded before an interruption is not encoded again, and until the swap the
// old vectors answer.
func TestReembedGoesOnAfterAnInterruption(t *testing.T) {
	older, newer := encoders()
	dir := t.TempDir()
	st := filled(t, dir, older, apart(900)...)
	newer.limit = 300
	if _, err := ingest.Reembed(t.Context(), st, "notes", newer, nil); !errors.Is(err, errStopped) {
		t.Fatalf("stopped with %v", err)
	}
	if _, err := nearest(t, collection(t, st), older, "w5"); err != nil {
		t.Errorf("the old vectors do not answer: %v", err)
	}
	st.Close()
	st = openStore(t, dir)
	if _, err := nearest(t, collection(t, st), older, "w5"); err != nil {
		t.Errorf("the old vectors do not answer after opening: %v", err)
	}
	newer.limit = 0
	out, err := ingest.Reembed(t.Context(), st, "notes", newer, nil)
	if err != nil || out.Encoded == 0 || out.Encoded >= out.Chunks {
		t.Errorf("%d of %d chunks were encoded by the second run, %v", out.Encoded, out.Chunks, err)
	}
	if again, err := ingest.Reembed(t.Context(), st, "notes", newer, nil); err != nil || again.Encoded != 0 {
		t.Errorf("encoded %d again, %v", again.Encoded, err)
	}
}

// Queries that run beside a swap get vectors of their encoder or are refused.
func TestNoQuerySeesVectorsOfTwoEncoders(t *testing.T) {
	older, newer := encoders()
	st := filled(t, t.TempDir(), older, apart(300)...)
	c := collection(t, st)
	stop := make(chan struct{})
	var asking sync.WaitGroup
	for _, e := range []embed.Embedder{older, newer} {
		want, _ := nearest(t, c, older, "w5")
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if cosine, err := nearest(t, c, e, "w5"); err == nil && (cosine < want-0.01 || cosine > 1.01) || err != nil && !errors.Is(err, store.ErrEncoder) {
					t.Errorf("cosine %g, %v", cosine, err)
					return
				}
			}
		})
	}
	for _, e := range []embed.Embedder{newer, older, newer} {
		if _, err := ingest.Reembed(t.Context(), st, "notes", e, nil); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	asking.Wait()
}

// What was replaced and deleted in the index leaves holes that the new vectors keep.
func TestReembedAfterChanges(t *testing.T) {
	older, newer := encoders()
	dir := t.TempDir()
	st := filled(t, dir, older, "a x", "b y", "c z", "d w")
	c := collection(t, st)
	if _, err := c.Delete(t.Context(), []sextant.DocumentID{"w:b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Reembed(t.Context(), st, "notes", newer, nil); err != nil {
		t.Fatal(err)
	}
	if cosine, err := nearest(t, c, newer, "z"); err != nil || cosine < 0.3 {
		t.Errorf("cosine %g, %v", cosine, err)
	}
	st.Close()
	if v, err := ingest.Verify(t.Context(), openStore(t, dir), "notes"); err != nil || v.Documents != 3 {
		t.Errorf("%+v, %v", v, err)
	}
}

// A job takes the encoder that what is stored demands, or says what to do.
func TestEncodingFollowsWhatIsStored(t *testing.T) {
	older, newer := encoders()
	for _, tt := range []struct {
		name    string
		stored  embed.Embedder
		now     ingest.Encoding
		encodes bool
		note    string // part of the note, or of the hint of the error
		refused bool
	}{
		{"the same", older, ingest.Encoding{Embedder: older}, true, "", false},
		{"none, none", nil, ingest.Encoding{Off: true}, false, "", false},
		{"none stored", nil, ingest.Encoding{Embedder: older}, false, "sextant reembed notes", false},
		{"another", older, ingest.Encoding{Embedder: newer}, false, "sextant reembed notes", true},
		{"switched off", older, ingest.Encoding{Embedder: older, Off: true}, false, "--no-encode", true},
		{"none given", older, ingest.Encoding{Missing: "Built without."}, false, "reembed --remove notes", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := filled(t, t.TempDir(), tt.stored, "a x")
			job := ingest.Job{Store: st, Collection: notes(), Source: &words{}}
			note, err := tt.now.Apply(t.Context(), &job)
			if (err != nil) != tt.refused || (job.Embedder != nil) != tt.encodes && err == nil {
				t.Fatalf("note %q, embedder %v, error %v", note, job.Embedder, err)
			}
			checkAdvice(t, note, err, tt.note)
		})
	}
}

// checkAdvice looks for words in a note or, if there is an error, in what it tells.
func checkAdvice(t *testing.T, note string, err error, want string) {
	t.Helper()
	var told *sextant.Error
	if errors.As(err, &told) {
		note = told.Message + " " + told.Hint
	}
	if want != "" && !strings.Contains(note, want) || want == "" && note != "" {
		t.Errorf("says %q, want %q", note, want)
	}
}
