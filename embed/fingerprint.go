package embed

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Fingerprint is all that vectors must agree in to be compared. Two are equal by ==. A
// collection stores that of its vectors in the text form and refuses any other.
type Fingerprint struct {
	// Model names the weights.
	Model string
	// Revision tells apart weights of one name: a digest, or what a server calls a version.
	Revision string
	// Dim is the length of a vector.
	Dim int
	// Pooling is how token states become a vector: mean, cls; empty when unknown.
	Pooling string
	// QueryPrefix and DocumentPrefix stand before every text of either kind.
	QueryPrefix, DocumentPrefix string
	// Normalized vectors have length 1.
	Normalized bool
	// MaxTokens is how much of a text is seen; 0 when unknown.
	MaxTokens int
}

// ErrFingerprint is wrapped by errors about texts that are no fingerprint.
var ErrFingerprint = errors.New("not an encoder fingerprint")

// String returns the text form, one line that ParseFingerprint reads:
//
//	model="all-MiniLM-L6-v2" revision="53aa51172d14" dim=384 pooling="mean" query_prefix="" document_prefix="" normalized=true max_tokens=256
func (f Fingerprint) String() string {
	return fmt.Sprintf("model=%q revision=%q dim=%d pooling=%q query_prefix=%q document_prefix=%q normalized=%t max_tokens=%d",
		f.Model, f.Revision, f.Dim, f.Pooling, f.QueryPrefix, f.DocumentPrefix, f.Normalized, f.MaxTokens)
}

// ParseFingerprint reads the text form. Every field must be there once, in order. Errors
// wrap [ErrFingerprint].
func ParseFingerprint(text string) (Fingerprint, error) {
	var f Fingerprint
	rest := text
	for i, field := range []struct {
		key string
		set func(string) error
	}{
		{"model", setString(&f.Model)},
		{"revision", setString(&f.Revision)},
		{"dim", setInt(&f.Dim)},
		{"pooling", setString(&f.Pooling)},
		{"query_prefix", setString(&f.QueryPrefix)},
		{"document_prefix", setString(&f.DocumentPrefix)},
		{"normalized", func(s string) (err error) { f.Normalized, err = strconv.ParseBool(s); return err }},
		{"max_tokens", setInt(&f.MaxTokens)},
	} {
		key := field.key + "="
		if i > 0 {
			key = " " + key
		}
		value, ok := strings.CutPrefix(rest, key)
		if !ok {
			return Fingerprint{}, fmt.Errorf("%w: %.200q: no %s where it belongs", ErrFingerprint, text, field.key)
		}
		value, rest = cutValue(value)
		if err := field.set(value); err != nil {
			return Fingerprint{}, fmt.Errorf("%w: %.200q: %s: %v", ErrFingerprint, text, field.key, err)
		}
	}
	if f.String() != text { // trailing text, other spellings of the same
		return Fingerprint{}, fmt.Errorf("%w: %.200q", ErrFingerprint, text)
	}
	return f, nil
}

// cutValue splits text after its first value, a quoted string or a word.
func cutValue(text string) (value, rest string) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		return quoted, text[len(quoted):]
	}
	if i := strings.IndexByte(text, ' '); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

func setString(p *string) func(string) error {
	return func(s string) (err error) { *p, err = strconv.Unquote(s); return err }
}

func setInt(p *int) func(string) error {
	return func(s string) (err error) { *p, err = strconv.Atoi(s); return err }
}

// Differences names the fields in which f and g differ, each with both values, for a person
// to read; empty when they are equal.
func (f Fingerprint) Differences(g Fingerprint) []string {
	var out []string
	add := func(name string, a, b any) {
		if a != b {
			out = append(out, fmt.Sprintf("%s %#v, not %#v", name, a, b))
		}
	}
	add("model", f.Model, g.Model)
	add("revision", f.Revision, g.Revision)
	add("dimension", f.Dim, g.Dim)
	add("pooling", f.Pooling, g.Pooling)
	add("query prefix", f.QueryPrefix, g.QueryPrefix)
	add("document prefix", f.DocumentPrefix, g.DocumentPrefix)
	add("normalized", f.Normalized, g.Normalized)
	add("token limit", f.MaxTokens, g.MaxTokens)
	return out
}
