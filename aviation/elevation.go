package aviation

import (
	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// heights say that a number of feet is how high a place lies, which no record holds.
var (
	heights   = constrain.NewTable(map[string]bool{"elevation": true, "field elevation": true, "airport elevation": true, "above sea level": true, "msl elevation": true})
	highlying = constrain.NewTable(map[string]bool{"high elevation": true, "high altitude airport": true, "high altitude airports": true, "high altitude airstrip": true, "high altitude airfield": true})
)

// elevations claims "an elevation of 7,000 feet", "above 7000 feet elevation" and "high-elevation": where an
// aircraft crashed is told by its town and airport, not by how high that lies.
func elevations(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		_, to, ok := highlying.At(q, i)
		if !ok {
			_, to, ok = heights.At(q, i)
		}
		if ok {
			out = append(out, constrain.Claim{From: i, To: to, Weight: 5, Cannot: &sextant.Unenforceable{Field: "elevation", Reason: "how high an airport or a town lies is not recorded"}})
		}
	}
	return out
}
