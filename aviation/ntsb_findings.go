package aviation

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant/filter"
)

// Findings is the group of what the NTSB coded as having led to an event, since 2008: a
// path of up to five levels, and whether it was a cause or a factor.
const Findings = "findings"

// The first level of every finding. CAROL lists the findings of a case in one cell,
// separated by commas that also stand inside them, so only these tell where one begins.
var findingStart = regexp.MustCompile(`(?:^|,\s*)((?:Personnel issues|Aircraft|Environmental issues|Organizational issues|Not determined) ?-)`)

// splitFindings takes a cell with several findings apart.
func splitFindings(cell string) []string {
	cell = clean(strings.TrimRight(clean(cell), ", "))
	starts := findingStart.FindAllStringSubmatchIndex(cell, -1)
	if len(starts) == 0 {
		if cell == "" {
			return nil
		}
		return []string{cell}
	}
	var out []string
	if head := strings.Trim(cell[:starts[0][2]], ", "); head != "" {
		out = append(out, head)
	}
	for i, at := range starts {
		end := len(cell)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		out = append(out, strings.Trim(cell[at[2]:end], ", "))
	}
	return out
}

var findingMark = regexp.MustCompile(`\s+-\s+([CF])$`)

// finding reads one finding with its mark: "... - Pilot - C" is a cause, F a factor. The
// tables write the levels with bare hyphens, which stand in names too; where that leaves
// other than five levels, the hyphens stay.
func finding(text string) claims {
	text = clean(text)
	cs := claims{}
	if m := findingMark.FindStringSubmatch(text); m != nil {
		cs["cause_factor"] = claim{values: []filter.Value{filter.OfString(causeFactor(m[1]))}}
		text = strings.TrimSpace(findingMark.ReplaceAllString(text, ""))
	}
	if !strings.Contains(text, " - ") {
		if levels := strings.Split(text, "-"); len(levels) == 5 {
			text = strings.Join(levels, " - ")
		} else if len(levels) > 2 { // the first two have no hyphens in their names
			text = levels[0] + " - " + levels[1] + " - " + strings.Join(levels[2:], "-")
		}
	}
	if text == "" {
		return nil
	}
	cs["finding"] = claim{values: []filter.Value{filter.OfString(text)}}
	return cs
}

func causeFactor(mark string) string {
	switch strings.ToUpper(strings.TrimSpace(mark)) {
	case "C", "CAUSE":
		return "cause"
	case "F", "FACTOR":
		return "factor"
	}
	return ""
}

// findingKey tells the findings of an event apart: by what they say and, from the second
// aircraft on, of which.
func findingKey(cs claims) string {
	key := "FINDING-" + filter.Squeeze.Of(cs["finding"].values[0].Str())
	if c, ok := cs["finding_order"]; ok && c.values[0].Int() >= 1000 {
		key += fmt.Sprintf("-%d", c.values[0].Int()/1000)
	}
	return key
}

// settleFindings drops the findings of a report, which names three of their five levels,
// where other files give them in full.
func settleFindings(findings map[string]claims) {
	ofReport := func(cs claims) bool { return cs["finding"].rank.kind == fromReport }
	for _, cs := range findings {
		if !ofReport(cs) {
			maps.DeleteFunc(findings, func(_ string, cs claims) bool { return ofReport(cs) })
			return
		}
	}
}

// findingOrder is the order the NTSB lists findings in where a file says so, then by text.
func (e event) findingOrder() []string {
	return slices.SortedFunc(maps.Keys(e.findings), func(a, b string) int {
		return cmp.Or(cmp.Compare(e.findings[a].order(), e.findings[b].order()), cmp.Compare(a, b))
	})
}

func (cs claims) order() int64 {
	if c, ok := cs["finding_order"]; ok {
		return c.values[0].Int()
	}
	return 0
}

// findingLevels are the fields of a finding's levels, the last being what was wrong with it or
// with whom.
var findingLevels = []string{"finding_category", "finding_subcategory", "finding_section", "finding_subsection", "finding_modifier"}

// deriveFinding sets the fields that follow from a finding's path. "(general)" is no
// name of a level.
func deriveFinding(f filter.Fields) {
	path := strings.Split(f.One("finding").Str(), " - ")
	for i, name := range path {
		if name = strings.TrimSpace(name); i < len(findingLevels) && name != "" && name != "(general)" && (len(path) == len(findingLevels) || i < 2) {
			f.Set(findingLevels[i], filter.OfString(name))
		}
	}
}

// findingLine is a finding as it stands in the text.
func findingLine(f filter.Fields) string {
	var path []string
	for _, level := range strings.Split(f.One("finding").Str(), " - ") {
		if level != "(general)" {
			path = append(path, level)
		}
	}
	head := "Finding"
	switch f.One("cause_factor").Str() {
	case "cause":
		head = "Cause"
	case "factor":
		head = "Contributing factor"
	}
	return head + ": " + strings.Join(path, ", ") + "."
}
