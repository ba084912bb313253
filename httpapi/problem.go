package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/sextant-rag/sextant"
)

// Problem is an error on the wire: RFC 9457, application/problem+json. Type is always
// about:blank, so Title is the status's own phrase; Code says what a program may decide
// on, Detail is a sentence for people, Hint what to do next.
type Problem struct {
	Type   string       `json:"type"`
	Title  string       `json:"title"`
	Status int          `json:"status"`
	Detail string       `json:"detail"`
	Code   sextant.Code `json:"code"`
	Hint   string       `json:"hint,omitempty"`
}

// Codes of problems that only HTTP knows.
const (
	codeUnauthorized sextant.Code = "unauthorized"           // 401: a key is needed
	codeMethod       sextant.Code = "method_not_allowed"     // 405
	codeMediaType    sextant.Code = "unsupported_media_type" // 415
	codeBusy         sextant.Code = "busy"                   // 503 with Retry-After: the queue is full
	codeTimeout      sextant.Code = "timeout"                // 504: a deadline passed inside the engine
)

var statusOf = map[sextant.Code]int{
	sextant.CodeBadRequest:  http.StatusBadRequest,
	sextant.CodeNotFound:    http.StatusNotFound,
	sextant.CodeTooLarge:    http.StatusRequestEntityTooLarge,
	sextant.CodeConflict:    http.StatusConflict,
	sextant.CodeUnavailable: http.StatusServiceUnavailable,
	sextant.CodeForbidden:   http.StatusForbidden,
	sextant.CodeInternal:    http.StatusInternalServerError,
	codeUnauthorized:        http.StatusUnauthorized,
	codeMethod:              http.StatusMethodNotAllowed,
	codeMediaType:           http.StatusUnsupportedMediaType,
	codeBusy:                http.StatusServiceUnavailable,
	codeTimeout:             http.StatusGatewayTimeout,
}

// headerError is an error whose response carries a header besides the problem.
type headerError struct {
	error
	name, value string
}

func (e headerError) Unwrap() error { return e.error }

func withHeader(err error, name, value string) error { return headerError{err, name, value} }

func badRequest(message, hint string) error {
	return &sextant.Error{Code: sextant.CodeBadRequest, Op: "read request", Message: message, Hint: hint}
}

// problemOf is what a caller may read about err. requestID leads from an inner failure
// to its entry in the log; nothing of err itself is shown then.
func problemOf(err error, requestID string) Problem {
	if errors.Is(err, context.DeadlineExceeded) && sextant.ErrorCode(err) == sextant.CodeInternal {
		err = &sextant.Error{Code: codeTimeout, Message: "Answering took longer than allowed.",
			Hint: "Narrow the question, or allow it more time with limits.wall_time.", Err: err}
	}
	p := Problem{Type: "about:blank", Code: sextant.ErrorCode(err)}
	p.Detail, p.Hint = sextant.PublicMessage(err)
	status, known := statusOf[p.Code]
	if !known {
		status = http.StatusInternalServerError
	}
	p.Status, p.Title = status, http.StatusText(status)
	if status == http.StatusInternalServerError && p.Hint == "" {
		p.Hint = "The log has it under request " + requestID + "."
	}
	return p
}

// writeError answers with err: FastAPI's validation list where a blueprint route refused
// the body, a problem everywhere else.
func writeError(w http.ResponseWriter, err error) {
	var h headerError
	if errors.As(err, &h) {
		w.Header().Set(h.name, h.value)
	}
	var faults validationError
	if errors.As(err, &faults) {
		body, _ := JSON(faults) // strings and numbers: it cannot fail
		write(w, http.StatusUnprocessableEntity, "application/json", body)
		return
	}
	p := problemOf(err, w.Header().Get(requestIDHeader))
	body, _ := JSON(p)
	write(w, p.Status, "application/problem+json", body)
}
