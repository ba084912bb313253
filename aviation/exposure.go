package aviation

import (
	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// A rate needs to be divided by what was exposed: hours flown, flights made, aircraft
// registered. None of it is held, so that counts and shares can be given and rates cannot.

const unrecordedExposure = "hours flown and flights made are not held: counts and shares can be given, rates and risks cannot"

var (
	perUnits = wordSet(`hours hour flights flight departures departure takeoffs landings mile miles trips passengers`)
	riskOf   = constrain.NewTable(map[string]bool{"accident rate": true, "accident rates": true, "fatal accident rate": true, "fatality rate": true, "crash rate": true, "crash rates": true, "risk of dying": true, "risk of crashing": true, "risk of a crash": true, "risk of an accident": true,
		"chance of dying": true, "chances of dying": true, "chance of crashing": true, "chance of surviving": true, "chances of surviving": true, "odds of dying": true, "odds of crashing": true, "probability of dying": true, "probability of a crash": true, "likelihood of a crash": true})
)

// exposures claims "per 100,000 flight hours", "per flight" and "the risk of dying".
func exposures(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i, t := range q.Tokens {
		_, to, ok := riskOf.At(q, i)
		if t.Lower == "per" || t.Lower == "for" && q.Word(i+1) == "every" {
			to, ok = perUnit(q, i+1)
		}
		if ok {
			out = append(out, constrain.Claim{From: i, To: to, Weight: 8, Cannot: &sextant.Unenforceable{Field: "exposure", Reason: unrecordedExposure}})
		}
	}
	return out
}

// perUnit steps over a number and what is counted by it: "100,000 flight hours".
func perUnit(q *constrain.Query, i int) (int, bool) {
	i = q.Skip(i, "every")
	for k := i; k < i+5 && k < len(q.Tokens) && (k == i || q.Joined(k) || q.Gap(k) == ","); k++ {
		w := q.Word(k)
		switch {
		case w == "flight" && perUnits[q.Word(k+1)] && q.Joined(k+1):
			return k + 2, true
		case perUnits[w] && !(k == i && (w == "hour" || w == "passenger")):
			return k + 1, true
		case !q.Tokens[k].HasDigit() && !perNumbers[w]:
			return i, false
		}
	}
	return i, false
}

var perNumbers = wordSet(`hundred thousand million billion a one ten flown flying`)
