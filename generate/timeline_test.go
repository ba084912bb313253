package generate

import (
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
)

// Not every four digits are a time of day.
func TestTimesOfDay(t *testing.T) {
	for text, want := range map[string]int{
		"The airplane departed at 14:05.":                                  14*60 + 5,
		"At 2:05 pm the tower called.":                                     14*60 + 5,
		"Radar contact was lost at 1042:25.":                               10*60 + 42,
		"About 0814 Alaska daylight time, the pilot called.":               8*60 + 14,
		"The engine quit at 2005.":                                         20*60 + 5,
		"At 1500 the pilot called.":                                        15 * 60,
		"At 1500, the pilot called.":                                       15 * 60,
		"About 1200 hours local, the flight departed.":                     12 * 60,
		"Between 1310 and 1325 it rained.":                                 13*60 + 10,
		"The pilot left about 1200 and the engine quit.":                   12 * 60,
		"At 1536 EST the controller cleared the flight.":                   15*60 + 36,
		"The airport had been closed since 1945 local.":                    19*60 + 45,
		"The slope of 1:50 was seen when it landed at 10:20.":              10*60 + 20,
		"He flew at 1500 feet until 1620, when he turned.":                 16*60 + 20,
		"The pilot had about 1200 hours of flight experience.":             -1,
		"He had approximately 1200 flight hours.":                          -1,
		"The pilot reported about 1800 hours total time.":                  -1,
		"The airplane flew at 1500 feet.":                                  -1,
		"It descended at 1500 ft per minute.":                              -1,
		"The engine ran at 2000 rpm.":                                      -1,
		"The airplane weighed about 2200 pounds.":                          -1,
		"He had flown it since 2010, when he bought it.":                   -1,
		"The airplane was built before 1945.":                              -1,
		"No annual inspection was made after 2012.":                        -1,
		"The lake is open until 2015.":                                     -1,
		"The runway has a slope of 1:50.":                                  -1,
		"The fuel was a mixture of 1:50.":                                  -1,
		"About 1500 people watched.":                                       -1,
		"It came to rest around 1100 yards north.":                         -1,
		"Between 1200 and 1500 feet it stalled.":                           -1,
		"It had accumulated about 1200 hours since the last overhaul.":     -1,
		"The tachometer stood at 2145 hours, 3 since the last inspection.": -1,
		"The pilot was killed.":                                            -1,
	} {
		got, ok := minuteOf(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func recounted(id string, sentences ...string) sextant.Document {
	text := strings.Join(sentences, " ")
	return sextant.Document{ID: sextant.DocumentID(id), Title: id, Text: text, Parts: []sextant.Part{{Kind: "narrative", Start: 0, End: len(text)}}}
}

// Times are put in order over documents; a text that goes over midnight keeps its own; what
// the bound leaves out is counted.
func TestTimelineOrder(t *testing.T) {
	day := recounted("a", "The pilot called at 14:05.", "He had left at 13:50.")
	night := recounted("b", "The flight left at 23:40.", "It landed at 0:35.", "The fire was out at 1:10.")
	ending := recounted("c", "It crashed at 19:50.", "He rose at 7:00.", "He left at 19:20.")
	for _, f := range []struct {
		documents []sextant.Document
		limit     int
		want      string
		more      int
	}{
		{[]sextant.Document{day}, 9, "He had left at 13:50. The pilot called at 14:05.", 0},
		{[]sextant.Document{night}, 9, "The flight left at 23:40. It landed at 0:35. The fire was out at 1:10.", 0},
		{[]sextant.Document{night, day}, 9, "He had left at 13:50. The pilot called at 14:05. The flight left at 23:40. It landed at 0:35. The fire was out at 1:10.", 0},
		{[]sextant.Document{ending}, 9, "He rose at 7:00. He left at 19:20. It crashed at 19:50.", 0},
		{[]sextant.Document{night, day}, 3, "He had left at 13:50. The pilot called at 14:05. The flight left at 23:40.", 2},
	} {
		findings, more := Timeline(f.documents, f.limit)
		var got []string
		for _, x := range findings {
			got = append(got, x.Text)
		}
		if s := strings.Join(got, " "); s != f.want || more != f.more {
			t.Errorf("%q and %d more, want %q and %d", s, more, f.want, f.more)
		}
	}
}
