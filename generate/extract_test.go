package generate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/generate"
)

// report makes a document of parts, given as kind and text.
func report(id string, parts ...string) sextant.Document {
	d := sextant.Document{ID: sextant.DocumentID("t:" + id), Collection: "reports", Title: "Report " + id}
	for i := 0; i < len(parts); i += 2 {
		d.Parts = append(d.Parts, sextant.Part{Kind: parts[i], Locator: parts[i], Start: len(d.Text), End: len(d.Text) + len(parts[i+1])})
		d.Text += parts[i+1] + "\n"
	}
	return d
}

var boiler = report("1", "record", "On 3 May the boiler of hall 2 stopped.", "narrative", "The operator heard a bang. The relief valve had stuck shut. Steam left through the seal.", "cause", "A relief valve that scale had blocked. The yearly cleaning was missed.")
var lamp = report("2", "heading", "Report", "record", "On 4 May a lamp fell.", "narrative", "Nobody stood below. The hook was bent.")

func texts(fs []sextant.Finding) (out []string) {
	for _, f := range fs {
		out = append(out, f.Text)
	}
	return out
}

func TestExtractPicksTheSentencesThatSayTheTopic(t *testing.T) {
	out := generate.Extract(generate.Input{Topic: []string{"relief", "valve", "stuck"}, Documents: []sextant.Document{lamp, boiler}, Limit: 1})
	if got := texts(out.Findings); !slices.Equal(got, []string{"The relief valve had stuck shut."}) || out.Coverage != 1 || len(out.Missing) > 0 {
		t.Errorf("%q, coverage %.2f, missing %v", got, out.Coverage, out.Missing)
	}
}

func TestWordsMatchInAnyInflection(t *testing.T) {
	out := generate.Extract(generate.Input{Topic: []string{"seals", "wrench"}, Documents: []sextant.Document{boiler}, Limit: 1})
	if got := texts(out.Findings); !slices.Equal(got, []string{"Steam left through the seal."}) {
		t.Errorf("%q", got)
	}
	if !slices.Equal(out.Missing, []string{"wrench"}) {
		t.Errorf("missing %v", out.Missing)
	}
}

func TestCausesComeFromThePartThatStatesThem(t *testing.T) {
	out := generate.Extract(generate.Input{Topic: []string{"boiler"}, Causal: true, Documents: []sextant.Document{lamp, boiler}, Limit: 4})
	want := []string{"A relief valve that scale had blocked.", "The yearly cleaning was missed."}
	if got := texts(out.CausalChain); !slices.Equal(got, want) {
		t.Errorf("chain %q", got)
	}
	if got := texts(out.Findings); !slices.Contains(got, want[0]) {
		t.Errorf("findings %q", got)
	}
	if out := generate.Extract(generate.Input{Causal: true, Documents: []sextant.Document{lamp}, Limit: 4}); out.CausalChain != nil {
		t.Errorf("a cause out of a record that states none: %q", texts(out.CausalChain))
	}
}

func TestWithoutATopicTheRecordAnswers(t *testing.T) {
	out := generate.Extract(generate.Input{Documents: []sextant.Document{lamp}, Limit: 3})
	if got := texts(out.Findings); !slices.Equal(got, []string{"On 4 May a lamp fell.", "Nobody stood below."}) || out.Coverage != 1 {
		t.Errorf("%q", got)
	}
}

func TestWhatNobodySaysIsMissing(t *testing.T) {
	out := generate.Extract(generate.Input{Topic: []string{"zeppelin", "lamp"}, Documents: []sextant.Document{lamp}, Limit: 3})
	if out.Coverage >= 0.5 || !slices.Equal(out.Missing, []string{"zeppelin"}) {
		t.Errorf("coverage %.2f, missing %v", out.Coverage, out.Missing)
	}
}

func TestFindingsAreVerbatim(t *testing.T) {
	for _, f := range generate.Extract(generate.Input{Topic: []string{"valve"}, Causal: true, Documents: []sextant.Document{boiler, lamp}, Limit: 6}).Findings {
		if q := f.Quotes[0]; f.Text != q.Text || !strings.Contains(boiler.Text+lamp.Text, q.Text) {
			t.Errorf("%q is not what the document says", f.Text)
		}
	}
}
