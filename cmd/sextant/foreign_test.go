package main

import (
	"path/filepath"
	"testing"
)

// Two tables that have nothing to do with aviation, taken in with what their columns were
// found to hold. The questions were written before anyone looked at what is read of them.
func TestForeignTablesAreUnderstood(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	folder := filepath.Join("testdata", "foreign")
	for _, table := range []string{"visits", "catalogue"} {
		if got := sextantIn(t, data, "ingest", "table", "--no-encode", filepath.Join(folder, table+".csv")); got.code != 0 {
			t.Fatalf("%s: exit %d\n%s", table, got.code, got.err)
		}
	}
	for _, table := range []string{"visits", "catalogue"} {
		got := sextantIn(t, data, "eval", "constraints", "--floor", ".95", "--max", "0", filepath.Join(folder, table+".jsonl"))
		if got.code != 0 {
			t.Errorf("%s: exit %d\n%s%s", table, got.code, got.out, got.err)
		}
	}
}
