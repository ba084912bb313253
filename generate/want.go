package generate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// want is the kind of thing that answers a question.
type want string

// The kinds. Anything is what no rule can tell by its form.
const (
	anything    want = ""
	aNumber     want = "a number"
	aLength     want = "a length"
	aDuration   want = "a time span"
	aSpeed      want = "a speed"
	aWeight     want = "a weight"
	aVolume     want = "an amount"
	aFluid      want = "an amount of a fluid"
	aHeat       want = "a temperature"
	anUtterance want = "what was said"
	aWriting    want = "what was written"
	aModel      want = "a model or make"
	money       want = "a sum of money"
	aDate       want = "a date or time"
	aName       want = "a name"
	aPerson     want = "a person or body"
	aProportion want = "a percentage"
)

// digits begin a measure: digits, or a number in words.
const digits = `(?i)(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred|thousand|half|several)\b)[\w.,/ -]{0,24}?`

// forms say how what is wanted looks in a text.
var forms = map[want]*regexp.Regexp{
	aNumber:     regexp.MustCompile(digits),
	aLength:     regexp.MustCompile(digits + `[ -](?:feet|foot|ft|miles?|nm|inch(?:es)?|meters?|metres?|yards?|kilometers?|agl|msl)\b`),
	aDuration:   regexp.MustCompile(digits + `[ -](?:seconds?|minutes?|hours?|hrs?|days?|weeks?|months?|years?)\b`),
	aSpeed:      regexp.MustCompile(digits + `[ -]?(?:knots?|kts?|kias|mph|miles (?:per|an) hour|fpm|rpm|feet (?:per|a) minute|mach)\b`),
	aWeight:     regexp.MustCompile(digits + `[ -]?(?:pounds?|lbs?|kilos?|kilograms?|kg|tons?|ounces?|grams?)\b`),
	aVolume:     regexp.MustCompile(digits + `[ -]?(?:gallons?|quarts?|liters?|pints?|pounds?|lbs|hours?|minutes?|inch(?:es)?|degrees?|percent|feet|knots)\b`),
	aFluid:      regexp.MustCompile(digits + `[ -]?(?:gallons?|quarts?|liters?|litres?|pints?|pounds?|lbs)\b`),
	aHeat:       regexp.MustCompile(digits + `[ -]?(?:degrees|°)`),
	money:       regexp.MustCompile(`(?i)\$ ?\d|\d[\d,.]* (?:dollars|euros)`),
	aDate:       regexp.MustCompile(`(?i)\b\d{1,2}:\d\d|\b\d{4}\b|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b|\b\d+ (?:minutes?|hours?|days?|months?|years?|weeks?)\b|\bnoon\b|\bmidnight\b|\bmorning\b|\bafternoon\b|\bevening\b`),
	aName:       regexp.MustCompile(`[a-z,] (?:[A-Z][a-z]+ ){1,3}[A-Z][a-z]+\b`),
	aModel:      regexp.MustCompile(`\b(?i:models?|brands?|manufactur\w+|made by)\b|\b[A-Z]{2,5}-?\d+[A-Z]*\b`),
	anUtterance: regexp.MustCompile(`(?i)\b(?:said|says?|stated|told|report(?:ed|s)|advis(?:ed|es)|announced|transmitted|radioed|declared|informed|asked|requested|replied|cleared|instructed)\b`),
	aWriting:    regexp.MustCompile(`(?i)\b(?:written|wrote|writ(?:es|ing)|reads?|inscribed|inscription|letters?|lettering|messages?|words?|wording|advert\w+|labell?ed|placards?|printed|logo|slogan)\b`),
	aProportion: regexp.MustCompile(`(?i)\d ?(?:%|percent|per cent)`),
	aPerson:     regexp.MustCompile(`(?i)\b(?:pilots?|passengers?|instructors?|students?|mechanics?|controllers?|owners?|drivers?|operators?|inspectors?|witness(?:es)?|crew(?:member)?s?|captain|officers?|personnel|company|navy|army|police|sheriff|authorit(?:y|ies)|person|people|men|man|woman|worker|employees?|dispatcher|manager|director|administrator|department|board|holder|faa|ntsb)\b`),
}

// formNeeds are, in lower case, words of which each text of ASCII letters has one that a form
// matches: most sentences are passed over without the form.
var formNeeds = map[want][]string{
	aLength:     {"feet", "foot", "ft", "mile", "nm", "inch", "meter", "metre", "yard", "agl", "msl"},
	aDuration:   {"second", "minute", "hour", "hr", "day", "week", "month", "year"},
	aSpeed:      {"knot", "kt", "kias", "mph", "miles ", "fpm", "feet ", "mach"},
	aWeight:     {"pound", "lb", "kilo", "kg", "ton", "ounce", "gram"},
	aVolume:     {"gallon", "quart", "liter", "pint", "pound", "lbs", "hour", "minute", "inch", "degree", "percent", "feet", "knots"},
	aHeat:       {"degrees"},
	aProportion: {"%", "percent", "per cent"},
	money:       {"$", "dollars", "euros"},
}

// hasForm reports whether a text has the form of what is wanted. lower is the text in lower
// case, "" for one that is not ASCII.
func hasForm(w want, text, lower string) bool {
	if needs := formNeeds[w]; needs != nil && lower != "" && !containsAny(lower, needs) {
		return false
	}
	return forms[w].MatchString(text)
}

// wants reads what kind of thing a question, or one part of it, asks for.
func wants(text string) want {
	lower := " " + strings.ToLower(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '?' || r == '\n' }), " ")) + " "
	for _, a := range askings {
		if containsAny(lower, a.needs) && a.words.MatchString(lower) {
			return a.want
		}
	}
	return anything
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// askings say how a kind of thing is asked for. Each text that an expression matches has one of
// the words it needs, so that most are passed over at the cost of a few letters.
var askings = []struct {
	words *regexp.Regexp
	want  want
	needs []string
}{
	{regexp.MustCompile(` (?:how fast|what (?:was the |is the |)(?:air|ground|)speed|(?:which|what) (?:\w+ |)speed) `), aSpeed, []string{"how fast", "speed"}},
	{regexp.MustCompile(` how (?:many|much|few) (?:more |extra |total |of )?(?:feet|foot|miles|inches|meters|yards) `), aLength, []string{"how many", "how much", "how few"}},
	{regexp.MustCompile(` (?:how many (?:more |)(?:pounds|kilos|kilograms|tons|ounces)|how heavy|what (?:was|is) the weight|how much did [a-z ]* weigh) `), aWeight, []string{"how many", "how heavy", "weigh"}},
	{regexp.MustCompile(` (?:how many (?:\w+ |)(?:seconds|minutes|hours|days|weeks|months|years)|how many hours of \w+|hours into|how soon|how old|how long (?:before|after|did|had|has|have|does|do|must|may|can|could|should|was he|was she|were they|was the (?:pilot|student|instructor|flight|engine|crew|driver))) `), aDuration, []string{"how many", "hours into", "how soon", "how old", "how long"}},
	{regexp.MustCompile(` how (?:far|much) (?:over|above|under|below|past) [a-z' ]*(?:weight|gross|load) `), aWeight, []string{"how far", "how much"}},
	{regexp.MustCompile(` (?:how (?:far|tall|high|low|deep|wide|steep|close)|how long (?:is|was|are|were)|what (?:altitude|height|distance|clearance|elevation|length|width|visibility)|at what (?:altitude|height)|above what height|within what distance) `), aLength, []string{"how far", "how tall", "how high", "how low", "how deep", "how wide", "how steep", "how close", "how long", "altitude", "height", "distance", "clearance", "elevation", "length", "width", "visibility"}},
	{regexp.MustCompile(` (?:what temperature|how (?:hot|cold|warm)|temperature and dew ?point) `), aHeat, []string{"temperature", "how hot", "how cold", "how warm"}},
	{regexp.MustCompile(` how many (?:more |)(?:gallons|quarts|liters|litres) `), aFluid, []string{"how many"}},
	{regexp.MustCompile(` (?:how (?:many|much) (?:fuel|oil)|how much (?:fuel|oil|climb|flap|reserve|time|experience|pic)) `), aVolume, []string{"how many", "how much"}},
	{regexp.MustCompile(` (?:what (?:fine|penalty|price|fee|cost)|how much (?:does|did|is|was|may|would) [a-z0-9. ]* (?:cost|pay|charge)|how (?:much money|expensive)|cost at (?:most|least)) `), money, []string{"what fine", "what penalty", "what price", "what fee", "what cost", "how much", "how expensive", "cost at"}},
	{regexp.MustCompile(` (?:what (?:percentage|share|percent)|how (?:much|many) percent) `), aProportion, []string{"percent", "share"}},
	{regexp.MustCompile(` (?:how (?:many|much|often)|what (?:number|figure|value|limit|\w+ value|\w+ figure|\w+ limit)|(?:\w+ \w+|\w+) (?:figure|limit|value) |least hours|hours and months) `), aNumber, []string{"how many", "how much", "how often", "what number", "figure", "limit", "value", "hours"}},
	{regexp.MustCompile(` (?:which|what) (?:model|brand|make)(?: and model)? of `), aModel, []string{"model", "brand", "make"}},
	{regexp.MustCompile(` what (?:was|is|were|had been) (?:written|printed|painted) `), aWriting, []string{"written", "printed", "painted"}},
	{regexp.MustCompile(` what (?:(?:was|were) [a-z0-9' ]*told|did [a-z0-9' ]* (?:say|tell|report|announce|radio|transmit|declare|reply)) `), anUtterance, []string{"told", "what did"}},
	{regexp.MustCompile(` (?:when did|when was|when were|when is|what (?:time|date|day|year|month|hour)|at what time|on which (?:day|date)|which (?:day|date|year|month)) `), aDate, []string{"when did", "when was", "when were", "when is", "time", "date", "day", "year", "month", "hour"}},
	{regexp.MustCompile(` who (?:was|were|is|are) the (?:\w+ )?(?:witness(?:es)?|pilots?|mechanics?|instructors?|students?|passengers?|captain|controllers?|inspectors?|drivers?|copilot|officer) `), aName, []string{"who"}},
	{regexp.MustCompile(` (?:names? of|what (?:was|is|were) [a-z ]* named?|called what|by name) `), aName, []string{"name", "called what"}},
	{regexp.MustCompile(` (?:who|whom|whose) `), aPerson, []string{"who"}},
}

// aspect is one thing a question asks.
type aspect struct {
	text     string
	want     want
	terms    []string // stems of its words that are subject, each once
	focus    []string // those of them that name what is asked for, the last one by itself
	least    float64  // how much of the focus must be said
	measured bool     // the focus must stand where the measure does

	at, focusAt []int // terms and focus as the numbers of a vocabulary
}

// in finds the terms in a vocabulary of the whole subject, which has all of them.
func (a *aspect) in(v *vocabulary) {
	a.at, a.focusAt = v.numbers(a.terms), v.numbers(a.focus)
}

// named match the ways in which a question names the thing it asks for. What they name must
// be spoken of: "the disciplinary outcome", "what the controller said". A concrete thing may
// be named by one of its kinds: "which animals" by a moose.
var (
	named     = regexp.MustCompile(`(?i)\b(?:what|who) (?:was|were|is|are) (?:the|its|his|her|their) ((?:[a-z'’-]+ ){1,5}?)(?:of|for|in|on|at|to|that|when|with|during|after|before|by|from|set|reported)\b`)
	category  = regexp.MustCompile(`(?i)\b(?:what|which) (?:kinds? of |sorts? of |types? of )?((?:[a-z'’-]+ ){1,3}?)(?:was|were|is|are|did|does|do|had|has|have|can|could|may|must|will|would|should)\b`)
	utterance = regexp.MustCompile(`(?i)\bdid (?:the |his |her |their )?((?:[a-z'’-]+ ){1,3}?)(?:of [\w' -]{2,40}? )?(?:say|see|hear|notice|observe|smell|feel|write|claim|tell|report|announce|radio|transmit|declare|reply|advise|warn)\b`)
)

// What is asked by a verb or as a body must be spoken of as well: "who owned it", "what was he
// wearing", "which hospital".
var (
	doer  = regexp.MustCompile(`(?i)\bwho (?:had |last |first |once )*((?:own|rent|lease|charter|insur|employ|hir|train|sold|s[ae]w|rescu|interview|buil|inspect|repair|maintain|refuel|financ|sponsor|sue|arrest)\w*)\b`)
	doing = regexp.MustCompile(`(?i)\bwhat (?:was|were) (?:the |his |her |their )?[\w' -]{2,40}? ((?:wear|eat|drink|smok|read|sing|watch|listen|film|hold|think|dream)\w*ing)\b`)
	// A measured thing must be spoken of where the measure stands: "how deep was the snow".
	measured = regexp.MustCompile(`(?i)\bhow (?:long|deep|wide|tall|thick|heavy|cold|hot|warm|big|large) (?:is|was|were|are) (?:the|its|his|her) ((?:[a-z'’-]+ )?[a-z'’-]+?)(?: (?:of|for|in|on|at|to|that|when|with|during|after|before|by|from|where|which)\b|[?.,]|$)`)
	// So must a thing of two words, which is too particular to be told by another word: "which
	// fuel additive was used". One word may only be the kind of what is told: "what sign".
	thing = regexp.MustCompile(`(?i)\b(?:what|which) ([a-z'’-]+ [a-z'’-]+) (?:was|were|is|are|did|does|had|has)\b`)
	body  = regexp.MustCompile(`(?i)\b(?:what|which) ((?:[a-z]+ )?(?:hospital|clinic|school|university|college|hotel|insurer|bank|newspaper|court|lawyer|shop|store|club)) `)
)

// nameNeeds are words of which each text has one that an expression matches.
var nameNeeds = map[*regexp.Regexp][]string{doer: {"who "}, doing: {"what "}, body: {"what ", "which "}, measured: {"how "}, thing: {"what ", "which "}, named: {"what ", "who "}, utterance: {"did "}, category: {"what ", "which "}}

// How much of what is asked for by name must be said: a kind of thing may have many words
// around it that only describe it.
const (
	wholeName = 0.5
	kindName  = 0.3
)

// name sets what an aspect names as the thing it asks for.
func (a *aspect) name() {
	lower := strings.ToLower(a.text)
	for _, form := range []*regexp.Regexp{doer, doing, body, measured, named, utterance, thing, category} {
		if !containsAny(lower, nameNeeds[form]) {
			continue
		}
		m := form.FindStringSubmatch(a.text)
		if m == nil {
			continue
		}
		a.least = wholeName
		if form == category || form == thing {
			a.least = kindName
		}
		last := ""
		lexical.English().Each(m[1], func(_, stem string) {
			switch {
			case !slices.Contains(a.terms, stem), form == category && len(thesaurus.Kinds(stem)) == 0:
			case form == thing && (abstract[stem] || len(thesaurus.Kinds(stem)) > 0):
				last = ""
			default:
				a.focus, last = append(a.focus, stem), stem
			}
		})
		if form == thing && last == "" {
			a.focus = nil // the last word has kinds, or is no thing
		}
		if len(a.focus) > 0 || form != category && form != thing {
			a.measured = form == measured && len(a.focus) > 0
			return
		}
	}
}

// abstract are things that a text tells without their names: a direction by "to the left".
var abstract = stems("direction side heading mistake error damage injury injuries reason cause action part role effect problem speed altitude height distance sign clue indication source method position condition circumstances event accident crash phase step measure decision result outcome weather wind aircraft airplane plane helicopter pilot evidence information change difference requirement rule section period time date year place location state country city number amount sentence point factor manoeuvre maneuver object thing item")

// askingWords shape a question and are no subject of it.
var askingWords = stems("how what which who whom whose when where why long far tall high low fast slow heavy deep wide old soon much many few often he she it they we you his her its their them him us our my me after before both please kind sort type way one ones first ever just still such get got thing somebody something someone anybody anything come came go went put set want do done make made view account tell say long really exactly another two three four five six ten")

// splitter cuts a question where it asks a further thing.
var splitter = regexp.MustCompile(`(?i)[?;]\s+|:\s+|\.\s+(?:[A-Z])|,?\s+(?:and|or)\s+(?:(?:in|on|at|by|to|from|above|below|within|for|with|of)\s+)?(?:what|how|where|who|whom|which|when|why)\b|,\s+(?:what|how|where|who|whom|which|when|why)\b`)

// causal matches a question for what brought something about, or for what was found to have.
var causal = regexp.MustCompile(`(?i)\bwhy\b|\bcauses?\b|\breasons?\b|\bwhat (?:stopped|caused|made|led|brought|triggered|prompted)\b|\bto blame\b|\bfaulted?\b|\bboard's view\b|\bprobable\b`)

// names returns the words of a question that name something: written with a capital inside a
// sentence, and no words of the language.
func names(question string, topic []string) []string {
	if !hasProperWord(question) {
		return nil
	}
	subject := stems(strings.Join(topic, " "))
	var out []string
	for _, m := range properWord.FindAllStringSubmatch(question, -1) {
		for s := range stems(m[1]) {
			if subject[s] && !thesaurus.Known(s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// hasProperWord reports whether properWord can match: a capital stands behind a blank.
func hasProperWord(question string) bool {
	for i := 2; i < len(question); i++ {
		if question[i] >= 'A' && question[i] <= 'Z' && question[i-1] == ' ' {
			return true
		}
	}
	return false
}

var properWord = regexp.MustCompile(`[\w,'] ([A-Z][a-z]{2,})\b`)

// aspects splits a question into what it asks. Words of the subject alone count: those of
// conditions hold for every document already.
func aspects(question string, topic []string) []aspect {
	subject := stems(strings.Join(topic, " "))
	var out []aspect
	add := func(text string) {
		a := aspect{text: strings.TrimSpace(text), want: wants(text)}
		lexical.English().Each(text, func(_, stem string) {
			if subject[stem] && !askingWords[stem] && !slices.Contains(a.terms, stem) {
				a.terms = append(a.terms, stem)
			}
		})
		a.name()
		if len(a.terms) > 0 || a.want != anything {
			out = append(out, a)
		}
	}
	from := 0
	for _, at := range splits(question) {
		if at > from {
			add(question[from:at])
		}
		from = at
	}
	add(question[from:])
	return out
}

// splits are the places where a question asks a further thing.
func splits(question string) (out []int) {
	if !splittable(question) {
		return nil
	}
	for _, at := range splitter.FindAllStringIndex(question, -1) {
		out = append(out, at[0])
	}
	return out
}

// splittable reports whether splitter can match: each of its ways needs a blank behind a mark
// that ends a sentence, or one before a word that asks.
func splittable(question string) bool {
	for i := 1; i < len(question); i++ {
		if !blank(question[i]) {
			continue
		}
		if strings.IndexByte("?;:.", question[i-1]) >= 0 {
			return true
		}
		if i+1 < len(question) && strings.IndexByte("wWhH", question[i+1]) >= 0 && asks(question[i+1:]) {
			return true
		}
	}
	return false
}

func blank(c byte) bool { return strings.IndexByte(" \t\n\f\r", c) >= 0 }

// asks reports whether a text begins with a word that asks.
func asks(text string) bool {
	return slices.ContainsFunc(askWords, func(w string) bool { return len(text) >= len(w) && strings.EqualFold(text[:len(w)], w) })
}

var askWords = []string{"what", "how", "where", "who", "which", "when", "why"}
