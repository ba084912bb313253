package chunk

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
)

func documentGen() *rapid.Generator[*sextant.Document] {
	return rapid.Custom(func(t *rapid.T) *sextant.Document {
		doc := document(strings.Join(rapid.SliceOfN(proseGen(), 1, 6).Draw(t, "texts"), "\n"))
		at := rapid.IntRange(-2, len(doc.Text)+2)
		kind := rapid.SampledFrom([]string{"heading", "heading2", "table", "code", "page", "record", "paragraph"})
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			doc.Parts = append(doc.Parts, sextant.Part{Kind: kind.Draw(t, "kind"), Start: at.Draw(t, "start"), End: at.Draw(t, "end")})
		}
		return doc
	})
}

// Sizers that are not additive must cost no more than chunks of a poorer fit.
func optionsGen() *rapid.Generator[Options] {
	return rapid.Custom(func(t *rapid.T) Options {
		return Options{
			Tokens:  rapid.IntRange(0, 60).Draw(t, "tokens"),
			Overlap: rapid.IntRange(-1, 70).Draw(t, "overlap"),
			Size: rapid.SampledFrom([]Sizer{nil, utf8.RuneCountInString, words,
				func(s string) int { return len(s) + 2 },                               // counts what stands around a text
				func(s string) int { return 1 + len(strings.TrimSpace(s))%7*words(s) }, // does not grow with the text
				func(s string) int { return strings.Count(s, " ") - len(s)/1000 }}).    // zero and below
				Draw(t, "sizer"),
		}
	})
}

// The laws of problems hold for any text, any parts and any Sizer.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc, opt := documentGen().Draw(t, "document"), optionsGen().Draw(t, "options")
		got := Split(doc, opt)
		if diff := cmp.Diff(got, Split(doc, opt)); diff != "" {
			t.Fatalf("two runs differ: %s", diff)
		}
		if err := problems(doc, opt, got); err != nil {
			t.Fatal(err)
		}
		isHeading := func(p sextant.Part) bool { return strings.HasPrefix(p.Kind, "heading") }
		if len(got) == 0 && strings.TrimSpace(doc.Text) != "" && !slices.ContainsFunc(doc.Parts, isHeading) {
			t.Fatalf("%q has no chunk", doc.Text)
		}
	})
}

// A chunk that touches the text of an outer and of a nested part holds both whole.
func TestNestedPartsStayApartOrWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var texts [3]string
		for i := range texts {
			texts[i] = "x" + proseGen().Draw(t, "text") + "x"
		}
		a, b := len(texts[0]), len(texts[0])+len(texts[1])
		doc := document(strings.Join(texts[:], ""))
		doc.Parts = []sextant.Part{{Kind: "record", End: len(doc.Text)}, {Kind: "record", Start: a, End: b}}
		edges := []int{0, a, b, len(doc.Text)}
		for _, c := range Split(doc, optionsGen().Draw(t, "options")) {
			for i := range texts {
				from, to := edges[i], edges[i+1]
				inside := from <= c.Start && c.End <= to
				if c.Start < to && from < c.End && !inside && (c.Start > from || c.End < to) {
					t.Fatalf("chunk %d, %d:%d, has a piece of %d:%d and more", c.Index, c.Start, c.End, from, to)
				}
			}
		}
	})
}

// What stands in a section has no influence on the chunks of the sections before.
func TestChangeBelowAHeadingKeepsWhatIsAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(proseGen(), 2, 5).Draw(t, "texts")
		k := rapid.IntRange(1, len(texts)-1).Draw(t, "changed")
		changed := slices.Clone(texts)
		changed[k] = proseGen().Draw(t, "other")
		build := func(texts []string) (doc *sextant.Document, at int) {
			doc = document("")
			for i, text := range texts {
				if i == k {
					at = len(doc.Text)
				}
				title := fmt.Sprintf("Section %d", i)
				doc.Parts = append(doc.Parts, sextant.Part{Kind: "heading", Start: len(doc.Text), End: len(doc.Text) + len(title)})
				doc.Text += title + "\nx" + text + "\n"
			}
			return doc, at
		}
		opt := optionsGen().Draw(t, "options")
		before := func(texts []string) []sextant.Chunk {
			doc, at := build(texts)
			chunks := Split(doc, opt)
			return chunks[:slices.IndexFunc(chunks, func(c sextant.Chunk) bool { return c.End > at })]
		}
		if diff := cmp.Diff(before(texts), before(changed)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Ten times the text must not take much more than ten times the Sizer's work.
func TestCHK01LinearWork(t *testing.T) {
	for name, unit := range map[string]string{"letters": "a", "words": "pilot ", "sentences": "It fell. ", "lines": "x\n\n", "Chinese": "着", "flags": "🇩🇪", "marks": "\u0301"} {
		work := func(n int) (total int) {
			sizer := func(s string) int { total += len(s); return Estimate(s) }
			Split(document(strings.Repeat(unit, n)), Options{Size: sizer})
			return total
		}
		small, large := work(10_000), work(100_000)
		if large > 12*small {
			t.Errorf("%s: %d bytes measured, %d for ten times the text", name, small, large)
		}
		if large > 60*100_000*len(unit) {
			t.Errorf("%s: every byte measured %d times", name, large/(100_000*len(unit)))
		}
	}
}

func TestDeepPartsTakeLinearTime(t *testing.T) {
	doc := document(strings.Repeat("It fell. ", 40_000))
	for i := range 100_000 {
		doc.Parts = append(doc.Parts, sextant.Part{Kind: "section", Start: i, End: len(doc.Text) - i})
	}
	start := time.Now()
	split(t, doc, Options{})
	if took := time.Since(start); took > 5*time.Second { // squares would take minutes
		t.Errorf("took %v", took)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("The pilot landed. N.M. e.g. 3.5\n\n- item", "heading", 3, 9, 16, 4)
	f.Add("飛行。👨‍👩‍👧\x80\xff", "table", 0, 4, 2, 0)
	f.Add("a|b\n---\n1|2", "code", -1, 99, 1, -1)
	f.Fuzz(func(t *testing.T, text, kind string, start, end, tokens, overlap int) {
		doc := document(text, sextant.Part{Kind: kind, Start: start, End: end}, sextant.Part{Kind: "record", Start: start / 2, End: end})
		opt := Options{Tokens: tokens, Overlap: overlap}
		if err := problems(doc, opt, Split(doc, opt)); err != nil {
			t.Fatal(err)
		}
	})
}
