package trace

import (
	"context"
	"fmt"
)

// What tests of the package's inner parts use.
type Anchors struct{ a *anchors }

func NewAnchors(texts []string) Anchors {
	var all []anchor
	for i, text := range texts {
		all = append(all, anchor{text: text, owner: i})
	}
	return Anchors{newAnchors(all)}
}

func (a Anchors) In(text string) uint64 {
	return a.a.in(text, func(int, string, int) bool { return true })
}

// EveryForm takes out what any form finds, with no look at anchors before.
func EveryForm(text string) string {
	for _, f := range forms {
		text = f.replace(text)
	}
	return text
}

// OpenWith opens an archive whose one connection has a pragma more.
func OpenWith(ctx context.Context, o Options, pragma string) (*Archive, error) {
	return open(ctx, o, pragma)
}

// Allow lets the file grow to so many pages.
func Allow(a *Archive, pages int) error {
	_, err := a.db.Exec(fmt.Sprintf("PRAGMA max_page_count(%d)", pages))
	return err
}
