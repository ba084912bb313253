package table

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant/source"
)

// outcome is a row as the tests like to see it: its cells, or what became of it.
func outcome(r Row) string {
	switch {
	case r.Problem != "":
		return fmt.Sprintf("line %d refused: %s", r.At.Line+1, r.Problem)
	case r.Blank != "":
		return fmt.Sprintf("line %d blank: %s", r.At.Line+1, r.Blank)
	}
	return strings.Join(r.Cells, "|")
}

func readAll(t *testing.T, f *File, after source.Position) []Row {
	t.Helper()
	var out []Row
	for row, err := range f.Rows(t.Context(), after) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	return out
}

func open(t *testing.T, text string) *File {
	t.Helper()
	f, err := Open(source.Bytes("t.csv", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRows(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"plain", "a,b\n1,2\n3,4\n", []string{"1|2", "3|4"}},
		{"no final line break", "a,b\n1,2", []string{"1|2"}},
		{"carriage returns", "a,b\r\n1,2\r\n3,\"4\"\r\n", []string{"1|2", "3|4"}},
		{"final carriage return only", "a,b\r\n1,2\r", []string{"1|2"}},
		{"tab", "a\tb\n1,5\t2\n", []string{"1,5|2"}},
		{"semicolon", "a;b\n1,5;2\n", []string{"1,5|2"}},
		{"quotes", "a,b\n\"1, or \"\"one\"\"\",\"2\n3\"\n", []string{"1, or \"one\"|2\n3"}},
		{"empty cells", "a,b\n,\n\"\",\n", []string{"|", "|"}},
		{"empty line", "a,b\n1,2\n\n3,4\n", []string{"1|2", "line 3 blank: empty line", "3|4"}},
		{"cells left over by a spreadsheet", "a,b\n1,2,,\n3,4\n", []string{"1|2", "3|4"}},
		{"too few", "a,b,c\n1,2\n3,4,5\n", []string{"line 2 refused: 2 cells where the header has 3", "3|4|5"}},
		{"too many", "a,b\n1,2,3\n4,5\n", []string{"line 2 refused: 3 cells where the header has 2", "4|5"}},
		{"inch sign", "a,b\n5\" crack,x\n1,2\n", []string{"5\" crack|x", "1|2"}},
		{"undoubled quote", "a,b\n\"said \"mayday\" twice\",x\n1,2\n", []string{"line 2 refused: " + string(junk), "1|2"}},
		{"quote never closed", "a,b,c\n\"x,1,1\n2,3,4\n4,5,6\n", []string{"line 2 refused: a quote is opened and never closed", "2|3|4", "4|5|6"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, r := range readAll(t, open(t, c.text), source.Position{}) {
				got = append(got, outcome(r))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCSV01WesternBytesAmongUTF8(t *testing.T) {
	f := open(t, "id,city\n1,Cañon City\n2,Ca\xf1on\n3,pilot\x92s\n")
	var got []string
	for _, r := range readAll(t, f, source.Position{}) {
		got = append(got, outcome(r))
	}
	if diff := cmp.Diff([]string{"1|Cañon City", "2|Cañon", "3|pilot’s"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := "UTF-8, Windows-1252 assumed for 2 of 3 records (first on lines 3, 4)"; f.Notes().Encoding != want {
		t.Errorf("encoding %q, want %q", f.Notes().Encoding, want)
	}
}

func TestCSV01UndefinedBytesAreReported(t *testing.T) {
	f := open(t, "id,city\n1,a\x81b\n")
	if rows := readAll(t, f, source.Position{}); rows[0].Cells[1] != "ab" {
		t.Errorf("cells %q", rows[0].Cells)
	}
	if n := f.Notes(); len(n.Warnings) != 1 || !strings.Contains(n.Warnings[0], "1 bytes that are no character") {
		t.Errorf("warnings %q", n.Warnings)
	}
}

func TestCSV03ByteOrderMark(t *testing.T) {
	f := open(t, "\ufeff\"Event.Id\",\"Location, State\",Make\n1,\"\ufeffBoise, ID\",Cessna\n")
	if diff := cmp.Diff([]string{"Event.Id", "Location, State", "Make"}, f.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	rows := readAll(t, f, source.Position{})
	if len(rows) != 1 || rows[0].Cells[1] != "\ufeffBoise, ID" {
		t.Errorf("a mark inside a later cell must stay: %q", rows[0].Cells)
	}
	if want := int64(len("\ufeff\"Event.Id\",\"Location, State\",Make\n")); rows[0].At.Offset != want {
		t.Errorf("offset %d, want %d", rows[0].At.Offset, want)
	}
}

func TestCSV04BreaksAndQuotesInCells(t *testing.T) {
	f := open(t, "id,text\r\n1,\"Pilot said \"\"mayday\"\"\r\nthen turned\"\r\n2,5\" crack\r\n3,x\r\n4,y\r\n")
	rows := readAll(t, f, source.Position{})
	want := []string{"1|Pilot said \"mayday\"\r\nthen turned", "2|5\" crack", "3|x", "4|y"}
	var got []string
	for _, r := range rows {
		got = append(got, outcome(r))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if rows[1].At.Line != 3 {
		t.Errorf("the row after a broken line starts after line %d, want 3", rows[1].At.Line)
	}
}

func TestCSV06NULs(t *testing.T) {
	text := "id,a,b\nA1,\"x\x00\",3\nA2,y,4\n" + strings.Repeat("\x00", 500)
	f := open(t, text)
	rows := readAll(t, f, source.Position{})
	var got []string
	for _, r := range rows {
		got = append(got, outcome(r))
	}
	if diff := cmp.Diff([]string{"A1|x|3", "A2|y|4", "line 4 blank: 500 NUL bytes at the end"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := []string{"501 NUL bytes were removed (the first at byte 12)."}; !slices.Equal(f.Notes().Warnings, want) {
		t.Errorf("warnings %q, want %q", f.Notes().Warnings, want)
	}
	for i, start := range []int{strings.Index(text, "A1"), strings.Index(text, "A2")} {
		if rows[i].At.Offset != int64(start) {
			t.Errorf("row %d at byte %d, want %d", i, rows[i].At.Offset, start)
		}
	}
}

func TestCSV07CutOff(t *testing.T) {
	whole := "id,text\n1,\"one\ntwo, three\"\n2,x\n3,\"The pilot\nsaid, and\nthen"
	for name, f := range map[string]*File{
		"within a quoted cell": open(t, whole),
		"within a row":         open(t, "id,text\n1,\"one\ntwo, three\"\n2,x\n3"),
	} {
		rows := readAll(t, f, source.Position{})
		last := rows[len(rows)-1]
		if len(rows) != 3 || !strings.HasPrefix(last.Problem, "cut off") {
			t.Errorf("%s: %d rows, the last %q", name, len(rows), outcome(last))
		}
	}
}

func TestCSV07CutCompressedStream(t *testing.T) {
	var text strings.Builder
	text.WriteString("id,text\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "%d,%x\n", i, i*7919)
	}
	data := zipped(t, text.String())
	f, err := Open(source.Bytes("t.csv.gz", data[:len(data)-20]))
	if err != nil {
		t.Fatal(err)
	}
	rows := readAll(t, f, source.Position{})
	for i, r := range rows[:len(rows)-1] {
		if r.Cells[0] != fmt.Sprint(i) {
			t.Fatalf("row %d is %q", i, outcome(r))
		}
	}
	if !strings.Contains(strings.Join(f.Notes().Warnings, " "), "cut off") {
		t.Errorf("no warning: %q", f.Notes().Warnings)
	}
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBombIsRefused(t *testing.T) {
	data := zipped(t, "id,text\n"+strings.Repeat("1,"+strings.Repeat("2", 8000)+"\n", 12<<10))
	f, err := Open(source.Bytes("bomb.csv.gz", data))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range f.Rows(t.Context(), source.Position{}) {
		if err != nil {
			if !errors.Is(err, source.ErrExpands) {
				t.Error(err)
			}
			return
		}
	}
	t.Error("100 MB came out of a small file without complaint")
}

func TestOverlongRecords(t *testing.T) {
	long := strings.Repeat("x", MaxRecord+10)
	const rest = MaxRecord/1000 + 10
	f := open(t, "a,b\n1,"+long+"\n2,3\n\"lost quote,4\n"+strings.Repeat("5,"+long[:998]+"\n", rest))
	rows := readAll(t, f, source.Position{})
	want := []string{"line 2 refused: longer than 4 MiB", "2|3", "line 4 refused: a quote is opened and not closed within 4 MiB", "5|" + long[:998]}
	for i, w := range want {
		if got := outcome(rows[i]); got != w {
			t.Errorf("row %d: %s, want %s", i, got, w)
		}
	}
	if len(rows) != 3+rest {
		t.Errorf("%d rows", len(rows))
	}
}

func TestHeaderProblems(t *testing.T) {
	for text, want := range map[string]error{"": ErrEmpty, "\n\n": ErrEmpty, "\xff\xfe": ErrEmpty} {
		if _, err := Open(source.Bytes("t.csv", []byte(text))); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if got := open(t, "Make,Id,Make,Id,x\n").Repeated(); !slices.Equal(got, []string{"Make", "Id"}) {
		t.Errorf("repeated: %q", got)
	}
}

// Reading on from the position after any row gives the rows that follow it.
func TestResumeAnywhere(t *testing.T) {
	f := open(t, "\ufeffid,t\n1,\"a\n\x00b\"\n\n2,\xe9\nbad\n\x00\x003,c\n")
	all := readAll(t, f, source.Position{})
	for i, row := range all {
		rest := readAll(t, f, row.Next)
		if diff := cmp.Diff(all[i+1:], rest, equateEmpty); diff != "" {
			t.Errorf("after row %d (-want +got):\n%s", i, diff)
		}
	}
}

var equateEmpty = cmp.FilterValues(func(a, b []Row) bool { return len(a) == 0 && len(b) == 0 }, cmp.Comparer(func(a, b []Row) bool { return true }))

// What encoding/csv writes is read back, whatever the pieces the stream comes in.
func TestReadsWhatEncodingCSVWrites(t *testing.T) {
	cell := rapid.StringOfN(rapid.RuneFrom([]rune("ab,\"\n é\t;")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(2, 4).Draw(t, "width")
		rows := rapid.SliceOfN(rapid.SliceOfN(cell, width, width), 0, 8).Draw(t, "rows")
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		r := newReader(iotest.OneByteReader(&b), ',', source.Position{})
		r.width = width
		for _, want := range rows {
			row, err := r.next()
			if err != nil || !slices.Equal(row.Cells, want) {
				t.Fatalf("got %q (%s, %v), want %q", row.Cells, row.Problem, err, want)
			}
		}
		if _, err := r.next(); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last: %v", err)
		}
	})
}

// Whatever the bytes: no panic, every byte belongs to one row, and positions rise.
func FuzzReader(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a,b\n\"x\n1,2\n", "\x00a,\"\x00\"\n\x00", "\r\n\r\n", "\"", "\"\"\"", "a\r"} {
		f.Add([]byte(s), byte(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, width byte) {
		r := newReader(bytes.NewReader(data), ',', source.Position{})
		r.width = int(width)
		at := source.Position{}
		for {
			row, err := r.next()
			if err != nil {
				break
			}
			if row.At.Record != at.Record || row.At.Line != at.Line || row.Next.Offset < row.At.Offset {
				t.Fatalf("row at %+v after %+v", row.At, at)
			}
			for _, c := range row.Cells {
				if strings.ContainsRune(c, 0) {
					t.Fatalf("NUL in %q", c)
				}
			}
			at = row.Next
		}
		if at.Offset != int64(len(data)) {
			t.Fatalf("%d of %d bytes accounted for", at.Offset, len(data))
		}
	})
}

func BenchmarkRows(b *testing.B) {
	var text strings.Builder
	text.WriteString("id,place,text,n\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "%d,\"Boise, ID\",an aircraft of no importance landed,%d\n", i, i*3)
	}
	f, err := Open(source.Bytes("b.csv", []byte(text.String())))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		for _, err := range f.Rows(b.Context(), source.Position{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
