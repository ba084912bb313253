package generate

import (
	"context"
	"errors"
	"fmt"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/prompt"
)

// Brief is what a model writes an answer from.
type Brief struct {
	Question   string
	Intent     string
	Mark       string // of the question; see prompt.Mark
	Passages   []sextant.Passage
	Shortened  map[int]string // by place of the passage: a lesser text of it to write from; quotes are of the document all the same
	Figures    []prompt.Figure
	Conditions []string
	Aspects    []string
	Limit      int // findings at most; 0: 8
	Tokens     int // of the answer at most; 0: DraftTokens
}

// Written is an answer as a model gives it. Its quotes name their documents and have no
// places yet: whether they stand there, and support the statements, is the check's to say.
type Written struct {
	Findings    []sextant.Finding
	CausalChain []sextant.Finding
	Regulatory  []sextant.Regulatory
	Summary     string
	Caveats     []string
	Missing     []string
	Faults      []Fault // statements that name evidence there is not
}

// Fault is a statement that does not hold, and why.
type Fault struct {
	Causal  bool // it was a link of the chain of causes
	Removed sextant.Removed
}

// DraftTokens is the limit of tokens of an answer unless a Brief has its own.
const DraftTokens = 4096

const (
	defaultFindings = 8
	repairTokens    = 2048
)

func (b Brief) tokens(most int) int {
	if b.Tokens > 0 {
		return min(b.Tokens, most)
	}
	return most
}

// Write has a model write findings over the numbered passages. The error is of the call;
// an answer without findings is none: the model says that nothing answers.
func Write(ctx context.Context, m *llm.Caller, b Brief) (Written, error) {
	if len(b.Passages) == 0 {
		return Written{}, errors.New("generate: there are no passages to write from")
	}
	if b.Limit <= 0 {
		b.Limit = defaultFindings
	}
	text := prompt.Generate(prompt.GenerateInput{Question: b.Question, Intent: b.Intent, Mark: b.Mark, Evidence: b.evidence(), Figures: b.Figures, Conditions: b.Conditions, Aspects: b.Aspects})
	d, _, err := llm.Structured[draft](ctx, m, text.Request("generate", draftSchema(len(b.Passages), b.Limit), b.tokens(DraftTokens)))
	if err != nil {
		return Written{}, fmt.Errorf("generate: %w", err)
	}
	return b.found(d), nil
}

// Repair asks once for better forms of what did not hold: one for each fault at most, by
// its place among the faults.
func Repair(ctx context.Context, m *llm.Caller, b Brief, faults []Fault) (map[int]sextant.Finding, error) {
	var told []prompt.Fault
	for i, f := range faults {
		told = append(told, prompt.Fault{Number: i + 1, Text: sextant.CleanText(f.Removed.Text), Reason: sextant.CleanText(f.Removed.Reason)})
	}
	text := prompt.Repair(b.Question, b.Mark, b.evidence(), told)
	d, _, err := llm.Structured[repaired](ctx, m, text.Request("repair", repairSchema(len(b.Passages), len(faults)), b.tokens(repairTokens)))
	if err != nil {
		return nil, fmt.Errorf("repair: %w", err)
	}
	out := map[int]sextant.Finding{}
	for _, f := range d.Findings {
		if _, given := out[f.Number-1]; given {
			continue
		}
		if finding, reason := b.finding(f.statement); reason == "" {
			out[f.Number-1] = finding
		}
	}
	return out, nil
}

// evidence numbers the passages, shortened ones as they were left.
func (b Brief) evidence() []prompt.Evidence {
	out := prompt.Number(b.Passages)
	for i := range out {
		if short, ok := b.Shortened[i]; ok {
			out[i].Text = short
		}
	}
	return out
}

// found turns a draft into findings with places.
func (b Brief) found(d draft) Written {
	out := Written{Summary: sextant.CleanText(d.Summary), Caveats: cleaned(d.Caveats), Missing: cleaned(d.Missing)}
	for _, s := range d.Findings {
		out.add(b, s, false)
	}
	for _, s := range d.CausalChain {
		out.add(b, s, true)
	}
	for _, r := range d.Regulatory {
		quotes, _, reason := b.quotes(r.Quotes)
		text := sextant.CleanText(r.Regulation + ": " + r.Relevance)
		if reason != "" {
			out.Faults = append(out.Faults, Fault{Removed: sextant.Removed{Text: text, Fault: sextant.FaultDocument, Reason: reason}})
			continue
		}
		item := sextant.Regulatory{Regulation: sextant.CleanText(r.Regulation), Relevance: sextant.CleanText(r.Relevance), Quotes: quotes}
		if r.Status != nil {
			item.ComplianceStatus = *r.Status
		}
		out.Regulatory = append(out.Regulatory, item)
	}
	return out
}

func (w *Written) add(b Brief, s statement, causal bool) {
	f, reason := b.finding(s)
	switch {
	case reason != "":
		w.Faults = append(w.Faults, Fault{causal, sextant.Removed{Text: f.Text, Fault: sextant.FaultDocument, Reason: reason}})
	case causal:
		w.CausalChain = append(w.CausalChain, f)
	default:
		w.Findings = append(w.Findings, f)
	}
}

// finding turns a statement into a finding, or says which evidence it names that there is
// not.
func (b Brief) finding(s statement) (f sextant.Finding, fault string) {
	quotes, source, fault := b.quotes(s.Quotes)
	return sextant.Finding{Text: sextant.CleanText(s.Statement), Quotes: quotes, Source: source, Confidence: s.Confidence}, fault
}

// quotes gives each quote the document of the evidence it names.
func (b Brief) quotes(all []words) (out []sextant.Quote, source, fault string) {
	for _, w := range all {
		if w.Evidence < 1 || w.Evidence > len(b.Passages) {
			return nil, "", fmt.Sprintf("there is no evidence %d", w.Evidence)
		}
		p := b.Passages[w.Evidence-1]
		if source == "" {
			source = p.Source
		}
		out = append(out, sextant.Quote{DocumentID: p.DocumentID, Text: w.Text, Title: p.Title, Locator: p.Locator})
	}
	return out, source, ""
}

func cleaned(texts []string) []string {
	var out []string
	for _, t := range texts {
		if t = sextant.CleanText(t); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// Baseline has a model answer from passages in plain words: what retrieval without checks
// gives.
func Baseline(ctx context.Context, m *llm.Caller, b Brief) (string, error) {
	text := prompt.Baseline(b.Question, b.Mark, b.evidence())
	out, err := m.Complete(ctx, text.Request("baseline", nil, b.tokens(DraftTokens)))
	if err != nil {
		return "", fmt.Errorf("baseline: %w", err)
	}
	if len(out.Text) > maxBaseline {
		return "", fmt.Errorf("baseline: %w", &llm.Error{Kind: llm.Malformed, Message: "the answer is longer than it may be"})
	}
	return sextant.CleanText(out.Text), nil
}

// maxBaseline bounds the baseline's text in bytes: a model that runs away is no comparison.
const maxBaseline = 32 << 10
