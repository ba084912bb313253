package llm

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/sextant-rag/sextant/trace"
)

// Exchange is one attempt at a call as a trace keeps it, in the terms of this package and
// of no provider: package replay answers from it.
type Exchange struct {
	Model    string   `json:"model"`
	Provider string   `json:"provider"`
	Request  Request  `json:"request"`
	Response Response `json:"response"`
	Failure  *Failure `json:"failure,omitempty"`
}

// Failure is an error of a call in its kept form.
type Failure struct {
	Kind    Kind   `json:"kind"`
	Status  int    `json:"status,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	// After and Started decide on what is done next, as in Error.
	After   time.Duration `json:"after,omitempty"`
	Started bool          `json:"started,omitempty"`
}

// keep puts an attempt into the trace, if there is one.
func keep(ctx context.Context, span *trace.Span, m Model, r Request, out Response, err error) {
	if span == nil {
		return
	}
	x := Exchange{Model: m.Name(), Provider: m.Provider(), Request: r, Response: out}
	if err != nil {
		x.Failure = &Failure{Kind: Unreachable, Message: err.Error()}
		var known *Error
		if errors.As(err, &known) {
			x.Failure = &Failure{known.Kind, known.Status, known.Code, known.Message, known.After, known.Started}
		}
	}
	trace.KeepExchange(ctx, span, &x.Request, &answered{x.Model, x.Provider, x.Response, x.Failure})
}

// answered is an Exchange without its request, which is kept beside it.
type answered struct {
	Model    string   `json:"model"`
	Provider string   `json:"provider"`
	Response Response `json:"response"`
	Failure  *Failure `json:"failure,omitempty"`
}

// Exchanges reads the calls that a trace kept, in the order in which they ended.
func Exchanges(kept []trace.Exchange) ([]Exchange, error) {
	out := make([]Exchange, len(kept))
	for i, k := range kept {
		if err := json.Unmarshal(k.Response, &out[i]); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(k.Request, &out[i].Request); err != nil {
			return nil, err
		}
	}
	return out, nil
}
