package trace

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// ID names a trace: 16 bytes, not all zero, as in W3C Trace Context.
type ID [16]byte

// SpanID names a span within its trace: 8 bytes, not all zero. The zero SpanID is no span.
type SpanID [8]byte

// NewID returns a random trace id.
func NewID() (id ID) {
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the process instead
	return id
}

// String is the id as 32 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether the id names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// String is the id as 16 hexadecimal digits.
func (id SpanID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether the id names nothing.
func (id SpanID) IsZero() bool { return id == SpanID{} }

// ParseID reads 32 hexadecimal digits.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*len(id) {
		return id, fmt.Errorf("trace id: %q has %d characters, not %d", s, len(s), 2*len(id))
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("trace id: %w", err)
	}
	if id.IsZero() {
		return id, fmt.Errorf("trace id: all zero")
	}
	return id, nil
}

// Parent is the caller's span, from a traceparent header.
type Parent struct {
	Trace   ID
	Span    SpanID
	Sampled bool
}

// ParseParent reads a traceparent header, W3C Trace Context level 1 section 3.2
// (https://www.w3.org/TR/trace-context/): version "-" trace id "-" span id "-" flags, in
// lower-case hexadecimal. A version above 00 may be followed by more fields. ok is false
// for anything else, upon which a new trace begins, as the standard asks.
func ParseParent(header string) (p Parent, ok bool) {
	const length = 55
	if len(header) < length || header[2] != '-' || header[35] != '-' || header[52] != '-' {
		return Parent{}, false
	}
	version, known := lowerHex(header[:2])
	if !known || version[0] == 0xff || version[0] == 0 && len(header) != length || len(header) > length && header[length] != '-' {
		return Parent{}, false
	}
	id, ok1 := lowerHex(header[3:35])
	span, ok2 := lowerHex(header[36:52])
	flags, ok3 := lowerHex(header[53:55])
	if !ok1 || !ok2 || !ok3 {
		return Parent{}, false
	}
	p = Parent{Trace: ID(id), Span: SpanID(span), Sampled: flags[0]&1 == 1}
	return p, !p.Trace.IsZero() && !p.Span.IsZero()
}

func lowerHex(s string) ([]byte, bool) {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return nil, false
		}
	}
	b, err := hex.DecodeString(s)
	return b, err == nil
}

// String is the header that makes a callee's spans children of this one.
func (p Parent) String() string {
	flags := 0
	if p.Sampled {
		flags = 1
	}
	return fmt.Sprintf("00-%s-%s-%02x", p.Trace, p.Span, flags)
}
