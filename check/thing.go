package check

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// thingFault finds a concrete thing or a person that the evidence does not speak of. A more
// general word is the same thing, and where the evidence says it, he or a name, the thing
// meant may be said once.
func thingFault(said, have *reading) *fault {
	spared := false
	for _, i := range said.content {
		t := &said.tokens[i]
		thing, person := thesaurus.Thing(t.lower)
		if !thing || t.upper && !said.begins(i) || speakers[t.stem] || !said.noun(i) || have.stems[said.at(i+1).stem] && !functionWords[said.at(i+1).lower] && said.at(i+1).kind == word || have.means(said, i) || have.spelt(said, i) || said.contrary(have, t) || have.speaksOf(t) || have.topic(t.lower) {
			continue
		}
		if !spared && said.determined(have, i) && have.pointsAt(said, person, said.content[0] == i) {
			spared = true
			continue
		}
		return faulty(sextant.FaultEntity, "it speaks of %q, its quotes do not", t.text)
	}
	return nil
}

// determined reports whether a word of a statement stands behind the or the like, or as the last
// of words there of which the documents of the evidence speak: the airport owner.
func (r *reading) determined(have *reading, i int) bool {
	if definite[r.at(i-1).lower] {
		return true
	}
	before := r.at(i - 1)
	named := before.kind == word && !functionWords[before.lower] && definite[r.at(i-2).lower]
	return named && slices.ContainsFunc(have.documents, func(text string) bool { return strings.Contains(text, before.lower+" "+r.tokens[i].lower) })
}

var definite = setOf("the", "its", "his", "her", "their")

// speakers are those who tell what a text says, and what they tell it in.
var speakers = stemsOf("investigator", "author", "researcher", "scientist", "official", "people", "person", "individual", "occupant", "writer", "team", "member", "someone", "anyone", "man", "woman")

func stemsOf(words ...string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, w := range words {
		out[stem(w)] = true
	}
	return out
}

// speaksOf reports whether a text has a thing of which a word is the more general one.
func (r *reading) speaksOf(t *token) bool {
	for s := range r.stems {
		if thesaurus.Broader(t.stem, s) {
			return true
		}
	}
	return false
}

// often is how many times a document names a thing that is known to whoever speaks of it.
const often = 3

// topic reports whether the documents of the evidence name a thing again and again, so that
// it is known where one passage does not name it.
func (r *reading) topic(lower string) bool {
	for _, text := range r.documents {
		n := 0
		for at := 0; at < len(text) && n < often; n++ {
			next := strings.Index(text[at:], lower)
			if next < 0 {
				break
			}
			at += next + len(lower)
		}
		if n == often {
			return true
		}
	}
	return false
}

// pointsAt reports whether a text has a word that stands for a person or a thing: a pronoun,
// or for what the statement speaks of first a name that it does not repeat.
func (r *reading) pointsAt(said *reading, person, subject bool) bool {
	for _, t := range r.tokens {
		if t.kind == word && (person && personal[t.lower] || !person && (t.lower == "it" || t.lower == "its")) {
			return true
		}
	}
	for _, i := range r.content {
		if t := &r.tokens[i]; subject && t.upper && !r.begins(i) && !said.stems[t.stem] {
			return true
		}
	}
	return false
}

var personal = setOf("he", "she", "his", "her", "him", "they", "their", "them", "i", "my", "we", "who")

// noun reports whether word i of a text is used as a noun: it can be no verb, or stands
// behind an article, a number or a preposition.
func (r *reading) noun(i int) bool {
	t := &r.tokens[i]
	if t.class() == thesaurus.Noun {
		return true
	}
	before := r.at(i - 1)
	return before.kind == number || nounBefore[before.lower]
}

var nounBefore = setOf("a", "an", "the", "his", "her", "its", "their", "this", "that", "of", "in", "on", "at", "by", "with", "from", "into", "no", "any", "some", "each", "every", "for", "against", "between", "another")
