package prompt

// Evidence is numbered text that an answer may rest on.
type Evidence struct {
	Number  int    // from 1
	Source  string // collection
	Title   string
	Locator string // "Probable cause", "p. 4"; may be empty
	Text    string
}

// Figure is an exact value made by the store: a model may repeat it and may not make one.
type Figure struct {
	Title string
	Value string
}

// evidence is what the shared templates lay out.
type evidence struct {
	Mark     string
	Evidence []Evidence
	Figures  []Figure
}

// quoted cleans what comes from documents.
func quoted(mark string, all []Evidence) evidence {
	out := evidence{Mark: mark}
	for _, e := range all {
		e.Title, e.Locator, e.Text = oneLine(Quoted(e.Title, mark)), oneLine(Quoted(e.Locator, mark)), Quoted(e.Text, mark)
		out.Evidence = append(out.Evidence, e)
	}
	return out
}

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
	in.Question, in.Read = Quoted(in.Question, ""), lines(in.Read, "")
	collections := make([]Collection, len(in.Collections))
	for i, c := range in.Collections {
		collections[i] = Collection{Name: c.Name, Title: oneLine(Quoted(c.Title, ""))}
		for _, f := range c.Fields {
			collections[i].Fields = append(collections[i].Fields, Field{f.Name, oneLine(Quoted(f.Label, "")), f.Kind, lines(f.Values, "")})
		}
	}
	in.Collections = collections
	return render("understand", in)
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

type generateInput struct {
	evidence
	Question   string
	Conditions []string
	Aspects    []string
}

// intents are the files there are for writing an answer.
var intents = map[string]bool{"causal": true, "compliance": true, "factual": true, "comparative": true, "regulatory": true, "multi_source": true}

// Generate asks for an answer in findings, each with quotes. An intent without a file of its
// own is factual.
func Generate(in GenerateInput) Text {
	if !intents[in.Intent] {
		in.Intent = "factual"
	}
	e := quoted(in.Mark, in.Evidence)
	for _, f := range in.Figures { // their rows are called by values of documents
		e.Figures = append(e.Figures, Figure{oneLine(Quoted(f.Title, in.Mark)), oneLine(Quoted(f.Value, in.Mark))})
	}
	return render("generate_"+in.Intent, generateInput{e, Quoted(in.Question, in.Mark), lines(in.Conditions, in.Mark), lines(in.Aspects, in.Mark)})
}

// Fault is a finding that did not hold, and why.
type Fault struct {
	Number int
	Text   string
	Reason string
}

type repairInput struct {
	evidence
	Question string
	Faults   []Fault
}

// Repair asks once for better forms of findings that did not hold.
func Repair(question, mark string, all []Evidence, faults []Fault) Text {
	told := make([]Fault, len(faults))
	for i, f := range faults { // a model's words, which may be any document's
		told[i] = Fault{f.Number, oneLine(Quoted(f.Text, mark)), oneLine(Quoted(f.Reason, mark))}
	}
	return render("repair", repairInput{quoted(mark, all), Quoted(question, mark), told})
}

type judgeInput struct {
	evidence
	Question string
	Aspects  []string
	Asked    []string
}

// Sufficient asks whether the evidence covers what a question asks, what is missing, and how
// to look for that. asked are the queries made so far, which are not to be made again.
func Sufficient(question, mark string, all []Evidence, aspects, asked []string) Text {
	return render("sufficient", judgeInput{quoted(mark, all), Quoted(question, mark), lines(aspects, mark), lines(asked, mark)})
}

// Grade asks how far a piece of evidence helps with a question, from 0 to 10.
func Grade(question, mark string, one Evidence) Text {
	return render("grade", judgeInput{evidence: quoted(mark, []Evidence{one}), Question: Quoted(question, mark)})
}

// Synthesize asks for a shorter text of the evidence that keeps its numbers.
func Synthesize(question, mark string, all []Evidence) Text {
	return render("synthesize", judgeInput{evidence: quoted(mark, all), Question: Quoted(question, mark)})
}

// Statement is a finding with the words it quotes.
type Statement struct {
	Number int
	Text   string
	Quotes []string
}

type supportedInput struct {
	Mark       string
	Statements []Statement
}

// Supported asks whether the quotes of each statement say what it says.
func Supported(mark string, statements []Statement) Text {
	in := supportedInput{Mark: mark}
	for _, s := range statements {
		out := Statement{Number: s.Number, Text: oneLine(Quoted(s.Text, mark))}
		for _, q := range s.Quotes {
			out.Quotes = append(out.Quotes, oneLine(Quoted(q, mark)))
		}
		in.Statements = append(in.Statements, out)
	}
	return render("supported", in)
}

// Baseline asks for an answer as plain retrieval does it: the evidence, the question, and
// nothing else. It is what the checked answer is compared with.
func Baseline(question, mark string, all []Evidence) Text {
	return render("baseline", generateInput{evidence: quoted(mark, all), Question: Quoted(question, mark)})
}
