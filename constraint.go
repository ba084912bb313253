package sextant

// Op is the operator of a Constraint.
type Op string

// The operators. Ranges are inclusive at both ends.
const (
	OpEq          Op = "eq"
	OpIn          Op = "in"     // one of the values; for dates each value is a [from, to] pair
	OpNotIn       Op = "not_in" // known, and none of the values
	OpGte         Op = "gte"
	OpLte         Op = "lte"
	OpBetween     Op = "between"      // two values
	OpContains    Op = "contains"     // contains one of the values
	OpNotContains Op = "not_contains" // known, and contains none of the values
	OpExists      Op = "exists"
	OpMentions    Op = "mentions"     // the text says one of the values: phrases, a trailing * stands for any ending
	OpNotMentions Op = "not_mentions" // there is such a text, and it says none of them
)

// Origin says who stated a constraint.
type Origin string

// The origins.
const (
	FromRule  Origin = "rule"  // read from the question by the grammar
	FromModel Origin = "model" // added by a model, quoting the question
	FromUser  Origin = "user"  // given beside the question
)

// Constraint is one hard condition read from a question. Values are as on the wire:
// strings (dates ISO), ints, or [from, to] pairs of strings for sets of dates.
type Constraint struct {
	Field       string     `json:"field"`
	Op          Op         `json:"op"`
	Values      []any      `json:"values"`
	Text        string     `json:"text"`           // the words it came from, as they stand in the question
	Expr        string     `json:"expr,omitempty"` // as EXPR, where field, operator and values do not say all of it
	Origin      Origin     `json:"origin"`
	Implied     bool       `json:"implied,omitempty"`  // brought along by a name: SR22 is a Cirrus
	Assumed     string     `json:"assumed,omitempty"`  // "Cesna read as Cessna"
	Disputed    string     `json:"disputed,omitempty"` // why a model thinks that the question does not mean it; it is enforced all the same
	Collections []string   `json:"collections"`        // where the field exists and it is enforced
	Alone       int64      `json:"alone"`              // documents that satisfy it by itself
	Unknown     int64      `json:"unknown"`            // documents in which the field is not recorded
	Within      int64      `json:"unknown_within"`     // of these, how many satisfy all the other constraints
	Others      int64      `json:"-"`                  // documents that satisfy all the other constraints
	Recorded    []Recorded `json:"recorded,omitempty"` // when the field is recorded, where a fifth or more of the documents lack it
	Start       int        `json:"-"`                  // byte range of Text in the question
	End         int        `json:"-"`
}

// Ledger is the account of a question's conditions over the whole corpus.
type Ledger struct {
	Constraints       []Constraint     `json:"constraints"`
	Filter            string           `json:"filter,omitempty"` // all of them, as EXPR
	Joint             int64            `json:"joint"`            // documents that satisfy all of them
	JointByCollection map[string]int64 `json:"joint_by_collection"`
	Relaxations       []Relaxation     `json:"relaxations,omitempty"` // when Joint is zero
	Widenings         []Widening       `json:"widenings,omitempty"`   // when Joint is zero
	Available         []Available      `json:"available,omitempty"`   // when Joint is zero
	Coverage          []Coverage       `json:"coverage,omitempty"`    // what period each collection holds
	OutsideCoverage   []string         `json:"outside_coverage,omitempty"`
	Unenforceable     []Unenforceable  `json:"unenforceable,omitempty"`
	UnknownValues     []UnknownValue   `json:"unknown_values,omitempty"`
	Ambiguous         []Ambiguity      `json:"ambiguous,omitempty"`
}

// Relaxation is a smallest set of constraints whose removal gives something.
type Relaxation struct {
	Drop   []string `json:"drop"`    // their fields
	DropAt []int    `json:"drop_at"` // their places in Ledger.Constraints
	Count  int64    `json:"count"`   // documents then
}

// Widening is one constraint made wider while all others stay: a season taken as its year,
// one mark of a model as its family.
type Widening struct {
	Field  string `json:"field"`
	At     int    `json:"at"` // its place in Ledger.Constraints
	Op     Op     `json:"op"`
	Values []any  `json:"values"`
	Count  int64  `json:"count"` // documents then
}

// Available lists the values a dropped constraint's field does have under the others.
type Available struct {
	Field  string  `json:"field"`
	Values [][]any `json:"values"` // pairs of value and count, most frequent first or in order of time
}

// Coverage states the period a collection's documents cover.
type Coverage struct {
	Collection string `json:"collection"`
	Field      string `json:"field"`
	From       string `json:"from"` // ISO dates, inclusive
	To         string `json:"to"`
}

// Recorded says of how many documents of some years a field is recorded.
type Recorded struct {
	From     string `json:"from"` // the first year
	To       string `json:"to"`   // the last one
	Recorded int64  `json:"recorded"`
	Of       int64  `json:"of"` // documents of these years
}

// Unenforceable is a condition that no collection can enforce. It is said, never
// ignored.
type Unenforceable struct {
	Text   string `json:"text"`
	Field  string `json:"field,omitempty"`
	Reason string `json:"reason"`
}

// UnknownValue is a word that stands where a value should and matches none in the
// corpus.
type UnknownValue struct {
	Text    string   `json:"text"`
	Field   string   `json:"field,omitempty"`
	Nearest []string `json:"nearest"`
}

// Ambiguity is a word with more than one reading; the first was taken.
type Ambiguity struct {
	Text     string    `json:"text"`
	Readings []Reading `json:"readings"`
}

// Reading is one way to read an ambiguous word.
type Reading struct {
	Field  string `json:"field,omitempty"`
	Op     Op     `json:"op,omitempty"`
	Values []any  `json:"values,omitempty"`
	Note   string `json:"note,omitempty"`
	Count  *int64 `json:"count,omitempty"` // documents under this reading and all other constraints
}
