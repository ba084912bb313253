package constrain

import "strings"

// What is left of a question: the words to search for, and its subject.

// content joins the words that no dropped claim took and that mean something. Values
// stay: a passage that names the aircraft should rank above one that does not.
func (q *Query) content(claims []Claim) string {
	dropped := q.taken(claims, func(c Claim) bool { return c.Drop })
	var words []string
	for i, t := range q.Tokens {
		if dropped[i] || stopWords[t.Lower] || i > 0 && t.Gap == "'" && len(t.Text) == 1 {
			continue
		}
		if i > 0 && len(words) > 0 && strings.Trim(t.Gap, "-.&/") == "" && !dropped[i-1] {
			words[len(words)-1] += t.Gap + t.Text // identifiers stay whole: PA-28-161
			continue
		}
		words = append(words, t.Text)
	}
	return strings.Join(words, " ")
}

// topicPhrases returns the words of the topic, those together that stand together.
func (q *Query) topicPhrases(claims []Claim) []string {
	var out []string
	last := -2
	told := q.taken(claims, func(c Claim) bool { return c.Cannot != nil })
	for _, i := range q.topicTokens(claims) {
		if told[i] {
			continue // what cannot be enforced is said as such
		}
		if i == last+1 && q.Joined(i) {
			out[len(out)-1] += q.Tokens[i].Gap + q.Tokens[i].Text
		} else {
			out = append(out, q.Tokens[i].Text)
		}
		last = i
	}
	return out
}

// topic returns the words no claim took, without those that say nothing of a subject.
func (q *Query) topic(claims []Claim) []string {
	var out []string
	for _, i := range q.topicTokens(claims) {
		out = append(out, q.Tokens[i].Text)
	}
	return out
}

// topicTokens are the places of the topic's words.
func (q *Query) topicTokens(claims []Claim) []int {
	taken := q.taken(claims, func(c Claim) bool { return len(c.Conditions) > 0 || c.Request != nil || c.Drop })
	var out []int
	for i, t := range q.Tokens {
		if taken[i] || q.filling(i, taken) || stopWords[t.Lower] || q.EventNoun(i) || inquiring[t.Lower] || q.Lexicon.Generic[t.Lower] || len(t.Text) < 2 || negations[t.Lower] || light[t.Lower] {
			continue
		}
		out = append(out, i)
	}
	return out
}

// filling reports whether a word only fills in what others say: who was killed, "as well as",
// "not ten".
func (q *Query) filling(i int, taken []bool) bool {
	switch w := q.Tokens[i].Lower; w {
	case "people", "persons":
		return i+1 < len(taken) && taken[i+1]
	case "well":
		return q.Word(i-1) == "as"
	case "full", "complete", "entire", "whole":
		return q.Word(i+1) == "list" || q.Word(i+1) == "set"
	default:
		return numberWords[w] > 0 && (q.Word(i-1) == "not" || q.Word(i-1) == "just" || q.Word(i-1) == "only")
	}
}

// taken marks the tokens of the claims that are meant.
func (q *Query) taken(claims []Claim, meant func(Claim) bool) []bool {
	out := make([]bool, len(q.Tokens))
	for _, c := range claims {
		if !meant(c) {
			continue
		}
		for i := c.From; i < c.To; i++ {
			out[i] = true
		}
	}
	return out
}

// inquiring are words that ask and are not what is asked about.
var inquiring = set(`require required requires requirement requirements cause caused causes causing reason reasons contributed contributing contribute led explain describe tell summarize summary compare compared comparison difference differ say says mean means know happen happened went wrong`)

var stopWords = set(`a an the of in on at to for from by with and or nor is are was were be been being do does did has have had i you we they them he him his she her it its himself herself itself themselves this that these those there
 what which who whom whose when where why how any some all me my our your us please show list give tell find about as if than then so not no but into out up down over under
 between during within without per each every more most less least many much number count total can could would should may might will shall must im whats s t`)
