package aviation

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

//go:embed vocabulary/phrases.txt
var phraseTable string

// commonWords are the lower-case words of the mixed-case NTSB narratives (public
// domain) that stand there at least a dozen times: real words, never misspellings.
//
//go:embed vocabulary/words.txt
var commonWords string

// Lexicon is how people speak of accidents, aircraft, places and rules. It panics if
// the tables embedded in the binary are malformed, which a test would have shown.
var Lexicon = sync.OnceValue(func() *constrain.Lexicon {
	phrases, err := constrain.ParsePhrases(phraseTable)
	if err != nil {
		panic(fmt.Sprintf("aviation: %v", err))
	}
	n, g := loadNames(), loadGazetteer()
	return &constrain.Lexicon{
		Phrases:  phrases,
		Measures: measures,
		Recognizers: []constrain.Recognizer{
			n.designations, n.standingMakers, g.places, routes, airports, operators, persons, identifiers, sections, operatingParts, contrasts, exposures,
		},
		Opposites: opposites,
		Dates:     "event_date",
		Months:    "event_month",
		Kinds: []string{"aircraft_category", "engine_type", "engine_count", "phase", "weather", "purpose", "schedule", "amateur_built", "make", "model", "severity", "injuries", "damage", "investigation_type", "report_status",
			"fatal_count", "serious_count", "minor_count", "uninjured_count"},
		Where:         []string{"state", "country", "city"},
		DatedBy:       map[string]string{"published": "publication_date"},
		Compile:       map[string]constrain.CompileFunc{"airport": compileAirport, "far_part": compilePart, "accident_number": compileNumber},
		Applies:       map[string]filter.Filter{"state": statesApply},
		Grave:         "fatal_count",
		Summed:        map[string]bool{"fatal_count": true, "serious_count": true, "minor_count": true, "uninjured_count": true},
		TypeOf:        map[string]constrain.Grouping{Aircraft: {Name: "model", Field: "model"}},
		TextNouns:     textNouns,
		Asked:         askedOf(),
		Opinions:      []string{partCause, partFinding, partAdvice, partReport, partPage},
		Stages:        []string{"report_status"},
		Units:         map[string]string{"aircraft": Aircraft, "airplane": Aircraft, "airplanes": Aircraft, "plane": Aircraft, "planes": Aircraft},
		Groupings:     groupings,
		Spoken:        spoken,
		Lookups:       []string{"registration", "airport_code", "airport_name", "operator", "accident_number", "event_id"},
		Searched:      []string{"model", "airport_name", "operator"},
		Abbreviations: g.stops,
		EventNouns:    []string{"accident", "crash", "incident", "event", "mishap", "wreck", "case", "report", "record", "occurrence", "fatals", "loss", "collision"},
		Documents:     wordSet(`record report case event`),
		Ties:          ties,
		Generic:       genericWords,
		Words:         wordSet(commonWords),
		Names:         tableWords(placeTable, nameTable, operatorTable),
	}
})

// spoken are the fields whose values and names are read by the recognizers of this
// package only, and never as bare words.
var spoken = []string{"severity", "injuries", "investigation_type", "report_status", "weather", "phase", "aircraft_category", "engine_type", "engine_count", "amateur_built", "damage", "purpose", "schedule", "city", "state", "country", "make", "make_recorded", "model", "airport", "operator", "registration", "accident_number", "event_id", "far_part", "far_description", "cfr_part", "cfr_section", "subpart",
	"news_source", "topic", "aircraft_named", "place_named", "event_date_precision", "finding_category", "finding_subcategory", "cause_factor", "finding_order", "aircraft_order", "docket_date", "data_source", "filled", "publication_date", "published", "valid_from", "valid_to", "amended"}

var measures = []constrain.Measure{
	{Field: "fatal_count", After: []string{"killed", "dead", "deaths", "death", "died", "die", "dying", "fatalities", "fatality", "fatals", "fatal injuries", "fatally injured", "lives lost", "lost their lives", "lose their lives", "perished", "perish", "casualties", "fatally hurt"},
		Verbs: []string{"killed", "kill", "killing", "kills", "claimed", "claiming", "took the lives of", "deaths of", "death of", "death toll", "death toll of", "fatality count", "fatal count", "number of deaths", "number of fatalities"}},
	{Field: "serious_count", After: []string{"serious injuries", "serious injury", "seriously injured", "seriously hurt", "badly hurt", "badly injured", "severely injured", "seriously"},
		Verbs: []string{"seriously injured", "seriously injuring", "injured seriously", "seriously hurt", "seriously hurting"}},
	{Field: "minor_count", After: []string{"minor injuries", "minor injury", "slightly injured", "slightly hurt", "lightly injured"}},
	{Field: "uninjured_count", After: []string{"uninjured", "unhurt", "unharmed", "survivor", "survivors", "survived", "not injured"}},
	{Field: "airport_elevation", After: []string{"feet elevation", "ft elevation", "foot elevation", "feet of elevation", "feet in elevation", "feet above sea level elevation"},
		Verbs: []string{"elevation", "elevations", "elevation of", "an elevation of", "field elevation", "airport elevation", "field elevations", "airport elevations"}},
	{Field: "engine_count", After: []string{"engines", "engine", "engined", "engine airplane", "engine airplanes", "engine aircraft", "engine plane", "engine planes", "engined airplane", "engined airplanes", "engined aircraft", "engined plane", "engined planes"}, Most: 12,
		Unless: []string{"failure", "fail", "failed", "failing", "out", "fire", "quit", "stopped", "loss", "lost", "loses", "losing", "lose", "problem", "surge", "stoppage", "shutdown", "shut", "inoperative", "malfunction", "trouble", "run", "overhaul", "of its", "dead", "flameout", "not", "go around", "performance", "climb", "operation", "operations", "approach", "service ceiling", "taxi"},
		Verbs:  []string{"engine count", "engine count of", "number of engines"}},
}

var textNouns = map[string]constrain.TextNoun{
	"report": {Role: sextant.RoleEvents}, "accident": {Role: sextant.RoleEvents}, "incident": {Role: sextant.RoleEvents}, "crash": {Role: sextant.RoleEvents}, "event": {Role: sextant.RoleEvents},
	"record": {Role: sextant.RoleEvents}, "case": {Role: sextant.RoleEvents}, "text": {Role: sextant.RoleEvents},
	"narrative": {Role: sextant.RoleEvents, Part: partNarrative}, "cause": {Role: sextant.RoleEvents, Part: partCause},
	"finding": {Role: sextant.RoleEvents, Part: partFinding}, "recommendation": {Role: sextant.RoleEvents, Part: partAdvice}, "analysis": {Role: sextant.RoleEvents, Part: partReport},
	"article": {Role: sextant.RoleReports}, "story": {Role: sextant.RoleReports}, "stories": {Role: sextant.RoleReports}, "news": {Role: sextant.RoleReports}, "headline": {Role: sextant.RoleReports}, "press": {Role: sextant.RoleReports}, "coverage": {Role: sextant.RoleReports}, "newspaper": {Role: sextant.RoleReports},
	"rule": {Role: sextant.RoleRules}, "section": {Role: sextant.RoleRules}, "regulation": {Role: sextant.RoleRules},
}

var opposites = map[[2]string]constrain.Condition{
	{"severity", "fatal"}:    constrain.Is("severity", "nonfatal"),
	{"severity", "nonfatal"}: constrain.Is("severity", "fatal"),
	{"injuries", "any"}:      constrain.Is("injuries", "none"),
	{"injuries", "none"}:     constrain.Is("injuries", "any"),
	{"amateur_built", "yes"}: constrain.Is("amateur_built", "no"),
	{"amateur_built", "no"}:  constrain.Is("amateur_built", "yes"),
}

var groupings = map[string]constrain.Grouping{
	"year": {Name: "year", Field: "event_date", By: "year"}, "calendar year": {Name: "year", Field: "event_date", By: "year"},
	"month": {Name: "month", Field: "event_date", By: "month_of_year"}, "month of the year": {Name: "month", Field: "event_date", By: "month_of_year"},
	"quarter": {Name: "quarter", Field: "event_date", By: "quarter"},
	"weekday": {Name: "weekday", Field: "event_date", By: "weekday"}, "day of the week": {Name: "weekday", Field: "event_date", By: "weekday"}, "day of week": {Name: "weekday", Field: "event_date", By: "weekday"},
	"hour": {Name: "hour", Field: "event_time", By: "hour"}, "hour of the day": {Name: "hour", Field: "event_time", By: "hour"}, "hour of day": {Name: "hour", Field: "event_time", By: "hour"}, "time of day": {Name: "hour", Field: "event_time", By: "hour"},
	"calendar month": {Name: "calendar month", Field: "event_date", By: "month"}, "year and month": {Name: "calendar month", Field: "event_date", By: "month"}, "day": {Name: "day", Field: "event_date", By: "day"}, "decade": {Name: "decade", Field: "event_date", By: "decade"},
	"state": {Name: "state", Field: "state"}, "us state": {Name: "state", Field: "state"},
	"country": {Name: "country", Field: "country"}, "city": {Name: "city", Field: "city"},
	"make": {Name: "make", Field: "make"}, "manufacturer": {Name: "make", Field: "make"}, "maker": {Name: "make", Field: "make"}, "brand": {Name: "make", Field: "make"}, "aircraft make": {Name: "make", Field: "make"},
	"model": {Name: "model", Field: "model"}, "aircraft model": {Name: "model", Field: "model"}, "type": {Name: "model", Field: "model"}, "aircraft type": {Name: "model", Field: "model"},
	"phase": {Name: "phase", Field: "phase"}, "phase of flight": {Name: "phase", Field: "phase"}, "flight phase": {Name: "phase", Field: "phase"}, "phase of the flight": {Name: "phase", Field: "phase"},
	"severity": {Name: "severity", Field: "severity"}, "injury severity": {Name: "severity", Field: "severity"},
	"weather": {Name: "weather", Field: "weather"}, "weather condition": {Name: "weather", Field: "weather"},
	"damage": {Name: "damage", Field: "damage"}, "aircraft damage": {Name: "damage", Field: "damage"},
	"category": {Name: "aircraft_category", Field: "aircraft_category"}, "aircraft category": {Name: "aircraft_category", Field: "aircraft_category"},
	"engine type": {Name: "engine_type", Field: "engine_type"}, "number of engines": {Name: "engine_count", Field: "engine_count"},
	"purpose": {Name: "purpose", Field: "purpose"}, "purpose of flight": {Name: "purpose", Field: "purpose"}, "purpose of the flight": {Name: "purpose", Field: "purpose"}, "kind of flight": {Name: "purpose", Field: "purpose"},
	"operating rule": {Name: "far_part", Field: "far_part"}, "far part": {Name: "far_part", Field: "far_part"},
	"operator": {Name: "operator", Field: "operator"}, "airline": {Name: "operator", Field: "operator"}, "air carrier": {Name: "operator", Field: "operator"},
	"airport": {Name: "airport", Field: "airport_code"}, "report status": {Name: "report_status", Field: "report_status"}, "status": {Name: "report_status", Field: "report_status"},
	"schedule": {Name: "schedule", Field: "schedule"}, "amateur built": {Name: "amateur_built", Field: "amateur_built"},
}

// statesApply: an event abroad has no state, and that is known of it.
var statesApply = filter.Or{filter.Not{Filter: filter.Exists{Field: "country"}}, filter.Eq{Field: "country", Value: filter.OfString("United States")}}

// compileAirport: an airport is meant by its code or by any part of its name.
func compileAirport(c constrain.Condition) filter.Filter {
	var any filter.Or
	for _, v := range c.Values {
		s := fmt.Sprint(v)
		any = append(any, filter.Eq{Field: "airport_code", Value: filter.OfString(airportCode(s))}, filter.Contains{Field: "airport_name", Sub: s})
	}
	if c.Op == sextant.OpNotIn || c.Op == sextant.OpNotContains {
		known := filter.Or{filter.Exists{Field: "airport_code"}, filter.Exists{Field: "airport_name"}}
		return filter.And{known, filter.Not{Filter: any}}
	}
	return any
}

// compilePart leaves values as they are: a flight under 91 subpart K holds both "91"
// and "91K", so that part 91 includes it.
func compilePart(c constrain.Condition) filter.Filter {
	in := filter.In{Field: "far_part"}
	for _, v := range c.Values {
		in.Values = append(in.Values, filter.OfString(fmt.Sprint(v)))
	}
	if c.Op == sextant.OpNotIn {
		return filter.And{filter.Exists{Field: "far_part"}, filter.Not{Filter: in}}
	}
	return filter.Simplify(in)
}

// ties are what happens to aircraft, their parts and their crews: beside them "landing" is
// a phase of flight and "Texas" the place of an event.
var ties = wordSet(`airplane airplanes aeroplane aeroplanes plane planes helicopter helicopters seaplane seaplanes floatplane floatplanes jet jets airliner airliners glider gliders taildragger taildraggers homebuilt homebuilts warbird warbirds
 stall stalls stalled stalling spin spins spun bounce bounced bouncing overrun overruns overran overrunning undershoot undershot excursion excursions groundloop groundloops groundlooped veered nosed porpoise porpoised flipped
 icing failure failures failed quit ditched ditching ditchings collided collisions struck hit strike strikes midair midairs exploded explosion explosions collapse collapsed collapses sank sink exhaustion starvation damage broke separated
 lost disoriented incapacitated incapacitation turbulence windshear thunderstorm thunderstorms fog whiteout snow downdraft gusts gust crosswind tailwind fatalities mishandled misjudged hydroplaned blown burst jammed chute parachute vibration smoke surge flameout runway rotor`)

// maxAircraft bounds the letters that tell the aircraft of one case apart.
const maxAircraft = 8

// compileNumber: the number of a case is also that of each of its aircraft, which have a
// letter behind it.
func compileNumber(c constrain.Condition) filter.Filter {
	in := filter.In{Field: "accident_number"}
	for _, v := range c.Values {
		number := strings.ToUpper(fmt.Sprint(v))
		in.Values = append(in.Values, filter.OfString(number))
		if last := number[max(len(number)-1, 0):]; last >= "0" && last <= "9" {
			for letter := 'A'; letter < 'A'+maxAircraft; letter++ {
				in.Values = append(in.Values, filter.OfString(number+string(letter)))
			}
		}
	}
	if c.Op == sextant.OpNotIn {
		return filter.And{filter.Exists{Field: "accident_number"}, filter.Not{Filter: in}}
	}
	return in
}

// tableWords collects the words of tables.
func tableWords(tables ...string) map[string]bool {
	out := map[string]bool{}
	for _, table := range tables {
		for line := range lines(table) {
			for _, w := range constrain.Words(line) {
				out[w] = true
			}
		}
	}
	return out
}

func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}

// genericWords stand in any question about accidents and tell none from another.
var genericWords = wordSet(`airplane airplanes plane planes flight flights flying flown fly file files data database held hold holds happen happened happening happens occur occurred occurs involve
 involved involving involves recorded recording known ntsb us result resulted resulting ended end ending carry carried registered registration tail describe explain tell summarize summary details detail information everything anything
 something place places time times period ones one kind kinds sort type types take took taken place number numbers figure figures total totals year years month months day days deadly worst common`)
