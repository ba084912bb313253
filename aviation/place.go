package aviation

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// states maps the names of states and territories, in lower case, to the codes the
// records use.
var states = map[string]string{
	"alabama": "AL", "alaska": "AK", "arizona": "AZ", "arkansas": "AR", "california": "CA", "colorado": "CO", "connecticut": "CT", "delaware": "DE", "florida": "FL", "georgia": "GA",
	"hawaii": "HI", "idaho": "ID", "illinois": "IL", "indiana": "IN", "iowa": "IA", "kansas": "KS", "kentucky": "KY", "louisiana": "LA", "maine": "ME", "maryland": "MD",
	"massachusetts": "MA", "michigan": "MI", "minnesota": "MN", "mississippi": "MS", "missouri": "MO", "montana": "MT", "nebraska": "NE", "nevada": "NV", "new hampshire": "NH", "new jersey": "NJ",
	"new mexico": "NM", "new york": "NY", "north carolina": "NC", "north dakota": "ND", "ohio": "OH", "oklahoma": "OK", "oregon": "OR", "pennsylvania": "PA", "rhode island": "RI", "south carolina": "SC",
	"south dakota": "SD", "tennessee": "TN", "texas": "TX", "utah": "UT", "vermont": "VT", "virginia": "VA", "washington": "WA", "west virginia": "WV", "wisconsin": "WI", "wyoming": "WY",
	"district of columbia": "DC", "washington dc": "DC", "washington d c": "DC", "puerto rico": "PR", "guam": "GU", "us virgin islands": "VI", "u s virgin islands": "VI", "virgin islands": "VI",
	"gulf of mexico": "GM", "gulf of america": "GM", "newyork": "NY", "washington state": "WA", "state of washington": "WA", "new york state": "NY", "state of new york": "NY", "calif": "CA", "n y": "NY", "d c": "DC",
}

// codes are the states' two letters; wordCodes among them are words, abbreviations or
// parts of names as well and need the position of a place and capitals.
var (
	codes     = stateCodes()
	wordCodes = wordSet(`in or me ok hi oh id la ma pa al de co ga mo mi md va wa ne nd sd vi pr gu gm ms ct ar as`)
)

func stateCodes() map[string]bool {
	out := map[string]bool{}
	for _, c := range states {
		out[strings.ToLower(c)] = true
	}
	return out
}

// countries by what people call them, beyond the names in the records.
var countries = map[string]string{
	"united states": "United States", "u s": "United States", "us": "United States", "usa": "United States", "u s a": "United States", "the states": "United States",
	"uk": "United Kingdom", "u k": "United Kingdom", "great britain": "United Kingdom", "britain": "United Kingdom", "england": "United Kingdom", "scotland": "United Kingdom", "wales": "United Kingdom", "northern ireland": "United Kingdom", "british": "United Kingdom", "english": "United Kingdom", "scottish": "United Kingdom", "welsh": "United Kingdom",
	"canadian": "Canada", "mexican": "Mexico", "brazilian": "Brazil", "australian": "Australia", "french": "France", "german": "Germany", "colombian": "Colombia", "spanish": "Spain", "italian": "Italy", "venezuelan": "Venezuela",
	"japanese": "Japan", "argentine": "Argentina", "argentinian": "Argentina", "indonesian": "Indonesia", "peruvian": "Peru", "ecuadorian": "Ecuador", "swiss": "Switzerland", "russian": "Russia", "guatemalan": "Guatemala", "irish": "Ireland",
	"chinese": "China", "austrian": "Austria", "swedish": "Sweden", "chilean": "Chile", "dutch": "Netherlands", "holland": "Netherlands", "indian": "India", "bolivian": "Bolivia", "south korea": "Korea, Republic Of", "korea": "Korea, Republic Of", "korean": "Korea, Republic Of",
	"taiwanese": "Taiwan", "portuguese": "Portugal", "turkish": "Turkey", "icelandic": "Iceland", "polish": "Poland", "philippine": "Philippines", "belgian": "Belgium", "thai": "Thailand", "danish": "Denmark", "norwegian": "Norway",
	"malaysian": "Malaysia", "nigerian": "Nigeria", "kenyan": "Kenya", "finnish": "Finland", "greek": "Greece", "hungarian": "Hungary", "jamaican": "Jamaica", "egyptian": "Egypt", "cuban": "Cuba", "costa rican": "Costa Rica", "the bahamas": "Bahamas", "bahamian": "Bahamas", "uae": "United Arab Emirates",
}

var regions = map[string][]any{
	"new england": {"CT", "ME", "MA", "NH", "RI", "VT"}, "pacific northwest": {"OR", "WA"},
}

// provinces of Canada name no place the records could be asked for; with the country
// after them, the country is meant.
var provinces = wordSet(`ontario quebec alberta manitoba saskatchewan yukon nunavut labrador newfoundland`)

// places claims states, countries, cities and regions.
func places(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		for _, read := range []func(*constrain.Query, int) (constrain.Claim, bool){stateName, stateCode, country, abroad, region, city, county, special, province} {
			if c, ok := read(q, i); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

func stateNameAt(q *constrain.Query, i int) (code string, to int, ok bool) {
	return longestName(q, i, 4, states)
}

func stateName(q *constrain.Query, i int) (constrain.Claim, bool) {
	code, to, ok := stateNameAt(q, i)
	c := constrain.Is("state", code)
	if !ok {
		near, found := q.Nearest(q.Tokens[i].Lower, oneWordStates)
		if !found {
			return constrain.Claim{}, false
		}
		code, to = states[near], i+1
		c = constrain.Is("state", code)
		c.Assumed = "“" + q.Tokens[i].Text + "” read as “" + near + "”"
	}
	for _, suffix := range [][]string{{"usa"}, {"state"}, {"the", "state"}, {"the", "u", "s", "state"}} {
		if q.HasWords(to, suffix) {
			to += len(suffix)
			break
		}
	}
	claim := constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{c}, Weight: 5}
	if to > i+1 {
		claim.Weight = 8 // West Virginia is no town of West in Virginia
	}
	if code == "GA" && to == i+1 {
		other := constrain.Is("country", "Georgia")
		other.Note = "the country"
		claim.Others = []constrain.Condition{other}
	}
	return claim, true
}

var oneWordStates = func() []string {
	var out []string
	for name := range states {
		if !strings.Contains(name, " ") && len(name) >= 4 {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}()

var inPlace = wordSet(`in near over of from across outside around at within off throughout not except excluding except`)

// stateCodeAt reads a two-letter code at token i. A code that is a word needs
// capitals and a place before it; after a city any form will do.
func stateCodeAt(q *constrain.Query, i int, afterCity bool) (string, bool) {
	t := q.Tokens[i]
	if len(t.Text) != 2 || !codes[t.Lower] {
		return "", false
	}
	if afterCity {
		return strings.ToUpper(t.Text), t.Upper() || !wordCodes[t.Lower] || q.AllLower()
	}
	placed := i > 0 && inPlace[q.Tokens[i-1].Lower] && joined(q, i) || t.Gap == " (" || t.Gap == "("
	switch {
	case q.AllUpper() || q.AllLower():
		return strings.ToUpper(t.Text), placed && !wordCodes[t.Lower]
	case !t.Upper():
		return strings.ToUpper(t.Text), placed && !wordCodes[t.Lower]
	case wordCodes[t.Lower]:
		return t.Text, placed && !(t.Text == "OR" && i > 0 && q.Tokens[i-1].Lower == "not")
	}
	return t.Text, true
}

func stateCode(q *constrain.Query, i int) (constrain.Claim, bool) {
	code, ok := stateCodeAt(q, i, false)
	return constrain.Claim{From: i, To: i + 1, Conditions: []constrain.Condition{constrain.Is("state", code)}, Weight: 4}, ok
}

func countryAt(q *constrain.Query, i int) (string, int, bool) {
	if name, to, ok := longestName(q, i, 3, countries); ok && (to > i+1 || q.Tokens[i].Lower != "us" || q.Tokens[i].Upper()) {
		return name, to, true
	}
	value, to, ok := q.LongestAt("country", i)
	if ok && (value.Text == "Unknown" || !q.Tokens[i].Capital() && !q.AllLower()) {
		return "", i, false
	}
	return value.Text, to, ok
}

func country(q *constrain.Query, i int) (constrain.Claim, bool) {
	name, to, ok := countryAt(q, i)
	if !ok || to < len(q.Tokens) && joined(q, to) && slices.Contains([]string{"registered", "airlines", "airways", "register", "pilot", "airline", "champion", "hat", "toast", "english"}, q.Tokens[to].Lower) {
		return constrain.Claim{}, false
	}
	if q.HasWords(to, []string{"the", "island"}) || q.HasWords(to, []string{"the", "country"}) {
		to += 2
	}
	return constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{constrain.Is("country", name)}, Weight: 2}, true
}

func abroad(q *constrain.Query, i int) (constrain.Claim, bool) {
	if w := q.Tokens[i].Lower; w != "abroad" && w != "overseas" {
		return constrain.Claim{}, false
	}
	return constrain.Claim{From: i, To: i + 1, Conditions: []constrain.Condition{{Field: "country", Op: sextant.OpNotIn, Values: []any{"United States"}}}, Weight: 2}, true
}

func region(q *constrain.Query, i int) (constrain.Claim, bool) {
	codes, to, ok := longestName(q, i, 2, regions)
	return constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{constrain.Is("state", codes...)}, Weight: 3}, ok
}

// province claims "Ontario, Canada" for the country.
func province(q *constrain.Query, i int) (constrain.Claim, bool) {
	if !provinces[q.Tokens[i].Lower] || i+1 >= len(q.Tokens) || q.Tokens[i+1].Lower != "canada" {
		return constrain.Claim{}, false
	}
	return constrain.Claim{From: i, To: i + 2, Conditions: []constrain.Condition{constrain.Is("country", "Canada")}, Weight: 6}, true
}

// placeAhead reports whether a state follows at token i, so that what stands before
// is a place: "Comanche, Oklahoma".
func placeAhead(q *constrain.Query, i int) bool {
	if i >= len(q.Tokens) || q.Tokens[i].Gap != ", " && q.Tokens[i].Gap != " " {
		return false
	}
	if _, _, ok := stateNameAt(q, i); ok {
		return true
	}
	_, ok := stateCodeAt(q, i, true)
	return ok
}

// nowhere are places larger than a town that towns are named after.
var nowhere = map[string]bool{"long island": true, "europe": true, "asia": true, "africa": true, "america": true, "gulf": true, "pacific": true, "alaska": true}

var cityBefore = wordSet(`in at near over around outside from off by of above southwest northwest southeast northeast north south east west leaving departing for between`)
var notCities = wordSet(`flight cruise night day instrument visual imc vmc approach landing takeoff water the air mountain spring fall winter summer valley canyon gulf runway training center county airport lake river island
 beaver boeing cessna piper beech cirrus bell page price field ocean pacific atlantic central western eastern northern southern mobile reading orange hope`)

// cityAt finds the longest known city at token i; a word of the language must be
// capitalised to be one.
func cityAt(q *constrain.Query, i int) (name string, count int64, to int, ok bool) {
	value, to, ok := q.LongestAt("city", i)
	if !ok {
		return "", 0, i, false
	}
	single := to == i+1
	if nowhere[strings.ToLower(value.Text)] {
		return "", 0, i, false
	}
	if single && (len(q.Tokens[i].Text) < 3 || notCities[q.Tokens[i].Lower]) && !(placeAhead(q, to) && q.Tokens[i].Capital()) {
		return "", 0, i, false
	}
	if !q.Tokens[i].Capital() && (!q.AllLower() || single && q.Lexicon.Words[q.Tokens[i].Lower]) {
		return "", 0, i, false
	}
	return strings.ToUpper(value.Text), value.Count, to, true
}

// city claims a city in the position of a place: with its state after it, after a
// preposition, or before what the question is about ("the Juneau accident").
func city(q *constrain.Query, i int) (constrain.Claim, bool) {
	name, count, to, ok := cityAt(q, i)
	if !ok {
		return constrain.Claim{}, false
	}
	conditions := []constrain.Condition{constrain.Is("city", name)}
	if code, end, ok := stateAfter(q, to); ok && !aircraftNamed(q, i, to) {
		return constrain.Claim{From: i, To: end, Conditions: append(conditions, constrain.Is("state", code)), Weight: 6}, true
	}
	if _, _, isState := stateNameAt(q, i); isState || isCountry(q, i, to) {
		return constrain.Claim{}, false
	}
	placed := i > 0 && joined(q, i) && cityBefore[q.Tokens[i-1].Lower]
	noun := to < len(q.Tokens) && (q.EventNoun(to) || q.Tokens[to].Lower == "area")
	dated := to < len(q.Tokens) && q.Tokens[to].Number() && len(q.Tokens[to].Text) == 4
	switch {
	case placed && (count >= 2 || q.Tokens[i].Capital()):
	case noun && count >= 3, dated && count >= 3 && q.Tokens[i].Capital():
	case i > 0 && q.Tokens[i-1].Lower == "not" && q.Tokens[i].Capital() && count >= 3:
	default:
		return constrain.Claim{}, false
	}
	return constrain.Claim{From: i, To: to, Conditions: conditions, Weight: 1}, true
}

// aircraftNamed reports whether a town's name is an aircraft's as well and nothing
// says that the town is meant: "bonanza texas", but not "near Comanche, Oklahoma".
func aircraftNamed(q *constrain.Query, i, to int) bool {
	n := loadNames()
	_, a, isNick := n.nicknameAt(q, i)
	_, b, isMaker := n.makerAt(q, i)
	if !(isNick && a == to || isMaker && b == to) {
		return false
	}
	if q.Tokens[to].Gap != ", " {
		return true
	}
	if i == 0 {
		return false
	}
	return !joined(q, i) || !cityBefore[q.Tokens[i-1].Lower]
}

func isCountry(q *constrain.Query, i, to int) bool {
	_, end, ok := countryAt(q, i)
	return ok && end == to
}

// stateAfter reads the state that follows a city: ", KS", " Kansas", ", N.Y.".
func stateAfter(q *constrain.Query, i int) (code string, to int, ok bool) {
	if i >= len(q.Tokens) || !slices.Contains([]string{", ", " ", ","}, q.Tokens[i].Gap) {
		return "", i, false
	}
	if code, to, ok := stateNameAt(q, i); ok {
		return code, to, true
	}
	code, ok = stateCodeAt(q, i, true)
	return code, i + 1, ok
}

// county claims "Douglas County": counties are not recorded.
func county(q *constrain.Query, i int) (constrain.Claim, bool) {
	if i+1 >= len(q.Tokens) || !q.Tokens[i].Capital() || q.Tokens[i+1].Lower != "county" || !joined(q, i+1) {
		return constrain.Claim{}, false
	}
	return constrain.Claim{From: i, To: i + 2, Weight: 5, Cannot: &sextant.Unenforceable{Field: "county", Reason: "counties are not recorded; the state is used where it is named"}}, true
}

// special claims places whose names mean something else word by word.
func special(q *constrain.Query, i int) (constrain.Claim, bool) {
	for _, s := range specialPlaces {
		if q.HasWords(i, s.words) {
			return constrain.Claim{From: i, To: i + len(s.words), Conditions: s.conditions, Weight: 7}, true
		}
	}
	if q.HasLoose(i, "washington", "d", "c") || q.HasLoose(i, "washington", "dc") {
		to := i + 2
		if q.Tokens[i+1].Lower == "d" {
			to++
		}
		return constrain.Claim{From: i, To: to, Conditions: []constrain.Condition{constrain.Is("state", "DC")}, Weight: 9}, true
	}
	if q.HasWords(i, []string{"la", "the", "city"}) || q.HasLoose(i, "la", "the", "city") {
		return constrain.Claim{From: i, To: i + 3, Conditions: []constrain.Condition{constrain.Is("city", "LOS ANGELES")}, Weight: 7}, true
	}
	if q.HasLoose(i, "la", "louisiana") {
		return constrain.Claim{From: i, To: i + 2, Conditions: []constrain.Condition{constrain.Is("state", "LA")}, Weight: 7}, true
	}
	return constrain.Claim{}, false
}

var specialPlaces = []struct {
	words      []string
	conditions []constrain.Condition
}{
	{[]string{"new", "york", "city"}, []constrain.Condition{constrain.Is("city", "NEW YORK"), constrain.Is("state", "NY")}},
	{[]string{"city", "of", "new", "york"}, []constrain.Condition{constrain.Is("city", "NEW YORK"), constrain.Is("state", "NY")}},
	{[]string{"europe"}, nil}, {[]string{"asia"}, nil}, {[]string{"africa"}, nil}, {[]string{"south", "america"}, nil}, {[]string{"central", "america"}, nil}, {[]string{"long", "island"}, nil}, {[]string{"mount", "washington"}, nil}, {[]string{"george", "washington"}, nil}, {[]string{"port", "washington"}, nil},
	{[]string{"lake", "michigan"}, nil}, {[]string{"lake", "erie"}, nil}, {[]string{"lake", "ontario"}, nil}, {[]string{"ohio", "river"}, nil}, {[]string{"mississippi", "river"}, nil}, {[]string{"colorado", "river"}, nil}, {[]string{"missouri", "river"}, nil},
	{[]string{"wright", "flyer"}, nil}, {[]string{"seneca", "nation"}, nil}, {[]string{"texas", "instruments"}, nil}, {[]string{"boeing", "field"}, []constrain.Condition{constrain.Is("airport", "BFI")}},
}
