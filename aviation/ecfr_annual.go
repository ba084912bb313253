package aviation

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"

	"github.com/sextant-rag/sextant/source"
)

// The annual edition (root CFRDOC) has elements of its own for what the eCFR writes as
// divisions. Its parts, subparts and sections are read as those divisions, so that the same
// text gives the same document, and everything that belongs to the printed page only is
// passed over: title pages, contents, page numbers, ear tabs, finding aids.

// annualLevel is the level of a division of the annual edition, 0 for other elements.
func (w *lawWalk) annualLevel(name string) int {
	if !w.annual {
		return 0
	}
	switch name {
	case "CHAPTER":
		return 3
	case "SUBCHAP":
		return 4
	case "PART":
		return 5
	case "SUBPART":
		return 6
	case "SUBJGRP":
		return 7
	}
	return 0
}

func (w *lawWalk) enterAnnual(t xml.StartElement, at source.Position) error {
	name := t.Name.Local
	switch name {
	case "SECTION", "APPENDIX":
		return w.section(t, at)
	case "TOC", "CONTENTS", "BTITLE", "FAIDS", "EXPLA", "THISTITL", "LSA", "SUBJECTS":
		_, err := w.tree(t)
		return err
	case "TITLENUM", "REVISED", "AMDDATE", "HD", "RESERVED", "SOURCE":
		n, err := w.tree(t)
		if err != nil {
			return err
		}
		return w.describeAnnual(n)
	}
	if level := w.annualLevel(name); level > 0 {
		w.path = append(w.path, division{level: level})
	}
	return nil
}

var titleNumber = regexp.MustCompile(`^Title (\d+)`)

// describeAnnual keeps what is said of the volume and of the division that is open.
func (w *lawWalk) describeAnnual(n *node) error {
	text := n.plain()
	switch n.name {
	case "TITLENUM":
		if m := titleNumber.FindStringSubmatch(text); m != nil && m[1] != "14" {
			return fmt.Errorf("this is title %s of the Code; 14 CFR is what is held", m[1])
		}
	case "REVISED":
		if dates := writtenDates(text); len(dates) > 0 && w.issued.IsZero() {
			w.issued = dates[0]
		}
	case "AMDDATE":
		if dates := writtenDates(text); len(dates) > 0 {
			w.amended = dates[0]
		}
	case "SOURCE":
		if len(w.path) > 0 {
			w.path[len(w.path)-1].source = text
		}
	case "HD", "RESERVED":
		if len(w.path) == 0 || w.path[len(w.path)-1].head != "" {
			return nil
		}
		top := &w.path[len(w.path)-1]
		top.head, top.number = text, annualNumber(text)
	}
	return nil
}

var divisionNumber = regexp.MustCompile(`(?i)^(?:part|subpart|chapter|subchapter) ([0-9A-Z.]+)`)

// annualNumber is "1201" of "PART 1201—STATEMENT OF ORGANIZATION".
func annualNumber(head string) string {
	if m := divisionNumber.FindStringSubmatch(head); m != nil {
		return m[1]
	}
	return ""
}

// asDivision turns a section or appendix of the annual edition into a division as the
// eCFR writes it.
func asDivision(n *node) {
	head, number := annualHead(n)
	var kept []*node
	for _, c := range n.children {
		switch c.name {
		case "SECTNO", "SUBJECT", "EAR", "PRTPAGE":
		case "RESERVED":
		case "HD":
			if n.name == "APPENDIX" && c.attrs["SOURCE"] == "HED" {
				continue
			}
			kept = append(kept, c)
		default:
			kept = append(kept, c)
		}
	}
	for _, c := range kept {
		asElement(c)
	}
	n.attrs = map[string]string{"N": number, "TYPE": n.name}
	if n.name = "DIV8"; n.attrs["TYPE"] == "APPENDIX" {
		n.name = "DIV9"
	}
	n.children = append([]*node{{name: "HEAD", children: []*node{{text: head}}}}, kept...)
}

// annualHead is the heading of a section, "§ 1201.100 Creation and authority.", or of an
// appendix, and its number.
func annualHead(n *node) (head, number string) {
	if n.name == "APPENDIX" {
		head = n.child("HD").plain()
		if head == "" {
			head = n.child("RESERVED").plain()
		}
		number, _, _ = strings.Cut(head, "—")
		return head, strings.TrimSpace(number)
	}
	number = strings.TrimSpace(strings.TrimLeft(n.child("SECTNO").plain(), "§ \u00a0"))
	head = strings.TrimSpace("§ " + number + " " + n.child("SUBJECT").plain())
	if reserved := n.child("RESERVED").plain(); reserved != "" {
		head += " " + reserved
	}
	return head, number
}

// faces are GPO's type faces in E elements that mean something: italics, bold, raised and
// lowered.
var faces = map[string]string{"03": "I", "04": "B", "51": "sup", "52": "sub", "7462": "sub"}

// asElement renames what is inside a section.
func asElement(n *node) {
	kept := n.children[:0]
	for _, c := range n.children {
		if c.name == "PRTPAGE" || c.name == "EAR" {
			continue
		}
		kept = append(kept, c)
	}
	n.children = kept
	switch n.name {
	case "E":
		if face, ok := faces[n.attrs["T"]]; ok {
			n.name = face
		}
	case "HD":
		n.name = "HD1"
	case "GPH", "MATH":
		n.name, n.attrs = "img", map[string]string{"src": n.child("GID").plain()}
		n.children = nil
	case "GPOTABLE":
		n.name = "TABLE"
	case "TTITLE":
		n.name = "CAPTION"
	case "BOXHD", "ROW":
		n.name = "TR"
	case "CHED":
		n.name = "TH"
	case "ENT":
		n.name = "TD"
	}
	for _, c := range n.children {
		asElement(c)
	}
}
