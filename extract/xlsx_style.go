package extract

import "strings"

// numberStyle is what a cell's format makes of its number.
type numberStyle int

const (
	styleFigure numberStyle = iota
	styleDate
	stylePercent
)

// readStyles reads the formats of cells, by the number that cells use.
func (b *Workbook) readStyles(name string) error {
	custom := map[string]string{}
	inCells := false
	return b.office.walk(name, func(_ *xmlReader, t xmlToken) error {
		switch t.name {
		case "numFmt":
			if len(custom) < 10_000 {
				custom[t.attr("numFmtId")] = t.attr("formatCode")
			}
		case "cellXfs":
			inCells = true
		case "cellStyles", "cellStyleXfs", "dxfs":
			inCells = false
		case "xf":
			if inCells && len(b.styles) < 100_000 {
				b.styles = append(b.styles, styleOf(t.attr("numFmtId"), custom[t.attr("numFmtId")]))
			}
		}
		return nil
	})
}

// styleOf judges a format: by its number if it is built in (ECMA-376, 18.8.30), else by
// its code.
func styleOf(id, code string) numberStyle {
	if code == "" {
		switch n := number(id, 0); {
		case n >= 14 && n <= 22, n >= 27 && n <= 36, n >= 45 && n <= 47, n >= 50 && n <= 58:
			return styleDate
		case n == 9 || n == 10:
			return stylePercent
		}
		return styleFigure
	}
	return styleOfCode(code)
}

// styleOfCode looks for the letters of dates outside of quotes, brackets and escapes.
func styleOfCode(code string) numberStyle {
	code, _, _ = strings.Cut(code, ";")
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '\\', '_', '*':
			i++
		case '"':
			for i++; i < len(code) && code[i] != '"'; i++ {
			}
		case '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				return styleFigure
			}
			if body := strings.ToLower(code[i+1 : i+end]); body != "" && strings.Trim(body, "hms") == "" {
				return styleDate
			}
			i += end
		case '%':
			return stylePercent
		case 'y', 'Y', 'm', 'M', 'd', 'D', 'h', 'H', 's', 'S':
			return styleDate
		case 'G', 'g', 'E', 'e':
			if strings.HasPrefix(strings.ToLower(code[i:]), "general") {
				return styleFigure
			}
		}
	}
	return styleFigure
}
