package aviation

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/source"
)

//go:embed testdata/ecfr-labels.tsv
var labelSample string

// The path of every paragraph of a sample that was checked by hand.
func TestPathsOfAHandCheckedSample(t *testing.T) {
	sections := map[string]sextant.Document{}
	for _, name := range []string{"part-135.xml", "part-25.xml.gz", "part-91-selected.xml"} {
		blob, err := source.File(shared(t, "ecfr-title14", name))
		if err != nil {
			t.Fatal(err)
		}
		items, err := readAll(t.Context(), blob)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			doc, _, err := it.Contribution.Merge(nil)
			if err != nil {
				t.Fatal(err)
			}
			sections[doc.Meta.Fields.One("provision").Str()] = doc
		}
	}
	checked := 0
	for line := range lines(labelSample) {
		cells := strings.Split(line, "\t")
		doc, found := sections[cells[0]], false
		for _, p := range doc.Parts {
			text := strings.ReplaceAll(doc.Text[p.Start:p.End], "’", "'")
			if p.Kind == partParagraph && p.Locator == cells[1] && strings.HasPrefix(text, cells[2]) {
				found = true
			}
		}
		if checked++; !found {
			t.Errorf("§ %s has no paragraph %s that begins %q", cells[0], cells[1], cells[2])
		}
	}
	if checked != 50 {
		t.Errorf("%d paragraphs", checked)
	}
}
