package sextant

// Status says how a question ended.
type Status string

// The statuses.
const (
	Answered             Status = "answered"
	Partial              Status = "partial"
	NoData               Status = "no_data"
	InsufficientEvidence Status = "insufficient_evidence"
	OutOfScope           Status = "out_of_scope"
	NeedsClarification   Status = "needs_clarification"
	BudgetExhausted      Status = "budget_exhausted"
	SourceUnavailable    Status = "source_unavailable"
)

// ExitCode is the process exit code of a question that ended so.
func (s Status) ExitCode() int {
	switch s {
	case Answered, Partial:
		return 0
	case NoData:
		return 3
	case InsufficientEvidence:
		return 4
	case OutOfScope:
		return 5
	case NeedsClarification:
		return 6
	case BudgetExhausted:
		return 7
	case SourceUnavailable:
		return 8
	}
	return 1
}

// HTTPStatus is the status code of a response that carries this ending.
func (s Status) HTTPStatus() int {
	if s == SourceUnavailable {
		return 503
	}
	return 200
}

// Answer is everything one question led to. It is also the JSON of POST /v1/ask.
type Answer struct {
	Question    string        `json:"question"`
	Status      Status        `json:"status"`
	Summary     string        `json:"summary"`
	Findings    []Finding     `json:"findings"`
	Regulatory  []Regulatory  `json:"regulatory,omitempty"`
	CausalChain []Finding     `json:"causal_chain,omitempty"`
	Computed    []Computed    `json:"computed,omitempty"`
	Conflicts   []Conflict    `json:"conflicts,omitempty"`
	Caveats     []string      `json:"caveats,omitempty"`
	Ledger      Ledger        `json:"ledger"`
	Intent      string        `json:"intent"`
	Strategy    string        `json:"strategy"`
	Confidence  string        `json:"confidence"` // high, medium, low
	Aspects     []Aspect      `json:"aspects,omitempty"`
	Missing     []Aspect      `json:"missing,omitempty"`
	Degraded    []Degradation `json:"degraded,omitempty"`
	NotHeld     []NotHeld     `json:"not_held,omitempty"`
	Suggestions []string      `json:"suggestions,omitempty"`
	Evidence    []Passage     `json:"evidence"`
	Removed     []Removed     `json:"removed,omitempty"`
	Signals     *Signals      `json:"signals,omitempty"`    // nil where nothing was looked for
	Rounds      []Round       `json:"rounds,omitempty"`     // of retrieval
	Reranking   *Reranking    `json:"reranking,omitempty"`  // nil where none was asked for
	Refinement  *Refinement   `json:"refinement,omitempty"` // nil where nothing was retrieved
	AsOf        string        `json:"as_of"`                // ISO date that relative dates were counted from
	Usage       Usage         `json:"usage"`
	TraceID     string        `json:"trace_id"`
}

// Finding is one statement with the quotes that support it.
type Finding struct {
	Text       string  `json:"text"`
	Quotes     []Quote `json:"quotes"`
	Source     string  `json:"source"` // collection
	Confidence string  `json:"confidence"`
}

// Regulatory is what a rule has to do with the question.
type Regulatory struct {
	Regulation       string  `json:"regulation"`
	Relevance        string  `json:"relevance"`
	ComplianceStatus string  `json:"compliance_status,omitempty"`
	Version          string  `json:"version,omitempty"`  // first day the text that was used is known to be in force
	Amended          string  `json:"amended,omitempty"`  // day of its last amendment, by its own note
	InForce          string  `json:"in_force,omitempty"` // on the day the question is about: in force, amended since, or unknown
	Note             string  `json:"note,omitempty"`
	Quotes           []Quote `json:"quotes"`
}

// Conflict is a fact on which sources disagree; the first has the highest authority.
type Conflict struct {
	Subject string    `json:"subject"`
	Sides   []Finding `json:"sides"`
}

// Aspect is a thing the question asks.
type Aspect struct {
	Name    string `json:"name"`
	Covered bool   `json:"covered"`
}

// Degradation names a stage that was skipped or done in a lesser way, and why.
type Degradation struct {
	Stage  string `json:"stage"`
	Reason string `json:"reason"`
}

// Reranking says what judged the passages anew, and how many.
type Reranking struct {
	Mode        string  `json:"mode"`
	Model       string  `json:"model"` // what judged; "" where nothing could
	Applied     bool    `json:"applied"`
	InputCount  int     `json:"input_count"`
	OutputCount int     `json:"output_count"`
	DurationMS  float64 `json:"duration_ms"`
}

// Round is one round of retrieval: what was asked of which collection, and whether it was
// enough.
type Round struct {
	Iteration  int               `json:"iteration"`
	Strategy   string            `json:"strategy"`
	Sources    []string          `json:"sources"`
	Queries    map[string]string `json:"queries"`   // by collection
	Retrieved  int               `json:"retrieved"` // passages the store returned
	Documents  int               `json:"documents"` // passages that are new with this round
	DurationMS float64           `json:"duration_ms"`
	Sufficient bool              `json:"is_sufficient"`
	Missing    []string          `json:"missing,omitempty"`
	JudgedBy   string            `json:"judged_by,omitempty"` // a model, or "coverage"; "" where nobody judged
}

// Refinement says how the passages an answer is written from were chosen.
type Refinement struct {
	Mode        string           `json:"mode"`
	Model       string           `json:"model,omitempty"` // what judged; "" where none did
	Applied     bool             `json:"applied"`
	Threshold   int              `json:"threshold,omitempty"` // of filter: grades under it are left out
	InputCount  int              `json:"input_count"`
	OutputCount int              `json:"output_count"`
	Dropped     []DroppedPassage `json:"dropped"`
	DurationMS  float64          `json:"duration_ms"`
}

// DroppedPassage is a passage that refinement left out, by the id of its chunk.
type DroppedPassage struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Signals say how far what was found can be trusted.
type Signals struct {
	Confidence     float64         `json:"confidence_score"` // 0 to 1
	Diversity      SourceDiversity `json:"source_diversity"`
	Coverage       CoverageSignals `json:"coverage_signals"`
	Freshness      *float64        `json:"freshness"`      // 0 to 1: half for what is a year old; null where nothing is dated
	Recommendation string          `json:"recommendation"` // re-query | proceed
}

// NotHeld names a collection that the question needs and that holds nothing.
type NotHeld struct {
	Collection string `json:"collection"`
	Reason     string `json:"reason"`
	Command    string `json:"command"` // what fills it
}

// Removed is a finding that did not survive the check.
type Removed struct {
	Text   string `json:"text"`
	Fault  Fault  `json:"fault,omitempty"` // the kind of reason, for counting; "" where none is known
	Reason string `json:"reason"`
}

// Fault is the kind of thing a finding got wrong.
type Fault string

// The faults. The first five are of its quotes, the others of what it says beside them.
const (
	FaultNoQuote     Fault = "no_quote"         // it quotes nothing
	FaultDocument    Fault = "unknown_document" // it quotes a document that is not there
	FaultSource      Fault = "wrong_source"     // what it quotes stands in another document
	FaultQuote       Fault = "invented_quote"   // what it quotes stands nowhere
	FaultUnsupported Fault = "unsupported"      // its quotes speak of something else
	FaultNumber      Fault = "number"
	FaultUnit        Fault = "unit"
	FaultDate        Fault = "date" // or time of day
	FaultIdentifier  Fault = "identifier"
	FaultSection     Fault = "section"
	FaultEntity      Fault = "entity" // a name, or one thing for another
	FaultNegation    Fault = "negation"
	FaultComparison  Fault = "comparison" // more for less, before for after
	FaultCause       Fault = "cause"      // effect for cause
	FaultComputed    Fault = "computed"   // not the figure that was computed
)

// Usage is what a question cost.
type Usage struct {
	ModelCalls   int     `json:"model_calls"`
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Cost         float64 `json:"cost,omitempty"` // US dollars, as far as prices are configured
	DurationMS   float64 `json:"duration_ms"`
}

// Computed is an exact figure or table, made by the store under the ledger.
type Computed struct {
	Kind       string   `json:"kind"` // count, list, group, compare, top, share, first, last, sum, mean, distinct, max, min
	Title      string   `json:"title"`
	Collection string   `json:"collection"`
	Unit       string   `json:"unit"`       // "documents" or the name of a group
	UnitLabel  string   `json:"unit_label"` // what one of them is called: events, aircraft
	Total      int64    `json:"total"`
	Unknown    int64    `json:"unknown"` // within the total, where the grouping field is not recorded
	GroupBy    string   `json:"group_by,omitempty"`
	Keys       []string `json:"keys,omitempty"` // the rows that were asked for by name
	N          int      `json:"n,omitempty"`    // of a top: how many rows were asked for
	Columns    []string `json:"columns,omitempty"`
	Rows       [][]any  `json:"rows,omitempty"`     // the key, what is counted or added up, then what Columns say
	Partial    []string `json:"partial,omitempty"`  // keys of rows whose period is not wholly covered: no fall, no rise
	Breaks     []Break  `json:"breaks,omitempty"`   // of rows in time: where they cannot be compared across
	ShareOf    string   `json:"share_of,omitempty"` // EXPR of the part
	PartCount  int64    `json:"part_count,omitempty"`
	Percent    string   `json:"percent,omitempty"` // one decimal, as a decimal string so that it is exact
	Low        string   `json:"percent_low,omitempty"`
	High       string   `json:"percent_high,omitempty"` // 95 % Wilson interval
	Sum        int64    `json:"sum,omitempty"`
	SumOf      string   `json:"sum_of,omitempty"` // field of a sum, and of rows that add up instead of counting
	Value      string   `json:"value,omitempty"`  // of a max, min or mean
	ValueOf    string   `json:"value_of,omitempty"`
	Distinct   int64    `json:"distinct,omitempty"`   // how many different values the field of GroupBy has
	Snippets   []Quote  `json:"snippets,omitempty"`   // where the first documents mention what a condition asks for: a mention, not a cause
	MentionOf  int64    `json:"mention_of,omitempty"` // of a count of mentions of what is asked about: how many satisfy the conditions in all
	Date       string   `json:"date,omitempty"`
	IDs        []string `json:"ids"`            // native ids, at most 1,000
	Next       string   `json:"next,omitempty"` // cursor to the ids after these: ListQuery.After
	Filter     string   `json:"filter"`         // EXPR
	Method     Method   `json:"method"`
}

// Break is a point in time at which what a field means, or how often it is recorded,
// changed: rows before and after it are not alike.
type Break struct {
	Key   string `json:"key"` // first row after it
	Field string `json:"field"`
	Why   string `json:"why"`
}

// Method is the card that says what a computed figure means.
type Method struct {
	Unit        string       `json:"unit"`
	Scope       string       `json:"scope"`
	Period      string       `json:"period"`
	Coverage    string       `json:"coverage,omitempty"`
	Unknown     []string     `json:"unknown,omitempty"` // one sentence for each field that is not always recorded
	OpenCases   int64        `json:"open_cases,omitempty"`
	DataDate    string       `json:"data_date,omitempty"`
	Files       []string     `json:"files,omitempty"`
	CountedAs   [][]any      `json:"counted_as,omitempty"` // spellings and how often each stands
	OtherCounts []OtherCount `json:"other_counts,omitempty"`
	AtLeast     bool         `json:"at_least"`
	Notes       []string     `json:"notes,omitempty"`
}

// OtherCount is another defensible figure for the same words, and why it differs.
type OtherCount struct {
	Rule  string `json:"rule"`
	Count int64  `json:"count"`
	Why   string `json:"why"`
}
