package rerank_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/rerank"
	"github.com/sextant-rag/sextant/rerank/reranktest"
)

var twoPassages = []sextant.Passage{{ChunkID: "a", Content: "hard landing", Score: 2}, {ChunkID: "b", Content: "crosswind landing", Score: 1}}

func stage(r rerank.Reranker, note string, err error) *rerank.Stage {
	return &rerank.Stage{Open: func(context.Context) (rerank.Opened, error) {
		return rerank.Opened{Reranker: r, Mix: rerank.Mix{Weight: 0.6}, Note: note}, err
	}}
}

func TestStage(t *testing.T) {
	for name, tt := range map[string]struct {
		stage   *rerank.Stage
		first   string
		model   string
		applied bool
		says    string
	}{
		"applied":       {stage(reranktest.Fake{}, "", nil), "b", "fake", true, ""},
		"stands in":     {stage(reranktest.Fake{}, "It stands in.", nil), "b", "fake", true, "It stands in."},
		"fails":         {stage(reranktest.Fake{Err: errors.New("boom")}, "", nil), "a", "fake", false, "failed"},
		"says why":      {stage(nil, "", &sextant.Error{Message: "The model is gone."}), "a", "", false, "The model is gone."},
		"cannot open":   {stage(nil, "", errors.New("secret path")), "a", "", false, "failed"},
		"never answers": {stage(reranktest.Fake{Hangs: true}, "", nil), "a", "fake", false, "longer than 2s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.stage.Patience = 0
				got, err := tt.stage.Run(t.Context(), "crosswind landing", twoPassages)
				if err != nil {
					t.Fatal(err)
				}
				said := strings.Join(got.Degraded, " ")
				if got.Passages[0].ChunkID != tt.first || got.Model != tt.model || got.Applied != tt.applied || !strings.Contains(said, tt.says) || (said == "") != (tt.says == "") || strings.Contains(said, "secret") {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// A question that is itself cancelled ends so; one with a deadline keeps half of it.
func TestStageAndTheQuestionsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := stage(reranktest.Fake{Hangs: true}, "", nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		got, err := slow.Run(ctx, "q", twoPassages)
		if took := time.Since(start); err != nil || took != 500*time.Millisecond || len(got.Degraded) != 1 {
			t.Errorf("%+v, error %v after %v", got, err, took)
		}
		cancel()
		if _, err := slow.Run(ctx, "q", twoPassages); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

// A model is loaded once, for whoever asks first, also when that one has gone; and again
// after it failed.
func TestStageOpensOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int32
		var fail atomic.Bool
		fail.Store(true)
		s := &rerank.Stage{Patience: time.Second, Open: func(context.Context) (rerank.Opened, error) {
			opened.Add(1)
			time.Sleep(1500 * time.Millisecond)
			if fail.Load() {
				return rerank.Opened{}, errors.New("not yet")
			}
			return rerank.Opened{Reranker: reranktest.Fake{}, Mix: rerank.Mix{Weight: 0.6}}, nil
		}}
		if err := s.Warm(t.Context()); err == nil {
			t.Error("opened, and should have failed")
		}
		fail.Store(false)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				got, err := s.Run(t.Context(), "crosswind", twoPassages)
				if err != nil || got.Applied || len(got.Degraded) != 1 {
					t.Errorf("before it is loaded: %+v, error %v", got, err)
				}
			})
		}
		wg.Wait()
		time.Sleep(time.Second)
		if got, err := s.Run(t.Context(), "crosswind", twoPassages); err != nil || !got.Applied {
			t.Errorf("%+v, error %v", got, err)
		}
		if n := opened.Load(); n != 2 {
			t.Errorf("opened %d times, want twice", n)
		}
	})
}
