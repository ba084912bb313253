package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Four tables that have nothing to do with aviation, taken in with what their columns were
// found to hold. The questions were written before anyone looked at what is read of them.
func TestForeignTablesAreUnderstood(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	folder := filepath.Join("testdata", "foreign")
	for _, table := range []string{"visits", "catalogue", "support_tickets", "permits", "loans"} {
		if got := sextantIn(t, data, "ingest", "table", "--no-encode", filepath.Join(folder, table+".csv")); got.code != 0 {
			t.Fatalf("%s: exit %d\n%s", table, got.code, got.err)
		}
	}
	for _, table := range []string{"visits", "catalogue", "support_tickets", "permits", "loans"} {
		got := sextantIn(t, data, "eval", "constraints", "--floor", ".95", "--max", "0", filepath.Join(folder, table+".jsonl"))
		if got.code != 0 {
			t.Errorf("%s: exit %d\n%s%s", table, got.code, got.out, got.err)
		}
	}
}

// What people call things in a collection is kept beside its schema, and shown with
// questions to begin with.
func TestWordsOfACollection(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if got := sextantIn(t, data, "ingest", "table", "--no-encode", filepath.Join("testdata", "foreign", "visits.csv")); got.code != 0 {
		t.Fatal(got.err)
	}
	words := "called: [stays]\nphrases: |\n  casualty | A&E -> department=Emergency\n  long wait -> waiting_minutes>=240\npatterns:\n  visit_no: 'V\\d{5}'\n"
	if err := os.WriteFile(wordsFile(data, "visits"), []byte(words), 0o600); err != nil {
		t.Fatal(err)
	}
	got := sextantIn(t, data, "ask", "How many stays in A&E had a long wait?")
	if got.code != 0 || !strings.Contains(got.out, "department = Emergency") || !strings.Contains(got.out, "waiting_minutes ≥ 240") {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
	}
	if got = sextantIn(t, data, "describe", "visits"); !strings.Contains(got.out, "casualty | A&E -> department=Emergency") || !strings.Contains(got.out, "How many visits with hospital Northgate in 2023?") {
		t.Error(got.out)
	}
	if err := os.WriteFile(wordsFile(data, "visits"), []byte("phrases: |\n  casualty -> ward_name=E\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got = sextantIn(t, data, "ask", "stays in casualty"); got.code == 0 || !strings.Contains(got.err, `there is no field "ward_name"`) {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}
