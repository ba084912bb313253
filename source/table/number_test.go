package table

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseQuantity(t *testing.T) {
	for _, c := range []struct {
		text  string
		mark  Mark
		value float64
		whole bool
		unit  string
	}{
		{"0", Point, 0, true, ""}, {"42", Point, 42, true, ""}, {"-7", Point, -7, true, ""}, {"+7", Point, 7, true, ""}, {"−7", Point, -7, true, ""},
		{"1,234", Point, 1234, true, ""}, {"1,234.50", Point, 1234.5, false, ""}, {"1.234,50", Comma, 1234.5, false, ""}, {"1 234,5", Comma, 1234.5, false, ""},
		{"1\u00a0234\u202f567", Point, 1234567, true, ""}, {"1'234'567", Point, 1234567, true, ""}, {"12,34,567", Point, 1234567, true, ""}, {".5", Point, 0.5, false, ""},
		{"$1,200.00", Point, 1200, false, "$"}, {"-$5", Point, -5, true, "$"}, {"$-5", Point, -5, true, "$"}, {"($1,200.00)", Point, -1200, false, "$"}, {"(350)", Point, -350, true, ""},
		{"€ 12,50", Comma, 12.5, false, "€"}, {"12,50 €", Comma, 12.5, false, "€"}, {"USD 5", Point, 5, true, "USD"}, {"5 USD", Point, 5, true, "USD"}, {"US$9", Point, 9, true, "US$"},
		{"45%", Point, 45, true, "%"}, {"4.5 %", Point, 4.5, false, "%"}, {"12 kg", Point, 12, true, "kg"}, {"80 km/h", Point, 80, true, "km/h"}, {"1e6", Point, 1e6, false, ""},
	} {
		q, ok := ParseQuantity(c.text, c.mark)
		if !ok || q.Value != c.value || q.Whole != c.whole || q.Unit != c.unit {
			t.Errorf("%q: %+v %t", c.text, q, ok)
		}
	}
}

func TestWhatIsNoNumber(t *testing.T) {
	for _, text := range []string{"", " ", "-", "$", "abc", "12:30", "2024-01-05", "1/2/2024", "1.2.3", "192.168.0.1", "1,23", "1,2345", "12-34", "120/80", "5 to 6", "T-100", "100T5", "<5", "1 2", "--5", "-(5)", "+-5", "NaN", "Inf", "0x10", "1e999", "call 555"} {
		if q, ok := ParseQuantity(text, Point); ok {
			t.Errorf("%q was read as %+v", text, q)
		}
	}
}

// A number is read as what it was, however its thousands and fraction are marked.
func TestQuantitiesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(-1e12, 1e12).Draw(t, "n")
		cents := rapid.IntRange(0, 99).Draw(t, "cents")
		mark := rapid.SampledFrom([]Mark{Point, Comma}).Draw(t, "mark")
		group := rapid.SampledFrom([]string{"", " ", "'", "\u00a0", map[Mark]string{Point: ",", Comma: "."}[mark]}).Draw(t, "group")
		digits, sign := fmt.Sprint(max(n, -n)), ""
		if n < 0 {
			sign = "-"
		}
		for i := len(digits) - 3; i > 0; i -= 3 {
			digits = digits[:i] + group + digits[i:]
		}
		text := fmt.Sprintf("%s%s%c%02d", sign, digits, mark, cents)
		q, ok := ParseQuantity(text, mark)
		want := float64(max(n, -n)) + float64(cents)/100
		if n < 0 {
			want = -want
		}
		if diff := q.Value - want; !ok || diff > 1e-3 || diff < -1e-3 || q.Whole {
			t.Fatalf("%q: %+v %t, want %v", text, q, ok, want)
		}
	})
}

func TestMarkVote(t *testing.T) {
	for want, cells := range map[Mark]string{
		Point: "1,234|5|1,234,567|0.5|12.25", Comma: "1.234|5|1.234.567|0,5|12,25|3,1415",
	} {
		var v markVote
		for cell := range strings.SplitSeq(cells, "|") {
			v.add(cell, 1)
		}
		if got := v.mark(0); got != want {
			t.Errorf("%s: %c, %+v", cells, got, v)
		}
	}
	var v markVote
	if v.add("1,234", 3); v.either != 3 || v.mark(Comma) != Comma {
		t.Errorf("a lone 1,234 decides nothing: %+v", v)
	}
}

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		value    float64
		from, to string
		want     float64
	}{{2, "kg", "g", 2000}, {1, "lb", "kg", 0.45359237}, {1, "mi", "km", 1.609344}, {90, "min", "h", 1.5}, {1, "Ft.", "in", 12}} {
		if got, ok := convert(c.value, c.from, c.to); !ok || got-c.want > 1e-9 || c.want-got > 1e-9 {
			t.Errorf("%v %s is %v %s (%t), want %v", c.value, c.from, got, c.to, ok, c.want)
		}
	}
	if _, ok := convert(1, "kg", "m"); ok {
		t.Error("a mass became a length")
	}
	if _, ok := convert(1, "USD", "EUR"); ok {
		t.Error("money was converted")
	}
}

func FuzzParseQuantity(f *testing.F) {
	for _, s := range []string{"1,234.5", "($5)", "12 kg", "1e6", "1.234,5 €", "\u22125"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, mark := range []Mark{Point, Comma} {
			if q, ok := ParseQuantity(text, mark); ok && (q.Value != q.Value || q.Whole && q.Value != float64(int64(q.Value))) {
				t.Errorf("%q: %+v", text, q)
			}
		}
	})
}
