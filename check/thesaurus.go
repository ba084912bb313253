package check

import (
	"slices"
	"strings"

	"github.com/sextant-rag/sextant/lexical/thesaurus"
)

// common reports whether a word is one of the language, not a name.
func common(t *token) bool { return thesaurus.Known(t.stem) }

// otherNames are names by which a place is also known, in lower case, each a stem.
var otherNames = sets(`
alabama al
alaska ak
arizona az
arkansas ar
california ca
colorado co
connecticut ct
delaware de
florida fl
georgia ga
hawaii hi
idaho id
illinois il
indiana in
iowa ia
kansas ks
kentucky ky
louisiana la
maine me
maryland md
massachusetts ma
michigan mi
minnesota mn
mississippi ms
missouri mo
montana mt
nebraska ne
nevada nv
ohio oh
oklahoma ok
oregon or
pennsylvania pa
tennessee tn
texas tx
utah ut
vermont vt
virginia va
washington wa
wisconsin wi
wyoming wy
`)

// otherWords are words that a report says for one another and that a dictionary keeps apart,
// each a stem. They only ever keep a finding, so that no question is read by them.
var otherWords = sets(`
begin enter start
get obtain receive
install equip fit
attach join connect
design build
catch snag entangle
suffer sustain incur
wheel gear
operation flight
show demonstrate exhibit
submit file return
go leave
late delay
lose loosing
lower extend
require need
use apply
add apply
look examine
`)

// synonymous reports whether words of two stems mean the same in a report.
func synonymous(a, b string) bool {
	return thesaurus.Synonymous(a, b) || slices.Contains(otherWords[a], b)
}

// sets reads lines of words into the stems of each with those of its line.
func sets(lines string) map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		for _, w := range words {
			for _, o := range words {
				if a, b := stem(w), stem(o); a != b {
					out[a] = append(out[a], b)
				}
			}
		}
	}
	return out
}
