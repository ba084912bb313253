package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
)

// maxRefused is how many refused records of a file people are shown.
const maxRefused = 10

// writeReceipt shows what became of every record: one row a file, whose outcomes add up
// to what was read.
func writeReceipt(p *page, r *sextant.Receipt) {
	var outcomes []sextant.Outcome
	for _, o := range []sextant.Outcome{sextant.Stored, sextant.Merged, sextant.Unchanged, sextant.Skipped, sextant.Refused} {
		if r.Records[o] > 0 || o == sextant.Refused {
			outcomes = append(outcomes, o)
		}
	}
	t := table{head: []string{"file", "kind", "records"}, right: []bool{false, false, true}}
	for _, o := range outcomes {
		t.head, t.right = append(t.head, string(o)), append(t.right, true)
	}
	for i := range r.Files {
		f := &r.Files[i]
		t.rows = append(t.rows, receiptRow(f.Name, f.Kind, f.Read, f.Records, outcomes))
	}
	if len(r.Files) > 1 {
		t.rows = append(t.rows, receiptRow("all", "", r.Read, r.Records, outcomes))
	}
	p.table(t)
	d := r.Documents
	line := fmt.Sprintf("%s documents added, %s changed, %s unchanged in %s", humanize.Comma(d.Added), humanize.Comma(d.Changed), humanize.Comma(d.Unchanged), r.Collection)
	if took := r.Finished.Sub(r.Started); !r.Finished.IsZero() {
		line += fmt.Sprintf(", in %s", took.Round(10*time.Millisecond))
	}
	p.text("  ", line+".")
	for _, w := range r.Warnings {
		p.text("  ! ", w)
	}
	for i := range r.Files {
		writeFileNotes(p, &r.Files[i])
	}
}

func receiptRow(name, kind string, read int64, records map[sextant.Outcome]int64, outcomes []sextant.Outcome) []string {
	row := []string{name, kind, humanize.Comma(read)}
	for _, o := range outcomes {
		row = append(row, humanize.Comma(records[o]))
	}
	return row
}

// writeFileNotes shows what a reader of the file should know, and what was refused.
func writeFileNotes(p *page, f *sextant.FileReceipt) {
	if f.Encoding != "" && !strings.EqualFold(f.Encoding, "UTF-8") {
		p.note("  ", f.Name+": read as "+f.Encoding)
	}
	for _, w := range f.Warnings {
		p.text("  ! ", f.Name+": "+w)
	}
	for _, r := range f.Refused[:min(len(f.Refused), maxRefused)] {
		where := f.Name
		if r.Line > 0 {
			where += fmt.Sprintf(", line %d", r.Line)
		}
		if r.Record != "" {
			where += " (" + r.Record + ")"
		}
		if r.Line == 0 && r.Record != "" {
			where = r.Record // a file of a folder
		}
		p.text("  refused ", where+": "+r.Reason)
	}
	if more := f.Records[sextant.Refused] - maxRefused; more > 0 {
		p.note("  ", fmt.Sprintf("and %s more refused: --json names the first 100", humanize.Comma(more)))
	}
}

func writeVerifications(p *page, v verifications) {
	t := table{head: []string{"collection", "documents", "intact", "missing", "changed", "extra"}, right: []bool{false, true, true, true, true, true}}
	for _, c := range v.Collections {
		count := func(n int) string { return humanize.Comma(int64(n)) }
		t.rows = append(t.rows, []string{c.Collection, humanize.Comma(c.Documents), humanize.Comma(c.Intact), count(len(c.Missing)), count(len(c.Changed)), count(len(c.Extra))})
	}
	p.table(t)
	writeDamage(p, v)
	if v.sound() {
		p.text("  ", "Everything is as ingestion left it.")
		return
	}
	p.text("  ", "What is missing or changed comes back when its files are ingested again.")
}

// writeDamage names what a store found that is not whole, at most a dozen of each.
func writeDamage(p *page, v verifications) {
	for _, c := range v.Collections {
		for i, id := range slices.Sorted(maps.Keys(c.Damaged)) {
			if i == 12 {
				p.text("  ", fmt.Sprintf("%s: and %s more.", c.Collection, humanize.Comma(int64(len(c.Damaged)-12))))
				break
			}
			p.text("  ", fmt.Sprintf("%s: %s: %s.", c.Collection, id, c.Damaged[id]))
		}
		if c.Lost > 0 {
			p.text("  ", fmt.Sprintf("%s: nothing is left of %s documents.", c.Collection, humanize.Comma(c.Lost)))
		}
		if len(c.Damaged) > 0 || c.Lost > 0 {
			p.text("  ", "Nothing is answered from "+c.Collection+" before `sextant verify --repair` has let go of these.")
		}
	}
}
