package eval_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/eval"
)

func TestRefuse(t *testing.T) {
	dir := t.TempDir()
	lines := `{"id":"1","split":"validation","claim":"Zinc shortens colds in adults.","evidence":[{"doc_id":"a","label":"SUPPORT","sentences":[0]}],"cited_doc_ids":["a"]}
{"id":"2","split":"validation","claim":"Nobody knows.","evidence":[],"cited_doc_ids":["b"]}
{"id":"3","split":"train","claim":"Not this split.","evidence":[{"doc_id":"b"}],"cited_doc_ids":["b"]}
`
	if err := os.WriteFile(filepath.Join(dir, "claims.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	claims, err := eval.OpenClaims(dir, "")
	if err != nil || len(claims) != 1 || claims[0].ID != "1" {
		t.Fatalf("%v, %v", claims, err)
	}
	passage := func(id, text string, score float64) sextant.Passage {
		return sextant.Passage{DocumentID: sextant.DocumentID("judged:" + id), Content: text, Reasons: []sextant.Reason{{Kind: "lexical", Score: score}}}
	}
	look := func(context.Context, string) ([]sextant.Passage, error) {
		return []sextant.Passage{passage("a", "Zinc shortened colds in adults by two days.", 20), passage("b", "Adults slept.", 4), passage("c", "Colds are common.", 3)}, nil
	}
	r, err := eval.Refuse(t.Context(), claims, look)
	if err != nil || r.Claims != 1 || r.AUC != 1 || r.RecallAt(0.08) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	down := errors.New("down")
	if _, err := eval.Refuse(t.Context(), claims, func(context.Context, string) ([]sextant.Passage, error) { return nil, down }); !errors.Is(err, down) {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "claims.jsonl"), []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := eval.OpenClaims(dir, ""); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Error(err)
	}
	if r, err := eval.Refuse(t.Context(), nil, look); err != nil || r.AUC != 0.5 || len(r.Curve) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
