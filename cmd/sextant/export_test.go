package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A figure can be taken away with the rules it was counted by, and drawn.
func TestAskWritesFigures(t *testing.T) {
	data, dir := filled(t, 40), t.TempDir()
	table, list := filepath.Join(dir, "table.csv"), filepath.Join(dir, "list.csv")
	for _, args := range [][]string{{"accidents by year", "--csv", table, "--chart", filepath.Join(dir, "a.svg")}, {"list all accidents", "--csv", list}, {"accidents by year", "--chart", filepath.Join(dir, "a.png")}} {
		if r := sextantIn(t, data, append([]string{"ask"}, args...)...); r.code != 0 {
			t.Fatalf("%v: exit %d: %s", args, r.code, r.err)
		}
	}
	rules, rows := readCSV(t, table)
	if !strings.Contains(rules, "# filter: all") || !strings.Contains(rules, "# counted: events") || rows[0][0] != "year" || len(rows) < 3 {
		t.Errorf("%s\n%v", rules, rows)
	}
	if _, rows := readCSV(t, list); len(rows) != 41 || strings.Join(rows[0], ",") != "id,date,title" {
		t.Errorf("%d rows: %v", len(rows), rows[0])
	}
	for _, name := range []string{"a.svg", "a.png"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func readCSV(t *testing.T, file string) (rules string, rows [][]string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	n := 0
	for n < len(lines) && strings.HasPrefix(lines[n], "#") {
		n++
	}
	if rows, err = csv.NewReader(strings.NewReader(strings.Join(lines[n:], ""))).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines[:n], ""), rows
}

func TestExportsRefuseWhatTheyCannotWrite(t *testing.T) {
	data, dir := filled(t, 5), t.TempDir()
	for _, args := range [][]string{{"--chart", "a.gif"}, {"--csv", filepath.Join(dir, "no", "such", "folder", "a.csv")}, {"--chart", filepath.Join(dir, "none.svg")}} {
		if r := sextantIn(t, data, append([]string{"ask", "How many accidents?"}, args...)...); r.code == 0 {
			t.Errorf("%v: exit 0", args)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".sextant-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Text of a record is never a formula of a spreadsheet.
func TestCellsAreNoFormulas(t *testing.T) {
	for in, want := range map[any]string{"=1+1": "'=1+1", "@x": "'@x", "N12": "N12", int64(-3): "-3", 2.5: "2.5", "": ""} {
		if got := csvCell(in); got != want {
			t.Errorf("%v: %q, want %q", in, got, want)
		}
	}
}
