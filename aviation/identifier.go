package aviation

import (
	"regexp"
	"strings"

	"github.com/sextant-rag/sextant/constrain"
)

// Numbers that name one record or one aircraft, and numbers that name something else.

var (
	eventIDForm  = regexp.MustCompile(`^(?i)\d{8}X\d{5}$`)
	caseForm     = regexp.MustCompile(`^(?i)[A-Z]{3}\d{2}[A-Z]{2}\d{3}[A-Z]?$`)
	asianForm    = regexp.MustCompile(`^(JA\d{4}|JA\d{2}[A-Z]{2}|HL\d{4})$`) // written without a hyphen
	americanForm = regexp.MustCompile(`^(?i)N[1-9]\d{0,4}$|^(?i)N[1-9]\d{0,3}[A-HJ-NP-Z]$|^(?i)N[1-9]\d{0,2}[A-HJ-NP-Z]{2}$`)
)

// identifiers claims them token by token; only tokens with a digit, a hyphen or capitals
// can begin one.
func identifiers(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		for _, read := range []func(*constrain.Query, int) (constrain.Claim, bool){record, american, tailNumber, withoutPrefix, foreignMark, otherNumber} {
			if c, ok := read(q, i); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

func identified(i, to, weight int, field, value string) (constrain.Claim, bool) {
	return constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{constrain.Is(field, value)}, Weight: weight}, true
}

// record reads the NTSB's own numbers: of an event and of a case.
func record(q *constrain.Query, i int) (constrain.Claim, bool) {
	t := q.Tokens[i]
	switch {
	case !t.HasDigit() || len(t.Text) < 10:
	case eventIDForm.MatchString(t.Text):
		return identified(i, i+1, 9, "event_id", strings.ToUpper(t.Text))
	case caseForm.MatchString(t.Text):
		return identified(i, i+1, 8, "accident_number", strings.ToUpper(t.Text))
	}
	return constrain.Claim{}, false
}

func registration(s string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(s))
}

func knownMark(q *constrain.Query, mark string) bool {
	_, ok := q.Vocabulary.LookupFold("registration", mark)
	return ok
}

// american reads "N158WA", "n-158wa", "N 158 WA". Spaced it must be one of the records';
// two characters are an engine's speed as well.
func american(q *constrain.Query, i int) (constrain.Claim, bool) {
	t := q.Tokens[i]
	if t.Lower[0] != 'n' {
		return constrain.Claim{}, false
	}
	mark, to := strings.ToUpper(t.Text), i+1
	if t.Lower == "n" {
		if !q.Joined(to) || !q.Tokens[to].HasDigit() {
			return constrain.Claim{}, false
		}
		mark, to = mark+strings.ToUpper(q.Tokens[to].Text), to+1
		if q.Joined(to) && q.Tokens[to-1].Number() && len(q.Tokens[to].Text) <= 2 && knownMark(q, mark+q.Tokens[to].Text) {
			mark, to = mark+strings.ToUpper(q.Tokens[to].Text), to+1
		}
	}
	if !americanForm.MatchString(mark) {
		return constrain.Claim{}, false
	}
	spaced := to > i+1 && q.Gap(i+1) != "-"
	if !knownMark(q, mark) && (spaced || len(mark) < 3) || len(mark) == 2 && !markAhead[q.Word(i-1)] {
		return constrain.Claim{}, false
	}
	return identified(i, to, 7, "registration", mark)
}

// markAhead are words before a registration.
var (
	markAhead = wordSet(`tail registration registered reg mark marks number no aircraft registry`)
	tailWords = constrain.NewTable(map[string]bool{"tail": true, "tail number": true, "tail no": true, "tail nr": true, "registration": true, "registration number": true, "registration no": true, "registration mark": true,
		"registered as": true, "reg": true, "reg no": true, "reg number": true, "n number": true})
)

// tailNumber reads any mark after "tail number"; a bare American one gets its N.
func tailNumber(q *constrain.Query, i int) (constrain.Claim, bool) {
	_, at, ok := tailWords.At(q, i)
	if !ok || at >= len(q.Tokens) {
		return constrain.Claim{}, false
	}
	to := at + 1
	if q.Gap(to) == "-" && len(q.Tokens[at].Text) <= 2 {
		to++
	}
	mark := registration(q.Written(at, to))
	if len(mark) < 3 || len(mark) > 7 || to == at+1 && !q.Tokens[at].HasDigit() {
		return constrain.Claim{}, false
	}
	if mark[0] >= '0' && mark[0] <= '9' && !knownMark(q, mark) {
		mark = "N" + mark
	}
	return identified(i, to, 7, "registration", mark)
}

// withoutPrefix reads "5069P" for N5069P, if the records know it.
func withoutPrefix(q *constrain.Query, i int) (constrain.Claim, bool) {
	t := q.Tokens[i]
	if t.Number() || !t.HasDigit() || len(t.Text) < 5 || !americanForm.MatchString("N"+t.Text) || !knownMark(q, "N"+t.Text) {
		return constrain.Claim{}, false
	}
	return identified(i, i+1, -1, "registration", "N"+strings.ToUpper(t.Text))
}

// marks of other countries: the letters of their nationality and how many follow.
var marks = map[string]string{"g": "4", "c": "4", "d": "4", "f": "4", "i": "4", "vh": "3", "zk": "3", "zs": "3", "xa": "3", "xb": "3", "xc": "3", "pp": "3", "pr": "3", "pt": "3", "pu": "3", "hk": "34", "hp": "34", "hb": "3", "ei": "3", "ec": "3",
	"oe": "3", "oy": "3", "oo": "3", "ph": "3", "se": "3", "ln": "3", "oh": "3", "sp": "3", "cs": "3", "tc": "3", "lv": "34", "cc": "3", "cp": "4", "yv": "4", "ob": "4", "hc": "3", "tg": "3", "ti": "3", "vt": "3", "ap": "3", "pk": "3", "rp": "45", "hs": "3", "vr": "3", "vp": "3", "c6": "3", "9v": "3", "9m": "3", "4x": "3", "5y": "3", "ja": "4", "hl": "4"}

// foreignMark reads "G-BOAC", "C-GABC", "VH-OGH", and without the hyphen what the
// records know.
func foreignMark(q *constrain.Query, i int) (constrain.Claim, bool) {
	t := q.Tokens[i]
	if lengths, ok := marks[t.Lower]; ok && q.Gap(i+1) == "-" && q.Gap(i+2) != "-" {
		next := q.Tokens[i+1]
		mark := registration(t.Text + next.Text)
		if strings.Contains(lengths, string('0'+rune(len(next.Text)))) && next.Number() == (len(lengths) == 1 && lengths == "4" && len(t.Text) == 2) || knownMark(q, mark) {
			return identified(i, i+2, 6, "registration", mark)
		}
		return constrain.Claim{}, false
	}
	if asianForm.MatchString(t.Text) {
		return identified(i, i+1, 3, "registration", t.Text)
	}
	if len(t.Text) >= 5 && len(t.Text) <= 6 && t.Upper() && !q.AllUpper() && !t.Number() && t.Lower[0] != 'n' && !q.Lexicon.Words[t.Lower] && knownMark(q, t.Text) {
		return identified(i, i+1, 0, "registration", strings.ToUpper(t.Text))
	}
	return constrain.Claim{}, false
}

// otherNumbers are words before numbers that name something else: part numbers, flight
// numbers, directives, advisory circulars, engines' types.
var otherNumbers = constrain.NewTable(map[string]bool{"part number": true, "part no": true, "parts number": true, "p n": true, "pn": true, "ad": true, "ads": true, "airworthiness directive": true, "advisory circular": true, "ac": true,
	"flight": true, "flight no": true, "flight number": true, "flight level": true, "squawk": true, "squawked": true, "docket": true, "item": true, "runway": true, "runways": true, "rwy": true, "order": true, "stc": true, "serial number": true, "serial no": true, "s n": true, "sn": true,
	"service bulletin": true, "sb": true, "safety alert": true, "safo": true, "tso": true, "notam": true, "phone": true, "highway": true, "interstate": true, "us highway": true, "state highway": true, "route": true, "safety recommendation": true, "page": true, "chapter": true, "table": true, "seat": true, "row": true, "gate": true, "door": true, "room": true, "hangar": true, "cylinder": true, "station": true, "taxiway": true, "stand": true, "channel": true, "box": true, "tank": true, "fix": true, "annex": true, "aim": true, "form": true, "paragraph": true, "figure": true, "fig": true, "appendix": true, "exhibit": true, "volume": true, "task": true, "lesson": true, "step": true, "version": true, "level": true, "chart": true, "radial": true, "heading": true, "course": true})

// equipment is what makers of engines, propellers, instruments and tyres are called, and
// how their types begin; what follows is no aircraft's designation: "Garmin G1000",
// "Lycoming O-320", "PT6A-42".
var equipment = constrain.NewTable(map[string]bool{"lycoming": true, "continental": true, "pratt and whitney": true, "pratt whitney": true, "pw": true, "rolls royce": true, "allison": true, "garrett": true, "honeywell": true, "general electric": true, "ge": true, "rotax": true,
	"jacobs": true, "turbomeca": true, "arriel": true, "walter": true, "teledyne": true, "hartzell": true, "mccauley": true, "hamilton standard": true, "sensenich": true, "garmin": true, "bendix": true, "bendix king": true, "king": true, "collins": true, "avidyne": true, "narco": true,
	"s tec": true, "stec": true, "janitrol": true, "slick": true, "tempest": true, "goodyear": true, "michelin": true, "cleveland": true, "parker": true, "artex": true, "o": false, "io": false, "lio": false, "tio": false, "tsio": false, "gtsio": false, "aeio": false, "gio": false, "pt6": false, "pt6a": false, "tpe331": false, "tfe731": false, "jt8d": false, "jt9d": false, "cf6": false, "cfm56": false})

// otherNumber claims the number after such words, with the parts that a hyphen or stop
// joins to it ("AD 87-20-03 R2").
func otherNumber(q *constrain.Query, i int) (constrain.Claim, bool) {
	_, to, numbered := otherNumbers.At(q, i)
	switch {
	case !numbered:
		if to = equipmentType(q, i); to == i {
			return constrain.Claim{}, false
		}
	case to >= len(q.Tokens) || !q.Tokens[to].HasDigit() || strings.Trim(q.Gap(to), " #-:.") != "":
		return constrain.Claim{}, false
	default:
		to++
	}
	for q.Gap(to) == "-" || q.Gap(to) == "." || to < len(q.Tokens) && q.Gap(to) == " " && revision.MatchString(q.Tokens[to].Text) {
		to++
	}
	return constrain.Claim{From: i, To: to, Weight: 6}, true
}

// equipmentType returns the token after the first part of a type of equipment, i if there
// is none: a maker and a word with a digit or a hyphen, or "O-" and a number.
func equipmentType(q *constrain.Query, i int) int {
	maker, at, ok := equipment.At(q, i)
	switch {
	case !ok || at >= len(q.Tokens):
		return i
	case !maker && q.Gap(at) == "-" && q.Tokens[at].HasDigit():
		return at + 1
	case maker && q.Joined(at) && q.Gap(at) != "-" && !yearLike(q, at) && famous[q.Word(at)] == "" && (q.Tokens[at].HasDigit() || q.Gap(at+1) == "-" && len(q.Tokens[at].Text) <= 5):
		return at + 1
	}
	return i
}

var revision = regexp.MustCompile(`^R\d{1,2}$`)
