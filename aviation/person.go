package aviation

import (
	_ "embed"
	"sync"

	"github.com/sextant-rag/sextant/constrain"
)

//go:embed vocabulary/names.txt
var nameTable string

var givenNames = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for line := range lines(nameTable) {
		for name := range wordSet(line) {
			out[name] = true
		}
	}
	return out
})

// titles and namers stand before a person's name, which no aircraft's and no place's is.
var (
	titles = wordSet(`mr mrs ms miss dr doctor judge reverend captain capt officer sergeant colonel lieutenant major inspector investigator senator pilot president professor`)
	namers = wordSet(`named called surnamed`)
	// kin may have a comma before the name.
	kin = wordSet(`wife husband son daughter brother sister mother father friend uncle aunt cousin`)
	// months that are given names as well.
	nameMonths = wordSet(`april may june august`)
)

// persons keeps people's names from being read as makers or places.
func persons(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i, t := range q.Tokens {
		if i+1 >= len(q.Tokens) || !q.Joined(i+1) && !(kin[t.Lower] && q.Gap(i+1) == ", ") || !q.Tokens[i+1].Capital() || q.Tokens[i+1].HasDigit() {
			continue
		}
		if w := q.Word(i + 1); w == "jr" || w == "sr" { // "JFK Jr."
			out = append(out, constrain.Claim{From: i, To: i + 2, Weight: 8})
			continue
		}
		if !titled(q, i) && !given(q, i) {
			continue
		}
		to := i + 2
		for to < len(q.Tokens) && to < i+4 && q.Joined(to) && (q.Tokens[to].Capital() && !q.Tokens[to].HasDigit() || q.Word(to) == "s" && q.Gap(to) == "'") {
			to++
		}
		out = append(out, constrain.Claim{From: i, To: to, Weight: 8})
	}
	return out
}

// titled reports whether token i is what a name is announced with.
func titled(q *constrain.Query, i int) bool {
	t := q.Tokens[i]
	if t.Lower == "was" || t.Lower == "is" { // "the captain's name was Robinson"
		return q.Word(i-1) == "name" || q.Word(i-1) == "surname"
	}
	if (t.Lower == "name" || t.Lower == "surname") && q.Word(i-1) != "model" && q.Word(i-1) != "type" {
		return true // "with the name Cessna"
	}
	return titles[t.Lower] && (t.Capital() || t.Lower != "pilot" && t.Lower != "major") || namers[t.Lower] || kin[t.Lower]
}

// given reports whether token i is a given name with a surname after it: what follows a
// month is a surname only where it is nothing else.
func given(q *constrain.Query, i int) bool {
	t := q.Tokens[i]
	if !t.Capital() || q.AllUpper() || kindNouns[q.Word(i+2)] {
		return false
	}
	if nameMonths[t.Lower] {
		g := loadGazetteer()
		_, _, state := g.stateAt(q, i+1)
		_, _, _, country := g.countryAt(q, i+1)
		return !state && !country && !loadNames().knownAhead(q, i+1)
	}
	return givenNames()[t.Lower]
}
