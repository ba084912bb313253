package table

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var clock = time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)

func TestParseDate(t *testing.T) {
	for text, want := range map[string]Date{
		"1996-05-08":                {1996, 5, 8},
		" 1996-05-08 ":              {1996, 5, 8},
		"1996-05-08T23:30:00+00:00": {1996, 5, 8}, // local clock time, never converted
		"1996-05-08 00:00:00":       {1996, 5, 8},
		"27-03-2017":                {2017, 3, 27},
		"3/8/1948 14:30":            {1948, 8, 3},
		"1948/10/24":                {1948, 10, 24},
		"8 May 1996":                {1996, 5, 8},
		"May 8, 1996":               {1996, 5, 8},
		"08-MAY-1996":               {1996, 5, 8},
		"5 Sept 2001":               {2001, 9, 5},
		"1996":                      {1996, 0, 0},
		"November 1994":             {1994, 11, 0},
	} {
		if got, ok := ParseDate(text, DayFirst, clock); !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-", "N/A", "31-02-2001", "13/13/2001", "1/2/3", "99999", "2001-13-01", "May", "1 2 3 4", "2001-01-01x"} {
		if got, ok := ParseDate(text, DayFirst, clock); ok {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

func TestFLT08TwoDigitYearsLieInThePast(t *testing.T) {
	for text, want := range map[string]Date{
		"Nov-94":    {1994, 11, 0},
		"14-Mar-49": {1949, 3, 14},
		"9/17/61":   {1961, 9, 17},
		"02-Feb-19": {2019, 2, 2},
		"03/14/26":  {2026, 3, 14},
		"03/16/26":  {1926, 3, 16},
	} {
		if got, ok := ParseDate(text, MonthFirst, clock); !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", text, got, ok, want)
		}
	}
	if d, _ := ParseDate("Nov-94", MonthFirst, clock); d.Precision() != "month" {
		t.Errorf("precision %s", d.Precision())
	}
}

func TestFLT09OrderIsTheColumns(t *testing.T) {
	var decided OrderVote
	column := []string{"24/10/1948", "03/08/1948", "11/02/1949", "", "1948-01-30"}
	for _, c := range column {
		decided.Add(c)
	}
	order, warning := decided.Order("Event.Date", MonthFirst)
	if order != DayFirst || warning != "" {
		t.Fatalf("%s, %q", order, warning)
	}
	for i, want := range []Date{{1948, 10, 24}, {1948, 8, 3}, {1949, 2, 11}} {
		if got, _ := ParseDate(column[i], order, clock); got != want {
			t.Errorf("%s: %+v, want %+v", column[i], got, want)
		}
	}
}

func TestFLT09AmbiguousOrderIsSaid(t *testing.T) {
	var v OrderVote
	v.Add("03/08/1948")
	if order, warning := v.Order("d", DayFirst); order != DayFirst || warning != "Column d has an ambiguous date order; read day first." {
		t.Errorf("%s, %q", order, warning)
	}
	v.Add("24/08/1948")
	v.Add("24/09/1948")
	v.Add("08/24/1948")
	if order, warning := v.Order("d", MonthFirst); order != DayFirst || warning == "" {
		t.Errorf("%s, %q", order, warning)
	}
}

// Every day survives being written in each of the forms.
func TestDatesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := clock.AddDate(0, 0, -rapid.IntRange(0, 36_000).Draw(t, "days"))
		want := Date{day.Year(), day.Month(), day.Day()}
		for layout, order := range map[string]Order{
			time.DateOnly: MonthFirst, "01/02/2006": MonthFirst, "02/01/2006": DayFirst, "2-1-06": DayFirst,
			"2006/1/2": DayFirst, "Jan 2, 2006": MonthFirst, "2-January-06": MonthFirst,
		} {
			if got, ok := ParseDate(day.Format(layout), order, clock); !ok || got != want {
				t.Fatalf("%s: %+v %v, want %+v", day.Format(layout), got, ok, want)
			}
		}
	})
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"1996-05-08", "27-03-2017", "Nov-94", "31/31/31", "--", "٣/٤/١٩٩٩"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, dayFirst bool) {
		order := MonthFirst
		if dayFirst {
			order = DayFirst
		}
		var v OrderVote
		v.Add(text)
		if d, ok := ParseDate(text, order, clock); ok && !valid(d) {
			t.Errorf("%q: %+v is no date", text, d)
		}
	})
}
