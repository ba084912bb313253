package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation"
)

// The question a reader of the blueprint asks first, over the NTSB's own exports: nothing
// matches, which the counts prove; in the whole year there was one; and a winter can be
// read in two ways, both shown.
func TestWinterIn2021(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 8,106 cases in")
	}
	file := sharedData(t, "ntsb-carol", "NTSB_2020_2024.csv.gz")
	src, err := aviation.OpenNTSB(file)
	if err != nil {
		t.Fatal(err)
	}
	d := openDesk(t, t.TempDir(), src)
	a := d.ask(t, "Were there any fatal Cessna 172 accidents in Alaska during winter 2021?")
	if a.Status != sextant.NoData || len(a.Evidence) > 0 || a.Usage.ModelCalls != 0 {
		t.Errorf("%s with %d passages: %s", a.Status, len(a.Evidence), a.Summary)
	}
	if !slices.ContainsFunc(a.Ledger.Widenings, func(w sextant.Widening) bool { return w.Count == 1 }) {
		t.Errorf("widenings %+v", a.Ledger.Widenings)
	}
	if len(a.Ledger.Ambiguous) != 1 || len(a.Ledger.Ambiguous[0].Readings) != 2 {
		t.Errorf("readings %+v", a.Ledger.Ambiguous)
	}
	if _, c := d.figure(t, "How many fatal Cessna 172 accidents in Alaska in 2021?"); c.Total != 1 || c.Method.DataDate == "" {
		t.Errorf("in the year: %d", c.Total)
	}
}

// sharedData returns the path of a file of the shared data, which SEXTANT_SHARED names or
// which lie beside the module; without it the test is skipped.
func sharedData(t *testing.T, parts ...string) string {
	t.Helper()
	dir := cmp.Or(os.Getenv("SEXTANT_SHARED"), filepath.Join("..", "..", "..", "shared"))
	file := filepath.Join(append([]string{dir, "data"}, parts...)...)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("needs %s in the shared data (SEXTANT_SHARED)", file)
	}
	return file
}
