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

func document(text string, parts ...sextant.Part) *sextant.Document {
	return &sextant.Document{ID: "t:1", Text: text, Parts: parts}
}

// problems checks what holds for every document: chunks are ranges of the text in
// order, within the limit, valid, and together hold everything that is not white space.
func problems(doc *sextant.Document, opt Options, chunks []sextant.Chunk) error {
	opt = opt.withDefaults()
	covered := 0
	for i, c := range chunks {
		switch {
		case c.Index != i || c.ID != sextant.ChunkID(doc.ID, i) || c.DocumentID != doc.ID:
			return fmt.Errorf("chunk %d calls itself %s, %d of %s", i, c.ID, c.Index, c.DocumentID)
		case c.Content != doc.Text[c.Start:c.End]:
			return fmt.Errorf("chunk %d is not its range", i)
		case strings.TrimSpace(c.Content) != c.Content || c.Content == "":
			return fmt.Errorf("chunk %d has white space at its ends: %q", i, c.Content)
		case utf8.ValidString(doc.Text) && !utf8.ValidString(c.Content):
			return fmt.Errorf("chunk %d is cut within a character", i)
		case measured(&opt, c) > opt.Tokens && utf8.RuneCountInString(c.Content) > 1:
			return fmt.Errorf("chunk %d has %d tokens of %d", i, measured(&opt, c), opt.Tokens)
		case i > 0 && (c.Start <= chunks[i-1].Start || c.End <= chunks[i-1].End):
			return fmt.Errorf("chunk %d is not after the one before", i)
		case c.Start > covered && strings.TrimSpace(doc.Text[covered:c.Start]) != "":
			return fmt.Errorf("lost before chunk %d: %q", i, doc.Text[covered:c.Start])
		}
		covered = c.End
	}
	if len(chunks) > 0 && strings.TrimSpace(doc.Text[covered:]) != "" {
		return fmt.Errorf("lost at the end: %q", doc.Text[covered:])
	}
	return nil
}

// measured is the size of a chunk and its heading.
func measured(opt *Options, c sextant.Chunk) int {
	size := opt.size(c.Content)
	if c.Heading != "" {
		size += opt.size(c.Heading)
	}
	return size
}

func split(t *testing.T, doc *sextant.Document, opt Options) []sextant.Chunk {
	t.Helper()
	chunks := Split(doc, opt)
	if err := problems(doc, opt, chunks); err != nil {
		t.Fatal(err)
	}
	return chunks
}

func contents(chunks []sextant.Chunk) []string {
	var out []string
	for _, c := range chunks {
		out = append(out, c.Heading+": "+c.Content)
	}
	return out
}

func TestSectionsBecomeChunks(t *testing.T) {
	text := "Record\nIt flew.\nIt fell.\n\nNarrative\nThe pilot turned.\n\nProbable cause\nWind."
	part := func(kind, part string) sextant.Part {
		at := strings.Index(text, part)
		return sextant.Part{Kind: kind, Start: at, End: at + len(part)}
	}
	doc := document(text, part("heading", "Record"), part("record", "It flew.\nIt fell."), part("record", "It fell."),
		part("heading", "Narrative"), part("narrative", "The pilot turned."), part("heading", "Probable cause"), part("cause", "Wind."))
	want := []string{"Record: Record\nIt flew.\nIt fell.", "Narrative: Narrative\nThe pilot turned.", "Probable cause: Probable cause\nWind."}
	if diff := cmp.Diff(want, contents(split(t, doc, Options{}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHeadingPathsFollowTheirLevels(t *testing.T) {
	doc := headed("heading1 Part 91\nheading2 Subpart B\ntext Rules.\nheading2 Subpart C\nheading3 91.205\ntext Equipment.\nheading1 Part 121\ntext Carriers.\nheading1 End\n")
	want := []string{
		"Part 91 > Subpart B: Part 91\nSubpart B\nRules.", "Part 91 > Subpart C > 91.205: Subpart C\n91.205\nEquipment.",
		"Part 121: Part 121\nCarriers.\nEnd",
	}
	if diff := cmp.Diff(want, contents(split(t, doc, Options{}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// headed makes a document of lines that say the kind of their part.
func headed(lines string) *sextant.Document {
	doc := document("")
	for line := range strings.Lines(lines) {
		kind, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		doc.Parts = append(doc.Parts, sextant.Part{Kind: kind, Start: len(doc.Text), End: len(doc.Text) + len(text)})
		doc.Text += text + "\n"
	}
	return doc
}

func TestOverlapIsWholeSentences(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "Sentence number %d has a few words. ", i)
	}
	chunks := split(t, document(text.String()), Options{Tokens: 60, Overlap: 20})
	if len(chunks) < 4 {
		t.Fatalf("%d chunks", len(chunks))
	}
	for i, c := range chunks[1:] {
		if !strings.HasPrefix(c.Content, "Sentence number") || !strings.HasSuffix(c.Content, ".") {
			t.Errorf("chunk %d is cut within a sentence: %q", i+1, c.Content)
		}
		if repeated := chunks[i].End - c.Start; repeated <= 0 {
			t.Errorf("chunk %d repeats nothing", i+1)
		} else if n := Estimate(c.Content[:repeated]); n > 20 {
			t.Errorf("chunk %d repeats %d tokens", i+1, n)
		}
	}
	for _, c := range split(t, document(text.String()), Options{Tokens: 60, Overlap: -1})[1:] {
		if c.Start > 0 && text.String()[c.Start-1] != ' ' {
			t.Error("cut elsewhere than between sentences")
		}
	}
}

func TestChunksAreOfEvenSize(t *testing.T) {
	text := strings.Repeat("The airplane turned left and then right. ", 32) // 256 tokens
	chunks := split(t, document(text), Options{})
	if len(chunks) != 2 {
		t.Fatalf("%d chunks", len(chunks))
	}
	a, b := Estimate(chunks[0].Content), Estimate(chunks[1].Content)
	if a > b*3/2 || b > a*3/2 {
		t.Errorf("chunks of %d and %d tokens", a, b)
	}
}

func TestCHK01NoBreakPoints(t *testing.T) {
	for name, text := range map[string]string{
		"one word":            "Note " + strings.Repeat("a", 200_000),
		"with a blank before": " Note " + strings.Repeat("a", 200_000),
		"one line of prose":   strings.Repeat("the airplane turned left and then right near the airport ", 2000),
		"full stops only":     strings.Repeat(".", 50_000),
		"open brackets":       strings.Repeat("(", 50_000),
		"abbreviations":       strings.Repeat("e.g. N.M. ", 10_000),
	} {
		for _, opt := range []Options{{}, {Size: func(string) int { return 1 }}} {
			start := time.Now()
			chunks := split(t, document(text), opt)
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("%s took %v", name, took)
			}
			if name == "one word" && len(chunks) < 30 {
				t.Errorf("%d chunks of 200,000 letters", len(chunks))
			}
		}
	}
}

func TestCHK02MultiByteBoundaries(t *testing.T) {
	for _, unit := range []string{"飛", "👨‍👩‍👧‍👦", "🇩🇪", "e\u0301\u0323", "👍🏽", "ก็", "क्ष", "\u1112\u1161\u11ab"} {
		for before := range 3 {
			text := strings.Repeat("x", before) + strings.Repeat(unit, 1000)
			for _, c := range split(t, document(text), Options{Tokens: 20}) {
				rest := strings.TrimLeft(c.Content, "x")
				if len(rest)%len(unit) != 0 || !strings.HasPrefix(rest, unit) {
					t.Fatalf("%q is cut: %q", unit, c.Content)
				}
			}
		}
	}
}

// Where a character is larger than a chunk it is cut, between code points.
func TestCHK02CharacterLargerThanAChunk(t *testing.T) {
	piled := "e" + strings.Repeat("\u0301", 20_000)
	split(t, document(piled), Options{Tokens: 20})
	split(t, document(strings.Repeat("👨‍👩‍👧‍👦", 10)+piled), Options{Tokens: 2, Size: utf8.RuneCountInString})
}

func TestCHK04TablesAreCutBetweenRows(t *testing.T) {
	var table strings.Builder
	table.WriteString("| Airport | Runway | Length |\n| code | name | feet |\n|---|---|---|\n")
	for i := range 80 {
		fmt.Fprintf(&table, "| A%02d | %d/%d | %d |\n", i, i%18+1, i%18+19, 3000+i)
	}
	text := "Runways follow.\n\n" + table.String() + "\nThat was all."
	at := strings.Index(text, "| Airport")
	doc := document(text, sextant.Part{Kind: "table", Locator: "Table 1", Start: at, End: at + table.Len()})
	chunks := split(t, doc, Options{Tokens: 120})
	found := false
	for _, c := range chunks[1 : len(chunks)-1] {
		for line := range strings.Lines(c.Content) {
			if !strings.HasPrefix(line, "|") || !strings.HasSuffix(strings.TrimSpace(line), "|") {
				t.Errorf("a row is cut: %q", line)
			}
		}
		if strings.Contains(c.Content, "A77") {
			found = true
			if c.Heading != "Table 1 > | Airport | Runway | Length | / | code | name | feet" && c.Heading != "Table 1 > | Airport | Runway | Length | / | code | name | feet |" {
				t.Errorf("row 77 stands under %q", c.Heading)
			}
		}
	}
	if !found || chunks[0].Content != "Runways follow." || chunks[len(chunks)-1].Content != "That was all." {
		t.Errorf("text and table are mixed: %q ... %q", chunks[0].Content, chunks[len(chunks)-1].Content)
	}
}

func TestCHK04CodeIsCutBetweenLines(t *testing.T) {
	code := strings.Repeat("x = compute(x, 1)  # step\n", 100)
	doc := document(code, sextant.Part{Kind: "code", Locator: "python", End: len(code)})
	for _, c := range split(t, doc, Options{Tokens: 80}) {
		if c.Heading != "python" || !strings.HasPrefix(c.Content, "x =") || !strings.HasSuffix(c.Content, "step") {
			t.Errorf("%q: %q", c.Heading, c.Content)
		}
	}
}

func TestSmallTablesStayWithTheirText(t *testing.T) {
	text := "Limits:\n| a | b |\n|---|---|\n| 1 | 2 |\nThey hold."
	doc := document(text, sextant.Part{Kind: "table", Start: 8, End: strings.Index(text, "They")})
	if got := split(t, doc, Options{}); len(got) != 1 {
		t.Errorf("%q", contents(got))
	}
}

func TestCHK05BlankAndHeadingOnly(t *testing.T) {
	plain := split(t, document("# A\n\n# B\n"+strings.Repeat("\n", 50)+"text"), Options{})
	if len(plain) != 1 || !strings.HasSuffix(plain[0].Content, "text") {
		t.Errorf("%q", contents(plain))
	}
	marked := split(t, headed("heading A\ntext \nheading B\ntext \ntext text\n"), Options{})
	if len(marked) != 1 || marked[0].Heading != "B" || marked[0].Content != "A\n\nB\n\ntext" {
		t.Errorf("%q", contents(marked))
	}
	for name, doc := range map[string]*sextant.Document{
		"spaces": document(" \n\t\u00a0 \n"), "nothing": document(""), "only a title": headed("heading Title\n"),
	} {
		if got := Split(doc, Options{}); len(got) != 0 {
			t.Errorf("%s: %q", name, contents(got))
		}
	}
}

// words is a Sizer whose sums are exact and easy to see.
func words(text string) int { return len(strings.Fields(text)) }

func TestHeadingIsNeverLeftBehind(t *testing.T) {
	for name, lines := range map[string]string{
		"long sentence":            "heading Ice on wings\ntext " + strings.Repeat("a sentence without a stop ", 20),
		"sentence that fits alone": "heading Ice on wings\ntext " + strings.Repeat("word ", 16) + ". More.",
		"table that fits alone":    "heading Ice on wings\ntable " + strings.Repeat("| a | b |", 3) + ".",
	} {
		chunks := split(t, headed(lines+"\n"), Options{Tokens: 20, Size: words})
		for _, c := range chunks {
			if c.Content == "Ice on wings" || c.Heading != "Ice on wings" {
				t.Errorf("%s: chunk %d under %q: %q", name, c.Index, c.Heading, c.Content)
			}
		}
	}
}

func TestHeadingsTakeAtMostHalf(t *testing.T) {
	doc := headed("heading1 " + strings.Repeat("outer ", 19) + "\nheading2 inner\ntext " + strings.Repeat("Some text. ", 60) + "\n")
	chunks := split(t, doc, Options{Tokens: 20, Size: words}) // with headings: see problems
	if last := chunks[len(chunks)-1]; last.Heading != "inner" {
		t.Errorf("under %q", last.Heading)
	}
	alone := split(t, headed("heading "+strings.Repeat("outer ", 19)+"\ntext "+strings.Repeat("Some text. ", 60)+"\n"), Options{Tokens: 20, Size: words})
	if last := alone[len(alone)-1]; words(last.Heading) != 10 {
		t.Errorf("under %q", last.Heading)
	}
}

func TestNestedPartsStayApart(t *testing.T) {
	record := func(first, second int) *sextant.Document {
		text := "The event. "
		doc := document("")
		for i, n := range []int{first, second} {
			line := strings.Repeat([]string{"First aircraft. ", "Second aircraft. "}[i], n)
			doc.Parts = append(doc.Parts, sextant.Part{Kind: "record", Start: len(text), End: len(text) + len(line)})
			text += line
		}
		doc.Text = text + "The end."
		doc.Parts = append(doc.Parts, sextant.Part{Kind: "record", End: len(doc.Text)})
		return doc
	}
	if got := split(t, record(3, 3), Options{Tokens: 30, Size: words}); len(got) != 1 {
		t.Errorf("a record that fits is in %d chunks", len(got))
	}
	for _, c := range split(t, record(20, 20), Options{Tokens: 30, Size: words}) {
		if strings.Contains(c.Content, "First") && strings.Contains(c.Content, "Second") || strings.Contains(c.Content, "Second") && strings.Contains(c.Content, "end") {
			t.Errorf("chunk %d runs from one part into the next: %q", c.Index, c.Content)
		}
	}
}

// Parts around others that have no text of their own change nothing.
func TestContainersDoNotKeepApart(t *testing.T) {
	doc := headed("text One two three four. Five six seven.\ntext Eight nine ten. Eleven twelve.\ntext More and more words.\n")
	opt := Options{Tokens: 9, Size: words}
	flat := split(t, doc, opt)
	doc.Parts = append(doc.Parts, sextant.Part{Kind: "page", End: len(doc.Text)})
	if diff := cmp.Diff(flat, split(t, doc, opt)); diff != "" {
		t.Error(diff)
	}
}

func TestPartsBeginAtCodePoints(t *testing.T) {
	text := "飛行。 着陸。"
	for at := range len(text) {
		split(t, document(text, sextant.Part{Kind: "heading", Start: 0, End: at}, sextant.Part{Kind: "text", Start: at, End: len(text)}), Options{})
	}
}

func TestBadPartsDoNoHarm(t *testing.T) {
	doc := document("One two. Three four.", sextant.Part{Start: -1, End: 3}, sextant.Part{Start: 5, End: 99},
		sextant.Part{Start: 4, End: 4}, sextant.Part{Kind: "a", Start: 0, End: 12}, sextant.Part{Kind: "b", Start: 9, End: 20})
	if got := split(t, doc, Options{}); len(got) != 1 || got[0].Content != doc.Text {
		t.Errorf("%q", contents(got))
	}
}

func TestVersionTellsSettingsApart(t *testing.T) {
	if a, b := (Options{}).Version(), (Options{Tokens: DefaultTokens, Overlap: DefaultOverlap}).Version(); a != b {
		t.Errorf("%q, %q", a, b)
	}
	if a, b := (Options{}).Version(), (Options{Overlap: -1}).Version(); a == b {
		t.Errorf("both %q", a)
	}
}

// A list item that fits a chunk with room to spare is never cut, however many sentences
// it has, and what is quoted of it keeps its locator.
func TestItemsStayWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		var parts []sextant.Part
		for i := range rapid.IntRange(1, 12).Draw(t, "items") {
			start := text.Len()
			for j := range rapid.IntRange(1, 6).Draw(t, "sentences") {
				fmt.Fprintf(&text, "Check number %d of item %d was made before the flight. ", j, i)
			}
			parts = append(parts, sextant.Part{Kind: "item", Locator: fmt.Sprintf("item %d", i), Start: start, End: text.Len() - 1})
			text.WriteString("\n")
		}
		doc := document(text.String(), parts...)
		opt := Options{Tokens: rapid.IntRange(60, 300).Draw(t, "tokens"), Overlap: rapid.IntRange(-1, 30).Draw(t, "overlap")}.withDefaults()
		chunks := Split(doc, opt)
		for _, p := range parts {
			if opt.size(doc.Text[p.Start:p.End]) > opt.Tokens/2 {
				continue
			}
			if !slices.ContainsFunc(chunks, func(c sextant.Chunk) bool { return c.Start <= p.Start && p.End <= c.End }) {
				t.Fatalf("%s is cut: %q", p.Locator, doc.Text[p.Start:p.End])
			}
			if at, ok := doc.PartAt(p.Start + 5); !ok || at.Locator != p.Locator {
				t.Fatalf("%s is called %q", p.Locator, at.Locator)
			}
		}
	})
}
