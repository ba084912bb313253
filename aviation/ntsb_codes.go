package aviation

import (
	_ "embed"
	"strings"
	"sync"
)

// The NTSB's database and CAROL write codes where the published AviationData file writes
// words. The words are taken as the value, so that all files speak alike; they are those
// of the database's own data dictionary (eADMSPUB, public domain).

var categoryCodes = map[string]string{
	"air": "Airplane", "heli": "Helicopter", "gli": "Glider", "ball": "Balloon", "gyro": "Gyrocraft", "blim": "Blimp", "plft": "Powered-Lift",
	"ultr": "Ultralight", "wsft": "Weight-Shift", "ppar": "Powered Parachute", "rckt": "Rocket", "unmanned": "Unmanned", "unk": "Unknown",
}

var ruleCodes = map[string]string{
	"091": "Part 91: General Aviation", "91": "Part 91: General Aviation", "091f": "Part 91F: Special Flt Ops.", "091k": "Part 91 Subpart K: Fractional",
	"103": "Part 103: Ultralight", "105": "Part 105: Parachute Jumping", "107": "Part 107: Small UAS", "121": "Part 121: Air Carrier", "125": "Part 125: 20+ Pax,6000+ lbs",
	"127": "Part 127: Sched AirCar w/Heli.", "129": "Part 129: Foreign", "133": "Part 133: Rotorcraft Ext. Load", "135": "Part 135: Air Taxi & Commuter",
	"137": "Part 137: Agricultural", "141": "Part 141: Pilot Schools", "437": "Part 437: Commercial Space Flight", "armf": "Armed Forces",
	"nusc": "Non-U.S., Commercial", "nusn": "Non-U.S., Non-Commercial", "pubf": "Public Use - Federal", "publ": "Public Use - Local", "pubs": "Public Use - State",
	"pubu": "Public Use", "unk": "Unknown",
}

var purposeCodes = map[string]string{
	"aapl": "Aerial Application", "adrp": "Air Drop", "airm": "Air Medical", "aobv": "Aerial Observation", "asho": "Air Race/Show", "bant": "Banner Tow",
	"bus": "Business", "exec": "Executive/Corporate", "exld": "External Load", "fery": "Ferry", "firf": "Firefighting", "flts": "Flight Test", "gldt": "Glider Tow",
	"hire": "For Hire", "inst": "Instructional", "oth": "Other", "owrk": "Other Work Use", "pers": "Personal", "posi": "Positioning", "pubu": "Public Aircraft", //nolint:misspell // the codes are the NTSB's
	"pubf": "Public Aircraft - Federal", "publ": "Public Aircraft - Local", "pubs": "Public Aircraft - State", "site": "Sightseeing", "skyd": "Skydiving",
	"atxa": "Air Taxi Non-Sched.(135A)", "atxc": "Air Taxi Commuter", "atxo": "Air Taxi Oper./Large Aircraft", "atxs": "Air Taxi Sched./Not Commuter",
	"crgo": "All Cargo Carriers", "ilgl": "Illegal Cargo/Operation", "inds": "Industrial Special", "scac": "Scheduled Air Carrier",
	"scrh": "Sched. Air Carrier Helicopter", "supp": "Supplemental/Commercial Oper.", "tvlc": "Travel Club", "unk": "Unknown",
}

var engineCodes = map[string]string{
	"rec": "Reciprocating", "tp": "Turbo Prop", "tf": "Turbo Fan", "gtfn": "Turbo Fan", "tj": "Turbo Jet", "ts": "Turbo Shaft", "elec": "Electric", "lr": "Liquid Rocket",
	"sr": "Solid Rocket", "hr": "Hybrid Rocket", "none": "None", "unk": "Unknown",
}

// phaseCodes give CAROL's phases as the published file's; the recorded one is kept
// beside it.
var phaseCodes = map[string]string{"enroute": "CRUISE", "initial climb": "CLIMB", "emergency descent": "DESCENT", "uncontrolled descent": "DESCENT", "after landing": "LANDING"}

// spelled gives the value of codes and other spellings for the words of the published
// file, by field, in lower case.
var spelled = map[string]map[string]string{
	"investigation_type": {"acc": "accident", "inc": "incident", "occ": "occurrence"},
	"damage":             {"dest": "destroyed", "subs": "substantial", "minr": "minor", "unk": "unknown"},
	"amateur_built":      {"y": "yes", "n": "no", "true": "yes", "false": "no"},
	"country":            {"usa": "United States"},
	"aircraft_category":  categoryCodes,
	"far_description":    ruleCodes,
	"purpose":            purposeCodes,
	"engine_type":        engineCodes,
	"phase":              phaseCodes,
	"weather":            {"unknown": "UNK"},
	"report_status":      {"final": "Probable Cause", "prelim": "Preliminary", "fact": "Factual", "prel": "Preliminary"},
	"safety_recommendation": {
		"true": "yes", "false": "no", "1": "yes", "0": "no", "y": "yes", "n": "no",
	},
}

func spell(field, s string) string {
	if full, ok := spelled[field][strings.ToLower(s)]; ok {
		return full
	}
	if field == "country" && len(s) == 2 {
		if name, ok := countryCodes()[strings.ToUpper(s)]; ok {
			return name
		}
	}
	return s
}

//go:embed vocabulary/ntsb-countries.tsv
var countryTable string

// countryCodes are the two letters that the NTSB's tables write for countries.
var countryCodes = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range lines(countryTable) {
		if code, name, ok := strings.Cut(line, "\t"); ok {
			out[code] = name
		}
	}
	return out
})

// waters are what CAROL and the tables call the seas, some under more than one name.
var waters = map[string]string{
	"gulf of mexico": "GM", "gulf of america": "GM", "atlantic ocean": "AO", "pacific ocean": "PO", "caribbean sea": "CB", "puerto rico": "PR", "guam": "GU",
	"virgin islands": "VI", "american samoa": "AQ", "northern mariana islands": "CQ", "district of columbia": "DC",
}

// stateCode is the two letters of a state or sea of the United States, however written;
// "" for what is none ("Other Foreign").
func stateCode(state string) string {
	name := strings.ToLower(clean(state))
	if code, ok := waters[name]; ok {
		return code
	}
	if code, ok := loadGazetteer().codeOf[name]; ok {
		return strings.ToUpper(code)
	}
	if len(name) == 2 && name != "of" {
		return strings.ToUpper(name)
	}
	return ""
}

// location writes city, state and country as the published file does: "Boise, ID", and
// abroad "Nuuk, Greenland".
func location(city, state, country string) string {
	tail := stateCode(state)
	if country != "" && !strings.EqualFold(country, "United States") {
		tail = country
	}
	switch {
	case city == "" && tail == "":
		return ""
	case city == "" && len(tail) == 2:
		return ", " + tail
	}
	return strings.Trim(city+", "+tail, ", ")
}
