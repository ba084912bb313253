package chunk

import (
	"slices"
	"strings"
)

// headingPath is the headings above a place, outermost first.
type headingPath struct {
	levels []int
	names  []string
}

func (p *headingPath) enter(level int, text string) {
	for len(p.levels) > 0 && p.levels[len(p.levels)-1] >= level {
		p.levels, p.names = p.levels[:len(p.levels)-1], p.names[:len(p.names)-1]
	}
	p.levels, p.names = append(p.levels, level), append(p.names, oneLine(text))
}

func (p *headingPath) texts() []string { return slices.Clone(p.names) }

// oneLine writes a heading or a table's header in one short line.
func oneLine(text string) string {
	text = strings.Trim(strings.Join(strings.Fields(text), " "), "# ")
	if r := []rune(text[:min(len(text), 1000)]); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return text
}

// heading joins a path. It takes at most half of a chunk: the outermost names go first,
// and what is left is cut between words.
func (o *Options) heading(path []string) string {
	room := o.Tokens / 2
	for len(path) > 1 && !o.fits(strings.Join(path, separator), room) {
		path = path[1:]
	}
	text := strings.Join(path, separator)
	if text == "" || o.fits(text, room) {
		return text
	}
	if text = strings.TrimSpace(text[:o.cut(text, room)]); o.fits(text, room) {
		return text
	}
	return ""
}

const separator = " > "

// budget is what a heading leaves of a chunk.
func (o *Options) budget(heading string) int {
	if heading == "" {
		return o.Tokens
	}
	return max(o.Tokens-o.size(heading), 1)
}
