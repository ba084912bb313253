package aviation

import (
	"regexp"
	"strings"

	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

// Designations that stand without a maker or a nickname: those nobody else's is, and
// numbers so famous that they need no maker.

// alone reads a designation that stands without maker or nickname.
func (n *names) alone(q *constrain.Query, i int) []constrain.Claim {
	t := q.Tokens[i]
	if c, ok := shortenedType(q, i); ok {
		return []constrain.Claim{c}
	}
	if q.Gap(i) == "-" && i > 0 && !q.Tokens[i-1].HasDigit() && len(q.Tokens[i-1].Text) <= 4 {
		return nil // the 47D of CH-47D
	}
	if t.Number() {
		return n.famousNumber(q, i)
	}
	if s, ok := strings.CutSuffix(t.Lower, "s"); ok && famous[s] != "" {
		return []constrain.Claim{{From: i, To: i + 1, Conditions: typed(famous[s], true, s), Weight: 3}}
	}
	end := n.designationAfter(q, i, "")
	if end == i {
		end = unheard(q, i)
	}
	if end == i || end == i+1 && isRoman(t.Text) {
		return nil
	}
	name := model(q, i, end)
	squeezed := filter.Squeeze.Of(name)
	if q.Gap(end) == "-" && q.Tokens[end].HasDigit() && len(squeezed) <= 3 {
		return nil // a number of something else: recommendation A-10-34
	}
	if len(squeezed) < 2 || strings.Trim(squeezed, "0123456789") == "" || !n.distinctive(q, i, name, squeezed) {
		return nil
	}
	return append([]constrain.Claim{{From: i, To: end, Conditions: typed(makerOfFamily(squeezed), true, name), Weight: 3}}, n.furtherTypes(q, end, makerOfFamily(squeezed))...)
}

// shortenedType reads "C172", "C-172" and "B737".
func shortenedType(q *constrain.Query, i int) (constrain.Claim, bool) {
	text, to := q.Tokens[i].Text, i+1
	if len(text) == 1 && (q.Gap(to) == "-" || q.Gap(to) == " ") && q.Tokens[to].HasDigit() {
		text, to = text+q.Tokens[to].Text, to+1
	}
	m := shortened.FindStringSubmatch(text)
	if m == nil || to == i+2 && q.Gap(i+1) == " " && (quantity(q, i+1) || famous[q.Word(i+1)] == "") {
		return constrain.Claim{}, false
	}
	maker, name := "CESSNA", m[1]
	if m[2] != "" {
		maker, name = "BOEING", m[2]
	}
	return constrain.Claim{From: i, To: to, Conditions: typed(maker, true, strings.ToUpper(name)), Weight: 5}, true
}

// unheard returns the token after a designation that the records do not hold but whose
// family everyone knows ("TBM 850"), or after a model of letters ("CTSW").
func unheard(q *constrain.Query, i int) int {
	t := q.Tokens[i]
	if q.Joined(i+1) && !wordPrefixes[t.Lower] && q.Tokens[i+1].Number() && len(t.Text) <= 3 && !t.HasDigit() && (t.Upper() || q.AllLower()) && makerOfFamily(filter.Squeeze.Of(q.Written(i, i+2))) != "" && !yearLike(q, i+1) {
		return i + 2
	}
	if !t.HasDigit() && t.Upper() && len(t.Text) == 4 && makerOfFamily(t.Text) != "" {
		return i + 1
	}
	if q.Gap(i+1) == "-" && t.Upper() && militaryLetters[t.Text] && militaryNumber.MatchString(q.Tokens[i+1].Text) && q.Gap(i+2) != "-" {
		return i + 2
	}
	return i
}

// Designations of the armed forces, which people ask for whether the records have them or
// not: F-16, CH-47D.
var (
	militaryLetters = map[string]bool{"A": true, "B": true, "C": true, "F": true, "T": true, "U": true, "KC": true, "EC": true, "UH": true, "CH": true, "AH": true, "OH": true, "HH": true, "MH": true, "TH": true, "MQ": true, "RQ": true, "SR": true, "FA": true}
	militaryNumber  = regexp.MustCompile(`^\d{2}[A-Z]?$`)
)

// distinctive reports whether a designation by itself is one: some models of the
// records begin with it, or have it as a word; two characters must be well known.
func (n *names) distinctive(q *constrain.Query, i int, name, squeezed string) bool {
	if makerOfFamily(squeezed) != "" && len(squeezed) >= 4 || unheard(q, i) > i {
		return true
	}
	if len(squeezed) == 2 {
		return makerOfFamily(squeezed) != "" || strings.Contains(name, "-") && q.Vocabulary.Begins("model", squeezed, few)
	}
	return q.Vocabulary.Begins("model", squeezed, 1) && q.Vocabulary.Contains("model", squeezed, 2) || len(squeezed) >= 5 && q.Vocabulary.Contains("model", squeezed, 2)
}

// families says whose a designation is by how it begins, letters and digits alone.
var families = []struct{ prefix, make string }{
	{"PA", "PIPER"}, {"SR2", "CIRRUS"}, {"R22", "ROBINSON"}, {"R44", "ROBINSON"}, {"R66", "ROBINSON"}, {"DHC", "DE HAVILLAND"}, {"M20", "MOONEY"},
	{"A300", "AIRBUS"}, {"A310", "AIRBUS"}, {"A318", "AIRBUS"}, {"A319", "AIRBUS"}, {"A32", "AIRBUS"}, {"A33", "AIRBUS"}, {"A34", "AIRBUS"}, {"A38", "AIRBUS"},
	{"MU2", "MITSUBISHI"}, {"PC12", "PILATUS"}, {"PC6", "PILATUS"}, {"PC7", "PILATUS"}, {"PC24", "PILATUS"}, {"DA20", "DIAMOND"}, {"DA40", "DIAMOND"}, {"DA42", "DIAMOND"},
	{"AT30", "AIR TRACTOR"}, {"AT40", "AIR TRACTOR"}, {"AT50", "AIR TRACTOR"}, {"AT60", "AIR TRACTOR"}, {"AT80", "AIR TRACTOR"}, {"AS350", "EUROCOPTER"}, {"AS355", "EUROCOPTER"}, {"EC1", "EUROCOPTER"},
	{"MD80", "MCDONNELL DOUGLAS"}, {"MD81", "MCDONNELL DOUGLAS"}, {"MD82", "MCDONNELL DOUGLAS"}, {"MD83", "MCDONNELL DOUGLAS"}, {"MD88", "MCDONNELL DOUGLAS"}, {"MD11", "MCDONNELL DOUGLAS"}, {"MD90", "MCDONNELL DOUGLAS"}, {"MD87", "MCDONNELL DOUGLAS"},
	{"S76", "SIKORSKY"}, {"S61", "SIKORSKY"}, {"S92", "SIKORSKY"}, {"S58", "SIKORSKY"}, {"EMB", "EMBRAER"}, {"ERJ", "EMBRAER"}, {"CL600", "BOMBARDIER"}, {"TB10", "SOCATA"}, {"TB20", "SOCATA"}, {"TBM7", "SOCATA"}, {"TBM8", "SOCATA"}, {"TBM9", "SOCATA"}, {"J3", "PIPER"},
	{"BC12", "TAYLORCRAFT"}, {"CTSW", "FLIGHT DESIGN"}, {"CTLS", "FLIGHT DESIGN"}, {"ASW", "SCHLEICHER"}, {"ASK21", "SCHLEICHER"}, {"SGS", "SCHWEIZER"}, {"BO105", "MBB"}, {"UPF7", "WACO"},
}

func makerOfFamily(squeezed string) string {
	for _, f := range families {
		if strings.HasPrefix(squeezed, f.prefix) {
			return f.make
		}
	}
	return ""
}

// famous are designations that are bare numbers and known by everyone, with their
// maker. Other bare numbers are numbers.
var famous = map[string]string{
	"140": "CESSNA", "150": "CESSNA", "152": "CESSNA", "170": "CESSNA", "172": "CESSNA", "175": "CESSNA", "177": "CESSNA", "180": "CESSNA", "182": "CESSNA", "185": "CESSNA", "188": "CESSNA", "195": "CESSNA",
	"206": "CESSNA", "207": "CESSNA", "208": "CESSNA", "210": "CESSNA", "310": "CESSNA", "337": "CESSNA", "340": "CESSNA", "402": "CESSNA", "414": "CESSNA", "421": "CESSNA",
	"707": "BOEING", "717": "BOEING", "727": "BOEING", "737": "BOEING", "747": "BOEING", "757": "BOEING", "767": "BOEING", "777": "BOEING", "787": "BOEING",
}

var shortened = regexp.MustCompile(`^(?i:c(1[4-9]\d[a-z]?|2[01]\d[a-z]?|3[0-4]\d[a-z]?|4[0-4]\d[a-z]?)s?|b(7[0-8]7)s?)$`)

// famousNumber reads "747 cargo accidents": a famous number that counts nothing.
func (n *names) famousNumber(q *constrain.Query, i int) []constrain.Claim {
	t := q.Tokens[i]
	maker := famous[t.Text]
	if maker == "" || strings.HasSuffix(t.Gap, ".") || strings.HasSuffix(t.Gap, "$") || strings.HasSuffix(t.Gap, "#") || quantity(q, i) || namedNumber(q, i) || t.Gap == "," {
		return nil
	}
	if unknownName(q, i) {
		return nil
	}
	if gap := q.Gap(i + 1); gap == "." || gap == "," || gap == "%" {
		return nil
	}
	if q.Gap(i+1) == "-" && q.Tokens[i+1].HasDigit() && q.Vocabulary.Contains("model", q.Written(i, i+2), 1) {
		return []constrain.Claim{{From: i, To: i + 2, Conditions: typed(maker, true, model(q, i, i+2)), Weight: 3}} // 737-300
	}
	return []constrain.Claim{{From: i, To: i + 1, Conditions: typed(maker, true, t.Text), Weight: 1}}
}

// namedNumber reports whether the word before a number says that it is something else's:
// "flight 447", "a heading of 210".
func namedNumber(q *constrain.Query, i int) bool {
	before := i - 1
	for before > 0 && (q.Word(before) == "of" || q.Word(before) == "is" || q.Word(before) == "was" || q.Word(before) == "to") {
		before--
	}
	return notBefore[q.Word(before)] || notBefore[q.Word(i-1)]
}

// unknownName reports whether a name that nothing is known of stands right before a number,
// which is a number of that and not the famous one: "Bel 206".
func unknownName(q *constrain.Query, i int) bool {
	if i == 0 || q.Gap(i) != " " || q.AllUpper() || titleCase(q) && len(q.Tokens) > 4 {
		return false
	}
	t := q.Tokens[i-1]
	return t.Capital() && !t.Upper() && !t.HasDigit() && len(t.Text) > 2 && !q.RealWord(t.Lower) && !q.EventNoun(i-1) && loadGazetteer().kindOf(q, i-1) == nameUnknown
}

var notBefore = wordSet(`wind winds part parts flight number no squawk runway than least over under most exactly about nearly some far item route highway heading level fl radial course first last top all only around approximately
 from interstate hwy page case room unit gate exit docket section between killed at`)
