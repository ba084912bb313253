//go:build integration

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/internal/testbed"
)

// models serves embeddings as OpenAI's API does: what a text means depends on the model
// alone, and each request takes a while. It counts the texts of each model.
func models(t *testing.T, wait time.Duration, texts map[string]*atomic.Int64) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string
			Input []string
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || texts[in.Model] == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		time.Sleep(wait)
		texts[in.Model].Add(int64(len(in.Input)))
		var data []map[string]any
		for i, text := range in.Input {
			h := fnv.New64a()
			fmt.Fprintf(h, "%s\x00%s", in.Model, text)
			rng := rand.New(rand.NewPCG(h.Sum64(), 1))
			v, sum := make([]float64, 16), 0.0
			for k := range v {
				v[k] = rng.NormFloat64()
				sum += v[k] * v[k]
			}
			for k := range v {
				v[k] /= math.Sqrt(sum)
			}
			data = append(data, map[string]any{"index": i, "embedding": v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// TestIntegrationReembedKilled gives a collection in Qdrant another encoder by the command,
// which is killed twice in the middle: what it did is not done again, questions are
// answered meanwhile by a replica that has nothing of its own, by the encoder in use, and
// nothing is left on the server but the new generation.
func TestIntegrationReembedKilled(t *testing.T) {
	bin, dir := binary(t), t.TempDir()
	server := testbed.Qdrant(t, testbed.Scratch(t), 0)
	texts := map[string]*atomic.Int64{"first": {}, "second": {}}
	url := models(t, 100*time.Millisecond, texts)
	run := func(data, model string, args ...string) result {
		c := command(t.Context(), bin, filepath.Join(dir, data), args...)
		c.Env = append(c.Env, "QDRANT_URL="+server.URL, "EMBEDDER=openai", "EMBEDDING_MODEL="+model, "EMBEDDING_BASE_URL="+url)
		return finish(t, c)
	}
	c := command(t.Context(), bin, filepath.Join(dir, "a"), "ingest", "ntsb", accidents(t, 300))
	c.Env = append(c.Env, "QDRANT_URL="+server.URL)
	if r := finish(t, c); r.code != exitOK { // without vectors
		t.Fatalf("ingest: exit %d\n%s%s", r.code, r.out, r.err)
	}
	reembedded := func(model string) ingest.Reembedding {
		t.Helper()
		r := run("a", model, "reembed", "--json", "incidents")
		if r.code != exitOK {
			t.Fatalf("reembed: exit %d\n%s%s", r.code, r.out, r.err)
		}
		return decode[ingest.Reembedding](t, r.out)
	}
	all := reembedded("first")
	if all.Encoded < 300 || all.Encoded != all.Chunks {
		t.Errorf("by the first model: %+v", all)
	}
	ask := func(model string) sextant.Answer {
		t.Helper()
		r := run("replica", model, "ask", "--json", "What happened in Talkeetna?")
		return decode[sextant.Answer](t, r.out)
	}
	dense := func(a sextant.Answer) bool {
		for _, d := range a.Degraded {
			if d.Stage == "dense" {
				return false
			}
		}
		return len(a.Evidence) > 0
	}
	before := ask("first")
	if !dense(before) {
		t.Errorf("by the first model: %d passages, degraded: %v", len(before.Evidence), before.Degraded)
	}
	for range 2 {
		ctx, stop := context.WithCancel(t.Context())
		c := command(ctx, bin, filepath.Join(dir, "a"), "reembed", "incidents")
		c.Env = append(c.Env, "QDRANT_URL="+server.URL, "EMBEDDER=openai", "EMBEDDING_MODEL=second", "EMBEDDING_BASE_URL="+url)
		done := texts["second"].Load()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); texts["second"].Load() < done+128 && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		_ = c.Process.Kill()
		t.Logf("killed after %d texts: %v", texts["second"].Load(), c.Wait())
		stop()
		if a := ask("first"); !dense(a) || len(a.Evidence) != len(before.Evidence) {
			t.Errorf("in the middle: %d passages, before %d; degraded: %v", len(a.Evidence), len(before.Evidence), a.Degraded)
		}
		if a := ask("second"); dense(a) {
			t.Errorf("by a model whose vectors are not complete: %v", a.Evidence)
		}
	}
	rest := reembedded("second")
	if twice := texts["second"].Load() - all.Chunks; rest.Encoded >= all.Chunks-100 || twice > 3*128 {
		t.Errorf("the last run encoded %d of %d chunks; %d texts were encoded twice", rest.Encoded, rest.Chunks, twice)
	}
	if a := ask("second"); !dense(a) {
		t.Errorf("by the second model: %d passages, degraded: %v", len(a.Evidence), a.Degraded)
	}
	if a := ask("first"); dense(a) || len(a.Evidence) == 0 {
		t.Errorf("by the first model afterwards: %d passages, degraded: %v", len(a.Evidence), a.Degraded)
	}
	if r := run("replica", "second", "verify"); r.code != exitOK {
		t.Errorf("verify: exit %d\n%s%s", r.code, r.out, r.err)
	}
	res, err := http.Get(server.URL + "/collections")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var on struct {
		Result struct{ Collections []struct{ Name string } }
	}
	if err := json.NewDecoder(res.Body).Decode(&on); err != nil {
		t.Fatal(err)
	}
	var generations []string
	for _, c := range on.Result.Collections {
		if strings.HasPrefix(c.Name, "ntsb_incidents") {
			generations = append(generations, c.Name)
		}
	}
	if len(generations) != 1 {
		t.Errorf("on the server are %v", generations)
	}
}
