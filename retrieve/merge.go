package retrieve

import (
	"cmp"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// Merge orders passages of several collections, best first, and sets their scores anew:
// within one collection a fused score says how far a candidate stands out there, which
// is nothing to compare collections by. Here the scores behind it are fused over all.
// Passages that name what was asked for stay first, those of the filter alone last.
func (r *Retriever) Merge(passages []sextant.Passage) {
	if !slices.ContainsFunc(passages, func(p sextant.Passage) bool { return p.Source != passages[0].Source }) {
		return
	}
	all, dense := make([]store.Candidate, len(passages)), true
	for i, p := range passages {
		lexical, near := reason(p, "lexical"), reason(p, "dense")
		all[i] = store.Candidate{Index: tier(p), Lexical: lexical.Score, Dense: near.Score}
		dense = dense && (near.Kind != "" || tier(p) == filtered)
	}
	order, scores := fuse(all, dense, r.fusion)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].Index, all[b].Index) })
	merged := make([]sextant.Passage, len(passages))
	for i, from := range order {
		merged[i] = passages[from]
		if merged[i].Score = scores[from]; i > 0 && tier(merged[i]) != tier(merged[i-1]) {
			merged[i].Score = min(merged[i].Score, merged[i-1].Score)
		}
	}
	copy(passages, merged)
}

// The tiers of a merged list.
const (
	identified = iota
	ranked
	filtered
)

func tier(p sextant.Passage) int {
	switch {
	case reason(p, "identifier").Kind != "":
		return identified
	case reason(p, "filter").Kind != "":
		return filtered
	}
	return ranked
}

// reason returns the reason of a kind, the zero one if there is none.
func reason(p sextant.Passage, kind string) sextant.Reason {
	for _, r := range p.Reasons {
		if r.Kind == kind {
			return r
		}
	}
	return sextant.Reason{}
}
