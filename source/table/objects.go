package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/sextant-rag/sextant/source"
)

// Objects is a file of JSON objects that stand in an array or one after the other,
// whatever their line breaks.
type Objects struct {
	Lines
	first source.Position // after the bracket that opens the array
}

// All yields the objects after a position. An element that is no object, or is not
// JSON, is a Line with a Problem; one that never ends, or is longer than MaxRecord,
// ends the file, since nothing tells where the next one begins.
func (o *Objects) All(ctx context.Context, after source.Position) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		if after == (source.Position{}) {
			after = o.first
		}
		in, err := o.text.resume(o.Blob, &o.consumed, after)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer func() { _ = in.Close() }()
		r := newReader(in, 0, after)
		defer func() { o.notes.Store(r.notes(o.text)) }()
		r.skipMark(after)
		for n := 0; ; n++ {
			if n%256 == 0 && ctx.Err() != nil {
				yield(Line{}, ctx.Err())
				return
			}
			line, err := r.nextObject()
			if err != nil {
				if !ended(err) {
					yield(Line{}, fmt.Errorf("read %s: %w", o.Blob.Name, err))
				}
				return
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

var errElement = errors.New("a JSON value is longer than " + limit)

// nextObject takes the next element, io.EOF at the end of the array or file.
func (r *reader) nextObject() (Line, error) {
	for {
		data, whole := r.in.peek()
		start := len(data) - len(bytes.TrimLeft(data, " \t\r\n,"))
		if start < len(data) && data[start] == ']' {
			return Line{}, io.EOF
		}
		size, ok := elementSize(data[start:], whole)
		switch {
		case start == len(data) && whole:
			if err := r.in.broken(); err != nil {
				return Line{}, err
			}
			return Line{}, io.EOF
		case ok:
			return r.takeObject(data[start:start+size], start+size), nil
		case whole:
			row := r.in.row(len(data))
			return Line{At: row.At, Next: row.Next, Problem: "cut off: the file ends within this record"}, nil
		case len(data) >= MaxRecord:
			return Line{}, errElement
		}
		r.in.more()
	}
}

func (r *reader) takeObject(data []byte, size int) Line {
	text, _ := r.text.decode(data, r.in.at.Line+1)
	text = bytes.Clone(text)
	row := r.in.row(size)
	if text[0] != '{' {
		return Line{At: row.At, Next: row.Next, Problem: "no JSON object"}
	}
	return Line{At: row.At, Next: row.Next, Data: text}
}

// elementSize returns the size of the JSON value data begins with, and whether it is
// all there. What is between its brackets is not checked.
func elementSize(data []byte, whole bool) (int, bool) {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
			if !quoted && depth == 0 {
				return i + 1, true
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
			if depth < 0 {
				return max(i, 1), true
			}
		case depth == 0 && i > 0 && (c == ',' || c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			return i, true
		}
	}
	return len(data), whole && depth == 0 && !quoted && len(data) > 0
}

// findArray looks for the first array of objects in a JSON document, such as the value
// of "items", and returns the offset after the bracket that opens it.
func findArray(r io.Reader) (offset int64, found bool) {
	d := json.NewDecoder(r)
	opened, inArray := int64(0), false
	for {
		t, err := d.Token()
		if err != nil {
			return 0, false
		}
		switch t {
		case json.Delim('['):
			opened, inArray = d.InputOffset(), true
		case json.Delim('{'):
			if inArray {
				return opened, true
			}
		default:
			inArray = false
		}
	}
}
