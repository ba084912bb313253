package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/source"
)

// Forms of task that people bring to accident records, each in words of its own, with what
// an answer must say and must not. Where an answer once misled, the form stands for the
// kind: a topic answered with the count of everything, a group that was dropped in silence.

// form is one question with how it ends, what its summary says (an expression), and what
// it must not say.
type form struct {
	name, question string
	status         sextant.Status
	says, never    string
	check          func(t *testing.T, a sextant.Answer)
}

func (d desk) form(t *testing.T, f form) {
	a := d.ask(t, f.question)
	if a.Status != f.status {
		t.Errorf("%s: %s, want %s: %s", f.question, a.Status, f.status, a.Summary)
	}
	if !regexp.MustCompile(f.says).MatchString(a.Summary) {
		t.Errorf("%s: says %q, want %q", f.question, a.Summary, f.says)
	}
	if f.never != "" && regexp.MustCompile(f.never).MatchString(a.Summary) {
		t.Errorf("%s: says %q, which matches %q", f.question, a.Summary, f.never)
	}
	if f.check != nil {
		f.check(t, a)
	}
}

// conditions are the fields an answer enforced.
func enforced(fields ...string) func(*testing.T, sextant.Answer) {
	return func(t *testing.T, a sextant.Answer) {
		var got []string
		for _, c := range a.Ledger.Constraints {
			got = append(got, c.Field)
		}
		slices.Sort(got)
		if !slices.Equal(got, fields) {
			t.Errorf("%s: conditions on %v, want %v", a.Question, got, fields)
		}
	}
}

// rows checks the number of rows of the first figure and how its columns begin.
func rows(n int, columns ...string) func(*testing.T, sextant.Answer) {
	return func(t *testing.T, a sextant.Answer) {
		if len(a.Computed) == 0 || len(a.Computed[0].Rows) != n || !slices.Equal(a.Computed[0].Columns[:min(len(columns), len(a.Computed[0].Columns))], columns) {
			t.Errorf("%s: figures %+v, want %d rows of %v", a.Question, a.Computed, n, columns)
		}
	}
}

// never checks that no finding quotes a text.
func never(expr string) func(*testing.T, sextant.Answer) {
	return func(t *testing.T, a sextant.Answer) {
		for _, f := range slices.Concat(a.Findings, a.CausalChain) {
			if regexp.MustCompile(expr).MatchString(f.Text) {
				t.Errorf("%s: quotes %q", a.Question, f.Text)
			}
		}
		for _, p := range a.Evidence {
			if regexp.MustCompile(expr).MatchString(p.Content) {
				t.Errorf("%s: has %q among its evidence", a.Question, p.Content)
			}
		}
	}
}

func TestForms(t *testing.T) {
	d := made(t)
	for _, f := range []form{
		{"two groups that exclude each other", "fatal accidents in the US and abroad in 2012", sextant.Answered, `US 1, abroad 1, of 2 events`, "", enforced("event_date", "severity")},
		{"the same with as well as", "accidents abroad as well as in the United States in 2012", sextant.Answered, `abroad 2, United States \d+`, "", enforced("event_date")},
		{"revisions", "What changed from preliminary to final in CEN12FA100?", sextant.Answered, `differs on \d+ facts?: .*people killed`, "", enforced("accident_number")},
		{"no revision held", "What changed between preliminary and final in CEN16LA901?", sextant.InsufficientEvidence, `No earlier revision`, "", enforced("accident_number")},
		{"is the final out", "Is the final out on CEN16LA901?", sextant.Answered, `CEN16LA901: status of the report: Probable Cause; publication date: 2017-01-05`, "not finished", nil},
		{"still open", "Is CEN16LA902 still open?", sextant.Answered, `not finished and the cause not yet determined`, "", nil},
		{"completed", "Has the investigation of CEN16LA902 been completed?", sextant.Answered, `not finished and the cause not yet determined`, "", nil},
		{"abroad", "Is the final report out on CEN16WA903?", sextant.Answered, `Foreign`, "", nil},
		{"facts only", "Facts only for CEN16LA901, no probable cause", sextant.Answered, `Left out, as asked: cause`, "", never("misjudged flare")},
		{"a part left out", "What happened in CEN16LA901? Leave out the probable cause.", sextant.Answered, `Left out, as asked: cause`, "", never("misjudged flare")},
		{"a flag against its opposite", "Homebuilt accidents against certified ones since 2010", sextant.Answered, `Homebuilt 2, certified ones 0`, "", nil},
		{"a look-alike", "accidents with a certified flight instructor in 2013", sextant.Partial, `No field holds`, `amateur`, enforced("event_date")},
		{"a bound no field holds", "Accidents with under 25 hours in type", sextant.InsufficientEvidence, `“under 25 hours in type” could not be enforced`, "", nil},
		{"a year", "Accidents a year since 2012", sextant.Answered, ``, "", rows(6, "year", "events")},
		{"sides as they are called", "Share of fatal accidents, R22 against PA-28", sextant.Answered, `R22 0 of 13 .*PA-28 1 of 1`, "", nil},
		{"the part is no condition", "Fatal accidents of R22 against PA-28, what share was fatal?", sextant.Answered, `R22 0 of 13`, "", func(t *testing.T, a sextant.Answer) {
			if !said(a.Caveats, "Fatal accidents", "without that condition") {
				t.Errorf("caveats %q", a.Caveats)
			}
		}},
		{"a topic no field holds", "Accidents with a flare in 2016", sextant.Answered, `“flare” is mentioned in at least 1 of \d+ events`, "", nil},
		{"a topic nobody mentions", "Accidents with mast bumping in 2016", sextant.Partial, `No field holds “mast bumping”`, `^\d+ events`, nil},
		{"the n latest", "The 4 latest accidents of the Cessna 172 with cause", sextant.Answered, `last 4 of \d+ events`, "", rows(4, "date", "title", "id", "cause")},
		{"links", "Docket links for CEN16LA901 and CEN16LA902", sextant.Answered, `CEN16LA901: link to the docket: none held. CEN16LA902: link`, "", rows(2, "id", "title", "link to the docket")},
		{"no timeline is held", "Timeline of the flight in CEN16LA901", sextant.InsufficientEvidence, `no timeline can be told; of its record are held: record, probable cause`, "", nil},
		{"a tail number nobody has", "Does N99999 have an accident?", sextant.NoData, `none in what is held`, "", nil},
		{"sides and a sum", "How many people were killed in Robinson R22 accidents versus fatal accidents since 2010?", sextant.Answered, `people killed, over \d+ events`, "", func(t *testing.T, a sextant.Answer) {
			if !said(a.Caveats, "R22", "not told apart") {
				t.Errorf("caveats %q", a.Caveats)
			}
		}},
		{"sides and rows", "Compare Robinson accidents against helicopter accidents by year", sextant.Answered, `Robinson accidents against helicopter`, "", func(t *testing.T, a sextant.Answer) {
			if title := a.Computed[0].Title; !strings.Contains(title, " or helicopter") {
				t.Errorf("title %q", title)
			}
		}},
		{"a third condition on the field of sides", "Compare accidents in Texas and outside Texas, excluding Alaska", sextant.Answered, `Texas \d+, not Texas \d+, of \d+ events \(not Alaska\)`, "", enforced("state")},
		{"sides that do not add up", "Accidents in Texas and not in Texas", sextant.Answered, `Texas \d+, not Texas \d+`, "", nil},
		{"a denied topic", "How many accidents in 2016 did not involve a flare?", sextant.Answered, `not restricted`, `mentioned in`, nil},
		{"a denied mention", "How many accidents where no flare is mentioned in 2016?", sextant.Answered, `\d+ events`, "", enforced("event_date", "text")},
		{"a bound no field holds, with a topic", "Accidents above 10,000 feet involving hypoxia", sextant.InsufficientEvidence, `“above 10,000 feet” could not be enforced`, "", nil},
		{"a condition behind a place", "How many people died in the Texas Balloon accidents of 2012?", sextant.NoData, ``, "", enforced("aircraft_category", "event_date", "state")},
		{"still open of many", "How many accidents in 2012-2016 are still open?", sextant.Answered, `\d+ events?`, "not restricted", enforced("event_date", "report_status")},
		{"a denied condition says so", "Cessna accidents outside the United States", sextant.Answered, `not United States`, "", nil},
	} {
		t.Run(f.name, func(t *testing.T) { d.form(t, f) })
	}
}

// The forms over the records of four files of the NTSB, most in two wordings.
func TestFormsOnRealFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("needs tests without -short: it takes 25,000 records in")
	}
	var sources []source.Source
	for _, name := range []string{"NTSB_2010_2014.csv.gz", "NTSB_2015_2019.csv.gz", "NTSB_2020_2024.csv.gz", "carol-raw-export-4802.csv.gz"} {
		s, err := aviation.OpenNTSB(sharedData(t, "ntsb-carol", name))
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, s)
	}
	d := openDesk(t, t.TempDir(), sources...)
	for _, f := range []form{
		{"01 one case", "What happened in WPR15FA072?", sextant.Answered, `WPR15FA072`, "", enforced("accident_number")},
		{"01 one case", "Tell me about accident WPR15FA072", sextant.Answered, `WPR15FA072`, "", enforced("accident_number")},
		{"02 a tail number", "Has N99999 ever crashed?", sextant.NoData, `none in what is held`, "", nil},
		{"03 the final", "Is the investigation of WPR15FA072 completed?", sextant.Answered, `status of the report: Probable Cause`, "", nil},
		{"03 the final", "Is there a final report on WPR15FA072 yet?", sextant.Answered, `Probable Cause`, "", nil},
		{"04 links", "Docket links for ERA22LA175 and WPR15FA072", sextant.Answered, `WPR15FA072: link to the docket: https://`, "", rows(2, "id", "title", "link to the docket")},
		{"04 links", "Report and docket links for WPR15FA072", sextant.Answered, `docket: https://`, "", nil},
		{"05 timeline", "Chronology of WPR15FA072", sextant.InsufficientEvidence, `no timeline can be told`, "", nil},
		{"06 changes", "How did the record for WPR15FA072 change between preliminary and final?", sextant.InsufficientEvidence, `No earlier revision`, "", enforced("accident_number")},
		{"07 latest", "The 100 latest accidents of the Cirrus SR22 with cause", sextant.Answered, `last 100 of \d+ events`, "", rows(100, "date", "title", "id", "cause")},
		{"07 latest", "Show the ten most recent accidents of the Robinson R44 with the probable cause", sextant.Answered, `last 10 of`, "", rows(10, "date", "title", "id", "cause")},
		{"10 mentions", "Every accident where birds are mentioned in 2016", sextant.Answered, `\d+ events \(where birds are mentioned`, "", nil},
		{"12 recommendations", "Cases that led to a safety recommendation since 2015", sextant.Answered, `\d+ events \(led to a safety recommendation`, "", enforced("event_date", "safety_recommendation")},
		{"13 abroad", "Airbus A320 accidents in the US and abroad", sextant.Answered, `US \d+, abroad \d+`, "", nil},
		{"14 count", "How many accidents in Florida?", sextant.Answered, `^[\d,]+ events \(Florida\)`, "", nil},
		{"15 general aviation", "Fatal general aviation accidents per year", sextant.Answered, `“general aviation” is no recorded field, and this is not restricted`, "", nil},
		{"16 safer", "Are planes safer than they used to be?", sextant.Answered, `not a risk`, "", nil},
		{"17 dangerous", "Which aircraft is the most dangerous?", sextant.Answered, `not a risk`, "", nil},
		{"17 deadliest", "What is the deadliest airplane model?", sextant.Answered, `By people killed: `, "", nil},
		{"18 share", "R44 vs R22 fatal share", sextant.Answered, `R44 \d+ of \d+ .*R22 \d+ of \d+`, "", nil},
		{"18 share", "What percentage of Bonanza accidents are fatal compared with Skyhawks?", sextant.Answered, `Bonanza \d+ of \d+ .*Skyhawks \d+ of \d+`, ` 0\.0 %`, nil},
		{"21 rows", "Accidents by month, weekday and hour", sextant.Answered, ``, "", func(t *testing.T, a sextant.Answer) {
			if !said(a.Caveats, "two fields at most", "hour") {
				t.Errorf("caveats %q", a.Caveats)
			}
		}},
		{"22 topic", "Fuel exhaustion in 2016?", sextant.Answered, `“Fuel exhaustion” is mentioned in at least \d+ of [\d,]+ events`, `^[\d,]+ events`, nil},
		{"22 topic", "How many fuel exhaustion accidents in 2016?", sextant.Answered, `mentioned in at least \d+ of`, `^[\d,]+ events`, nil},
		{"23 deaths", "How many died in 2016?", sextant.Answered, `people killed, over`, "", nil},
		{"24 homebuilts", "RV-6 accidents compared with certificated aircraft since 2015", sextant.Answered, `RV-6 \d+, certificated aircraft \d+`, "", nil},
		{"28 hours", "Share of accidents where the pilot had less than 100 hours in type", sextant.InsufficientEvidence, `could not be enforced`, "", nil},
		{"36 facts", "Facts only on WPR15FA072, leave out the Board's findings", sextant.Answered, `Left out, as asked: cause`, "", never("continued visual flight")},
		{"39 the whole list", "Give me the full list of Cessna 208 accidents in Alaska, not ten", sextant.Answered, `^\d+ events \(Cessna 208; Alaska\)`, "", nil},
	} {
		t.Run(f.name, func(t *testing.T) { d.form(t, f) })
	}
}
