package extract

import (
	"errors"
	"fmt"
	"strings"
)

// Code says why a file was refused.
type Code string

// The codes of a Refusal.
const (
	Encrypted   Code = "encrypted"   // needs a password
	Scanned     Code = "scanned"     // pictures of text only
	Empty       Code = "empty"       // no bytes, or nothing to read in them
	TooLarge    Code = "too_large"   // the file or its text is over a limit
	TooDeep     Code = "too_deep"    // nested deeper than a limit
	Bomb        Code = "bomb"        // unpacks to implausibly much, or many entries
	TooSlow     Code = "too_slow"    // over the time limit
	Unsupported Code = "unsupported" // a known format that is not read, or an unknown one
	Malformed   Code = "malformed"   // broken beyond repair
	Unsafe      Code = "unsafe"      // an archive whose names point outside of it
	Changed     Code = "changed"     // the file became shorter while it was read
)

// Refusal is the error of a file that cannot be read. All of it but Err is safe to show.
type Refusal struct {
	Code   Code
	Reason string // a clause: "the file is encrypted"
	Hint   string // what to do, if that is known: a sentence
	Place  string // where in the file, if that is known: "p. 4", "byte 1024", "line 7", "word/document.xml"
	Err    error  // the cause, for the log
}

// Error writes the code, the place, the reason and the hint.
func (r *Refusal) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", r.Code)
	if r.Place != "" {
		fmt.Fprintf(&b, "%s: ", r.Place)
	}
	b.WriteString(r.Reason)
	if r.Hint != "" {
		fmt.Fprintf(&b, ". %s", r.Hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// RefusalOf returns the Refusal in err's chain, nil if there is none.
func RefusalOf(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

func malformed(place, reason string) *Refusal {
	return &Refusal{Code: Malformed, Place: place, Reason: reason}
}
