// Package chart draws computed figures: rows in time as columns in their order, other
// rows as bars. What would mislead is drawn so that it cannot: partial periods are
// hollow, breaks in a series are marked, the axis begins at zero, and the filter and the
// date of the data stand below.
//
// A drawing is made once, of rectangles, lines and texts, and written as SVG or PNG.
package chart

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
)

// ErrNoRows is a figure without rows to draw.
var ErrNoRows = errors.New("the figure has no rows to draw")

// Size of a drawing in pixels, and of what is in it.
const (
	width, height = 900, 480
	left, right   = 70, 20
	top, bottom   = 64, 96
	maxBars       = 40
)

// colour is 0xRRGGBB.
type colour uint32

const (
	ink    colour = 0x1f2933
	faint  colour = 0xd5dbe1
	muted  colour = 0x66707a
	first  colour = 0x2b6cb0
	second colour = 0xdd8a3c
	white  colour = 0xffffff
	accent colour = 0xb83280
)

// shape is one thing to draw: a rectangle, a line or a text.
type shape struct {
	kind           shapeKind
	x, y, w, h     float64 // of a line, w and h are the way to its end
	fill           colour
	hollow, dashed bool
	text           string
	size           float64
	anchor         float64 // 0: the text begins at x, 0.5: it is centred, 1: it ends there
	tip            string  // said when pointed at
}

type shapeKind uint8

const (
	rect shapeKind = iota
	line
	words
)

// drawing is a chart before it is written.
type drawing struct {
	title  string
	shapes []shape
}

func (d *drawing) add(s shape) { d.shapes = append(d.shapes, s) }

func (d *drawing) say(x, y float64, text string, size, anchor float64, c colour) {
	d.add(shape{kind: words, x: x, y: y, text: text, size: size, anchor: anchor, fill: c})
}

// bar is one row to draw.
type bar struct {
	key     string
	value   float64
	inside  float64 // of value, what the second column says; negative: there is none
	partial bool
}

// layout places a figure.
func layout(c *sextant.Computed) (*drawing, error) {
	bars, split := barsOf(c)
	if len(bars) == 0 {
		return nil, ErrNoRows
	}
	d := &drawing{title: c.Title}
	d.say(left, 26, clip(c.Title, 100), 16, 0, ink)
	d.say(left, 46, subtitle(c, split), 12, 0, muted)
	most := 0.0
	for _, b := range bars {
		most = max(most, b.value)
	}
	step := niceStep(most)
	ceiling := max(step*math.Ceil(most/step), step)
	y := func(v float64) float64 { return height - bottom - v/ceiling*(height-top-bottom) }
	for v := 0.0; v <= ceiling+step/2; v += step {
		d.add(shape{kind: line, x: left, y: y(v), w: width - left - right, fill: faint})
		d.say(left-8, y(v)+4, thousands(v), 11, 1, muted)
	}
	slot := float64(width-left-right) / float64(len(bars))
	for i, b := range bars {
		d.bar(b, left+slot*float64(i), slot, y)
	}
	d.labels(bars, slot)
	d.breaks(c, bars, slot)
	d.say(left, height-28, clip("where "+c.Filter, 130), 11, 0, muted)
	d.say(left, height-12, clip(footer(c), 130), 11, 0, muted)
	return d, nil
}

// barsOf reads the rows. Where years lie between the first and the last that have no row,
// they are drawn as what they are: nothing.
func barsOf(c *sextant.Computed) (bars []bar, split string) {
	at := slices.IndexFunc(c.Columns, func(s string) bool { return strings.HasPrefix(s, "in ") })
	if at >= 2 {
		split = c.Columns[at]
	}
	for _, r := range c.Rows {
		v, ok := number(r, 1)
		if crossed, isCross := number(r, 2); !ok && isCross {
			bars = append(bars, bar{key: fmt.Sprint(r[0], " · ", r[1]), value: crossed, inside: -1})
			continue
		}
		if !ok {
			continue
		}
		b := bar{key: fmt.Sprint(r[0]), value: v, inside: -1, partial: slices.Contains(c.Partial, fmt.Sprint(r[0]))}
		if n, ok := number(r, at); ok && split != "" {
			b.inside = n
		}
		if len(bars) > 0 {
			bars = append(bars, between(bars[len(bars)-1].key, b.key)...)
		}
		bars = append(bars, b)
	}
	if len(bars) > maxBars && !isYear(bars[0].key) {
		bars = bars[:maxBars]
	}
	return bars, split
}

func between(from, to string) (out []bar) {
	if !isYear(from) || !isYear(to) {
		return nil
	}
	a, _ := strconv.Atoi(from)
	b, _ := strconv.Atoi(to)
	for y := a + 1; y < b; y++ {
		out = append(out, bar{key: strconv.Itoa(y), inside: -1})
	}
	return out
}

func isYear(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && len(s) == 4 && n > 1000
}

// number reads a cell, which comes as an int64 from the engine and as a float64 over the
// wire.
func number(row []any, at int) (float64, bool) {
	if at < 0 || at >= len(row) {
		return 0, false
	}
	switch v := row[at].(type) {
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func (d *drawing) bar(b bar, x, slot float64, y func(float64) float64) {
	gap := slot * 0.15
	tip := fmt.Sprintf("%s: %s", b.key, thousands(b.value))
	if b.partial {
		tip += " (partial)"
	}
	s := shape{kind: rect, x: x + gap, y: y(b.value), w: slot - 2*gap, h: y(0) - y(b.value), fill: first, hollow: b.partial, tip: tip}
	if b.inside >= 0 {
		s.fill = second
	}
	d.add(s)
	if b.inside >= 0 {
		d.add(shape{kind: rect, x: s.x, y: y(b.inside), w: s.w, h: y(0) - y(b.inside), fill: first, hollow: b.partial, tip: fmt.Sprintf("%s: %s of %s", b.key, thousands(b.inside), thousands(b.value))})
	}
	if slot > 34 {
		d.say(x+slot/2, y(b.value)-5, thousands(b.value), 11, 0.5, ink)
	}
}

// labels writes as many keys below the bars as there is room for.
func (d *drawing) labels(bars []bar, slot float64) {
	longest := 0
	for _, b := range bars {
		longest = max(longest, len([]rune(b.key)))
	}
	room := max(int(math.Ceil(float64(min(longest, 12))*7/slot)), 1)
	for i := 0; i < len(bars); i += room {
		x := left + slot*(float64(i)+0.5)
		d.say(x, height-bottom+18, clip(bars[i].key, max(int(slot*float64(room)/6.4), 4)), 11, 0.5, ink)
	}
}

// breaks marks where rows before and after are not alike.
func (d *drawing) breaks(c *sextant.Computed, bars []bar, slot float64) {
	for _, b := range c.Breaks {
		i := slices.IndexFunc(bars, func(x bar) bool { return x.key == b.Key })
		if i < 0 {
			continue
		}
		x := left + slot*float64(i)
		d.add(shape{kind: line, x: x, y: top - 6, h: height - bottom - top + 6, fill: accent, dashed: true, tip: b.Why})
		d.say(x+4, top+4, "break", 10, 0, accent)
	}
}

func subtitle(c *sextant.Computed, split string) string {
	parts := []string{strings.Join(c.Columns[:min(len(c.Columns), 2)], ", ")}
	if split != "" {
		parts = append(parts, "blue: "+split, "orange: the rest")
	}
	if len(c.Partial) > 0 {
		parts = append(parts, "hollow: partial")
	}
	if c.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%s stand in no row", thousands(float64(c.Unknown))))
	}
	if c.Method.AtLeast {
		parts = append(parts, "at least")
	}
	return strings.Join(parts, " · ")
}

func footer(c *sextant.Computed) string {
	parts := []string{fmt.Sprintf("%s %s", thousands(float64(c.Total)), c.UnitLabel)}
	for _, s := range []string{c.Method.Coverage, strings.Join(c.Method.Files, ", ")} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " · ")
}

// niceStep is 1, 2 or 5 times a power of ten, at least four of which reach v.
func niceStep(v float64) float64 {
	if v <= 4 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v/4)))
	for _, m := range []float64{5, 2, 1} {
		if v/(m*power) >= 4 {
			return m * power
		}
	}
	return power
}

func thousands(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		return whole + "." + rest
	}
	return whole
}

func clip(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:max(most-1, 0)]) + "…"
}
