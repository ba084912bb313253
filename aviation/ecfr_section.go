package aviation

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// law is a section, an appendix or a special regulation with what it stands in.
type law struct {
	node     *node
	number   string // "135.89", "135.249-135.255", "Appendix A to Part 135"
	part     string // "135"
	appendix bool
	path     []division
	issued   time.Time
	uri      string
	pending  int
	figures  int
}

func (w *lawWalk) law(n *node) *law {
	l := &law{node: n, path: slices.Clone(w.path), issued: w.issued, uri: w.name, appendix: n.name == "DIV9" || n.attrs["TYPE"] == "APPENDIX"}
	if l.issued.IsZero() {
		l.issued = w.amended
	}
	l.number = strings.Join(strings.Fields(strings.Trim(clean(n.attrs["N"]), "§ \u00a0")), " ")
	if len(l.number) > 200 {
		l.number = ""
	}
	l.part = l.findPart()
	return l
}

var (
	wholeNumber = regexp.MustCompile(`\d+`)
	numberPart  = regexp.MustCompile(`^(\d+)\.`)
	partNamed   = regexp.MustCompile(`(?i)\bpart (\d+)\b`)
)

// findPart is the part around it, or else the one its own number names.
func (l *law) findPart() string {
	if d := l.division(5); d != nil {
		if m := wholeNumber.FindString(d.number); m != "" {
			return m
		}
	}
	for _, named := range []*regexp.Regexp{numberPart, partNamed} {
		if m := named.FindStringSubmatch(l.number); m != nil {
			return m[1]
		}
	}
	return ""
}

func (l *law) division(level int) *division {
	for i := range l.path {
		if l.path[i].level == level {
			return &l.path[i]
		}
	}
	return nil
}

// key tells the sections of the title apart. The same special regulation can stand in
// several parts, with its text in one and a pointer to it in the others.
func (l *law) key() string {
	name := strings.NewReplacer(" ", "-", "#", "-", "@", "-", ":", "-").Replace(l.number)
	m := partNamed.FindStringSubmatch(l.number)
	if l.appendix && l.part != "" && (m == nil || m[1] != l.part) {
		name = "part-" + l.part + "/" + name
	}
	return name
}

// id is "ecfr:14/<section or appendix>@<issue date>", without a date if none is known.
func (l *law) id() sextant.DocumentID {
	id := "ecfr:14/" + l.key()
	if !l.issued.IsZero() {
		id += "@" + l.issued.Format(time.DateOnly)
	}
	return sextant.DocumentID(id)
}

func (l *law) document() sextant.Document {
	doc := sextant.Document{ID: l.id(), Collection: "regulations", Valid: sextant.Period{From: l.issued}}
	doc.Source = sextant.Source{Name: "ecfr", Kind: "ecfr", URI: l.uri, Authority: 100}
	head := l.head()
	doc.Title = "14 CFR " + head
	t := &lawText{defines: definition.MatchString(head)}
	t.line(line{text: head}, partHeading, "")
	t.write(l.node)
	if strings.Contains(head, "[Reserved]") && len(t.parts) == 1 {
		t.line(line{text: reservedText}, partParagraph, "")
	}
	if d := l.sourceDivision(); d != nil {
		t.closing = append(t.closing, d.source)
	}
	t.close()
	l.pending, l.figures = t.pending, t.figures
	doc.Text, doc.Parts = strings.TrimSuffix(t.b.String(), "\n"), t.parts
	doc.Meta = filter.Meta{Fields: l.fields(head, doc.Text, strings.Join(t.closing, "\n"))}
	setKeywords(doc.Meta.Fields, "defines", union(t.terms, nil))
	return doc
}

// head is the heading with its number, which some appendices leave out.
func (l *law) head() string {
	head := l.node.child("HEAD").plain()
	switch {
	case head == "" && l.appendix:
		return l.number
	case head == "":
		return "§ " + l.number
	}
	return head
}

// sourceDivision is the innermost division that says where the text comes from of a
// section in force that does not say so itself. Appendices came later than their part
// and say it themselves.
func (l *law) sourceDivision() *division {
	if l.appendix || l.node.child("CITA") != nil || strings.Contains(l.head(), "[Reserved]") {
		return nil
	}
	for i := len(l.path) - 1; i >= 0; i-- {
		if l.path[i].source != "" {
			return &l.path[i]
		}
	}
	return nil
}

func (l *law) fields(head, text, notes string) filter.Fields {
	f := filter.Fields{}
	set := func(name, value string) {
		if value != "" {
			f.Set(name, filter.OfString(value))
		}
	}
	set("provision", l.key())
	set("cfr_part", l.part)
	if !l.appendix {
		set("cfr_section", l.number)
	}
	set("title", l.heading(head))
	if d := l.division(5); d != nil {
		set("part_title", afterDash(d.head))
	}
	if d := l.division(6); d != nil {
		set("subpart", d.number)
		set("subpart_title", afterDash(d.head))
	}
	if !l.issued.IsZero() {
		f.Set("valid_from", filter.OfTime(l.issued))
	}
	if dates := writtenDates(notes); len(dates) > 0 {
		f.Set("amended", filter.OfTime(slices.MaxFunc(dates, time.Time.Compare)))
	}
	own := ""
	if !l.appendix {
		own = l.number
	}
	_, body, _ := strings.Cut(text, "\n")
	if refers := sectionsNamed(body, own); len(refers) > 0 {
		setKeywords(f, "refers_to", refers)
	}
	return f
}

var headNumber = regexp.MustCompile(`^§+\s*[\d.a-z]+(?:\s*[-–]\s*[\d.a-z]+)?\s*`)

// heading is the heading without its number and full stop.
func (l *law) heading(head string) string {
	if l.appendix {
		return head
	}
	return strings.TrimSuffix(headNumber.ReplaceAllString(head, ""), ".")
}

// afterDash is "General" of "Subpart A—General".
func afterDash(head string) string {
	if _, title, ok := strings.Cut(head, "—"); ok {
		return strings.TrimSpace(title)
	}
	return head
}

var writtenDate = regexp.MustCompile(`\b(Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.? (\d{1,2}), (\d{4})\b`)

// writtenDates returns the dates of a note, written as "Oct. 10, 1978".
func writtenDates(s string) []time.Time {
	var out []time.Time
	for _, m := range writtenDate.FindAllStringSubmatch(s, -1) {
		if day, err := time.Parse("Jan 2 2006", m[1][:3]+" "+m[2]+" "+m[3]); err == nil {
			out = append(out, day)
		}
	}
	return out
}

const sectionNumber = `\d{1,4}\.\d{1,5}[a-z]?`

var (
	sectionList = regexp.MustCompile(`(?:§§? ?|\bCFR )(` + sectionNumber + `(?:(?:\([A-Za-z0-9]+\))*(?:, and |, or |, | and | or | through | to |-)(?:§§? ?)?` + sectionNumber + `)*)`)
	oneSection  = regexp.MustCompile(sectionNumber)
)

// sectionsNamed returns the sections of 14 CFR that a text refers to, sorted: what
// stands after a § or after "14 CFR", but not the section itself and no other title.
func sectionsNamed(text, own string) []string {
	var out []string
	for _, m := range sectionList.FindAllStringSubmatchIndex(text, -1) {
		before := text[max(m[2]-14, 0):m[2]]
		if title := titleBefore.FindStringSubmatch(before); title != nil && title[1] != "14" {
			continue
		}
		for _, s := range oneSection.FindAllString(text[m[2]:m[3]], -1) {
			if s != own {
				out = append(out, s)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var titleBefore = regexp.MustCompile(`(\d+) CFR (?:§§? ?)?$`)
