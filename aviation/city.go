package aviation

import (
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// Cities are the longest list of names there is, and most of them are words, people or
// aircraft as well. So a city is read only where a place stands.

var (
	cityBefore = wordSet(`in at near over around outside from off by of above southwest northwest southeast northeast north south east west leaving departing departed for between into to downtown not except excluding`)
	// weakBefore stand before anything; a town in small letters must be well known there.
	weakBefore = wordSet(`off by of for to into`)
	cityAfter  = wordSet(`area basin region metro vicinity seaplane seaplanes helicopter helicopters plane planes`)
	// notCities are words and names of other things, cities only before their state.
	notCities = wordSet(`flight cruise night day instrument visual imc vmc approach landing takeoff water the air mountain spring fall winter summer valley canyon gulf runway training center county airport lake river island
 beaver boeing cessna piper beech cirrus bell page price field ocean pacific atlantic central western eastern northern southern mobile reading orange hope ice normal early rule bay plain plane sky police universal general
 post best progress surprise independence liberty union enterprise bath flat rock beach palm harbor park hill christmas easter sun friday sunday june april may august march art delta`)
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
	if single && q.EventNoun(i) && (q.AllUpper() || !t.Capital()) {
		return "", 0, i, false // ACCIDENT IN OHIO, though there is an Accident in Maryland
	}
	stated := g.placeAhead(q, to)
	if single && !(stated && t.Capital()) && !g.onlyCity(q, i) {
		if len(t.Text) < 3 || notCities[t.Lower] && !townWritten(q, i) || t.HasDigit() {
			return "", 0, i, false
		}
		if _, isAirport := codeAt(q, i); isAirport && t.Upper() {
			return "", 0, i, false // ORD is an airport before it is a town
		}
	}
	if single && !stated && wordTowns[t.Lower] && !townWritten(q, i) {
		return "", 0, i, false
	}
	small := stated && q.Joined(i) && cityBefore[q.Word(i-1)] && q.Gap(to) == " " && !q.Tokens[to].Capital() // "in bozeman montana"
	if !t.Capital() && !g.onlyCity(q, i) && !(small && !q.Lexicon.Words[t.Lower] && !notCities[t.Lower]) && (!q.AllLower() || single && (q.Lexicon.Words[t.Lower] || notCities[t.Lower])) {
		return "", 0, i, false
	}
	return strings.ToUpper(value.Text), value.Count, to, true
}

// onlyCity reports whether a question is nothing but a town and its state's letters, so that
// a plain word in small letters is the town: "reading, PA".
func (g *gazetteer) onlyCity(q *constrain.Query, i int) bool {
	return i == 0 && len(q.Tokens) == 2 && q.Gap(1) == ", " && g.isCode(q, 1) && q.Tokens[1].Upper()
}

// wordTowns are words as well, if not words of accident reports: towns where their state
// follows or where they are written as towns.
var wordTowns = wordSet(`corona wheeling flushing superior cascade sandwich hurricane alliance falcon eagle rifle grants grant apex liberal crystal plains tea globe young mulberry friendly prospect pioneer council weed star volcano hatch bow
 granite commerce comfort chicken cash mineral marina grace wisdom ward peculiar nice mounds monument friendship crescent cork congress badger jupiter salmon bountiful hunter`)

// townNames are those of notCities that are towns where they are written as towns.
var townNames = wordSet(`mobile reading orange independence hope enterprise liberty surprise union progress page`)

// townWritten reports whether a plain word is written as a town is: "the crash in Mobile"
// and not "in mobile homes", "at Liberty Mutual".
func townWritten(q *constrain.Query, i int) bool {
	if !townNames[q.Word(i)] && !wordTowns[q.Word(i)] || !q.Tokens[i].Capital() || q.AllUpper() || titleCase(q) || !q.Joined(i) || !cityBefore[q.Word(i-1)] || weakBefore[q.Word(i-1)] {
		return false
	}
	next := q.Word(i + 1)
	return !q.Joined(i+1) || setting[next] || linking[next] || stopBefore[next] || q.EventNoun(i+1) || yearLike(q, i+1)
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
	if c, ok := g.longerTown(q, i, to); ok {
		return c, true
	}
	if q.Word(i-1) == "at" && to == i+1 && !g.placeAhead(q, to) && q.Vocabulary.Contains("airport_name", name, 3*count) {
		return constrain.Claim{}, false
	}
	if g.insideName(q, i) || g.continuesName(q, i) {
		return constrain.Claim{}, false
	}
	if g.isState(q, i, to) && g.inStateList(q, to) {
		return constrain.Claim{}, false
	}
	if code, end, ok := g.stateAfter(q, to); ok && !aircraftNamed(q, i, to) && (q.Gap(to) == ", " || !g.isState(q, i, to)) {
		return constrain.Claim{From: i, To: end, Conditions: inState(name, code), Weight: 6}, true
	}
	if g.isState(q, i, to) || g.isCountry(q, i, to) || !g.cityPlaced(q, i, to, count) {
		return constrain.Claim{}, false
	}
	if to < len(q.Tokens) && (q.Word(to) == "area" || q.Word(to) == "basin" || q.Word(to) == "region") {
		to++
	}
	return constrain.Claim{From: i, To: to, Conditions: conditions, Weight: 1}, true
}

// inStateList reports whether a state follows and after it another: "Maine, New Hampshire
// and Vermont" are three states, and no town of Maine is meant.
func (g *gazetteer) inStateList(q *constrain.Query, i int) bool {
	_, to, ok := g.stateAt(q, i)
	if !ok || q.Gap(i) != ", " || q.Gap(to) != ", " && q.Word(to) != "and" && q.Word(to) != "or" {
		return false
	}
	_, _, ok = g.stateAt(q, min(q.Skip(to, "and", "or"), len(q.Tokens)))
	return ok
}

// inState is a town with its state: the town last, which is what a negation denies.
func inState(city, state string) []constrain.Condition {
	return []constrain.Condition{constrain.Is("state", state), constrain.Is("city", city)}
}

// few and many say how often a town must stand in the records to be meant without
// its state: the less the place in the sentence says, the oftener.
const (
	few  = 3
	many = 15
)

func (g *gazetteer) cityPlaced(q *constrain.Query, i, to int, count int64) bool {
	capital := q.Tokens[i].Capital() && !q.AllUpper()
	if i == 0 && q.Gap(to) == ", " && vocative[q.Word(to)] {
		return false // "Houston, we have a problem"
	}
	if q.Word(i-1) == "of" && loadNames().endsHere(q, i-1) {
		return false // the Duchess of York
	}
	if capital && q.Joined(i) && q.Word(i-1) == "about" && (q.Word(i-2) == "what" || q.Word(i-2) == "how") {
		return count >= few // "what about Tulsa?"
	}
	if q.Joined(i) && cityBefore[q.Word(i-1)] {
		return capital || count >= 2 && !weakBefore[q.Word(i-1)] || count >= many
	}
	if _, _, made := loadNames().makerAt(q, i); made {
		return false
	}
	if g.inCityList(q, i, to) {
		return true
	}
	written := capital && q.Tokens[to-1].Capital()
	switch {
	case written && to > i+1 && !titleCase(q), written && i == 0 && q.Joined(to) && setting[q.Word(to)]:
		return count >= few
	case q.Joined(to) && (q.EventNoun(to) || cityAfter[q.Word(to)]):
		return count >= few
	case written && i == 0 && q.Joined(to) && aboutAircraft(q, to): // "Ketchikan floatplane tours"
		return count >= many && !q.Lexicon.Words[q.Word(0)]
	case q.Joined(to) && len(q.Word(to)) == 4 && q.Tokens[to].Number(): // "Jackson Hole 2005"
		return count >= few && (capital || count >= many)
	case written && i == 0 && q.Joined(to) && dateAhead(q, to): // "Orlando 12/25/04"
		return count >= few && !q.Lexicon.Words[q.Word(0)]
	case g.citiesOnly(q, i, to, count):
		return true
	case q.Alone(i, to):
		return count >= few && (capital || to > i+1 || count >= many)
	case q.AllLower():
		return count >= many && (i == 0 || to == len(q.Tokens)) && !titles[q.Word(i-1)] && !givenNames()[q.Word(i)]
	}
	return false
}

// neverTowns say when or how even before a state: "in Winter, Texas".
var neverTowns = wordSet(`flight night day daylight winter summer spring fall autumn weather fog rain snow wind clouds water contact service training`)

// vocative are words after which a name with a comma was spoken to.
var vocative = wordSet(`we i you he she they can could would please tell show give this that is are`)

// townEnds are what names of towns go on with.
var townEnds = wordSet(`hills springs park falls beach city heights village grove gardens lake lakes island junction center valley harbor`)

// longerTown reads a town that no record has and whose name begins with one of a town that
// some have: Beverly Hills is not Beverly.
func (g *gazetteer) longerTown(q *constrain.Query, i, to int) (constrain.Claim, bool) {
	if !q.Joined(to) || !q.Tokens[i].Capital() || !q.Tokens[to].Capital() || q.AllUpper() || titleCase(q) || !townEnds[q.Word(to)] || g.placeAhead(q, to+1) {
		return constrain.Claim{}, false
	}
	c := constrain.Claim{From: i, To: to + 1, Weight: 1}
	if placed := q.Joined(i) && cityBefore[q.Word(i-1)]; placed {
		c.Unknown = &sextant.UnknownValue{Text: q.Written(i, to+1), Field: "city"}
		c.Conditions = []constrain.Condition{constrain.Is("city", strings.ToUpper(q.Written(i, to+1)))}
	}
	return c, true
}

var monthWords = wordSet(`january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec`)

// dateAhead reports whether a date that is more than a year follows: "12/25/04", "June 2008".
func dateAhead(q *constrain.Query, i int) bool {
	if i+1 >= len(q.Tokens) {
		return false
	}
	gap := q.Gap(i + 1)
	return q.Tokens[i].Number() && (gap == "/" || gap == "-") && q.Tokens[i+1].Number() || monthWords[q.Word(i)] && q.Tokens[i+1].HasDigit() || q.Tokens[i].HasDigit() && monthWords[q.Word(i+1)]
}

// citiesOnly reports whether two well-known towns joined by "or" or "and" begin the
// question or stand between commas: "Reno or Las Vegas crashes".
func (g *gazetteer) citiesOnly(q *constrain.Query, i, to int, count int64) bool {
	if count < many || !q.Tokens[i].Capital() && !q.AllLower() {
		return false
	}
	closes := func(k int) bool { return !q.Joined(k) || q.EventNoun(k) || setting[q.Word(k)] || yearAhead(q, k) }
	begins := func(k int) bool { return k == 0 || !q.Joined(k) && !strings.Contains(q.Gap(k), "(") }
	if next := q.Skip(to, "or", "and"); next > to && begins(i) {
		_, other, end, ok := g.cityAt(q, next)
		return ok && other >= many && next < len(q.Tokens) && closes(end)
	}
	if w := q.Word(i - 1); (w == "or" || w == "and") && closes(to) {
		for k := max(0, i-4); k < i-1; k++ {
			if _, other, end, ok := g.cityAt(q, k); ok && end == i-1 && other >= many && begins(k) {
				return true
			}
		}
	}
	return false
}

// aboutAircraft reports whether an aircraft or a condition is named at token i.
func aboutAircraft(q *constrain.Query, i int) bool {
	conditions, _, phrase := q.PhraseAt(i)
	return kindNouns[q.Word(i)] || phrase && len(conditions) > 0
}

// inCityList reports whether a town is joined by "and", "or" or a comma to one that
// stands where towns do: "except Reno and Las Vegas", "Miami and Tampa, Florida".
func (g *gazetteer) inCityList(q *constrain.Query, i, to int) bool {
	if !q.Tokens[i].Capital() || q.AllUpper() {
		return false
	}
	if next := q.Skip(to, "and", "or"); next > to || q.Gap(to) == ", " {
		if _, _, end, ok := g.cityAt(q, next); ok && next < len(q.Tokens) && q.Tokens[next].Capital() && g.placeAhead(q, end) {
			return true
		}
	}
	before := i
	if w := q.Word(i - 1); w == "and" || w == "or" {
		before--
		for k := max(0, before-2); k < before; k++ { // "Oakland, California, or San Jose"
			if _, end, ok := g.stateAfter(q, k); ok && end == before {
				before = k
			}
		}
	} else if q.Gap(i) != ", " {
		return false
	}
	for k := max(0, before-3); k < before; k++ {
		if _, _, end, ok := g.cityAt(q, k); ok && end == before && q.Joined(k) && cityBefore[q.Word(k-1)] {
			return true
		}
	}
	return false
}

// insideName reports whether token i is in the middle of a state's, country's or
// region's name: the York of New York is no York.
func (g *gazetteer) insideName(q *constrain.Query, i int) bool {
	for k := max(0, i-2); k < i; k++ {
		if g.isState(q, k, i+1) || g.isCountry(q, k, i+1) || g.isNowhere(q, k, i+1) {
			return true
		}
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

// unknownCity reads a town before its state that no record has: "near Foo Springs, TX" is
// a condition that nothing satisfies, and not all of Texas.
func (g *gazetteer) unknownCity(q *constrain.Query, i int) (constrain.Claim, bool) {
	placed := q.Joined(i) && cityBefore[q.Word(i-1)]
	if i > 0 && !placed || g.insideName(q, i) {
		return constrain.Claim{}, false
	}
	to := i
	for to < i+3 && g.namePart(q, to) && (to == i || q.Joined(to)) {
		to++
	}
	code, end, ok := g.stateAfter(q, to)
	coded := g.isCode(q, to) && q.Tokens[to].Upper() && (placed || institutions[q.Word(to-1)])
	if _, _, end, known := g.cityAt(q, i); to == i || !ok || known && end >= to || q.Gap(to) != ", " && !coded || q.AllUpper() || !g.unheard(q, i, to, placed && q.Gap(to) == ", ") {
		return constrain.Claim{}, false
	}
	name := strings.ToUpper(q.Written(i, to))
	unknown := &sextant.UnknownValue{Text: q.Written(i, to), Field: "city"}
	return constrain.Claim{From: i, To: end, Conditions: inState(name, code), Weight: 1, Unknown: unknown}, true
}

// namePart reports whether token i can be a part of an unknown town's name.
func (g *gazetteer) namePart(q *constrain.Query, i int) bool {
	if i >= len(q.Tokens) || stopBefore[q.Word(i)] || q.Word(i) == "county" || q.Word(i) == "parish" {
		return false
	}
	t := q.Tokens[i]
	return t.Capital() && !t.HasDigit() && len(t.Text) > 2 && !g.isState(q, i, i)
}

// continuesName reports whether the word before token i is a part of the same name, though
// not of one that is known: the Washington of Port Washington is not the town of that name.
func (g *gazetteer) continuesName(q *constrain.Query, i int) bool {
	if !q.Joined(i) || !q.Tokens[i-1].Capital() || q.Tokens[i-1].HasDigit() || q.Tokens[i-1].Upper() || q.AllUpper() || titleCase(q) || stopBefore[q.Word(i-1)] || q.EventNoun(i-1) {
		return false
	}
	if i == 1 && q.Lexicon.Words[q.Word(0)] {
		return false // the first word of a sentence
	}
	_, _, phrase := q.PhraseAt(i - 1)
	return !phrase && g.kindOf(q, i-1) != nameOfAircraft && !g.isState(q, i-1, i) && !g.isCountry(q, i-1, i) && !loadNames().endsHere(q, i)
}

type nameKind uint8

const (
	nameUnknown nameKind = iota
	nameOfPlace
	nameOfAircraft
)

// kindOf says what is known of the word at token i by itself.
func (g *gazetteer) kindOf(q *constrain.Query, i int) nameKind {
	_, _, maker := loadNames().makerAt(q, i)
	_, _, nick := loadNames().nicknameAt(q, i)
	if maker || nick {
		return nameOfAircraft
	}
	_, _, city := q.LongestAt("city", i)
	_, _, _, country := g.countryAt(q, i)
	if city || country {
		return nameOfPlace
	}
	return nameUnknown
}

var townNouns = wordSet(`town city village`)

// surelyBefore are words before a place and nothing else.
var surelyBefore = wordSet(`near at around outside over above`)

// unplaced reports whether the word at token i is no name of an aircraft, and of a place at
// most that hardly any record has: the Clyde of "Clyde Cessna".
func (g *gazetteer) unplaced(q *constrain.Query, i int) bool {
	switch g.kindOf(q, i) {
	case nameOfAircraft:
		return false
	case nameUnknown:
		return true
	}
	_, _, country, isCountry := g.countryAt(q, i)
	value, _, _ := q.LongestAt("city", i)
	return !isCountry && !country && !g.isState(q, i, i+1) && value.Count < many
}

// noTown reports whether "in" and a state stand around a name that no record has as a town:
// "landed in Citation, Colorado" is in an aircraft, "near Citation, Colorado" would be a town.
func (g *gazetteer) noTown(q *constrain.Query, i, to int) bool {
	_, end, known := q.LongestAt("city", i)
	return q.Word(i-1) == "in" && q.Gap(to) == ", " && g.placeAhead(q, to) && !(known && end >= to)
}

// unheard reports whether nothing else is known by the words of a name. A name that is
// only an aircraft's may be a town's where it is surely placed: "near Comanche, Oklahoma".
func (g *gazetteer) unheard(q *constrain.Query, i, to int, placed bool) bool {
	several := to > i+1
	for k := i; k < to; k++ {
		if _, _, phrase := q.PhraseAt(k); phrase || q.EventNoun(k) || q.Lexicon.Words[q.Word(k)] && (!several || k == 0 && !institutions[q.Word(to-1)]) && !(placed && !several && !neverTowns[q.Word(k)] && !monthWords[q.Word(k)] && !titleCase(q)) {
			return false
		}
		kind := g.kindOf(q, k)
		if kind == nameOfAircraft && !(several && (k > i || institutions[q.Word(to-1)]) || !several && placed && (surelyBefore[q.Word(i-1)] || q.Word(i-1) == "of" && townNouns[q.Word(i-2)])) || kind == nameOfPlace && !several {
			return false
		}
	}
	return true
}
