package aviation

import (
	"strings"

	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// notCodes are capital abbreviations that are no airports in a question, though some
// airport has them for its code.
var notCodes = wordSet(`imc vmc far fars cfr ntsb faa gps ils vfr ifr usa atc crj and the was for are not you any all how who why did has had can may use via per out off our its new old cfit icao vor ndb dme asos awos
 tcas egpws taws agl msl rpm sop crm mel stc pdf csv ufo usaf navy army atp cfi cfii ppl cpl ga nye air ice gas oil jet cub sky sun sea car bus map sat mon tue wed thu fri jan feb mar apr jun jul aug sep oct nov dec
 one two ten six day run fly top act age ago bad big box cut dry due end few fit fog got gun her him his hit hot key law led let lot low man men met mid nor now own pay put red rod saw say see set she sit tie tip too try van wet win yet yes utc est pst
 cst mst edt pdt apu cvr fdr hud efb elt pic sic fss fbo tfr nasa nws noaa dot tsa osha ems hems esa uav uas vtol stol mtow vfe vne vmc vmca vref vso taa tso tsi adf rmi hsi egt cht oat isa qnh pirep metar taf notam amt iad_ and ani lsa
 ulm kias ktas kts lbs cat cap dui bac led usb isp ceo cfo inc llc ltd llp dba fed etc mph hrs min max avg std vol rev ref dr mr mrs st ave blvd twa sas klm ups pan psa aal ual dal raf rcaf far91 doc log pax vip arm leg eye ear`)

var airportWords = wordSet(`airport airfield airstrip aerodrome field intl international municipal regional heliport airpark executive`)

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
		for _, read := range []func(*constrain.Query, int) (constrain.Claim, bool){airportByCode, airportByName, airportAt} {
			if c, ok := read(q, i); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// enough and plenty say how often a code must stand in the records to be one: in
// capitals where a place stands, and in a question without capitals.
const (
	enough = 2
	plenty = 20
)

// codeAt reads an airport's code: four letters with a K, or three.
func codeAt(q *constrain.Query, i int) (string, bool) {
	if i < 0 || i >= len(q.Tokens) {
		return "", false
	}
	t := q.Tokens[i]
	code := airportCode(t.Text)
	if len(code) != 3 || notCodes[t.Lower] || t.Number() {
		return "", false
	}
	known, ok := q.Vocabulary.LookupFold("airport_code", code)
	if !ok {
		return "", false
	}
	if t.Upper() && !q.AllUpper() {
		if len(t.Text) == 4 || q.Gap(i) == " (" || q.Joined(i) && (cityBefore[q.Word(i-1)] || q.Word(i-1) == "and" || q.Word(i-1) == "or") {
			return code, known.Count >= enough
		}
		return code, known.Count >= 2*enough && (!t.HasDigit() || airportWords[q.Word(i+1)])
	}
	if t.Capital() || t.HasDigit() || q.Lexicon.Words[t.Lower] {
		return code, false
	}
	placed := i == 0 || q.EventNoun(i-1) || yearAhead(q, i+1) || q.Joined(i) && (cityBefore[q.Word(i-1)] || inPlace[q.Word(i-1)])
	return code, len(t.Text) == 4 && known.Count >= enough && !thesaurus.Word(t.Lower) || q.AllLower() && placed && known.Count >= plenty // "kbos" is no word, "kill" is one
}

// yearAhead reports whether a year follows, as it does after a place in keywords.
func yearAhead(q *constrain.Query, i int) bool { return i < len(q.Tokens) && yearLike(q, i) }

func airportByCode(q *constrain.Query, i int) (constrain.Claim, bool) {
	code, ok := codeAt(q, i)
	c := constrain.Claim{From: i, To: i + 1, Conditions: []constrain.Condition{constrain.Is("airport", code)}, Weight: 1, Weak: bareName(q, i)}
	if ok && len(q.Tokens[i].Text) == 4 && (airportWords[q.Word(i-1)] || airportWords[q.Word(i+1)]) {
		c.Weak = constrain.Firm // "my airport KPAO", "at the airport, KPAO"
	}
	return c, ok
}

// airportByName reads "Centennial Airport", "Van Nuys airport (VNY)": the code in
// brackets says best what is meant.
func airportByName(q *constrain.Query, i int) (constrain.Claim, bool) {
	if !q.Tokens[i].Capital() && !q.AllLower() || stopBefore[q.Word(i)] || q.EventNoun(i) || loadGazetteer().continuesName(q, i) {
		return constrain.Claim{}, false
	}
	to := i
	for to < len(q.Tokens) && to < i+4 && (to == i || q.Joined(to) && !airportWords[q.Word(to)]) && (q.Tokens[to].Capital() || q.AllLower() || q.Word(to) == "of") {
		to++
	}
	end := to
	for q.Joined(end) && airportWords[q.Word(end)] && q.Gap(end) != "-" { // "short-field takeoff"
		end++
	}
	if q.Gap(end) == " (" {
		if code, ok := codeAt(q, end); ok {
			return constrain.Claim{From: i, To: end + 1, Conditions: []constrain.Condition{constrain.Is("airport", code)}, Weight: 6}, true
		}
	}
	name := strings.ToUpper(q.Written(i, to))
	if len(name) < 4 || q.AllLower() && to == i+1 && q.Lexicon.Words[q.Word(i)] {
		return constrain.Claim{}, false
	}
	if end == to || !q.Vocabulary.Contains("airport_name", name, 1) {
		return constrain.Claim{}, false
	}
	if strings.EqualFold(name, "boeing") {
		name = "BFI" // Boeing Field; by its name any airport near a plant
	}
	return constrain.Claim{From: i, To: end, Conditions: []constrain.Condition{constrain.Is("airport", name)}, Weight: 5}, true
}

// stopBefore are words that cannot begin a name.
var stopBefore = wordSet(`the an a at in near of any which what private local this that my from to by and or on off into was is were how did for with small`)

// airportAt reads "at O'Hare", "into Teterboro": a name after a preposition of place
// that is no city.
func airportAt(q *constrain.Query, i int) (constrain.Claim, bool) {
	if to := nameEnd(q, i); to > i && q.Alone(i, to) && !q.AllUpper() {
		return airportAlone(q, i, to)
	}
	if w := q.Word(i - 1); w != "at" && w != "into" || !q.Tokens[i].Capital() || !q.Joined(i) {
		return constrain.Claim{}, false
	}
	to := i + 1
	for to < len(q.Tokens) && to < i+3 && q.Tokens[to].Capital() && q.Joined(to) {
		to++
	}
	if city, count, end, isCity := loadGazetteer().cityAt(q, i); isCity && end == to && !q.Vocabulary.Contains("airport_name", city, 3*count) {
		return constrain.Claim{}, false // Midway is an airport before it is a town
	}
	name := strings.ToUpper(q.Written(i, to))
	if len(name) < 4 || !q.Vocabulary.Contains("airport_name", name, few) {
		return constrain.Claim{}, false
	}
	return constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{constrain.Is("airport", name)}, Weight: 2}, true
}

// nameEnd returns the token after the run of words with capitals that starts at token i.
func nameEnd(q *constrain.Query, i int) int {
	to := i
	for to < len(q.Tokens) && to < i+4 && q.Tokens[to].Capital() && (to == i || q.Joined(to)) {
		to++
	}
	return to
}

// airportAlone reads a name between commas that is an airport's and nothing else:
// "LaGuardia, 1992", "Chicago O'Hare".
func airportAlone(q *constrain.Query, i, to int) (constrain.Claim, bool) {
	t := q.Tokens[i]
	city, end, isCity := q.LongestAt("city", i)
	_, _, maker := loadNames().makerAt(q, i)
	_, _, nick := loadNames().nicknameAt(q, i)
	name := strings.ToUpper(q.Written(i, to))
	least := int64(plenty / 2)
	if to > i+1 {
		least = few // several words are a name sooner than one
	}
	if isCity && end == to && !q.Vocabulary.Contains("airport_name", name, 3*city.Count) || maker || nick || len(name) < 6 || t.HasDigit() || to == i+1 && (q.Lexicon.Words[t.Lower] || givenNames()[t.Lower]) || !q.Vocabulary.Contains("airport_name", name, least) {
		return constrain.Claim{}, false
	}
	return constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{constrain.Is("airport", name)}}, true
}
