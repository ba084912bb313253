package chunk

import "strings"

// abbreviation says what a word with a stop after it expects.
type abbreviation uint8

const (
	neverEnds    abbreviation = iota // never ends a sentence: a name or an explanation follows
	beforeNumber                     // does not end one before a number
	timeOfDay                        // ends one unless a day, a zone or lower case follows
	ofMeasure                        // ends one unless a direction, a datum ("MSL") or a figure follows
	inName                           // ends one only before a word that hardly occurs elsewhere
)

// abbreviations by their lower-case spelling without the last stop.
var abbreviations = tabulate(map[abbreviation]string{
	neverEnds: "e.g i.e eg vs v viz cf al incl mr mrs ms messrs dr prof hon rev capt cpt lt lt.col col gen adm cmdr maj sgt cpl pvt " +
		"gov sen rep pres supt insp",
	beforeNumber: "no nos num fl flt fig figs sec secs sect par para pp p pg vol art ch chap approx hwy rte rwy twy ref tab eq ser amdt rev " +
		"app appx attch alt elev item ex",
	timeOfDay: "a.m p.m am pm",
	ofMeasure: "ft in.hg lb lbs hr hrs min mins nm mi kt kts mph deg gal gals qt qts rpm sq cu",
	inName: "inc corp co ltd llc jr sr etc dept div bros assn ave blvd st mt ft rd rt mtn intl natl univ " +
		"jan feb mar apr jun jul aug sep sept oct nov dec ph.d m.d b.s d.c u.s u.s.a u.k u.n",
})

func tabulate(words map[abbreviation]string) map[string]abbreviation {
	out := map[string]abbreviation{}
	for kind := neverEnds; kind <= inName; kind++ {
		for word := range strings.FieldsSeq(words[kind]) {
			if _, taken := out[word]; !taken {
				out[word] = kind
			}
		}
	}
	return out
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		out[word] = true
	}
	return out
}

// dayOrZone follows a time of day within its sentence.
var dayOrZone = set("eastern central mountain pacific alaska alaskan hawaii hawaiian atlantic greenwich coordinated zulu local universal " +
	"monday tuesday wednesday thursday friday saturday sunday " +
	"january february march april may june july august september october november december")

// afterUnit continues a measure in texts in capitals: "5 MI. NORTH OF", "900 FT. MSL".
var afterUnit = set("agl msl hg above below north south east west northeast northwest southeast southwest " +
	"of from to and or by x long wide high deep before after")

// Words that begin a sentence after an abbreviation. In capitals any word may stand
// there, so only those count that hardly follow a name.
var (
	openers = set("the a an it he she they we i this that these those there his her its their in on at after before during when while as " +
		"although because according upon following if for from with by both no one two however subsequently additionally " +
		"about approximately examination visual weather witnesses")
	openersInCapitals = set("the he she it they this that these those there his her however subsequently examination")
)

func begins(word string) bool {
	if isCapitals(word) {
		return openersInCapitals[strings.ToLower(word)]
	}
	return openers[strings.ToLower(word)]
}
