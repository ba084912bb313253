package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sextant-rag/sextant/vector"
)

// The peers, by the modules they are in.
var peers = []string{"github.com/philippgille/chromem-go", "modernc.org/sqlite", "github.com/blevesearch/bleve/v2"}

// report prints the machine and a table for each comparison, as text or as Markdown.
func report(w io.Writer, markdown bool, results []result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s, %d cores, %s, dot product %q; %s\n", runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.Version(), kernel(), versions())
	for _, r := range results {
		if len(r.lines) == 0 {
			continue
		}
		if markdown {
			fmt.Fprintf(&b, "\n**%s**; %d rounds\n\n", r.title, r.rounds)
			writeMarkdown(&b, r.table())
		} else {
			fmt.Fprintf(&b, "\n%s; %d rounds\n", r.title, r.rounds)
			writeText(&b, r.table())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table is the rows of a result, headings first. The columns of ratios are named after
// Sextant's own engines, which no bar is set for.
func (r result) table() [][]string {
	own := r.own()
	head := []string{"engine", "p50 ms", "p95 ms", "processor ms"}
	for _, name := range own {
		head = append(head, "times "+name)
	}
	rows := [][]string{append(head, "bar", "recall@10", "build s", "memory MB")}
	for i, l := range r.lines {
		row := []string{l.name, milliseconds(percentile(l.took, 50)), milliseconds(percentile(l.took, 95)), "-"}
		if work := percentile(l.work, 50); work > 0 {
			row[3] = milliseconds(work)
		}
		for _, name := range own {
			row = append(row, l.ratio(name))
		}
		memory := "-"
		if l.cost.memory > 0 {
			memory = fmt.Sprintf("%.0f", float64(l.cost.memory)/1e6)
		}
		rows = append(rows, append(row, l.verdict(r.lines[:i]), l.recalled(), fmt.Sprintf("%.1f", l.cost.build.Seconds()), memory))
	}
	return rows
}

// recalled is the mean recall, and by the published formula where that is another.
func (l line) recalled() string {
	if l.published == nil {
		return fmt.Sprintf("%.4f", l.right)
	}
	return fmt.Sprintf("%.4f (published formula: %.2f)", l.right, l.as)
}

func (r result) own() []string {
	var names []string
	for _, l := range r.lines {
		if l.name == nameVector || l.name == nameLexical || l.name == nameStore {
			names = append(names, l.name)
		}
	}
	return names
}

// ratio is how many times slower than the contender of that name, with the lowest and
// the highest of all rounds.
func (l line) ratio(name string) string {
	s, ok := l.times[name]
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.1f (%.1f to %.1f)", s.median, s.low, s.high)
}

// verdict says whether the bar was met against the first contender.
func (l line) verdict(before []line) string {
	if l.bar == 0 || len(before) == 0 {
		return "-"
	}
	word := "missed"
	if l.times[before[0].name].median >= l.bar {
		word = "met"
	}
	return fmt.Sprintf("%g: %s", l.bar, word)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3g", float64(d.Nanoseconds())/1e6)
}

func writeText(b *strings.Builder, rows [][]string) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush()
}

func writeMarkdown(b *strings.Builder, rows [][]string) {
	for i, row := range rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(b, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
}

// kernel is the dot product that package vector chose on this machine.
func kernel() string {
	m, err := vector.New(1)
	if err != nil {
		return ""
	}
	return m.Kernel()
}

// versions lists the peers as they were built in.
func versions() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "versions unknown"
	}
	var found []string
	for _, peer := range peers {
		for _, dep := range info.Deps {
			if dep.Path == peer {
				found = append(found, peer+" "+dep.Version)
			}
		}
	}
	return strings.Join(found, ", ")
}
