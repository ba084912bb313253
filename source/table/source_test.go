package table_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/table"
)

func tickets() table.Mapping {
	return table.Mapping{
		Source: "tickets", Collection: "tickets", ID: "no", Title: "subject", Text: []string{"report", "answer"},
		Unknown: []string{"N/A"}, Now: time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC),
		Fields: []table.Column{
			{Name: "opened", Field: filter.Field{Name: "opened", Kind: filter.Time}},
			{Name: "hours", Field: filter.Field{Name: "hours", Kind: filter.Float}},
			{Name: "tags", Field: filter.Field{Name: "tag", Kind: filter.Keyword, List: true}, Split: "|"},
			{Name: "owner", Field: filter.Field{Name: "owner", Kind: filter.Keyword}},
		},
	}
}

// read returns the documents of one input and what became of the other records.
func read(t *testing.T, s source.Source) (docs []sextant.Document, rest []string, notes source.Notes) {
	t.Helper()
	inputs, err := s.Inputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for item, err := range inputs[0].Items(t.Context(), source.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Contribution == nil {
			rest = append(rest, string(item.Outcome)+": "+item.Reason)
			continue
		}
		doc, _, err := item.Contribution.Merge(nil)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs, rest, inputs[0].Notes()
}

func TestATableBecomesDocuments(t *testing.T) {
	const text = `no,subject,report,answer,opened,hours,tags,owner,extra
7,Printer smokes,"It smokes.
Badly.",Unplug it.,24/10/2025,1.5,fire|urgent,N/A,x
8,,Quiet today.,,03/08/2025,a lot,, ann ,y
,lost,none,,,,,,
`
	docs, rest, notes := read(t, table.NewSource(tickets(), source.Bytes("t.csv", []byte(text))))
	if len(docs) != 2 || len(rest) != 1 || rest[0] != "refused: the record has no id (column no)" {
		t.Fatalf("%d documents, %q", len(docs), rest)
	}
	first := docs[0]
	if first.ID != "tickets:7" || first.Title != "Printer smokes" || docs[1].Title != "8" {
		t.Errorf("%s %q, %q", first.ID, first.Title, docs[1].Title)
	}
	if want := "report\nIt smokes.\nBadly.\n\nanswer\nUnplug it."; first.Text != want {
		t.Errorf("text %q", first.Text)
	}
	for _, p := range first.Parts {
		if p.Locator == "answer" && first.Text[p.Start:p.End] != "Unplug it." {
			t.Errorf("part %+v holds %q", p, first.Text[p.Start:p.End])
		}
	}
	want := filter.Fields{
		"opened": {filter.Date(2025, 10, 24)}, "hours": {filter.OfFloat(1.5)},
		"tag": {filter.OfString("fire"), filter.OfString("urgent")},
	}
	if diff := cmp.Diff(want, first.Meta.Fields, cmp.Comparer(func(a, b filter.Value) bool { return a == b })); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if got := docs[1].Meta.Fields.One("opened"); got != filter.Date(2025, 8, 3) {
		t.Errorf("the column is day first, got %s", got)
	}
	if got := strings.Join(notes.Warnings, " "); !strings.Contains(got, `line 4: hours "a lot"`) {
		t.Errorf("warnings %q", got)
	}
}

func TestJSONLinesBecomeDocuments(t *testing.T) {
	const text = "\ufeff" + `{"no": 7, "subject": "Printer", "report": "It smokes.", "hours": 2, "tags": ["a|b", "c"], "owner": null, "nested": {"x": 1}}

{"no": 8, "report":
`
	docs, rest, _ := read(t, table.NewSource(tickets(), source.Bytes("t.jsonl", []byte(text))))
	if len(docs) != 1 || docs[0].ID != "tickets:7" {
		t.Fatalf("%+v", docs)
	}
	if got := len(docs[0].Meta.Fields["tag"]); got != 3 {
		t.Errorf("%d tags", got)
	}
	if len(rest) != 2 || rest[0] != "skipped: empty line" || !strings.HasPrefix(rest[1], "refused: no JSON object") {
		t.Errorf("%q", rest)
	}
}

func TestWithoutTextColumnsFieldsAreTheText(t *testing.T) {
	m := tickets()
	m.Text, m.Title = nil, ""
	docs, _, _ := read(t, table.NewSource(m, source.Bytes("t.csv", []byte("no,opened,hours,tags,owner\n1,2025-01-02,3,x,ann\n"))))
	if want := "opened: 2025-01-02\nhours: 3\ntags: x\nowner: ann"; docs[0].Text != want {
		t.Errorf("text %q, want %q", docs[0].Text, want)
	}
}

func TestMissingColumnsAreNamedBeforeReading(t *testing.T) {
	s := table.NewSource(tickets(), source.Bytes("t.csv", []byte("number,subject\n1,x\n")))
	_, err := s.Inputs(t.Context())
	if !errors.Is(err, table.ErrColumns) || !strings.Contains(err.Error(), "no, report, answer") || !strings.Contains(err.Error(), "there are: number, subject") {
		t.Errorf("%v", err)
	}
}

func TestVersionTellsMappingsApart(t *testing.T) {
	a, b := tickets(), tickets()
	b.Title = "report"
	if table.NewSource(a).Version() == table.NewSource(b).Version() {
		t.Error("two mappings have one version")
	}
}
