package table

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
)

// Wish is what the user has decided about a table; what is left empty is found out.
type Wish struct {
	Collection string
	ID, Title  string
	Text       []string
	Encoding   string
}

// Inference is a layout found in a table, and how it was found.
type Inference struct {
	Layout  Layout
	Kind    string // of the file: csv, tsv, json, jsonl
	Records int64
	Refused int64 // records that cannot be read
	Notes   []string
	Columns []Finding
}

// Finding is what the cells of one column say.
type Finding struct {
	Name     string
	Known    int64 // records with a value
	Blank    int64 // without, placeholders included
	Distinct int   // different values, case aside; 0 where there are too many to count
	Examples []string
	Notes    []string // full sentences about what was decided and why
}

// most is the share of a column's cells that must be of a kind for the column to be.
const most = 0.95

// Infer reads tables of one layout through, every record of them, and finds out what
// their columns hold. Nothing is written.
func Infer(ctx context.Context, wish Wish, blobs ...source.Blob) (Inference, error) {
	out := Inference{}
	in := inferring{wish: wish, index: map[string]*profile{}}
	for _, b := range blobs {
		r, err := openReading(b, wish.Encoding)
		if err != nil {
			return out, err
		}
		out.Kind = r.Kind()
		if err := in.read(ctx, r); err != nil {
			return out, err
		}
		in.notes = append(in.notes, r.Notes().Warnings...)
		if r, ok := r.(*rowReading); ok {
			in.header(r)
		}
	}
	for _, p := range in.profiles {
		p.finish()
	}
	for _, name := range append([]string{wish.ID, wish.Title}, wish.Text...) {
		if name != "" && in.index[name] == nil {
			return out, fmt.Errorf("%w: %s; there are: %s", ErrColumns, name, strings.Join(in.names(), ", "))
		}
	}
	if in.records == 0 {
		return out, fmt.Errorf("%w: there are no records", ErrFormat)
	}
	out.Records, out.Refused = in.records, in.refused
	in.decide(&out)
	out.Notes = append(in.notes, out.Notes...)
	return out, nil
}

// sampled is how many objects are looked at for the names of their members.
const sampled = 1000

// Columns returns the names of a table's columns: of its header or, where records are
// objects, of the members of the first thousand.
func Columns(ctx context.Context, blob source.Blob, encoding string) ([]string, error) {
	r, err := openReading(blob, encoding)
	if err != nil {
		return nil, err
	}
	if names := r.columns(); names != nil {
		return names, nil
	}
	names, n := map[string]bool{}, 0
	for e, err := range r.entries(ctx, source.Position{}) {
		if err != nil {
			return nil, err
		}
		for name := range e.object {
			names[name] = true
		}
		if n++; n == sampled {
			break
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// inferring is what is collected on the way.
type inferring struct {
	wish     Wish
	profiles []*profile
	index    map[string]*profile
	records  int64
	refused  int64
	notes    []string
}

func (in *inferring) names() (out []string) {
	for _, p := range in.profiles {
		out = append(out, p.name)
	}
	return out
}

func (in *inferring) profile(name string) *profile {
	p := in.index[name]
	if p == nil {
		p = newProfile(name)
		p.blank = in.records // it was in none of the records before
		in.index[name] = p
		in.profiles = append(in.profiles, p)
	}
	return p
}

func (in *inferring) read(ctx context.Context, r reading) error {
	columns := r.columns()
	profiles := make([]*profile, len(columns))
	for i, name := range columns {
		profiles[i] = in.profile(name)
	}
	for e, err := range readAhead(ctx, func(ctx context.Context) iter.Seq2[entry, error] { return r.entries(ctx, source.Position{}) }) {
		switch {
		case err != nil:
			return err
		case e.problem != "":
			in.refused++
		case e.object != nil:
			in.object(e.object)
			in.records++
		case e.row != nil && !e.empty():
			for i, p := range profiles {
				p.add(e.row[i])
			}
			in.records++
		}
	}
	return nil
}

// object adds the members of a JSON object; columns it does not have are blank.
func (in *inferring) object(object map[string][]string) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		in.profile(name)
	}
	for _, p := range in.profiles {
		values := object[p.name]
		switch len(values) {
		case 0:
			p.blank++
		case 1:
			p.add(values[0])
		default:
			p.lists++
			for _, v := range values {
				p.add(v)
			}
		}
	}
}

// header says what is odd about the header of delimited text.
func (in *inferring) header(r *rowReading) {
	for i, name := range r.Header {
		if strings.TrimSpace(name) == "" && in.index[r.names[i]].cells > 0 {
			in.notes = append(in.notes, fmt.Sprintf("Column %d has no name; it is called %q.", i+1, r.names[i]))
		}
	}
	data := 0
	for _, name := range r.Header {
		if _, ok := ParseQuantity(strings.TrimSpace(name), Point); ok {
			data++
		}
	}
	if data*2 > len(r.Header) {
		in.notes = append(in.notes, "The first line looks like a record, not like the names of columns. Put a line with names above it if it is one.")
	}
}

// decide makes the layout.
func (in *inferring) decide(out *Inference) {
	var marks markVote
	for _, p := range in.profiles {
		marks.join(p.tally.marks)
	}
	fallback := marks.mark(Point)
	l := &out.Layout
	*l = Layout{Collection: in.wish.Collection, ID: in.wish.ID, Title: in.wish.Title, Text: in.wish.Text, Encoding: in.wish.Encoding, Unknown: placeholders}
	if l.ID == "" {
		l.ID = in.identity()
	}
	if l.ID == "" {
		out.Notes = append(out.Notes, "No column names each record by a value of its own, so a record is known by what it says: records that are equal in every cell are one. Name a column with --id if there is one.")
	}
	for i, p := range in.profiles {
		f := Finding{Name: p.name, Known: p.cells, Blank: p.blank, Examples: p.examples()}
		for _, n := range p.placeholders {
			f.Blank += n
		}
		f.Distinct, _ = p.distinct()
		if p.cells == 0 {
			f.Notes = []string{"Nothing is in it; it is left out."}
			l.Columns = append(l.Columns, LayoutColumn{Column: p.name, Skip: true})
		} else {
			c, notes := p.column(in, fallback)
			taken := l.fields()
			c.Field = fieldName(p.name, i, taken)
			f.Notes = notes
			l.Columns = append(l.Columns, c)
		}
		out.Columns = append(out.Columns, f)
	}
	in.title(l)
	in.texts(l)
	l.finish()
}

func (p *profile) examples() []string {
	out := slices.SortedFunc(maps.Keys(p.finest), func(a, b string) int {
		if p.finest[a] != p.finest[b] {
			return int(p.finest[b] - p.finest[a])
		}
		return strings.Compare(a, b)
	})
	return out[:min(len(out), 3)]
}

// identity returns the column that names each record: one whose values are all
// different and look like names of records, by its header or, with none that fits,
// because it is the first. Measures and dates are none, however different they are.
func (in *inferring) identity() string {
	best, most := "", 0
	for i, p := range in.profiles {
		t := &p.tally
		if !p.unique() || t.blanks*10 > p.cells || t.lines > 0 || t.dates[0]+t.dates[1] > 0 && t.digits == 0 || t.number[0].fractions > 0 && t.codes == 0 {
			continue
		}
		score := 0
		switch {
		case idWords.last(p.name):
			score = 3
		case idWords.first(p.name), idWords.any(p.name) && t.alnum+t.digits == p.cells:
			score = 2
		case i == 0 && t.alnum+t.digits == p.cells:
			score = 1
		}
		if score > most {
			best, most = p.name, score
		}
	}
	return best
}

// title chooses the column whose cells read like headlines, if the header says so.
func (in *inferring) title(l *Layout) {
	if l.Title != "" {
		return
	}
	most := int64(0)
	for _, p := range in.profiles {
		c := l.column(p.name)
		if c.Kind != filter.Keyword.String() || c.List || p.name == l.ID || idWords.last(p.name) || !titleWords.any(p.name) || p.tally.bytes > 150*p.cells || !in.varied(p) {
			continue
		}
		score := p.cells
		if titleWords.last(p.name) && len(headerWords(p.name)) == 1 {
			score *= 2
		}
		if score > most {
			l.Title, most = p.name, score
		}
	}
}

// varied reports whether most values stand in one record only.
func (in *inferring) varied(p *profile) bool {
	n, ok := p.distinct()
	return !ok || int64(n)*2 > p.cells
}

// texts makes text of columns of prose.
func (in *inferring) texts(l *Layout) {
	if len(in.wish.Text) > 0 {
		return
	}
	for _, p := range in.profiles {
		if c := l.column(p.name); c.Kind == filter.Keyword.String() && !c.List && p.name != l.Title && p.name != l.ID && p.prose() {
			l.Text = append(l.Text, p.name)
		}
	}
}

// prose reports whether the cells are sentences rather than names.
func (p *profile) prose() bool {
	t := &p.tally
	long := t.bytes > 80*p.cells || t.words > 10*p.cells
	some := t.words > 5*p.cells || t.bytes > 40*p.cells
	named := textWords.any(p.name) && t.words > 3*p.cells
	n, counted := p.distinct()
	different := !counted || int64(n)*3 > p.cells*2
	return long || t.lines*20 > p.cells || (some || named) && different
}
