package aviation

import (
	"context"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/compute"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/plan"
)

// Collections returns the three collections of the pack.
func Collections() []sextant.Collection {
	return []sextant.Collection{Incidents(), Regulations(), News()}
}

// Words is what belongs to the subject, for telling a question about flying from one
// about anything else.
func Words() plan.Words {
	return plan.Words{
		Subject: wordSet(`aircraft airplane aeroplane plane helicopter glider balloon gyroplane gyrocopter ultralight drone airliner jet seaplane floatplane amphibian taildragger biplane homebuilt rotorcraft twin tractor
 pilot copilot captain crew crewmember instructor passenger controller mechanic flight fly flying flown flew airport runway taxiway airstrip heliport hangar tower airspace takeoff landing approach climb cruise descent taxi taxiing
 engine propeller rotor wing flap rudder elevator aileron gear landing cockpit fuselage carburetor carburettor fuel oil oxygen altimeter autopilot magneto jackscrew windshield transponder avionics vor ils gps taws mel
 stall spin icing ice turbulence cfit vfr ifr imc vmc ditching ditched overrun midair ditch autorotation hypoxia disorientation fatigue alcohol medical
 accident incident crash crashed mishap ntsb faa far cfr avweb aviation aeronautical airman airworthiness preflight logbook charter airline carrier tsa atc metar notam checkride
 skydiving parachute banner ferry spraying crop dusting aerobatic airshow tow towing vfr training trainer altitude altitudes twa jal klm sas kal certificate rating currency flight-review mooney cessna piper beech boeing airbus cirrus bell robinson learjet probable narrative docket`),
		Kinds:  wordSet(`far_part aircraft_category engine_type engine_count schedule purpose phase weather make model amateur_built`),
		Places: wordSet(`event_date event_month state country city`),
		Sources: map[sextant.Role][]string{
			sextant.RoleEvents:  {"accident", "crash", "incident", "mishap", "wreck", "case", "record", "ntsb", "crashed", "collision", "ditching", "overrun", "breakup", "event"},
			sextant.RoleRules:   {"rule", "regulation", "far", "cfr", "section", "part", "requirement", "regulatory", "airworthiness"},
			sextant.RoleReports: {"news", "press", "article", "headline", "coverage", "publication", "magazine", "avweb", "story", "stories", "bulletin", "reporting", "reported", "media", "current report"},
		},
	}
}

// Counting is what the pack adds to computed figures: other defensible counts, what
// spellings were joined, and which cases are still open.
func Counting() compute.Domain {
	return compute.Domain{
		Recorded: map[string]string{"make": "make_recorded"},
		Open:     filter.In{Field: "report_status", Values: []filter.Value{filter.OfString("Preliminary"), filter.OfString("Factual")}},
		Rules: []compute.Rule{
			{Name: "accidents only", Why: "incidents are a selection the NTSB chose to look into, not a count of all", Apply: accidentsOnly},
			{Name: "in the United States only", Why: "events abroad are notifications by other countries, and incomplete", Apply: domesticOnly},
			{Name: "make as spelled", Why: "only the spelling asked for, without the maker's other names", Apply: makeAsSpelled},
		},
		Notes: notes,
	}
}

func accidentsOnly(_ context.Context, r compute.Request) (filter.Filter, bool, error) {
	parts := r.Parts
	if has(parts, "investigation_type") || !anyOf(parts, incidentFields) && len(parts) == 0 {
		return nil, false, nil
	}
	only := constrain.Compiled{Filter: filter.Eq{Field: "investigation_type", Value: filter.OfString("accident")}}
	return constrain.Joint(append(append([]constrain.Compiled{}, parts...), only)), true, nil
}

func domesticOnly(_ context.Context, r compute.Request) (filter.Filter, bool, error) {
	parts := r.Parts
	for _, field := range []string{"state", "country", "city", "airport", "registration", "accident_number", "event_id"} {
		if has(parts, field) {
			return nil, false, nil
		}
	}
	only := constrain.Compiled{Filter: filter.Eq{Field: "country", Value: filter.OfString("United States")}}
	return constrain.Joint(append(append([]constrain.Compiled{}, parts...), only)), true, nil
}

// makeAsSpelled counts only the spelling that was asked for, case aside.
func makeAsSpelled(_ context.Context, r compute.Request) (filter.Filter, bool, error) {
	out := append([]constrain.Compiled{}, r.Parts...)
	changed := false
	for i, p := range out {
		if p.Field != "make" || p.Op != sextant.OpEq && p.Op != sextant.OpIn {
			continue
		}
		in := filter.In{Field: "make_recorded"}
		for _, v := range p.Values {
			if s, ok := v.(string); ok {
				in.Values = append(in.Values, filter.OfString(s))
			}
		}
		out[i].Filter, changed = in, true
	}
	return constrain.Joint(out), changed, nil
}

var incidentFields = []string{"severity", "damage", "phase", "make", "model", "state", "event_date"}

func has(parts []constrain.Compiled, field string) bool { return anyOf(parts, []string{field}) }

func anyOf(parts []constrain.Compiled, fields []string) bool {
	for _, p := range parts {
		for _, f := range fields {
			if p.Field == f {
				return true
			}
		}
	}
	return false
}

// notes are the fixed cautions of the field, each where it applies.
func notes(_ context.Context, r compute.Request) ([]string, error) {
	var out []string
	if r.Reading.Request.Kind == "share" || r.Reading.Request.Compared || r.Reading.Request.Kind == "top" {
		out = append(out, "Counts and shares are no risk: no hours flown and no fleet sizes are held.")
	}
	for _, p := range r.Parts {
		for _, v := range p.Values {
			if s, ok := v.(int); ok && s == 0 && strings.HasSuffix(p.Field, "_count") {
				out = append(out, "From 2002 on a zero is mostly left blank in the records, and a blank is not counted as zero here.")
			}
		}
	}
	return out, nil
}

// Examples are questions to begin with.
func Examples() map[string][]string {
	return map[string][]string{"incidents": {
		"How many Cessna 172 accidents happened in Alaska between 2008 and 2012, by year?",
		"Were there any fatal Cessna 172 accidents in Alaska in 2010?",
		"Which five makes have the most fatal accidents in amateur-built aircraft?",
		"What share of accidents in IMC were fatal?",
		"Robinson R44 against Robinson R22: fatal accidents, 2008 to 2012",
		"What happened to N106US?",
		"Helicopter accidents in California in 2010 by phase of flight",
		"How many people were killed in accidents of Part 135 flights in 2009?",
	}}
}
