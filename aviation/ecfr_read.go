package aviation

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sextant-rag/sextant/source"
)

// lawInput is one eCFR file.
type lawInput struct {
	blob     source.Blob
	issued   time.Time // what is known besides what the file says; zero is nothing
	held     *source.Held
	about    []string // notes about all inputs, given with the first
	consumed atomic.Int64
	notes    source.Notes
}

// Name implements source.Input.
func (in *lawInput) Name() string { return in.blob.Name }

// Kind implements source.Input.
func (*lawInput) Kind() string { return "ecfr-xml" }

// Size implements source.Input.
func (in *lawInput) Size() int64 { return in.blob.Size }

// Digest implements source.Input.
func (in *lawInput) Digest(ctx context.Context) (string, error) { return in.blob.Digest(ctx) }

// Consumed implements source.Input.
func (in *lawInput) Consumed() int64 { return in.consumed.Load() }

// Notes implements source.Input.
func (in *lawInput) Notes() source.Notes { return in.notes }

// Items implements source.Input. What a section means depends on the divisions around
// it, so a file is always read from its start; what was read before is passed over.
func (in *lawInput) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		in.notes = source.Notes{}
		r, err := openXML(ctx, in.blob, &in.consumed)
		if err != nil {
			yield(source.Item{}, err)
			return
		}
		defer r.close()
		w := lawWalk{xmlReader: r, name: in.Name(), issued: in.issued, seen: map[string]bool{}, skip: after.Record, yield: yield}
		if in.held != nil {
			w.held = *in.held
		}
		if err := w.run(); err != nil && !errors.Is(err, errStopped) {
			yield(source.Item{}, fmt.Errorf("read %s, line %d: %w", in.Name(), r.place().Line+1, err))
			return
		}
		in.notes = w.notes()
		in.notes.Warnings = append(in.notes.Warnings, in.about...)
	}
}

// division is a level of the Code a section stands in.
type division struct {
	level  int // 1 title, 3 chapter, 4 subchapter, 5 part, 6 subpart, 7 group
	number string
	head   string
	source string // of the text below it, "unless otherwise noted"
}

// lawWalk goes through a file and yields its sections.
type lawWalk struct {
	*xmlReader
	name    string
	path    []division
	issued  time.Time // zero if the file does not say
	amended time.Time // the date of the bulk files; stands for issued where that is unknown
	seen    map[string]bool
	record  int64
	skip    int64
	pending int // notices of amendments that are not in force
	figures int
	annual  bool // the file is of the annual edition
	held    source.Held
	yield   func(source.Item, error) bool
}

var errStopped = errors.New("stopped")

// divLevel is n of an element DIVn, 0 for others.
func divLevel(name string) int {
	if len(name) == 4 && strings.HasPrefix(name, "DIV") && name[3] >= '1' && name[3] <= '9' {
		return int(name[3] - '0')
	}
	return 0
}

func (w *lawWalk) run() error {
	for {
		at := w.place()
		token, err := w.token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := w.enter(t, at); err != nil {
				return err
			}
		case xml.EndElement:
			if level := max(divLevel(t.Name.Local), w.annualLevel(t.Name.Local)); level > 0 && len(w.path) > 0 {
				w.path = w.path[:len(w.path)-1]
			}
		}
	}
}

func (w *lawWalk) enter(t xml.StartElement, at source.Position) error {
	if t.Name.Local == "CFRDOC" {
		w.annual = true
	}
	if w.annual {
		return w.enterAnnual(t, at)
	}
	level := divLevel(t.Name.Local)
	switch {
	case level >= 8:
		return w.section(t, at)
	case level > 0:
		n := newNode(t)
		w.date(n)
		w.path = append(w.path, division{level: level, number: clean(n.attrs["N"])})
		if title := w.title(n); title != "" && title != "14" {
			return fmt.Errorf("this is title %s of the Code; 14 CFR is what is held", shortList([]string{title}))
		}
		return nil
	case t.Name.Local == "HEAD", t.Name.Local == "SOURCE", t.Name.Local == "AMDDATE":
		n, err := w.tree(t)
		if err != nil {
			return err
		}
		w.describe(n)
	}
	return nil
}

// describe keeps what is said of the division that is open.
func (w *lawWalk) describe(n *node) {
	if n.name == "AMDDATE" {
		if dates := writtenDates(n.plain()); len(dates) > 0 {
			w.amended = dates[len(dates)-1]
		}
	}
	if len(w.path) == 0 {
		return
	}
	switch top := &w.path[len(w.path)-1]; {
	case n.name == "HEAD" && top.head == "":
		top.head = n.plain()
	case n.name == "SOURCE":
		top.source = n.plain()
	}
}

var (
	issuePath = regexp.MustCompile(`/on/(\d{4}-\d{2}-\d{2})/`)
	titlePath = regexp.MustCompile(`/title-(\d+)(?:/|&|"|$)`)
)

// date reads the issue date out of the path that the service gives its elements.
func (w *lawWalk) date(n *node) {
	if m := issuePath.FindStringSubmatch(n.attrs["hierarchy_metadata"]); m != nil && w.issued.IsZero() {
		if day, err := time.Parse(time.DateOnly, m[1]); err == nil {
			w.issued = day
		}
	}
}

// title is the number of the title an element says it belongs to, "" if it does not.
func (*lawWalk) title(n *node) string {
	if n.name == "DIV1" {
		return clean(n.attrs["N"])
	}
	if m := titlePath.FindStringSubmatch(n.attrs["hierarchy_metadata"]); m != nil {
		return m[1]
	}
	return ""
}

// section yields a section or appendix, and those that stand inside it by mistake, as
// records of their own.
func (w *lawWalk) section(t xml.StartElement, at source.Position) error {
	n, err := w.tree(t)
	if err != nil && !errors.Is(err, errTooLarge) {
		return err
	}
	if w.annual {
		asDivision(n)
	}
	if err != nil {
		return w.hand(source.Item{ID: "", Outcome: "", Reason: err.Error()}, n, at)
	}
	for _, own := range separate(n) {
		if err := w.hand(source.Item{}, own, at); err != nil {
			return err
		}
	}
	return nil
}

// separate takes sections and appendices out of the one they are nested in.
func separate(n *node) []*node {
	out := []*node{n}
	var take func(*node)
	take = func(parent *node) {
		kept := parent.children[:0]
		for _, c := range parent.children {
			if divLevel(c.name) >= 8 {
				out = append(out, separate(c)...)
				continue
			}
			take(c)
			kept = append(kept, c)
		}
		parent.children = kept
	}
	take(n)
	return out
}

// hand yields a section, unless it was handed out by an earlier run.
func (w *lawWalk) hand(refused source.Item, n *node, at source.Position) error {
	w.date(n)
	at.Record = w.record
	w.record++
	next := w.place()
	next.Record = w.record
	l := w.law(n)
	var it source.Item
	switch {
	case refused.Reason != "":
		it = source.Refuse(at, next, refused.Reason)
	case l.number == "":
		it = source.Refuse(at, next, "the section has no number and the appendix no name")
	case w.seen[l.key()]:
		it = source.Refuse(at, next, l.number+" stands in the file more than once; the first counts")
	default:
		w.seen[l.key()] = true
		doc := l.document()
		w.pending += l.pending
		w.figures += l.figures
		it = source.Item{At: at, Next: next, ID: doc.ID}
		if err := w.follow(&it, &doc); err != nil {
			return err
		}
		it.Contribution = edition{doc}
	}
	if w.record <= w.skip {
		return nil
	}
	if !w.yield(it, nil) {
		return errStopped
	}
	return nil
}

// notes says what was left out or could not be read.
func (w *lawWalk) notes() source.Notes {
	n := source.Notes{Encoding: "UTF-8"}
	warn := func(count int, format string, args ...any) {
		if count > 0 {
			n.Warnings = append(n.Warnings, fmt.Sprintf(format, append([]any{count}, args...)...))
		}
	}
	if w.record == 0 {
		n.Warnings = append(n.Warnings, "The file holds no section and no appendix.")
	}
	warn(len(w.repair.odd), "References to undefined characters, left as they are written: %d (%s).", shortList(w.repair.names))
	warn(w.pending, "Notices of amendments that are not yet in force, left out of the text: %d.")
	warn(w.figures, "Figures and formulas that are only pictures, marked in the text: %d.")
	return n
}
