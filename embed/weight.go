package embed

// Fusion says how an encoder's ranking is joined with one by words; see package retrieve
// for the formula. docs/evaluation.md says how it was chosen.
type Fusion struct {
	// Alpha is the encoder's share, from 0, words alone, to 1.
	Alpha float64
	// Spread is the least standard deviation that cosines of candidates are taken to have.
	// Where an encoder tells them apart by less, it has found nothing that is near, and what
	// it says in the third decimal must not count as much as words that match.
	Spread float64
}

// FusionOf returns what was measured for an encoder, and for one that was not the same
// as for the embedded one: stronger encoders would earn more on texts like those they
// were trained on, and lose it on others.
func FusionOf(f Fingerprint) Fusion {
	if w, ok := fusions[f.Model]; ok {
		return w
	}
	return Fusion{Alpha: 0.5}
}

// fusions are those of encoders that were measured.
var fusions = map[string]Fusion{
	"all-MiniLM-L6-v2": {Alpha: 0.5, Spread: 0.1},
}
