package lexical

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// words renders tokens as "word@position" or, for joined forms, "word@position+span".
func words(a *Analyzer, text string) string {
	var out []string
	for _, t := range a.Tokens(text) {
		s := t.Word
		if t.Span > 1 {
			s = "[" + s + "]"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestWordsOfText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// registrations
		{"N123AB", "n 123 ab [n123] [n123ab]"},
		{"N-123AB", "n 123 ab [n123] [n123ab]"},
		{"n 123 ab", "n 123 ab [n123] [n123ab]"},
		{"the airplane, N123AB, was", "the airplane n 123 ab [n123] [n123ab] was"},
		{"G-ABCD", "g abcd [gabcd]"},
		// models
		{"PA-28-161", "pa 28 161 [pa28] [pa28-161]"},
		{"PA28-161", "pa 28 161 [pa28] [pa28-161]"},
		{"PA 28-161", "pa 28 161 [pa28] [pa28-161]"},
		{"a PA 28 at", "a pa 28 [pa28] at"},
		{"172S", "172 s [172s]"},
		{"Boeing737", "boeing 737 [boeing737]"},
		// citations
		{"135.293(a)", "135 293 a [135.293] [135.293a]"},
		{"§ 91.409 (b)?", "91 409 b [91.409] [91.409b]"},
		{"91.3(a)(1)", "91 3 a 1 [91.3] [91.3a] [91.3a1]"},
		{"14 C.F.R. § 91.409", "14 cfr 91 409 [91.409]"},
		{"14CFR", "14 cfr [14cfr]"},
		{"121.5 (see below)", "121 5 [121.5] see below"},
		// numbers
		{"FTW96LA203", "ftw 96 la 203 [ftw96] [ftw96la] [ftw96la203]"},
		{"20001208X05756", "20001208 x 05756 [20001208x] [20001208x05756]"},
		{"8,000 feet", "8000 feet"},
		{"1,234,567.5", "1234567 5 [1234567.5]"},
		{"rows 1,23 and 4,5678", "rows 1 23 and 4 5678"},
		{"20.4 hours", "20 4 [20.4] hours"},
		{"runway 27/09", "runway 27 09 [27/09]"},
		{"in 1985 at 1645", "in 1985 at 1645"},
		{"2008–2010", "2008 2010 [2008-2010]"},
		// words
		{"take-off", "take off [takeoff]"},
		{"touch-and-go", "touch and go [touchandgo]"},
		{"and/or", "and or"},
		{"the ground.The pilot", "the ground the pilot"},
		{"pilot's PILOT’S pilots' don't O'Brien", "pilot pilot pilots dont obrien"},
		{"U.S. a.m. e.g.", "us am eg"},
		{"AND OR NOT \"a* b:c -d", "and or not a b c d"},
		// unicode
		{"Café naïve Peña Straße ﬁre", "cafe naive pena strasse fire"},
		{"cafe\u0301", "cafe"},
		{"Ｎ１２３", "n 123 [n123]"},
		{"air\u00adplane", "airplane"},
		{"1½ m²", "1 1 2 m 2"},
		{"東京 flight", "東 京 flight"},
		{"полёт", "поле\u0308т"},
		{"bad \xff\xfe bytes\x00 here", "bad bytes here"},
		{"", ""},
		{"§ --- ... (((", ""},
	} {
		if got := words(Plain(), c.text); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestTokensPointIntoTheText(t *testing.T) {
	text := "The N-123AB’s café, § 91.409 (b)"
	var got []string
	for _, tok := range English().Tokens(text) {
		got = append(got, tok.Stem+"="+text[tok.Start:tok.End])
	}
	want := []string{"the=The", "n=N", "123=123", "ab=AB", "n123=N-123", "n123ab=N-123AB", "cafe=café",
		"91=91", "409=409", "b=b", "91.409=91.409", "91.409b=91.409 (b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Every spelling of an identifier in a question finds every spelling in a text, and
// not its neighbours.
func TestIdentifiersAreFoundInEverySpelling(t *testing.T) {
	for _, c := range []struct {
		name              string
		spellings, others []string
	}{
		{"registration", []string{"N123AB", "N-123AB", "n123ab", "n 123 ab", "N123-AB"}, []string{"N123A", "N12", "N124AB", "123 ab"}},
		{"foreign registration", []string{"G-ABCD", "GABCD", "g-abcd"}, []string{"G-ABCE", "abcd"}},
		{"model", []string{"PA-28-161", "PA28-161", "pa 28-161"}, []string{"PA-18-161", "28 161"}},
		{"model family", []string{"SR-22", "SR22", "SR 22"}, []string{"SR20", "22"}},
		{"section", []string{"135.293(a)", "§ 135.293(a)", "135.293 (a)"}, []string{"135.294(a)", "135 a", "293"}},
		{"accident number", []string{"FTW96LA203", "ftw96la203", "FTW-96-LA203"}, []string{"FTW96LA204", "FTW96LA20"}},
		{"event id", []string{"20001208X05756", "20001208x05756"}, []string{"20001208X05757"}},
		{"number", []string{"8,000", "8000"}, []string{"8", "000", "80,000"}},
		{"decimal", []string{"20.4"}, []string{"204", "20-4", "20 4"}},
	} {
		ix := newIndex(t, append(append([]string{}, c.spellings...), c.others...)...)
		for _, question := range c.spellings {
			rows := found(ix, "about "+question+"?")
			n := len(c.spellings)
			if len(rows) < n {
				t.Errorf("%s %q finds rows %v, want all of the first %d", c.name, question, rows, n)
				continue
			}
			for _, row := range rows[:n] {
				if int(row) >= n {
					t.Errorf("%s %q ranks %q among %v", c.name, question, c.others[int(row)-n], rows)
				}
			}
		}
	}
}

// A more general question finds the more special text, and a question for what no row
// has falls back to its parts, but not where a part would name something else.
func TestWhatAnIdentifierAlsoFinds(t *testing.T) {
	ix := newIndex(t, "Cessna 172S", "Cessna 172", "Cessna 172RG", "Cessna 182", "PA-28-161", "PA-28-140", "N123A", "14 CFR part 91", "§ 91.409(b)", "91.409(a)")
	for _, c := range []struct {
		question string
		want     []uint32 // in any order
	}{
		{"172", []uint32{0, 1, 2}},
		{"172S", []uint32{0}},
		{"C172", []uint32{0, 1, 2}},
		{"PA 28", []uint32{4, 5}},
		{"PA-28-161", []uint32{4, 5}},
		{"N123AB", nil},
		{"14CFR", []uint32{7}},
		{"91.409", []uint32{8, 9}},
		{"91.409(b)", []uint32{8, 9}},
		{"section 91.409 paragraph b", []uint32{8, 9}},
	} {
		got := map[uint32]bool{}
		for _, row := range found(ix, c.question) {
			got[row] = true
		}
		want := map[uint32]bool{}
		for _, row := range c.want {
			want[row] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", c.question, diff)
		}
	}
	for question, order := range map[string][2]uint32{"PA-28-161": {4, 5}, "91.409(b)": {8, 9}, "14 C.F.R. § 91.409(b)": {8, 9}, "FAR 91.409 (b)": {8, 9}} {
		rows := found(ix, question)
		better, worse := slices.Index(rows, order[0]), slices.Index(rows, order[1])
		if better < 0 || worse >= 0 && worse < better {
			t.Errorf("%q: %v, want row %d before %d", question, rows, order[0], order[1])
		}
	}
}

func TestStemsJoinInflections(t *testing.T) {
	ix := newIndex(t, "the engines failed", "an engine failure", "failing", "success")
	rows := found(ix, "failed")
	slices.Sort(rows)
	if diff := cmp.Diff([]uint32{0, 2}, rows); diff != "" {
		t.Error(diff)
	}
	for _, c := range [][2]string{{"engine", "engines"}, {"landed", "landings"}, {"take-offs", "takeoff"}} {
		a := English()
		x, y := a.Tokens(c[0]), a.Tokens(c[1])
		if x[len(x)-1].Stem != y[len(y)-1].Stem {
			t.Errorf("%s and %s have different stems", c[0], c[1])
		}
	}
}

// Canonically equivalent texts have the same words; so do texts that differ in case.
func TestFoldingIsUnicodeEquivalence(t *testing.T) {
	a := Plain()
	alphabet := []rune("aZé한글ÅﬁÇñ\u0301\u0327\u0308Ωй1٣ -.")
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 12).Draw(t, "text"))
		want := words(a, norm.NFC.String(text))
		for name, other := range map[string]string{"NFD": norm.NFD.String(text), "NFKC": norm.NFKC.String(text), "upper": strings.ToUpper(norm.NFC.String(text))} {
			if got := words(a, other); got != want {
				t.Fatalf("%q as %s: %s, want %s", text, name, got, want)
			}
		}
	})
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"N123AB took off", "§ 91.409(b)(1)", "8,000.5", "naïve ﬁ ½ ²", "\xff\xfe", "a'b's", "1.2.3.4.5.6.7.8.9.10", "東京タワー"} {
		f.Add(s)
	}
	a := English()
	f.Fuzz(func(t *testing.T, text string) {
		position := -1
		for _, tok := range a.Tokens(text) {
			if tok.Start < 0 || tok.Start >= tok.End || tok.End > len(text) {
				t.Fatalf("token %+v outside of %d bytes", tok, len(text))
			}
			if tok.Word == "" || tok.Stem == "" || !utf8.ValidString(tok.Word) || strings.ContainsRune(tok.Word, 0) {
				t.Fatalf("bad word %+v", tok)
			}
			if tok.Word[0] != tok.Stem[0] {
				t.Fatalf("stem %q of %q: prefix queries need the first byte", tok.Stem, tok.Word)
			}
			if tok.Span == 1 {
				if tok.Position != position+1 {
					t.Fatalf("position %d after %d", tok.Position, position)
				}
				position = tok.Position
			} else if tok.Position+tok.Span-1 != position && tok.Span > 1 && tok.Position+tok.Span-1 > position {
				t.Fatalf("%+v spans beyond the atoms read", tok)
			}
		}
		a.Query(text)
	})
}

// Each sees what Tokens lists, and Stem knows a text that is one token.
func TestEachIsTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("aN1 2-./()'é漢S,pilots"))).Draw(t, "text")
		for _, a := range []*Analyzer{English(), Plain()} {
			var want, got []string
			for _, token := range a.Tokens(text) {
				want = append(want, token.Word+" "+token.Stem)
			}
			a.Each(text, func(word, stem string) { got = append(got, word+" "+stem) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
			stem, ok := a.Stem(text)
			if tokens := a.Tokens(text); ok != (len(tokens) == 1) || ok && stem != tokens[0].Stem {
				t.Fatalf("the stem of %q is %q, %v; its tokens are %v", text, stem, ok, tokens)
			}
		}
	})
}
