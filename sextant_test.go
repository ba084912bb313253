package sextant_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

func TestNormalize(t *testing.T) {
	q, err := sextant.Question{Text: "  How\tmany\u200b in\r\n Alaska?\x00 "}.Normalize()
	if err != nil || q.Text != "How many in Alaska?" || q.TopK != sextant.DefaultTopK || q.Mode != sextant.Agentic {
		t.Errorf("%+v, %v", q, err)
	}
	for name, bad := range map[string]sextant.Question{
		"nothing":      {Text: ""},
		"blanks":       {Text: " \n"},
		"marks":        {Text: "?!"},
		"zero width":   {Text: "\u200b\u2060"},
		"emoji":        {Text: "✈️"},
		"too long":     {Text: strings.Repeat("a", sextant.MaxQuestionBytes+1)},
		"top_k":        {Text: "a", TopK: sextant.MaxTopK + 1},
		"below zero":   {Text: "a", TopK: -1},
		"unknown mode": {Text: "a", Mode: "psychic"},
	} {
		if _, err := bad.Normalize(); sextant.ErrorCode(err) != sextant.CodeBadRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCleanText(t *testing.T) {
	for in, want := range map[string]string{
		"a\u202eb":          "ab",  // bidi override
		"a\U000e0041b":      "ab",  // tag character
		"a\u00a0\u2003b":    "a b", // blanks of all kinds
		"Ca\u00f1on \u00a7": "Cañon §",
		"x\xff\xfey":        "x\ufffd\ufffdy",
		"\x1b[31mred":       "[31mred",
	} {
		if got := sextant.CleanText(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzCleanText(f *testing.F) {
	f.Add("a\u202eb\x00 \xff")
	f.Fuzz(func(t *testing.T, s string) {
		once := sextant.CleanText(s)
		if again := sextant.CleanText(once); again != once {
			t.Fatalf("%q became %q and then %q", s, once, again)
		}
		if strings.ContainsAny(once, "\x00\x1b\u200b\u202e\n") {
			t.Fatalf("%q kept a character that must go: %q", s, once)
		}
	})
}

func TestQuotesAreCutFromTheText(t *testing.T) {
	d := sextant.Document{ID: "s:1", Title: "T", Text: "Outer inner text.", Parts: []sextant.Part{{Kind: "page", Locator: "p. 1", Start: 0, End: 17}, {Kind: "paragraph", Locator: "(a)", Start: 6, End: 11}}}
	q, err := d.Quote(6, 11)
	if err != nil || q.Text != "inner" || q.Locator != "(a)" || q.DocumentID != "s:1" {
		t.Errorf("%+v, %v", q, err)
	}
	for _, bad := range [][2]int{{-1, 3}, {3, 3}, {5, 99}, {9, 2}} {
		if q, err := d.Quote(bad[0], bad[1]); err == nil {
			t.Errorf("%v: %+v", bad, q)
		}
	}
}

// Everything a reader could notice changes the revision; where and when a record was
// read does not.
func TestRevision(t *testing.T) {
	base := func() sextant.Document {
		return sextant.Document{ID: "s:1", Title: "T", Text: "text", Parts: []sextant.Part{{Kind: "page", End: 4}}, Meta: filter.Meta{Fields: filter.Fields{"a": {filter.OfInt(1)}}}}
	}
	revision := func(change func(*sextant.Document)) string {
		d := base()
		change(&d)
		r, err := d.ComputeRevision()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	same := revision(func(*sextant.Document) {})
	for name, change := range map[string]func(*sextant.Document){
		"title":    func(d *sextant.Document) { d.Title = "U" },
		"text":     func(d *sextant.Document) { d.Text = "texts" },
		"part":     func(d *sextant.Document) { d.Parts[0].Locator = "p. 2" },
		"metadata": func(d *sextant.Document) { d.Meta.Fields.Set("a", filter.OfInt(2)) },
		"validity": func(d *sextant.Document) { d.Valid.From = time.Unix(0, 0) },
	} {
		if revision(change) == same {
			t.Errorf("%s changed and the revision did not", name)
		}
	}
	if revision(func(d *sextant.Document) { d.Source = sextant.Source{URI: "elsewhere", Retrieved: time.Unix(1, 0)} }) != same {
		t.Error("where it was read from counts")
	}
}

func TestErrorsHaveTwoReaders(t *testing.T) {
	err := fmt.Errorf("ask: %w", &sextant.Error{Code: sextant.CodeUnavailable, Op: "count", Message: "The store cannot be read.", Hint: "Try again.", Err: errors.New("dial 10.0.0.7: refused")})
	message, hint := sextant.PublicMessage(err)
	if message != "The store cannot be read." || hint != "Try again." || strings.Contains(message+hint, "10.0.0.7") {
		t.Errorf("%q, %q", message, hint)
	}
	if sextant.ErrorCode(err) != sextant.CodeUnavailable || !strings.Contains(err.Error(), "10.0.0.7") {
		t.Errorf("%s: %v", sextant.ErrorCode(err), err)
	}
	if message, _ := sextant.PublicMessage(errors.New("password=1")); strings.Contains(message, "password") {
		t.Errorf("%q", message)
	}
}

func TestEndings(t *testing.T) {
	codes := map[sextant.Status]int{sextant.Answered: 0, sextant.Partial: 0, sextant.NoData: 3, sextant.InsufficientEvidence: 4, sextant.OutOfScope: 5, sextant.NeedsClarification: 6, sextant.BudgetExhausted: 7, sextant.SourceUnavailable: 8, "": 1}
	for status, want := range codes {
		if got := status.ExitCode(); got != want {
			t.Errorf("%s: exit %d, want %d", status, got, want)
		}
		if got := status.HTTPStatus(); (got == 503) != (status == sextant.SourceUnavailable) {
			t.Errorf("%s: HTTP %d", status, got)
		}
	}
}

func TestDocumentIDs(t *testing.T) {
	for id, want := range map[sextant.DocumentID]string{"ntsb:20001208X05756": "20001208X05756", "a:b:c": "b:c", "bare": "bare"} {
		if got := id.Native(); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}
