package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/sextant-rag/sextant"
)

// scale is how many pixels of the image one of the drawing takes.
const scale = 2

// PNG writes a figure as an image of 1800 by 960 pixels. ErrNoRows if there is nothing to
// draw.
func PNG(w io.Writer, c *sextant.Computed) error {
	d, err := layout(c)
	if err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	p := painter{img: image.NewRGBA(image.Rect(0, 0, width*scale, height*scale)), faces: map[float64]font.Face{}}
	if p.font, err = opentype.Parse(goregular.TTF); err != nil {
		return fmt.Errorf("chart: read the font: %w", err)
	}
	draw.Draw(p.img, p.img.Bounds(), image.NewUniform(white.rgba()), image.Point{}, draw.Src)
	for _, s := range d.shapes {
		if err := p.paint(s); err != nil {
			return fmt.Errorf("chart: %w", err)
		}
	}
	if err := png.Encode(w, p.img); err != nil {
		return fmt.Errorf("chart: encode: %w", err)
	}
	return nil
}

func (c colour) rgba() color.RGBA {
	return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255}
}

type painter struct {
	img   *image.RGBA
	font  *opentype.Font
	faces map[float64]font.Face
}

func (p *painter) paint(s shape) error {
	switch s.kind {
	case rect:
		p.fill(s.x, s.y, s.w, s.h, s.fill)
		if s.hollow {
			p.fill(s.x+1, s.y+1, s.w-2, s.h-1, white)
		}
	case line:
		p.stroke(s)
	case words:
		return p.write(s)
	}
	return nil
}

func (p *painter) fill(x, y, w, h float64, c colour) {
	area := image.Rect(int(x*scale), int(y*scale), int((x+w)*scale), int((y+h)*scale))
	draw.Draw(p.img, area, image.NewUniform(c.rgba()), image.Point{}, draw.Src)
}

// stroke draws the upright and level lines a chart has.
func (p *painter) stroke(s shape) {
	if !s.dashed {
		p.fill(s.x, s.y, max(s.w, 1), max(s.h, 0.5), s.fill)
		return
	}
	for y := s.y; y < s.y+s.h; y += 8 {
		p.fill(s.x, y, 1, 5, s.fill)
	}
}

func (p *painter) write(s shape) error {
	face := p.faces[s.size]
	if face == nil {
		var err error
		if face, err = opentype.NewFace(p.font, &opentype.FaceOptions{Size: s.size * scale, DPI: 72, Hinting: font.HintingFull}); err != nil {
			return fmt.Errorf("font of size %g: %w", s.size, err)
		}
		p.faces[s.size] = face
	}
	pen := font.Drawer{Dst: p.img, Src: image.NewUniform(s.fill.rgba()), Face: face}
	x := s.x*scale - s.anchor*float64(pen.MeasureString(s.text))/64
	pen.Dot = fixed.P(int(x), int(s.y*scale))
	pen.DrawString(s.text)
	return nil
}
