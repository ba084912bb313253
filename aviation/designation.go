package aviation

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

//go:embed vocabulary/designations.tsv
var designationTable string

//go:embed vocabulary/makers.txt
var makerTable string

// nickname is what people call a type: its maker ("" is none) and the parts of the
// model that the records know it by.
type nickname struct {
	make   string
	models []string
}

// names finds makers, nicknames and designations in a question.
type names struct {
	makerWords map[string]string // words -> canonical maker
	nicknames  map[string]nickname
	longest    int
	oneWord    []string // makers of one word, for misspellings
}

var loadNames = sync.OnceValue(func() *names {
	n := &names{makerWords: map[string]string{}, nicknames: map[string]nickname{}}
	for canonical := range makeGroups() {
		n.addMaker(canonical, canonical)
	}
	for line := range lines(makerTable) {
		if words, canonical, ok := strings.Cut(line, "="); ok {
			n.addMaker(words, strings.TrimSpace(canonical))
		}
	}
	for line := range lines(designationTable) {
		cells := strings.Split(line, "\t")
		if len(cells) != 3 {
			panic("aviation: designations: " + line)
		}
		nick := nickname{make: strings.Trim(cells[1], "- "), models: strings.Split(cells[2], "|")}
		if cells[1] != "-" {
			nick.make = cells[1]
		}
		for words := range strings.SplitSeq(cells[0], "|") {
			key := strings.Join(constrain.Words(words), " ")
			n.nicknames[key] = nick
			n.longest = max(n.longest, len(strings.Fields(key)))
		}
	}
	slices.Sort(n.oneWord)
	return n
})

// lines yields the lines of a table that are neither blank nor comments.
func lines(table string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(table) {
			line = strings.TrimRight(line, "\r\n")
			if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if !yield(line) {
				return
			}
		}
	}
}

func (n *names) addMaker(words, canonical string) {
	w := constrain.Words(words)
	n.makerWords[strings.Join(w, " ")] = canonical
	n.longest = max(n.longest, len(w))
	if len(w) == 1 && len(w[0]) >= 5 {
		n.oneWord = append(n.oneWord, w[0])
	}
}

// longestName returns the longest run of tokens from i, its last word perhaps in the
// plural, that is a key of m.
func longestName[V any](q *constrain.Query, i, longest int, m map[string]V) (V, int, bool) {
	var best V
	to := i
	key := ""
	for k := i; k < len(q.Tokens) && k < i+longest; k++ {
		t := q.Tokens[k]
		if k > i && strings.Trim(t.Gap, " -–/.'’") != "" {
			break
		}
		if k > i {
			key += " "
		}
		for _, w := range forms(t.Lower) {
			if v, ok := m[key+w]; ok {
				best, to = v, k+1
				break
			}
		}
		key += t.Lower
	}
	return best, to, to > i
}

func forms(w string) []string {
	out := []string{w}
	if s, ok := strings.CutSuffix(w, "s"); ok && len(s) > 2 {
		out = append(out, s)
	}
	return out
}

func (n *names) makerAt(q *constrain.Query, i int) (string, int, bool) {
	return longestName(q, i, n.longest, n.makerWords)
}

func (n *names) nicknameAt(q *constrain.Query, i int) (nickname, int, bool) {
	return longestName(q, i, n.longest, n.nicknames)
}

// makers claims makers that stand by themselves, and misspelt ones.
func (n *names) makers(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		if canonical, to, ok := n.makerAt(q, i); ok && n.meant(q, i, to) {
			if to < len(q.Tokens) && joined(q, to) && apposition[q.Tokens[to].Lower] {
				to++
			}
			out = append(out, constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{constrain.Is("make", canonical)}, Weight: 4})
			continue
		}
		if canonical, assumed, ok := n.misspelt(q, i); ok {
			c := constrain.Is("make", canonical)
			c.Assumed = assumed
			out = append(out, constrain.Claim{From: i, To: i + 1, Conditions: []constrain.Condition{c}})
		}
	}
	return out
}

func (n *names) misspelt(q *constrain.Query, i int) (canonical, assumed string, ok bool) {
	near, ok := q.Nearest(q.Tokens[i].Lower, n.oneWord)
	if !ok {
		return "", "", false
	}
	return n.makerWords[near], "“" + q.Tokens[i].Text + "” read as “" + near + "”", true
}

// plainWords are makers and nicknames that are words of the language or places too:
// they need a word beside them that says an aircraft is meant.
var plainWords = wordSet(`lake extra quest champion diamond bell let raven helio republic globe republic vans convair ryan cameron douglas lockheed fairchild hiller navion waco rans
 arrow warrior archer seneca comanche apache aztec navajo cheyenne cardinal baron duke beaver otter champ tomahawk caravan malibu seminole saratoga pawnee challenger phenom merlin islander
 zodiac thrush dauphin jetstream huey cherokee musketeer duchess brasilia decathlon citabria otter aerostar kodiak hughes pitts`)

var aircraftWords = wordSet(`aircraft airplane airplanes plane planes helicopter helicopters amphibian amphibians seaplane floatplane jet jets accident accidents crash crashes crashed incident incidents fatal fatals
 event events mishap mishaps series twin taildragger biplane stall stalls gear engine forced crashing flown owners rg pilots tail rotor wing spin`)

// meant tells the maker or type from the plain word.
func (n *names) meant(q *constrain.Query, i, to int) bool {
	if to-i > 1 || !plainWords[strings.TrimSuffix(q.Tokens[i].Lower, "s")] && !plainWords[q.Tokens[i].Lower] {
		return true
	}
	if to < len(q.Tokens) && joined(q, to) && (aircraftWords[q.Tokens[to].Lower] || n.designationAfter(q, to) > to) {
		return q.Tokens[i].Capital() || q.AllLower() || n.designationAfter(q, to) > to
	}
	if !q.Tokens[i].Capital() && !q.AllLower() {
		return false
	}
	if i > 0 && i+1 < len(q.Tokens) && q.Tokens[i-1].Lower == "the" && q.Tokens[to].Lower == "nation" {
		return false
	}
	before := ""
	if i > 0 && joined(q, i) {
		before = q.Tokens[i-1].Lower
	}
	switch before {
	case "a", "an", "the", "or", "and", "piper", "cessna", "beech", "than", "of", "involving", "in", "fatal", "with":
		return before != "in" || !placeAhead(q, to)
	}
	return i > 0 && (q.Tokens[i].Gap == ", " || q.Tokens[i].Gap == " (") && q.Tokens[i].Capital() && !placeAhead(q, to)
}

func joined(q *constrain.Query, i int) bool {
	return strings.Trim(q.Tokens[i].Gap, " -–/.'’‐‑&") == ""
}

// designations claims types: a maker with a designation ("Cessna 172"), a nickname
// ("Skyhawk"), or a designation by itself ("SR22", "PA-28-161").
func (n *names) designations(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		if canonical, to, ok := n.makerAt(q, i); ok {
			out = append(out, n.withMaker(q, i, to, canonical)...)
		} else if canonical, assumed, ok := n.misspelt(q, i); ok {
			for _, c := range n.withMaker(q, i, i+1, canonical) {
				c.Conditions[0].Assumed = assumed
				out = append(out, c)
			}
		}
		if nick, to, ok := n.nicknameAt(q, i); ok && n.meant(q, i, to) {
			out = append(out, n.nicknamed(q, i, to, nick)...)
		}
		out = append(out, n.alone(q, i)...)
	}
	for k := range out {
		if to := out[k].To; to < len(q.Tokens) && joined(q, to) && apposition[q.Tokens[to].Lower] {
			out[k].To++
		}
	}
	return out
}

// apposition: in "R66 helicopters" the noun only says again what an R66 is; the
// category, hardly ever recorded before 2004, would drop most of them.
var apposition = wordSet(`helicopters airplanes aeroplanes gliders balloons`)

// withMaker reads what follows a maker: a designation, a nickname, and further
// designations of a list ("Cessna 172 and 182").
func (n *names) withMaker(q *constrain.Query, i, to int, canonical string) []constrain.Claim {
	if nick, end, ok := n.nicknameAt(q, to); ok && to < len(q.Tokens) && joined(q, to) && (nick.make == canonical || nick.make == "") {
		out := n.nicknamed(q, to, end, nick)
		for k := range out {
			out[k].From = i
			out[k].Conditions = typed(canonical, false, values(out[k].Conditions)...)
		}
		return out
	}
	end := n.designationAfter(q, to)
	if end == to {
		return nil
	}
	out := []constrain.Claim{{From: i, To: end, Conditions: typed(canonical, false, model(q, to, end)), Weight: 5}}
	for end < len(q.Tokens) {
		next := end
		for next < len(q.Tokens) && slices.Contains([]string{"and", "or", "s"}, q.Tokens[next].Lower) {
			next++
		}
		if next >= len(q.Tokens) || next == end && q.Tokens[next].Gap != ", " && q.Tokens[next].Gap != "/" {
			break
		}
		last := n.designationAfter(q, next)
		if last == next || !looksLike(q.Tokens[next].Text) || yearLike(q, next) {
			break
		}
		out = append(out, constrain.Claim{From: next, To: last, Conditions: typed(canonical, true, model(q, next, last)), Weight: 5})
		end = last
	}
	return out
}

// nicknamed reads a nickname and the designation that may follow it: "Bonanza A36",
// "King Air 200", "Cherokee 140".
func (n *names) nicknamed(q *constrain.Query, i, to int, nick nickname) []constrain.Claim {
	models := nick.models
	if end := n.designationAfter(q, to); end > to && joined(q, to) {
		narrower := model(q, to, end)
		if q.Vocabulary.Containing("model", models[0]+narrower) > 0 {
			narrower = models[0] + "-" + narrower // Cherokee 140 is a PA-28-140
		}
		models, to = []string{narrower}, end
	} else if end, name := n.inBrackets(q, to); end > to {
		models, to = []string{name}, end
	}
	return []constrain.Claim{{From: i, To: to, Conditions: typed(nick.make, true, anys(models)...), Weight: 4}}
}

// inBrackets reads the designation after a nickname: "tomahawk (pa-38)".
func (n *names) inBrackets(q *constrain.Query, to int) (int, string) {
	if to < len(q.Tokens) && q.Tokens[to].Gap == " (" {
		if end := n.designationAfter(q, to); end > to {
			return end, model(q, to, end)
		}
	}
	return to, ""
}

func typed(maker string, implied bool, models ...any) []constrain.Condition {
	var out []constrain.Condition
	if maker != "" {
		c := constrain.Is("make", maker)
		c.Implied = implied
		out = append(out, c)
	}
	return append(out, constrain.Condition{Field: "model", Op: sextant.OpContains, Values: models})
}

func values(conditions []constrain.Condition) []any {
	return conditions[len(conditions)-1].Values
}

func anys(ss []string) []any {
	out := make([]any, len(ss))
	for i, s := range ss {
		out[i] = s
	}
	return out
}

// model writes the designation of tokens [i, to) as the records do, in capitals with
// the hyphens as asked and without a plural s.
func model(q *constrain.Query, i, to int) string {
	text := q.Text[q.Tokens[i].Start:q.Tokens[to-1].End]
	if s, ok := strings.CutSuffix(text, "s"); ok && strings.ContainsAny(text, "0123456789") {
		text = s
	}
	return strings.ToUpper(text)
}

// designationAfter returns the token after the longest designation that starts at
// token i and stands in some model of the records; i if there is none.
func (n *names) designationAfter(q *constrain.Query, i int) int {
	best, text := i, ""
	for k := i; k < len(q.Tokens) && k < i+4; k++ {
		if k > i && !joined(q, k) {
			break
		}
		t := q.Tokens[k].Text
		if k == i && !looksLike(t) && !designationPrefix[q.Tokens[k].Lower] && !hyphenated(q, k) || k == i && yearLike(q, k) {
			break
		}
		if k > i && !looksLike(t) && len(t) > 2 {
			break
		}
		if k > i && q.Tokens[k].Gap == " " && (yearLike(q, k) || !strings.ContainsAny(t, "0123456789") && !roman[q.Tokens[k].Lower]) {
			break
		}
		text += strings.TrimSuffix(t, "s")
		if strings.ContainsAny(text, "0123456789") || roman[strings.ToLower(text)] {
			if q.Vocabulary.Containing("model", text) > 0 {
				best = k + 1
			}
		}
		text = strings.TrimSuffix(text, strings.TrimSuffix(t, "s")) + t
	}
	if best == i+1 && quantity(q, i) {
		return i
	}
	return best
}

// hyphenated reports whether a short word is joined by a hyphen to digits: "PC-12".
func hyphenated(q *constrain.Query, i int) bool {
	return len(q.Tokens[i].Text) <= 4 && i+1 < len(q.Tokens) && q.Tokens[i+1].Gap == "-" && strings.ContainsAny(q.Tokens[i+1].Text, "0123456789")
}

var (
	designationPrefix = wordSet(`pa m mu sr da dhc dc md c b a bn at g s h r as ec be bo tb ch rv t j aa ea emb erj crj atr l f cl md uh`)
	roman             = wordSet(`ii iii iv vi`)
	notDesignation    = regexp.MustCompile(`^(?i:[qh][1-4]|fl\d+|\d+(st|nd|rd|th|am|pm|ft|kt|kts|hrs?|lbs?|mi|nm|s)|n\d+[a-z]*)$`)
)

// looksLike reports whether a token can be (a part of) a designation: it has a digit
// or is a roman numeral, and is no ordinal, time or registration.
func looksLike(t string) bool {
	plural := strings.TrimSuffix(t, "s")
	if notDesignation.MatchString(t) && !(plural != t && strings.Trim(plural, "0123456789") == "" && len(plural) <= 3) {
		return false
	}
	return strings.ContainsAny(t, "0123456789") || roman[strings.ToLower(t)]
}

func yearLike(q *constrain.Query, i int) bool {
	t := q.Tokens[i].Text
	return len(t) == 4 && (t[:2] == "19" || t[:2] == "20") && strings.Trim(t, "0123456789") == "" && t != "1900" && t != "2000"
}

// quantity reports whether a bare number at token i counts what follows.
func quantity(q *constrain.Query, i int) bool {
	if strings.Trim(q.Tokens[i].Text, "0123456789") != "" || i+1 >= len(q.Tokens) {
		return false
	}
	switch q.Tokens[i+1].Lower {
	case "people", "hours", "hour", "feet", "ft", "killed", "dead", "deaths", "knots", "miles", "passengers", "occupants", "fatalities", "minutes", "days", "years", "or", "injuries":
		return q.Tokens[i+1].Lower != "or" || i+2 < len(q.Tokens) && (q.Tokens[i+2].Lower == "more" || q.Tokens[i+2].Lower == "fewer")
	}
	return false
}

// families says whose a designation is by how it begins, letters and digits alone.
var families = []struct{ prefix, make string }{
	{"PA", "PIPER"}, {"SR2", "CIRRUS"}, {"R22", "ROBINSON"}, {"R44", "ROBINSON"}, {"R66", "ROBINSON"}, {"DHC", "DE HAVILLAND"}, {"M20", "MOONEY"},
	{"A300", "AIRBUS"}, {"A310", "AIRBUS"}, {"A318", "AIRBUS"}, {"A319", "AIRBUS"}, {"A32", "AIRBUS"}, {"A33", "AIRBUS"}, {"A34", "AIRBUS"}, {"A38", "AIRBUS"},
	{"MU2", "MITSUBISHI"}, {"PC12", "PILATUS"}, {"PC6", "PILATUS"}, {"PC7", "PILATUS"}, {"PC24", "PILATUS"}, {"DA20", "DIAMOND"}, {"DA40", "DIAMOND"}, {"DA42", "DIAMOND"},
	{"AT30", "AIR TRACTOR"}, {"AT40", "AIR TRACTOR"}, {"AT50", "AIR TRACTOR"}, {"AT60", "AIR TRACTOR"}, {"AT80", "AIR TRACTOR"}, {"AS350", "EUROCOPTER"}, {"AS355", "EUROCOPTER"}, {"EC1", "EUROCOPTER"},
	{"MD80", "MCDONNELL DOUGLAS"}, {"MD81", "MCDONNELL DOUGLAS"}, {"MD82", "MCDONNELL DOUGLAS"}, {"MD83", "MCDONNELL DOUGLAS"}, {"MD88", "MCDONNELL DOUGLAS"}, {"MD11", "MCDONNELL DOUGLAS"}, {"MD90", "MCDONNELL DOUGLAS"},
	{"S76", "SIKORSKY"}, {"S61", "SIKORSKY"}, {"S92", "SIKORSKY"}, {"EMB", "EMBRAER"}, {"ERJ", "EMBRAER"}, {"CL600", "BOMBARDIER"}, {"TB10", "SOCATA"}, {"TB20", "SOCATA"}, {"TBM", "SOCATA"}, {"J3", "PIPER"},
}

// numbered are designations that are bare numbers and known by everyone, with their
// maker. Other bare numbers are numbers.
var numbered = map[string]string{
	"140": "CESSNA", "150": "CESSNA", "152": "CESSNA", "170": "CESSNA", "172": "CESSNA", "175": "CESSNA", "177": "CESSNA", "180": "CESSNA", "182": "CESSNA", "185": "CESSNA", "188": "CESSNA", "195": "CESSNA",
	"206": "CESSNA", "207": "CESSNA", "208": "CESSNA", "210": "CESSNA", "310": "CESSNA", "337": "CESSNA", "340": "CESSNA", "402": "CESSNA", "414": "CESSNA", "421": "CESSNA",
	"707": "BOEING", "717": "BOEING", "727": "BOEING", "737": "BOEING", "747": "BOEING", "757": "BOEING", "767": "BOEING", "777": "BOEING", "787": "BOEING",
}

var shortened = regexp.MustCompile(`^(?i)(c)(1[4-9]\d[a-z]?|2[01]\d[a-z]?|3[0-4]\d[a-z]?|4[0-4]\d[a-z]?)s?$|^(?i)(b)(7[0-8]7)s?$`)

// alone reads a designation that stands without maker or nickname.
func (n *names) alone(q *constrain.Query, i int) []constrain.Claim {
	t := q.Tokens[i]
	if m := shortened.FindStringSubmatch(t.Text); m != nil { // C172, B737
		maker, name := "CESSNA", m[2]
		if m[3] != "" {
			maker, name = "BOEING", m[4]
		}
		return []constrain.Claim{{From: i, To: i + 1, Conditions: typed(maker, true, strings.ToUpper(name)), Weight: 5}}
	}
	if t.Number() || t.Number() && len(t.Text) == 3 {
		return n.bareNumber(q, i)
	}
	if s, ok := strings.CutSuffix(t.Lower, "s"); ok && numbered[s] != "" && len(s) == 3 {
		return []constrain.Claim{{From: i, To: i + 1, Conditions: typed(numbered[s], true, s), Weight: 3}}
	}
	end := n.designationAfter(q, i)
	if end == i || !strings.ContainsAny(strings.ToLower(q.Text[t.Start:q.Tokens[end-1].End]), "abcdefghijklmnopqrtuvwxyz") && end == i+1 {
		return nil
	}
	name := model(q, i, end)
	squeezed := filter.Squeeze.Of(name)
	if len(squeezed) < 2 || q.Vocabulary.Containing("model", squeezed) < 2 {
		return nil
	}
	maker := ""
	for _, f := range families {
		if strings.HasPrefix(squeezed, f.prefix) {
			maker = f.make
			break
		}
	}
	return []constrain.Claim{{From: i, To: end, Conditions: typed(maker, true, name), Weight: 3}}
}

// bareNumber reads "747 cargo accidents": a famous number that counts nothing.
func (n *names) bareNumber(q *constrain.Query, i int) []constrain.Claim {
	t := q.Tokens[i]
	maker := numbered[t.Text]
	if maker == "" || strings.HasSuffix(t.Gap, ".") || quantity(q, i) || i > 0 && (notBefore[q.Tokens[i-1].Lower] || q.Tokens[i-1].Number() && t.Gap == ",") {
		return nil
	}
	if i+1 < len(q.Tokens) && (q.Tokens[i+1].Gap == "." || q.Tokens[i+1].Gap == ",") {
		return nil
	}
	return []constrain.Claim{{From: i, To: i + 1, Conditions: typed(maker, true, t.Text), Weight: 1}}
}

var notBefore = wordSet(`part parts flight number no squawk runway than least over under most exactly about nearly some far item route highway heading part`)
