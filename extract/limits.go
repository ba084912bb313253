package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Limits bound the reading of one file, the files inside it included. Zero fields are
// the defaults.
type Limits struct {
	Input   int64         // bytes of the file
	Text    int64         // bytes of canonical text
	Unpack  int64         // bytes unpacked from compressed parts, all together
	Entries int           // files in an archive
	Depth   int           // nesting of elements, values, lists, and files inside files by tens
	Pages   int           // pages of a PDF
	Time    time.Duration // for the whole file
}

// The defaults. A book of a thousand pages has 4 MB of text; what is larger than
// DefaultText is data, for which tables are the better way in.
const (
	DefaultInput   = 512 << 20
	DefaultText    = 32 << 20
	DefaultUnpack  = 256 << 20
	DefaultEntries = 5000
	DefaultDepth   = 200
	DefaultPages   = 10000
	DefaultTime    = 2 * time.Minute
)

func (l Limits) withDefaults() Limits {
	orElse(&l.Input, DefaultInput)
	orElse(&l.Text, DefaultText)
	orElse(&l.Unpack, DefaultUnpack)
	orElse(&l.Entries, DefaultEntries)
	orElse(&l.Depth, DefaultDepth)
	orElse(&l.Pages, DefaultPages)
	orElse(&l.Time, DefaultTime)
	return l
}

func orElse[T int | int64 | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// input is a file being read, with what it may still take. Files inside of files are
// inputs of their own that share the budget.
type input struct {
	name     string
	r        io.ReaderAt
	size     int64
	limits   Limits
	left     *budget
	level    int      // how many files it is inside of
	warnings []string // of finding out what it is
}

// budget is what a file and all inside it may still use.
type budget struct {
	unpack  int64
	text    int64
	entries int
}

// A file's text is small beside the file, unless the file is a bomb or a few bytes:
// books in compressed formats have three times its bytes, tables of few words ten times.
const (
	textFloor = 4 << 20
	textRatio = 20
)

func newBudget(l Limits, size int64) *budget {
	return &budget{unpack: l.Unpack, text: min(l.Text, textFloor+textRatio*size), entries: l.Entries}
}

// head returns the first n bytes, fewer if the file is shorter.
func (in *input) head(n int64) ([]byte, error) {
	b := make([]byte, min(n, in.size))
	if err := in.readAt(b, 0); err != nil {
		return nil, err
	}
	return b, nil
}

// readAt fills b from an offset inside the file. A file that ends early has changed
// since its size was taken.
func (in *input) readAt(b []byte, at int64) error {
	n, err := in.r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err == nil {
		return &Refusal{Code: Changed, Place: fmt.Sprintf("byte %d", at+int64(n)), Reason: "the file became shorter while it was read", Hint: "Read it again when nothing writes to it."}
	}
	return fmt.Errorf("read %s at byte %d: %w", in.name, at, err)
}

// all returns the whole file, if it is not more than the canonical text may have:
// formats that are text themselves hardly shrink.
func (in *input) all(ctx context.Context, most int64) ([]byte, error) {
	if in.size > most {
		return nil, &Refusal{Code: TooLarge, Reason: fmt.Sprintf("it has %d bytes of text, the limit is %d", in.size, most), Hint: "Split it, or ingest it as a table if it is one."}
	}
	b := make([]byte, in.size)
	const step = 4 << 20
	for at := int64(0); at < in.size; at += step {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := in.readAt(b[at:min(at+step, in.size)], at); err != nil {
			return nil, err
		}
	}
	return b, nil
}
