package extract

import (
	"cmp"
	"path"
	"strings"
)

// titleOf names a text that does not name itself: by its first heading of the highest
// level, else its file name without the ending, else its first line.
func titleOf(t Text, name string) string {
	best, title := "heading7", ""
	for _, p := range t.Parts {
		if strings.HasPrefix(p.Kind, KindHeading) && p.Kind < best {
			best, title = p.Kind, t.Text[p.Start:p.End]
		}
	}
	if title != "" {
		return shorten(clean(title), 200)
	}
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if stem := strings.TrimSuffix(base, path.Ext(base)); stem != "" {
		base = stem
	}
	if title = clean(strings.ReplaceAll(base, "_", " ")); title == "" || title == "." {
		title, _, _ = strings.Cut(t.Text, "\n")
	}
	return shorten(cmp.Or(clean(title), "Untitled"), 200)
}
