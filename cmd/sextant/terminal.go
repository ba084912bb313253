package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/sextant-rag/sextant"
)

// terminal is where a command writes. What was asked for goes to out, so that it can be
// piped; how it is going, and warnings, go to err. out gets exactly one JSON value when
// --json is given.
type terminal struct {
	out, err io.Writer
	width    int  // columns of out
	colour   bool // out shows colours
	moving   bool // err is a terminal, so progress can be drawn in place
}

// defaultWidth is that of paper and pipes.
const defaultWidth = 100

// maxWidth keeps lines readable on wide terminals.
const maxWidth = 120

func newTerminal(out, err io.Writer, env environment) *terminal {
	t := &terminal{out: out, err: err, width: defaultWidth, moving: isTerminal(err)}
	if !isTerminal(out) {
		return t
	}
	if columns, _, err := term.GetSize(descriptor(out)); err == nil && columns > 0 {
		t.width = min(columns, maxWidth)
	}
	// no-color.org: any value that is not empty.
	t.colour = env["NO_COLOR"] == "" && env["TERM"] != "dumb"
	return t
}

func isTerminal(w io.Writer) bool {
	_, isFile := w.(*os.File)
	return isFile && term.IsTerminal(descriptor(w))
}

// descriptor is the file descriptor behind a writer, -1 if there is none.
func descriptor(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		return int(f.Fd())
	}
	return -1
}

func (t *terminal) page() *page { return newPage(t.width, t.colour) }

// show writes a finished page to out.
func (t *terminal) show(p *page) error {
	if _, err := io.WriteString(t.out, p.String()); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// say writes one line about how it is going to err.
func (t *terminal) say(format string, args ...any) {
	fmt.Fprintln(t.err, clean(fmt.Sprintf(format, args...)))
}

// clean is what a terminal may be sent of foreign text: no control characters, but line
// breaks and indentation stay.
func clean(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		text := sextant.CleanText(line)
		lines[i] = strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))) + text
	}
	return strings.Join(lines, "\n")
}
