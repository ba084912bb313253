package signal_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/signal"
)

func dated(source, text, day string) sextant.Passage {
	p := sextant.Passage{Source: source, Content: text, Metadata: filter.Meta{Fields: filter.Fields{}}}
	if day != "" {
		t, err := time.Parse(time.DateOnly, day)
		if err != nil {
			panic(err)
		}
		p.Metadata.Fields.Set("day", filter.OfTime(t))
	}
	return p
}

func TestCoverage(t *testing.T) {
	found := []sextant.Passage{dated("damages", "The cellar was damp.", ""), dated("damages", "Mould grew on a map.", "")}
	for name, tt := range map[string]struct {
		aspects []string
		covered int
	}{
		"inflected":              {[]string{"maps", "moulds"}, 2},
		"strewn over passages":   {[]string{"damp map"}, 0},
		"most of its words":      {[]string{"growing mould maps"}, 1},
		"none":                   {[]string{"fire"}, 0},
		"nothing is asked":       {nil, 0},
		"words that say nothing": {[]string{"the of"}, 1},
	} {
		c := signal.Coverage(tt.aspects, found)
		if len(c.Covered) != tt.covered || len(c.Covered)+len(c.Missing) != len(tt.aspects) {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := signal.Coverage(nil, found); c.Ratio != 1 || signal.Recommend(c.Ratio) != signal.Proceed {
		t.Errorf("%+v", c)
	}
	if c := signal.Coverage(nil, nil); c.Ratio != 0 || signal.Recommend(c.Ratio) != signal.Requery {
		t.Errorf("nothing was found: %+v", c)
	}
}

func TestConfidenceGrowsWithSupport(t *testing.T) {
	last := 0.0
	for n := range 8 {
		c := signal.Confidence(1, n)
		if c < last || c > 1 {
			t.Errorf("%d passages: %v after %v", n, c, last)
		}
		last = c
	}
	if signal.Confidence(0.5, 5) >= signal.Confidence(1, 5) {
		t.Error("coverage does not count")
	}
}

func TestDiversityAndFreshness(t *testing.T) {
	now := time.Date(2013, 1, 15, 17, 0, 0, 0, time.UTC)
	found := []sextant.Passage{dated("damages", "a", "2012-01-16"), dated("damages", "b", "2012-01-20"), dated("rules", "c", ""), dated("letters", "d", "2013-01-15")}
	dates := map[string]string{"damages": "day", "letters": "day"}
	d := signal.Diversity(found, dates)
	if d.Domains != 3 || !slices.Equal(d.Timestamps, []string{"2013-01", "2012-01"}) {
		t.Errorf("%+v", d)
	}
	if f := signal.Freshness(found[:1], dates, now); f == nil || *f != 0.5 {
		t.Errorf("a year old is %v fresh", f)
	}
	if f := signal.Freshness(found[3:], dates, now); f == nil || *f != 1 {
		t.Errorf("today's is %v fresh", f)
	}
	if f := signal.Freshness(found[2:3], dates, now); f != nil {
		t.Errorf("an undated passage is %v fresh", *f)
	}
}
