package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// office is an Office Open XML file (ECMA-376): an archive of XML parts that refer to
// each other by ids.
type office struct {
	ctx context.Context
	in  *input
	zip *archive
}

func openOffice(ctx context.Context, in *input) (*office, error) {
	a, err := openArchive(in)
	if err != nil {
		return nil, err
	}
	return &office{ctx: ctx, in: in, zip: a}, nil
}

// part opens a part by name; nil if there is none.
func (o *office) part(name string) (*xmlReader, error) {
	f := o.zip.find(name)
	if f == nil {
		return nil, nil
	}
	r, err := o.zip.open(f)
	if err != nil {
		return nil, err
	}
	return newXMLReader(o.ctx, r, o.in.limits.Depth), nil
}

// walk reads a part to its end and calls f for each start of an element, if the part is
// there. f may read on.
func (o *office) walk(name string, f func(x *xmlReader, t xmlToken) error) error {
	x, err := o.part(name)
	if err != nil || x == nil {
		return err
	}
	return walkXML(x, name, f)
}

func walkXML(x *xmlReader, name string, f func(x *xmlReader, t xmlToken) error) error {
	for {
		t, err := x.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && t.kind == '<' {
			err = f(x, t)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return located(err, name)
		}
	}
}

// located names the part a Refusal is about.
func located(err error, place string) error {
	if r := RefusalOf(err); r != nil && r.Place == "" {
		r.Place = place
	}
	return err
}

// relation is what a part refers to.
type relation struct{ id, kind, target string }

// relations reads what a part refers to, by id. Targets are names in the archive;
// addresses outside of it are left out.
func (o *office) relations(name string) (map[string]relation, error) {
	out := map[string]relation{}
	dir, base := path.Split(name)
	err := o.walk(dir+"_rels/"+base+".rels", func(_ *xmlReader, t xmlToken) error {
		if t.name != "Relationship" || t.attr("TargetMode") == "External" || len(out) > 100_000 {
			return nil
		}
		target := t.attr("Target")
		if strings.HasPrefix(target, "/") {
			target = target[1:]
		} else {
			target = path.Join(dir, target)
		}
		out[t.attr("Id")] = relation{t.attr("Id"), path.Base(t.attr("Type")), target}
		return nil
	})
	return out, err
}

// ofKind returns the targets of relations of a kind.
func ofKind(relations map[string]relation, kind string) []string {
	var out []string
	for _, r := range relations {
		if r.kind == kind {
			out = append(out, r.target)
		}
	}
	return out
}

// core reads the properties of the file.
func (o *office) core() (title string, p Properties, err error) {
	return o.properties("docProps/core.xml", map[string]string{"title": "title", "creator": "author", "subject": "subject", "keywords": "keywords", "language": "language", "created": "created", "modified": "modified"})
}

// properties reads those of a part, by the names its elements have there.
func (o *office) properties(part string, names map[string]string) (title string, p Properties, err error) {
	err = o.walk(part, func(x *xmlReader, t xmlToken) error {
		name, ok := names[t.name]
		if !ok {
			return nil
		}
		text, err := x.elementText()
		text = clean(text)
		switch name {
		case "title":
			title = plausibleTitle(text)
		case "author":
			p.Author = text
		case "subject":
			p.Subject = text
		case "keywords":
			p.Keywords = text
		case "language":
			p.Language = text
		case "created":
			p.Created = parseTime(text)
		case "modified":
			p.Modified = parseTime(text)
		}
		return err
	})
	return title, p, err
}

// missing is the Refusal of a file whose main part is not there.
func missing(name string) error {
	return malformed(name, "the part with the content is missing")
}

// isOn reads the switches of these formats: on unless they say otherwise.
func isOn(t xmlToken) bool {
	switch t.attr("val") {
	case "0", "false", "off", "none":
		return false
	}
	return true
}

func roman(n int) string {
	if n <= 0 || n > 3999 {
		return fmt.Sprint(n)
	}
	var b strings.Builder
	for _, d := range []struct {
		value int
		text  string
	}{{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}} {
		for ; n >= d.value; n -= d.value {
			b.WriteString(d.text)
		}
	}
	return b.String()
}
