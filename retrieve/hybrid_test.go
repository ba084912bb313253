package retrieve_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/embed/embedtest"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/retrieve"
	"github.com/sextant-rag/sextant/store"
)

var meaning = embedtest.Fake{Concepts: map[string]string{"plane": "aircraft", "airplane": "aircraft", "motor": "engine", "quit": "stopped"}}

var wings = []note{
	{"AK", 1, []string{"The motor of the plane quit"}},
	{"AK", 2, []string{"The engine room of a ship was painted"}},
	{"TX", 3, []string{"The motor of the plane quit over Texas"}},
	{"AK", 4, []string{"Nothing is said here of what was asked"}},
}

func found(t *testing.T, r *retrieve.Retriever, c store.Collection, q retrieve.Query) retrieve.Result {
	t.Helper()
	out, err := r.Search(t.Context(), c, q)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What is said in other words is found, under the same filter, and says why.
func TestMeaningRanksBesideWords(t *testing.T) {
	c := openWith(t, meaning, wings...)
	r := retrieve.New(retrieve.Options{Encoder: meaning})
	out := found(t, r, c, retrieve.Query{Text: "engine of the airplane stopped", Filter: filter.Eq{Field: "state", Value: filter.OfString("AK")}, Limit: 2})
	if got := chunks(out.Passages); !slices.Contains(got, "n:000#0") || slices.Contains(got, "n:002#0") {
		t.Errorf("got %v", got)
	}
	if out.Encoder == "" || len(out.Degraded) > 0 {
		t.Errorf("encoder %q, degraded %v", out.Encoder, out.Degraded)
	}
	for _, p := range out.Passages {
		if !slices.ContainsFunc(p.Reasons, func(r sextant.Reason) bool { return r.Kind == "dense" }) {
			t.Errorf("%s has no dense reason: %v", p.ChunkID, p.Reasons)
		}
	}
}

type slow struct{ embedtest.Fake }

func (slow) EmbedQuery(ctx context.Context, _ string) ([]float32, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Words answer alone where vectors cannot help, and it is said why and what to do.
func TestWordsAnswerAloneAndSaySo(t *testing.T) {
	broken := meaning
	broken.Err = errors.New("boom")
	for _, tt := range []struct {
		name     string
		stored   embed.Embedder
		options  retrieve.Options
		degraded string // "" is not degraded
	}{
		{"nobody wants vectors", nil, retrieve.Options{}, ""},
		{"collection without vectors", nil, retrieve.Options{Encoder: meaning}, "sextant reembed notes"},
		{"no encoder", meaning, retrieve.Options{}, "no encoder is set"},
		{"no encoder, and why", meaning, retrieve.Options{Missing: "Built without."}, "Built without."},
		{"another encoder", other{meaning}, retrieve.Options{Encoder: meaning}, "sextant reembed notes"},
		{"encoder fails", meaning, retrieve.Options{Encoder: broken}, "failed"},
		{"encoder is late", meaning, retrieve.Options{Encoder: slow{meaning}, Patience: 10 * time.Millisecond}, "in time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := openWith(t, tt.stored, wings...)
			out := found(t, retrieve.New(tt.options), c, retrieve.Query{Text: "motor quit", Filter: filter.All, Limit: 5})
			if got := chunks(out.Passages); !slices.Equal(got, []string{"n:000#0", "n:002#0"}) || out.Encoder != "" {
				t.Errorf("got %v by %q", got, out.Encoder)
			}
			if tt.degraded == "" {
				if len(out.Degraded) > 0 {
					t.Errorf("degraded: %v", out.Degraded)
				}
				return
			}
			if len(out.Degraded) != 1 || out.Degraded[0].Stage != "dense" || !strings.Contains(out.Degraded[0].Reason, tt.degraded) {
				t.Errorf("degraded: %v, want %q", out.Degraded, tt.degraded)
			}
		})
	}
}

type other struct{ embedtest.Fake }

func (o other) Fingerprint() embed.Fingerprint {
	f := o.Fake.Fingerprint()
	f.Model = "other"
	return f
}

// A deadline leaves time for words.
func TestALateEncoderDoesNotEatTheDeadline(t *testing.T) {
	c := openWith(t, meaning, wings...)
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	out, err := retrieve.New(retrieve.Options{Encoder: slow{meaning}}).Search(ctx, c, retrieve.Query{Text: "motor", Filter: filter.All, Limit: 1})
	if err != nil || len(out.Passages) != 1 || len(out.Degraded) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
}

// What is named stands first, whatever else ranks higher, and only the exact thing is
// what is named.
func TestWhatIsNamedStandsFirst(t *testing.T) {
	all := []note{
		{"AK", 1, []string{"engine failure after takeoff, engine failure, N106USA"}},
		{"AK", 2, []string{"Another event altogether; the registration was N106US."}},
		{"AK", 3, []string{"See 91.1037 for engine failure after takeoff"}},
		{"AK", 4, []string{"As section 91.103 has it, a pilot shall become familiar"}},
	}
	c := openWith(t, meaning, all...)
	r := retrieve.New(retrieve.Options{Encoder: meaning})
	for query, want := range map[string]string{"engine failure after takeoff of N106US": "n:001#0", "engine failure after takeoff under 91.103": "n:003#0", "engine failure n106us": "n:001#0"} {
		out := found(t, r, c, retrieve.Query{Text: query, Filter: filter.All, Limit: 3}).Passages
		if out[0].ChunkID != want {
			t.Errorf("%q found %v", query, chunks(out))
		}
		for i := 1; i < len(out); i++ {
			if out[i].Score > out[i-1].Score {
				t.Errorf("%q: scores rise: %v", query, out)
			}
		}
	}
}

// Two copies are one passage; two records of one form are two.
func TestWhatSaysTheSameStandsOnce(t *testing.T) {
	text := "The pilot reported that during the landing roll the airplane veered off the left side of the runway and struck a sign, on which the wing was bent"
	c := openWith(t, meaning, note{"AK", 1, []string{text + "."}}, note{"AK", 2, []string{text + "!"}}, note{"AK", 3, []string{text + " on 3 May."}}, note{"AK", 4, []string{text + " on 4 May."}})
	out := found(t, retrieve.New(retrieve.Options{Encoder: meaning}), c, retrieve.Query{Text: "veered off the runway", Filter: filter.All, Limit: 9}).Passages
	if len(out) != 3 {
		t.Fatalf("got %v", chunks(out))
	}
	i := slices.IndexFunc(out, func(p sextant.Passage) bool { return p.ChunkID == "n:000#0" })
	if last := out[i].Reasons[len(out[i].Reasons)-1]; last.Kind != "duplicate" || !strings.Contains(last.Detail, "n:001#0") {
		t.Errorf("reasons %+v", out[i].Reasons)
	}
}

// A sentence longer than a chunk is shown whole; the text stays that of the document.
func TestAPassageEndsWithItsSentence(t *testing.T) {
	first := "It began well. The crew " + strings.Repeat("then flew on and on over the snow, ", 12)
	rest := "until at last the fuel was gone. Nobody was hurt."
	c := openWith(t, meaning, note{"AK", 1, []string{first, rest}})
	p := found(t, retrieve.New(retrieve.Options{Encoder: meaning}), c, retrieve.Query{Text: "crew flew over snow", Filter: filter.All, Limit: 1}).Passages[0]
	if !strings.HasSuffix(p.Content, "fuel was gone.") || p.Start != 0 || p.End != len(p.Content) {
		t.Errorf("%d to %d: %q", p.Start, p.End, p.Content)
	}
	if last := p.Reasons[len(p.Reasons)-1]; last.Kind != "neighbour" {
		t.Errorf("reasons %+v", p.Reasons)
	}
}

// vague is a collection that may miss some of the nearest.
type vague struct {
	store.Collection
	store.Hybrid
	may bool
}

func (v vague) Approximates(context.Context, filter.Filter) (bool, error) { return v.may, nil }

// A store that may have missed some of the nearest has the result say so, and only then.
func TestApproximateResultsSaySo(t *testing.T) {
	c := openWith(t, meaning, wings...)
	r := retrieve.New(retrieve.Options{Encoder: meaning})
	for _, may := range []bool{false, true} {
		out := found(t, r, vague{c, c.(store.Hybrid), may}, retrieve.Query{Text: "engine of the airplane stopped", Limit: 2})
		if said := len(out.Degraded) == 1 && strings.Contains(out.Degraded[0].Reason, "may be missing"); said != may || len(out.Passages) == 0 {
			t.Errorf("may miss some: %t; degraded %v", may, out.Degraded)
		}
	}
}
