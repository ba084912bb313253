package extract

import (
	"fmt"
	"regexp"
	"strings"
)

// docxStyle is what a style of paragraphs says about structure.
type docxStyle struct {
	name    string
	based   string
	outline int // 1 to 9; 0 is none
	num     numbering
}

// numbering places a paragraph in a list.
type numbering struct {
	id    string
	level int
	set   bool
}

// docxList is a definition of a list: its levels, and where counting stands.
type docxList struct {
	levels [9]docxLevel
	counts [9]int
}

type docxLevel struct {
	format string
	text   string // "%1.%2."
	start  int
}

// docxStyles holds the styles and lists of a document.
type docxStyles struct {
	styles map[string]docxStyle
	lists  map[string]*docxList // by the id that paragraphs use
}

var headingName = regexp.MustCompile(`(?i)^(?:heading|überschrift|titre|título|titolo|заголовок|標題|标题|見出し)\s*(\d)$`)

func (o *office) styles(name string) (map[string]docxStyle, error) {
	out := map[string]docxStyle{}
	var id string
	var at docxStyle
	err := o.walk(name, func(_ *xmlReader, t xmlToken) error {
		switch t.name {
		case "style":
			id = t.attr("styleId")
			at = docxStyle{}
			if len(out) > 20000 {
				return nil
			}
		case "name":
			at.name = t.attr("val")
			if g := headingName.FindStringSubmatch(at.name); g != nil {
				at.outline = number(g[1], 0)
			}
		case "basedOn":
			at.based = t.attr("val")
		case "outlineLvl":
			at.outline = number(t.attr("val"), 9) + 1
		case "numId":
			at.num.id, at.num.set = t.attr("val"), true
		case "ilvl":
			at.num.level = number(t.attr("val"), 0)
		default:
			return nil
		}
		if id != "" {
			out[id] = at
		}
		return nil
	})
	return out, err
}

// resolve follows the styles a style is based on.
func (s *docxStyles) resolve(id string) docxStyle {
	out := s.styles[id]
	for based, n := out.based, 0; based != "" && n < 20; n++ {
		b := s.styles[based]
		if out.outline == 0 {
			out.outline = b.outline
		}
		if !out.num.set {
			out.num = b.num
		}
		based = b.based
	}
	return out
}

func (o *office) numberings(name string) (map[string]*docxList, error) {
	abstract := map[string]*docxList{}
	out := map[string]*docxList{}
	var list *docxList
	var id string
	level := 0
	err := o.walk(name, func(_ *xmlReader, t xmlToken) error {
		switch t.name {
		case "abstractNum":
			list = &docxList{}
			abstract[t.attr("abstractNumId")] = list
		case "num":
			id, list = t.attr("numId"), nil
		case "abstractNumId":
			if a := abstract[t.attr("val")]; a != nil && len(out) < 20000 {
				out[id] = a
			}
		case "lvl", "lvlOverride":
			level = min(max(number(t.attr("ilvl"), 0), 0), 8)
		case "startOverride": // the list counts anew: a copy of its definition
			if a := out[id]; a != nil {
				c := *a
				c.levels[level].start = number(t.attr("val"), 1)
				c.counts = [9]int{}
				out[id] = &c
			}
		}
		if list != nil {
			l := &list.levels[level]
			switch t.name {
			case "start":
				l.start = number(t.attr("val"), 1)
			case "numFmt":
				l.format = t.attr("val")
			case "lvlText":
				l.text = t.attr("val")
			}
		}
		return nil
	})
	return out, err
}

// mark counts a paragraph in its list and returns what stands before it.
func (s *docxStyles) mark(n numbering) string {
	list := s.lists[n.id]
	if list == nil {
		return "-"
	}
	level := min(max(n.level, 0), 8)
	l := list.levels[level]
	if list.counts[level] == 0 && l.start > 0 {
		list.counts[level] = l.start
	} else {
		list.counts[level]++
	}
	for i := level + 1; i < 9; i++ {
		list.counts[i] = 0
	}
	if l.format == "bullet" || l.format == "" {
		return "-"
	}
	text := l.text
	for i := range level + 1 {
		count := list.counts[i]
		if count == 0 {
			count = max(list.levels[i].start, 1)
		}
		text = strings.ReplaceAll(text, fmt.Sprintf("%%%d", i+1), countText(list.levels[i].format, count))
	}
	return clean(text)
}

// countText writes a number as a list's format does.
func countText(format string, n int) string {
	switch format {
	case "lowerLetter", "upperLetter":
		if n < 1 {
			return ""
		}
		s := strings.Repeat(string(rune('a'+(n-1)%26)), min((n-1)/26+1, 5))
		if format == "upperLetter" {
			s = strings.ToUpper(s)
		}
		return s
	case "lowerRoman":
		return roman(n)
	case "upperRoman":
		return strings.ToUpper(roman(n))
	case "decimalZero":
		return fmt.Sprintf("%02d", n)
	case "none":
		return ""
	}
	return fmt.Sprint(n)
}
