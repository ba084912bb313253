package sextant

import (
	"errors"
	"fmt"
)

// Code classifies an Error for whoever has to act on it. It is part of the wire
// format of problems (RFC 9457) and decides HTTP status and exit code.
type Code string

// The codes.
const (
	CodeBadRequest  Code = "bad_request"        // 400, exit 2: the caller can mend it
	CodeNotFound    Code = "not_found"          // 404, exit 1
	CodeTooLarge    Code = "too_large"          // 413, exit 2
	CodeConflict    Code = "conflict"           // 409, exit 1: the data folder is in use, an encoder differs
	CodeUnavailable Code = "source_unavailable" // 503, exit 8: a needed store or model cannot be reached
	CodeForbidden   Code = "forbidden"          // 403, exit 1
	CodeInternal    Code = "internal"           // 500, exit 1
)

// Error is a failure with two readers: Message and Hint are safe for the user, Err
// holds everything for the log.
type Error struct {
	Code    Code
	Op      string // what was being done: "ask", "ingest ntsb"
	Message string // a full sentence, without secrets, paths of the machine or internals
	Hint    string // what to do next, when that is known
	Err     error
}

// Error writes operation, message and cause, for logs.
func (e *Error) Error() string {
	s := e.Message
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Err != nil {
		s = fmt.Sprintf("%s (%v)", s, e.Err)
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code of the first Error in err's chain, CodeInternal if
// there is none.
func ErrorCode(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// PublicMessage returns what a user may read about err: the Message and Hint of the
// first Error in its chain, and a neutral sentence otherwise.
func PublicMessage(err error) (message, hint string) {
	var e *Error
	if errors.As(err, &e) {
		return e.Message, e.Hint
	}
	return "Something went wrong inside Sextant; the log says what.", ""
}
