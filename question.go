package sextant

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sextant-rag/sextant/filter"
)

// Limits of a question's length, in bytes. Longer questions are refused with the
// limit named, never cut in silence.
const (
	MaxQuestionBytes = 16 << 10
	MaxTopK          = 50
	DefaultTopK      = 10
)

// Question is what a user asks, with everything that is not in the words.
type Question struct {
	Text        string
	Collections []string      // nil: every collection the question could concern
	Filter      filter.Filter // the caller's own hard filter, joined to what the text says
	FilterText  string        // Filter as the caller wrote it (EXPR), parsed by the engine per collection
	AsOf        time.Time     // "now" for relative dates and validity; zero: the engine's clock
	Mode        Mode
	Rerank      string // none | cross_encoder; "" is none
	Refine      string // none | dedup | filter | synthesize; "" is dedup
	Threshold   int    // of filter: the grade, 1 to 10, from which a passage is kept; 0 is the engine's
	TopK        int    // passages that reach generation; 0: DefaultTopK
	Limits      Limits
	Session     string // of a conversation; "" is none. Kept with the trace only.
	User        string // who asks; "" is nobody in particular. Kept with the trace only.
	NoModel     bool   // answer without language models, whatever is configured
	Replayed    string // id of the trace this question is asked again for; "" is none
}

// Mode says how a question is answered.
type Mode string

// The modes.
const (
	Agentic     Mode = "agentic"     // constraints, ledger, plan, check
	Traditional Mode = "traditional" // one query, top k: the baseline for comparison
)

// The modes of refinement: how the passages an answer is written from are chosen among those
// that were retrieved. All but the last leave the text of what they keep untouched.
const (
	RefineNone       = "none"
	RefineDedup      = "dedup"      // leaves out what says nothing that another one does not
	RefineFilter     = "filter"     // a small model grades each; those under a threshold are left out
	RefineSynthesize = "synthesize" // a small model shortens them: lossy, for comparison
)

// CrossEncoder is the mode of reranking in which a model reads question and passage
// together.
const CrossEncoder = "cross_encoder"

// Limits bound what one question may cost; zero fields are the engine's defaults.
type Limits struct {
	ModelCalls int           `json:"model_calls,omitempty"`
	Tokens     int           `json:"tokens,omitempty"`
	Rounds     int           `json:"rounds,omitempty"`
	WallTime   time.Duration `json:"wall_time,omitempty"`
	Cost       float64       `json:"cost,omitempty"` // US dollars, as far as prices are configured
}

// Normalize cleans and checks a question: the text is valid UTF-8 without control,
// zero-width or bidi characters, something in it can be asked, modes are known, and numbers
// are in range. It returns an *Error of code bad_request otherwise.
func (q Question) Normalize() (Question, error) {
	if len(q.Text) > MaxQuestionBytes {
		return q, &Error{Code: CodeBadRequest, Op: "question", Message: fmt.Sprintf("The question is %d bytes long; at most %d are read.", len(q.Text), MaxQuestionBytes),
			Hint: "Ask the question alone and leave pasted text out."}
	}
	q.Text = CleanText(q.Text)
	if !strings.ContainsFunc(q.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return q, &Error{Code: CodeBadRequest, Op: "question", Message: "Please enter a question."}
	}
	if q.TopK < 0 || q.TopK > MaxTopK {
		return q, &Error{Code: CodeBadRequest, Op: "question", Message: fmt.Sprintf("top_k is %d; it must be between 1 and %d.", q.TopK, MaxTopK)}
	}
	if q.TopK == 0 {
		q.TopK = DefaultTopK
	}
	switch q.Refine {
	case "":
		q.Refine = RefineDedup
	case RefineNone, RefineDedup, RefineFilter, RefineSynthesize:
	default:
		return q, &Error{Code: CodeBadRequest, Op: "question", Message: fmt.Sprintf("Unknown refinement %q.", q.Refine), Hint: "Use none, dedup, filter or synthesize."}
	}
	if q.Threshold < 0 || q.Threshold > 10 {
		return q, &Error{Code: CodeBadRequest, Op: "question", Message: fmt.Sprintf("The threshold of refinement is %d; it must be between 1 and 10.", q.Threshold)}
	}
	switch q.Mode {
	case "":
		q.Mode = Agentic
	case Agentic, Traditional:
	default:
		return q, &Error{Code: CodeBadRequest, Op: "question", Message: fmt.Sprintf("Unknown mode %q.", string(q.Mode)), Hint: "Use agentic or traditional."}
	}
	return q, nil
}

// CleanText makes foreign text safe to match, show and store: invalid UTF-8 becomes
// U+FFFD; control, bidi, zero-width and tag characters go (newline and tab become a
// blank); runs of white space become one blank.
func CleanText(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	blank := true
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case unicode.IsSpace(r):
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r >= 0xE0000 && r <= 0xE0FFF:
			continue
		}
		b.WriteRune(r)
		blank = false
	}
	return strings.TrimRight(b.String(), " ")
}
