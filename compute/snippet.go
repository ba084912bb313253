package compute

import (
	"strings"
	"unicode/utf8"
)

// reach is how many bytes a snippet shows on each side of a match, at most.
const reach = 120

// around widens a match in a text to its sentence, or as much of it as reach allows, cut
// between words.
func around(text string, start, end int) (from, to int) {
	from, to = max(0, start-reach), min(len(text), end+reach)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from++
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	before, after := text[from:start], text[end:to]
	if i := lastEnd(before); i >= 0 {
		from += i
	} else if from > 0 {
		from += strings.IndexByte(before, ' ') + 1
	}
	for text[from] == ' ' {
		from++
	}
	if i := strings.IndexAny(after, "\n"); i >= 0 {
		after = after[:i]
	}
	switch i := strings.Index(after, ". "); {
	case i >= 0:
		after = after[:i+1]
	case end+len(after) < len(text) && text[end+len(after)] != '\n':
		after = after[:strings.LastIndexByte(after, ' ')+1]
	}
	return from, end + len(strings.TrimRight(after, " "))
}

// lastEnd returns where the text after the last end of a sentence or line begins, or -1.
func lastEnd(s string) int {
	line, stop := strings.LastIndexByte(s, '\n'), strings.LastIndex(s, ". ")
	switch {
	case line < 0 && stop < 0:
		return -1
	case line > stop:
		return line + 1
	}
	return stop + 2
}
