package main

import (
	"path/filepath"
	"testing"
)

// Marks are there for the next process of the same folder, and gone when they are removed.
func TestLocalMarks(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "jobs")
	for _, step := range []struct{ key, put, want string }{{"job/1", "a", "a"}, {"job/1", "b", "b"}, {"job/../2", "c", "c"}, {"job/1", "", ""}} {
		if err := (localMarks{folder: folder}).PutMark(t.Context(), step.key, step.put); err != nil {
			t.Fatal(err)
		}
		if got, err := (localMarks{folder: folder}).Mark(t.Context(), step.key); got != step.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", step.key, got, err, step.want)
		}
	}
	if got, err := (localMarks{folder: folder}).Mark(t.Context(), "job/../2"); got != "c" || err != nil {
		t.Errorf("another mark: %q, %v", got, err)
	}
}
