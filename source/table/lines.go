package table

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"sync/atomic"

	"github.com/sextant-rag/sextant/source"
)

// Line is one line of a JSON-lines file.
type Line struct {
	At, Next source.Position
	Data     []byte // UTF-8, without the line break; the reader's own copy
	Problem  string
	Blank    string
}

// Lines is a file of one record a line.
type Lines struct {
	Blob     source.Blob
	text     textEncoding
	consumed atomic.Int64
	notes    atomic.Pointer[source.Notes]
}

// All yields the lines after a position, as File.Rows yields rows. A last line without
// a line break is yielded like any other: whether it is whole, its content must say.
func (l *Lines) All(ctx context.Context, after source.Position) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in, err := l.text.resume(l.Blob, &l.consumed, after)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer func() { _ = in.Close() }()
		r := newReader(in, 0, after)
		defer func() { l.notes.Store(r.notes(l.text)) }()
		r.skipMark(after)
		for n := 0; ; n++ {
			if n%256 == 0 && ctx.Err() != nil {
				yield(Line{}, ctx.Err())
				return
			}
			line, err := r.nextLine()
			if err != nil {
				if !ended(err) {
					yield(Line{}, fmt.Errorf("read %s: %w", l.Blob.Name, err))
				}
				return
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// skipMark passes over a byte-order mark at the beginning of a file.
func (r *reader) skipMark(after source.Position) {
	if after != (source.Position{}) {
		return
	}
	start, _ := r.in.peek()
	r.in.row(byteOrderMark(start))
	r.in.at.Record = 0
}

func (r *reader) nextLine() (Line, error) {
	for {
		data, whole := r.in.peek()
		if len(data) == 0 && whole {
			row, err := r.end()
			return Line{At: row.At, Next: row.Next, Blank: row.Blank}, err
		}
		size := lineLength(data)
		broken := data[size-1] != '\n'
		if broken && !whole {
			if len(data) < MaxRecord {
				r.in.more()
				continue
			}
			row := r.in.skipLine("longer than " + limit)
			return Line{At: row.At, Next: row.Next, Problem: row.Problem}, nil
		}
		return r.takeLine(data[:size], broken && r.in.broken() != nil), nil
	}
}

func (r *reader) takeLine(data []byte, cut bool) Line {
	text := bytes.TrimSpace(data)
	number := r.in.at.Line + 1
	if len(text) > 0 && !cut {
		text, _ = r.text.decode(text, number)
		text = bytes.Clone(text)
	}
	row := r.in.row(len(data))
	line := Line{At: row.At, Next: row.Next}
	switch {
	case cut:
		line.Problem = "cut off: the file ends within this record"
	case len(text) == 0:
		line.Blank = "empty line"
	default:
		line.Data = text
	}
	return line
}

// Consumed returns the bytes of the blob read by the running sequence.
func (l *Lines) Consumed() int64 { return l.consumed.Load() }

// Notes returns what the last sequence assumed and noticed.
func (l *Lines) Notes() source.Notes {
	if n := l.notes.Load(); n != nil {
		return *n
	}
	return source.Notes{}
}

// FirstLine returns the first line that is not blank, for telling what a file is.
// It reads at most MaxRecord bytes.
func FirstLine(blob source.Blob) ([]byte, error) {
	text, err := sniff(blob)
	if err != nil {
		return nil, err
	}
	in, err := text.open(blob, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	r := newReader(io.LimitReader(in, MaxRecord), 0, source.Position{})
	r.skipMark(source.Position{})
	for {
		line, err := r.nextLine()
		if err != nil {
			if ended(err) {
				return nil, fmt.Errorf("read %s: %w", blob.Name, ErrEmpty)
			}
			return nil, fmt.Errorf("read %s: %w", blob.Name, err)
		}
		if line.Data != nil {
			return line.Data, nil
		}
		if line.Problem != "" {
			return nil, fmt.Errorf("read %s: first line: %s", blob.Name, line.Problem)
		}
	}
}
