package aviation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/constrain"
)

// stated writes constraints as "field op values".
func stated(cs []constrain.Constraint) string {
	out := make([]string, len(cs))
	for i, c := range cs {
		words := []string{c.Field, string(c.Op)}
		for _, v := range c.Values {
			if s, ok := v.(constrain.Span); ok {
				from, to := s.Strings()
				v = from + ".." + to
			}
			words = append(words, fmt.Sprint(v))
		}
		out[i] = strings.Join(words, " ")
	}
	return strings.Join(out, "; ")
}

var clock = time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)

func reads(t *testing.T, p *constrain.Parser, questions [][2]string) {
	t.Helper()
	for _, q := range questions {
		if got := stated(p.Parse(q[0], clock).Constraints); got != q[1] {
			t.Errorf("%q\n got %s\nwant %s", q[0], got, q[1])
		}
	}
}

func TestFLT01StatesInEveryForm(t *testing.T) {
	reads(t, sampleReader(t).Parser, [][2]string{
		{"accidents in Kansas", "state eq KS"},
		{"accidents in KS", "state eq KS"},
		{"accidents in ks", "state eq KS"},
		{"accidents in Salina, Kansas", "state eq KS; city eq SALINA"},
		{"accidents in Salina, Kan.", "state eq KS; city eq SALINA"},
		{"accidents in Arkansas", "state eq AR"},
	})
}

func TestFLT03StateCodesThatAreWords(t *testing.T) {
	reads(t, sampleReader(t).Parser, [][2]string{
		{"tell me what went wrong in or near Denver, ok?", "city eq DENVER"},
		{"accidents in OR", "state eq OR"},
		{"OK, what about Maine?", "state eq ME"},
		{"AL, MS and GA tornado losses", "state in AL MS GA"},
	})
}

func TestFLT12MarksHoweverTheyAreWritten(t *testing.T) {
	values := map[string][]constrain.Value{"registration": {{Text: "N123AB", Count: 1}, {Text: "N123A", Count: 1}, {Text: "G-ABCD", Count: 1}}}
	p := constrain.NewParser(constrain.NewVocabulary(aviation.Collections(), values), aviation.Lexicon(), aviation.Made)
	reads(t, p, [][2]string{
		{"N-123AB", "registration eq N123AB"}, {"n123ab", "registration eq N123AB"}, {"the crash of N 123 AB", "registration eq N123AB"}, {"tail 123AB", "registration eq N123AB"},
		{"GABCD in 2010", "registration eq GABCD; event_date between 2010-01-01..2010-12-31"}, {"G-ABCD", "registration eq GABCD"}, {"reg. no. N7WV", "registration eq N7WV"},
		{"VH-XYZ", "registration eq VHXYZ"}, // of a form no other thing has, in the records or not
		{"N1 was at 80 percent", ""}, {"PA-28 or MD-80 drones", "make in PIPER MCDONNELL DOUGLAS; model contains PA-28 MD-80"},
	})
}

func TestFLT14RegisteredIsNotWhere(t *testing.T) {
	p := sampleReader(t).Parser
	reads(t, p, [][2]string{
		{"US-registered aircraft accidents in Canada", "country eq Canada"},
		{"aircraft registered in France that crashed in Spain", "country eq Spain"},
	})
	if u := p.Parse("aircraft registered in France", clock).Unenforceable; len(u) != 1 || u[0].Field != "registration" {
		t.Errorf("%+v", u)
	}
}

func TestFLT15TypesHoweverTheyAreWritten(t *testing.T) {
	reads(t, sampleReader(t).Parser, [][2]string{
		{"Cessna 172", "make eq CESSNA; model contains 172"}, {"C172", "make eq CESSNA; model contains 172"}, {"C-172", "make eq CESSNA; model contains 172"}, {"Cessna 172S", "make eq CESSNA; model contains 172S"},
		{"SR22", "make eq CIRRUS; model contains SR22"}, {"sr-22", "make eq CIRRUS; model contains SR-22"}, {"PA-28", "make eq PIPER; model contains PA-28"}, {"PA 28", "make eq PIPER; model contains PA 28"},
		{"Cherokee 140", "make eq PIPER; model contains PA-28-140"}, {"Bonanza A36", "make eq BEECH; model contains A36"}, {"tomahawk (pa-38)", "make eq PIPER; model contains PA-38"},
		{"Cessna 172, 180 and 182", "make eq CESSNA; model contains 172 180 182"}, {"737-300", "make eq BOEING; model contains 737-300"},
	})
}

func TestFLT17OneCitationManySpellings(t *testing.T) {
	for _, q := range []string{"§ 91.409(b)", "FAR 91.409 (b)", "14CFR 91.409(b)", "14 C.F.R. § 91.409(b)", "section 91.409 paragraph b", "91.409(b)", "14CFR91.409", "Sec. 91.409", "FAR Part 91.409"} {
		if got := stated(sampleReader(t).Parse(q, clock).Constraints); got != "cfr_section eq 91.409" {
			t.Errorf("%q: %s", q, got)
		}
	}
}

func TestFLT19TheOtherFAR(t *testing.T) {
	p := sampleReader(t).Parser
	r := p.Parse("What does FAR 52.212-4 require?", clock)
	if len(r.Constraints) != 0 || len(r.Unenforceable) != 1 {
		t.Errorf("%s %+v", stated(r.Constraints), r.Unenforceable)
	}
	reads(t, p, [][2]string{{"FAR 91.103?", "cfr_section eq 91.103"}})
}

func TestFLT20PartsAsDataAndAsRules(t *testing.T) {
	reads(t, sampleReader(t).Parser, [][2]string{
		{"Part 91 accidents in Texas", "far_part eq 91; state eq TX"},
		{"What does Part 91 say about preflight action?", "cfr_part eq 91"},
		{"Parts 121 and 135 accidents", "far_part in 121 135"},
		{"how low may a part 135 helicopter fly by day", "cfr_part eq 135"}, // the helicopter is the rule's subject
		{"part 91 subpart K events", "far_part eq 91K"},
		{"121 carriers", "far_part eq 121"},
		{"part number 121 failed", ""},
	})
}

func TestFLT21NegationReachesItsOwnField(t *testing.T) {
	reads(t, sampleReader(t).Parser, [][2]string{
		{"icing accidents not in Alaska", "state not_in AK"},
		{"icing accidents not in Alaska and fatal", "state not_in AK; severity eq fatal"},
		{"icing outside Alaska and Washington", "state not_in AK WA"},
	})
}

func TestFLT23FatalAndNot(t *testing.T) {
	reads(t, sampleReader(t).Parser, [][2]string{
		{"fatal accidents", "severity eq fatal"}, {"non-fatal accidents", "severity eq nonfatal"}, {"accidents where nobody died", "severity eq nonfatal"}, {"accidents with exactly one death", "fatal_count eq 1"},
	})
}

func TestFLT28MistakesAreCorrectedAndSaid(t *testing.T) {
	p := sampleReader(t).Parser
	r := p.Parse("Cesna 172 in Alasca", clock)
	if got := stated(r.Constraints); got != "make eq CESSNA; model contains 172; state eq AK" {
		t.Fatal(got)
	}
	if r.Constraints[0].Assumed != "“Cesna” read as “cessna”" || r.Constraints[2].Assumed != "“Alasca” read as “alaska”" {
		t.Errorf("%q %q", r.Constraints[0].Assumed, r.Constraints[2].Assumed)
	}
	reads(t, p, [][2]string{{"Pipper Cherokee", "make eq PIPER; model contains PA-28"}, {"Zesnaxx 9 accidents", ""}})
}

// What the records do not hold is a condition that nothing satisfies, and the nearest
// that something would is shown.
func TestUnknownTownsAndTypes(t *testing.T) {
	p := sampleReader(t).Parser
	for question, want := range map[string]string{
		"accidents near Foobarville, Texas": "state eq TX; city eq FOOBARVILLE",
		"Cessna 179 accidents":              "make eq CESSNA; model contains 179",
		"accidents in Wichito, Kansas":      "state eq KS; city eq WICHITO",
	} {
		r := p.Parse(question, clock)
		if got := stated(r.Constraints); got != want || len(r.UnknownValues) != 1 {
			t.Errorf("%q: %s %+v", question, got, r.UnknownValues)
		}
	}
	if near := p.Parse("accidents in Wichito, Kansas", clock).UnknownValues[0].Nearest; !slices.Contains(near, "WICHITA") {
		t.Errorf("nearest: %v", near)
	}
}

func TestANS08NothingToReadIsNoError(t *testing.T) {
	p := sampleReader(t).Parser
	for _, q := range []string{"", "   ", "\u200b\u200c", "?", "✈️", "the of and", "x", "AND OR NOT", "unbalanced \"quote", "*", "title:x", "a/b @c #d", "'; DROP TABLE x;--", "<script>alert(1)</script>", "{{7*7}}", "\x00", "\xed\xa0\x80"} {
		if r := p.Parse(q, clock); len(r.Constraints) != 0 {
			t.Errorf("%q: %s", q, stated(r.Constraints))
		}
	}
}

func TestPlacesOfSomethingElse(t *testing.T) {
	reads(t, sampleReader(t).Parser, [][2]string{
		{"manufactured in Georgia, crashed in Maine", "state eq ME"},
		{"the Long Beach based operator's crash in Utah", "state eq UT"},
		{"Texas-registered Cessnas in Mexico", "make eq CESSNA; country eq Mexico"},
		{"a Kansas company's Learjet in Tennessee", "make eq LEARJET; state eq TN"},
		{"a Kansas company's Learjet crash", "state eq KS; make eq LEARJET"},
		{"ran out of fuel between Phoenix and Dallas", ""},
		{"accidents on Michigan Avenue", ""},
		{"Virginia Woolf and Georgia O'Keeffe", ""},
		{"what about Anchorage?", "city eq ANCHORAGE"},
	})
}

// A verb before a maker at the beginning of a question makes it no person's name.
func TestVerbsBeforeMakersAreNoGivenNames(t *testing.T) {
	reads(t, sampleReader(t).Parser, [][2]string{
		{"Compare Cessna and Piper in Hawaii", "make in CESSNA PIPER; state eq HI"},
		{"Chart Cessna losses in Texas", "make eq CESSNA; state eq TX"},
		{"Steve Piper met Dwane Mooney", ""},
	})
}

func TestDenialsThatSayNo(t *testing.T) {
	reads(t, sampleReader(t).Parser, [][2]string{
		{"serious injuries but no deaths, Maule, Alaska", "serious_count gte 1; severity eq nonfatal; make eq MAULE; state eq AK"},
		{"Not one accident in Delaware in 2002?", "state eq DE; event_date between 2002-01-01..2002-12-31"},
		{"US accidents only", "country eq United States"},
		{"list accidents only, Texas", "investigation_type eq accident; state eq TX"},
	})
}
