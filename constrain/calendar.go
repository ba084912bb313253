package constrain

import "time"

// What people call days and parts of the year.

var monthNames = map[string]time.Month{"january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4, "may": 5, "june": 6, "jun": 6, "july": 7, "jul": 7,
	"august": 8, "aug": 8, "september": 9, "sept": 9, "sep": 9, "october": 10, "oct": 10, "november": 11, "nov": 11, "december": 12, "dec": 12}

// seasons by their first month (meteorological seasons of the northern hemisphere;
// three months each).
var seasons = map[string]time.Month{"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12, "springs": 3, "summers": 6, "falls": 9, "autumns": 9, "winters": 12,
	"springtime": 3, "summertime": 6, "wintertime": 12}

var ordinals = map[string]int{"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}

var decades = map[string]int{"twenties": 1920, "thirties": 1930, "forties": 1940, "fifties": 1950, "sixties": 1960, "seventies": 1970, "eighties": 1980, "nineties": 1990, "noughties": 2000, "aughts": 2000}

// calendarUnits maps the words for units of time to the unit.
var calendarUnits = map[string]string{"day": "day", "days": "day", "week": "week", "weeks": "week", "wk": "week", "wks": "week", "fortnight": "fortnight", "fortnights": "fortnight",
	"month": "month", "months": "month", "mo": "month", "mos": "month", "quarter": "quarter", "quarters": "quarter", "year": "year", "years": "year", "yr": "year", "yrs": "year", "decade": "decade", "decades": "decade", "century": "century"}

// A holiday falls on one day of a year and has perhaps a long weekend.
type holiday struct {
	on      func(year int) time.Time
	fixed   bool                    // falls on the same day every year
	weekend func(on time.Time) Span // nil: the Saturday and Sunday nearest to it, and the day
}

func on(m time.Month, d int) holiday {
	return holiday{on: func(y int) time.Time { return day(y, m, d) }, fixed: true}
}

// monday is a holiday that is a Monday; its weekend begins on the Saturday before.
func monday(at func(y int) time.Time) holiday {
	return holiday{on: at, weekend: func(on time.Time) Span { return Span{on.AddDate(0, 0, -2), on} }}
}

func nthMonday(m time.Month, n int) func(int) time.Time {
	return func(y int) time.Time { return nth(y, m, time.Monday, n) }
}

var thanksgiving = holiday{
	on:      func(y int) time.Time { return nth(y, 11, time.Thursday, 4) },
	weekend: func(on time.Time) Span { return Span{on, on.AddDate(0, 0, 3)} },
}

var holidays = tableOf(
	phrases(on(12, 25), "christmas day, christmas, xmas, xmas day"),
	phrases(on(12, 24), "christmas eve, xmas eve"),
	phrases(on(12, 26), "boxing day"),
	phrases(on(1, 1), "new year s day, new years day, new year day, new year, new years"),
	phrases(on(12, 31), "new year s eve, new years eve, new year eve"),
	phrases(on(2, 14), "valentine s day, valentines day"),
	phrases(on(3, 17), "st patrick s day, saint patrick s day, st patricks day"),
	phrases(on(4, 1), "april fools day, april fool s day"),
	phrases(on(7, 4), "independence day, fourth of july, 4th of july, july fourth, july 4th"),
	phrases(on(10, 31), "halloween, hallowe en"),
	phrases(on(11, 11), "veterans day, veteran s day, armistice day"),
	phrases(thanksgiving, "thanksgiving day, thanksgiving"),
	phrases(monday(nthMonday(1, 3)), "martin luther king day, mlk day"),
	phrases(monday(nthMonday(2, 3)), "presidents day, president s day, washington s birthday"),
	phrases(monday(func(y int) time.Time { return nth(y, 6, time.Monday, 1).AddDate(0, 0, -7) }), "memorial day"),
	phrases(monday(nthMonday(9, 1)), "labor day, labour day"),
	phrases(monday(nthMonday(10, 2)), "columbus day"),
	phrases(holiday{on: easter}, "easter sunday, easter day, easter"),
	phrases(holiday{on: func(y int) time.Time { return easter(y).AddDate(0, 0, -2) }}, "good friday"),
)

// days returns the holiday's day, or its long weekend, in a year.
func (h holiday) days(year int, weekend bool) Span {
	t := h.on(year)
	if !weekend {
		return daySpan(t)
	}
	if h.weekend != nil {
		return h.weekend(t)
	}
	saturday := t.AddDate(0, 0, 6-int(t.Weekday())) // of the week that began on Sunday
	if t.Weekday() < time.Wednesday {
		saturday = saturday.AddDate(0, 0, -7)
	}
	s := Span{saturday, saturday.AddDate(0, 0, 1)}
	if t.Before(s.From) {
		s.From = t
	}
	if t.After(s.To) {
		s.To = t
	}
	return s
}

// nth returns the nth such weekday of a month.
func nth(y int, m time.Month, wd time.Weekday, n int) time.Time {
	t := day(y, m, 1)
	return t.AddDate(0, 0, (int(wd)-int(t.Weekday())+7)%7+7*(n-1))
}

// easter returns Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones
// and Butcher (J. Meeus, Astronomical Algorithms, chapter 8).
func easter(y int) time.Time {
	a, b, c := y%19, y/100, y%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	n := h + l - 7*((a+11*h+22*l)/451) + 114
	return day(y, time.Month(n/31), n%31+1)
}
