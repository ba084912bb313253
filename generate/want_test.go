package generate

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
)

func TestWants(t *testing.T) {
	for question, want := range map[string]want{
		"How fast was the truck going?":                        aSpeed,
		"how long is the runway at the strip":                  aLength,
		"How long did the guard sleep?":                        aDuration,
		"How many hours of rest must a driver have?":           aDuration,
		"How tall was the mast?":                               aLength,
		"How heavy a load must the hook withstand?":            aWeight,
		"What fine does it set?":                               money,
		"Who repaired the lock?":                               aPerson,
		"When was the pump replaced?":                          aDate,
		"What was the guard told by the driver over the phone": anUtterance,
		"What was written on the door?":                        aWriting,
		"Which model of pump was it?":                          aModel,
		"How many seats does it have?":                         aNumber,
		"How many gallons were left in the tank?":              aFluid,
		"How far over its gross weight was the truck?":         aWeight,
		"At what engine speed did it run?":                     aSpeed,
		"Who was the witness?":                                 aName,
		"Why did it stop?":                                     anything,
		"What stopped it?":                                     anything,
	} {
		if got := wants(question); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

// What a question names as asked for, so that a text that does not speak of it answers nothing.
func TestNamedThings(t *testing.T) {
	topic := strings.Fields("owned wearing hospital taken wife fuel additive used snow sign conclude lock")
	for question, want := range map[string][]string{
		"Who owned it?":                            {"own"},
		"What was the driver wearing?":             {"wear"},
		"Which hospital was he taken to?":          {"hospit"},
		"What did the wife of the driver see?":     {"wife"},
		"Which fuel additive was used?":            {"addit"},
		"How deep was the snow when it stopped?":   {"snow"},
		"From what sign did he conclude that?":     nil, // told by another word: a flag
		"Who opened the lock and why did it stick": nil,
	} {
		var got []string
		for _, a := range aspects(question, topic) {
			got = append(got, a.focus...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

func TestAspects(t *testing.T) {
	topic := strings.Fields("mast struck stand driver slept policy company missing")
	for question, want := range map[string][]string{
		"How tall was the mast it struck, and where did it stand?":                          {"How tall was the mast it struck", ", and where did it stand?"},
		"In the yard, where had the driver slept, and what policy was the company missing?": {", where had the driver slept", ", and what policy was the company missing?"},
		"the mast":  {"the mast"},
		"How much?": {"How much?"},
		"":          nil,
	} {
		var got []string
		for _, a := range aspects(question, topic) {
			got = append(got, a.text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

// record is a document of one part.
func record(text string) []sextant.Document {
	return []sextant.Document{{ID: "t:1", Title: "Yard 7", Text: text, Parts: []sextant.Part{{Kind: "narrative", Start: 0, End: len(text)}}}}
}

func TestSufficiency(t *testing.T) {
	yard := record("The driver backed the truck into a mast in the yard. The mast was 100 feet tall and stood beside the gate. He had slept in the cabin. The owner of the yard could not be determined. The guard saw nothing.")
	for _, tt := range []struct {
		question string
		topic    string
		enough   bool
		lacking  string
	}{
		{"How tall was the mast that the truck hit?", "mast truck hit", true, ""},
		{"Where had the driver slept?", "driver slept", true, ""},
		{"How fast was the truck going when it hit the mast?", "truck going hit mast", false, "a speed"},
		{"What was written on the truck?", "written truck", false, "what was written"},
		{"Who was the owner of the yard?", "owner yard", false, "not known"},
		{"What was the insurance premium of the truck?", "insurance premium truck", false, "insurance premium"},
		{"What was the total mileage of the truck?", "total mileage truck", false, "mileage"},
		{"Which vehicle hit the mast?", "vehicle hit mast", true, ""},
		{"What medication was found in the driver?", "medication found driver", false, "medication"},
		{"What did the mechanic say about the truck?", "mechanic say truck", false, "mechanic say"},
		{"Which opera did the tenor sing?", "opera tenor sing", false, ""},
	} {
		out := Extract(Input{Question: tt.question, Topic: strings.Fields(tt.topic), Narrow: true, Documents: yard, Limit: 4})
		if got := out.Sufficiency.Score >= Enough; got != tt.enough || !strings.Contains(strings.Join(out.Sufficiency.Lacking, "; "), tt.lacking) {
			t.Errorf("%q: %.2f, lacking %q", tt.question, out.Sufficiency.Score, out.Sufficiency.Lacking)
		}
	}
}

// A name of the question says which documents are meant, where no condition does.
func TestNamesPinDocuments(t *testing.T) {
	docs := append(record("The boiler at Kalkberg burst after the valve stuck shut."), record("The boiler at Grauburg burst after the valve stuck shut.")...)
	docs[1].ID = "t:2"
	out := Extract(Input{Question: "Why did the boiler at Grauburg burst?", Topic: []string{"boiler", "Grauburg", "burst"}, Documents: docs, Limit: 4})
	for _, f := range out.Findings {
		if f.Quotes[0].DocumentID != "t:2" {
			t.Errorf("%q is about another boiler", f.Text)
		}
	}
	out = Extract(Input{Question: "Why did the boiler at Weissburg burst?", Topic: []string{"boiler", "Weissburg", "burst"}, Documents: docs, Limit: 4})
	if out.Sufficiency.Score >= Enough || !strings.Contains(strings.Join(out.Sufficiency.Lacking, ""), "weissburg") {
		t.Errorf("%.2f, lacking %q", out.Sufficiency.Score, out.Sufficiency.Lacking)
	}
}

// What is looked at before an expression lets through all that the expression matches.
func TestNothingIsPassedOver(t *testing.T) {
	pieces := []string{"how", "what", "which", "when", "who", "whose", "where", "why", "many", "much", "few", "often", "fast", "long", "far", "tall", "old", "soon", "heavy", "hot", "expensive", "money", "did", "was", "were", "is", "had been", "the", "of", "at", "on", "in", "and", "or", "to",
		"speed", "airspeed", "feet", "miles", "pounds", "weight", "weigh", "hours", "months", "into", "altitude", "height", "above", "within", "distance", "temperature", "dew point", "fuel", "gallons", "fine", "cost", "most", "least", "share", "percent", "number", "figure", "limit", "value",
		"model", "brand", "written", "told", "say", "reply", "time", "day", "year", "unknown", "could not be", "was not", "determined", "identified", "name", "named", "called", "by", "pilot", "student", "A", "Bob", "Alaska", "x", ",", "?", ".", ":", ";", "\n"}
	matched := map[want]int{}
	draw := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var words []string
		for range 1 + draw.IntN(8) {
			words = append(words, pieces[draw.IntN(len(pieces))])
		}
		text := strings.NewReplacer(" ,", ",", " ?", "?", " .", ".").Replace(strings.Join(words, " "))
		lower := " " + strings.ToLower(strings.Join(strings.Fields(strings.NewReplacer(",", " ", "?", " ").Replace(text)), " ")) + " "
		for _, a := range askings {
			if a.words.MatchString(lower) {
				matched[a.want]++
				if !containsAny(lower, a.needs) {
					t.Fatalf("%q asks for %s without any of %q", lower, a.want, a.needs)
				}
			}
		}
		if splitter.MatchString(text) && !splittable(text) {
			t.Fatalf("%q is not split", text)
		}
		for form, needs := range nameNeeds {
			if form.MatchString(text) && !containsAny(strings.ToLower(text), needs) {
				t.Fatalf("%q names something without any of %q", text, needs)
			}
		}
		if properWord.MatchString(text) && !hasProperWord(text) {
			t.Fatalf("no proper word in %q", text)
		}
		if undetermined.MatchString(text) && !denialIn(text, strings.ToLower(text)).says {
			t.Fatalf("%q denies nothing", text)
		}
	}
	if len(matched) < 10 {
		t.Errorf("only %v were asked for", matched)
	}
}

// A form that is passed over would not have matched.
func TestFormsNeedTheirWords(t *testing.T) {
	pieces := []string{"5", "1,500", "ten", "half", "A", "the", "of", "-", "feet", "Feet", "foot", "ft", "miles", "mile", "miles per hour", "nm", "inches", "meter", "metres", "yards", "kilometers", "AGL", "msl", "seconds", "minutes", "hour", "hrs", "days", "weeks", "month", "year", "knots", "kts", "KIAS", "mph",
		"fpm", "feet a minute", "Mach", "pounds", "lbs", "kilograms", "kg", "tons", "ounces", "grams", "gallons", "quarts", "liters", "pints", "degrees", "degree", "percent", "per cent", "%", "$", "dollars", "euros", "°"}
	matched := map[want]int{}
	draw := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		var words []string
		for range 1 + draw.IntN(4) {
			words = append(words, pieces[draw.IntN(len(pieces))])
		}
		text, lower := strings.Join(words, " "), ""
		if isASCII(text) {
			lower = strings.ToLower(text)
		}
		for w, form := range forms {
			want := form.MatchString(text)
			if got := hasForm(w, text, lower); got != want {
				t.Fatalf("%q is %s: %v, want %v", text, w, got, want)
			}
			if want {
				matched[w]++
			}
		}
	}
	for w := range formNeeds {
		if matched[w] == 0 {
			t.Errorf("nothing was %s", w)
		}
	}
}
