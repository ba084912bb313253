package embed

// DefaultWeight is the share of an encoder that nobody has measured. Stronger encoders
// would earn more on texts like those they were trained on, and lose it on others.
const DefaultWeight = 0.5

// Weight is the share of an encoder's ranking when it is joined with one by words, from
// 0, words alone, to 1. docs/evaluation.md says how it was chosen.
func Weight(f Fingerprint) float64 {
	if w, ok := weights[f.Model]; ok {
		return w
	}
	return DefaultWeight
}

// weights are those of encoders that were measured.
var weights = map[string]float64{
	"all-MiniLM-L6-v2": 0.5,
}
