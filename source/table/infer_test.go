package table_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/table"
)

func infer(t testing.TB, text string) table.Inference {
	t.Helper()
	found, err := table.Infer(t.Context(), table.Wish{Collection: "things"}, source.Bytes("t.csv", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// column makes a table of one column beside an id, each cell repeated.
func column(header string, cells ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id,%q\n", header)
	for i := range 3 * len(cells) {
		fmt.Fprintf(&b, "R-%d,%q\n", i, cells[i%len(cells)])
	}
	return b.String()
}

// holds writes what a column is taken for.
func holds(c table.LayoutColumn) string {
	out := []string{c.Kind}
	for word, said := range map[string]bool{"facet": c.Facet, "list": c.List, "mixed": c.Mixed, "digits": c.Digits, "utc": c.UTC, "skip": c.Skip} {
		if said {
			out = append(out, word)
		}
	}
	for _, text := range []string{c.Split, c.Decimal, c.Unit, c.Dates} {
		if text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}

func TestWhatAColumnHolds(t *testing.T) {
	for _, c := range []struct {
		name, header, cells, want string
	}{
		{"words", "Status", "open|closed|OPEN |open", "keyword facet"},
		{"whole numbers", "Stock", "5|0|12|1,200", "int"},
		{"fractions", "Rating", "4.5|3|2.75", "float"},
		{"a decimal comma", "Preis", "4,50|1.234,00|3,25", "float ,"},
		{"money", "Price", "$5.00|$1,250.00|($3.50)", "float $"},
		{"a unit of the header", "Weight (kg)", "5|7|8", "int kg"},
		{"units of one family", "Weight", "500 g|1.5 kg|900 g", "float g"},
		{"several currencies", "Amount", "5 USD|7 EUR|9 USD", "int mixed"},
		{"percent", "Discount", "5%|10 %|15%", "int %"},
		{"leading zeros", "Shelf", "007|012|100", "keyword"},
		{"postcodes", "Zip code", "90210|10001|60601", "keyword facet"},
		{"long digits", "Card", "4111111111111111|4222222222222222", "keyword facet"},
		{"dates, day first", "Opened", "24/10/2023|03/08/2023", "time day_first"},
		{"dates, month first", "Opened", "10/24/2023|03/08/2023", "time month_first"},
		{"ISO dates", "Opened", "2023-10-24|2023-08-03", "time"},
		{"times", "Seen", "2023-10-24T10:00:00Z|2023-08-03T11:30:00Z", "time"},
		{"several zones", "Seen", "2023-10-24T10:00:00+02:00|2023-08-03T11:30:00-05:00", "time utc"},
		{"dates of digits", "order_date", "20231024|20230803", "time digits"},
		{"seconds since 1970", "created_at", "1698141600|1691058600", "time digits"},
		{"eight digits that say nothing", "batch", "20231024|20230803", "int"},
		{"dates to come", "Due date", "2027-10-24|TBD|2027-08-03", "time"},
		{"yes and no", "Escalated", "yes|No|YES|", "bool"},
		{"ja und nein", "Aktiv", "ja|nein", "bool"},
		{"ones and zeros of a flag", "is_active", "1|0|1", "bool"},
		{"ones and zeros of a count", "children", "1|0|1", "int"},
		{"a list", "Tags", "a; b|c|b; c; a", "keyword"},
		{"names with commas", "Patient", "Smith, Anna|Jones, Bo|Smith, Carl", "keyword facet"},
		{"blood pressure", "BP", "120/80|130/85|110/70", "keyword facet"},
		{"versions", "Version", "1.2.3|1.10.0|2.0.1", "keyword facet"},
		{"addresses", "Host", "10.0.0.1|10.0.0.2", "keyword facet"},
		{"clock times", "At", "10:30|11:45", "keyword facet"},
		{"numbers and words", "Size", "10|large|12|small|medium|14", "keyword facet"},
		{"country codes", "Country", "NA|DE|FR|US|NA", "keyword facet"},
	} {
		cells := strings.Split(c.cells, "|")
		got := infer(t, column(c.header, cells...)).Layout.Columns[1]
		if holds(got) != c.want && c.name != "a list" {
			t.Errorf("%s: %s, want %s", c.name, holds(got), c.want)
		}
		if c.name == "a list" && (!got.List || got.Split != ";") {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// One cell in twenty may be anything; more, and the column is one of words, which is said.
func TestMixedColumnsFallBack(t *testing.T) {
	build := func(odd int) string {
		var b strings.Builder
		b.WriteString("id,price\n")
		for i := range 100 {
			cell := fmt.Sprint(i * 7)
			if i < odd {
				cell = fmt.Sprintf("see offer %d", i)
			}
			fmt.Fprintf(&b, "R%d,%s\n", i, cell)
		}
		return b.String()
	}
	few, many := infer(t, build(4)), infer(t, build(30))
	if c := few.Layout.Columns[1]; c.Kind != "int" {
		t.Errorf("with 4 odd cells: %+v", c)
	}
	if got := strings.Join(few.Columns[1].Notes, " "); !strings.Contains(got, `4 cells are no number and will be unknown: "see offer 0"`) {
		t.Errorf("notes %q", got)
	}
	if c := many.Layout.Columns[1]; c.Kind != "keyword" {
		t.Errorf("with 30 odd cells: %+v", c)
	}
	if got := strings.Join(many.Columns[1].Notes, " "); !strings.Contains(got, "Mixed: 70 of 100 cells are numbers") {
		t.Errorf("notes %q", got)
	}
}

func TestRolesOfColumns(t *testing.T) {
	var b strings.Builder
	b.WriteString("Ticket No;Betreff;Beschreibung;Status;Erstellt am;Fällig\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%05d;Drucker %d druckt nicht;\"Der Drucker im %d. Stock druckt seit heute nichts mehr, obwohl er neu gestartet wurde.\";%s;%02d.03.2024;%02d.04.2024\n", i, i, i, []string{"offen", "zu"}[i%2], 1+i%28, 1+i%28)
	}
	l := infer(t, b.String()).Layout
	want := []string{"Ticket No", "Betreff", "Beschreibung", "erstellt_am", "ticket_no betreff  status erstellt_am fallig"}
	got := []string{l.ID, l.Title, strings.Join(l.Text, ","), l.Date, ""}
	var fields []string
	for _, c := range l.Columns {
		fields = append(fields, c.Field)
	}
	got[4] = strings.Join(fields, " ")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
}

// docs takes a table in by what is found in it.
func docs(t *testing.T, name, text string) (ids []string, fields []filter.Fields, rest []string, notes source.Notes) {
	t.Helper()
	blob := source.Bytes(name, []byte(text))
	found, err := table.Infer(t.Context(), table.Wish{Collection: "things"}, blob)
	if err != nil {
		t.Fatal(err)
	}
	m, err := found.Layout.Mapping(time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	out, rest, notes := read(t, table.NewSource(m, blob))
	spec, err := found.Layout.Spec("fill")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range out {
		if err := spec.Schema.Check(d.Meta); err != nil {
			t.Error(err)
		}
		ids, fields = append(ids, d.ID.Native()), append(fields, d.Meta.Fields)
	}
	return ids, fields, rest, notes
}

func TestFormatsSayTheSame(t *testing.T) {
	utf16le := func(s string) string {
		out := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(s)) {
			out = append(out, byte(u), byte(u>>8))
		}
		return string(out)
	}
	csv := "id,city,price,tags\nA1,Zürich,1200.5,x|y\nA2,Bern,7,x\nA3,Bern,8.25,y|x\n"
	for name, text := range map[string]string{
		"csv": csv, "tsv": strings.ReplaceAll(csv, ",", "\t"), "semicolons": strings.ReplaceAll(csv, ",", ";"), "sep line": "sep=;\r\n" + strings.ReplaceAll(csv, ",", ";"),
		"mark": "\ufeff" + csv, "UTF-16": utf16le(csv), "UTF-16 unmarked": utf16le(csv)[2:], "Windows": strings.ReplaceAll(csv, "ü", "\xfc"), "CRLF": strings.ReplaceAll(csv, "\n", "\r\n"),
		"lines":   `{"id":"A1","city":"Zürich","price":1200.5,"tags":["x","y"]}` + "\n" + `{"id":"A2","city":"Bern","price":7,"tags":"x"}` + "\n" + `{"id":"A3","city":"Bern","price":8.25,"tags":["y","x"]}` + "\n",
		"array":   `[{"id":"A1","city":"Zürich","price":1200.5,"tags":["x","y"]}, {"id":"A2","city":"Bern","price":7,"tags":["x"]},` + "\n" + `{"id":"A3","city":"Bern","price":8.25,"tags":["y","x"]}]`,
		"wrapped": `{"meta":{"n":3,"of":[1,2]},"items":[{"id":"A1","city":"Zürich","price":1200.5,"tags":["x","y"]},{"id":"A2","city":"Bern","price":7,"tags":["x"]},{"id":"A3","city":"Bern","price":8.25,"tags":["y","x"]}],"next":null}`,
		"pretty":  "{\n  \"id\": \"A1\",\n  \"city\": \"Zürich\",\n  \"price\": 1200.5,\n  \"tags\": [\"x\", \"y\"]\n}\n{\n  \"id\": \"A2\",\n  \"city\": \"Bern\", \"price\": 7, \"tags\": \"x\"}\n{\"id\":\"A3\",\"city\":\"Bern\",\"price\":8.25,\"tags\":[\"y\",\"x\"]}",
	} {
		ids, fields, rest, _ := docs(t, "t."+name, text)
		if fmt.Sprint(ids) != "[A1 A2 A3]" || len(rest) != 0 {
			t.Errorf("%s: %v, %v", name, ids, rest)
			continue
		}
		f := fields[0]
		if f.One("city").Str() != "Zürich" || f.One("price").Float() != 1200.5 || len(f["tags"]) != 2 {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func TestDirtCostsNoRecord(t *testing.T) {
	const text = "Nr,Name,Name,,Amount,Note\r\n" +
		"1,Ann,Bee,x,5,\"two\r\nlines, and a \"\"quote\"\"\"\r\n" +
		"2,Cid,Dee,y,N/A,\r\n" + // a placeholder
		"3,Eve\r\n" + // short
		"4,Fay,Gus,z,7,ok,,,\r\n" + // empty cells beyond the header
		"5,Hal,Ida,z,8,too,many\r\n" +
		",,,,,\r\n" +
		"6,Jim,Kay,z,9,5\" crack\r\n"
	ids, fields, rest, notes := docs(t, "t.csv", text)
	if fmt.Sprint(ids) != "[1 2 3 4 6]" {
		t.Errorf("ids %v", ids)
	}
	if fmt.Sprint(rest) != "[refused: 7 cells where the header has 6 skipped: no cell has anything in it]" {
		t.Errorf("rest %q", rest)
	}
	if !fields[1].One("amount").IsZero() || fields[3].One("amount").Int() != 7 || fields[0].One("name_2").Str() != "Bee" || fields[0].One("column_4").Str() != "x" {
		t.Errorf("fields %v", fields)
	}
	if got := strings.Join(notes.Warnings, " "); !strings.Contains(got, "1 records have fewer cells") || !strings.Contains(got, "Columns stand more than once") {
		t.Errorf("warnings %q", got)
	}
}

func TestShortRecordsThatDoNotFitAreRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,amount,day\n")
	for i := range 40 {
		fmt.Fprintf(&b, "R%d,%d,2024-01-02\n", i, i)
	}
	b.WriteString("R99,left over from a broken line\n")
	_, _, rest, _ := docs(t, "t.csv", b.String())
	if len(rest) != 1 || !strings.Contains(rest[0], "fewer cells than the header") {
		t.Errorf("%q", rest)
	}
}

// A column that is no id of its own keeps every record apart, and the same way each time.
func TestCSV08RecordsOfOneIDAreKeptApart(t *testing.T) {
	m := table.Mapping{Source: "s", Collection: "s", ID: "event", Fields: []table.Column{{Name: "reg", Field: filter.Field{Name: "reg", Kind: filter.Keyword}}}}
	const text = "event,reg\nE1,N111AA\nE2,N3\nE1,N222BB\nE1,N222BB\n"
	first, _, notes := read(t, table.NewSource(m, source.Bytes("t.csv", []byte(text))))
	again, _, _ := read(t, table.NewSource(m, source.Bytes("u.csv", []byte("event,reg\nE1,N222BB\nE1,N111AA\nE2,N3\n"))))
	if first[0].ID == first[2].ID || first[2].ID != first[3].ID || first[1].ID != "s:E2" {
		t.Errorf("ids %s %s %s %s", first[0].ID, first[1].ID, first[2].ID, first[3].ID)
	}
	if again[0].ID != first[2].ID || again[1].ID != first[0].ID {
		t.Errorf("in another order: %s, %s", again[0].ID, again[1].ID)
	}
	if got := strings.Join(notes.Warnings, " "); !strings.Contains(got, "Column event is no id of its own") {
		t.Errorf("warnings %q", got)
	}
}

func TestWithoutAnIDARecordIsWhatItSays(t *testing.T) {
	ids, _, _, _ := docs(t, "t.csv", "city,n\nBern,1\nBern,2\nBern,1\n")
	if ids[0] != ids[2] || ids[0] == ids[1] {
		t.Errorf("ids %v", ids)
	}
}

func TestWhatIsNoTable(t *testing.T) {
	for text, want := range map[string]error{
		"%PDF-1.7 ...": table.ErrFormat, "PK\x03\x04....": table.ErrFormat, "<!DOCTYPE html>": table.ErrFormat, "": table.ErrEmpty, "a,b\n": table.ErrFormat,
	} {
		_, err := table.Infer(t.Context(), table.Wish{Collection: "c"}, source.Bytes("x", []byte(text)))
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text[:min(len(text), 12)], err, want)
		}
	}
	japanese := strings.Repeat("\x83\x65\x83\x58\x83\x67\x83\x65\x83\x58,1\n", 50) // Shift JIS
	if _, err := table.Infer(t.Context(), table.Wish{Collection: "c"}, source.Bytes("x", []byte("name,n\n"+japanese))); !errors.Is(err, table.ErrEncoding) {
		t.Errorf("Shift JIS: %v", err)
	}
	found, err := table.Infer(t.Context(), table.Wish{Collection: "c", Encoding: "shift_jis"}, source.Bytes("x", []byte("name,n\n"+japanese)))
	if err != nil || found.Columns[0].Examples[0] != "テストテス" {
		t.Errorf("named: %v %v", err, found.Columns)
	}
	russian := "\xe8\xec\xff,\xe3\xee\xf0\xee\xe4\n" + strings.Repeat("\xce\xeb\xe5\xe3,\xcd\xee\xe2\xee\xf1\xe8\xe1\xe8\xf0\xf1\xea\xe0\xff \xee\xe1\xeb\xe0\xf1\xf2\xfc\n", 20) // Windows-1251
	found, err = table.Infer(t.Context(), table.Wish{Collection: "c"}, source.Bytes("x", []byte(russian)))
	if err != nil || found.Columns[1].Name != "город" {
		t.Errorf("Windows-1251: %v %+v", err, found.Columns)
	}
}

func TestLayoutsAreChecked(t *testing.T) {
	l := infer(t, "id,price\nA,5\nB,6\n").Layout
	for _, break_ := range []func(*table.Layout){
		func(l *table.Layout) { l.Columns[1].Kind = "money" }, func(l *table.Layout) { l.Columns[1].Field = "not a name" },
		func(l *table.Layout) { l.Columns[1].Field = l.Columns[0].Field }, func(l *table.Layout) { l.Columns[1].Decimal = ";" },
		func(l *table.Layout) { l.Date = "price" }, func(l *table.Layout) { l.Columns[1].Dates = "year_first" }, func(l *table.Layout) { l.Collection = "No Name" },
	} {
		broken := l
		broken.Columns = append([]table.LayoutColumn{}, l.Columns...)
		break_(&broken)
		if _, err := broken.Spec(""); err == nil {
			t.Errorf("%+v was taken", broken)
		}
	}
}

// Whatever the bytes: no panic, every record one outcome, documents that fit their schema.
func FuzzInfer(f *testing.F) {
	for _, s := range []string{"id,a\n1,2\n", "a;b\n\"x;y\";3,5\n", `[{"a":1},{"b":[2,"x"]},3]`, `{"x":[{"a":"2024-01-02"}]}`, "{\"a\":{\"b\":1}}\n{\"a\":null}\n", "sep=|\na|a\n1|2|3\n", "\xff\xfea\x00,\x00b\x00\n\x001\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		blob := source.Bytes("f", data)
		found, err := table.Infer(t.Context(), table.Wish{Collection: "c"}, blob)
		if err != nil {
			return
		}
		spec, err := found.Layout.Spec("")
		if err != nil {
			t.Fatal(err)
		}
		m, err := found.Layout.Mapping(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		inputs, err := table.NewSource(m, blob).Inputs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		for item, err := range inputs[0].Items(t.Context(), source.Position{}) {
			if err != nil {
				return
			}
			if item.Next.Record <= last {
				t.Fatalf("record %d after %d", item.Next.Record, last)
			}
			last = item.Next.Record
			if item.Contribution == nil {
				continue
			}
			doc, _, err := item.Contribution.Merge(nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := spec.Schema.Check(doc.Meta); err != nil {
				t.Fatal(err)
			}
		}
	})
}
