package extract

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// readMarkdown reads Markdown (CommonMark with tables, footnotes and front matter) line
// by line. A parser of the whole grammar has input that takes it quadratic time; here
// every line is looked at once, and markup that is not understood stays as it is.
func readMarkdown(ctx context.Context, in *input) (Text, error) {
	text, properties, warnings, err := in.decoded(ctx)
	if err != nil {
		return Text{}, err
	}
	w := newWriter(in)
	m := markdown{w: w, lines: strings.Split(lineBreaks.Replace(text), "\n"), properties: &properties}
	if err := m.read(ctx); err != nil {
		return Text{}, err
	}
	t := Text{Format: FormatMarkdown, Title: m.title, Properties: properties, Warnings: warnings}
	t.Text, t.Parts, err = w.result()
	return t, err
}

// markdown walks over the lines of a text.
type markdown struct {
	w          *writer
	lines      []string
	at         int
	prose      []string // lines of the paragraph at hand
	item       *item    // the list item at hand, nil in none
	title      string
	properties *Properties
}

// item is a list item whose lines are being collected.
type item struct {
	depth   int
	indent  int // columns that its text is indented by
	mark    string
	lines   []string
	indents []int // of the items around it
}

var (
	atxHeading   = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	setextRule   = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	thematic     = regexp.MustCompile(`^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	fenceStart   = regexp.MustCompile("^[ \t]*(```+|~~~+)[ \t]*([^`]*)$")
	listItem     = regexp.MustCompile(`^([ \t]*)([-*+•]|\d{1,9}[.)])(?:[ \t]+(.*)|)$`)
	tableRule    = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
	referenceDef = regexp.MustCompile(`^ {0,3}\[[^\]^][^\]]*\]:[ \t]*\S+([ \t]+["'(].*)?$`)
	footnoteDef  = regexp.MustCompile(`^ {0,3}\[\^([^\]]+)\]:[ \t]*(.*)$`)
	pageHeading  = regexp.MustCompile(`(?i)^(?:page|p\.)\s+(\d+|[ivxlc]+)$`)
	quoteMarks   = regexp.MustCompile(`^( {0,3}>[ \t]?)+`)
	checkbox     = regexp.MustCompile(`^\[([ xX])\][ \t]+`)
)

func (m *markdown) read(ctx context.Context) error {
	m.frontMatter()
	for m.at < len(m.lines) {
		if m.at%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !m.block() {
			m.prose = append(m.prose, m.lines[m.at])
			m.at++
		}
	}
	m.flush()
	return nil
}

// flush writes the paragraph or item at hand.
func (m *markdown) flush() {
	text := hardBreaks(m.prose)
	m.prose = nil
	if strings.TrimSpace(text) == "" {
		return
	}
	m.w.lines(inlineMarkdown(text))
}

func (m *markdown) flushItem() {
	if it := m.item; it != nil {
		text, mark := hardBreaks(it.lines), it.mark
		if box := checkbox.FindString(text); box != "" {
			mark += " " + strings.TrimSpace(box)
			text = text[len(box):]
		}
		it.lines = nil
		if strings.TrimSpace(text) != "" {
			m.w.item(it.depth, mark, inlineMarkdown(text))
			it.mark = ""
		}
	}
}

func (m *markdown) leaveItem() {
	m.flushItem()
	m.item = nil
}

// hardBreaks joins the lines of a paragraph with blanks, but keeps the breaks that two
// blanks or a backslash at the end ask for.
func hardBreaks(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if i == len(lines)-1 {
			b.WriteString(trimmed)
			break
		}
		switch {
		case strings.HasSuffix(trimmed, `\`):
			b.WriteString(trimmed[:len(trimmed)-1] + "\n")
		case strings.HasSuffix(line, "  "):
			b.WriteString(trimmed + "\n")
		default:
			b.WriteString(trimmed + " ")
		}
	}
	return b.String()
}

// block handles a line that is more than text, and reports whether it was one.
func (m *markdown) block() bool {
	line := m.lines[m.at]
	if strings.TrimSpace(line) == "" {
		m.blank()
		return true
	}
	if m.item != nil && m.insideItem(line) {
		return true
	}
	return m.heading(line) || m.fence(line) || m.table() || m.rule(line) || m.list(line) ||
		m.footnote(line) || m.quote(line) || m.indented(line) || m.comment(line) || m.definition(line)
}

// blank ends a paragraph; an item goes on if what follows is indented under it.
func (m *markdown) blank() {
	m.flush()
	m.flushItem()
	m.at++
	for m.at < len(m.lines) && strings.TrimSpace(m.lines[m.at]) == "" {
		m.at++
	}
	if m.item != nil && m.at < len(m.lines) {
		next := m.lines[m.at]
		if indentOf(next) < m.item.indent && !listItem.MatchString(next) {
			m.leaveItem()
		}
	}
}

// insideItem takes a line that goes on with the item at hand.
func (m *markdown) insideItem(line string) bool {
	switch {
	case listItem.MatchString(line) && !thematic.MatchString(line):
		return false
	case fenceStart.MatchString(line):
		m.flushItem()
		return m.fence(line)
	case indentOf(line) < m.item.indent && (atxHeading.MatchString(line) || thematic.MatchString(line) || quoteMarks.MatchString(line)):
		m.leaveItem()
		return false
	case m.isTable():
		m.flushItem()
		return m.table()
	}
	m.item.lines = append(m.item.lines, line)
	m.at++
	return true
}

// indentOf counts the columns a line is indented by.
func indentOf(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

func (m *markdown) heading(line string) bool {
	if g := atxHeading.FindStringSubmatch(line); g != nil {
		m.leaveItem()
		m.flush()
		m.at++
		m.enter(len(g[1]), g[2])
		return true
	}
	if g := setextRule.FindStringSubmatch(line); g != nil && len(m.prose) > 0 && len(m.prose) <= 3 {
		level := 1
		if g[1][0] == '-' {
			level = 2
		}
		text := strings.Join(m.prose, " ")
		m.prose = nil
		m.at++
		m.enter(level, text)
		return true
	}
	return false
}

// enter begins a section, or a page where headings are the numbers of pages.
func (m *markdown) enter(level int, text string) {
	text = inlineMarkdown(text)
	if g := pageHeading.FindStringSubmatch(clean(text)); g != nil {
		m.w.endAll()
		m.w.begin(KindPage, "p. "+g[1])
		m.properties.Pages++
		return
	}
	m.w.heading(level, text)
}

// fence takes a block of code, to the end of the text if it is not closed.
func (m *markdown) fence(line string) bool {
	g := fenceStart.FindStringSubmatch(line)
	if g == nil {
		return false
	}
	m.flush()
	indent := indentOf(line)
	var body []string
	for m.at++; m.at < len(m.lines); m.at++ {
		l := strings.TrimSpace(m.lines[m.at])
		if strings.HasPrefix(l, g[1]) && strings.Trim(l, g[1][:1]) == "" {
			m.at++
			break
		}
		body = append(body, unindent(m.lines[m.at], indent))
	}
	m.w.code(strings.Join(body, "\n"))
	return true
}

// unindent removes up to n blanks at the start of a line.
func unindent(line string, n int) string {
	for n > 0 && strings.HasPrefix(line, " ") {
		line, n = line[1:], n-1
	}
	return line
}

func (m *markdown) isTable() bool {
	if m.at+1 >= len(m.lines) {
		return false
	}
	head, rule := m.lines[m.at], m.lines[m.at+1]
	return strings.Contains(head, "|") && strings.Contains(rule, "-") && len(rule) < 4096 && tableRule.MatchString(rule) &&
		(strings.Contains(rule, "|") || strings.HasPrefix(strings.TrimSpace(head), "|"))
}

// table takes a table of pipes. Rows before its rule name the columns: one by the
// grammar, more if the lines before it have as many cells.
func (m *markdown) table() bool {
	if !m.isTable() {
		return false
	}
	rows := [][]string{}
	width := len(tableCells(m.lines[m.at]))
	for len(m.prose) > 0 && strings.Contains(m.prose[len(m.prose)-1], "|") && len(tableCells(m.prose[len(m.prose)-1])) == width {
		rows = append([][]string{tableCells(m.prose[len(m.prose)-1])}, rows...)
		m.prose = m.prose[:len(m.prose)-1]
	}
	m.flush()
	rows = append(rows, tableCells(m.lines[m.at]))
	header := len(rows)
	for m.at += 2; m.at < len(m.lines) && strings.Contains(m.lines[m.at], "|"); m.at++ {
		if !tableRule.MatchString(m.lines[m.at]) {
			rows = append(rows, tableCells(m.lines[m.at]))
		}
	}
	m.w.table("", header, rows)
	return true
}

// tableCells cuts a row at its bars; an escaped bar is text.
func tableCells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	var cells []string
	start, tick := 0, false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '`':
			tick = !tick
		case '|':
			if !tick || strings.IndexByte(line[i:], '`') < 0 {
				cells = append(cells, line[start:i])
				start = i + 1
			}
		}
	}
	cells = append(cells, line[start:])
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(inlineMarkdown(strings.TrimSpace(c)), "\n", " ")
	}
	return cells
}

func (m *markdown) rule(line string) bool {
	if !thematic.MatchString(line) {
		return false
	}
	m.flush()
	m.leaveItem()
	m.at++
	return true
}

// list begins an item. Its depth is the number of items it is indented under.
func (m *markdown) list(line string) bool {
	g := listItem.FindStringSubmatch(line)
	if g == nil || len(m.prose) > 0 && (g[3] == "" || unicode.IsDigit(rune(g[2][0])) && g[2] != "1." && g[2] != "1)") {
		return false
	}
	indent := indentOf(line)
	if m.item == nil && indent >= 4 && len(m.prose) == 0 && !m.afterList() {
		return false
	}
	m.flush()
	m.flushItem()
	next := &item{indent: indent + len(g[2]) + 1, mark: strings.TrimRight(g[2], " ")}
	if m.item != nil {
		next.indents = m.item.indents
		if indent >= m.item.indent {
			next.indents = append(next.indents[:len(next.indents):len(next.indents)], m.item.indent)
		}
		for len(next.indents) > 0 && indent < next.indents[len(next.indents)-1] {
			next.indents = next.indents[:len(next.indents)-1]
		}
	}
	next.depth = len(next.indents)
	if strings.ContainsAny(next.mark, "-*+•") {
		next.mark = "-"
	}
	next.lines = []string{g[3]}
	m.item = next
	m.at++
	return true
}

// afterList reports whether the block before was an item: a deeper one may follow it.
func (m *markdown) afterList() bool { return m.w.last == blockItem }

func (m *markdown) footnote(line string) bool {
	g := footnoteDef.FindStringSubmatch(line)
	if g == nil {
		return false
	}
	m.flush()
	m.leaveItem()
	text := []string{g[2]}
	for m.at++; m.at < len(m.lines) && (strings.HasPrefix(m.lines[m.at], "    ") || strings.HasPrefix(m.lines[m.at], "\t")); m.at++ {
		text = append(text, m.lines[m.at])
	}
	m.w.note("note "+g[1], "["+g[1]+"] "+inlineMarkdown(hardBreaks(text)))
	return true
}

// quote takes the marks of a quotation off its lines, which then are read as any other.
func (m *markdown) quote(line string) bool {
	if !strings.HasPrefix(strings.TrimLeft(line, " "), ">") {
		return false
	}
	m.leaveItem()
	for i := m.at; i < len(m.lines) && strings.HasPrefix(strings.TrimLeft(m.lines[i], " "), ">"); i++ {
		mark := quoteMarks.FindString(m.lines[i])
		if mark == "" {
			break
		}
		m.lines[i] = m.lines[i][len(mark):]
	}
	return m.lines[m.at] != line
}

// indented takes a block of code that is told by its indent.
func (m *markdown) indented(line string) bool {
	if len(m.prose) > 0 || m.item != nil || indentOf(line) < 4 {
		return false
	}
	var body []string
	for ; m.at < len(m.lines) && (indentOf(m.lines[m.at]) >= 4 || strings.TrimSpace(m.lines[m.at]) == ""); m.at++ {
		body = append(body, unindent(strings.Replace(m.lines[m.at], "\t", "    ", 1), 4))
	}
	m.w.code(strings.Join(body, "\n"))
	return true
}

// comment skips a comment of HTML.
func (m *markdown) comment(line string) bool {
	if !strings.HasPrefix(strings.TrimSpace(line), "<!--") {
		return false
	}
	for i := m.at; i < len(m.lines) && i < m.at+2000; i++ {
		if _, rest, ok := strings.Cut(m.lines[i], "-->"); ok {
			m.at = i
			m.lines[i] = rest
			return true
		}
	}
	return false
}

// definition skips the address of a link, which stands apart from its text.
func (m *markdown) definition(line string) bool {
	if len(m.prose) > 0 || !referenceDef.MatchString(line) {
		return false
	}
	m.at++
	return true
}

// frontMatter takes the block of fields some tools write before a text.
func (m *markdown) frontMatter() {
	if len(m.lines) == 0 || strings.TrimRight(m.lines[0], " ") != "---" {
		return
	}
	end := 0
	for i := 1; i < len(m.lines) && i < 200; i++ {
		if l := strings.TrimRight(m.lines[i], " "); l == "---" || l == "..." {
			end = i
			break
		}
	}
	if end == 0 {
		return
	}
	for _, line := range m.lines[1:end] {
		m.field(line)
	}
	m.w.note("front matter", strings.Join(m.lines[1:end], "\n"))
	m.at = end + 1
}

// field takes what is of use from a line of front matter.
func (m *markdown) field(line string) {
	key, value, ok := strings.Cut(line, ":")
	value = strings.Trim(strings.TrimSpace(value), `"'`)
	if !ok || value == "" {
		return
	}
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "title":
		m.title = shorten(clean(value), 200)
	case "author":
		m.properties.Author = clean(value)
	case "description", "subject":
		m.properties.Subject = clean(value)
	case "lang", "language":
		m.properties.Language = clean(value)
	case "keywords", "tags":
		m.properties.Keywords = clean(strings.Trim(value, "[]"))
	case "date", "created":
		m.properties.Created = parseTime(value)
	}
}

// parseTime reads the times that files carry; zero if it is none of them.
func parseTime(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339Nano, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1900 && t.Year() < 2200 {
			return t.UTC()
		}
	}
	return time.Time{}
}

// number reads a small decimal number, def if it is none.
func number(s string, def int) int {
	if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
		return n
	}
	return def
}
