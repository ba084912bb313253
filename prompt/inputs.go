package prompt

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sextant-rag/sextant"
)

// Evidence is numbered text that an answer may rest on.
type Evidence struct {
	Number  int    // from 1
	Source  string // collection
	Title   string
	Locator string // "Probable cause", "p. 4"; may be empty
	Text    string
}

// Number makes evidence of passages, numbered from 1.
func Number(passages []sextant.Passage) []Evidence {
	out := make([]Evidence, len(passages))
	for i, p := range passages {
		out[i] = Evidence{Number: i + 1, Source: p.Source, Title: p.Title, Locator: p.Locator, Text: p.Content}
	}
	return out
}

// Figure is an exact value made by the store: a model may repeat it and may not make one.
type Figure struct {
	Title string
	Value string
}

// numbered lays evidence out between its marks, cleaned of what comes from documents.
func numbered(mark string, all []Evidence) string {
	var b strings.Builder
	for _, e := range all {
		title := oneLine(Quoted(e.Title, mark))
		if e.Locator != "" {
			title += " · " + oneLine(Quoted(e.Locator, mark))
		}
		fmt.Fprintf(&b, "<<evidence %d %s>>\n[%s] %s\n%s\n<<end %d %s>>\n", e.Number, mark, e.Source, title, Quoted(e.Text, mark), e.Number, mark)
	}
	return strings.TrimSpace(b.String())
}

// exact lays figures out. Their rows are called by values of documents.
func exact(mark string, all []Figure) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<<figures %s>>\n", mark)
	for _, f := range all {
		fmt.Fprintf(&b, "- %s: %s\n", oneLine(Quoted(f.Title, mark)), oneLine(Quoted(f.Value, mark)))
	}
	fmt.Fprintf(&b, "<<end figures %s>>", mark)
	return b.String()
}

// listed joins what is said in a line.
func listed(all []string, mark string) string { return strings.Join(lines(all, mark), "; ") }

// lines are texts made fit to stand in one line each.
func lines(texts []string, mark string) []string {
	var out []string
	for _, t := range texts {
		out = append(out, oneLine(Quoted(t, mark)))
	}
	return out
}

// Collection is a collection as a model that plans is told of it.
type Collection struct {
	Name   string
	Title  string
	Fields []Field
}

// Field is a field that conditions can be put on.
type Field struct {
	Name   string
	Label  string
	Kind   string   // keyword, int, float, bool, time
	Values []string // the most frequent; empty for numbers and times
}

// UnderstandInput is what a question is understood from.
type UnderstandInput struct {
	Question    string
	Today       string // ISO date that relative dates count from
	Collections []Collection
	Read        []string // conditions that the rules have read: "“Alaska”: state = AK"
}

// Understand asks for intent, aspects, a query for each collection, and conditions that the
// rules have not read.
func Understand(in UnderstandInput) Text {
	var b strings.Builder
	for _, c := range in.Collections {
		fmt.Fprintf(&b, "%s: %s\n", c.Name, oneLine(Quoted(c.Title, "")))
		for _, f := range c.Fields {
			b.WriteString("  " + f.line() + "\n")
		}
	}
	return render("understand", slots{"today": in.Today, "question": Quoted(in.Question, ""), "collections": strings.TrimRight(b.String(), "\n"), "read": cmp.Or(listed(in.Read, ""), "none")})
}

// line is a field with what a condition on it needs.
func (f Field) line() string {
	kind := f.Kind
	if label := oneLine(Quoted(f.Label, "")); label != "" {
		kind += "; " + label
	}
	line := fmt.Sprintf("%s (%s)", f.Name, kind)
	if len(f.Values) > 0 {
		line += ": " + strings.Join(lines(f.Values, ""), ", ")
	}
	return line
}

// GenerateInput is what an answer is written from.
type GenerateInput struct {
	Question   string
	Intent     string // one of the six; decides the file
	Mark       string
	Evidence   []Evidence
	Figures    []Figure
	Conditions []string // that were enforced, in words
	Aspects    []string // things the question asks
}

// intents are the files there are for writing an answer.
var intents = map[string]bool{"causal": true, "compliance": true, "factual": true, "comparative": true, "regulatory": true, "multi_source": true}

// Generate asks for an answer in findings, each with quotes. An intent without a file of its
// own is factual.
func Generate(in GenerateInput) Text {
	if !intents[in.Intent] {
		in.Intent = "factual"
	}
	return render("generate_"+in.Intent, slots{"mark": in.Mark, "question": Quoted(in.Question, in.Mark), "conditions": listed(in.Conditions, in.Mark), "aspects": listed(in.Aspects, in.Mark),
		"figures": exact(in.Mark, in.Figures), "evidence": numbered(in.Mark, in.Evidence)})
}

// Fault is a finding that did not hold, and why.
type Fault struct {
	Number int
	Text   string
	Reason string
}

// Repair asks once for better forms of findings that did not hold.
func Repair(question, mark string, all []Evidence, faults []Fault) Text {
	var told []string
	for _, f := range faults { // a model's words, which may be any document's
		told = append(told, fmt.Sprintf("%d. %s\n   why: %s", f.Number, oneLine(Quoted(f.Text, mark)), oneLine(Quoted(f.Reason, mark))))
	}
	return render("repair", slots{"mark": mark, "question": Quoted(question, mark), "faults": strings.Join(told, "\n"), "evidence": numbered(mark, all)})
}

// Sufficient asks whether the evidence covers what a question asks, what is missing, and how
// to look for that. asked are the queries made so far, which are not to be made again.
func Sufficient(question, mark string, all []Evidence, aspects, asked []string) Text {
	return render("sufficient", slots{"mark": mark, "question": Quoted(question, mark), "aspects": listed(aspects, mark), "asked": listed(asked, mark), "evidence": numbered(mark, all)})
}

// Grade asks how far a piece of evidence helps with a question, from 0 to 10.
func Grade(question, mark string, one Evidence) Text {
	return render("grade", slots{"mark": mark, "question": Quoted(question, mark), "evidence": numbered(mark, []Evidence{one})})
}

// Synthesize asks for a shorter text of the evidence that keeps its numbers.
func Synthesize(question, mark string, all []Evidence) Text {
	return render("synthesize", slots{"mark": mark, "question": Quoted(question, mark), "evidence": numbered(mark, all)})
}

// Statement is a finding with the words it quotes.
type Statement struct {
	Number int
	Text   string
	Quotes []string
}

// Supported asks whether the quotes of each statement say what it says.
func Supported(mark string, statements []Statement) Text {
	var b strings.Builder
	for _, s := range statements {
		fmt.Fprintf(&b, "<<statement %d %s>>\nstatement: %s\n", s.Number, mark, oneLine(Quoted(s.Text, mark)))
		for _, q := range s.Quotes {
			fmt.Fprintf(&b, "quote: %s\n", oneLine(Quoted(q, mark)))
		}
		fmt.Fprintf(&b, "<<end %d %s>>\n", s.Number, mark)
	}
	return render("supported", slots{"mark": mark, "statements": strings.TrimSpace(b.String())})
}

// Baseline asks for an answer as plain retrieval does it: the evidence, the question, and
// nothing else. It is what the checked answer is compared with.
func Baseline(question, mark string, all []Evidence) Text {
	return render("baseline", slots{"mark": mark, "question": Quoted(question, mark), "evidence": numbered(mark, all)})
}
