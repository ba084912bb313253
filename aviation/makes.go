package aviation

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed makes.tsv
var makesTable string

// makeGroups returns the makers of the table with their spellings: all in capitals,
// inner blanks squeezed. It must not be changed.
var makeGroups = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(makesTable) {
		maker, spelling, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && !strings.HasPrefix(maker, "#") {
			out[maker] = append(out[maker], spelling)
		}
	}
	return out
})

var makerOf = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for maker, spellings := range makeGroups() {
		for _, s := range spellings {
			out[s] = maker
		}
	}
	return out
})

// Maker returns the maker a recorded spelling stands for, in capitals: "Cessna
// Aircraft" is CESSNA. A spelling that is in no group of the table is a maker of its
// own; names that merely begin alike are not joined.
func Maker(recorded string) string {
	folded := strings.ToUpper(strings.Join(strings.Fields(recorded), " "))
	if maker, ok := makerOf()[folded]; ok {
		return maker
	}
	return folded
}
