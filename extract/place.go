package extract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// KindParagraphs is a run of paragraphs of a text that has no pages and no headings.
const KindParagraphs = "paragraphs" // locator "paragraphs 12-15"

// numberParagraphs gives places to what has none: stretches of the text outside of all
// parts with a locator are cut into runs of paragraphs with their numbers.
func numberParagraphs(t *Text) {
	if len(t.Text) < 2*partLines || slices.ContainsFunc(t.Parts, func(p sextant.Part) bool { return p.Locator != "" && p.Kind != KindTable && p.Kind != KindNote }) {
		return
	}
	var runs []sextant.Part
	start, first, n := 0, 1, 0
	for at := 0; at < len(t.Text); {
		end := len(t.Text)
		next := end
		if i := strings.Index(t.Text[at:], "\n\n"); i >= 0 {
			end, next = at+i, at+i+2
		}
		n++
		if end-start >= partLines || next == len(t.Text) {
			locator := fmt.Sprintf("paragraph %d", n)
			if n > first {
				locator = fmt.Sprintf("paragraphs %d-%d", first, n)
			}
			runs = append(runs, sextant.Part{Kind: KindParagraphs, Locator: locator, Start: start, End: end})
			start, first = next, n+1
		}
		at = next
	}
	t.Parts = nest(runs, t.Parts)
}

// nest puts parts into the runs that they are in. A part that reaches over the end of
// its run makes the run longer.
func nest(runs, parts []sextant.Part) []sextant.Part {
	out := make([]sextant.Part, 0, len(runs)+len(parts))
	i := 0
	for _, r := range runs {
		at := len(out)
		out = append(out, r)
		for ; i < len(parts) && parts[i].Start < out[at].End; i++ {
			p := parts[i]
			if p.Start < out[at].Start {
				out[at].Start = p.Start
			}
			out[at].End = max(out[at].End, p.End)
			p.Locator = join(r.Locator, p.Locator)
			out = append(out, p)
		}
	}
	for j := len(out) - 1; j >= 0; j-- { // a run that was made longer swallows the start of the next
		if out[j].Kind != KindParagraphs {
			continue
		}
		for k := j + 1; k < len(out); k++ {
			if out[k].Kind == KindParagraphs {
				out[k].Start = max(out[k].Start, out[j].End)
				break
			}
		}
	}
	return slices.DeleteFunc(out, func(p sextant.Part) bool { return p.Start >= p.End })
}
