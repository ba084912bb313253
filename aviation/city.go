package aviation

import (
	"strings"

	"github.com/sextant-rag/sextant/constrain"
)

// Cities are the longest list of names there is, and most of them are words, people or
// aircraft as well. So a city is read only where a place stands.

var (
	cityBefore = wordSet(`in at near over around outside from off by of above southwest northwest southeast northeast north south east west leaving departing departed for between into to downtown not except excluding`)
	cityAfter  = wordSet(`area basin region metro vicinity seaplane seaplanes helicopter helicopters plane planes`)
	// notCities are words and names of other things, cities only before their state.
	notCities = wordSet(`flight cruise night day instrument visual imc vmc approach landing takeoff water the air mountain spring fall winter summer valley canyon gulf runway training center county airport lake river island
 beaver boeing cessna piper beech cirrus bell page price field ocean pacific atlantic central western eastern northern southern mobile reading orange hope ice normal early rule bay plain plane sky police universal general
 post best progress surprise independence liberty union enterprise bath flat rock beach palm harbor park hill`)
)

// cityAt finds the longest known city at token i; a word of the language must be
// capitalised to be one.
func (g *gazetteer) cityAt(q *constrain.Query, i int) (name string, count int64, to int, ok bool) {
	value, to, ok := q.LongestAt("city", i)
	if !ok || g.isNowhere(q, i, to) {
		return "", 0, i, false
	}
	t := q.Tokens[i]
	single := to == i+1
	stated := g.placeAhead(q, to)
	if single && !(stated && t.Capital()) {
		if len(t.Text) < 3 || notCities[t.Lower] || t.HasDigit() {
			return "", 0, i, false
		}
		if _, isAirport := codeAt(q, i); isAirport && t.Upper() {
			return "", 0, i, false // ORD is an airport before it is a town
		}
	}
	if !t.Capital() && (!q.AllLower() || single && (q.Lexicon.Words[t.Lower] || notCities[t.Lower])) {
		return "", 0, i, false
	}
	return strings.ToUpper(value.Text), value.Count, to, true
}

// city claims a city in the position of a place: with its state after it, after a
// preposition, before what the question is about ("the Juneau accident"), or by itself
// between commas.
func (g *gazetteer) city(q *constrain.Query, i int) (constrain.Claim, bool) {
	name, count, to, ok := g.cityAt(q, i)
	if !ok {
		return constrain.Claim{}, false
	}
	conditions := []constrain.Condition{constrain.Is("city", name)}
	if code, end, ok := g.stateAfter(q, to); ok && !aircraftNamed(q, i, to) && (q.Gap(to) == ", " || !g.isState(q, i, to)) {
		return constrain.Claim{From: i, To: end, Conditions: append(conditions, constrain.Is("state", code)), Weight: 6}, true
	}
	if g.isState(q, i, to) || g.isCountry(q, i, to) || !g.cityPlaced(q, i, to, count) {
		return constrain.Claim{}, false
	}
	if to < len(q.Tokens) && (q.Word(to) == "area" || q.Word(to) == "basin" || q.Word(to) == "region") {
		to++
	}
	return constrain.Claim{From: i, To: to, Conditions: conditions, Weight: 1}, true
}

// few and many say how often a town must stand in the records to be meant without
// its state: the less the place in the sentence says, the oftener.
const (
	few  = 3
	many = 15
)

func (g *gazetteer) cityPlaced(q *constrain.Query, i, to int, count int64) bool {
	capital := q.Tokens[i].Capital() && !q.AllUpper()
	if q.Joined(i) && cityBefore[q.Word(i-1)] {
		return count >= 2 || capital
	}
	if _, _, made := loadNames().makerAt(q, i); made {
		return false
	}
	switch {
	case q.Joined(to) && (q.EventNoun(to) || cityAfter[q.Word(to)]):
		return count >= few
	case q.Joined(to) && len(q.Word(to)) == 4 && q.Tokens[to].Number(): // "Jackson Hole 2005"
		return count >= few && (capital || count >= many)
	case alone(q, i, to):
		return count >= few && (capital || to > i+1 || count >= many)
	case q.AllLower():
		return count >= many && (i == 0 || to == len(q.Tokens)) && !titles[q.Word(i-1)] && !givenNames()[q.Word(i)]
	}
	return false
}

// isState reports whether the tokens are a state's name, which wins over towns that
// are called like it: "Wyoming" alone is the state.
func (g *gazetteer) isState(q *constrain.Query, i, to int) bool {
	_, end, ok := g.stateAt(q, i)
	return ok && end >= to
}

func (g *gazetteer) isNowhere(q *constrain.Query, i, to int) bool {
	_, end, ok := g.nowhere.At(q, i)
	return ok && end >= to
}

func (g *gazetteer) isCountry(q *constrain.Query, i, to int) bool {
	_, end, _, ok := g.countryAt(q, i)
	return ok && end >= to
}

// aircraftNamed reports whether a town's name is an aircraft's as well and nothing
// says that the town is meant: "bonanza texas", but not "near Comanche, Oklahoma".
func aircraftNamed(q *constrain.Query, i, to int) bool {
	n := loadNames()
	_, a, isNick := n.nicknameAt(q, i)
	_, b, isMaker := n.makerAt(q, i)
	if !(isNick && a == to || isMaker && b == to) {
		return false
	}
	placed := q.Joined(i) && cityBefore[q.Word(i-1)]
	return !placed && (i > 0 || q.Gap(to) != ", ")
}
