package thesaurus_test

import (
	"slices"
	"testing"

	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

func stem(word string) string { return lexical.English().Tokens(word)[0].Stem }

func TestWordsThatMeanTheSame(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"fasten", "secured", true}, {"fastening", "fixed", true}, {"begin", "starts", true}, {"automobile", "car", true}, {"crash", "crash", true},
		{"left", "right", false}, {"engine", "propeller", false}, {"pilot", "passenger", false}, {"zzyzx", "qwert", false},
	} {
		if got := thesaurus.Synonymous(stem(tt.a), stem(tt.b)); got != tt.same {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
		if listed := slices.Contains(thesaurus.Synonyms(stem(tt.a)), stem(tt.b)); listed != (tt.same && tt.a != tt.b) {
			t.Errorf("%s listed with %s: %v", tt.b, tt.a, listed)
		}
	}
}

func TestOppositesAreMutual(t *testing.T) {
	for _, pair := range [][2]string{{"increase", "decrease"}, {"fasten", "unfasten"}, {"hot", "cold"}} {
		a, b := stem(pair[0]), stem(pair[1])
		if !slices.Contains(thesaurus.Opposites(a), b) || !slices.Contains(thesaurus.Opposites(b), a) {
			t.Errorf("%s: %v, %s: %v", a, thesaurus.Opposites(a), b, thesaurus.Opposites(b))
		}
	}
}

func TestKinds(t *testing.T) {
	for _, tt := range []struct{ category, member string }{{"animal", "bear"}, {"vehicle", "automobile"}, {"color", "blue"}} {
		if !slices.Contains(thesaurus.Kinds(stem(tt.category)), stem(tt.member)) {
			t.Errorf("%s is no kind of %s", tt.member, tt.category)
		}
	}
	if kinds := thesaurus.Kinds(stem("explanation")); kinds != nil {
		t.Errorf("kinds of explanation: %v", kinds)
	}
}

func TestNamesAreNoWords(t *testing.T) {
	for word, known := range map[string]bool{"airplane": true, "weather": true, "Kowalski": false, "Fabens": false} {
		if got := thesaurus.Known(stem(word)); got != known {
			t.Errorf("%s: %v", word, got)
		}
	}
}

func TestRelations(t *testing.T) {
	for _, tt := range []struct {
		a, b             string
		related, opposed bool
	}{
		{"ask", "request", true, false},
		{"arrive", "arrival", true, false},
		{"meet", "encounter", true, false},
		{"damp", "dry", false, true}, // by way of wet
		{"struck", "missed", false, true},
		{"partial", "total", false, true},
		{"fence", "ditch", false, false},
	} {
		a, b := stem(thesaurus.Base(tt.a)), stem(thesaurus.Base(tt.b))
		if got := thesaurus.Related(a, b); got != tt.related || got != thesaurus.Related(b, a) {
			t.Errorf("%s and %s are related: %v", tt.a, tt.b, got)
		}
		if got := thesaurus.Opposed(a, b); got != tt.opposed || got != thesaurus.Opposed(b, a) {
			t.Errorf("%s and %s are opposed: %v", tt.a, tt.b, got)
		}
	}
}

func TestClasses(t *testing.T) {
	for word, want := range map[string]thesaurus.Class{"fence": thesaurus.Noun, "airplanes": thesaurus.Noun, "took": thesaurus.Verb, "elected": thesaurus.Verb, "rapidly": thesaurus.Adverb, "zygwort": 0} {
		if got := thesaurus.ClassOf(word, stem(word)); got != want {
			t.Errorf("%s: %04b, want %04b", word, got, want)
		}
	}
}

func TestThings(t *testing.T) {
	for word, want := range map[string][2]bool{"fences": {true, false}, "passengers": {true, true}, "reason": {false, false}} {
		if thing, person := thesaurus.Thing(word); [2]bool{thing, person} != want {
			t.Errorf("%s: thing %v, person %v", word, thing, person)
		}
	}
	if !thesaurus.Broader(stem("vehicle"), stem("automobile")) || thesaurus.Broader(stem("automobile"), stem("vehicle")) {
		t.Error("a vehicle is the more general word for an automobile")
	}
}
