package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"
)

func TestWrapKeepsWordsAndWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zé日]{1,30}`)).Draw(t, "words")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		lines := wrap(strings.Join(words, " "), width)
		if got := strings.Join(lines, " "); got != strings.Join(words, " ") {
			t.Fatalf("wrapping changed the text: %q", got)
		}
		for _, line := range lines {
			if runewidth.StringWidth(line) > width && strings.Contains(line, " ") {
				t.Fatalf("line %q is wider than %d and could have been broken", line, width)
			}
		}
	})
}

func TestTableFitsThePage(t *testing.T) {
	p := newPage(40, false)
	p.table(table{
		head:  []string{"model", "events"},
		right: []bool{false, true},
		rows:  [][]string{{"172", "1,234"}, {"a model with a name that goes on and on and on", "7"}, {"averylongwordthatcannotbebroken", "1"}},
	})
	want := `  model                           events
  172                              1,234
  a model with a name that goes        7
  on and on and on
  averylongwordthatcannotbebro…        1
`
	if diff := cmp.Diff(want, p.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestNoControlByteReachesThePage(t *testing.T) {
	const hostile = "plain\x1b[31mred\x07\u009b2J\u202Eevil\x00\x08"
	for _, colour := range []bool{false, true} {
		p := newPage(80, colour)
		p.heading(hostile)
		p.text("- ", hostile)
		p.note(hostile[:5], hostile)
		p.table(table{head: []string{hostile}, right: []bool{false}, rows: [][]string{{hostile}}})
		got := strings.NewReplacer("\x1b[1m", "", "\x1b[2m", "", "\x1b[0m", "").Replace(p.String())
		if strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e }) {
			t.Errorf("colour %v: control characters survive: %q", colour, got)
		}
		if !colour && strings.Contains(p.String(), "\x1b") {
			t.Errorf("an escape without colour: %q", p.String())
		}
	}
}
