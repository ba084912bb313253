package aviation

import (
	"strings"

	"github.com/sextant-rag/sextant/constrain"
)

// Many aircraft are named after animals, peoples, jewels and founders. Whether "beaver"
// is the airplane is told by how it is written and by the words beside it.

// alike says how much a name is like another word.
type alike uint8

const (
	likeNothing alike = iota // Cessna, Skyhawk: nothing else
	likeName                 // Comanche, Douglas: peoples, persons, towns, written with a capital as well
	likeWord                 // beaver, arrow: plain words
	likeAny                  // lake, extra: words so plain that only a kind of aircraft beside them tells
)

var (
	properNames = wordSet(`comanche seneca cherokee navajo apache cheyenne aztec pawnee seminole saratoga malibu waco douglas cameron ryan hughes fairchild lockheed curtiss kiowa cayuse sioux huey hiller
 dakota barnes hawker reims culver stearman vans thorp`)
	commonNames = wordSet(`swift cub beaver otter caravan baron duke duchess cardinal warrior archer arrow musketeer champ tomahawk decathlon raven diamond champion viking meridian pacer vagabond conquest citation crusader centurion
 islander phenom husky buccaneer shrike chieftain debonair constellation hercules concorde gazelle lama avanti chinook starship eagle skylark zodiac jetstream merlin skipper sundowner thrush bobcat corsair bell quest
 caravelle breezy quickie dromader kodiak spitfire hellcat bearcat warhawk katana rallye buckeye zenith interstate aerostar tristar puma alouette dauphin saab rans grob meyers varga atr casa`)
	weakNames = wordSet(`lake extra let globe republic fleet snow alon iai`)
	// likeNames are names of several words that mean something else as well.
	likeNames = wordSet(`great_lakes air_command bird_dog thunder_and_colt golden_eagle black_hawk flying_fortress travel_air global_express dream_machine super_chief twin_beech`)
)

func likeness(name string) alike {
	switch {
	case weakNames[name]:
		return likeAny
	case commonNames[name]:
		return likeWord
	case properNames[name]:
		return likeName
	}
	return likeNothing
}

// kindNouns say that what they stand beside is an aircraft.
var kindNouns = wordSet(`aircraft airplane airplanes aeroplane aeroplanes plane planes helicopter helicopters amphibian amphibians seaplane seaplanes floatplane floatplanes jet jets series twin twins taildragger taildraggers
 biplane biplanes rg owners pilots tail rotor turboprop turboprops floats warbird homebuilt homebuilts kit kits glider gliders balloon balloons trainer`)

// troubleNouns are what happens to aircraft and not to beavers.
var troubleNouns = wordSet(`stall stalls gear engine crashed crashes crashing wing spin spins flown icing overrun overruns groundloop groundloops groundlooped stalled ditched ditching nosed lost landing takeoff fatal fatals destroyed
 forced flights flight hull prop propeller`)

// institutions follow a name that is a people's, a town's or a company's.
var institutions = wordSet(`nation nations tribe tribal county university college school street road avenue river creek lake lakes island islands bay bridge lodge reservation museum dance ranch beach harbor heights grove falls springs hills valley mountain
 mountains pass spark plug plugs plate ring keys key pattern pump hotel stadium hospital court labs laboratories gardens city village acres museum instruments elementary team football park forest canyon code law hose wire indian indians chief warrior`)

// landforms are named after anything: "Bonanza Creek".
var landforms = wordSet(`creek river lake mountain peak ridge canyon gulch hill valley street avenue road`)

// strangeNoun reports whether a word in small letters follows that no narrative of an
// accident has: "his Seneca relatives", "the Navajo nation".
func strangeNoun(q *constrain.Query, i int) bool {
	t := q.Tokens[i]
	_, _, phrase := q.PhraseAt(i)
	_, _, state := loadGazetteer().stateAt(q, i)
	return !t.Capital() && !t.HasDigit() && len(t.Text) > 3 && !q.AllLower() && !q.RealWord(t.Lower) && !phrase && !state && !q.EventNoun(i)
}

// streets and the like are named after makers too.
var streets = wordSet(`avenue street road boulevard lane parkway museum university college stadium family brothers residence estate house foundation tree trees
 engineer engineers employee employees executive executives spokesman spokeswoman spokesperson salesman dealer dealers dealership factory factories plant headquarters stock shares ceo engined powered`)

// meant tells the maker or type at tokens [i, to) from the plain word.
func (n *names) meant(q *constrain.Query, i, to int) bool {
	if otherThing(q, to) || likeNames[strings.ReplaceAll(strings.ToLower(q.Written(i, to)), " ", "_")] && q.Word(i-1) == "the" && cityBefore[q.Word(i-2)] {
		return false
	}
	like := n.likeAt(q, i, to)
	if like == likeNothing {
		return (q.Word(to) != "of" || q.Tokens[i].Capital()) && !n.surname(q, i) && !(q.Joined(to) && landforms[q.Word(to)] && !q.Eventful())
	}
	if q.Joined(to) {
		next := q.Word(to)
		switch {
		case next == "of":
			return false // a bonanza of data, the Duke of Edinburgh
		case n.designationAfter(q, to, "") > to:
			return true
		case kindNouns[next]:
			return like == likeName || q.Tokens[i].Capital() || q.AllLower()
		case institutions[next]:
			return false
		case strangeNoun(q, to):
			return false
		case like != likeAny && q.EventNoun(to):
			return true
		case like != likeAny && troubleNouns[next]:
			return like == likeName || q.Tokens[i].Capital() || q.AllLower()
		case !n.goesWith(q, to):
			return false
		}
	}
	switch {
	case like == likeAny:
		return q.Alone(i, to) && q.Tokens[i].Capital() && i > 0
	case q.AllLower() || q.AllUpper():
		return n.keyword(q, i, to, like)
	}
	return q.Tokens[i].Capital() && n.named(q, i, to)
}

// otherThing reports whether what follows a name says what it is, and that is no aircraft:
// "Lear, the king". Of a question that names an event the apposition may be the event's.
func otherThing(q *constrain.Query, to int) bool {
	if q.Gap(to) != ", " || !determiners[q.Word(to)] || q.Eventful() || to+1 >= len(q.Tokens) {
		return false
	}
	t := q.Tokens[to+1]
	if t.Upper() && to+2 < len(q.Tokens) && q.Joined(to+2) {
		t = q.Tokens[to+2] // "Bonanza, the TV show"
	}
	return !t.Capital() && !t.HasDigit() && !kindNouns[t.Lower] && !troubleNouns[t.Lower] && !apposition[t.Lower+"s"]
}

var determiners = wordSet(`the a an`)

// goesWith reports whether what stands at token i can follow an aircraft in a sentence: a
// preposition, a verb, a place, a condition, another name, or an event after an adjective.
// "Apache baskets" and "the Warriors beat the Archers" are not about airplanes.
func (n *names) goesWith(q *constrain.Query, i int) bool {
	w := q.Word(i)
	if q.Tokens[i].Capital() || q.Tokens[i].HasDigit() || strings.HasSuffix(w, "ed") || setting[w] || aircraftVerbs[w] || stopBefore[w] || linking[w] || ties[w] {
		return true
	}
	_, _, phrase := q.PhraseAt(i)
	return phrase || adjectival(q, i) || n.knownAhead(q, i)
}

// aircraftVerbs may follow the name of an aircraft; verbs in -ed need no entry.
var aircraftVerbs = wordSet(`outside inside above below between through throughout until till except excluding pilot crew captain owner ground nose belly hard forced emergency was were is are has had have did does went ran broke fell spun flew flying lost hit struck took got made or and vs versus than but not with without who whose when where while after before being down only either too all ever go went cause causes caused fly flies crash`)

// surname reports whether an unknown name with a capital stands before a maker's, in a
// question that names no event: "Clyde Cessna".
func (n *names) surname(q *constrain.Query, i int) bool {
	if i == 0 || !q.Joined(i) || q.Gap(i) != " " || q.Eventful() || q.AllUpper() {
		return false
	}
	if before := q.Tokens[i-1]; !q.AllLower() && !q.Tokens[i].Capital() && !before.Capital() && !before.HasDigit() && len(before.Text) > 3 && !q.RealWord(before.Lower) {
		return true // the pied piper
	}
	_, to, maker := n.makerAt(q, i)
	if maker && to < len(q.Tokens) && q.Joined(to) && n.knownAhead(q, to) {
		return false // "Payne Stewart Learjet South Dakota"
	}
	t := q.Tokens[i-1]
	return maker && t.Capital() && !t.Upper() && !t.HasDigit() && len(t.Text) > 2 && q.Tokens[i].Capital() && unknownWord(q, i-1) && loadGazetteer().unplaced(q, i-1)
}

// unknownWord reports whether a word with a capital is none of the language, or a name at
// most. At the start of a question every word has a capital, so there it must be a name.
func unknownWord(q *constrain.Query, i int) bool {
	w := q.Word(i)
	_, _, town := q.LongestAt("city", i)
	switch {
	case q.Lexicon.Words[w]:
		return false
	case i == 0:
		return q.Lexicon.Names[w] || town
	}
	return q.Lexicon.Names[w] || !q.RealWord(w)
}

func (n *names) likeAt(q *constrain.Query, i, to int) alike {
	words := make([]string, 0, 3)
	for k := i; k < to; k++ {
		words = append(words, q.Word(k))
	}
	name := strings.Join(words, " ")
	if likeNames[strings.Join(words, "_")] {
		if q.Tokens[to-1].Capital() || q.AllLower() {
			return likeWord
		}
		return likeAny
	}
	like := likeness(name)
	if like == likeNothing && to == i+1 {
		like = max(like, likeness(strings.TrimSuffix(name, "s")))
	}
	return like
}

var articles = wordSet(`a an the or and than of involving involved with fatal by any every all no another this that these those one two three either both versus vs my his her their for not but nor neither except excluding minus`)

// named judges a name with a capital in a sentence: as an aircraft's it stands after an
// article, a maker or a comma, and no further name follows.
func (n *names) named(q *constrain.Query, i, to int) bool {
	if to < len(q.Tokens) && q.Tokens[to].Capital() && q.Joined(to) && !n.knownAhead(q, to) && !titleCase(q) {
		return false
	}
	if g := loadGazetteer(); g.placeAhead(q, to) && q.Joined(i) && cityBefore[q.Word(i-1)] && !g.noTown(q, i, to) {
		return false
	}
	first := i == 0 || strings.ContainsAny(q.Gap(i), ".?!")
	switch {
	case first:
		return !q.Joined(to) || setting[q.Word(to)] || adjectival(q, to) || alternatives[q.Word(to)] && n.namesAt(q, to+1)
	case !q.Joined(i):
		return !loadGazetteer().placeAhead(q, to) || strings.ContainsAny(q.Gap(i), "(")
	case articles[q.Word(i-1)]:
		return true
	case cityBefore[q.Word(i-1)] || saying[q.Word(i-1)] || titles[q.Word(i-1)] || namers[q.Word(i-1)]:
		return q.Word(i-1) == "in" && (strings.HasSuffix(q.Word(i), "s") && !loadGazetteer().placeAhead(q, to) || loadGazetteer().noTown(q, i, to))
	}
	_, _, made := n.makerAt(q, i-1)
	return made || !q.Tokens[i-1].Capital() || i == 1 && interrogative[q.Word(0)] || n.knownAhead(q, i-1)
}

// saying are verbs after and before which a name is a person's.
var saying = wordSet(`said says told asked called named met saw with`)

// adjectival reports whether an event noun follows within the same run of words, so that
// a name at the beginning stands before it as an adjective: "Chinook heavy-lift accidents".
func adjectival(q *constrain.Query, to int) bool {
	for k := to; k < to+3 && q.Joined(k) && !cityBefore[q.Word(k)] && !institutions[q.Word(k)]; k++ {
		if q.EventNoun(k) {
			return true
		}
	}
	return false
}

// alternatives join two names.
var alternatives = wordSet(`or and vs versus nor`)

// namesAt reports whether a maker's or a type's name stands at token i.
func (n *names) namesAt(q *constrain.Query, i int) bool {
	if i >= len(q.Tokens) {
		return false
	}
	_, _, maker := n.makerAt(q, i)
	_, _, nick := n.nicknameAt(q, i)
	return maker || nick
}

// knownAhead reports whether the word with a capital at token i is one that stands
// beside aircraft: a place, a maker, a designation, a month.
func (n *names) knownAhead(q *constrain.Query, i int) bool {
	if _, _, ok := n.makerAt(q, i); ok || q.Tokens[i].HasDigit() || q.EventNoun(i) || kindNouns[q.Word(i)] || q.Tokens[i].Upper() {
		return true
	}
	if _, _, ok := n.nicknameAt(q, i); ok {
		return true
	}
	if _, _, ok := q.PhraseAt(i); ok {
		return true
	}
	return loadGazetteer().placeAhead(q, i)
}

// titleCase reports whether most words are capitalised, so that capitals tell nothing.
func titleCase(q *constrain.Query) bool {
	capitals := 0
	for _, t := range q.Tokens {
		if t.Capital() || t.HasDigit() || len(t.Text) < 3 {
			capitals++
		}
	}
	return len(q.Tokens) > 3 && capitals*5 >= len(q.Tokens)*4
}

// setting are words that go on after a name with where, when and how.
var setting = wordSet(`in on at with during over near that which since from`)

// keyword judges a name in a question without capitals, which are written in keywords:
// a people's or founder's name is an aircraft's unless it stands for a place or person,
// a plain word only right before a place, a year or the end.
func (n *names) keyword(q *constrain.Query, i, to int, like alike) bool {
	before := q.Word(i - 1)
	if q.Joined(i) && (cityBefore[before] && before != "of" && before != "by" || titles[before] || namers[before] || givenNames()[before]) {
		return false
	}
	g := loadGazetteer()
	if q.Gap(to) == ", " && g.placeAhead(q, to) {
		return false
	}
	if like == likeName {
		return true
	}
	if q.Joined(i) && (before == "a" || before == "an") && (q.Word(i-2) == "or" || q.Word(i-2) == "and") && n.endsHere(q, i-2) {
		return true // "a citabria or a decathlon"
	}
	if q.Joined(i) && (before == "a" || before == "the" || before == "an") && to < len(q.Tokens) {
		return false
	}
	if q.Word(to) == "on" && (q.Word(to+1) == "floats" || q.Word(to+1) == "skis" || q.Word(to+1) == "wheels") {
		return true
	}
	_, _, stated := g.stateAt(q, min(to, len(q.Tokens)-1))
	return to >= len(q.Tokens) || !q.Joined(to) || stated || len(q.Word(to)) == 4 && q.Tokens[to].Number()
}
