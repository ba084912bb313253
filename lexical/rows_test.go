package lexical

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func rowsOf(set []uint64) []uint32 {
	var rows []uint32
	for i := range uint32(len(set) * 64) {
		if set[i/64]>>(i%64)&1 != 0 {
			rows = append(rows, i)
		}
	}
	return rows
}

func TestRowsThatMention(t *testing.T) {
	ix := newIndex(t,
		"The mast bumping was fatal.",                      // 0
		"A mast bumped the rotor; mast bump in flight.",    // 1
		"He bumped the mast.",                              // 2
		"The recently purchased airplane, N-123AB.",        // 3
		"A recent purchase of n 123 ab",                    // 4
		"Take-off roll. The takeoff was aborted.",          // 5
		"During take off of N123A",                         // 6
		"required by § 91.409(b) and 91.409 (c)",           // 7
		"engine failure due to carburetor icing",           // 8
		"icing of the carburetor, then the engine stopped", // 9
	)
	for _, c := range []struct {
		name string
		expr Expr
		want []uint32
	}{
		{"phrase with a prefix", ParsePhrase("mast bump*"), []uint32{0, 1}},
		{"phrase", ParsePhrase("MAST BUMP"), []uint32{1}},
		{"very words", ParsePhrase("recently purchased"), []uint32{3}},
		{"inflections", Phrase{Word{"recently", true}, Word{"purchased", true}}, []uint32{3, 4}},
		{"word", Word{Text: "bumped"}, []uint32{1, 2}},
		{"word by stem", Word{"bumps", true}, []uint32{0, 1, 2}},
		{"prefix", Prefix{"bump"}, []uint32{0, 1, 2}},
		{"registration", Word{Text: "N123AB"}, []uint32{3, 4}},
		{"registration spelled apart", ParsePhrase("n 123 ab"), []uint32{3, 4}},
		{"registration by prefix", Prefix{"N-123A"}, []uint32{3, 4, 6}},
		{"hyphen", Word{Text: "take-off"}, []uint32{5, 6}},
		{"joined", Word{Text: "takeoff"}, []uint32{5}},
		{"joined in a phrase", ParsePhrase("takeoff roll"), []uint32{5}},
		{"joined at the end", ParsePhrase("the takeoff was"), []uint32{5}},
		{"citation", Word{Text: "91.409(c)"}, []uint32{7}},
		{"section", Word{Text: "91.409"}, []uint32{7}},
		{"not across", Word{Text: "409(c)"}, []uint32{7}},
		{"near", Near{Word{Text: "carburetor"}, Word{Text: "engine"}, 2}, []uint32{9}},
		{"near enough", Near{Word{Text: "carburetor"}, Word{Text: "engine"}, 3}, []uint32{8, 9}},
		{"near a phrase", Near{ParsePhrase("carburetor icing"), Word{Text: "failure"}, 2}, []uint32{8}},
		{"any", Any{Word{Text: "fatal"}, Word{Text: "aborted"}}, []uint32{0, 5}},
		{"any in a phrase", Phrase{Any{Word{Text: "mast"}, Word{Text: "engine"}}, Any{Prefix{"bump"}, Word{Text: "stopped"}}}, []uint32{0, 1, 9}},
		{"all", All{Word{Text: "engine"}, Word{Text: "icing"}, Prefix{"fail"}}, []uint32{8}},
		{"punctuation is passed over", ParsePhrase("airplane , N123AB"), []uint32{3}},
		{"no words", ParsePhrase("* & -"), nil},
		{"nothing in all", All{Word{Text: "engine"}, Word{Text: "&"}}, nil},
		{"absent", ParsePhrase("tail rotor"), nil},
	} {
		if diff := cmp.Diff(c.want, rowsOf(ix.Rows(c.expr))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if err := ix.Remove(0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint32{1}, rowsOf(ix.Rows(ParsePhrase("mast bump*")))); diff != "" {
		t.Errorf("after removal: %s", diff)
	}
}

func TestPhrasesDoNotCrossFields(t *testing.T) {
	ix := New(Plain())
	if err := ix.Add(1, Field{Text: "engine", Weight: 3}, Field{Text: "failure of the engine"}); err != nil {
		t.Fatal(err)
	}
	if got := rowsOf(ix.Rows(ParsePhrase("engine failure"))); got != nil {
		t.Errorf("a phrase crosses fields: %v", got)
	}
	if got := rowsOf(ix.Rows(Near{Word{Text: "engine"}, Word{Text: "failure"}, MaxNear})); len(got) != 1 {
		t.Errorf("within the second field: %v", got)
	}
	if got := rowsOf(ix.Rows(Phrase{Word{Text: "engine"}, Word{Text: "engine"}})); got != nil {
		t.Errorf("a weighted field repeats: %v", got)
	}
}

func TestFindPointsAtTheMatches(t *testing.T) {
	text := "The café's mast-bumping: a mast bumped N-123AB, take-off."
	for _, c := range []struct {
		expr Expr
		want []string
	}{
		{ParsePhrase("mast bump*"), []string{"mast-bumping", "mast bumped"}},
		{Word{Text: "cafe"}, []string{"café"}},
		{Word{Text: "n 123 ab"}, []string{"N-123AB"}},
		{Word{Text: "takeoff"}, []string{"take-off"}},
		{Word{"bumps", true}, []string{"bumping", "bumped"}},
		{Near{Word{Text: "bumped"}, Word{Text: "a"}, 1}, []string{"a mast bumped"}},
		{Word{Text: "rotor"}, nil},
	} {
		var got []string
		for _, r := range English().Find(c.expr, text) {
			got = append(got, text[r.Start:r.End])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%#v: %s", c.expr, diff)
		}
	}
}

func TestHighlightsOfAQuestion(t *testing.T) {
	text := "The engines failed; N-123AB, a PA-28, landed."
	var got []string
	for _, r := range English().Find(English().Query("why did the engine of N123AB fail?").Expr(), text) {
		got = append(got, text[r.Start:r.End])
	}
	if diff := cmp.Diff([]string{"engines", "failed", "N-123AB"}, got); diff != "" {
		t.Error(diff)
	}
}

// matchesOf is the definition of expressions by brute force: all (start, end) of their
// matches in the words of one text.
func matchesOf(a *Analyzer, e Expr, tokens []Token) map[[2]int]bool {
	out := map[[2]int]bool{}
	single := func(keep func(Token) bool) {
		for _, t := range tokens {
			if keep(t) {
				out[[2]int{t.Position, t.Position + t.Span}] = true
			}
		}
	}
	switch e := e.(type) {
	case Word:
		w := a.Tokens(e.Text)[0] // the test draws words of one atom
		single(func(t Token) bool { return t.Word == w.Word || e.Inflections && t.Stem == w.Stem })
	case Prefix:
		single(func(t Token) bool { return strings.HasPrefix(t.Word, strings.ToLower(e.Text)) })
	case Any:
		for _, part := range e {
			for m := range matchesOf(a, part, tokens) {
				out[m] = true
			}
		}
	case All:
		for _, part := range e {
			ms := matchesOf(a, part, tokens)
			if len(ms) == 0 {
				return nil
			}
			for m := range ms {
				out[m] = true
			}
		}
	case Phrase:
		out = matchesOf(a, e[0], tokens)
		for _, part := range e[1:] {
			longer := map[[2]int]bool{}
			for x := range out {
				for y := range matchesOf(a, part, tokens) {
					if x[1] == y[0] {
						longer[[2]int{x[0], y[1]}] = true
					}
				}
			}
			out = longer
		}
	case Near:
		for x := range matchesOf(a, e.A, tokens) {
			for y := range matchesOf(a, e.B, tokens) {
				if gap := max(y[0]-x[1], x[0]-y[1]); 0 <= gap && gap <= e.Words {
					out[[2]int{min(x[0], y[0]), max(x[1], y[1])}] = true
				}
			}
		}
	}
	return out
}

func exprs(depth int) *rapid.Generator[Expr] {
	return rapid.Custom(func(t *rapid.T) Expr {
		kinds := 2
		if depth > 0 {
			kinds = 6
		}
		parts := func() []Expr {
			return rapid.SliceOfN(exprs(depth-1), 1, 3).Draw(t, "parts")
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			word := rapid.SampledFrom([]string{"land", "landed", "takeoff", "take", "off", "the", "123", "n", "of"}).Draw(t, "word")
			return Word{word, rapid.Bool().Draw(t, "inflections")}
		case 1:
			return Prefix{rapid.SampledFrom([]string{"l", "land", "ta", "12", "n", "engine"}).Draw(t, "prefix")}
		case 2:
			return Phrase(parts())
		case 3:
			return Any(parts())
		case 4:
			return All(parts())
		}
		return Near{exprs(depth-1).Draw(t, "a"), exprs(depth-1).Draw(t, "b"), rapid.IntRange(0, 3).Draw(t, "words")}
	})
}

func TestRowsAreThoseOfTheDefinition(t *testing.T) {
	a, folder := English(), t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		ix := somewhere(t, folder, a)
		defer os.RemoveAll(folder)
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return drawText(t, "text") }), 1, 20).Draw(t, "texts")
		removed := uint32(rapid.IntRange(0, 30).Draw(t, "removed"))
		for row, text := range texts {
			if err := ix.Add(uint32(row), Field{Text: text, Weight: 2}); err != nil {
				t.Fatal(err)
			}
		}
		if err := ix.Remove(removed); err != nil {
			t.Fatal(err)
		}
		e := exprs(2).Draw(t, "expression")
		var want []uint32
		for row, text := range texts {
			matches := matchesOf(a, e, a.Tokens(text))
			if len(matches) > 0 && uint32(row) != removed {
				want = append(want, uint32(row))
			}
			if got := len(a.Find(e, text)); got != len(matches) {
				t.Fatalf("%#v in %q: %d matches found, want %d", e, text, got, len(matches))
			}
		}
		if diff := cmp.Diff(want, rowsOf(ix.Rows(e))); diff != "" {
			t.Fatalf("%#v: %s", e, diff)
		}
	})
}
