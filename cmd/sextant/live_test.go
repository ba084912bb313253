//go:build live

package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	proof "github.com/sextant-rag/sextant/check"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/internal/testbed"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

// needs: the local model server (make live-server)
// needs: SEXTANT_LIVE_QUESTIONS for another number of questions than 60

// liveQuestions are one in six of each of these, about events of the sample.
var liveQuestions = []func(d sextant.Document) string{
	func(d sextant.Document) string { return "What happened to " + of(d, "registration") + "?" },
	func(d sextant.Document) string {
		return fmt.Sprintf("What caused the accident of %s near %s?", of(d, "registration"), of(d, "city"))
	},
	func(d sextant.Document) string {
		return fmt.Sprintf("Who was hurt when %s crashed?", of(d, "registration"))
	},
	func(d sextant.Document) string {
		return fmt.Sprintf("Tell me about the %s accident on %s.", of(d, "make"), of(d, "event_date"))
	},
	func(d sextant.Document) string {
		return fmt.Sprintf("Was the weather bad in the %s accidents near %s?", of(d, "make"), of(d, "city"))
	},
	func(d sextant.Document) string {
		return fmt.Sprintf("Compare the damage of %s and of other %s aircraft.", of(d, "registration"), of(d, "make"))
	},
}

// of is a value of an event, or of its first aircraft.
func of(d sextant.Document, field string) string {
	v := d.Meta.Fields.One(field)
	if aircraft := d.Meta.Groups["aircraft"]; v.Kind() == filter.Kind(0) && len(aircraft) > 0 {
		v = aircraft[0].One(field)
	}
	if v.Kind() == filter.Time {
		return v.Time().Format("2 January 2006")
	}
	return cmp.Or(v.Str(), "the aircraft")
}

// A model of 135 million parameters cites wrongly most of the time, which is what it is good
// for here: whatever it says, what is delivered holds. Each provider's protocol answers the
// same questions over the sample that the binary has with it.
func TestLiveQuestions(t *testing.T) {
	server := testbed.Llama(t)
	data := t.TempDir()
	if r := sextantWith(t, []string{"SEXTANT_DATA=" + data, "EMBEDDER=none"}, "demo", "--no-serve"); r.code != exitOK {
		t.Fatalf("demo: exit %d\n%s", r.code, r.err)
	}
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(data, "demo")})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	events, err := st.Open(t.Context(), "incidents")
	if err != nil {
		t.Fatal(err)
	}
	n := 60
	if text := os.Getenv("SEXTANT_LIVE_QUESTIONS"); text != "" {
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []modelsConfig{
		{Provider: "openai", URL: server.URL + "/v1", Small: "smollm2", Large: "smollm2"},
		{Provider: "anthropic", URL: server.URL, Small: "smollm2", Large: "smollm2"},
	} {
		t.Run(c.Provider, func(t *testing.T) { liveQuestionsBy(t, c, st, events, n) })
	}
}

func liveQuestionsBy(t *testing.T, c modelsConfig, st store.Store, events store.Collection, n int) {
	models, err := c.models()
	if err != nil {
		t.Fatal(err)
	}
	sink := &tracetest.Sink{}
	e, err := pipeline.New(t.Context(), pipeline.Config{Store: st, Domain: domain(), Models: models, Traces: &trace.Recorder{Sink: sink}})
	if err != nil {
		t.Fatal(err)
	}
	var statuses, removed, degraded = map[string]int{}, map[string]int{}, map[string]int{}
	var written, delivered, calls, tokens int
	var took []time.Duration
	at := 0
	for d, err := range events.Scan(t.Context(), filter.All) {
		if err != nil {
			t.Fatal(err)
		}
		if at == n {
			break
		}
		question := sextant.Question{Text: liveQuestions[at%len(liveQuestions)](d), TopK: 3, Refine: []string{"dedup", "filter", "synthesize"}[at%3], Limits: sextant.Limits{Tokens: 5000, WallTime: 4 * time.Minute}}
		at++
		began := time.Now()
		a := liveAnswer(t, e, question)
		took = append(took, time.Since(began))
		findings := slices.Concat(a.Findings, a.CausalChain)
		if _, faults := proof.Findings(findings, documentsOf(t, st, findings)); len(faults) > 0 {
			t.Errorf("%s: delivered, and does not hold: %+v", question.Text, faults)
		}
		statuses[string(a.Status)]++
		for _, r := range a.Removed {
			removed[string(r.Fault)]++
		}
		for _, d := range a.Degraded {
			degraded[d.Stage+": "+strings.SplitN(d.Reason, ":", 2)[0]]++
		}
		delivered, written = delivered+len(findings), written+len(findings)+len(a.Removed)
		calls, tokens = calls+a.Usage.ModelCalls, tokens+a.Usage.InputTokens+a.Usage.OutputTokens
		for _, r := range sink.Records()[at-1:] {
			if faults := tracetest.Check(r, nil); faults != nil {
				t.Errorf("%s: the trace is not complete: %s", question.Text, faults)
			}
		}
		t.Logf("%2d %5.1fs %-22s %d calls, %d findings, %d removed: %s", at, took[at-1].Seconds(), a.Status, a.Usage.ModelCalls, len(findings), len(a.Removed), question.Text)
	}
	slices.Sort(took)
	t.Logf("%s: %d questions, p50 %.1f s, %d calls, %d tokens; %d findings delivered, all hold; %d removed", c.Provider, at, took[len(took)/2].Seconds(), calls, tokens, delivered, written-delivered)
	for name, counts := range map[string]map[string]int{"status": statuses, "removed for": removed, "degraded": degraded} {
		for _, key := range slices.Sorted(maps.Keys(counts)) {
			t.Logf("%-12s %-90s %d", name, key, counts[key])
		}
	}
}

func liveAnswer(t *testing.T, e *pipeline.Engine, q sextant.Question) (a sextant.Answer) {
	t.Helper()
	for event, err := range e.Ask(t.Context(), q) {
		if err != nil {
			t.Fatalf("%s: %v", q.Text, err)
		}
		if f, ok := event.(sextant.Final); ok {
			a = f.Answer
		}
	}
	return a
}

// documentsOf reads what findings quote anew from the store.
func documentsOf(t *testing.T, st store.Store, findings []sextant.Finding) func(sextant.DocumentID) (sextant.Document, bool) {
	t.Helper()
	known := map[sextant.DocumentID]sextant.Document{}
	for _, f := range findings {
		for _, q := range f.Quotes {
			c, err := st.Open(t.Context(), q.Collection)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := c.Get(t.Context(), []sextant.DocumentID{q.DocumentID})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range docs {
				known[d.ID] = d
			}
		}
	}
	return func(id sextant.DocumentID) (sextant.Document, bool) { d, ok := known[id]; return d, ok }
}
