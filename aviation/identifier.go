package aviation

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// between returns the tokens that a byte range of the question covers.
func between(q *constrain.Query, start, end int) (from, to int, ok bool) {
	from = slices.IndexFunc(q.Tokens, func(t constrain.Token) bool { return t.End > start })
	if from < 0 {
		return 0, 0, false
	}
	to = from
	for to < len(q.Tokens) && q.Tokens[to].Start < end {
		to++
	}
	return from, to, to > from
}

// pattern turns every match of a regular expression into a claim.
func pattern(q *constrain.Query, re *regexp.Regexp, claim func(match []string) (constrain.Claim, bool)) []constrain.Claim {
	var out []constrain.Claim
	for _, at := range re.FindAllStringSubmatchIndex(q.Text, -1) {
		match := make([]string, len(at)/2)
		for k := range match {
			if at[2*k] >= 0 {
				match[k] = q.Text[at[2*k]:at[2*k+1]]
			}
		}
		c, ok := claim(match)
		if !ok {
			continue
		}
		if c.From, c.To, ok = between(q, at[0], at[1]); ok {
			out = append(out, c)
		}
	}
	return out
}

var (
	eventIDs       = regexp.MustCompile(`(?i)\b\d{8}X\d{5}\b`)
	accidentNumber = regexp.MustCompile(`(?i)\b[A-Z]{3}\d{2}[A-Z]{1,2}\d{3}[A-Z]?\b`)
	american       = regexp.MustCompile(`(?i)\bN[- ]?(\d{1,5}(?: ?[A-Z]{1,2})?)\b`)
	tailNumber     = regexp.MustCompile(`(?i)\b(?:tail(?: number| no\.?)?|registration|registered as|reg\.?) +(?:number +)?([A-Z0-9]{1,2}-?[A-Z0-9]{2,5})\b`)
	withoutN       = regexp.MustCompile(`\b\d{2,4}[A-Z]{1,2}\b`)
	foreign        = regexp.MustCompile(`\b[A-Z]{1,2}-[A-Z]{3,4}\b|\b(?:HB|PP|PR|PT|XA|XB|VH|ZK|ZS|OE|OY|SE|EI|EC|OO)-[A-Z0-9]{3,4}\b`)
	otherNumber    = regexp.MustCompile(`(?i)\b(?:part number|p/n|ad|advisory circular|ac|flight|squawk|docket|item|runway|order|stc|serial number|s/n) +#?\d[\w.-]*`)
)

// identifiers claims what names one record or one aircraft, and numbers that name
// something else.
func identifiers(q *constrain.Query) []constrain.Claim {
	one := func(field string, weight int, clean func(string) string) func([]string) (constrain.Claim, bool) {
		return func(m []string) (constrain.Claim, bool) {
			return constrain.Claim{Conditions: []constrain.Condition{constrain.Is(field, clean(m[len(m)-1]))}, Weight: weight}, true
		}
	}
	out := pattern(q, eventIDs, one("event_id", 9, strings.ToUpper))
	out = append(out, pattern(q, accidentNumber, one("accident_number", 8, strings.ToUpper))...)
	out = append(out, pattern(q, american, func(m []string) (constrain.Claim, bool) {
		n := "N" + registration(m[1])
		_, known := q.Vocabulary.LookupFold("registration", n)
		spaced := strings.Contains(strings.TrimSpace(m[0]), " ")
		return constrain.Claim{Conditions: []constrain.Condition{constrain.Is("registration", n)}, Weight: 7}, known || !spaced && len(n) >= 3
	})...)
	out = append(out, pattern(q, tailNumber, func(m []string) (constrain.Claim, bool) {
		n := registration(m[1])
		if _, known := q.Vocabulary.LookupFold("registration", n); !known && n[0] >= '0' && n[0] <= '9' {
			n = "N" + n
		}
		return constrain.Claim{Conditions: []constrain.Condition{constrain.Is("registration", n)}, Weight: 7}, strings.ContainsAny(n, "0123456789") || strings.Contains(m[1], "-")
	})...)
	out = append(out, pattern(q, withoutN, func(m []string) (constrain.Claim, bool) {
		_, known := q.Vocabulary.LookupFold("registration", "N"+m[0])
		return constrain.Claim{Conditions: []constrain.Condition{constrain.Is("registration", "N"+m[0])}, Weight: -1}, known && len(m[0]) >= 5
	})...)
	out = append(out, pattern(q, foreign, func(m []string) (constrain.Claim, bool) {
		_, known := q.Vocabulary.LookupFold("registration", m[0])
		return constrain.Claim{Conditions: []constrain.Condition{constrain.Is("registration", registration(m[0]))}, Weight: 6}, known
	})...)
	return append(out, pattern(q, otherNumber, func([]string) (constrain.Claim, bool) { return constrain.Claim{Weight: 6}, true })...)
}

func registration(s string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(s))
}

var (
	acquisition = regexp.MustCompile(`(?i)\b(?:48 +c\.?f\.?r\.?|far) +\d{1,2}\.\d{3}-\d+`)
	section     = regexp.MustCompile(`(?i)(?:\b14 *c\.?f\.?r\.?(?: *part)? *§* *|\bfars? +(?:part +)?|§+ *|\bsections? +|\bsec\. *|\breg(?:ulation)?s? +)?\b(\d{1,4})\.(\d{1,4}[a-z]?)\b((?: *\([a-z0-9]{1,4}\))*)`)
	cited       = regexp.MustCompile(`(?i)^(?:14|fars?|§|sec|reg)`)
	cfrPart     = regexp.MustCompile(`(?i)\b(?:14 *c\.?f\.?r\.? *)?(?:(far|fars) +)?parts? +(\d{1,3}K?)\b`)
	partNumber  = regexp.MustCompile(`^\d{1,3}K?$`)
)

// ruleParts are the parts of 14 CFR that are cited without saying so.
var ruleParts = wordSet(`1 21 23 25 27 29 33 39 43 45 61 63 65 67 68 71 73 91 93 95 97 103 105 107 110 119 120 121 125 129 133 135 136 137 139 141 142 145 147 830`)

// rules claims citations of sections, and the other regulation that is called FAR.
func rules(q *constrain.Query) []constrain.Claim {
	out := pattern(q, acquisition, func([]string) (constrain.Claim, bool) {
		return constrain.Claim{Weight: 9, Cannot: &sextant.Unenforceable{Field: "cfr_section", Reason: "this is the Federal Acquisition Regulation (48 CFR); 14 CFR is what is held"}}, true
	})
	return append(out, pattern(q, section, func(m []string) (constrain.Claim, bool) {
		prefixed := cited.MatchString(strings.TrimSpace(m[0]))
		if !prefixed && (!ruleParts[m[1]] || len(m[2]) == 1 && m[3] == "") {
			return constrain.Claim{}, false
		}
		return constrain.Claim{Conditions: []constrain.Condition{constrain.Is("cfr_section", m[1]+"."+strings.ToLower(m[2]))}, Weight: 7}, true
	})...)
}

var ruleVerbs = wordSet(`say says require requires required allow allows permit permits prohibit prohibits mandate mandates define defines cover covers state states apply applies demand demands regulate regulates specify specifies limit limits`)

// operatingParts claims "Part 135": the rule an accident flight was operated under,
// or the part of the regulations a question is about.
func operatingParts(q *constrain.Query) []constrain.Claim {
	out := pattern(q, cfrPart, func(m []string) (constrain.Claim, bool) {
		return constrain.Claim{Conditions: []constrain.Condition{partCondition(q, m[0], strings.ToUpper(m[2]))}, Weight: 6}, true
	})
	for i, t := range q.Tokens {
		if !partNumber.MatchString(strings.ToUpper(t.Text)) || !isOperatingPart(t.Text) || i+1 >= len(q.Tokens) || !joined(q, i+1) {
			continue
		}
		switch q.Tokens[i+1].Lower {
		case "carrier", "carriers", "flight", "flights", "operation", "operations", "operator", "operators", "airline", "airlines":
			out = append(out, constrain.Claim{From: i, To: i + 2, Conditions: []constrain.Condition{constrain.Is("far_part", strings.ToUpper(t.Text))}, Weight: 3})
		}
	}
	return out
}

func isOperatingPart(s string) bool {
	return slices.Contains([]string{"91", "91K", "103", "121", "125", "129", "133", "135", "137"}, strings.ToUpper(s))
}

// partCondition decides between the rule of a flight and the subject of a question
// about rules, by the words around the part.
func partCondition(q *constrain.Query, words, part string) constrain.Condition {
	at := strings.Index(q.Text, words)
	_, to, _ := between(q, at, at+len(words))
	for k := to; k < len(q.Tokens) && k < to+3; k++ {
		if ruleVerbs[q.Tokens[k].Lower] {
			return constrain.Is("cfr_part", part)
		}
	}
	if !isOperatingPart(part) || aboutRules(q) && !q.Eventful() {
		return constrain.Is("cfr_part", part)
	}
	return constrain.Is("far_part", part)
}

var ruleNouns = wordSet(`rule rules regulation regulations requirement requirements required legal legally lawful allowed permitted prohibited minimums definition section sections require requires must`)

func aboutRules(q *constrain.Query) bool {
	return slices.ContainsFunc(q.Tokens, func(t constrain.Token) bool { return ruleNouns[t.Lower] })
}

// contrasts claims "incidents, as opposed to accidents": one kind of event set
// against the other.
func contrasts(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		kind, other := kindOfEvent(q, i), ""
		if kind == "" {
			continue
		}
		for _, words := range [][]string{{"not"}, {"but", "not"}, {"as", "opposed", "to"}, {"rather", "than"}, {"and", "not"}, {"instead", "of"}, {"other", "than"}} {
			if q.HasLoose(i+1, words...) {
				other = kindOfEvent(q, i+1+len(words))
				if other != "" && other != kind {
					out = append(out, constrain.Claim{From: i, To: i + 2 + len(words), Conditions: []constrain.Condition{constrain.Is("investigation_type", kind)}, Weight: 6})
				}
			}
		}
	}
	return out
}

func kindOfEvent(q *constrain.Query, i int) string {
	if i >= len(q.Tokens) {
		return ""
	}
	switch q.Tokens[i].Lower {
	case "accident", "accidents":
		return "accident"
	case "incident", "incidents":
		return "incident"
	}
	return ""
}

// titles and namers stand before a person's name, which no aircraft's is.
var (
	titles = wordSet(`mr mrs ms dr captain capt officer sergeant colonel lieutenant inspector investigator senator`)
	namers = wordSet(`named called surnamed`)
)

// persons keeps people's names from being read as makers or places.
func persons(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i, t := range q.Tokens {
		if !titles[t.Lower] && !namers[t.Lower] || i+1 >= len(q.Tokens) || !q.Tokens[i+1].Capital() {
			continue
		}
		to := i + 2
		for to < len(q.Tokens) && to < i+4 && (q.Tokens[to].Capital() && joined(q, to) || q.Tokens[to].Lower == "s" && q.Tokens[to].Gap == "'") {
			to++
		}
		out = append(out, constrain.Claim{From: i, To: to, Weight: 8})
	}
	return out
}
