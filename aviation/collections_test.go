package aviation

import (
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

func TestCollectionsAreValidAndExplained(t *testing.T) {
	for _, c := range []sextant.Collection{Incidents(), Regulations(), News()} {
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		if c.Title == "" || c.Fill == "" || c.Unit == "" {
			t.Errorf("%s: title, fill and unit must say something to people: %+v", c.Name, c)
		}
		for _, f := range c.Schema.Fields {
			if f.Label == "" || f.Description == "" {
				t.Errorf("%s.%s has no label or description", c.Name, f.Name)
			}
		}
	}
}

func TestAirportIsCodeOrName(t *testing.T) {
	c := Incidents()
	meta := filter.Meta{Fields: filter.Fields{"airport_code": {filter.OfString("APA")}, "airport_name": {filter.OfString("CENTENNIAL")}}}
	for _, want := range []string{"apa", "Centennial"} {
		f, err := c.Schema.Resolve(filter.Eq{Field: "airport", Value: filter.OfString(want)})
		if err != nil {
			t.Fatal(err)
		}
		if !c.Schema.Match(f, meta) {
			t.Errorf("airport = %s does not match", want)
		}
	}
}

func TestUnitLabels(t *testing.T) {
	c := Incidents()
	if got := c.UnitLabel(Aircraft); got != "aircraft" {
		t.Errorf("unit label of the group = %q", got)
	}
	if got := c.UnitLabel("documents"); got != "events" {
		t.Errorf("unit label of documents = %q", got)
	}
}
