package check_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/check"
)

// verdict checks a statement against words that are quoted as a whole.
func verdict(statement, quoted string) sextant.Fault {
	d := sextant.Document{ID: "d:1", Text: quoted}
	look := func(id sextant.DocumentID) (sextant.Document, bool) { return d, id == d.ID }
	_, removed := check.Findings([]sextant.Finding{{Text: statement, Quotes: []sextant.Quote{{DocumentID: d.ID, Text: quoted}}}}, look)
	if len(removed) == 0 {
		return ""
	}
	return removed[0].Fault
}

func TestFacts(t *testing.T) {
	for _, tt := range []struct {
		statement, quoted string
		fault             sextant.Fault
	}{
		// numbers, in whatever way they are written
		{"Twelve people were aboard.", "There were 12 people aboard.", ""},
		{"It flew for two and a half hours.", "It flew for 2.5 hours.", ""},
		{"It flew for 2 1/2 hours.", "It flew for 2.5 hours.", ""},
		{"The tower was 100 ft tall.", "It hit a 100-foot tower that was tall.", ""},
		{"It had 15 to 20 minutes of fuel.", "It had 15-20 minutes of fuel.", ""},
		{"It had 15 to 25 minutes of fuel.", "It had 15-20 minutes of fuel.", sextant.FaultNumber},
		{"It carried 3 passengers.", "It carried 2 passengers and 3 crew.", sextant.FaultNumber},
		{"Three hundred and ten seats.", "310 seats", ""},
		{"It was 1,400 feet long.", "It was 4,700 feet long and 1,400 feet wide.", sextant.FaultNumber},
		// units
		{"It was 33 degrees Celsius.", "It was 33 degrees C.", ""},
		{"It was 33 degrees Fahrenheit.", "It was 33 degrees C.", sextant.FaultUnit},
		{"It climbed at 500 feet per minute.", "It climbed at 500 fpm.", ""},
		{"It held 10 liters.", "It held 10 gallons.", sextant.FaultUnit},
		{"The fine is $500.", "The fine is 500 dollars.", ""},
		// bounds
		{"At least 30 minutes of fuel are required.", "A minimum of 30 minutes of fuel is required.", ""},
		{"At most 30 minutes of fuel are required.", "At least 30 minutes of fuel are required.", sextant.FaultComparison},
		{"More than 19 seats need an attendant.", "19 seats or less need an attendant.", sextant.FaultComparison},
		{"No more than 19 seats.", "Up to 19 seats.", ""},
		// what may be and what must be
		{"Each occupant must use oxygen.", "Each occupant may use oxygen.", sextant.FaultNegation},
		{"The crew may carry oxygen.", "The crew must carry oxygen at all times.", sextant.FaultNegation},
		{"The airplane may be flown.", "The airplane is permitted to be flown.", ""},
		{"The pilot allowed the airspeed to decay.", "The checklist required full flaps and says that the landing light must be on, but the pilot allowed the airspeed to decay.", ""},
		{"The engine needed an overhaul.", "The engine needed an overhaul, which the owner may do.", ""},
		// dates and times in all forms
		{"It happened on 8 May 1996.", "It happened on May 8th, 1996.", ""},
		{"It happened on 1996-05-08.", "It happened on 5/8/96.", ""},
		{"It happened in May 1996.", "It happened on 08 MAY 1996.", ""},
		{"It happened on 9 May 1996.", "It happened on May 8, 1996.", sextant.FaultDate},
		{"It happened in June 1996.", "It happened on May 8, 1996.", sextant.FaultDate},
		{"It happened in 1997.", "It happened on May 8, 1996.", sextant.FaultDate},
		{"It happened at 4:45 p.m. local time.", "It happened at 1645 local time.", ""},
		{"It happened at 5:45 pm local time.", "It happened at 16:45 local time.", sextant.FaultDate},
		{"It may happen again.", "It may happen again in May 1996.", ""},
		// identifiers and sections
		{"N-123AB was there.", "N123AB was there.", ""},
		{"N123AC was there.", "N123AB was there.", sextant.FaultIdentifier},
		{"FTW96LA204 was there.", "FTW96LA203 was there.", sextant.FaultIdentifier},
		{"A PA28-161 was there.", "A PA-28-161 was there.", ""},
		{"Section 91.151(a) applies.", "14 CFR 91.151(a)(1) applies.", ""},
		{"Part 91 applies.", "14 CFR 91.151(a)(1) applies.", ""},
		{"Section 91.151(b) applies.", "14 CFR 91.151(a)(1) applies.", sextant.FaultSection},
		{"Section 135.151 applies.", "14 CFR 91.151 applies.", sextant.FaultSection},
		// names
		{"The flight left Fairbanks.", "THE FLIGHT LEFT FAIRBANKS.", ""},
		{"The flight left Anchorage.", "The flight left Fairbanks.", sextant.FaultEntity},
		{"The National Transportation Safety Board found ice.", "The NTSB found ice.", ""},
		{"The flight left Austin, Texas.", "The flight left Austin, TX.", ""},
		{"The passenger raised the flaps too early.", "The pilot raised the flaps too early.", sextant.FaultEntity},
		{"The left tire of the airplane burst.", "The right tire of the airplane burst.", sextant.FaultEntity},
		// denials
		{"The engine was not inspected.", "The engine was inspected.", sextant.FaultNegation},
		{"The engine was inspected.", "The engine was never inspected.", sextant.FaultNegation},
		{"The pilot did not maintain airspeed.", "The pilot failed to maintain airspeed.", ""},
		{"The pilot maintained airspeed.", "The pilot's failure to maintain airspeed.", sextant.FaultNegation},
		{"Airspeed was not maintained by the pilot.", "The pilot did not maintain airspeed.", ""},
		{"There was evidence of fire.", "There was no evidence of fire.", sextant.FaultNegation},
		{"The landing was unsafe.", "The landing was safe.", sextant.FaultNegation},
		{"He braked and did not see the truck.", "He did not see the truck, but braked.", ""},
		// more and less
		{"The pressure increased before the flight.", "The pressure decreased before the flight.", sextant.FaultComparison},
		{"The pressure rose before the flight.", "The pressure increased before the flight.", ""},
		{"It was higher than the tower.", "It was lower than the tower.", sextant.FaultComparison},
		// cause and effect, first and later
		{"The stall was due to the loss of airspeed.", "The loss of airspeed resulted in a stall.", ""},
		{"The loss of airspeed was due to the stall.", "The loss of airspeed resulted in a stall.", sextant.FaultCause},
		{"Fire caused the leak of the tank.", "The leak of the tank caused a fire.", sextant.FaultCause},
		{"The fire was caused by the leak of the tank.", "The leak of the tank caused a fire.", ""},
		{"The fire started after the leak.", "The leak started after the fire.", sextant.FaultCause},
		{"Before the fire started, the tank leaked.", "The fire started after the tank leaked.", ""},
		// the rest
		{"The report says that after the inspection, the pilot added fuel.", "Before the inspection, the pilot added fuel.", sextant.FaultCause},
		{"According to the report, Wichita was left at noon.", "Wichita was left at noon.", ""},
		{"The engine and airframe wreckage was found.", "The engine and airframe wreckage was found, and no fire.", ""},
		{"The margin may not be reduced in any case.", "In any case, the margin may not be reduced.", ""},
		{"It displaces 20 cubic inch or more.", "It displaces 20 cubic inches or more.", ""},
		{"The report says that the engine quit.", "The engine quit.", ""},
		{"The cat slept on the warm roof.", "The engine quit over the sea at dusk.", sextant.FaultUnsupported},
	} {
		if got := verdict(tt.statement, tt.quoted); got != tt.fault {
			t.Errorf("%q by %q: %q, want %q", tt.statement, tt.quoted, got, tt.fault)
		}
	}
}

// A number stands for itself in every way it can be written, and for no other.
func TestNumbersHaveOneValue(t *testing.T) {
	small := []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(2, 9_999).Draw(t, "n"), rapid.IntRange(2, 9_999).Draw(t, "m")
		write := func(n int, label string) string {
			ways := []string{fmt.Sprint(n), fmt.Sprintf("%d.0", n)}
			if n >= 1000 {
				ways = append(ways, fmt.Sprintf("%d,%03d", n/1000, n%1000))
			}
			if n < len(small) {
				ways = append(ways, small[n], strings.ToUpper(small[n]))
			}
			if n%100 == 0 && n/100 < len(small) {
				ways = append(ways, small[n/100]+" hundred")
			}
			return rapid.SampledFrom(ways).Draw(t, label)
		}
		unit := rapid.SampledFrom([]string{" feet", " hours", " gallons", "-foot", " nautical miles"}).Draw(t, "unit")
		got := verdict("It took "+write(m, "said")+unit+" there.", "It took "+write(n, "quoted")+unit+" there.")
		if want := map[bool]sextant.Fault{true: "", false: sextant.FaultNumber}[n == m]; got != want {
			t.Fatalf("%q", got)
		}
	})
}

// Whatever is quoted as it stands holds, and is located where it stands.
func TestWhatStandsThereHolds(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("the pilot did not see 8,000 feet of ice, N123AB § 91.151(a) on May 8, 1996; because “it” was dark - and no fuel 2 1/2 after (b) ﬁre. The")), 1, 30)
	rapid.Check(t, func(t *rapid.T) {
		all := words.Draw(t, "words")
		from := rapid.IntRange(0, len(all)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(all)).Draw(t, "to")
		text, quoted := strings.Join(all, "\n"), strings.Join(all[from:to], "  ")
		ranges, ok := check.Locate(sextant.Document{Text: text}, quoted)
		if letters := strings.IndexFunc(quoted, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }); letters < 0 {
			return
		}
		if !ok || len(ranges) != 1 {
			t.Fatalf("%q is not found in %q", quoted, text)
		}
		if f := verdict(text[ranges[0][0]:ranges[0][1]], text[ranges[0][0]:ranges[0][1]]); f != "" {
			t.Fatalf("%q does not support itself: %s", quoted, f)
		}
	})
}

// No text breaks the check, and ranges always lie in the text.
func FuzzFindings(f *testing.F) {
	f.Add("It flew 2 1/2 hours at 4:45 p.m.", "On 5/8/96 N-123AB flew § 91.151(a)(1) “not” more than 8,000 feet…")
	f.Add("Do so do it, Not a", "fuel was unburned do so")
	f.Add("\xff½ a.m. (1) -", "no. 1/0 May the 3rd ﬁ")
	f.Fuzz(func(t *testing.T, statement, quoted string) {
		verdict(statement, quoted)
		ranges, _ := check.Locate(sextant.Document{Text: quoted}, statement)
		for _, r := range ranges {
			if r[0] < 0 || r[1] > len(quoted) || r[0] >= r[1] {
				t.Fatalf("range %v of %d bytes", r, len(quoted))
			}
		}
		if utf8.ValidString(quoted) && strings.TrimSpace(quoted) != "" && verdict(quoted, quoted) == sextant.FaultNumber {
			t.Fatalf("%q does not support itself", quoted)
		}
	})
}

func BenchmarkFinding(b *testing.B) {
	quoted := strings.Repeat("The pilot of N123AB did not check the fuel before the 2.5 hour flight on May 3, 1996, which resulted in a loss of engine power at 3,000 feet. ", 3)
	for b.Loop() {
		verdict("Because the pilot did not check it, the fuel of N123AB ran out at 3,000 feet on 3 May 1996.", quoted)
	}
}
