package aviation

import (
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// places claims states, countries, cities and regions. A longer name wins over the
// shorter ones in it, so that "Nevada City, CA" is no Nevada; names that only contain
// a place ("Colorado River", "turkey strike") are claimed as no place at all.
func (g *gazetteer) places(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		for _, read := range []func(*constrain.Query, int) (constrain.Claim, bool){g.nowhereAt, g.namedAt, g.state, g.adjective, g.code, g.region, g.country, g.abroad, g.province, g.registered, g.city, g.unknownCity, g.county, g.team} {
			if c, ok := read(q, i); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

func (g *gazetteer) nowhereAt(q *constrain.Query, i int) (constrain.Claim, bool) {
	_, to, ok := g.nowhere.At(q, i)
	return constrain.Claim{From: i, To: to, Weight: 7}, ok
}

func (g *gazetteer) namedAt(q *constrain.Query, i int) (constrain.Claim, bool) {
	conditions, to, ok := g.named.At(q, i)
	if !ok && q.HasLoose(i, "la", "the", "city") {
		conditions, to, ok = []constrain.Condition{constrain.Is("city", "LOS ANGELES")}, i+3, true
	}
	return constrain.Claim{From: i, To: to, Conditions: conditions, Weight: 7}, ok
}

// stateAt reads a state's name, also abbreviated ("Calif.", "N. Carolina", "Miss.").
func (g *gazetteer) stateAt(q *constrain.Query, i int) (code string, to int, ok bool) {
	if code, to, ok = g.states.At(q, i); ok {
		return code, to, !small(q, i, to)
	}
	if code, to, ok = g.abbreviated.At(q, i); ok && (q.Tokens[i].Capital() || q.AllLower()) && stopped(q, to) {
		return code, to, true
	}
	return "", i, false
}

// bareName says how weak a place's name is: "Virginia creeper" may be anything, "in
// Virginia" is a place.
func bareName(q *constrain.Query, i int) constrain.Weakness {
	if q.Word(i-1) == "the" {
		i--
	}
	placed := q.Joined(i) && (cityBefore[q.Word(i-1)] || inPlace[q.Word(i-1)] || q.Word(i-1) == "about")
	if placed || q.Gap(i) == ", " {
		return constrain.Firm
	}
	return constrain.WeakName
}

// small reports whether letters that stand for a state ("s c", "d c") stand apart and
// in lower case, where they are nothing.
func small(q *constrain.Query, i, to int) bool {
	return to == i+2 && len(q.Tokens[i].Text) == 1 && len(q.Tokens[i+1].Text) == 1 && !q.Tokens[i].Capital()
}

// stopped reports whether a full stop follows the token before to.
func stopped(q *constrain.Query, to int) bool {
	return strings.HasPrefix(q.Text[q.Tokens[to-1].End:], ".")
}

func (g *gazetteer) state(q *constrain.Query, i int) (constrain.Claim, bool) {
	code, to, ok := g.stateAt(q, i)
	c := constrain.Is("state", code)
	if !ok {
		near, found := q.Nearest(i, g.spelled)
		if !found {
			return constrain.Claim{}, false
		}
		to = i + 1
		c = constrain.Is("state", g.codeOf[near])
		c.Assumed = constrain.Assumption(q.Tokens[i].Text, near)
	}
	claim := constrain.Claim{From: i, To: afterState(q, to), Conditions: []constrain.Condition{c}, Weight: 5, Weak: bareName(q, i)}
	if stateNames[q.Word(i)] && to == i+1 && g.surnameAhead(q, to) || q.Joined(to) && roads[q.Word(to)] && q.Tokens[to].Capital() {
		return constrain.Claim{}, false
	}
	switch {
	case to > i+1:
		claim.Weight = 8 // West Virginia is no town of West in Virginia
	case code == "GA" && claim.To == to:
		return g.georgia(q, claim)
	case code == "WA" && q.HasLoose(to, "dc"), code == "WA" && q.HasLoose(to, "d", "c"):
		return constrain.Claim{From: i, To: to + 1 + len(q.Word(to))%2, Conditions: []constrain.Condition{constrain.Is("state", "DC")}, Weight: 9}, true
	}
	return claim, true
}

// adjective reads "Alaskan accidents" and leaves "Hawaiian shirts".
func (g *gazetteer) adjective(q *constrain.Query, i int) (constrain.Claim, bool) {
	code, to, ok := g.adjectives.At(q, i)
	return constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{constrain.Is("state", code)}, Weight: 3}, ok && describesFlight(q, to)
}

// roads are named after states.
var roads = wordSet(`avenue street boulevard lane parkway drive turnpike`)

// stateNames are states that are given names as well.
var stateNames = wordSet(`virginia georgia montana`)

// surnameAhead reports whether a word with a capital follows that nothing is known of:
// "Virginia Wolfe".
func (g *gazetteer) surnameAhead(q *constrain.Query, i int) bool {
	if !q.Joined(i) || q.Gap(i) != " " || q.AllUpper() {
		return false
	}
	t := q.Tokens[i]
	if len(t.Text) == 1 && t.Capital() && (q.Gap(i+1) == "'" || q.Gap(i+1) == "’") && q.Tokens[i+1].Capital() {
		return true // O'Keeffe
	}
	return t.Capital() && !t.Upper() && !q.RealWord(t.Lower) && g.kindOf(q, i) == nameUnknown && !loadNames().knownAhead(q, i)
}

// afterState steps over what only says again that a state is meant.
func afterState(q *constrain.Query, to int) int {
	for _, suffix := range [][]string{{"the", "u", "s", "state"}, {"the", "us", "state"}, {"the", "state"}, {"usa"}, {"state"}, {"i", "mean"}} {
		if q.HasLoose(to, suffix...) && !strings.ContainsAny(q.Gap(to), ".?!;") {
			return to + len(suffix)
		}
	}
	return to
}

// georgia tells the state from the country, which records of the United States hardly
// ever mean: it is the other reading unless it is said.
func (g *gazetteer) georgia(q *constrain.Query, claim constrain.Claim) (constrain.Claim, bool) {
	country := constrain.Is("country", "Georgia")
	country.Note = "the country"
	for _, said := range [][]string{{"the", "country"}, {"not", "the", "state"}, {"the", "republic"}, {"republic"}} {
		if q.HasLoose(claim.To, said...) {
			claim.To, claim.Conditions = claim.To+len(said), []constrain.Condition{country}
			return claim, true
		}
	}
	claim.Others = []constrain.Condition{country}
	return claim, true
}

// Codes that are words, abbreviations or parts of names as well need capitals and the
// position of a place.
var wordCodes = wordSet(`in or me ok hi oh id la ma pa al de co ga mo mi md va wa ne nd sd vi pr gu gm ms ct ar as ao po`)

var inPlace = wordSet(`but in near over of from across outside around at within off throughout not except excluding state`)

func (g *gazetteer) isCode(q *constrain.Query, i int) bool {
	if i < 0 || i >= len(q.Tokens) || len(q.Tokens[i].Text) != 2 || !g.codes[q.Tokens[i].Lower] {
		return false
	}
	ahead := i+1 < len(q.Tokens) && q.Tokens[i+1].HasDigit()
	switch q.Tokens[i].Lower {
	case "fl": // flight level 310
		return !ahead || q.Gap(i+1) != " " || len(q.Tokens[i+1].Text) > 3
	case "nm": // nautical miles
		return i == 0 || !q.Tokens[i-1].Number()
	}
	return !ahead || q.Gap(i+1) != "-" // PA-46
}

// cityCode reads the two letters after a city, where any form will do.
func (g *gazetteer) cityCode(q *constrain.Query, i int) (string, bool) {
	if !g.isCode(q, i) {
		return "", false
	}
	t := q.Tokens[i]
	return strings.ToUpper(t.Text), t.Upper() && !q.AllUpper() || !wordCodes[t.Lower] || (q.AllLower() || q.AllUpper()) && !goesOn(q, i)
}

// goesOn reports whether a small word at token i goes on with the sentence: "in the", "or
// a", "in 2003".
func goesOn(q *constrain.Query, i int) bool {
	if i+1 < len(q.Tokens) && q.Word(i) == "in" && q.Joined(i+1) && loadGazetteer().isState(q, i+1, i+2) {
		return true
	}
	return q.Joined(i+1) && (stopBefore[q.Word(i+1)] || linking[q.Word(i+1)] || q.Word(i) == "in" && q.Tokens[i+1].Number())
}

var linking = wordSet(`his her their its our your some no not it they we he she there who where when if then but than as`)

// code claims two letters that stand for a state: in capitals wherever they can only
// be one, else where a place is expected.
func (g *gazetteer) code(q *constrain.Query, i int) (constrain.Claim, bool) {
	if !g.isCode(q, i) || abbreviates(q, i) {
		return constrain.Claim{}, false
	}
	t := q.Tokens[i]
	ok := g.placed(q, i)
	if t.Upper() && !q.AllUpper() {
		ok = ok || !wordCodes[t.Lower] || g.inChain(q, i) || aboutEvents(q, i) || i > 0 && q.Alone(i, i+1)
	} else {
		between := q.AllUpper() && i > 0 && q.Alone(i, i+1) && (i+1 == len(q.Tokens) || yearLike(q, i+1))
		ok = (ok || q.AllUpper() || q.AllLower() && !q.Lexicon.Words[t.Lower]) && !wordCodes[t.Lower] || between
	}
	return constrain.Claim{From: i, To: i + 1, Conditions: []constrain.Condition{constrain.Is("state", strings.ToUpper(t.Text))}, Weight: 4}, ok
}

// abbreviates reports whether letters in brackets stand for the words before them: "carbon
// monoxide (CO)", and not "Georgia (GA)" or "accidents (TX)".
func abbreviates(q *constrain.Query, i int) bool {
	if gap := q.Gap(i); i == 0 || gap != " (" && gap != "(" || !wordCodes[q.Word(i)] || !q.Tokens[i].Upper() || q.AllUpper() {
		return false
	}
	before := q.Tokens[i-1]
	return !before.Capital() && !before.HasDigit() && !q.EventNoun(i-1)
}

// placed reports whether a code stands after a preposition of place or in brackets.
func (g *gazetteer) placed(q *constrain.Query, i int) bool {
	if gap := q.Gap(i); gap == " (" || gap == "(" {
		return !q.Joined(i+1) || chainLinks[q.Word(i+1)] || q.Word(i+1) == "only" // not "(CO detectors)"
	}
	return q.Joined(i) && inPlace[q.Word(i-1)] && !(q.Word(i-1) == "not" && q.Word(i) == "or")
}

var chainLinks = wordSet(`and or to vs versus not but`)

// inChain reports whether a code stands in a list of codes in capitals: "AL, MS and GA".
func (g *gazetteer) inChain(q *constrain.Query, i int) bool {
	return g.linked(q, i, 1) || g.linked(q, i, -1)
}

func (g *gazetteer) linked(q *constrain.Query, i, step int) bool {
	k := i + step
	gap := q.Gap(max(i, k))
	for links := 0; links < 2 && chainLinks[q.Word(k)] && !q.Tokens[k].Upper(); links++ {
		k, gap = k+step, ", "
	}
	return (gap == ", " || gap == "/" || gap == ",") && g.isCode(q, k) && q.Tokens[k].Upper()
}

// aboutEvents reports whether an event noun follows: "MA accidents". GA accidents are
// those of general aviation.
func aboutEvents(q *constrain.Query, i int) bool {
	w := q.Tokens[i].Lower
	return q.Joined(i+1) && q.EventNoun(i+1) && w != "ga"
}

func (g *gazetteer) region(q *constrain.Query, i int) (constrain.Claim, bool) {
	codes, to, ok := g.regions.At(q, i)
	return constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{constrain.Is("state", codes...)}, Weight: 8}, ok
}

// countryAt reads a country's name or an adjective for it.
func (g *gazetteer) countryAt(q *constrain.Query, i int) (name string, to int, adjective, ok bool) {
	if value, to, ok := q.LongestAt("country", i); ok && to > i+1 && q.Tokens[i].Capital() {
		return value.Text, to, false, true // the British Virgin Islands are not Britain
	}
	if name, to, ok = g.countries.At(q, i); ok {
		return name, to, false, to > i+1 || q.Tokens[i].Capital() && (q.Word(i) != "us" || q.Tokens[i].Upper()) || q.AllLower() && q.Word(i) != "us"
	}
	if name, to, ok = g.demonyms.At(q, i); ok {
		return name, to, true, q.Tokens[i].Capital() || q.AllLower()
	}
	value, to, ok := q.LongestAt("country", i)
	if !ok || value.Text == "Unknown" || !q.Tokens[i].Capital() && !q.AllLower() {
		return "", i, false, false
	}
	return value.Text, to, false, true
}

// notPlaces after a country say that it is not where something happened.
var (
	afterCountry   = wordSet(`airlines airways airline pilot pilots captain hat toast made built manufactured certified certificated language navy army air champion forest customs marine marines government department congress senate president dollar dollars mail postal geological fish airways`)
	registeredNear = [][]string{{"registered"}, {"register"}, {"registration"}, {"registry"}}
)

func (g *gazetteer) country(q *constrain.Query, i int) (constrain.Claim, bool) {
	name, to, adjective, ok := g.countryAt(q, i)
	if !ok {
		return constrain.Claim{}, false
	}
	for _, words := range registeredNear {
		if q.HasWords(to, words...) {
			return registeredIn(i, to+1), true
		}
	}
	if q.Joined(to) && (afterCountry[q.Word(to)] || q.HasWords(to, "coast", "guard")) {
		return constrain.Claim{}, false
	}
	if !adjective && (q.HasLoose(to, "the", "island") || q.HasLoose(to, "the", "country")) {
		to += 2
	}
	if adjective && !describesFlight(q, to) || !adjective && bareName(q, i) > constrain.Firm && q.Joined(to) && !describesFlight(q, to) && strangeAhead(q, to) {
		return constrain.Claim{}, false // "into Portuguese", "a Cuban sandwich", "Brazil nuts"
	}
	return constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{constrain.Is("country", name)}, Weight: 2, Weak: bareName(q, i)}, true
}

// describesFlight reports whether what an adjective stands before has to do with flying,
// within three words: "Brazilian Embraer accidents", "Canadian airspace".
func describesFlight(q *constrain.Query, i int) bool {
	n := loadNames()
	for k := i; k < i+3 && q.Joined(k) && !setting[q.Word(k)]; k++ {
		conditions, _, phrase := q.PhraseAt(k)
		_, _, maker := n.makerAt(q, k)
		_, _, nick := n.nicknameAt(q, k)
		if q.EventNoun(k) || phrase && len(conditions) > 0 || maker || nick || q.Tokens[k].HasDigit() || kindNouns[q.Word(k)] || grounds[q.Word(k)] {
			return true
		}
	}
	return false
}

// grounds are what of a country one can crash in, or fly for.
var grounds = wordSet(`airspace territory waters soil coast border mountains alps desert islands jungle operator operators carrier carriers airport airports flight flights flag`)

// strangeAhead reports whether a word in small letters follows that no preposition or
// verb of a question is: the nuts of "Brazil nuts".
func strangeAhead(q *constrain.Query, i int) bool {
	w := q.Word(i)
	return !q.Tokens[i].Capital() && !q.AllLower() && !stopBefore[w] && !setting[w] && !linking[w] && !ties[w] && !q.Tokens[i].HasDigit() && w != "only" && w != "since"
}

// registered reads "registered in France": where an aircraft is registered is not
// where it crashed.
func (g *gazetteer) registered(q *constrain.Query, i int) (constrain.Claim, bool) {
	if !q.HasWords(i, "registered", "in") {
		return constrain.Claim{}, false
	}
	_, to, _, ok := g.countryAt(q, q.Skip(i+2, "the"))
	if !ok {
		return constrain.Claim{}, false
	}
	return registeredIn(i, to), true
}

func registeredIn(from, to int) constrain.Claim {
	return constrain.Claim{From: from, To: to, Weight: 6, Cannot: &sextant.Unenforceable{Field: "registration", Reason: unrecordedRegistry}}
}

func (g *gazetteer) abroad(q *constrain.Query, i int) (constrain.Claim, bool) {
	w := q.Word(i)
	if w == "foreign" && g.countryNamed(q) {
		return constrain.Claim{}, false // "foreign accidents in Brazil": the country says more
	}
	ok := w == "abroad" || w == "overseas" || (w == "foreign" || w == "international") && q.Gap(i+1) == " " && adjectival(q, i+1) && q.Word(i+1) != "report"
	return constrain.Claim{From: i, To: i + 1, Conditions: []constrain.Condition{{Field: "country", Op: sextant.OpNotIn, Values: []any{"United States"}}}, Weight: 2}, ok
}

func (g *gazetteer) countryNamed(q *constrain.Query) bool {
	for i := range q.Tokens {
		if name, _, _, ok := g.countryAt(q, i); ok && name != "United States" {
			return true
		}
	}
	return false
}

// province claims "Ontario, Canada" and "in Alberta" for the country: the records do
// not tell the province. Ontario alone is a city in California as well.
func (g *gazetteer) province(q *constrain.Query, i int) (constrain.Claim, bool) {
	country, to, ok := g.provinces.At(q, i)
	if !ok || !q.Tokens[i].Capital() && !q.AllLower() {
		return constrain.Claim{}, false
	}
	if strings.EqualFold(q.Word(to), country) {
		to++
	} else if _, count, _, isCity := g.cityAt(q, i); isCity && count >= few {
		return constrain.Claim{}, false
	}
	c := constrain.Is("country", country)
	c.Note = "the records do not tell the province"
	return constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{c}, Weight: 6}, true
}

// placeAhead reports whether a state follows at token i, so that what stands before
// is a place: "Comanche, Oklahoma".
func (g *gazetteer) placeAhead(q *constrain.Query, i int) bool {
	_, _, ok := g.stateAfter(q, i)
	return ok
}

// stateAfter reads the state that follows a city: ", KS", " Kansas", ", N.Y.".
func (g *gazetteer) stateAfter(q *constrain.Query, i int) (code string, to int, ok bool) {
	if gap := q.Gap(i); gap != ", " && gap != " " && gap != "," && gap != " (" {
		return "", i, false
	}
	if code, to, ok := g.stateAt(q, i); ok {
		return code, to, true
	}
	if code, to, ok := g.abbreviated.At(q, i); ok && q.Gap(i) != " " && q.Tokens[i].Capital() {
		return code, to, true
	}
	code, ok = g.cityCode(q, i)
	return code, i + 1, ok
}

// team reads the last word of a name that begins with a place and is written as a name: the
// Jets of "the New York Jets" have no engines.
func (g *gazetteer) team(q *constrain.Query, i int) (constrain.Claim, bool) {
	if q.Word(i-1) != "the" || !q.Tokens[i].Capital() || q.AllUpper() || titleCase(q) {
		return constrain.Claim{}, false
	}
	to := placeFrom(q, i)
	if to == i || to >= len(q.Tokens) || !q.Joined(to) || !q.Tokens[to].Capital() || q.Tokens[to].Upper() || q.EventNoun(to) || q.EventNoun(to+1) {
		return constrain.Claim{}, false // "the Texas Balloon accidents" says which accidents
	}
	conditions, _, phrase := q.PhraseAt(to)
	return constrain.Claim{From: to, To: to + 1, Weight: 9}, phrase && len(conditions) > 0
}

// county claims "Douglas County": counties are not recorded.
func (g *gazetteer) county(q *constrain.Query, i int) (constrain.Claim, bool) {
	if q.Word(i+1) != "county" || !q.Joined(i+1) || !q.Tokens[i].Capital() && !q.AllLower() {
		return constrain.Claim{}, false
	}
	return constrain.Claim{From: i, To: i + 2, Weight: 5, Cannot: &sextant.Unenforceable{Field: "county", Reason: "counties are not recorded; the state is used where it is named"}}, true
}
