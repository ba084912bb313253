package constrain

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func question(text string) *Query {
	tokens, end := tokenize(text)
	p := NewParser(NewVocabulary(nil, nil), &Lexicon{}, nil)
	return &Query{Text: text[:end], Tokens: tokens, AsOf: day(2015, 6, 30), Vocabulary: p.vocabulary, Lexicon: p.lexicon, index: p.index}
}

func TestTokens(t *testing.T) {
	q := question("PA-28 at  O'Hare, £3,000 (N.Y.) Éire!")
	var got []string
	for _, token := range q.Tokens {
		got = append(got, token.Gap+"|"+token.Text)
	}
	want := []string{"|PA", "-|28", " |at", "  |O", "'|Hare", ", £|3", ",|000", " (|N", ".|Y", ".) |Éire"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !q.Tokens[0].Upper() || q.Tokens[2].Upper() || !q.Tokens[9].Capital() || !q.Tokens[1].Number() || q.Tokens[1].Upper() || !q.Tokens[1].HasDigit() {
		t.Error("letters")
	}
	if !q.Joined(1) || q.Joined(5) || q.Joined(0) || q.Joined(99) {
		t.Error("joins")
	}
	if !q.HasWords(3, "o", "hare") || q.HasWords(4, "hare", "3") || !q.HasLoose(4, "hare", "3") || q.HasWords(9, "éire", "x") {
		t.Error("words")
	}
}

func TestAlone(t *testing.T) {
	q := question("R22, training, Texas")
	record := question("R22 training, Texas record")
	if !q.Alone(1, 2) || !q.Alone(2, 3) || !q.Alone(0, 1) || record.Alone(1, 2) || record.Alone(2, 3) {
		t.Error("segments between commas")
	}
}

// Tokens are the words of the text, in order, and their ranges are those words.
func TestTokensCoverTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		tokens, end := tokenize(text)
		var words []string
		at := 0
		for _, token := range tokens {
			if text[token.Start:token.End] != token.Text || text[at:token.Start] != token.Gap {
				t.Fatalf("%q: %+v", text, token)
			}
			at = token.End
			words = append(words, token.Lower)
		}
		if end == len(text) && !slices.Equal(words, Words(text)) {
			t.Fatalf("%q: %q, words %q", text, words, Words(text))
		}
	})
}

func TestTable(t *testing.T) {
	table := NewTable(map[string]string{"king": "ruler", "king air": "airplane", "king-air 200": "large one", "city": "town"})
	for text, want := range map[string]string{"king": "ruler", "King Air": "airplane", "king airs": "airplane", "King Air 200": "large one", "king, air": "ruler", "cities": "town", "kings": "ruler", "queen": ""} {
		got, to, ok := table.PluralAt(question(text), 0)
		if got != want || ok != (want != "") || ok && to == 0 {
			t.Errorf("%q: %q to %d", text, got, to)
		}
	}
	if _, _, ok := table.At(question("kings"), 0); ok {
		t.Error("At takes a plural")
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]int{"7": 7, "8,000": 8000, "twenty-five": 25, "two hundred": 200, "a dozen": 12, "half a dozen": 6, "a couple of": 2, "nineteen": 19, "three thousand": 3000, "zero": 0} {
		if n, _, ok := question(text).numberAt(0); !ok || n != want {
			t.Errorf("%q: %d %v", text, n, ok)
		}
	}
	for _, text := range []string{"a", "the", "x7", "12345678901", "", "many"} {
		if n, _, ok := question(text).numberAt(0); ok {
			t.Errorf("%q is %d", text, n)
		}
	}
}

func TestComparisons(t *testing.T) {
	for text, want := range map[string][2]int{
		"at least 3": {3, -1}, "no more than 3": {-1, 3}, "fewer than 3": {-1, 2}, "over 3": {4, -1}, "in excess of 3": {4, -1}, "up to 3": {-1, 3}, "exactly 3": {3, 3}, "3 or more": {3, -1},
		"3 or fewer": {-1, 3}, "3+": {3, -1}, "between 3 and 5": {3, 5}, "3 to 5": {3, 5}, "3-5": {3, 5}, "3–5": {3, 5}, "triple-digit": {100, 999}, "two or three": {2, 3}, "as many as 3": {-1, 3}, "upwards of 3": {3, -1},
	} {
		if c, ok := question(text).comparisonAt(0); !ok || c.Lo != want[0] || c.Hi != want[1] || c.Bare {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

// The bounded distance is the distance, computed without bounds.
func TestEditDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`[abc]{1,9}`)
		a, b := words.Draw(t, "a"), words.Draw(t, "b")
		limit := rapid.IntRange(1, 3).Draw(t, "limit")
		if got, want := editDistance(a, b, limit), min(alignment(a, b), limit+1); got != want {
			t.Fatalf("%s %s within %d: %d, want %d", a, b, limit, got, want)
		}
	})
}

// alignment is the optimal string alignment distance by its definition.
func alignment(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	cost := 1
	if a[len(a)-1] == b[len(b)-1] {
		cost = 0
	}
	d := min(alignment(a[:len(a)-1], b)+1, alignment(a, b[:len(b)-1])+1, alignment(a[:len(a)-1], b[:len(b)-1])+cost)
	if len(a) > 1 && len(b) > 1 && a[len(a)-1] == b[len(b)-2] && a[len(a)-2] == b[len(b)-1] {
		d = min(d, alignment(a[:len(a)-2], b[:len(b)-2])+1)
	}
	return d
}

// Of two candidates that are equally near neither is taken, and none beyond the limit.
func TestNearest(t *testing.T) {
	c := NewCandidates([]string{"cessna", "cirrus", "mooney", "moonee", "abc"})
	for text, want := range map[string]string{"cesna": "cessna", "cirus": "cirrus", "moone": "", "cesxna": "cessna", "csna": "", "abd": "", "sessna": "", "cessna": ""} {
		if got, ok := question(text).Nearest(0, c); got != want && ok || ok != (want != "") {
			t.Errorf("%q: %q %v", text, got, ok)
		}
	}
}

// The oldest and newest published tables of Easter: the rule holds for every year of
// plausible dates.
func TestEaster(t *testing.T) {
	for year, want := range map[int]string{1900: "0415", 1954: "0418", 1961: "0402", 1981: "0419", 2000: "0423", 2008: "0323", 2011: "0424", 2012: "0408", 2038: "0425", 2049: "0418"} {
		if got := easter(year).Format("0102"); got != want {
			t.Errorf("%d: %s, want %s", year, got, want)
		}
	}
	for year := 1900; year < 2100; year++ {
		if e := easter(year); e.Weekday() != 0 || e.Before(day(year, 3, 22)) || e.After(day(year, 4, 25)) {
			t.Errorf("%d: %v", year, e)
		}
	}
}

func TestChoose(t *testing.T) {
	got := choose([]Claim{{From: 0, To: 1, Weight: 9}, {From: 0, To: 2}, {From: 2, To: 3, Weight: 1}, {From: 2, To: 3, Weight: 2, Drop: true}, {From: 3, To: 9}, {From: 3, To: 3}}, 4)
	want := []Claim{{From: 0, To: 2}, {From: 2, To: 3, Weight: 2, Drop: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
