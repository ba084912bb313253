// Package signal measures how far a set of passages can be trusted for a question: which of
// the things asked it speaks of, how many sources stand behind it, how old it is, and
// whether to proceed or ask again. Everything here is a pure function of what was found; the
// numbers drive the rounds of retrieval and are shown to whoever called, who may think
// otherwise.
package signal

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
)

// The recommendations.
const (
	Proceed = "proceed"
	Requery = "re-query"
)

// Enough is the share of aspects from which a caller should proceed (0.7 in the article on
// retrieval signals for agents that the wire format follows).
const Enough = 0.7

// said is the share of an aspect's content words that passages must say for it to be
// covered. One word of three may be the asker's own: "the cause of the fire".
const said = 0.66

// Coverage says which aspects the passages speak of. An aspect is covered when one passage
// says most of its content words, in whatever inflection: words strewn over passages about
// different things say nothing together.
func Coverage(aspects []string, passages []sextant.Passage) sextant.CoverageSignals {
	texts := make([]map[string]bool, len(passages))
	for i, p := range passages {
		texts[i] = Stems(p.Title + " " + p.Heading + " " + p.Content)
	}
	out := sextant.CoverageSignals{Covered: []string{}, Missing: []string{}, Ratio: 1}
	for _, aspect := range aspects {
		if covered(Stems(aspect), texts) {
			out.Covered = append(out.Covered, aspect)
		} else {
			out.Missing = append(out.Missing, aspect)
		}
	}
	if n := len(aspects); n > 0 {
		out.Ratio = float64(len(out.Covered)) / float64(n)
	}
	if len(passages) == 0 {
		out.Ratio = 0
	}
	return out
}

func covered(aspect map[string]bool, texts []map[string]bool) bool {
	if len(aspect) == 0 {
		return len(texts) > 0
	}
	for _, text := range texts {
		n := 0
		for stem := range aspect {
			if text[stem] {
				n++
			}
		}
		if float64(n) >= said*float64(len(aspect)) {
			return true
		}
	}
	return false
}

// Stems returns the distinct stems of a text's content words.
func Stems(text string) map[string]bool {
	out := make(map[string]bool, len(text)/bytesAStem)
	lexical.English().Each(text, func(word, stem string) {
		if !function[word] {
			out[stem] = true
		}
	})
	return out
}

// bytesAStem is how much text brings a new stem, more or less, in passages of some hundred words.
const bytesAStem = 12

// function are the words that hold sentences together and say nothing by themselves. Words
// that deny are not among them.
var function = words(`a about after all also am an and any are as at be because been before being between both but by can could did do does during each either for from
had has have he her here him his how i if in into is it its itself just me might more most must my of off on once one only or other our out over own shall she should so some such than that the their them then
there these they this those through to too under until up upon very was we were what when where which while who whom whose why will with would you your`)

func words(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}

// Confidence is the coverage, lowered while few passages stand behind it: one supports less
// than five that say the same. 0 to 1; not calibrated against judgements.
func Confidence(coverage float64, passages int) float64 {
	if passages == 0 {
		return 0
	}
	return coverage * min(1, 0.5+0.1*float64(passages))
}

// Diversity says how many kinds of source and which months the passages span, newest month
// first. dates names the date field of each collection.
func Diversity(passages []sextant.Passage, dates map[string]string) sextant.SourceDiversity {
	out := sextant.SourceDiversity{Timestamps: []string{}}
	domains := map[string]bool{}
	for _, p := range passages {
		domains[p.Source] = true
		if t, ok := dated(p, dates); ok {
			if month := t.Format("2006-01"); !slices.Contains(out.Timestamps, month) {
				out.Timestamps = append(out.Timestamps, month)
			}
		}
	}
	out.Domains = len(domains)
	slices.SortFunc(out.Timestamps, func(a, b string) int { return strings.Compare(b, a) })
	return out
}

// halfLife is the age at which a passage counts half as fresh.
const halfLife = 365 * 24 * time.Hour

// Freshness is the mean freshness of the dated passages on a day: 1 for one of that day,
// one half for one a year old, rounded to four places. It is nil where none is dated:
// nothing is known then.
func Freshness(passages []sextant.Passage, dates map[string]string, asOf time.Time) *float64 {
	var sum float64
	n := 0
	asOf = asOf.UTC().Truncate(24 * time.Hour)
	for _, p := range passages {
		if t, ok := dated(p, dates); ok {
			age := max(0, asOf.Sub(t))
			sum += math.Exp2(-float64(age) / float64(halfLife))
			n++
		}
	}
	if n == 0 {
		return nil
	}
	mean := math.Round(1e4*sum/float64(n)) / 1e4
	return &mean
}

func dated(p sextant.Passage, dates map[string]string) (time.Time, bool) {
	field := dates[p.Source]
	if field == "" {
		return time.Time{}, false
	}
	v := p.Metadata.Fields.One(field)
	if v.Kind() != filter.Time {
		return time.Time{}, false
	}
	return v.Time(), true
}

// Recommend says whether to proceed with what was found or to ask again.
func Recommend(coverage float64) string {
	if coverage < Enough {
		return Requery
	}
	return Proceed
}
