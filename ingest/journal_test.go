package ingest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/sextant-rag/sextant"
)

// What is written past json.Marshal is what it would write.
func TestWithDocumentsIsJSON(t *testing.T) {
	receipt := sextant.FileReceipt{Name: `"documents":null`}
	for _, packed := range [][]byte{{}, {1}, bytes.Repeat([]byte{0xfb, 7}, 1000)} {
		state := settledState{Version: "v", Sequence: 7, Files: map[string]*settledFile{"x": {Receipt: receipt}}, Deleted: []sextant.DocumentID{`d","documents":null`}}
		unfinished := mark{Version: "v", Receipt: receipt, Rejected: 3}
		got, err := withDocuments(state, packed)
		gotMark, errMark := withDocuments(unfinished, packed)
		if err != nil || errMark != nil {
			t.Fatal(err, errMark)
		}
		state.Documents, unfinished.Documents = packed, packed
		want, err := json.Marshal(state)
		wantMark, errMark := json.Marshal(unfinished)
		if err != nil || errMark != nil {
			t.Fatal(err, errMark)
		}
		if got != string(want) || gotMark != string(wantMark) {
			t.Errorf("%d bytes: %.300s and %.300s, want %.300s and %.300s", len(packed), got, gotMark, want, wantMark)
		}
	}
}
