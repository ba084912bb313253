package check

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// contrastFault finds a word that stands for its opposite or its sibling in the evidence:
// left for right, increased for decreased, pilot for passenger, day for night.
func contrastFault(said, have *reading) *fault {
	for i := range said.tokens {
		t := &said.tokens[i]
		if t.kind != word || said.bounds(i) || said.measuring(i) {
			continue
		}
		for _, set := range contrastsOf[t.stem] {
			if other := said.contrasts(have, i, set); other != "" && !(set.fault == sextant.FaultNegation && said.deniesOther(have, i, other)) {
				return faulty(set.fault, "it says %q where its quotes say %q", t.text, other)
			}
		}
	}
	for _, i := range said.content {
		if said.bounds(i) || said.measuring(i) || said.tokens[i].stem == "right" {
			continue
		}
		if other := have.opposed(said, i); other != "" && !said.deniesOther(have, i, other) {
			return faulty(sextant.FaultNegation, "it says %q where its quotes say %q", said.tokens[i].text, other)
		}
	}
	return nil
}

// deniesOther reports whether a statement denies word i while its evidence says its opposite, or
// says it while the evidence denies the opposite: not adequate is inadequate.
func (r *reading) deniesOther(have *reading, i int, other string) bool {
	for k := range have.tokens {
		if have.tokens[k].text == other {
			return r.deniedAt(i) != have.deniedAt(k)
		}
	}
	return false
}

// opposed returns the word of a text that means the opposite of word i of a statement and
// stands among the same words; "" if the text also says what the statement does.
func (r *reading) opposed(said *reading, i int) string {
	t, other := &said.tokens[i], ""
	for _, k := range r.content {
		have := &r.tokens[k]
		if have.stem == t.stem || alikeWords(have, t) && r.likeness(k, said, i) > 0 {
			return ""
		}
		if other == "" && !said.stems[have.stem] && have.stem != "right" && !light[have.stem] && unprefixed(have.stem) != t.stem && unprefixed(t.stem) != have.stem && thesaurus.Opposed(have.stem, t.stem) && r.likeness(k, said, i) > 0 {
			other = have.text
		}
	}
	return other
}

// bounds reports whether a token belongs to words that make a number a limit.
func (r *reading) bounds(i int) bool {
	for _, q := range r.quantities {
		if q.bound != exactly && (i < q.at && i >= q.at-4 || i >= q.end && i < q.end+2) && boundWords[r.tokens[i].lower] {
			return true
		}
	}
	return false
}

// measuring reports whether a token says along what a measure is taken: 50 feet high.
func (r *reading) measuring(i int) bool {
	for _, q := range r.quantities {
		if q.unit != "" && (q.end == i || q.end == i-1 && r.at(i-1).text == "-") {
			switch r.tokens[i].lower {
			case "high", "long", "wide", "deep", "tall", "thick", "old":
				return true
			}
		}
	}
	return false
}

var boundWords = setOf("more", "less", "least", "most", "above", "below", "higher", "lower", "greater", "fewer", "over", "under", "longer", "shorter", "minimum", "maximum", "exceed", "exceeding", "exceeds", "exceeded", "larger", "smaller", "older", "younger", "better")

// contrasts returns the word of a set that the evidence has in place of token i; "" if it
// has the token's own.
func (r *reading) contrasts(have *reading, i int, set *contrast) string {
	side := set.sides[r.tokens[i].stem]
	var other string
	own := false
	for k := range have.tokens {
		t := &have.tokens[k]
		if t.kind != word {
			continue
		}
		switch s, in := set.sides[t.stem]; {
		case in && t.lower == "added" && (have.at(k+1).lower == "that" || have.at(k+1).text == ","): // said so
		case !in:
			own = own || t.stem != "right" && !r.stems[t.stem] && thesaurus.Related(t.stem, r.tokens[i].stem) && have.likeness(k, r, i) > 1
		case s == side:
			own = true
		case other == "" && !r.stems[t.stem] && have.likeness(k, r, i) > 0:
			other = t.text
		}
	}
	if !own && other != "" && !set.beside {
		return other
	}
	return r.contrastsBeside(have, i, set)
}

// contrastsBeside looks at the words next to token i: where the evidence has both left and
// right, the left wing still is not the right one, and a turn to the left none to the right.
func (r *reading) contrastsBeside(have *reading, i int, set *contrast) string {
	for k := range have.tokens { // taxied it to the hangar: what it is stands elsewhere
		if set.sides[have.tokens[k].stem] == set.sides[r.tokens[i].stem] && pronouns[have.at(k+1).lower] {
			return ""
		}
	}
	for _, step := range []int{1, -1} {
		next := r.neighbour(i, step, set)
		if next < 0 {
			continue
		}
		if other, own := have.membersBeside(r.tokens[next].stem, -step, set, set.sides[r.tokens[i].stem]); own {
			return ""
		} else if other != "" {
			return other
		}
	}
	return ""
}

var pronouns = setOf("it", "him", "them", "themselves", "itself", "himself")

// neighbour finds the word of meaning next to token i, past two others at most.
func (r *reading) neighbour(i, step int, set *contrast) int {
	for k, n := i+step, 0; k >= 0 && k < len(r.tokens) && n < 3; k, n = k+step, n+1 {
		t := &r.tokens[k]
		if t.kind == word && !functionWords[t.lower] && set.sides[t.stem] == 0 {
			return k
		}
		if t.kind == mark && t.text != "-" {
			break
		}
	}
	return -1
}

// membersBeside returns a word of a set that stands next to a stem in place of one of a side,
// and whether one of that side does.
func (r *reading) membersBeside(stem string, step int, set *contrast, side int) (other string, own bool) {
	for k := range r.tokens {
		t := &r.tokens[k]
		if t.stem != stem {
			continue
		}
		for at, n := k+step, 0; at >= 0 && at < len(r.tokens) && n < 3; at, n = at+step, n+1 {
			if r.tokens[at].lower == "and" || r.tokens[at].lower == "or" {
				n -= 2 // of the left and right tank both are said
			}
			s := set.sides[r.tokens[at].stem]
			if s == side {
				return "", true
			}
			if s != 0 { // the one asked about may stand beyond it: vertical and horizontal stabilizer
				other = r.tokens[at].text
			}
		}
	}
	return other, false
}

// contrast is a set of words of which one excludes the others. Sides are numbered from 1;
// words of one side mean the same.
type contrast struct {
	fault  sextant.Fault
	sides  map[string]int // by stem
	beside bool           // so common that only those beside the same word are compared
}

// contrastsOf finds the sets a stem belongs to.
var contrastsOf = func() map[string][]*contrast {
	out := map[string][]*contrast{}
	add := func(fault sextant.Fault, line string) {
		c := &contrast{fault: fault, sides: map[string]int{}}
		for side, words := range strings.Split(line, "|") {
			for _, w := range strings.Fields(words) {
				s := stemOf(w)
				if _, ok := c.sides[s]; !ok {
					c.sides[s] = side + 1
				}
			}
		}
		for s := range c.sides {
			if !slices.Contains(out[s], c) {
				out[s] = append(out[s], c)
			}
		}
	}
	for _, line := range comparisons {
		add(sextant.FaultComparison, line)
	}
	for _, line := range siblings {
		add(sextant.FaultEntity, line)
	}
	for _, line := range opposites {
		add(sextant.FaultNegation, line)
	}
	for _, line := range commonPairs {
		add(sextant.FaultComparison, line)
		c := out[stemOf(strings.Fields(line)[0])]
		c[len(c)-1].beside = true
	}
	return out
}()

// comparisons are words of more and less.
var comparisons = []string{
	"increase increased increasing increases add added adding rise rose risen rising grew grow growth growing gain gained | decrease decreased decreasing reduce reduced reduction reducing decline declined fall fell fallen falling drop dropped dropping diminish diminished loss lost",
	"higher highest greater greatest larger largest bigger biggest | lower lowest smaller smallest lesser",
	"more most | less fewer least fewest", "longer longest | shorter shortest", "faster fastest quicker | slower slowest", "earlier earliest sooner | later latest",
	"heavier heaviest | lighter lightest", "better best improve improved improvement improving | worse worst worsen worsened deteriorate deteriorated deteriorating", "above | below", "minimum | maximum", "climb climbed climbing ascend ascended | descend descended descending descent",
	"accelerate accelerated acceleration | decelerate decelerated deceleration", "exceed exceeded exceeding exceeds | below under", "early | late", "upward upwards | downward downwards", "inside within | outside", "farther further | nearer closer", "high | low", "warmer hotter | colder cooler", "strengthened stronger | weakened weaker",
	"major | minor", "excessive | insufficient inadequate", "upregulated upregulation upregulates | downregulated downregulation downregulates", "activate activates activated activation | inhibit inhibits inhibited inhibition inactivate",
}

// siblings are words of one kind of which one excludes the others.
var siblings = []string{
	"left | right | center", "north northern northbound | south southern southbound | east eastern eastbound | west western westbound", "northeast | northwest | southeast | southwest", "front forward | rear aft back", "upper top | lower bottom", "nose | tail",
	"day daytime daylight | night nighttime | dusk | dawn", "morning | afternoon | evening | midnight | noon", "takeoff departure | landing arrival | cruise | taxi", "vfr vmc visual | ifr imc instrument",
	"fatal fatally | serious seriously | minor", "monday | tuesday | wednesday | thursday | friday | saturday | sunday", "spring | summer | autumn winter fall", "red | green | blue | yellow | white | black | orange", "male man men | female woman women",
	"headwind | tailwind | crosswind", "upwind | downwind", "inboard | outboard", "vertical | horizontal", "primary | secondary", "private | commercial", "student | instructor | passenger | mechanic | controller | dispatcher | copilot", "captain | officer", "mother | father", "buyer | seller", "plaintiff | defendant", "employer | employee",
	"elevator | aileron | rudder | flap", "carburetor | magneto", "january | february | march | april | may | june | july | august | september | october | november | december",
	"substantial substantially | destroyed", "first | second | third | fourth | fifth | last final",
	"engine | propeller | airframe", "wing | fuselage | tail", "gasoline avgas | diesel | oil", "snow | rain | fog | hail", "airplane aeroplane | helicopter | glider | balloon", "north | south", "clockwise | counterclockwise", "million | billion | trillion", "hourly | daily | weekly | monthly | annually annual yearly", "domestic | foreign international",
}

// commonPairs are words of more and less that stand in many a sentence.
var commonPairs = []string{"up | down", "greater | less"}

// opposites are words that deny each other.
var opposites = []string{
	"open opened | closed shut", "full | empty", "wet | dry", "hot | cold", "operational working | inoperative", "success successful successfully | unsuccessful unsuccessfully failed failure", "allow allowed permit permitted allows permits | prohibit prohibited forbid forbidden prohibits prevent prevented", "accept accepted accepts | reject rejected rejects refuse refused refuses",
	"start started begin began | stop stopped end ended", "positive | negative", "present presence | absent absence", "safe safely | unsafe unsafely dangerous", "always | never", "all every | none", "extend extended | retract retracted", "locked | unlocked", "legal lawful | illegal unlawful", "confirm confirmed | deny denied refute refuted",
	"alive survived survive survivor | dead died killed", "agreed agree | disagreed disagree", "include included including | exclude excluded excluding", "adequate adequately | inadequate inadequately", "proper properly | improper improperly", "able | unable", "sufficient | insufficient", "normal normally | abnormal abnormally",
}
