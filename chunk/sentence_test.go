package chunk

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSentences(t *testing.T) {
	for _, text := range []string{ // a bar where a sentence ends
		"The pilot landed.| He was not hurt.",
		"He flew to Santa Fe, N.M. at FL. 180 and landed.| The wind was calm.",
		"The flight left Taos, N.M.| The pilot climbed.",
		"THE PLT DEPARTED ALBUQUERQUE, N.M. VFR.| HE LANDED.",
		"Instruments, e.g. the altimeter, were set.| It was late.",
		"Mr. Smith and Dr. J. R. Jones met at St. Paul.| They left.",
		"The No. 3 engine failed at 3.5 hours.| Smoke was seen.",
		"The airplane weighed 2,400 lbs.| Fuel was added.",
		"The operator was Mountain Air, Inc.| The pilot was its owner.",
		"It burned 5.3 gal. per hour.| It had 10 gal. left.",
		"\"Mayday!\" he said.| \"We are going in.\"| Then it was quiet.",
		"Was it wind?!| Nobody knows...| Perhaps.",
		"He waited... and then took off.",
		"to prepare this aircraft accident report.|The pilot was landing.",
		"to prepare this aircraft accident report.|THE PILOT WAS LANDING.",
		"See www.ntsb.gov for more.| See Part91.Subpart K too.",
		"At 0900 the flight left.| 20 minutes later it returned.",
		"It left at 9 a.m. and came back at 5 p.m.| The day was hot.",
		"飛行機は着陸した。|風は強かった。|終わり",
		"1. The pilot's delay.| 2. The wind.",
		"Record|\nThe aircraft was old.|\nIt flew.",
		"The following were found in the wreckage of the airplane at the site:|\n- a map|\n- a radio",
		"a paragraph|\n\nanother one",
		"a line that was wrapped by somebody at about seventy\ncharacters goes on.",
	} {
		var got []string
		plain := strings.ReplaceAll(text, "|", "")
		for _, s := range Sentences(plain) {
			got = append(got, plain[s.Start:s.End])
		}
		var want []string
		for s := range strings.SplitSeq(text, "|") {
			want = append(want, strings.TrimSpace(s))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// Sentences are in order, do not overlap, and leave out nothing but white space.
func TestSentencesCoverTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aB. \n!?\"'。é1-N"))).Draw(t, "text")
		at := 0
		for _, s := range Sentences(text) {
			if s.Start < at || s.End <= s.Start || strings.TrimSpace(text[at:s.Start]) != "" {
				t.Fatalf("%v after %d in %q", s, at, text)
			}
			at = s.End
		}
		if strings.TrimSpace(text[at:]) != "" {
			t.Fatalf("%q is lost", text[at:])
		}
	})
}

func TestEstimate(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "the pilot": 2, "The pilot, John.": 5, "N79212": 4, "aircraft": 1, "misadjustment": 2, "飛行機": 3, "2017": 1, "самолёт": 4, " \n ": 0,
	} {
		if got := Estimate(text); got != want {
			t.Errorf("Estimate(%q) = %d, want %d", text, got, want)
		}
	}
}
