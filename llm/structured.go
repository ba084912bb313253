package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Structured asks for JSON of the request's schema and decodes it into T. What comes is
// validated here whatever the provider promises: servers drop schemas they cannot enforce
// without a word. An answer that does not satisfy it is asked for once more, with what is
// wrong; then it is an *Error of kind Malformed.
//
// How a model is made to answer in JSON, by native schema, a tool call, or the prompt alone,
// is the provider's package's choice for that model; here the answer is taken from wherever
// it stands: the text, a fence in it, prose around it, or a tool call.
func Structured[T any](ctx context.Context, c *Caller, r Request) (T, Response, error) {
	var zero T
	if r.Output == nil {
		return zero, Response{}, errors.New("llm: a structured answer needs a schema")
	}
	check, err := resolve(r.Output)
	if err != nil {
		return zero, Response{}, err
	}
	out, err := c.Complete(ctx, r)
	if err != nil {
		return zero, out, err
	}
	v, wrong := decode[T](check, out)
	if wrong == nil {
		return v, out, nil
	}
	again := r
	again.Messages = append(append([]Message{}, r.Messages...), Message{Role: Assistant, Text: beginning(answerText(out), maxShown)},
		Message{Role: User, Text: "That answer cannot be used: " + wrong.Error() + ". Answer again, with one JSON object that satisfies the schema, and nothing else."})
	repaired, err := c.Complete(ctx, again)
	if err != nil {
		return zero, repaired, err
	}
	if v, wrong = decode[T](check, repaired); wrong != nil {
		return zero, repaired, &Error{Kind: Malformed, Provider: c.model.Provider(), Message: "the answer does not satisfy its schema", Err: wrong}
	}
	return v, repaired, nil
}

// Bounds on what is shown to a model of its own answer, in bytes: one that ran away must not
// cost its length once more.
const (
	maxShown = 16 << 10
	maxWrong = 600
)

// beginning is a text of at most so many bytes, cut between characters.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// resolved keeps schemas that were made ready, by their text: they are few, and making one
// ready costs more than all else a call does here.
var resolved struct {
	sync.Mutex
	by map[string]*shape
}

// maxResolved bounds how many are kept: schemas differ by how much evidence there is.
const maxResolved = 256

func resolve(s *Schema) (*shape, error) {
	resolved.Lock()
	defer resolved.Unlock()
	if ready, ok := resolved.by[string(s.JSON)]; ok {
		return ready, nil
	}
	ready := &shape{}
	d := json.NewDecoder(bytes.NewReader(s.JSON))
	d.DisallowUnknownFields()
	err := d.Decode(ready)
	if err == nil {
		err = ready.known()
	}
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", s.Name, err)
	}
	if len(resolved.by) >= maxResolved || resolved.by == nil {
		resolved.by = map[string]*shape{}
	}
	resolved.by[string(s.JSON)] = ready
	return ready, nil
}

func answerText(out Response) string {
	if out.Text == "" && len(out.Calls) > 0 {
		return string(out.Calls[0].Input)
	}
	return out.Text
}

func decode[T any](check *shape, out Response) (v T, err error) {
	raw, ok := FindObject(answerText(out))
	if !ok {
		return v, errors.New("there is no JSON object in it")
	}
	var generic any
	if err := json.Unmarshal(raw, &generic); err != nil {
		return v, fmt.Errorf("it is no JSON: %w", err)
	}
	if check.strict() && check.fits(generic) && json.Unmarshal(raw, &v) == nil {
		return v, nil
	}
	v = *new(T)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	unread := d.Decode(&v)
	if unread != nil {
		return v, fmt.Errorf("it cannot be read: %s", beginning(unread.Error(), maxWrong))
	}
	if !check.fits(generic) {
		// Which fault is met first depends on the order of a map: what a model is told must be
		// the same whenever its answer is, or no recording would fit again.
		return v, errors.New("it does not satisfy the schema: something is missing, empty, too long, or not one of the values allowed")
	}
	return v, nil
}

// Bounds on looking for an object: places that are tried, and bytes that are read for it.
const (
	maxBraces = 64
	maxSought = 2 * maxText
)

// FindObject returns the JSON object of a text: all of it, or the first whole object where
// prose or a fence stands around. Objects that do not close are none. Places and bytes are
// bounded, so that a text of braces costs little more than one that is read.
func FindObject(text string) (json.RawMessage, bool) {
	start, read := strings.IndexByte(text, '{'), 0
	if start >= 0 {
		if whole := []byte(strings.TrimRight(text[start:], " \t\r\n")); whole[len(whole)-1] == '}' && json.Valid(whole) {
			return whole, true // as most answers are
		}
	}
	for tries := 0; start >= 0 && tries < maxBraces && read < maxSought; tries++ {
		d := json.NewDecoder(strings.NewReader(text[start:]))
		var raw json.RawMessage
		err := d.Decode(&raw)
		if err == nil {
			return raw, true
		}
		var wrong *json.SyntaxError
		if errors.As(err, &wrong) {
			read += int(wrong.Offset)
		} else {
			read += len(text) - start
		}
		next := strings.IndexByte(text[start+1:], '{')
		if next < 0 {
			break
		}
		start += 1 + next
	}
	return nil, false
}
