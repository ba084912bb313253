package chart

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/sextant-rag/sextant"
)

// SVG writes a figure as SVG. It has no scripts, styles or links: it shows the same in a
// page with a strict policy as by itself. ErrNoRows if there is nothing to draw.
func SVG(w io.Writer, c *sextant.Computed) error {
	d, err := layout(c)
	if err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="sans-serif">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escaped(d.title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="%s"/>`+"\n", width, height, white)
	for _, s := range d.shapes {
		s.svg(&b)
	}
	b.WriteString("</svg>\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	return nil
}

func (c colour) String() string { return fmt.Sprintf("#%06x", uint32(c)) }

func (s shape) svg(b *strings.Builder) {
	tip := ""
	if s.tip != "" {
		tip = "<title>" + escaped(s.tip) + "</title>"
	}
	switch s.kind {
	case rect:
		look := fmt.Sprintf(`fill="%s"`, s.fill)
		if s.hollow {
			look = fmt.Sprintf(`fill="%s" stroke="%s" stroke-dasharray="3 2"`, white, s.fill)
		}
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" %s>%s</rect>`+"\n", s.x, s.y, s.w, s.h, look, tip)
	case line:
		dash := ""
		if s.dashed {
			dash = ` stroke-dasharray="5 3"`
		}
		fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"%s>%s</line>`+"\n", s.x, s.y, s.x+s.w, s.y+s.h, s.fill, dash, tip)
	case words:
		anchor := map[float64]string{0: "start", 0.5: "middle", 1: "end"}[s.anchor]
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="%g" text-anchor="%s" fill="%s">%s</text>`+"\n", s.x, s.y, s.size, anchor, s.fill, escaped(s.text))
	}
}

func escaped(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}
