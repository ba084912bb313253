package extract

import (
	"context"
	"regexp"
	"strings"
)

var (
	docHeading = regexp.MustCompile(`^(={1,6})\s+(\S.*)$`)
	docItem    = regexp.MustCompile(`^\s*(\*{1,5}|-|\.{1,5}|\d+\.)\s+(\S.*)$`)
	docField   = regexp.MustCompile(`^:(!?[\w-]+!?):\s*(.*)$`)
	docBlock   = regexp.MustCompile(`^\[[^\]]*\]$`)
	docTitle   = regexp.MustCompile(`^\.[^\s.].*$`)
	docMacro   = regexp.MustCompile(`(?:link:|https?://\S*?|mailto:|xref:|image::?|include::|footnote:|<<)([^\s\[]*)\[([^\]]*)\]`)
	docStrong  = regexp.MustCompile("(^|[\\s(])([*_`#])(\\S(?:[^*_`#]*\\S)?)([*_`#])([\\s).,;:!?]|$)")
)

// readAsciiDoc reads AsciiDoc line by line: headings, lists, tables and listings.
func readAsciiDoc(ctx context.Context, in *input) (Text, error) {
	text, properties, warnings, err := in.decoded(ctx)
	if err != nil {
		return Text{}, err
	}
	a := asciidoc{w: newWriter(in), lines: strings.Split(lineBreaks.Replace(text), "\n"), properties: &properties}
	for a.at = 0; a.at < len(a.lines); a.at++ {
		if a.at%1024 == 0 && ctx.Err() != nil {
			return Text{}, ctx.Err()
		}
		a.line(a.lines[a.at])
	}
	a.flush()
	t := Text{Format: FormatAsciiDoc, Properties: properties, Warnings: warnings}
	t.Text, t.Parts, err = a.w.result()
	return t, err
}

type asciidoc struct {
	w          *writer
	lines      []string
	at         int
	prose      []string
	title      string // of the block that follows
	properties *Properties
}

func (a *asciidoc) flush() {
	if len(a.prose) > 0 {
		a.w.paragraph(asciiInline(strings.Join(a.prose, " ")))
		a.prose = nil
	}
}

func (a *asciidoc) line(line string) {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "" || trimmed == "+":
		a.flush()
	case strings.HasPrefix(line, "////"):
		a.until("////")
	case strings.HasPrefix(line, "//"):
	case strings.HasPrefix(line, "----"), strings.HasPrefix(line, "...."), strings.HasPrefix(line, "```"):
		a.flush()
		a.w.code(strings.Join(a.until(trimmed), "\n"))
	case strings.HasPrefix(trimmed, "|==="):
		a.flush()
		a.table(a.until(trimmed))
	case strings.HasPrefix(line, "====") && strings.Trim(trimmed, "=") == "", strings.HasPrefix(line, "____"), strings.HasPrefix(line, "****"), trimmed == "--", trimmed == "'''", trimmed == "<<<":
		a.flush()
	case docHeading.MatchString(line):
		a.flush()
		g := docHeading.FindStringSubmatch(line)
		a.w.heading(len(g[1]), asciiInline(g[2]))
	case docField.MatchString(line):
		if g := docField.FindStringSubmatch(line); g[1] == "author" {
			a.properties.Author = clean(g[2])
		}
	case docBlock.MatchString(trimmed):
		a.flush()
	case docItem.MatchString(line):
		a.flush()
		a.item(docItem.FindStringSubmatch(line))
	case docTitle.MatchString(line) && len(a.prose) == 0:
		a.title = asciiInline(line[1:])
	default:
		a.prose = append(a.prose, line)
	}
}

// item writes an item with the lines that go on with it.
func (a *asciidoc) item(g []string) {
	text := g[2]
	for a.at+1 < len(a.lines) {
		next := a.lines[a.at+1]
		if strings.TrimSpace(next) == "" || docItem.MatchString(next) || docHeading.MatchString(next) || strings.TrimSpace(next) == "+" || docBlock.MatchString(strings.TrimSpace(next)) || strings.HasPrefix(next, "|===") {
			break
		}
		text += " " + next
		a.at++
	}
	mark := "-"
	if g[1][0] >= '0' && g[1][0] <= '9' {
		mark = g[1]
	}
	a.w.item(len(strings.TrimRight(g[1], "0123456789"))-1, mark, asciiInline(text))
}

// until takes lines up to one that is a mark.
func (a *asciidoc) until(mark string) []string {
	from := a.at + 1
	for a.at++; a.at < len(a.lines) && strings.TrimSpace(a.lines[a.at]) != mark; a.at++ {
	}
	return a.lines[from:min(a.at, len(a.lines))]
}

// table reads cells; a line begins with a bar, and has as many cells as the first, or
// one of a row.
func (a *asciidoc) table(lines []string) {
	var rows [][]string
	width := 0
	var row []string
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		cells := strings.Split(line, "|")
		if !strings.HasPrefix(strings.TrimSpace(line), "|") {
			if len(row) > 0 {
				row[len(row)-1] += " " + asciiInline(line)
			}
			continue
		}
		for _, c := range cells[1:] {
			row = append(row, asciiInline(strings.TrimSpace(c)))
		}
		if width == 0 {
			width = len(row)
		}
		if len(row) >= width {
			rows = append(rows, row)
			row = nil
		}
	}
	if len(row) > 0 {
		rows = append(rows, row)
	}
	a.w.table(a.title, 1, rows)
	a.title = ""
}

// asciiInline takes the markup out of a run of text.
func asciiInline(s string) string {
	if !strings.ContainsAny(s, "*_`#[<") {
		return s
	}
	s = docMacro.ReplaceAllStringFunc(s, func(m string) string {
		g := docMacro.FindStringSubmatch(m)
		if text, _, _ := strings.Cut(g[2], ","); text != "" {
			return text
		}
		return g[1]
	})
	for range 2 {
		s = docStrong.ReplaceAllString(s, "$1$3$5")
	}
	return s
}
