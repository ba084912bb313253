package table

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseMoment(t *testing.T) {
	for text, want := range map[string]string{
		"2024-01-31": "2024-01-31T00:00:00Z", "2024-01-31 14:05": "2024-01-31T14:05:00Z", "2024-01-31T14:05:06.25": "2024-01-31T14:05:06.25Z", "2024-01-31T14:05:06Z": "2024-01-31T14:05:06Z",
		"2024-01-31T14:05:06+02:00": "2024-01-31T14:05:06Z", "31/01/2024 2:05 PM": "2024-01-31T14:05:00Z", "31.01.2024, 12:00 am": "2024-01-31T00:00:00Z", "31-Jan-2024 14:05:06 EST": "2024-01-31T14:05:06Z",
		"Wed, 31 Jan 2024 14:05:06 GMT": "2024-01-31T14:05:06Z", "Wednesday, January 31st, 2024": "2024-01-31T00:00:00Z", "31st of January 2024": "2024-01-31T00:00:00Z", "Jan. 31, 2024 at 14:05": "",
		"01/2024": "2024-01-01T00:00:00Z", "2024-01": "2024-01-01T00:00:00Z", "Jan 2024": "2024-01-01T00:00:00Z", "31. Januar 2024": "2024-01-31T00:00:00Z", "31 août 2023": "2023-08-31T00:00:00Z", "3 marzo 2024": "2024-03-03T00:00:00Z",
		"31/01/24": "2024-01-31T00:00:00Z", "31/01/62": "1962-01-31T00:00:00Z", "2024/1/31": "2024-01-31T00:00:00Z",
		"": "", "14:05": "", "2024-13-01": "", "31/02/2024": "", "yesterday": "", "31/01/2024 25:00": "", "31/01/2024 13:05 pm": "", "12345": "", "31/01/2024 14:05 XYZQ": "",
	} {
		m, ok := ParseMoment(text, DayFirst, time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC))
		got := ""
		if ok {
			got = m.Local().Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	m, _ := ParseMoment("2024-01-31T14:05:06+02:00", MonthFirst, time.Now())
	if m.Zone != "+02:00" || !m.UTC().Equal(time.Date(2024, 1, 31, 12, 5, 6, 0, time.UTC)) {
		t.Errorf("%+v is %s in UTC", m, m.UTC())
	}
}

func TestDigitsAsDates(t *testing.T) {
	for text, want := range map[string]string{"20240131": "2024-01-31T00:00:00Z", "1706709906": "2024-01-31T14:05:06Z", "1706709906250": "2024-01-31T14:05:06.25Z", "20241301": "", "123": "", "99999999": ""} {
		m, ok := compactDate(text)
		if !ok {
			m, ok = epoch(text)
		}
		if got := m.Local().Format(time.RFC3339Nano); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s %t, want %q", text, got, ok, want)
		}
	}
}

// Any moment written in the forms of tables is read back to the second.
func TestMomentsComeBack(t *testing.T) {
	forms := map[string]Order{"2006-01-02 15:04:05": MonthFirst, "2006-01-02T15:04:05Z07:00": DayFirst, "02/01/2006 15:04:05": DayFirst, "1/2/2006 3:04:05 PM": MonthFirst,
		"2.1.2006 15:04:05": DayFirst, "Jan 2, 2006 15:04:05": DayFirst, "2-Jan-2006 15:04:05": MonthFirst, "Mon, 02 Jan 2006 15:04:05": MonthFirst, "Monday, 2 January 2006 3:04:05 pm": DayFirst}
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-4e9, 4e9).Draw(t, "unix"), 0).UTC()
		for form, order := range forms {
			text := at.Format(form)
			if m, ok := ParseMoment(text, order, at); !ok || !m.Local().Equal(at) {
				t.Fatalf("%q (%s): %s %t, want %s", text, form, m.Local(), ok, at)
			}
		}
	})
}

func FuzzParseMoment(f *testing.F) {
	for _, s := range []string{"31/01/2024 2:05 PM", "Jan 31st, 2024", "2024-01-31T14:05:06+02:00", "01/2024"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, order := range []Order{MonthFirst, DayFirst} {
			if m, ok := ParseMoment(text, order, time.Now()); ok && (m.Local().Year() < 0 || m.Local().Year() > 10000) {
				t.Errorf("%q: %s", text, m.Local())
			}
		}
	})
}
