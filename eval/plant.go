package eval

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
)

// Trial is a finding with the fault that was planted in it; none in a true one.
type Trial struct {
	Kind    string // of the fault, or of the paraphrase
	Fault   bool
	Finding sextant.Finding
}

// A planter makes findings out of the sentences of documents: true ones, said in other
// words by rule, and the same with one thing made wrong. It shares no table with the check:
// what it knows of units or negation it knows by itself.
type planter struct {
	random    *rand.Rand
	documents []sextant.Document
	sentences []planted
	names     []string
}

// planted is a sentence that faults can be planted in.
type planted struct {
	document int
	quote    sextant.Quote
	shouted  bool
}

// Lengths of sentences, in bytes, that say one thing.
const shortest, longestSentence = 45, 260

// Plant makes trials out of documents: faults of every kind in turn until there are
// faulty of them, if the documents hold enough, and as many true findings. The same documents give the same trials.
func Plant(documents []sextant.Document, faulty int) []Trial {
	p := &planter{random: rand.New(rand.NewPCG(8, 2026)), documents: documents}
	p.gather()
	if len(p.sentences) < 2 {
		return nil
	}
	var out []Trial
	for kind := 0; len(out) < 2*faulty && kind < 2*faulty+len(mutations); kind++ {
		out = append(out, p.plant(mutations[kind%len(mutations)])...)
	}
	return out
}

// patience is how many sentences are tried before a kind of fault is left out this time.
const patience = 400

// plant makes a finding with one fault and the same finding without.
func (p *planter) plant(kind mutation) []Trial {
	for range patience {
		s := p.sentences[p.random.IntN(len(p.sentences))]
		text, how := s.quote.Text, "verbatim"
		if p.random.IntN(3) > 0 {
			text, how = p.paraphrase(s)
		}
		if f, ok := kind.make(p, s, text); ok {
			return []Trial{{Kind: kind.name, Fault: true, Finding: f}, {Kind: how, Finding: s.finding(text)}}
		}
	}
	return nil
}

func (s planted) finding(text string) sextant.Finding {
	return sextant.Finding{Text: text, Quotes: []sextant.Quote{s.quote}, Source: s.quote.Collection, Confidence: "high"}
}

func (p *planter) gather() {
	seen := map[string]bool{}
	for i, d := range p.documents {
		for _, span := range chunk.Sentences(d.Text) {
			q, err := d.Quote(span.Start, span.End)
			if err != nil || len(q.Text) < shortest || len(q.Text) > longestSentence || strings.Contains(q.Text, "\n") {
				continue
			}
			p.sentences = append(p.sentences, planted{i, q, strings.ToUpper(q.Text) == q.Text})
			for _, m := range properName.FindAllStringSubmatch(q.Text, -1) {
				if !seen[m[1]] && strings.ToUpper(q.Text) != q.Text {
					seen[m[1]] = true
					p.names = append(p.names, m[1])
				}
			}
		}
	}
}

// properName matches a capitalised word behind a lower case one.
var properName = regexp.MustCompile(`[a-z,] ([A-Z][a-z]{3,})\b`)

// paraphrase says a sentence otherwise, by one rule or two that apply.
func (p *planter) paraphrase(s planted) (text, how string) {
	text, how = s.quote.Text, "verbatim"
	order := p.random.Perm(len(paraphrases))
	n := 0
	for _, i := range order {
		if said := paraphrases[i].say(p, text); said != text {
			text, how = said, paraphrases[i].name
			if n++; n == 2 {
				break
			}
		}
	}
	return text, how
}

var paraphrases = []struct {
	name string
	say  func(*planter, string) string
}{
	{"digits as words", func(p *planter, s string) string { return numeral.ReplaceAllStringFunc(s, spellOut) }},
	{"units spelt otherwise", func(p *planter, s string) string { return replaceWords(s, respelt) }},
	{"synonyms", func(p *planter, s string) string { return replaceWords(s, otherWords) }},
	{"another order", reorder},
	{"passive", passive},
	{"attributed", func(p *planter, s string) string { return attribution + lowerFirst(s) }},
	{"separators", func(p *planter, s string) string { return thousandsMark.ReplaceAllString(s, "$1$2") }},
	{"typographic marks", func(p *planter, s string) string {
		return strings.NewReplacer("'", "’", " - ", " – ").Replace(s)
	}},
	{"shortened", shorten},
	{"case", func(p *planter, s string) string {
		if strings.ToUpper(s) == s {
			return s[:1] + strings.ToLower(s[1:])
		}
		return s
	}},
}

const attribution = "The report says that "

var (
	numeral       = regexp.MustCompile(`(^|[ (])([2-9]|1[0-2])( [a-z]|-[a-z]{4,})`)
	thousandsMark = regexp.MustCompile(`\b(\d{1,3}),(\d{3})\b`)
	spelled       = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
)

func spellOut(s string) string {
	m := numeral.FindStringSubmatch(s)
	n, _ := strconv.Atoi(m[2])
	return m[1] + spelled[n] + m[3]
}

var respelt = map[string]string{"feet": "ft", "ft": "feet", "hours": "hrs", "minutes": "min", "pounds": "lbs", "knots": "kts", "lbs": "pounds", "kts": "knots", "percent": "per cent", "inches": "inch", "nm": "nautical miles", "mph": "miles per hour"}

var otherWords = map[string]string{"airplane": "aircraft", "stated": "said", "reported": "stated", "impacted": "struck", "collided": "crashed", "revealed": "showed", "disclosed": "revealed", "during": "in the course of", "began": "started", "automobile": "car", "attempted": "tried", "occurred": "happened", "utilized": "used", "shall": "must", "accident": "crash", "airstrip": "airfield", "observed": "saw", "indicated": "showed", "subsequently": "later", "approximately": "about", "via": "through", "injured": "hurt", "commenced": "began", "inadequate": "insufficient", "residence": "house"}

var wordPattern = regexp.MustCompile(`[A-Za-z]+`)

func replaceWords(s string, by map[string]string) string {
	return wordPattern.ReplaceAllStringFunc(s, func(w string) string {
		if other, ok := by[w]; ok {
			return other
		}
		return w
	})
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' && !properStart.MatchString(s) {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// properStart matches first words that could be names.
var properStart = regexp.MustCompile(`^[A-Z][a-z]+ (?:[A-Z]|\d)`)

var fronted = regexp.MustCompile(`^((?:During|While|After|Before|When|At|On|In|Following|Upon|As) [^,.;]{8,60}), ([^,;]{15,})\.$`)

// reorder moves what a sentence begins with behind the rest.
func reorder(_ *planter, s string) string {
	if m := fronted.FindStringSubmatch(s); m != nil {
		return strings.ToUpper(m[2][:1]) + m[2][1:] + " " + strings.ToLower(m[1][:1]) + m[1][1:] + "."
	}
	return s
}

var further = regexp.MustCompile(`^(.{40,}?)(?:, (?:and|but|which|who|where) |; ).{10,}$`)

// shorten leaves the second half of a sentence out.
func shorten(_ *planter, s string) string {
	if m := further.FindStringSubmatch(s); m != nil {
		return m[1] + "."
	}
	return s
}

var active = regexp.MustCompile(`^(The (?:airplane|pilot|aircraft|helicopter|student|instructor|flight instructor|mechanic|certificate holder)) (struck|impacted|landed|hit|lost|reduced|applied|extended|retracted|selected|noticed|observed|heard|rejected|aborted|declared|repaired|replaced) (the|a|an) ([a-z ]{3,30})\.$`)

// passive turns a short active sentence into the passive voice.
func passive(_ *planter, s string) string {
	m := active.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	verb := m[2]
	return strings.ToUpper(m[3][:1]) + m[3][1:] + " " + m[4] + " was " + verb + " by " + lowerFirst(m[1]) + "."
}

// mutation plants one kind of fault; not ok where the sentence has nothing to plant it in.
type mutation struct {
	name string
	make func(p *planter, s planted, text string) (sextant.Finding, bool)
}

var mutations = []mutation{
	{"number", textual(changeNumber)}, {"numbers exchanged", textual(exchangeNumbers)}, {"one thing for another", textual(changeThing)}, {"unit", textual(changeUnit)}, {"date", textual(changeDate)}, {"entity", textual(changeName)}, {"section", changeSection},
	{"negation", textual(changeNegation)}, {"wrong source", wrongSource}, {"invented id", inventedID}, {"invented quote", inventedQuote}, {"comparison", textual(changeComparison)}, {"cause", textual(changeCause)}, {"identifier", textual(changeIdentifier)},
}

// textual makes a mutation of a change of the statement.
func textual(change func(p *planter, text string) string) func(*planter, planted, string) (sextant.Finding, bool) {
	return func(p *planter, s planted, text string) (sextant.Finding, bool) {
		changed := change(p, text)
		return s.finding(changed), changed != text && changed != s.quote.Text
	}
}

// replaceOne replaces one match of a pattern, at random, by what a function makes of it.
func (p *planter) replaceOne(re *regexp.Regexp, text string, by func(string) string) string {
	all := re.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return text
	}
	at := all[p.random.IntN(len(all))]
	return text[:at[0]] + by(text[at[0]:at[1]]) + text[at[1]:]
}

var (
	plainNumber  = regexp.MustCompile(`(?i)\b(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?|two|three|four|five|six|seven|eight|nine|ten|twelve)(?: |-)(?:feet|foot|ft|miles?|hours?|minutes?|seconds?|pounds|gallons|knots|degrees|inches|percent|passengers|occupants|persons|pilots|years?|months|days|times)\b`)
	measured     = regexp.MustCompile(`(?i)\b\d[\d,.]*[ -](?:feet|foot|ft|nautical miles?|miles?|hours?|minutes?|seconds?|pounds|gallons|knots|inches|percent|years?|months?|days?|meters|quarts)\b`)
	monthDay     = regexp.MustCompile(`(?i)\b(?:January|February|March|April|June|July|August|September|October|November|December) \d{1,2}(?:, \d{4})?\b|\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}\b|\b(?:19[5-9]|200)\d\b`)
	registration = regexp.MustCompile(`\bN\d{1,4}[A-Z]{0,2}\b|\b[A-Z]{3}\d{2}[A-Z]{2}\d{3}\b|(?i:runway) \d{1,2}[LRC]?\b|\b(?:PA|DC|BE|SR|AT)-?\d{2,3}\b`)
)

func changeNumber(p *planter, text string) string {
	return p.replaceOne(plainNumber, text, func(s string) string {
		end := strings.IndexAny(s, " -")
		digits, rest := s[:end], s[end:]
		if i := slices.Index(spelled, strings.ToLower(digits)); i >= 0 {
			if other := spelled[(i+1+p.random.IntN(9))%len(spelled)]; other != strings.ToLower(digits) && other != "zero" {
				return other + rest
			}
			return "eleven" + rest
		}
		v, _ := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
		digits = strconv.FormatFloat(v, 'f', -1, 64)
		switch p.random.IntN(4) {
		case 0:
			v += 1
		case 1:
			v *= 10
		case 2:
			v = v*2 + 1
		default:
			v = max(2, v-1)
			if strconv.FormatFloat(v, 'f', -1, 64) == digits {
				v++
			}
		}
		return strconv.FormatFloat(v, 'f', -1, 64) + rest
	})
}

var anyNumber = regexp.MustCompile(`\b\d+(?:,\d{3})*(?:\.\d+)?\b`)

// exchangeNumbers lets the first two different numbers of a statement change places.
func exchangeNumbers(_ *planter, text string) string {
	all := anyNumber.FindAllStringIndex(text, 3)
	if len(all) != 2 || strings.ContainsAny(text, "§[|(<") || strings.Contains(text, "CFR") || monthDay.MatchString(text) || all[1][0]-all[0][1] < 8 {
		return text // dates, lists of sections and tables say the same either way
	}
	a, b := text[all[0][0]:all[0][1]], text[all[1][0]:all[1][1]]
	return text[:all[0][0]] + b + text[all[0][1]:all[1][0]] + a + text[all[1][1]:]
}

var things = []string{"pilot", "passenger", "mechanic", "instructor", "controller", "engine", "propeller", "wing", "elevator", "rudder", "carburetor", "fuel pump", "nose wheel", "tree", "fence", "airport", "runway", "taxiway", "fuel", "oil", "battery", "seat", "door", "house", "truck", "lake"}

// changeThing puts one thing of daily life for another.
func changeThing(p *planter, text string) string {
	re := regexp.MustCompile(`\bthe (?:` + strings.Join(things, "|") + `)\b`)
	return p.replaceOne(re, text, func(s string) string {
		other := things[p.random.IntN(len(things))]
		if strings.Contains(strings.ToLower(text), other) {
			return s
		}
		return "the " + other
	})
}

var unitSwaps = map[string][]string{"feet": {"meters", "miles", "inches"}, "foot": {"meter", "mile"}, "ft": {"m", "miles"}, "mile": {"kilometer", "foot"}, "miles": {"kilometers", "feet", "nautical miles"}, "nautical miles": {"feet", "kilometers"}, "nautical mile": {"kilometer"}, "hour": {"minute", "day"}, "hours": {"minutes", "days"},
	"minute": {"hour", "second"}, "minutes": {"hours", "seconds"}, "second": {"minute"}, "seconds": {"minutes", "hours"}, "pounds": {"kilograms", "gallons", "tons"}, "gallons": {"liters", "quarts", "pounds"}, "knots": {"mph", "feet"}, "inches": {"feet", "centimeters"}, "percent": {"degrees"}, "years": {"months", "days"}, "year": {"month"},
	"months": {"years", "weeks"}, "month": {"year"}, "days": {"hours", "weeks"}, "day": {"hour"}, "meters": {"feet"}, "quarts": {"gallons"}}

func changeUnit(p *planter, text string) string {
	return p.replaceOne(measured, text, func(s string) string {
		end := strings.IndexAny(s, " -")
		swaps := unitSwaps[strings.ToLower(s[end+1:])]
		if len(swaps) == 0 {
			return s
		}
		return s[:end+1] + swaps[p.random.IntN(len(swaps))]
	})
}

var monthNames = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}

var digitsOnly = regexp.MustCompile(`\d+`)

func changeDate(p *planter, text string) string {
	return p.replaceOne(monthDay, text, func(s string) string {
		for i, m := range monthNames {
			if strings.Contains(strings.ToLower(s), strings.ToLower(m)) && p.random.IntN(2) == 0 {
				return regexp.MustCompile(`(?i)`+m).ReplaceAllString(s, monthNames[(i+1+p.random.IntN(10))%12])
			}
		}
		return p.replaceOne(digitsOnly, s, func(d string) string {
			n, _ := strconv.Atoi(d)
			if n > 31 {
				return strconv.Itoa(n + 1 + p.random.IntN(7))
			}
			return strconv.Itoa(n%28 + 1)
		})
	})
}

func changeName(p *planter, text string) string {
	all := properName.FindAllStringSubmatchIndex(text, -1)
	if len(all) == 0 || len(p.names) < 2 {
		return text
	}
	at := all[p.random.IntN(len(all))]
	other := p.names[p.random.IntN(len(p.names))]
	if strings.EqualFold(other, text[at[2]:at[3]]) || strings.Contains(strings.ToLower(text), strings.ToLower(other)) {
		return text
	}
	return text[:at[2]] + other + text[at[3]:]
}

var sectionNumber = regexp.MustCompile(`\b\d{1,3}\.\d{1,4}\b`)

// changeSection cites a rule by its number, and the number wrong.
func changeSection(p *planter, s planted, text string) (sextant.Finding, bool) {
	number := sectionNumber.FindString(s.quote.Title)
	if number == "" || strings.Contains(text, number) {
		return sextant.Finding{}, false
	}
	part, section, _ := strings.Cut(number, ".")
	n, _ := strconv.Atoi(section)
	wrong := []string{fmt.Sprintf("%s.%d", part, n+2), part + "." + section + "1", fmt.Sprintf("1%s.%s", part, section), number + "(z)(9)"}[p.random.IntN(4)]
	return s.finding("Under § " + wrong + ", " + lowerFirst(text)), true
}

var (
	auxiliary = regexp.MustCompile(`\b(was|were|is|are|had|has|could|did|would|can|may|must|shall|will) `)
	denial    = regexp.MustCompile(`\b(did not|was not|were not|could not|is not|are not|may not|had not|has not|does not|shall not|failed to|failure to|unable to|without|no) `)
	affirmed  = map[string]string{"did not": "did", "was not": "was", "were not": "were", "could not": "could", "is not": "is", "are not": "are", "may not": "may", "had not": "had", "has not": "has", "does not": "does", "shall not": "shall", "failed to": "managed to", "failure to": "ability to", "unable to": "able to", "without": "with", "no": "some"}
)

func changeNegation(p *planter, text string) string {
	lower := strings.ToLower(text) == text || strings.ToUpper(text) != text
	if !lower {
		return text
	}
	if denial.MatchString(text) {
		return p.replaceOne(denial, text, func(s string) string { return affirmed[strings.TrimSpace(s)] + " " })
	}
	return p.replaceOne(auxiliary, text, func(s string) string { return s + "not " })
}

func wrongSource(p *planter, s planted, text string) (sextant.Finding, bool) {
	other := p.sentences[p.random.IntN(len(p.sentences))]
	if other.document == s.document {
		return sextant.Finding{}, false
	}
	f := s.finding(text)
	if p.random.IntN(2) == 0 { // its words, said to stand in another document
		q := s.quote
		q.DocumentID = other.quote.DocumentID
		f.Quotes = []sextant.Quote{q}
		return f, !strings.Contains(p.documents[other.document].Text, q.Text)
	}
	f.Quotes = []sextant.Quote{other.quote} // true words of another document, which say something else
	return f, other.quote.Text != s.quote.Text
}

func inventedID(p *planter, s planted, text string) (sextant.Finding, bool) {
	f := s.finding(text)
	f.Quotes[0].DocumentID += sextant.DocumentID(strconv.Itoa(p.random.IntN(90) + 10))
	return f, true
}

func inventedQuote(p *planter, s planted, text string) (sextant.Finding, bool) {
	words := strings.Fields(s.quote.Text)
	f, q := s.finding(text), s.quote
	switch p.random.IntN(3) {
	case 0:
		words[len(words)/2] = "reportedly " + words[len(words)/2]
	case 1:
		words[1+p.random.IntN(len(words)-2)] = "unspecified"
	default:
		words = append([]string{"It", "was", "determined", "that"}, words...)
	}
	q.Text = strings.Join(words, " ")
	f.Quotes = []sextant.Quote{q}
	return f, !strings.Contains(p.documents[s.document].Text, q.Text)
}

var comparisonSwaps = map[string]string{"more than": "less than", "less than": "more than", "at least": "at most", "higher": "lower", "lower": "higher", "increased": "decreased", "decreased": "increased", "increase": "decrease", "above": "below", "below": "above", "before": "after", "after": "before", "greater": "smaller", "prior to": "after", "minimum": "maximum", "maximum": "minimum", "exceeded": "stayed below",
	"longer": "shorter", "left": "right", "right": "left", "north": "south", "east": "west", "climb": "descent", "reduced": "increased", "exceed": "fall below", "first": "last", "up to": "at least", "upper": "lower", "forward": "aft"}

var comparative = regexp.MustCompile(`\b(more than|less than|at least|higher|lower|increased?|decreased|above|below|before|after|greater|prior to|minimum|maximum|exceeded|exceed|longer|left|right|north|east|climb|reduced|first|up to|upper|forward)\b`)

func changeComparison(p *planter, text string) string {
	return p.replaceOne(comparative, text, func(s string) string { return comparisonSwaps[s] })
}

var causal = regexp.MustCompile(`^(.{15,}?),? (due to|because of|as a result of|resulted in|which resulted in|resulting in|led to|caused by|was caused by) (.{15,})\.$`)

// changeCause lets cause and effect change places.
func changeCause(_ *planter, text string) string {
	m := causal.FindStringSubmatch(text)
	if m == nil || strings.HasPrefix(text, attribution) || strings.Contains("this that it which", strings.ToLower(m[1])) || strings.Count(m[3], ".") > 0 {
		return text
	}
	return strings.ToUpper(m[3][:1]) + m[3][1:] + " " + m[2] + " " + lowerFirst(m[1]) + "."
}

func changeIdentifier(p *planter, text string) string {
	return p.replaceOne(registration, text, func(s string) string {
		return p.replaceOne(digitsOnly, s, func(d string) string {
			n, _ := strconv.Atoi(d)
			return fmt.Sprintf("%0*d", len(d), (n+1)%[]int{1, 10, 100, 1000, 10000, 100000}[len(d)])
		})
	})
}
