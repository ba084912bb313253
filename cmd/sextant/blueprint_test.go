package main

import (
	"testing"

	"github.com/sextant-rag/sextant/aviation"
)

func TestBlueprintFiltersFitTheSchemas(t *testing.T) {
	schemas := map[string]int{}
	for i, c := range aviation.Collections() {
		schemas[c.Name] = i
	}
	for source, headers := range blueprint().Headers {
		schema := aviation.Collections()[schemas[source]].Schema
		for name, value := range map[string]string{"event_id": "20001208X05756", "location": `LEADVILLE, "CO"`, "injury_severity": "Fatal(2)", "weather_condition": "IMC", "part": "91", "subpart": "A", "section": "91.155", "news_source": "A \\ B"} {
			filter, ok := headers[name]
			if !ok {
				continue
			}
			expr, err := filter(value)
			if err != nil {
				t.Errorf("%s %s: %v", source, name, err)
				continue
			}
			if _, err := schema.ParseExpr(expr); err != nil {
				t.Errorf("%s %s: %s: %v", source, name, expr, err)
			}
		}
	}
	for _, bad := range []string{"", "\x00", "deadly"} {
		if expr, err := severity(bad); err == nil {
			t.Errorf("%q became %s", bad, expr)
		}
	}
	if _, err := equals("event_id")(" "); err == nil {
		t.Error("an empty value is a condition")
	}
}
