package chunk

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSentences(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string // sentences divided by "|", which is taken out first
	}{
		{"plain", "The pilot landed. |He was unhurt."},
		{"question and exclamation", "Why? |Nobody knew! |It stopped."},
		{"question inside", `"Why?" he asked. |Nobody answered.`},
		{"examples", "It had several faults, e.g. a cracked spar, i.e. one. |The spar failed."},
		{"state between", "The airplane departed Santa Fe, N.M. at noon. |It crashed."},
		{"state at end", "They flew to Taos, N.M. |The weather was good."},
		{"country", "The U.S. Coast Guard found it. |It is registered in the U.S. |The owner sold it."},
		{"state before number", "He landed at Miami, FL. 180 degrees was the heading he flew."},
		{"state at end before a word", "He landed at Miami, FL. |The wind was calm."},
		{"number", "The No. 5 cylinder and Nos. 6 and 7 failed. |See Fig. 3 and Sec. 91.103 for more."},
		{"no as answer", "He said no. |The other pilot agreed."},
		{"initials", "J. R. Smith and Mr. W. Jones flew. |Dr. Lee examined them."},
		{"decimals", "It burned 12.5 gallons at 0.8 mach. |Runway 17. |Then it stopped."},
		{"number ends", "The elevation was 1,250. |15 minutes later it landed."},
		{"ellipsis", "He waited... and waited. |He left... |The end came. |Then… |Nothing."},
		{"stop inside quotes", `He said "the gear is down." |The tower agreed.`},
		{"curly quotes", "He said “it is down.” |‘No.’ |The tower agreed."},
		{"stop inside brackets", "It stalled (the stick was back.) |The nose dropped."},
		{"opening quote", `It stalled. |"I pushed," he said.`},
		{"missing blank", "to prepare this aircraft accident report.|The pilot took off.|He crashed."},
		{"missing blank, capitals", "to prepare this aircraft accident report.|ON OCTOBER 24, 1948, IT CRASHED.|THE PILOT SURVIVED."},
		{"missing blank, registration", "this report.|N123AB was destroyed."},
		{"missing blank, bracket and number", "for unknown reason(s).|It burned at 1645.|The pilot left."},
		{"names with dots", "See www.NTSB.gov and data.Gov/File.Pdf or a.B@c.Org for U.S.A data."},
		{"capitals", "THE ACFT DEPARTED AT 5 P.M. MOUNTAIN TIME. |THE NO. 2 ENG FAILED. |U.S. PARK PERSONNEL CAME. |15 FT REMAINED."},
		{"capitals, units", "IT CROSSED AT 500 FT. |AT 4 MI. NORTH OF THE FIELD IT CLIMBED."},
		{"time of day", "It departed at 5 p.m. Eastern time. |It landed at 7 p.m. |Witnesses saw it."},
		{"company", "The Cessna Aircraft Co. Wichita plant built it for Acme Inc. |The owner died."},
		{"CJK", "飛行機は着陸した。|操縦士は「無事だ。」|と言った！|はい"},
		{"Devanagari and Arabic", "विमान उतरा। |पायलट बच गया। |هل سقطت؟ |نعم"},
		{"bullets", "Causes:\n|- no fuel\n|- bad weather\n|• fatigue\n|2. haste\n|(iv) ice\n|b) wind"},
		{"enumerators", "1. The pilot erred. |2. The weather was bad. |A. Fuel was low."},
		{"blank lines", "A title\n\n|Some text that\nwraps here\n \n|Last"},
		{"labels", "Wind: calm\n|Visibility (mi): 10\n|Sky: clear"},
		{"note marks", "It failed.[12] |The part was old."},
		{"form feed and paragraph separator", "page one\f|page two\u2029|page three"},
		{"lower case only", "he stalled. |he spun. |e.g. that"},
		{"combining mark after stop", "早い。\ufe00|次。"},
		{"pronoun after", "The pilot landed.| He was not hurt."},
		{"flight level", "He flew to Santa Fe, N.M. at FL. 180 and landed.| The wind was calm."},
		{"state at end again", "The flight left Taos, N.M.| The pilot climbed."},
		{"capitals with state", "THE PLT DEPARTED ALBUQUERQUE, N.M. VFR.| HE LANDED."},
		{"examples at start", "Instruments, e.g. the altimeter, were set.| It was late."},
		{"titles of persons", "Mr. Smith and Dr. J. R. Jones met at St. Paul.| They left."},
		{"number and decimals", "The No. 3 engine failed at 3.5 hours.| Smoke was seen."},
		{"weight", "The airplane weighed 2,400 lbs.| Fuel was added."},
		{"incorporated", "The operator was Mountain Air, Inc.| The pilot was its owner."},
		{"measure before lower case", "It burned 5.3 gal. per hour.| It had 10 gal. left."},
		{"speech", "\"Mayday!\" he said.| \"We are going in.\"| Then it was quiet."},
		{"mixed marks", "Was it wind?!| Nobody knows...| Perhaps."},
		{"gap", "He waited... and then took off."},
		{"machine-joined", "to prepare this aircraft accident report.|The pilot was landing."},
		{"machine-joined capitals", "to prepare this aircraft accident report.|THE PILOT WAS LANDING."},
		{"addresses and names", "See www.ntsb.gov for more.| See Part91.Subpart K too."},
		{"number begins a sentence", "At 0900 the flight left.| 20 minutes later it returned."},
		{"times of day", "It left at 9 a.m. and came back at 5 p.m.| The day was hot."},
		{"Japanese", "飛行機は着陸した。|風は強かった。|終わり"},
		{"numbered list", "1. The pilot's delay.| 2. The wind."},
		{"title above lines", "Record|\nThe aircraft was old.|\nIt flew."},
		{"list after a long line", "The following were found in the wreckage of the airplane at the site:|\n- a map|\n- a radio"},
		{"paragraphs", "a paragraph|\n\nanother one"},
		{"wrapped line", "a line that was wrapped by somebody at about seventy\ncharacters goes on."},
		{"title of a document", "Aviation Accident Final Report\n|The airplane was destroyed by a fire that began after it had come to rest."},
		{"codes and bullets on their own lines", "PLT144\nRecall airport operations, runway conditions\n•\nForm 8610 of the administration."},
		{"name at the start of a wrapped line", "The wreckage was taken from the site near\nAlbuquerque to a hangar, where parts of it\nremained."},
		{"nothing", ""},
		{"blanks", " \n\t "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want []string
			for s := range strings.SplitSeq(tt.text, "|") {
				if s = strings.TrimSpace(s); s != "" {
					want = append(want, s)
				}
			}
			text := strings.ReplaceAll(tt.text, "|", "")
			var got []string
			for _, r := range Sentences(text) {
				got = append(got, text[r.Start:r.End])
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Sentences(%q) (-want +got):\n%s", text, diff)
			}
		})
	}
}

// proseGen makes texts out of what sentence and chunk boundaries depend on.
func proseGen() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"The", "pilot", "landed", "N.M.", "No.", "5", "p.m.", "U.S.", "e.g.", "J.", "1.25", "ENGINE", "incomprehensibilities"}),
		rapid.SampledFrom([]string{". ", ".", "...", "? ", "! ", "。", "…", "\n", "\n\n", "\n- ", "\r\n", "\f", " ", "  ", ", ", "\u00a0", "\u2029"}),
		rapid.SampledFrom([]string{"\"", "'", "(", ")", "[3]", "”", "« ", "|", "---", "| a | b |\n", "# A"}),
		rapid.SampledFrom([]string{"着陸", "👨‍👩‍👧", "🇩🇪", "👍🏽", "e\u0301", "한국", "क्ष", "\u0301", "\u200d", "ＡＢ"}),
		rapid.StringN(0, 6, 20),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces"), "")
	})
}

func TestSentencesHoldAllText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkSentences(t, proseGen().Draw(t, "text"))
	})
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkSentences(t failer, text string) {
	t.Helper()
	last, valid := 0, utf8.ValidString(text)
	for _, r := range Sentences(text) {
		if r.Start < last || r.End <= r.Start || r.End > len(text) {
			t.Fatalf("range %v after %d in %q", r, last, text)
		}
		s := text[r.Start:r.End]
		if s != strings.TrimSpace(s) {
			t.Fatalf("blanks around %q", s)
		}
		if valid && !utf8.ValidString(s) {
			t.Fatalf("cut inside a code point: %q", s)
		}
		checkBlank(t, text, last, r.Start)
		last = r.End
	}
	checkBlank(t, text, last, len(text))
}

func checkBlank(t failer, text string, start, end int) {
	t.Helper()
	if start < end && strings.ContainsFunc(text[start:end], func(r rune) bool { return !unicode.IsSpace(r) }) {
		t.Fatalf("lost %q at %d of %q", text[start:end], start, text)
	}
}

func TestSentencesTakeLinearTime(t *testing.T) {
	for name, text := range map[string]string{
		"stops":     strings.Repeat(".", 1<<20),
		"spaced":    strings.Repeat(". ", 1<<19),
		"lines":     strings.Repeat("\n", 1<<20),
		"openers":   strings.Repeat(". (", 1<<18),
		"no blanks": strings.Repeat("Word.", 1<<18),
		"capitals":  strings.Repeat("A.", 1<<19),
		"blanks":    "a." + strings.Repeat(" ", 1<<20) + "b",
	} {
		t.Run(name, func(t *testing.T) { checkSentences(t, text) }) // squares would take minutes
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{"The pilot. He", "report.The", "a\xffb. \xc3", "1. U.S. [12] 。」", "\n- a\n\nX: b\nY: c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkSentences(t, text) })
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
