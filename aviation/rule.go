package aviation

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// Citations of Title 14, and parts of it as the operating rule of a flight. "Part 135"
// is either: what accidents happened under, or what a question asks about.

// ruleParts are the parts of 14 CFR that are cited without saying so.
var ruleParts = wordSet(`1 21 23 25 27 29 33 39 43 45 61 63 65 67 68 71 73 91 93 95 97 103 105 107 110 119 120 121 125 129 133 135 136 137 139 141 142 145 147 183 830`)

// citing are words before a section.
var citing = constrain.NewTable(map[string]bool{"cfr": true, "c f r": true, "14 cfr": true, "14 c f r": true, "14 cfr part": true, "14 c f r part": true, "title 14": true, "title 14 cfr": true, "far": true, "fars": true, "far part": true, "section": true, "sections": true, "sec": true, "secs": true,
	"reg": true, "regs": true, "regulation": true, "regulations": true, "rule": true, "49 cfr": false, "49 c f r": false, "48 cfr": false, "48 c f r": false})

var (
	sectionPart = regexp.MustCompile(`^(?i:(?:14)?(?:cfr|far)s?)?(\d{1,3})$`)
	sectionSub  = regexp.MustCompile(`^(\d{1,4}[a-z]?)$`)
	paragraph   = regexp.MustCompile(`^(?i:\d{1,2}|[a-z]{1,4})$`)
)

// sections claims citations: "91.155", "14 CFR 91.155(b)(2)", "§ 135.89(b)", "FAR 23.1309",
// and the other regulation that is called FAR.
func sections(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i, t := range q.Tokens {
		if gap := q.Gap(i + 1); !t.HasDigit() || gap != "." && gap != "-" {
			continue
		}
		part, sub := sectionPart.FindStringSubmatch(t.Text), sectionSub.FindStringSubmatch(q.Word(i+1))
		if part == nil || sub == nil || i > 0 && t.Gap == "." {
			continue
		}
		to := paragraphs(q, i+2)
		from, title14, cited := citedFrom(q, i)
		if q.Gap(i+1) == "-" && (!cited || !title14 || len(sub[1]) < 2 || isOperatingPart(sub[1]) || strings.HasPrefix(q.Word(i-1), "part")) {
			continue // FAR 91-205, but not parts 91-135
		}
		cited = cited || len(part[0]) > len(part[1])
		switch {
		case cited && !title14 || q.Gap(to) == "-": // 48 CFR 52.212-4
			out = append(out, constrain.Claim{From: from, To: min(to+1, len(q.Tokens)), Weight: 9, Cannot: &sextant.Unenforceable{Field: "cfr_section", Reason: "this is another title of the Code of Federal Regulations; 14 CFR is what is held"}})
		case !cited && counted[q.Word(to)]: // 29.92 inches
		case !cited && len(part[1]) < 3 && part[1] < "43" && len(q.Tokens) > 4 && !aboutRules(q): // an altimeter setting of 29.92
		case cited || ruleParts[part[1]] && (len(sub[1]) > 1 || to > i+2 || aboutRules(q) && q.Word(i-1) != "on"):
			out = append(out, constrain.Claim{From: from, To: to, Conditions: []constrain.Condition{constrain.Is("cfr_section", part[1]+"."+sub[1])}, Weight: 7})
		}
	}
	return out
}

// paragraphs steps over "(b)(2)" and "paragraph b".
func paragraphs(q *constrain.Query, i int) int {
	for {
		gap := q.Gap(i)
		switch {
		case (gap == "(" || gap == " (" || gap == ")(" || gap == ") (") && paragraph.MatchString(q.Word(i)) && strings.HasPrefix(q.Text[q.Tokens[i].End:], ")"):
			i++
		case q.Word(i) == "paragraph" && i+1 < len(q.Tokens) && paragraph.MatchString(q.Word(i+1)):
			i += 2
		default:
			return i
		}
	}
}

// citedFrom looks back for the words of a citation; title14 is false where they name
// another title.
func citedFrom(q *constrain.Query, i int) (from int, title14, cited bool) {
	for back := min(i, 4); back > 0; back-- {
		if title, to, ok := citing.At(q, i-back); ok && to == i && strings.Trim(q.Gap(i), " §.") == "" {
			return i - back, title, true
		}
	}
	return i, true, strings.Contains(q.Gap(i), "§")
}

var (
	partWords  = constrain.NewTable(map[string]bool{"part": true, "parts": true, "far part": true, "far parts": true, "14 cfr part": true, "14 cfr parts": true, "cfr part": true, "14 c f r part": true, "far": true, "fars": true, "14 cfr": true, "14 c f r": true, "under": false, "pt": true})
	partNumber = regexp.MustCompile(`^(?i)\d{1,3}K?$`)
)

// operatingParts claims "Part 135", "parts 121 and 135", "135 operators".
func operatingParts(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		if certain, at, ok := partWords.At(q, i); ok {
			out = append(out, partsAt(q, i, at, certain)...)
		}
		if isOperatingPart(q.Word(i)) && q.Joined(i+1) && operations[q.Word(i+1)] {
			out = append(out, constrain.Claim{From: i, To: i + 2, Conditions: []constrain.Condition{partCondition(q, i+2, strings.ToUpper(q.Tokens[i].Text))}, Weight: 3})
		}
	}
	return out
}

var operations = wordSet(`carrier carriers flight flights operation operations operator operators airline airlines ops cargo freight freighter freighters charter charters commuter commuters passenger certificate on_demand ag`)

// partsAt reads the numbers after "parts": one, or a list.
func partsAt(q *constrain.Query, from, at int, certain bool) []constrain.Claim {
	var out []constrain.Claim
	for at < len(q.Tokens) && partNumber.MatchString(q.Tokens[at].Text) && q.Gap(at+1) != "." {
		number := q.Word(at)
		if !certain && !isOperatingPart(number) || !certain && quantity(q, at) || certain && at == from+1 && !ruleParts[strings.TrimSuffix(number, "k")] && !aboutRules(q) {
			break // part 2 of the series
		}
		if certain && q.HasWords(at+1, "of", "the") && !codeOf[q.Word(at+3)] || q.HasWords(at+1, "of", "a") {
			break // part 2 of the report
		}
		to := at + 1
		if q.HasWords(to, "subpart", "k") && number == "91" {
			number, to = "91k", to+2
		}
		if !sectionOf(q, number) {
			out = append(out, constrain.Claim{From: from, To: to, Conditions: []constrain.Condition{partCondition(q, to, strings.ToUpper(number))}, Weight: 6})
		}
		next := q.Skip(to, "and", "or", "nor")
		if next == to && q.Gap(to) != ", " && q.Gap(to) != "/" || !isOperatingPart(q.Word(next)) {
			break
		}
		from, at = next, next
	}
	return out
}

// codeOf are what the parts of the regulations are parts of.
var codeOf = wordSet(`federal fars far cfr regulations regs rules code aviation`)

// sectionOf reports whether the question cites a section of the part, which says more.
func sectionOf(q *constrain.Query, part string) bool {
	for i := range q.Tokens {
		if q.Word(i) == part && q.Gap(i+1) == "." && sectionSub.MatchString(q.Word(i+1)) {
			return true
		}
	}
	return false
}

var operatingRules = []string{"91", "91k", "103", "121", "125", "129", "133", "135", "137"}

func isOperatingPart(s string) bool { return slices.Contains(operatingRules, strings.ToLower(s)) }

var ruleVerbs = wordSet(`say says require requires required allow allows permit permits prohibit prohibits mandate mandates define defines cover covers state states apply applies demand demands regulate regulates specify specifies limit limits`)

// partCondition decides between the rule of a flight and the subject of a question
// about rules, by the words around the part.
func partCondition(q *constrain.Query, to int, part string) constrain.Condition {
	for k := to; k < len(q.Tokens) && k < to+3; k++ {
		if ruleVerbs[q.Word(k)] && q.Word(k-1) != "on" { // "on-demand"
			return constrain.Is("cfr_part", part)
		}
	}
	if strings.EqualFold(part, "91K") {
		return constrain.Is("far_part", part) // a subpart that flights are operated under
	}
	if !isOperatingPart(part) || aboutRules(q) && !q.Eventful() {
		return constrain.Is("cfr_part", part)
	}
	return constrain.Is("far_part", part)
}

var ruleNouns = wordSet(`rule rules regulation regulations regs requirement requirements required legal legally lawful unlawful illegal allowed permitted prohibited minimums minimum definition section sections require requires must may shall violate violated violates violation comply complies compliance say says cfr far fars exemption waiver`)

// interrogative words begin questions about what a part says, where no event is named.
var interrogative = wordSet(`can does do when who what how why is are must may should`)

func aboutRules(q *constrain.Query) bool {
	if interrogative[q.Word(0)] && !(q.Word(0) == "may" && q.Tokens[1].Capital()) && q.Word(1) != "you" && q.Word(1) != "i" {
		return true
	}
	return slices.ContainsFunc(q.Tokens, func(t constrain.Token) bool { return ruleNouns[t.Lower] })
}
