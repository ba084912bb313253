package aviation

import (
	"github.com/sextant-rag/sextant"
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
 accident incident crash crashed mishap ntsb faa far cfr avweb aviation aeronautical airman airworthiness preflight logbook maintenance inspection overhaul airframe charter airline carrier tsa atc metar notam checkride
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
