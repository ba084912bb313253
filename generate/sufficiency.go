package generate

import (
	"fmt"
	"regexp"
	"strings"
)

// Sufficiency says how far what was found can answer what is asked.
type Sufficiency struct {
	Score   float64  // 0 nothing, 1 everything: the share of the words of each thing asked that stand together, lowered where what would answer it is missing
	Lacking []string // what nothing was found for, in words
	Pinned  bool     // one document says so much more of the question than all others that it must be the one that is meant
}

// Enough is the score from which findings are an answer. See docs/evaluation.md for how
// it was chosen.
const Enough = 0.23

// What the score of a thing asked is at most where the text has nothing of the kind that
// would answer it, does not name what is asked for, or says that it is not known.
const (
	kindMissing  = 0.1
	focusMissing = 0.15
	notKnown     = 0.1
	nameMissing  = 0.15
)

// nearby is what the sentence before and the one behind count for a place in a text.
const nearby = 0.7

// suffices judges what the candidates say of each thing that is asked.
func suffices(asked []aspect, candidates []sentence, weights map[string]float64) Sufficiency {
	out := Sufficiency{}
	total := 0
	for _, a := range asked {
		score, lack := a.answerable(candidates, weights)
		if lack != "" {
			out.Lacking = append(out.Lacking, lack)
		}
		n := len(a.terms)
		if lack != "" && a.want != anything {
			n = max(n, 4) // what is asked for counts more than what only leads to it
		}
		total += n
		out.Score += float64(n) * score
	}
	if total == 0 {
		out.Score = 1
		return out
	}
	out.Score /= float64(total)
	return out
}

// answerable judges the best place for one thing asked, and says what is missing there.
func (a aspect) answerable(candidates []sentence, weights map[string]float64) (score float64, lack string) {
	fits, said := a.want == anything, 0.0
	places := make([]sentence, len(candidates))
	for i := range candidates {
		places[i] = place(candidates, i)
		score = max(score, places[i].share(a.terms, weights))
	}
	for _, p := range places {
		share := p.share(a.terms, weights)
		if n := len(a.focus); n > 0 && share >= score/2 && p.matched[a.focus[n-1]] > synonymous {
			said = max(said, p.share(a.focus, weights))
		}
		fits = fits || (share > 0 || len(a.terms) == 0) && share >= score/2 && forms[a.want].MatchString(p.text)
	}
	switch {
	case !fits:
		return min(score, kindMissing), fmt.Sprintf("%s (“%s”)", a.want, a.asked())
	case len(a.focus) > 0 && said < a.least:
		return min(score, focusMissing), fmt.Sprintf("“%s”", a.asked())
	case a.denied(candidates):
		return min(score, notKnown), fmt.Sprintf("“%s”: the text says that it is not known", a.asked())
	}
	return score, ""
}

// asked is the text of an aspect without the marks around it.
func (a aspect) asked() string {
	return strings.Trim(a.text, " ,.;:?")
}

// place is a sentence with those next to it, which count less.
func place(candidates []sentence, i int) sentence {
	out := sentence{document: candidates[i].document, matched: map[string]float64{}}
	for k := max(0, i-1); k < min(len(candidates), i+2); k++ {
		if candidates[k].document != candidates[i].document {
			continue
		}
		strength := nearby
		if k == i {
			strength = 1
		}
		for t, s := range candidates[k].matched {
			out.matched[t] = max(out.matched[t], strength*s)
		}
		out.text += candidates[k].text + " "
	}
	return out
}

var undetermined = regexp.MustCompile(`(?i)((?:\w+ ){1,6})(?:could not be|was not|were not|is not|has not been|cannot be) (?:positively )?(?:determined|established|identified|known|verified|confirmed)|(?:unidentified|undetermined|unknown) (\w+)`)

// denied reports whether the text says of a word that is asked about that it could not be
// found out, and says nothing else of it.
func (a aspect) denied(candidates []sentence) bool {
	unknown, known := map[string]bool{}, map[string]bool{}
	for _, s := range candidates {
		about := ""
		for _, m := range undetermined.FindAllStringSubmatch(s.text, -1) {
			about += m[1] + " " + m[2] + " "
		}
		spoken := stems(about)
		for _, t := range a.terms {
			for stem := range spoken {
				unknown[t] = unknown[t] || t == stem || derived(t, stem) || strings.HasPrefix(stem, t) && len(t) > 2
			}
			known[t] = known[t] || s.matched[t] > 0 && about == ""
		}
	}
	for t := range unknown {
		if unknown[t] && !known[t] {
			return true
		}
	}
	return false
}
