package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
)

// collectionsCommand lists what is held and what could be.
type collectionsCommand struct {
	jsonFlag
}

// Run lists.
func (c *collectionsCommand) Run(ctx context.Context, s *session) error {
	r, done, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer done()
	list, err := r.Collections(ctx)
	if err != nil {
		return err
	}
	return s.print(list, func(p *page) { writeCollections(p, list.value.Collections) })
}

func writeCollections(p *page, list []sextant.CollectionInfo) {
	t := table{head: []string{"collection", "what it is", "held", "period", "on disk"}, right: []bool{false, false, true, false, true}}
	var empty []sextant.CollectionInfo
	for _, c := range list {
		if c.StoredAs != "" { // a server says neither what it takes on disk nor in memory
			t.head[4] = "stored as"
		}
		if c.Documents == 0 {
			empty = append(empty, c)
			continue
		}
		period := ""
		if c.Coverage != nil {
			period = c.Coverage.From + " to " + c.Coverage.To
		}
		t.rows = append(t.rows, []string{c.Name, c.Title, humanize.Comma(c.Documents) + " " + c.Unit, period, keptAs(c)})
	}
	if len(t.rows) > 0 {
		p.table(t)
	} else {
		p.text("", "Nothing indexed yet.")
	}
	for i, c := range empty {
		if i == 0 {
			p.heading("Not held")
		}
		p.text("  - ", fmt.Sprintf("%s (%s). To fill it: %s", c.Name, c.Title, c.Fill))
	}
}

func keptAs(c sextant.CollectionInfo) string {
	if c.StoredAs != "" {
		return fmt.Sprintf("%s, %s points", c.StoredAs, humanize.Comma(c.Points))
	}
	return humanize.IBytes(uint64(max(c.Disk, 0)))
}

// describeCommand shows what can be asked of a collection.
type describeCommand struct {
	jsonFlag
	Collection string `arg:"" help:"Name of the collection."`
}

// Run describes.
func (c *describeCommand) Run(ctx context.Context, s *session) error {
	r, done, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer done()
	d, err := r.Describe(ctx, c.Collection)
	if err != nil {
		return err
	}
	return s.print(d, func(p *page) { writeDescription(p, &d.value) })
}

// maxValues is how many of a facet's values people are shown.
const maxValues = 12

func writeDescription(p *page, d *sextant.Description) {
	p.heading(d.Name + ": " + d.Title)
	counts := []string{humanize.Comma(d.Documents) + " " + d.Unit}
	for _, g := range d.Groups {
		counts = append(counts, humanize.Comma(g.Count)+" "+g.Label)
	}
	if d.Coverage != nil {
		counts = append(counts, fmt.Sprintf("%s from %s to %s", d.Coverage.Field, d.Coverage.From, d.Coverage.To))
	}
	if len(d.Files) > 0 {
		counts = append(counts, "from "+strings.Join(d.Files, ", "))
	}
	p.text("", strings.Join(counts, "; "))
	if d.Documents == 0 {
		p.text("", "To fill it: "+d.Fill)
	}
	p.heading("Fields")
	for i := range d.Fields {
		writeField(p, &d.Fields[i])
	}
	for i, w := range d.Words {
		if i == 0 {
			p.heading("What people say")
		}
		p.text("  - ", w)
	}
	for i, q := range d.Examples {
		if i == 0 {
			p.heading("Questions to begin with")
		}
		p.text("  - ", q)
	}
}

func writeField(p *page, f *sextant.FieldInfo) {
	kind := f.Kind.String()
	if f.Group != "" {
		kind += " of " + f.Group
	}
	p.text("  ", fmt.Sprintf("%s (%s): %s", f.Name, kind, f.Description))
	var facts []string
	if f.Known+f.Unknown > 0 {
		facts = append(facts, fmt.Sprintf("recorded in %s, not in %s", humanize.Comma(f.Known), humanize.Comma(f.Unknown)))
	}
	if f.Min != nil && f.Max != nil {
		facts = append(facts, valueText(f.Min)+" to "+valueText(f.Max))
	}
	if f.Distinct > 0 {
		facts = append(facts, humanize.Comma(f.Distinct)+" values")
	}
	if len(facts) > 0 {
		p.note("    ", strings.Join(facts, "; "))
	}
	var values []string
	for _, pair := range f.Values[:min(len(f.Values), maxValues)] {
		values = append(values, pairText(pair))
	}
	if more := len(f.Values) - maxValues; more > 0 {
		values = append(values, "…")
	}
	if len(values) > 0 {
		p.note("    ", strings.Join(values, ", "))
	}
}
