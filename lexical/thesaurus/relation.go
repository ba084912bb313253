package thesaurus

import (
	_ "embed" // the relations
	"slices"
	"strings"
	"sync"
)

// related holds five sections apart by a line "-": sets of words one of which can be said
// for another in some sense (synonyms in less frequent senses, a verb and the more general
// one, a verb and its noun); two groups of words that are opposites, apart by "|"; what
// part of speech words are, a line for each combination of n, v, a and r; irregular
// forms, each with its word; and concrete things and (behind "!") persons, each with the words for
// them that are more general.
//
//go:embed relations.txt.gz
var related []byte

// Class is what parts of speech a word is used as.
type Class uint8

// The parts of speech.
const (
	Noun Class = 1 << iota
	Verb
	Adjective
	Adverb
)

type relations struct {
	setsOf  map[string][]int32  // by stem
	sidesOf map[string][]int32  // by stem: numbers of pairs of groups, negative for the second group
	classOf map[string]Class    // by word
	verbs   map[string]bool     // by stem
	formOf  map[string]string   // irregular forms to their words
	general map[string][]string // things by stem: stems of more general words
	things  map[string]bool     // by word: whether it is a person
}

// Related reports whether a word of one stem can be said for one of another: they are
// synonyms in some sense, one is the more general verb, or one is the other's noun.
func Related(a, b string) bool {
	if Synonymous(a, b) {
		return true
	}
	r := loadRelations()
	return meet(r.setsOf[a], r.setsOf[b], 1)
}

// Opposed reports whether words of two stems can mean the opposite of each other, also by
// way of a nearer word: damp is opposed to dry by way of wet.
func Opposed(a, b string) bool {
	if a == b {
		return false
	}
	r := loadRelations()
	return meet(r.sidesOf[a], r.sidesOf[b], -1)
}

// ClassOf returns what parts of speech a word in lower case, in whatever inflection, is used
// as, given its stem too; 0 if it is unknown. What was done (elected) is a verb before it is
// a quality.
func ClassOf(lower, stem string) Class {
	r := loadRelations()
	if form, ok := r.formOf[lower]; ok {
		return r.classOf[form]
	}
	c, ok := r.classOf[lower]
	switch {
	case c&Noun == 0 && (strings.HasSuffix(lower, "ing") || strings.HasSuffix(lower, "ed")) && (r.verbs[stem] || !ok):
		return Verb
	case c == Adjective && strings.HasSuffix(lower, "ed"):
		return Adjective | Verb // impacted, of a word that is a noun for most
	case ok:
		return c
	case strings.HasSuffix(lower, "ly"):
		return Adverb
	}
	for _, end := range []string{"s", "es"} {
		if c, ok := r.classOf[strings.TrimSuffix(lower, end)]; ok && strings.HasSuffix(lower, end) {
			return c & (Noun | Verb)
		}
	}
	if strings.HasSuffix(lower, "ies") {
		return r.classOf[strings.TrimSuffix(lower, "ies")+"y"] & (Noun | Verb)
	}
	return 0
}

// one returns the only string of a list; "" of any other.
func one(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return ""
}

// Thing reports whether a word in lower case, or that of which it is the plural, names a
// concrete thing and, if so, a person.
func Thing(lower string) (thing, person bool) {
	r := loadRelations()
	for _, end := range []string{"", "s", "es"} {
		if word, ok := strings.CutSuffix(Base(lower), end); ok && !thing {
			person, thing = r.things[word]
		}
	}
	return thing, person
}

// Broader reports whether a word of one stem is a more general word for a thing of another.
func Broader(general, thing string) bool {
	return slices.Contains(loadRelations().general[thing], general)
}

// Base returns the word of which a word in lower case is an irregular form, or the word
// itself: "go" of "went", "man" of "men".
func Base(lower string) string {
	if word, ok := loadRelations().formOf[lower]; ok {
		return word
	}
	return lower
}

// meet reports whether a number of one list stands, with a sign, in another.
func meet(a, b []int32, sign int32) bool {
	for _, x := range a {
		for _, y := range b {
			if x == sign*y {
				return true
			}
		}
	}
	return false
}

var loadRelations = sync.OnceValue(func() *relations {
	r := &relations{setsOf: map[string][]int32{}, sidesOf: map[string][]int32{}, classOf: map[string]Class{}, verbs: map[string]bool{}, formOf: map[string]string{}, general: map[string][]string{}, things: map[string]bool{}}
	sections := strings.Split(unpack(related), "\n-\n")
	for _, line := range strings.Split(sections[3], "\n") {
		form, word, _ := strings.Cut(line, " ")
		r.formOf[form] = word
	}
	for i, line := range strings.Split(sections[0], "\n") {
		for _, s := range stems(line) {
			r.setsOf[s] = append(r.setsOf[s], int32(i+1))
		}
	}
	for i, line := range strings.Split(sections[1], "\n") {
		first, second, _ := strings.Cut(line, "|")
		for _, s := range r.stems(first) {
			r.sidesOf[s] = append(r.sidesOf[s], int32(i+1))
		}
		for _, s := range r.stems(second) {
			r.sidesOf[s] = append(r.sidesOf[s], -int32(i+1))
		}
	}
	for _, line := range strings.Split(sections[2], "\n") {
		letters, words, _ := strings.Cut(line, " ")
		c := classes(letters)
		for _, w := range strings.Fields(words) {
			r.classOf[w] = c
			if c&Verb != 0 {
				r.verbs[one(stems(w))] = true
			}
		}
	}
	for _, line := range strings.Split(sections[4], "\n") {
		thing, general, _ := strings.Cut(line, " ")
		word, person := strings.CutPrefix(thing, "!")
		s := one(stems(word))
		r.general[s] = append(r.general[s], stems(general)...)
		r.things[word] = person
	}
	return r
})

// stems returns the stems of words, of irregular forms those of their words.
func (r *relations) stems(line string) []string {
	words := strings.Fields(line)
	for i, w := range words {
		if base, ok := r.formOf[w]; ok {
			words[i] = base
		}
	}
	return stems(strings.Join(words, " "))
}

func classes(letters string) (c Class) {
	for i, l := range "nvar" {
		if strings.ContainsRune(letters, l) {
			c |= 1 << i
		}
	}
	return c
}
