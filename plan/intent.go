package plan

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// Cues are matched as runs of whole words against the question's words.
var (
	causes = cues(`why|how come|cause|causes|caused|causing|probable cause|root cause|reason|reasons|what led|led to|led the|contributing|contributed|contributory|brought down|bring down|what brought|what was behind|events behind|
chain of events behind|what went wrong|what made|what makes|due to what|play a part|played a part|what mistakes|sequence of failures|chain of events|which failure|which factors|what factors|what put|to blame|was ice the reason|responsible for|end up|how does vfr flight`)
	legality = cues(`legal|illegal|legally|lawful|lawfully|unlawful|violate|violated|violation|violations|violating|comply|complied|compliance|compliant|in breach|breach|breached|against the rules|against the regulations|within the rules|within limits|
break the rules|broke the rules|break part|bust|busted|contrary to|proper permission|were the rules followed|rules followed|as required|at fault|required to hold|permitted under|allowed to be|was he allowed|was she allowed|were they allowed|than the rules allow|in order under|within flight and duty limits|training requirements of|as 91|maintained as|permitted to`)
	rules       = cues(`rule|rules|regulation|regulations|regulatory|requirement|requirements|required|requires|require|must|may|minimum safe|minimums|permitted|allowed|prohibited|prohibit|section|definition of|define|limit|limits|when may|how often|how long before|how low|who needs|can i|can a|can an|could a|can you|can pilots|may a|may an|need a|need an|needs a|needs an|who may|who can|is it ok|substitute|age limit|mandatory|shall|need to|needs to`)
	comparisons = cues(`compare|compared|comparison|versus|vs|against|contrast|difference|differences|differ|similar|similarities|in common|side by side|rank|ranking|trend|trends|more often|less often|fewer|go up|go down|gone up|gone down|went up|went down|worse|better|safer|deadlier|higher|lower|go up or down|increase|increased|decrease|decreased|improved|improving|
before and after|set against|than|most|which helicopters|how did|changed over|over time|more bird|more frequent`)
	everything = cues(`everything|all sources|across all|alongside|together|records fencing|a briefing|briefing on|safety case|together with|cross check|combine|bring together|what can we learn|both please|accidents and rules|in relation to|line up|lined up|tie the|link|relate|compile`)
	person     = cues(`the pilot|the crew|the captain|the operator|the company|the charter company|the commuter|the owner|the jumpers|the flight attendants|he|she|they|was the|were the|did the|had the|was it|would`)
)

// breaking and limits in one question ask whether a rule was kept: "did the operator break
// its duty time limits".
var (
	breaking = cues(`break|broke|broken|exceed|exceeded|exceeding|ignore|ignored|disregard|disregarded`)
	limits   = cues(`rule|rules|limit|limits|minimums|regulation|regulations|requirement|requirements|law|laws`)
)

var permission = cues(`allowed|permitted|required|authorized|authorised|entitled|qualified|certified`)

// past reports whether the question asks about something that was done: "was the
// guard allowed to be open" is about a case, "is it allowed" about the rule.
func past(words []string) bool {
	return len(words) > 0 && slices.Contains([]string{"was", "were", "did", "had"}, words[0])
}

func cues(list string) [][]string {
	var out [][]string
	for c := range strings.SplitSeq(list, "|") {
		out = append(out, strings.Fields(c))
	}
	return out
}

func has(words []string, list [][]string) bool {
	return slices.ContainsFunc(list, func(cue []string) bool { return contains(words, cue) })
}

func contains(words, cue []string) bool {
	for i := 0; i+len(cue) <= len(words); i++ {
		if slices.Equal(words[i:i+len(cue)], cue) {
			return true
		}
	}
	return false
}

func mentions(words, nouns []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(nouns, w) || slices.Contains(nouns, strings.TrimSuffix(w, "s"))
	})
}

// classify reads the intent from cue words and from what was read as conditions,
// supposing that the question is about what is held. The order is from the most to the least specific.
func classify(r constrain.Reading, p *constrain.Parser, w Words) (Intent, string) {
	words := r.Words
	events := mentions(words, w.Sources[sextant.RoleEvents]) || onEvents(r, p)
	ruled := mentions(words, w.Sources[sextant.RoleRules]) || cites(r, p)
	reports := mentions(words, w.Sources[sextant.RoleReports]) || has(words, telling)
	named := mentions(words, w.Sources[sextant.RoleEvents])
	switch {
	case reports && sourceOnly(words, w.Sources[sextant.RoleReports]):
		return Factual, "high"
	case len(words) <= bareTopic && len(r.Topic) == len(words) && !named && !ruled && !reports:
		return MultiSource, "medium" // a subject by itself asks for whatever is held
	case count(named, ruled, reports) >= 2 && (reports || has(words, everything)), has(words, everything) && !has(words, causes):
		return MultiSource, "high"
	case (has(words, legality) || has(words, breaking) && has(words, limits) || past(words) && has(words, permission)) && (events || has(words, person)):
		return Compliance, "high"
	case ruled && has(words, rules) && !cased(r, p, w) && !mentions(words, w.Sources[sextant.RoleEvents]):
		return Regulatory, "high"
	case r.Request.Compared, comparative(r) && !has(words, causes):
		return Comparative, "high"
	case has(words, causes):
		return Causal, "high"
	case cites(r, p) && !cased(r, p, w), (ruled || has(words, rules)) && !cased(r, p, w) && !mentions(words, w.Sources[sextant.RoleEvents]):
		return Regulatory, "high"
	}
	if events || len(r.Constraints) > 0 {
		return Factual, "high"
	}
	return Factual, "low"
}

// telling says that news is asked for without naming a source of it.
var telling = cues(`said anything|said about|has announced|announced|any news|latest on|been reported since`)

// bareTopic is how many words a subject without a question has at most.
const bareTopic = 2

// sourceOnly reports whether a question begins with the reports it asks for, about
// something: "news about the medical rule" wants the news and not the rule.
func sourceOnly(words, nouns []string) bool {
	for i, w := range words[:min(len(words), 4)] {
		if !slices.Contains(nouns, w) && !slices.Contains(nouns, strings.TrimSuffix(w, "s")) || i+1 >= len(words) {
			continue
		}
		switch words[i+1] {
		case "about", "on", "of", "regarding", "concerning":
			return !slices.Contains(words[i+1:], "and") && !slices.Contains(words[i+1:], "plus")
		}
	}
	return false
}

func count(flags ...bool) (n int) {
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}

func comparative(r constrain.Reading) bool {
	return has(r.Words, comparisons) && r.Request.Kind != "count" && r.Request.Kind != "last" && r.Request.Kind != "first" && r.Request.Kind != "list"
}

// cased reports whether a condition names a case, or a place or time of one, and not
// only a kind of thing.
func cased(r constrain.Reading, p *constrain.Parser, w Words) bool {
	return slices.ContainsFunc(r.Constraints, func(c constrain.Constraint) bool {
		return !w.Kinds[c.Field] && onRole(p, c.Field, sextant.RoleEvents)
	})
}

func onRole(p *constrain.Parser, field string, role sextant.Role) bool {
	return slices.ContainsFunc(p.Vocabulary().Collections, func(spec sextant.Collection) bool {
		_, ok := spec.Schema.Field(field)
		return ok && spec.Role == role
	})
}

// onEvents reports whether a condition is on a field of events.
func onEvents(r constrain.Reading, p *constrain.Parser) bool {
	return conditionOn(r, p, sextant.RoleEvents)
}

// datesReports reports whether a condition is on reports and on nothing else: "news about
// Boeing in March 2024".
func datesReports(r constrain.Reading, p *constrain.Parser) bool {
	return slices.ContainsFunc(r.Constraints, func(c constrain.Constraint) bool {
		return onRole(p, c.Field, sextant.RoleReports) && !onRole(p, c.Field, sextant.RoleEvents)
	})
}

// cites reports whether a rule is cited.
func cites(r constrain.Reading, p *constrain.Parser) bool {
	return conditionOn(r, p, sextant.RoleRules)
}

func conditionOn(r constrain.Reading, p *constrain.Parser, role sextant.Role) bool {
	return slices.ContainsFunc(r.Constraints, func(c constrain.Constraint) bool { return onRole(p, c.Field, role) })
}

// inScope reports whether anything ties the question to what is held: a condition
// other than a bare date or place, a word of the domain, or a figure asked for.
func inScope(r constrain.Reading, p *constrain.Parser, w Words) bool {
	named := mentions(r.Words, w.Sources[sextant.RoleEvents]) || onEvents(r, p) || mentions(r.Words, w.Sources[sextant.RoleRules]) || cites(r, p)
	if len(w.Subject) == 0 || has(r.Words, everything) {
		return true // a domain that says nothing of itself excludes nothing
	}
	if datesReports(r, p) && !foreign(r.Words) {
		return true
	}
	if foreign(r.Words) || len(r.Constraints) == 0 && citesElsewhere(r, p) {
		return false
	}
	if r.Request.Of != "" || len(r.Constraints) > 0 && len(r.Topic) == 0 {
		return true // nothing but conditions and a figure: they are about what is held
	}
	if named && (tied(r, w) || mentions(r.Words, w.Sources[sextant.RoleEvents]) || mentions(r.Words, w.Sources[sextant.RoleRules]) || has(r.Words, happenings)) {
		return true
	}
	hits := 0
	for _, word := range r.Words {
		if w.Subject[word] || w.Subject[strings.TrimSuffix(word, "s")] {
			hits++
		}
	}
	return hits > 0
}

// citesElsewhere reports whether a rule is cited that no collection of rules could hold:
// another title of the code.
func citesElsewhere(r constrain.Reading, p *constrain.Parser) bool {
	return slices.ContainsFunc(r.Unenforceable, func(u sextant.Unenforceable) bool { return onRole(p, u.Field, sextant.RoleRules) })
}

var happenings = cues(`what happened|happened|went wrong|crashed|crash`)

// tied reports whether a condition is about more than place and time.
func tied(r constrain.Reading, w Words) bool {
	return slices.ContainsFunc(r.Constraints, func(c constrain.Constraint) bool { return !w.Places[c.Field] })
}

// others are subjects that borrow the domain's words: a car crash is no accident of
// an aircraft, and the price of a ticket no fact of a flight.
var others = cues(`highway deaths|road deaths|traffic deaths|road accidents|traffic accidents|motorcycle|bicycle|bus crash|boating|shipwreck|car crash|good morning|for sale near|autumn leaves|weather tonight|on tonight|tv tonight|do tonight|eat tonight|dinner tonight|rain tonight|snow tonight|game tonight|play tonight|watch tonight|fly tonight|moon tonight|car crashes|train|trains|train derailments|ferry to|share price|stock price|salary|for sale|cheapest|book me|poem|recipe|right now|thriller|novel|movie|film|translate|pizza|printer|chest pain|world cup|hotel|ticket|tickets|solve|court|mount everest|who won`)

// The weather is another subject where it is that of now or of a place, and not that of a
// flight or an event.
var (
	weatherNow  = cues(`what s the weather|the weather in|weather in|weather forecast`)
	weatherThen = cues(`accident|accidents|crash|crashes|crashed|incident|incidents|flight|flights|pilot|pilots|vfr|ifr|imc|vmc|marginal|bad|poor|adverse|severe|during|when`)
)

func foreign(words []string) bool {
	return has(words, others) || has(words, weatherNow) && !has(words, weatherThen)
}
