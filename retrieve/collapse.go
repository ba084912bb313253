package retrieve

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"github.com/sextant-rag/sextant"
)

// alike is the share of shingles from which on two passages say the same.
const alike = 0.9

// shingle is how many words in a row are compared.
const shingle = 4

// collapse keeps the first of passages that say the same, and notes on it where else it
// stands. Passages whose numbers differ never say the same: two records of one form, of
// which only the date differs, are two events.
func collapse(passages []sextant.Passage) []sextant.Passage {
	var out []sextant.Passage
	var prints []fingerprint
	byNumbers := map[uint64][]int{}
	for _, p := range passages {
		f := fingerprintOf(p.Content)
		same := slices.IndexFunc(byNumbers[f.numbers], func(i int) bool { return f.like(prints[i]) })
		if same >= 0 {
			kept := &out[byNumbers[f.numbers][same]]
			kept.Reasons = append(slices.Clip(kept.Reasons), sextant.Reason{Kind: "duplicate", Detail: "says the same as " + p.ChunkID})
			continue
		}
		byNumbers[f.numbers] = append(byNumbers[f.numbers], len(out))
		out, prints = append(out, p), append(prints, f)
	}
	return out
}

// fingerprint is what is compared of a text.
type fingerprint struct {
	numbers  uint64   // of its words with digits, in order
	shingles []uint64 // sorted, each once
}

func fingerprintOf(text string) fingerprint {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	numbers := fnv.New64a()
	for _, w := range words {
		if strings.ContainsFunc(w, unicode.IsDigit) {
			_, _ = numbers.Write([]byte(w + " "))
		}
	}
	f := fingerprint{numbers: numbers.Sum64()}
	for i := 0; i == 0 || i+shingle <= len(words); i++ {
		h := fnv.New64a()
		for _, w := range words[i:min(i+shingle, len(words))] {
			_, _ = h.Write([]byte(w + " "))
		}
		f.shingles = append(f.shingles, h.Sum64())
	}
	slices.Sort(f.shingles)
	f.shingles = slices.Compact(f.shingles)
	return f
}

// like compares by the Jaccard coefficient of the shingles.
func (f fingerprint) like(g fingerprint) bool {
	common := 0
	for i, j := 0, 0; i < len(f.shingles) && j < len(g.shingles); {
		switch a, b := f.shingles[i], g.shingles[j]; {
		case a == b:
			common++
			i, j = i+1, j+1
		case a < b:
			i++
		default:
			j++
		}
	}
	return float64(common) >= alike*float64(len(f.shingles)+len(g.shingles)-common)
}
