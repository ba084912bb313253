package tune_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/adapt"
	"github.com/sextant-rag/sextant/embed/embedtest"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
	"github.com/sextant-rag/sextant/tune"
)

var words = strings.Fields("ice fuel engine wing wind fog gear rudder crosswind flare brake tire propeller oil spark magneto carburetor throttle stall spin snow hail bird deer fence pole wire tree lake river ridge canyon")

// filled stores documents that are about two words each. What asks for them says the
// words' names in another language, which the fake encoder knows nothing of: "x" and the
// word.
func filled(t *testing.T, n int) (store.Store, store.Collection, []tune.Pair) {
	t.Helper()
	e := embedtest.Fake{}
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	c, err := st.Ensure(t.Context(), sextant.Collection{Name: "notes", Encoder: e.Fingerprint().String()})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	var records []store.Record
	var pairs []tune.Pair
	for i := range n {
		a, b := words[r.IntN(len(words))], words[r.IntN(len(words))]
		cause := "cause x" + a + " x" + b
		d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("n:%04d", i)), Collection: "notes", Text: a + " and " + b + "\n" + cause, Meta: filter.Meta{Fields: filter.Fields{}}}
		at := len(d.Text) - len(cause)
		d.Parts = []sextant.Part{{Kind: "cause", Start: at, End: len(d.Text)}}
		var chunks []sextant.Chunk
		for k, span := range [][2]int{{0, at}, {at, len(d.Text)}} {
			chunks = append(chunks, sextant.Chunk{ID: sextant.ChunkID(d.ID, k), DocumentID: d.ID, Index: k, Start: span[0], End: span[1], Content: d.Text[span[0]:span[1]]})
		}
		if d.Revision, err = d.ComputeRevision(); err != nil {
			t.Fatal(err)
		}
		records = append(records, store.Record{Document: d, Chunks: chunks, Vectors: embedtest.Embed(t, e, chunks[0].Content, chunks[1].Content)})
		pairs = append(pairs, tune.Pair{Query: cause, Document: d.ID, Start: at, End: len(d.Text)})
	}
	if err := c.Upsert(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	return st, c, pairs
}

func TestACollectionTeachesItself(t *testing.T) {
	st, c, want := filled(t, 400)
	pairs, err := tune.Own(t.Context(), c)
	if err != nil || pairs.Kind != "causes" || len(pairs.All) != len(want) || pairs.Strength != 1 {
		t.Fatalf("%d pairs of %s, %v", len(pairs.All), pairs.Kind, err)
	}
	r, err := tune.Learn(t.Context(), c, embedtest.Fake{}, pairs, nil)
	if err != nil || !r.Kept || r.After < r.Before+0.1 || len(r.Curve) < 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := tune.Keep(t.Context(), st.Journal(), &r, c.Spec().Encoder, time.Now()); err != nil || r.Version != "1" {
		t.Fatalf("version %q, %v", r.Version, err)
	}
	maps := tune.NewMaps(st.Journal())
	query := embedtest.Query(t, embedtest.Fake{}, "cause xice xfuel")
	m, version, err := maps.Of(t.Context(), c.Spec())
	if err != nil || version != "1" || m.Apply(query)[0] != r.Map.Apply(query)[0] {
		t.Errorf("version %q, %v", version, err)
	}
	for _, use := range []string{"", "1"} {
		if err := tune.Use(t.Context(), st.Journal(), "notes", use); err != nil {
			t.Fatal(err)
		}
		if m, _, err := maps.Of(t.Context(), c.Spec()); err != nil || m.IsZero() != (use == "") {
			t.Errorf("after use of %q there is a map: %t, %v", use, !m.IsZero(), err)
		}
	}
	if err := tune.Use(t.Context(), st.Journal(), "notes", "7"); !errors.Is(err, tune.ErrVersion) {
		t.Errorf("a version that is not there: %v", err)
	}
	other := c.Spec()
	other.Encoder = "another"
	if m, _, err := maps.Of(t.Context(), other); err != nil || !m.IsZero() {
		t.Errorf("a map serves an encoder it was not learnt for, %v", err)
	}
}

// Where questions have nothing to do with their documents nothing is kept.
func TestNoiseIsNotKept(t *testing.T) {
	_, c, pairs := filled(t, 120)
	for i, at := range rand.New(rand.NewPCG(5, 5)).Perm(len(pairs)) {
		pairs[i].Query = fmt.Sprintf("word%d is said", at)
	}
	r, err := tune.Learn(t.Context(), c, embedtest.Fake{}, tune.Pairs{Kind: "file", All: pairs, Strength: 1}, nil)
	if err != nil || r.Kept || !r.Map.IsZero() {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestLearnSaysWhatIsMissing(t *testing.T) {
	_, c, pairs := filled(t, 40)
	if _, err := tune.Learn(t.Context(), c, embedtest.Fake{}, tune.Pairs{All: pairs[:20]}, nil); !errors.Is(err, adapt.ErrFew) {
		t.Errorf("few pairs: %v", err)
	}
	if _, err := tune.Learn(t.Context(), c, renamed{}, tune.Pairs{All: pairs}, nil); !errors.Is(err, tune.ErrNoVectors) {
		t.Errorf("vectors of another encoder: %v", err)
	}
}

type renamed struct{ embedtest.Fake }

func (r renamed) Fingerprint() embed.Fingerprint {
	f := r.Fake.Fingerprint()
	f.Model = "renamed"
	return f
}

func TestReadPairs(t *testing.T) {
	p, err := tune.ReadPairs(strings.NewReader(`{"query":"why","document_id":"n:1"}` + "\n\n" + `{"query":"how","text":"so"}`))
	if err != nil || len(p.All) != 2 || p.Strength != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"x", `{"query":"q"}`, `{"text":"t"}`} {
		if _, err := tune.ReadPairs(strings.NewReader(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
