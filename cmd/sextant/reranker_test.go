package main

import (
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/bert/berttest"
	"github.com/sextant-rag/sextant/rerank"
)

var found = []sextant.Passage{{ChunkID: "a", Content: "hard landing", Score: 2}, {ChunkID: "b", Content: "crosswind landing", Score: 1}}

func newReranker(t *testing.T, dir string, pairs ...string) (*rerank.Stage, error) {
	t.Helper()
	env := environment{"HF_HOME": t.TempDir(), "HF_HUB_OFFLINE": "1", "EMBEDDER": "local"}
	for i := 0; i+1 < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	c, err := loadConfig("", env)
	if err != nil {
		return nil, err
	}
	s := &session{config: c, env: env}
	e, err := s.openEncoder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.reranker(t.Context(), dir, e)
}

// crossEncoder is a folder with a model that was never trained.
func crossEncoder(t *testing.T) string {
	t.Helper()
	m := berttest.New(bert.Config{Layers: 1, Hidden: 64, Heads: 2, Intermediate: 64, Positions: 64, MaxTokens: 64, Pooling: bert.MeanPooling}, 1)
	m.AddHead(1)
	return m.Write(t)
}

func TestRerankerFromTheEnvironment(t *testing.T) {
	folder := crossEncoder(t)
	for name, tt := range map[string]struct {
		env     []string
		model   string
		applied bool
		says    string
	}{
		"by default the encoder's states": {nil, "maxsim(all-MiniLM-L6-v2)", true, "No cross-encoder is set"},
		"a folder that earns nothing":     {[]string{"CROSS_ENCODER_MODEL", folder}, folder[strings.LastIndex(folder, "/")+1:], false, "built-in cases"},
		"a folder that is insisted on":    {[]string{"CROSS_ENCODER_MODEL", folder, "RERANK_WEIGHT", "0.4"}, folder[strings.LastIndex(folder, "/")+1:], true, ""},
		"a server that is not there":      {[]string{"RERANK_BASE_URL", "http://127.0.0.1:1", "RERANK_WEIGHT", "0.4"}, "rerank server", false, "order of retrieval"},
	} {
		stage, err := newReranker(t, t.TempDir(), tt.env...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := stage.Warm(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out, err := stage.Run(t.Context(), "crosswind landing", found)
		if said := strings.Join(out.Degraded, " "); err != nil || out.Model != tt.model || out.Applied != tt.applied || !strings.Contains(said, tt.says) || (said == "") != (tt.says == "") {
			t.Errorf("%s: %+v, error %v", name, out, err)
		}
	}
	for name, tt := range map[string]struct {
		env  []string
		code sextant.Code
		says string
	}{
		"a model not there": {[]string{"CROSS_ENCODER_MODEL", "cross-encoder/ms-marco-MiniLM-L-6-v2"}, sextant.CodeNotFound, "hf download cross-encoder/ms-marco-MiniLM-L-6-v2"},
		"two at once":       {[]string{"CROSS_ENCODER_MODEL", folder, "RERANK_BASE_URL", "http://127.0.0.1:1"}, sextant.CodeBadRequest, "both"},
		"no weight":         {[]string{"RERANK_WEIGHT", "much"}, sextant.CodeBadRequest, "much"},
		"no format":         {[]string{"RERANK_BASE_URL", "http://127.0.0.1:1", "RERANK_FORMAT", "xml"}, sextant.CodeBadRequest, "xml"},
	} {
		if _, err := newReranker(t, t.TempDir(), tt.env...); sextant.ErrorCode(err) != tt.code || err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A reranker is weighed once for a data folder.
func TestCalibrationIsKept(t *testing.T) {
	dir, folder := t.TempDir(), crossEncoder(t)
	for range 2 {
		stage, err := newReranker(t, dir, "CROSS_ENCODER_MODEL", folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := stage.Warm(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	kept := readCalibrations(dir)
	if len(kept) != 1 {
		t.Errorf("kept %v", kept)
	}
	for key, c := range kept {
		if len(key) != 64 || c.Cases < 30 {
			t.Errorf("%s: %+v", key, c)
		}
		kept[key] = rerank.Calibration{Weight: 0.35, Cases: c.Cases}
	}
	kept.write(dir)
	stage, err := newReranker(t, dir, "CROSS_ENCODER_MODEL", folder)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := stage.Run(t.Context(), "crosswind landing", found); err != nil || !out.Applied {
		t.Errorf("what is kept is not used: %+v, error %v", out, err)
	}
}
