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
	titles = wordSet(`mr mrs ms miss dr captain capt officer sergeant colonel lieutenant major inspector investigator senator pilot president professor`)
	namers = wordSet(`named called surnamed`)
)

// persons keeps people's names from being read as makers or places.
func persons(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i, t := range q.Tokens {
		if !q.Joined(i+1) || !q.Tokens[i+1].Capital() || q.Tokens[i+1].HasDigit() {
			continue
		}
		titled := titles[t.Lower] && (t.Capital() || t.Lower != "pilot" && t.Lower != "major") || namers[t.Lower]
		if !titled && !(givenNames()[t.Lower] && t.Capital() && !q.AllUpper() && !kindNouns[q.Word(i+2)]) {
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
