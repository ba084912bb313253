package generate

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant/llm"
)

// draft is an answer as a model writes it: data to be located and checked, nothing more.
type draft struct {
	Findings    []statement  `json:"findings"`
	CausalChain []statement  `json:"causal_chain"`
	Regulatory  []regulation `json:"regulatory"`
	Summary     string       `json:"summary"`
	Caveats     []string     `json:"caveats"`
	Missing     []string     `json:"missing"`
}

// statement is one finding of a draft.
type statement struct {
	Statement  string  `json:"statement"`
	Quotes     []words `json:"quotes"`
	Confidence string  `json:"confidence"`
}

// words are what a statement says it quotes.
type words struct {
	Evidence int    `json:"evidence"`
	Text     string `json:"text"`
}

// regulation is what a draft says of a rule.
type regulation struct {
	Regulation string  `json:"regulation"`
	Relevance  string  `json:"relevance"`
	Status     *string `json:"compliance_status"`
	Quotes     []words `json:"quotes"`
}

// repaired are findings given again, by the number of the fault.
type repaired struct {
	Findings []struct {
		Number int `json:"number"`
		statement
	} `json:"findings"`
}

// Bounds on what a model may write. They keep a runaway answer from costing more than it
// is worth; no honest answer comes near them.
const (
	maxStatement = 600
	maxQuote     = 800
	maxQuotes    = 4
)

func quotesSchema(evidence int) string {
	return fmt.Sprintf(`{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"object","additionalProperties":false,"required":["evidence","text"],"properties":{
"evidence":{"type":"integer","minimum":1,"maximum":%d},"text":{"type":"string","minLength":1,"maxLength":%d}}}}`, maxQuotes, evidence, maxQuote)
}

func statementSchema(evidence int, more string) string {
	required, properties := `"statement","quotes","confidence"`, ""
	if more != "" {
		required, properties = `"number",`+required, more+","
	}
	return fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":[%s],"properties":{%s
"statement":{"type":"string","minLength":1,"maxLength":%d},"quotes":%s,"confidence":{"type":"string","enum":["high","medium","low"]}}}`, required, properties, maxStatement, quotesSchema(evidence))
}

func textsSchema(items, length int) string {
	return fmt.Sprintf(`{"type":"array","maxItems":%d,"items":{"type":"string","maxLength":%d}}`, items, length)
}

// draftSchemas are those that were written so far, by their numbers: there are as many as there
// can be passages.
var draftSchemas sync.Map

// draftSchema is the schema of a draft over so many pieces of evidence.
func draftSchema(evidence, findings int) *llm.Schema {
	key := [2]int{evidence, findings}
	if known, ok := draftSchemas.Load(key); ok {
		return known.(*llm.Schema)
	}
	written := writeDraftSchema(evidence, findings)
	draftSchemas.Store(key, written)
	return written
}

func writeDraftSchema(evidence, findings int) *llm.Schema {
	list := func(items int) string {
		return fmt.Sprintf(`{"type":"array","maxItems":%d,"items":%s}`, items, statementSchema(evidence, ""))
	}
	rule := fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["regulation","relevance","compliance_status","quotes"],"properties":{
"regulation":{"type":"string","minLength":1,"maxLength":120},"relevance":{"type":"string","maxLength":%d},
"compliance_status":{"anyOf":[{"type":"string","enum":["compliant","violation","undetermined","not_applicable"]},{"type":"null"}]},"quotes":%s}}`, maxStatement, quotesSchema(evidence))
	return schema("answer", `{"type":"object","additionalProperties":false,"required":["findings","causal_chain","regulatory","summary","caveats","missing"],"properties":{
"findings":%s,"causal_chain":%s,"regulatory":{"type":"array","maxItems":8,"items":%s},"summary":{"type":"string","maxLength":900},"caveats":%s,"missing":%s}}`,
		list(findings), list(8), rule, textsSchema(5, 300), textsSchema(6, 120))
}

// repairSchema is the schema of findings given again.
func repairSchema(evidence, faults int) *llm.Schema {
	number := fmt.Sprintf(`"number":{"type":"integer","minimum":1,"maximum":%d}`, faults)
	return schema("repair", `{"type":"object","additionalProperties":false,"required":["findings"],"properties":{"findings":{"type":"array","maxItems":%d,"items":%s}}}`, faults, statementSchema(evidence, number))
}

func schema(name, format string, args ...any) *llm.Schema {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "")
	return &llm.Schema{Name: name, JSON: json.RawMessage(text)}
}
