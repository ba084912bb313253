package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chart"
)

func trend() *sextant.Computed {
	return &sextant.Computed{Title: `Events: state AK & "more" <script>`, UnitLabel: "events", Filter: "state = AK", Total: 60, Columns: []string{"year", "events", "in the United States", "abroad"},
		Rows:    [][]any{{"2010", int64(30), int64(28), int64(2)}, {"2012", int64(20), int64(20), int64(0)}, {"2013", float64(10), float64(9), float64(1)}},
		Partial: []string{"2013"}, Breaks: []sextant.Break{{Key: "2012", Field: "phase", Why: "the coding changed"}},
		Method: sextant.Method{Coverage: "2010-01-01 to 2013-03-20", Files: []string{"a.csv"}}}
}

func svg(t *testing.T, c *sextant.Computed) string {
	t.Helper()
	var b strings.Builder
	if err := chart.SVG(&b, c); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatalf("no XML: %v", err)
		}
	}
}

// What would mislead is marked: a partial year is hollow, a break is a line, a year
// without a row has its place, and filter and coverage stand below.
func TestChartsMarkWhatWouldMislead(t *testing.T) {
	s := svg(t, trend())
	for what, want := range map[string]string{"partial": "2013: 10 (partial)", "break": "the coding changed", "legend": "hollow: partial", "an empty year": ">2011<", "filter": "where state = AK",
		"coverage": "2010-01-01 to 2013-03-20", "split": "blue: in the United States", "share of a bar": "2010: 28 of 30"} {
		if !strings.Contains(s, want) {
			t.Errorf("%s: no %q in\n%s", what, want, s)
		}
	}
	if strings.Contains(s, "<script>") {
		t.Error("text became markup")
	}
	if n := strings.Count(s, "stroke-dasharray=\"3 2\""); n != 2 {
		t.Errorf("%d hollow bars, want that of 2013 and its part", n)
	}
}

func TestChartsOfOtherRows(t *testing.T) {
	for name, c := range map[string]*sextant.Computed{
		"values":  {Title: "By make", Columns: []string{"make", "events"}, Rows: [][]any{{"CESSNA", int64(1234)}, {"A very long name of a maker of aeroplanes", int64(5)}}},
		"crossed": {Title: "By state and severity", Columns: []string{"state", "severity", "events"}, Rows: [][]any{{"AK", "fatal", int64(3)}, {"AK", "nonfatal", int64(9)}}},
		"zeros":   {Title: "None", Columns: []string{"year", "events"}, Rows: [][]any{{"2010", int64(0)}}},
	} {
		if s := svg(t, c); strings.Count(s, "<rect") < 2 || strings.Contains(s, "NaN") {
			t.Errorf("%s:\n%s", name, s)
		}
	}
	many := &sextant.Computed{Columns: []string{"model", "events"}}
	for range 5000 {
		many.Rows = append(many.Rows, []any{"x", int64(1)})
	}
	if s := svg(t, many); strings.Count(s, "<rect") > 60 {
		t.Error("a chart of thousands of bars shows nothing")
	}
}

func TestPNG(t *testing.T) {
	var b bytes.Buffer
	if err := chart.PNG(&b, trend()); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil || img.Bounds().Dx() != 1800 {
		t.Fatalf("%v %v", img.Bounds(), err)
	}
	colours := map[[3]uint32]bool{}
	for x := 0; x < 1800; x += 3 {
		r, g, bl, _ := img.At(x, 700).RGBA()
		colours[[3]uint32{r >> 8, g >> 8, bl >> 8}] = true
	}
	if !colours[[3]uint32{0x2b, 0x6c, 0xb0}] {
		t.Errorf("no bar was painted: %v", colours)
	}
}

func TestFiguresWithoutRowsAreNotDrawn(t *testing.T) {
	for _, draw := range []func(io.Writer, *sextant.Computed) error{chart.SVG, chart.PNG} {
		if err := draw(io.Discard, &sextant.Computed{Kind: "count", Total: 3}); !errors.Is(err, chart.ErrNoRows) {
			t.Errorf("%v", err)
		}
	}
}
