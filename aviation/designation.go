package aviation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

// How a type is read. People name a type in four ways: by its maker and a designation
// ("Cessna 172"), by a nickname ("Skyhawk", "Bonanza A36"), by a designation that
// nobody else's is ("SR22", "PA-28-161"), or by a number so famous that it needs no
// maker ("a 172", "747"). What a designation can be comes from the records: it stands
// in some model.

// standingMakers claims makers that stand by themselves, and misspelt ones.
func (n *names) standingMakers(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		if canonical, to, ok := n.makerAt(q, i); ok {
			if n.meant(q, i, to) && !(q.Joined(to) && streets[q.Word(to)]) && !(q.Word(to) == "s" && streets[q.Word(to+1)]) {
				end := apposed(q, to)
				if denied(q, i) {
					end = to
					for end > i+1 && apposition[q.Word(end-1)] { // "Robinson helicopters" is a maker's name as well
						end--
					}
				}
				out = append(out, constrain.Claim{From: i, To: end, Conditions: []constrain.Condition{constrain.Is("make", canonical)}, Weight: 4, Weak: n.weakness(q, i, to)})
			}
			continue
		}
		if near, assumed, ok := n.misspelt(q, i); ok && n.makerOf[near] != "" {
			c := constrain.Is("make", n.makerOf[near])
			c.Assumed = assumed
			out = append(out, constrain.Claim{From: i, To: i + 1, Conditions: []constrain.Condition{c}, Weak: constrain.WeakName})
		}
	}
	return out
}

// single are words before one of a kind.
var single = wordSet(`a an any another my his her their this that each every one`)

// ownTrouble is what only aircraft have.
var ownTrouble = wordSet(`gear engine engines prop propeller stall stalls overrun overruns groundloop groundloops ditching ditchings icing autorotation autorotations`)

var crewNouns = wordSet(`pilot pilots crew crews captain owner owners instructor`)

// weakness says whether a name needs company: one that is a plain word does, a maker's or a
// person's only before further words ("Cessna stock price").
func (n *names) weakness(q *constrain.Query, i, to int) constrain.Weakness {
	_, end, maker := n.makerAt(q, i)
	switch like := n.likeAt(q, i, to); {
	case like == likeNothing && !(maker && end == to):
		return constrain.Firm
	case crewNouns[q.Word(to)], q.Tokens[i].Capital() && ownTrouble[q.Word(to)]:
		return constrain.Firm // the Cherokee pilot, Centurion gear problems
	case like <= likeName || single[q.Word(i-1)] || q.Joined(i) && q.Tokens[i-1].Upper():
		return constrain.WeakNoun
	}
	return constrain.WeakName
}

// designations claims types.
func (n *names) designations(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		if canonical, to, ok := n.makerAt(q, i); ok {
			out = append(out, n.withMaker(q, i, to, canonical)...)
		} else if near, assumed, ok := n.misspelt(q, i); ok {
			out = append(out, n.misspeltType(q, i, near, assumed)...)
		}
		if nick, to, ok := n.nicknameAt(q, i); ok && n.meant(q, i, to) {
			c := n.nicknamed(q, i, to, nick)
			out = append(out, c)
			if c.To > to {
				out = append(out, n.furtherTypes(q, c.To, nick.make)...) // "King Air 200 or 350"
			}
		}
		out = append(out, n.alone(q, i)...)
	}
	out = append(out, n.deniedTypes(q, slices.Concat(out, n.standingMakers(q)))...)
	for k := range out {
		if out[k].To = n.calledAgain(q, out[k]); !denied(q, out[k].From) {
			out[k].To = apposed(q, out[k].To)
		}
	}
	return out
}

// calledAgain steps over the nickname that says again what a designation has said: the
// Bonanza of "Beech A36 Bonanza", the Tomahawk of "PA-38 (Tomahawk)". Together they would
// be read as alternatives, and every Bonanza would do.
func (n *names) calledAgain(q *constrain.Query, c constrain.Claim) int {
	nick, end, ok := n.nicknameAt(q, c.To)
	if !ok || len(c.Conditions) == 0 || !q.Joined(c.To) && q.Gap(c.To) != " (" {
		return c.To
	}
	last := c.Conditions[len(c.Conditions)-1]
	for _, v := range last.Values {
		designation := filter.Squeeze.Of(fmt.Sprint(v))
		if last.Field == "model" && slices.ContainsFunc(nick.models, func(family string) bool { return strings.Contains(designation, filter.Squeeze.Of(family)) }) {
			return end
		}
	}
	return c.To
}

// apposed steps over the noun of "R66 helicopters", which only says again what an R66
// is; the category, hardly ever recorded before 2004, would drop most of them.
func apposed(q *constrain.Query, to int) int {
	if q.Joined(to) && apposition[q.Word(to)] {
		return to + 1
	}
	if q.Word(to) == "the" && (apposition[q.Word(to+1)+"s"] || q.Word(to+1) == "plane" || q.Word(to+1) == "aircraft") { // "Cheyenne the airplane"
		return to + 2
	}
	return to
}

// denied reports whether a negation stands right before a name: "non-Robinson helicopters"
// are helicopters all the same.
func denied(q *constrain.Query, i int) bool {
	switch q.Word(i - 1) {
	case "non", "not", "than", "except", "excluding":
		return true
	}
	return false
}

var apposition = wordSet(`helicopters airplanes aeroplanes gliders balloons`)

// withMaker reads what follows a maker: a designation, a nickname, a word that stands
// in the records' models ("Aviat Husky"), and further designations of a list ("Cessna
// 172 and 182").
func (n *names) withMaker(q *constrain.Query, i, to int, canonical string) []constrain.Claim {
	if nick, end, ok := n.nicknameAt(q, to); ok && q.Joined(to) && (nick.make == canonical || nick.make == "") {
		c := n.nicknamed(q, to, end, nick)
		c.Weak = constrain.Firm
		c.From, c.Conditions = i, typed(canonical, false, c.Conditions[len(c.Conditions)-1].Values...)
		return []constrain.Claim{c}
	}
	end := n.designationAfter(q, to, canonical)
	if end == to {
		if c, ok := unknownModel(q, i, to, canonical); ok {
			return []constrain.Claim{c}
		}
		if _, end, ok := n.nicknameAt(q, i); ok && end > to {
			return nil // a Grumman Tiger is what the table says it is
		}
		return n.namedModel(q, i, to, canonical)
	}
	return append([]constrain.Claim{{From: i, To: end, Conditions: typed(canonical, false, model(q, to, end)), Weight: 5}}, n.furtherTypes(q, end, canonical)...)
}

// unknownModel reads a designation after its maker that no model of the records has: a
// condition that nothing satisfies, and the nearest that something would.
func unknownModel(q *constrain.Query, i, to int, canonical string) (constrain.Claim, bool) {
	end := to + 1
	if !q.Joined(to) || quantity(q, to) || yearLike(q, to) {
		return constrain.Claim{}, false
	}
	if q.Gap(end) == "-" && q.Tokens[end].HasDigit() && !q.Tokens[to].HasDigit() {
		end++
	}
	text := q.Written(to, end)
	if !modelForm.MatchString(text) || americanForm.MatchString(text) || strings.Trim(text, "0123456789") == "" && q.Joined(end) && !q.EventNoun(end) && !setting[q.Word(end)] {
		return constrain.Claim{}, false
	}
	name := strings.ToUpper(text)
	unknown := &sextant.UnknownValue{Text: text, Field: "model"}
	return constrain.Claim{From: i, To: end, Conditions: typed(canonical, false, name), Weight: 5, Unknown: unknown}, true
}

var modelForm = regexp.MustCompile(`^[A-Z]{0,4}-?\d{3}[A-Z]{0,2}$|^[A-Z]{1,4}-?\d{2}[A-Z]{0,2}$`)

// furtherTypes reads the rest of a list of one maker's designations.
func (n *names) furtherTypes(q *constrain.Query, end int, canonical string) []constrain.Claim {
	var out []constrain.Claim
	for end < len(q.Tokens) {
		next := end
		for q.Word(next) == "and" || q.Word(next) == "or" || q.Word(next) == "s" {
			next++
		}
		if gap := q.Gap(next); next == end && gap != ", " && gap != "/" && gap != " & " {
			break
		}
		last := n.designationAfter(q, next, canonical)
		if last <= next || !looksLike(q.Tokens[next].Text) || yearLike(q, next) {
			break
		}
		out = append(out, constrain.Claim{From: next, To: last, Conditions: typed(canonical, true, model(q, next, last)), Weight: 5})
		end = last
	}
	return out
}

// deniedTypes reads a designation of the one maker or family that a question names where
// it is taken out: "King Airs, not the 350".
func (n *names) deniedTypes(q *constrain.Query, named []constrain.Claim) []constrain.Claim {
	maker := onlyMaker(named)
	var out []constrain.Claim
	for i := range q.Tokens {
		_, at, ok := takenOut.At(q, i)
		if !ok || maker == "" || at >= len(q.Tokens) || !looksLike(q.Tokens[at].Text) || isRoman(q.Tokens[at].Text) {
			continue
		}
		if end := n.designationAfter(q, at, maker); end > at && !quantity(q, at) {
			out = append(out, constrain.Claim{From: at, To: end, Conditions: typed(maker, true, model(q, at, end)), Weight: 2})
		}
	}
	return out
}

var takenOut = constrain.NewTable(map[string]bool{"not the": true, "not": true, "except the": true, "except": true, "excluding the": true, "excluding": true, "other than the": true, "other than": true, "but not the": true, "but not": true, "minus the": true, "without the": true})

// onlyMaker returns the maker all claims are of, "" where there are several or none.
func onlyMaker(claims []constrain.Claim) string {
	maker := ""
	for _, c := range claims {
		if len(c.Conditions) == 0 || c.Conditions[0].Field != "make" {
			continue
		}
		m := fmt.Sprint(c.Conditions[0].Values[0])
		if maker != "" && maker != m {
			return ""
		}
		maker = m
	}
	return maker
}

// namedModel reads a model that is a word or letters: "Republic Seabee", "Remos GX". What
// follows the word says more: "Rockwell Commander 114".
func (n *names) namedModel(q *constrain.Query, i, to int, canonical string) []constrain.Claim {
	if !q.Joined(to) || q.Tokens[to].HasDigit() {
		return nil
	}
	t := q.Tokens[to]
	letters := t.Upper() && !q.AllUpper() && len(t.Text) <= 4 && q.Gap(to+1) != "-" && !notCodes[t.Lower] && !loadGazetteer().isCode(q, to)
	word := len(t.Text) >= 5 && (t.Capital() || q.AllLower()) && !q.Lexicon.Words[t.Lower]
	_, _, phrase := q.PhraseAt(to)
	_, _, maker := n.makerAt(q, to)
	if !letters && !word || phrase || maker || q.EventNoun(to) || loadGazetteer().placeAhead(q, to) || !q.Vocabulary.Contains("model", t.Text, few) {
		return nil
	}
	if end := n.designationAfter(q, to+1, canonical); end > to+1 && q.Joined(to+1) {
		return []constrain.Claim{{From: i, To: end, Conditions: typed(canonical, false, model(q, to+1, end)), Weight: 5}}
	}
	return []constrain.Claim{{From: i, To: to + 1, Conditions: typed(canonical, false, strings.ToUpper(t.Text)), Weight: 5}}
}

// misspeltType reads a type whose maker or nickname is misspelt: "Cesna 172".
func (n *names) misspeltType(q *constrain.Query, i int, near, assumed string) []constrain.Claim {
	var out []constrain.Claim
	if maker, ok := n.makerOf[near]; ok {
		out = n.withMaker(q, i, i+1, maker)
	} else {
		out = []constrain.Claim{n.nicknamed(q, i, i+1, n.nickOf[near])}
	}
	for k := range out {
		out[k].Conditions[0].Assumed, out[k].Weak = assumed, constrain.WeakName
	}
	return out
}

// nicknamed reads a nickname and the designation that may follow it: "Bonanza A36",
// "King Air 200", "Cherokee 140", "Tomahawk (PA-38)". Of a mark the records do not tell
// ("Warrior II") the type as a whole is meant.
func (n *names) nicknamed(q *constrain.Query, i, to int, nick nickname) constrain.Claim {
	claim := constrain.Claim{From: i, To: to, Conditions: typed(nick.make, true, anys(nick.models)...), Weight: 4, Weak: n.weakness(q, i, to)}
	bracket := q.Gap(to) == " ("
	end := n.designationAfter(q, to, nick.make)
	if end == to || !bracket && !q.Joined(to) {
		return claim
	}
	narrower := model(q, to, end)
	claim.To, claim.Weak = end, constrain.Firm
	switch joined := nick.models[0] + narrower; {
	case !bracket && q.Vocabulary.Contains("model", joined, 1):
		narrower = nick.models[0] + "-" + narrower // Cherokee 140 is a PA-28-140
	case isRoman(narrower):
		return claim
	}
	claim.Conditions = typed(nick.make, true, narrower)
	return claim
}

func typed(maker string, implied bool, models ...any) []constrain.Condition {
	var out []constrain.Condition
	if maker != "" {
		c := constrain.Is("make", maker)
		c.Implied = implied
		out = append(out, c)
	}
	return append(out, constrain.Contains("model", models...))
}

// model writes the designation of tokens [i, to) as the records do, in capitals with
// the hyphens as asked and without a plural s.
func model(q *constrain.Query, i, to int) string {
	text := q.Written(i, to)
	if s, ok := strings.CutSuffix(text, "s"); ok && strings.ContainsAny(text, "0123456789") {
		text = s
	}
	return strings.ToUpper(text)
}

// designationAfter returns the token after the longest designation that starts at
// token i and stands in some model of the records; i if there is none. maker is whose
// it is, "" if nobody is named.
func (n *names) designationAfter(q *constrain.Query, i int, maker string) int {
	if !opensDesignation(q, i, maker) {
		return i
	}
	best, text := i, ""
	for k := i; k < len(q.Tokens) && k < i+4 && (k == i || continuesDesignation(q, k)); k++ {
		t := q.Tokens[k].Text
		singular := text + strings.TrimSuffix(t, "s")
		if (strings.ContainsAny(singular, "0123456789") || isRoman(t) || t == "V" && k > i && q.Gap(k) == "-") && q.Vocabulary.Contains("model", singular, 1) {
			best = k + 1
		}
		text += t
	}
	if best > i && quantity(q, best-1) && (best == i+1 || q.Gap(best-1) == " ") {
		return i
	}
	return best
}

func opensDesignation(q *constrain.Query, i int, maker string) bool {
	if i >= len(q.Tokens) {
		return false
	}
	t := q.Tokens[i]
	if yearLike(q, i) && !(t.Text == "1900" && maker == "BEECH") {
		return false
	}
	if looksLike(t.Text) {
		return true
	}
	if hyphenated(q, i) {
		return true
	}
	if !designationPrefix[t.Lower] {
		return false
	}
	if wordPrefixes[t.Lower] {
		return t.Upper() && !q.AllUpper() && len(t.Text) > 1
	}
	return len(t.Text) > 1 || t.Capital() || q.AllLower()
}

// wordPrefixes are prefixes that are words as well: "at 300 feet".
var wordPrefixes = wordSet(`a at as be`)

func continuesDesignation(q *constrain.Query, k int) bool {
	t := q.Tokens[k]
	if !q.Joined(k) || !looksLike(t.Text) && len(t.Text) > 2 {
		return false
	}
	return t.Gap != " " || !yearLike(q, k) && (t.HasDigit() || isRoman(t.Text))
}

// hyphenated reports whether a short word is joined by a hyphen to digits: "PC-12".
func hyphenated(q *constrain.Query, i int) bool {
	return len(q.Tokens[i].Text) <= 4 && q.Gap(i+1) == "-" && q.Tokens[i+1].HasDigit()
}

var (
	designationPrefix = wordSet(`pa m mu sr da dhc dc md c b a bn at g s h r as ec be bo tb tbm ch rv t j aa ea emb erj crj atr l f cl md uh yak ak sgs asw bc cv`)
	notDesignation    = regexp.MustCompile(`^(?i:[qh][1-4]|fl\d+|\d+(st|nd|rd|th|am|pm|ft|kt|kts|hrs?|lbs?|mi|nm)|n\d+[a-z]*)$|^\d+s$`)
)

func isRoman(s string) bool {
	switch strings.ToLower(s) {
	case "ii", "iii", "iv", "vi":
		return true
	}
	return false
}

// looksLike reports whether a token can be (a part of) a designation: it has a digit
// or is a roman numeral, and is no ordinal, time or registration.
func looksLike(t string) bool {
	if !strings.ContainsAny(t, "0123456789") {
		return isRoman(t)
	}
	if strings.IndexByte("0123456789qhfnQHFN", t[0]) < 0 {
		return true
	}
	plural := strings.TrimSuffix(t, "s")
	return !notDesignation.MatchString(t) || plural != t && strings.Trim(plural, "0123456789") == "" && len(plural) <= 3
}

func yearLike(q *constrain.Query, i int) bool {
	t := q.Tokens[i]
	return t.Number() && len(t.Text) == 4 && (t.Text[:2] == "19" || t.Text[:2] == "20")
}

// counted are units and things after a number that it counts.
var counted = wordSet(`people persons passengers occupants souls aboard killed dead deaths fatalities injured injuries hours hour hrs feet foot ft knots kts knot mph miles mile nm minutes minute seconds second days day weeks week months month years year seat seats seater person passenger hp horsepower gallons
 gallon pounds pound lbs lb degrees degree rpm psi percent meters metres yards inches agl msl times crew pilots altimeter inches inhg hg mhz khz volts amps million billion`)

// quantity reports whether a bare number at token i counts what follows.
func quantity(q *constrain.Query, i int) bool {
	if !q.Tokens[i].Number() || !q.Joined(i+1) {
		return false
	}
	if w := q.Word(i + 1); counted[w] {
		return true
	}
	return q.Word(i+1) == "or" && (q.Word(i+2) == "more" || q.Word(i+2) == "fewer" || q.Word(i+2) == "less")
}
