package aviation

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// notCodes are capital abbreviations that are no airports in a question.
var notCodes = wordSet(`imc vmc far cfr ntsb faa gps ils vfr ifr usa atc crj and the was for are not you any all how who why did has had can may use via per out off our its new old cfit icao vor ndb dme asos awos
 tcas egpws agl msl rpm sop crm mel stc pdf csv ufo usaf navy army atp cfi cfii ppl ga nye via air ice gas oil jet cub sky sun sea car bus map sat mon tue wed thu fri jan feb mar apr jun jul aug sep oct nov dec
 one two ten six day run fly two top act age ago bad big box cut dry due end far few fit fog got gun her him his hit hot key law led let lot low man men met mid nor now own pay put red rod saw say see set she sit tie tip too try van wet win yet yes utc est pst`)

var airportWords = wordSet(`airport airfield airstrip aerodrome field intl international municipal regional heliport`)

// airportCode drops the K that the lower 48 states put before a three-letter code.
func airportCode(s string) string {
	s = strings.ToUpper(strings.TrimSpace(s))
	if len(s) == 4 && s[0] == 'K' {
		return s[1:]
	}
	return s
}

// airports claims an airport by code ("VNY", "KBFI"), by name with the word airport,
// or by a name that is no city ("at O'Hare").
func airports(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		if c, ok := airportByCode(q, i); ok {
			out = append(out, c)
		}
		if c, ok := airportByName(q, i); ok {
			out = append(out, c)
		}
		if c, ok := airportAt(q, i); ok {
			out = append(out, c)
		}
	}
	return out
}

func codeAt(q *constrain.Query, i int) (string, bool) {
	if i >= len(q.Tokens) {
		return "", false
	}
	t := q.Tokens[i]
	code := airportCode(t.Text)
	if len(t.Text) < 3 || len(t.Text) > 4 || notCodes[t.Lower] || codes[t.Lower] || strings.Trim(t.Text, "0123456789") == "" {
		return "", false
	}
	known, ok := q.Vocabulary.LookupFold("airport_code", code)
	if !ok || len(code) != 3 {
		return "", false
	}
	if t.Upper() && !q.AllUpper() {
		return code, known.Count >= 2
	}
	return code, q.AllLower() && known.Count >= 20 && !q.Lexicon.Words[t.Lower] && strings.Trim(t.Lower, "abcdefghijklmnopqrstuvwxyz") == ""
}

func airportByCode(q *constrain.Query, i int) (constrain.Claim, bool) {
	code, ok := codeAt(q, i)
	return constrain.Claim{From: i, To: i + 1, Conditions: []constrain.Condition{constrain.Is("airport", code)}, Weight: 1}, ok
}

// airportByName reads "Centennial Airport", "Van Nuys airport (VNY)": the code in
// brackets says best what is meant.
func airportByName(q *constrain.Query, i int) (constrain.Claim, bool) {
	if !q.Tokens[i].Capital() && !q.AllLower() {
		return constrain.Claim{}, false
	}
	to := i
	for to < len(q.Tokens) && to < i+4 && !airportWords[q.Tokens[to].Lower] && (to == i || joined(q, to)) && (q.Tokens[to].Capital() || q.AllLower()) {
		to++
	}
	if to == i {
		return constrain.Claim{}, false
	}
	name := strings.ToUpper(q.Text[q.Tokens[i].Start:q.Tokens[to-1].End])
	named := to < len(q.Tokens) && joined(q, to) && airportWords[q.Tokens[to].Lower]
	end := to
	for named && end < len(q.Tokens) && airportWords[q.Tokens[end].Lower] && joined(q, end) {
		end++
	}
	if end < len(q.Tokens) && q.Tokens[end].Gap == " (" {
		if code, ok := codeAt(q, end); ok {
			return constrain.Claim{From: i, To: end + 1, Conditions: []constrain.Condition{constrain.Is("airport", code)}, Weight: 6}, true
		}
	}
	if !named || stopBefore(q, i) || q.Vocabulary.Containing("airport_name", name) == 0 {
		return constrain.Claim{}, false
	}
	return constrain.Claim{From: i, To: end, Conditions: []constrain.Condition{constrain.Is("airport", name)}, Weight: 5}, true
}

// stopBefore keeps a name from starting at a word that cannot begin one.
func stopBefore(q *constrain.Query, i int) bool {
	return slices.Contains([]string{"the", "an", "a", "at", "in", "near", "of", "any", "which", "what", "accidents", "accident", "crashes", "crash", "private", "local", "this", "that", "my"}, q.Tokens[i].Lower)
}

// airportAt reads "at O'Hare", "at Centennial": a name after "at" that is no city.
func airportAt(q *constrain.Query, i int) (constrain.Claim, bool) {
	if i == 0 || q.Tokens[i-1].Lower != "at" || !q.Tokens[i].Capital() || !joined(q, i) {
		return constrain.Claim{}, false
	}
	if _, _, _, isCity := cityAt(q, i); isCity {
		return constrain.Claim{}, false
	}
	to := i + 1
	for to < len(q.Tokens) && to < i+3 && q.Tokens[to].Capital() && joined(q, to) {
		to++
	}
	name := strings.ToUpper(q.Text[q.Tokens[i].Start:q.Tokens[to-1].End])
	if q.Vocabulary.Containing("airport_name", name) < 3 {
		return constrain.Claim{}, false
	}
	return constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{constrain.Is("airport", name)}, Weight: 2}, true
}

var carrierWords = []string{"air lines", "airlines", "airline", "airways", "air line", "aviation", "express", "jet", "air"}

// operators claims carriers: "flown by Southwest", "Delta Air Lines accidents".
func operators(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		if c, ok := flownBy(q, i); ok {
			out = append(out, c)
		}
		if c, ok := airline(q, i); ok {
			out = append(out, c)
		}
	}
	return out
}

func operatorClaim(q *constrain.Query, from, i, to, end int) (constrain.Claim, bool) {
	name := strings.ToUpper(q.Text[q.Tokens[i].Start:q.Tokens[to-1].End])
	if q.Vocabulary.Containing("operator", name) == 0 {
		return constrain.Claim{}, false
	}
	return constrain.Claim{From: from, To: end, Conditions: []constrain.Condition{{Field: "operator", Op: sextant.OpContains, Values: []any{name}}}, Weight: 5}, true
}

func flownBy(q *constrain.Query, i int) (constrain.Claim, bool) {
	if !q.HasWords(i, []string{"flown", "by"}) && !q.HasWords(i, []string{"operated", "by"}) {
		return constrain.Claim{}, false
	}
	to := i + 2
	for to < len(q.Tokens) && to < i+6 && q.Tokens[to].Capital() && joined(q, to) {
		to++
	}
	if to == i+2 {
		return constrain.Claim{}, false
	}
	name := to
	for _, w := range carrierWords {
		words := strings.Fields(w)
		if name-len(words) > i+2 && q.HasWords(name-len(words), words) {
			name -= len(words)
			break
		}
	}
	return operatorClaim(q, i, i+2, name, to)
}

func airline(q *constrain.Query, i int) (constrain.Claim, bool) {
	for to := i + 1; to < len(q.Tokens) && to <= i+3; to++ {
		if !q.Tokens[to-1].Capital() && !q.AllLower() {
			break
		}
		for _, w := range carrierWords[:5] {
			words := strings.Fields(w)
			if q.HasWords(to, words) && joined(q, to) && (q.Tokens[to].Capital() || q.AllLower()) {
				return operatorClaim(q, i, i, to, to+len(words))
			}
		}
	}
	return constrain.Claim{}, false
}
