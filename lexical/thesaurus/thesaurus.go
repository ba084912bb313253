// Package thesaurus knows which words of English can mean the same, which mean the
// opposite, and which are words at all rather than names.
//
// Its words are those of WordNet 3.0 (Princeton University, see NOTICE) that are in common
// use or in the reports, rules and abstracts this project is tested on: 6,500 sets of
// synonyms in their more frequent senses and 800 pairs of opposites, the kinds of 300 concrete things, and some more of
// everyday language (see everyday.go); what parts of speech words are, and which can be said
// for which in some sense or mean the opposite, is in relation.go. It knows nothing of any
// subject.
package thesaurus

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the words
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant/lexical"
)

// packed holds four sections apart by a line "-": sets of synonyms, one a line; pairs of
// opposites, one a line; concrete nouns, each with the words that are kinds of it; further
// words.
//
//go:embed wordnet.txt.gz
var packed []byte

type words struct {
	sets     [][]string         // of stems
	setsOf   map[string][]int32 // by stem
	opposite map[string][]string
	kinds    map[string][]string
	known    map[string]bool // by stem
}

// Synonyms returns the stems of the words that can mean what a word of a stem means, each
// once and not the stem itself. Stems are those of [lexical.English].
func Synonyms(stem string) []string {
	var out []string
	for s := range Meaning(stem) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Meaning yields the words of [Synonyms], some more than once: no list is made.
func Meaning(stem string) iter.Seq[string] {
	return func(yield func(string) bool) {
		w := load()
		for _, i := range w.setsOf[stem] {
			for _, s := range w.sets[i] {
				if s != stem && !yield(s) {
					return
				}
			}
		}
	}
}

// Synonymous reports whether words of two stems can mean the same.
func Synonymous(a, b string) bool {
	w := load()
	for _, i := range w.setsOf[a] {
		if slices.Contains(w.setsOf[b], i) {
			return true
		}
	}
	return a == b
}

// Opposites returns the stems of the words that mean the opposite.
func Opposites(stem string) []string { return load().opposite[stem] }

// Kinds returns the stems of the words that name kinds of a concrete thing: of "animal" those
// of bear and moose. Nil for anything else.
func Kinds(stem string) []string { return load().kinds[stem] }

// Known reports whether a stem is one of a word of the language.
func Known(stem string) bool { return load().known[stem] }

var load = sync.OnceValue(func() *words {
	w := &words{setsOf: map[string][]int32{}, opposite: map[string][]string{}, kinds: map[string][]string{}, known: map[string]bool{}}
	sections := strings.Split(unpack(packed), "\n-\n")
	for _, line := range append(strings.Split(sections[0], "\n"), strings.Split(strings.TrimSpace(everyday), "\n")...) {
		w.set(stems(line))
	}
	for _, line := range strings.Split(sections[1], "\n") {
		if pair := stems(line); len(pair) == 2 && pair[0] != pair[1] {
			w.opposite[pair[0]] = append(w.opposite[pair[0]], pair[1])
			w.opposite[pair[1]] = append(w.opposite[pair[1]], pair[0])
		}
	}
	for _, line := range strings.Split(sections[2], "\n") {
		category, members, _ := strings.Cut(line, " ")
		if name := stems(category); len(name) == 1 {
			w.kinds[name[0]] = stems(members)
		}
	}
	for _, s := range stems(sections[3]) {
		w.known[s] = true
	}
	return w
})

func (w *words) set(all []string) {
	slices.Sort(all)
	all = slices.Compact(all)
	for _, s := range all {
		w.known[s] = true
		if len(all) > 1 {
			w.setsOf[s] = append(w.setsOf[s], int32(len(w.sets)))
		}
	}
	w.sets = append(w.sets, all)
}

func stems(line string) []string {
	var out []string
	for _, t := range lexical.English().Tokens(line) {
		out = append(out, t.Stem)
	}
	return out
}

// unpack returns the words. They are part of the program: that they cannot be read is a
// fault of its build.
func unpack(packed []byte) string {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(text))
}

// Word reports whether a text of lower case letters is a word of the language, in whatever
// inflection.
func Word(lower string) bool {
	all := stems(lower)
	return len(all) == 1 && Known(all[0])
}
