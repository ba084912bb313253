package constrain_test

import (
	"testing"
	"time"

	"github.com/sextant-rag/sextant/constrain"
)

// Every form in which people write dates, against 30 June 2015.
func TestDates(t *testing.T) {
	in := func(span string) string { return "opened between " + span }
	reads(t, desk(t), [][2]string{
		// Years.
		{"tickets 2012", in("2012-01-01..2012-12-31")},
		{"in '07", in("2007-01-01..2007-12-31")},
		{"'94 tickets", in("1994-01-01..1994-12-31")}, // never after the reference date
		{"in the year 1999", in("1999-01-01..1999-12-31")},
		{"2008-2010", in("2008-01-01..2010-12-31")},
		{"2008–2010 inclusive", in("2008-01-01..2010-12-31")},
		{"from 2008 to 2010", in("2008-01-01..2010-12-31")},
		{"between 2008 and 2010", in("2008-01-01..2010-12-31")},
		{"2012-13", in("2012-01-01..2013-12-31")},
		{"in 2003, 2005 and 2007", "opened in 2003-01-01..2003-12-31 2005-01-01..2005-12-31 2007-01-01..2007-12-31"},
		{"FY2012", in("2011-10-01..2012-09-30")},
		{"fiscal year 2012", in("2011-10-01..2012-09-30")},
		// Decades and centuries.
		{"in the 1990s", in("1990-01-01..1999-12-31")},
		{"the '80s", in("1980-01-01..1989-12-31")},
		{"in the nineties", in("1990-01-01..1999-12-31")},
		{"1980's", in("1980-01-01..1989-12-31")},
		{"the 20th century", in("1901-01-01..2000-12-31")},
		{"second half of the 1990s", in("1995-01-01..1999-12-31")},
		// Months.
		{"June 2012", in("2012-06-01..2012-06-30")},
		{"in Feb. 2012", in("2012-02-01..2012-02-29")},
		{"Nov-94", in("1994-11-01..1994-11-30")},
		{"2014-05", in("2014-05-01..2014-05-31")},
		{"05/2009", in("2009-05-01..2009-05-31")},
		{"June to August 2012", in("2012-06-01..2012-08-31")},
		{"November 2012 through January 2013", in("2012-11-01..2013-01-31")},
		{"June and July 2012", in("2012-06-01..2012-07-31")},
		{"June, July or August 2012", in("2012-06-01..2012-08-31")},
		{"in 2012, in June", in("2012-06-01..2012-06-30")},
		{"every June", "opened_month eq 6"},
		{"in June or July", "opened_month in 6 7"},
		{"from October to February", "opened_month in 10 11 12 1 2"},
		{"the tickets may be late", ""},
		{"march through the snow", ""},
		{"in May", "opened_month eq 5"},
		// Days.
		{"2012-08-15", in("2012-08-15..2012-08-15")},
		{"2012/08/15", in("2012-08-15..2012-08-15")},
		{"15 August 2012", in("2012-08-15..2012-08-15")},
		{"on the 15th of August, 2012", in("2012-08-15..2012-08-15")},
		{"August 15, 2012", in("2012-08-15..2012-08-15")},
		{"Aug. 15, '12", in("2012-08-15..2012-08-15")},
		{"15-Aug-2012", in("2012-08-15..2012-08-15")},
		{"14-Mar-49", in("1949-03-14..1949-03-14")},
		{"3/4/2012", in("2012-03-04..2012-03-04")},
		{"25/4/2012", in("2012-04-25..2012-04-25")},
		{"3.4.2012", in("2012-04-03..2012-04-03")},
		{"9/17/61", in("1961-09-17..1961-09-17")},
		{"2/30/2012", ""}, // no such day, which the reading says
		{"tickets of 31 June 2012", ""},
		{"February 30, 2012", ""},
		{"Jan-Mar 2009", in("2009-01-01..2009-03-31")},
		{"Nov–Feb 2009", in("2008-11-01..2009-02-28")},
		{"'94 in Denver, Nov 3rd", in("1994-11-03..1994-11-03")},
		{"July 4-7, 2014", in("2014-07-04..2014-07-07")},
		{"12 to 14 March 1993", in("1993-03-12..1993-03-14")},
		{"August 5th through 9th, 2014", in("2014-08-05..2014-08-09")},
		{"between 1 and 15 October 2008", in("2008-10-01..2008-10-15")},
		{"Dec 24 2010 - Jan 3 2011", in("2010-12-24..2011-01-03")},
		{"1 January to 3 March 2012", in("2012-01-01..2012-03-03")},
		{"the last day of 2012", in("2012-12-31..2012-12-31")},
		{"first day of May 2010", in("2010-05-01..2010-05-01")},
		{"the night of 24 February 2006", in("2006-02-24..2006-02-24")},
		// Weeks, quarters, halves, parts.
		{"the week of August 12, 2013", in("2013-08-12..2013-08-18")},
		{"the first week of March 1995", in("1995-03-01..1995-03-07")},
		{"the last week of 2009", in("2009-12-25..2009-12-31")},
		{"first two months of 2014", in("2014-01-01..2014-02-28")},
		{"last three months of 1999", in("1999-10-01..1999-12-31")},
		{"the weekend of 3 July 2010", in("2010-07-03..2010-07-04")},
		{"Q3 2014", in("2014-07-01..2014-09-30")},
		{"2014 Q3", in("2014-07-01..2014-09-30")},
		{"third quarter of 2014", in("2014-07-01..2014-09-30")},
		{"first half of 2013", in("2013-01-01..2013-06-30")},
		{"H2 2011", in("2011-07-01..2011-12-31")},
		{"early 1990s", in("1990-01-01..1999-12-31")}, // the whole; the third is the other reading
		{"mid-2010", in("2010-01-01..2010-12-31")},
		// Seasons and holidays.
		{"summer 2012", in("2012-06-01..2012-08-31")},
		{"fall of 2009", in("2009-09-01..2009-11-30")},
		{"summers of 2008, 2009 and 2011", "opened in 2008-06-01..2008-08-31 2009-06-01..2009-08-31 2011-06-01..2011-08-31"},
		{"winter 2012-13", in("2012-12-01..2013-02-28")},
		{"winter of 97-98", in("1997-12-01..1998-02-28")},
		{"winter 2012", in("2011-12-01..2012-02-29")}, // named after its January
		{"winter tickets", "opened_month in 12 1 2"},
		{"a spring in the hinge", ""},
		{"turn of the year 2010/2011", in("2010-12-01..2011-01-31")},
		{"Christmas Day 2011", in("2011-12-25..2011-12-25")},
		{"Thanksgiving 2013", in("2013-11-28..2013-11-28")},
		{"Memorial Day 2007", in("2007-05-28..2007-05-28")},
		{"Labor Day weekend 2008", in("2008-08-30..2008-09-01")},
		{"Thanksgiving weekend of 2013", in("2013-11-28..2013-12-01")},
		{"4th of July weekend 2010", in("2010-07-03..2010-07-04")},
		{"Christmas weekend 2008", in("2008-12-25..2008-12-28")},
		{"Halloween weekend 2012", in("2012-10-31..2012-11-04")},
		{"Valentine's Day weekend 2011", in("2011-02-12..2011-02-14")},
		{"Easter Sunday 2012", in("2012-04-08..2012-04-08")},
		{"between Christmas and New Year's Eve 2008", in("2008-12-25..2008-12-31")},
		// Sides.
		{"before 2010", "opened lte ..2009-12-31"},
		{"prior to June 2010", "opened lte ..2010-05-31"},
		{"after 2010", "opened gte 2011-01-01.."},
		{"since 2010", "opened gte 2010-01-01.."},
		{"since March 2010", "opened gte 2010-03-01.."},
		{"until 2010", "opened lte ..2010-12-31"},
		{"through June 2010", "opened lte ..2010-06-30"},
		{"up to and including 2004", "opened lte ..2004-12-31"},
		{"no later than 1988", "opened lte ..1988-12-31"},
		{"not before 2010", "opened gte 2010-01-01.."},
		{"on or after 15 March 2012", "opened gte 2012-03-15.."},
		{"until the end of 1995", "opened lte ..1995-12-31"},
		{"since the start of 2012", "opened gte 2012-01-01.."},
		{"pre-1990", "opened lte ..1989-12-31"},
		{"starting 2005", "opened gte 2005-01-01.."},
		{"2010 onwards", "opened gte 2010-01-01.."},
		{"2010 or later", "opened gte 2010-01-01.."},
		{"2010 and earlier", "opened lte ..2010-12-31"},
		{"from 2010 on", "opened gte 2010-01-01.."},
		{"from 2010", "opened gte 2010-01-01.."},
		{"tickets from 2010", in("2010-01-01..2010-12-31")},
		{"2010+", "opened gte 2010-01-01.."},
		{"after June 2013 but before March 2014", in("2013-07-01..2014-02-28")},
		{"August 2011 to date", in("2011-08-01..2015-06-30")},
		{"2010 to present", in("2010-01-01..2015-06-30")},
		{"before and after 2010", ""},
		// Relative to the reference date.
		{"today", in("2015-06-30..2015-06-30")},
		{"yesterday's tickets", in("2015-06-29..2015-06-29")},
		{"in the last five years", in("2010-06-30..2015-06-30")},
		{"over the past 18 months", in("2013-12-30..2015-06-30")},
		{"the last couple of years", in("2013-06-30..2015-06-30")},
		{"in the past decade", in("2005-06-30..2015-06-30")},
		{"last year", in("2014-01-01..2014-12-31")},
		{"last year's tickets", in("2014-01-01..2014-12-31")},
		{"last month", in("2015-05-01..2015-05-31")},
		{"last quarter", in("2015-01-01..2015-03-31")},
		{"last week", in("2015-06-22..2015-06-28")},
		{"past week", in("2015-06-23..2015-06-30")},
		{"last summer", in("2014-06-01..2014-08-31")},
		{"since last June", "opened gte 2014-06-01.."},
		{"since last Thanksgiving", "opened gte 2014-11-27.."},
		{"the previous decade", in("2000-01-01..2009-12-31")},
		{"this year", in("2015-01-01..2015-06-30")},
		{"this year so far", in("2015-01-01..2015-06-30")},
		{"so far this century", in("2001-01-01..2015-06-30")},
		{"this month", in("2015-06-01..2015-06-30")},
		{"year to date", in("2015-01-01..2015-06-30")},
		{"two years ago", in("2013-01-01..2013-12-31")},
		{"10 days ago", in("2015-06-20..2015-06-20")},
		{"three years ago today", in("2012-06-30..2012-06-30")},
		{"as at 31 December 2009, what happened that year", in("2009-01-01..2009-12-31")},
		// No dates of a ticket.
		{"2,012 tickets", ""},
		{"2010 feet of cable", ""},
		{"flight 2010", ""},
		{"at 2010 hours", ""},
		{"version 3.2012", ""},
		{"built in 1968", ""},
		{"bought by Acme in 1999", "vendor eq Acme"},
		{"the 1968-built tower", ""},
		{"closed in 2012", "closed_at between 2012-01-01..2012-12-31"}, // the lexicon's own field
	})
}

func TestOtherReadingsOfDates(t *testing.T) {
	p := desk(t)
	for question, want := range map[string]string{
		"3/4/2012":         "opened between 2012-04-03..2012-04-03",
		"winter 2012":      "opened between 2012-12-01..2013-02-28",
		"last year":        "opened between 2014-06-30..2015-06-30",
		"the last 5 years": "opened between 2010-01-01..2014-12-31",
		"late 2012":        "opened between 2012-08-31..2012-12-31",
		"2005-07":          "opened between 2005-07-01..2005-07-31",
	} {
		alts := p.Parse(question, today).Ambiguous
		if len(alts) != 1 || condition(alts[0].Others[0]) != want {
			t.Errorf("%q: %+v", question, alts)
		}
	}
}

// The clock is the caller's: nothing depends on when the test runs.
func TestTheClockMovesRelativeDates(t *testing.T) {
	p := desk(t)
	for year, want := range map[int]string{2015: "opened between 2014-01-01..2014-12-31", 2028: "opened between 2027-01-01..2027-12-31"} {
		if got := stated(p.Parse("last year", time.Date(year, 6, 30, 23, 59, 0, 0, time.FixedZone("", -5*3600))).Constraints); got != want {
			t.Errorf("%d: %s", year, got)
		}
	}
}

// A year between an article and a thing is the year it was made.
func TestYearsOfMake(t *testing.T) {
	made := func(q *constrain.Query, i int) bool { return q.Word(i) == "acme" }
	p := constrain.NewParser(desk(t).Vocabulary(), lexicon(t), made)
	reads(t, p, [][2]string{
		{"the 1999 Acme in Leeds", "vendor eq Acme; city eq Leeds"},
		{"Acme tickets of 1999", "vendor eq Acme; opened between 1999-01-01..1999-12-31"},
		{"the 1999 tickets", "opened between 1999-01-01..1999-12-31"},
	})
}

func TestSpanStrings(t *testing.T) {
	s := constrain.Span{From: date(2012, 2, 29)}
	if from, to := s.Strings(); from != "2012-02-29" || to != "" {
		t.Error(from, to)
	}
}
