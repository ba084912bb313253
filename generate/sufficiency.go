package generate

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
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

// field is the text that an answer is looked for in: sentences in the order of their documents,
// and how rare each term is among them. What costs is found out of a sentence once.
type field struct {
	candidates []sentence
	weights    []float64 // by term
	forms      map[want][]fitness
	denials    []denial // by candidate; nil: not read yet
	lower      []string // by candidate, see lowered; nil: not read yet
}

// lowered is a candidate in lower case, "" where it is not ASCII: a few letters beyond are read
// as ASCII ones by expressions that look for either case.
func (f *field) lowered(i int) string {
	if f.lower == nil {
		f.lower = make([]string, len(f.candidates))
		for k := range f.candidates {
			if isASCII(f.candidates[k].text) {
				f.lower[k] = strings.ToLower(f.candidates[k].text)
			}
		}
	}
	return f.lower[i]
}

// fitness is whether a sentence has the form that is wanted, once it is known.
type fitness int8

const (
	unread fitness = iota
	fit
	unfit
)

// fits reports whether a candidate has the form of what is wanted.
func (f *field) fits(i int, w want) bool {
	if f.forms == nil {
		f.forms = map[want][]fitness{}
	}
	known := f.forms[w]
	if known == nil {
		known = make([]fitness, len(f.candidates))
		f.forms[w] = known
	}
	if known[i] == unread {
		known[i] = unfit
		if hasForm(w, f.candidates[i].text, f.lowered(i)) {
			known[i] = fit
		}
	}
	return known[i] == fit
}

// suffices judges what the candidates say of each thing that is asked.
func (f *field) suffices(asked []aspect) Sufficiency {
	out := Sufficiency{}
	total := 0
	for _, a := range asked {
		score, lack := f.answerable(a)
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
func (f *field) answerable(a aspect) (score float64, lack string) {
	shares := make([]float64, len(f.candidates))
	place := make(matches, len(f.weights))
	for i := range f.candidates {
		shares[i] = f.place(i, place).share(a.at, f.weights)
		score = max(score, shares[i])
	}
	fits, said := a.want == anything, 0.0
	for i, share := range shares {
		if share < score/2 {
			continue
		}
		if n := len(a.focus); n > 0 {
			if p := f.place(i, place); p[a.focusAt[n-1]] > synonymous {
				said = max(said, p.share(a.focusAt, f.weights))
			}
		}
		if a.measured && f.place(i, place)[a.focusAt[len(a.focusAt)-1]] == 0 {
			continue // a length of something else
		}
		fits = fits || (share > 0 || len(a.terms) == 0) && f.fitsAround(i, a.want)
	}
	switch {
	case !fits:
		return min(score, kindMissing), fmt.Sprintf("%s (“%s”)", a.want, a.asked())
	case len(a.focus) > 0 && said < a.least:
		return min(score, focusMissing), fmt.Sprintf("“%s”", a.asked())
	case f.denied(a):
		return min(score, notKnown), fmt.Sprintf("“%s”: the text says that it is not known", a.asked())
	}
	return score, ""
}

// asked is the text of an aspect without the marks around it.
func (a aspect) asked() string {
	return strings.Trim(a.text, " ,.;:?")
}

// place is what a sentence says with those next to it, which count less, written into out.
func (f *field) place(i int, out matches) matches {
	clear(out)
	for k := max(0, i-1); k < min(len(f.candidates), i+2); k++ {
		switch {
		case f.candidates[k].document != f.candidates[i].document:
		case k == i:
			out.add(f.candidates[k].matched, 1)
		default:
			out.add(f.candidates[k].matched, nearby)
		}
	}
	return out
}

// fitsAround reports whether a sentence and those next to it, as one text, have the form of what
// is wanted.
func (f *field) fitsAround(i int, w want) bool {
	var text, lower strings.Builder
	ascii := true
	for k := max(0, i-1); k < min(len(f.candidates), i+2); k++ {
		if f.candidates[k].document != f.candidates[i].document {
			continue
		}
		text.WriteString(f.candidates[k].text)
		text.WriteByte(' ')
		lower.WriteString(f.lowered(k))
		lower.WriteByte(' ')
		ascii = ascii && (f.lowered(k) != "" || f.candidates[k].text == "")
	}
	if !ascii {
		return hasForm(w, text.String(), "")
	}
	return hasForm(w, text.String(), lower.String())
}

var undetermined = regexp.MustCompile(`(?i)((?:\w+ ){1,6})(?:could not be|was not|were not|is not|has not been|cannot be) (?:positively )?(?:determined|established|identified|known|verified|confirmed)|(?:unidentified|undetermined|unknown) (\w+)`)

// undeterminedWords are what stands in each text that undetermined matches, so that most are
// passed over without it.
var undeterminedWords = []string{"determined", "established", "identified", "known", "verified", "confirmed"}

// denial is what a sentence says could not be found out.
type denial struct {
	says   bool
	spoken map[string]bool // the stems of it
}

func denialIn(text, lower string) denial {
	if lower != "" && !containsAny(lower, undeterminedWords) {
		return denial{}
	}
	about := ""
	for _, m := range undetermined.FindAllStringSubmatch(text, -1) {
		about += m[1] + " " + m[2] + " "
	}
	return denial{about != "", stems(about)}
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// denied reports whether the text says of a word that is asked about that it could not be
// found out, and says nothing else of it.
func (f *field) denied(a aspect) bool {
	if f.denials == nil {
		f.denials = make([]denial, len(f.candidates))
		for i := range f.candidates {
			f.denials[i] = denialIn(f.candidates[i].text, f.lowered(i))
		}
	}
	for k, t := range a.terms {
		unknown, known := false, false
		for i, d := range f.denials {
			for stem := range d.spoken {
				unknown = unknown || t == stem || derived(t, stem) || strings.HasPrefix(stem, t) && len(t) > 2
			}
			known = known || !d.says && f.candidates[i].matched[a.at[k]] > 0
		}
		if unknown && !known {
			return true
		}
	}
	return false
}
