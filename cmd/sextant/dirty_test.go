package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"

	"github.com/sextant-rag/sextant"
)

// cells is a table as a spreadsheet would read it: rows by column name.
type cells []map[string]string

// readCells reads a table with nothing but the standard library, for counting by hand.
func readCells(t *testing.T, name string, comma rune) cells {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "foreign", name))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = charmap.Windows1252.NewDecoder().Bytes(data); name != "products.csv" || err != nil {
		data, _ = os.ReadFile(filepath.Join("testdata", "foreign", name))
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = comma, -1, true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out cells
	for _, row := range rows[1:] {
		if len(row) > len(rows[0]) {
			continue // refused
		}
		m := map[string]string{}
		for i, cell := range row {
			m[rows[0][i]] = strings.TrimSpace(cell)
		}
		out = append(out, m)
	}
	return out
}

func (c cells) count(match func(map[string]string) bool) (n int64) {
	for _, row := range c {
		if match(row) {
			n++
		}
	}
	return n
}

func is(column, value string) func(map[string]string) bool {
	return func(row map[string]string) bool { return strings.EqualFold(row[column], value) }
}

// euro reads "€ 1.234,50".
func euro(cell string) float64 {
	f, err := strconv.ParseFloat(strings.NewReplacer("€", "", ".", "", ",", ".", " ", "").Replace(cell), 64)
	if err != nil {
		return -1
	}
	return f
}

func day(layout, cell string) time.Time {
	d, err := time.Parse(layout, cell)
	if err != nil {
		return time.Time{}
	}
	return d
}

// Three tables as people have them (a mark, short and long records, blanks of every kind,
// placeholders, decimal commas, Windows-1252, tabs, dates in three orders, units), each
// taken in with one command. Every figure is counted again from the cells.
func TestDirtyTablesAreCountedRight(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for name, collection := range map[string]string{"tickets.csv": "tickets", "products.csv": "products", "hospital.tsv": "hospital"} {
		got := sextantIn(t, data, "ingest", "table", "--json", "--no-encode", "--collection", collection, filepath.Join("testdata", "foreign", name))
		var r sextant.Receipt
		if err := json.Unmarshal([]byte(got.out), &r); err != nil || got.code != 0 {
			t.Fatalf("%s: exit %d\n%s%s", name, got.code, got.out, got.err)
		}
		if want := map[string]int64{"tickets.csv": 1}[name]; r.Records[sextant.Refused] != want || r.Records[sextant.Stored]+want != r.Read {
			t.Errorf("%s: %v of %d", name, r.Records, r.Read)
		}
	}
	tickets, products, hospital := readCells(t, "tickets.csv", ','), readCells(t, "products.csv", ';'), readCells(t, "hospital.tsv", '\t')
	both := func(fs ...func(map[string]string) bool) func(map[string]string) bool {
		return func(row map[string]string) bool {
			for _, f := range fs {
				if !f(row) {
					return false
				}
			}
			return true
		}
	}
	number := func(column string, above float64) func(map[string]string) bool {
		return func(row map[string]string) bool {
			f, err := strconv.ParseFloat(strings.NewReplacer(",", "", "$", "").Replace(row[column]), 64)
			return err == nil && f > above
		}
	}
	for question, want := range map[string]int64{
		"How many tickets have high priority and are open?": tickets.count(both(is("Priority", "High"), is("Status", "Open"))),
		"How many urgent tickets about the Router X300 were created in February 2023?": tickets.count(both(is("Priority", "Urgent"), is("Product", "Router X300"), func(row map[string]string) bool {
			d := day("02/01/2006 15:04", row["Created At"])
			return d.Year() == 2023 && d.Month() == time.February
		})),
		"How many tickets were escalated?":    tickets.count(is("Escalated", "Yes")),
		"How many tickets with the tag wifi?": tickets.count(func(row map[string]string) bool { return strings.Contains(row["Tags"], "wifi") }),
		"How many tickets were resolved before March 2023?": tickets.count(func(row map[string]string) bool {
			d := day("02/01/2006 15:04", row["Resolved At"])
			return !d.IsZero() && d.Before(time.Date(2023, 3, 1, 0, 0, 0, 0, time.UTC))
		}),
		"How many laptops have a price above 1,000?":     products.count(both(is("Category", "Laptops"), func(row map[string]string) bool { return euro(row["Price"]) > 1000 })),
		"How many products of Ökotech are discontinued?": products.count(both(is("Brand", "ÖkoTech"), is("Discontinued", "ja"))),
		"How many products have a rating above 4.5?":     products.count(func(row map[string]string) bool { return euro(row["Rating (of 5)"]) > 4.5 }),
		"How many products have stock below 100?": products.count(func(row map[string]string) bool {
			n, err := strconv.Atoi(row["Stock"])
			return err == nil && n < 100
		}),
		"How many cardiology hospital records have a length of stay above 10?":                          hospital.count(both(is("Department", "Cardiology"), number("Length of Stay (days)", 10))),
		"How many hospital records have total charges above 50,000?":                                    hospital.count(number("Total Charges", 50000)),
		"How many hospital records have pneumonia as primary diagnosis and were readmitted within 30d?": hospital.count(both(is("Primary Diagnosis", "Pneumonia"), is("Readmitted within 30d", "Y"))),
	} {
		got := sextantIn(t, data, "ask", "--json", "--as-of", "2026-03-15", question)
		var a sextant.Answer
		if err := json.Unmarshal([]byte(got.out), &struct {
			*sextant.Answer
			Evidence json.RawMessage `json:"evidence"`
		}{Answer: &a}); err != nil || len(a.Computed) != 1 || a.Computed[0].Total != want || want == 0 {
			t.Errorf("%s: want %d, exit %d, %v: %s", question, want, got.code, err, a.Summary)
		}
	}
}

// A table that is taken in again changes nothing; a schema that was edited is taken if it
// can be, and refused with the field named if it cannot.
func TestSchemasAreKeptAndEdited(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	file := filepath.Join("testdata", "foreign", "products.csv")
	take := func(args ...string) result {
		return sextantIn(t, data, append([]string{"ingest", "table", "--no-encode", file}, args...)...)
	}
	if got := take("--dry-run"); got.code != 0 || !strings.Contains(got.out, "Nothing was written") {
		t.Fatalf("%d %s%s", got.code, got.out, got.err)
	}
	kept := filepath.Join(data, "schemas", "products.yaml")
	if _, err := os.Stat(kept); err == nil {
		t.Error("a dry run wrote a schema")
	}
	if got := take(); got.code != 0 {
		t.Fatal(got.err)
	}
	if got := take(); !strings.Contains(got.out, "0 documents added, 0 changed, 160 unchanged") {
		t.Errorf("%s%s", got.out, got.err)
	}
	schema, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, now string) {
		t.Helper()
		if !bytes.Contains(schema, []byte(old)) {
			t.Fatalf("the schema has no %q:\n%s", old, schema)
		}
		if err := os.WriteFile(kept, bytes.Replace(schema, []byte(old), []byte(now), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit("label: stock\n      kind: int", "label: stock\n      kind: keyword")
	if got := take(); got.code != 1 || !strings.Contains(got.err, "stock was int, now keyword") || !strings.Contains(got.err, "--replace") {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	edit("label: stock", "label: pieces in the warehouse")
	if got := take(); got.code != 0 {
		t.Errorf("%s", got.err)
	}
	edit("kind: int", "kind: sausage")
	if got := take(); got.code != 2 || !strings.Contains(got.err, `kind "sausage"`) {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	if got := take("--replace"); got.code != 0 || !strings.Contains(got.out, "160 documents added") {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
	}
	if got := take("--id", "Brand"); got.code != 2 {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	if got := sextantIn(t, data, "ingest", "table", "--no-encode", file, "--collection", "incidents"); got.code != 2 {
		t.Errorf("a collection of the domain was taken: %d %s", got.code, got.err)
	}
}
