package extract

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sextant-rag/sextant"
)

// read extracts data with the defaults and checks what holds for every text.
func read(t testing.TB, name string, data []byte) (Text, error) {
	t.Helper()
	var x Extractor
	got, err := x.Extract(t.Context(), name, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		if RefusalOf(err) == nil {
			t.Fatalf("%s: %v is no Refusal", name, err)
		}
		return got, err
	}
	checkText(t, name, got)
	return got, nil
}

// mustRead extracts text that is not to be refused.
func mustRead(t testing.TB, name, data string) Text {
	t.Helper()
	got, err := read(t, name, []byte(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return got
}

// checkText holds a text to what the package promises.
func checkText(t testing.TB, name string, got Text) {
	t.Helper()
	switch {
	case got.Text == "" || got.Title == "" || got.Format == "":
		t.Fatalf("%s: text of %d bytes, title %q, format %q", name, len(got.Text), got.Title, got.Format)
	case !utf8.ValidString(got.Text) || !utf8.ValidString(got.Title):
		t.Fatalf("%s: not valid UTF-8", name)
	case strings.ContainsAny(got.Text, "\x00\r\v\f\x1b\u00ad\ufeff\u202e"):
		t.Fatalf("%s: characters that cannot be seen are left in %.200q", name, got.Text)
	}
	var open []sextant.Part
	for i, p := range got.Parts {
		if p.Start < 0 || p.Start >= p.End || p.End > len(got.Text) {
			t.Fatalf("%s: part %+v of a text of %d bytes", name, p, len(got.Text))
		}
		if strings.TrimSpace(got.Text[p.Start:p.End]) != got.Text[p.Start:p.End] && p.Kind != KindItem && p.Kind != KindCode && p.Kind != KindLines {
			t.Errorf("%s: part %+v has white space around it", name, p)
		}
		if i > 0 && p.Start < got.Parts[i-1].Start {
			t.Errorf("%s: part %+v stands after %+v", name, p, got.Parts[i-1])
		}
		for len(open) > 0 && open[len(open)-1].End <= p.Start {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && open[len(open)-1].End < p.End {
			t.Errorf("%s: part %+v crosses %+v", name, p, open[len(open)-1])
		}
		open = append(open, p)
	}
}

// place returns the locator a reader of a quotation gets.
func place(t testing.TB, got Text, quote string) string {
	t.Helper()
	i := strings.Index(got.Text, quote)
	if i < 0 {
		t.Fatalf("%q is not in %.500q", quote, got.Text)
	}
	doc := sextant.Document{Text: got.Text, Parts: got.Parts}
	q, err := doc.Quote(i, i+len(quote))
	if err != nil {
		t.Fatal(err)
	}
	return q.Locator
}

func TestMarkdown(t *testing.T) {
	got := mustRead(t, "manual.md", `---
title: Hangar manual
author: A. Writer
---
# Brakes

Worn **pads** wear _discs_; see [the *table*](https://example.org/a_(b)).
Next line, snake_case_name and 2*3*4.

## Limits

| Part | Limit |
|------|------:|
| Pad \| shoe | `+"`2|mm`"+` |
| Disc | 20 mm |

- first
  - deeper
    continued
- [x] done

1) one

`+"```go\nfmt.Println(1)\n```"+`

> Quoted &amp; said.
`)
	want := `title: Hangar manual
author: A. Writer

Brakes

Worn pads wear discs; see the table. Next line, snake_case_name and 2*3*4.

Limits

Part | Limit
Pad / shoe | 2/mm
Disc | 20 mm

- first
  - deeper continued
- [x] done
1) one

fmt.Println(1)

Quoted & said.`
	if got.Text != want {
		t.Errorf("text is\n%s\nwant\n%s", got.Text, want)
	}
	if got.Title != "Hangar manual" || got.Properties.Author != "A. Writer" {
		t.Errorf("title %q, author %q", got.Title, got.Properties.Author)
	}
	if at := place(t, got, "Disc | 20"); at != "Brakes > Limits, table 1" {
		t.Errorf("a row of the table is at %q", at)
	}
	if at := place(t, got, "Quoted"); at != "Brakes > Limits" {
		t.Errorf("a paragraph is at %q", at)
	}
}

func TestMarkdownPages(t *testing.T) {
	got := mustRead(t, "book.md", "# Book\n\nIntro\n\n## Page 1\n\nFirst.\n\n### Images\n\nA picture.\n\n## Page 2\n\nSecond.\n")
	if at := place(t, got, "Second"); at != "p. 2" {
		t.Errorf("a line of page 2 is at %q", at)
	}
	if at := place(t, got, "A picture"); at != "p. 1, Images" {
		t.Errorf("a section of page 1 is at %q", at)
	}
}

func TestPlain(t *testing.T) {
	got := mustRead(t, "notes.txt", "\r\n\r\nFirst line\r\nsecond\x00 line \r\n\r\n"+strings.Repeat("More words here.\r\n", 60)+"\r\nEnd\r\n")
	if !strings.HasPrefix(got.Text, "First line\nsecond line\n\nMore") {
		t.Errorf("text begins %.60q", got.Text)
	}
	if at := place(t, got, "second line"); at != "lines 3-65" {
		t.Errorf("the first lines are at %q", at)
	}
	if at := place(t, got, "End"); at != "line 67" {
		t.Errorf("the last line is at %q", at)
	}
}

func TestRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		data string
		want Code
	}{
		"empty.txt":   {"", Empty},
		"blank.txt":   {" \n\t\r\n ", Empty},
		"picture.txt": {"\x89PNG\r\n\x1a\n0000", Unsupported},
		"noise.bin":   {"\x01\x02\x03\x04\xff\x00\x07\x10\x11\x12\x00\x13\x14", Unsupported},
		"cut.docx":    {"PK\x03\x04rest is missing", Malformed},
	} {
		_, err := read(t, name, []byte(tt.data))
		if r := RefusalOf(err); r == nil || r.Code != tt.want {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

// shrunk is a file that ends before the size it had when it was listed.
func TestFileThatShrinks(t *testing.T) {
	var x Extractor
	_, err := x.Extract(t.Context(), "log.txt", strings.NewReader("half of it"), 100)
	if r := RefusalOf(err); r == nil || r.Code != Changed {
		t.Errorf("a file cut off while it is read: %v", err)
	}
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Place != "byte 10" {
		t.Errorf("the place of the cut: %v", err)
	}
}
