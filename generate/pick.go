package generate

import (
	"cmp"
	"slices"
)

// What a sentence gains by having the kind of thing that is asked for, and by what stands
// right before and behind it.
const (
	fitting     = 0.35
	surrounding = 0.3
	repeated    = 0.7 // of what a sentence says of terms that were said already, so much is lost
)

// pick chooses sentences that complement each other: in turn for each thing that is asked
// the one that says most of it that has not been said. They come in the order of the text.
func (f *field) pick(in Input, asked []aspect) []sentence {
	most := 2
	switch {
	case in.Narrow && len(in.Topic) == 0:
		most = in.Limit // the record is the answer: as much of it as fits
	case in.Narrow:
		most = max(4, in.Limit-2)
	}
	pinned := f.pin(asked)
	switch {
	case pinned >= 0:
		most = max(2, in.Limit-2)
	case !in.Narrow:
		in.Limit = min(in.Limit, scattered)
	}
	p := picker{field: f, pinned: pinned, most: most, taken: map[int]bool{}, perDocument: map[int]int{}, said: make(matches, len(f.weights)), fresh: make(matches, len(f.weights))}
	if len(asked) == 0 {
		asked = []aspect{{}}
	}
	for tired := 0; tired < len(asked) && len(p.taken) < in.Limit; {
		tired = 0
		for _, a := range asked {
			if len(p.taken) < in.Limit && !p.next(a) {
				tired++
			}
		}
	}
	if in.Narrow || pinned >= 0 {
		p.complete(min(in.Limit, told+len(in.Documents)/2))
	}
	var out []sentence
	for i, s := range f.candidates {
		if p.taken[i] {
			out = append(out, s)
		}
	}
	return out
}

// scattered is how many sentences of different documents stand for what they say.
const scattered = 6

// told is how many sentences of a record tell what it is about.
const told = 8

// pin returns the one document that says so much more of the question than all others that
// it must be the one that is meant; -1 if there is none.
func (f *field) pin(asked []aspect) int {
	var terms []int
	for _, a := range asked {
		terms = append(terms, a.at...)
	}
	if len(terms) < 3 {
		return -1
	}
	best, first, second := -1, 0.0, 0.0
	whole := make(matches, len(f.weights))
	for i := 0; i < len(f.candidates); {
		document := f.candidates[i].document
		clear(whole)
		for ; i < len(f.candidates) && f.candidates[i].document == document; i++ {
			whole.add(f.candidates[i].matched, 1)
		}
		switch share := whole.share(terms, f.weights); {
		case share > first:
			best, first, second = document, share, first
		case share > second:
			second = share
		}
	}
	const ahead = 0.15
	if first < 0.5 || first < second+ahead {
		return -1
	}
	return best
}

// rounds is how often complete goes over the text.
const rounds = 6

// complete adds what stands right behind the sentences that were taken, then what stands
// before them: the circumstances without which they are hard to understand.
func (p *picker) complete(limit int) {
	for round, step := 0, 1; round < rounds; round, step = round+1, -step {
		var at []int
		for i := range p.taken {
			at = append(at, i)
		}
		slices.SortFunc(at, func(a, b int) int {
			return cmp.Or(cmp.Compare(p.candidates[b].score, p.candidates[a].score), cmp.Compare(a, b))
		})
		for _, i := range at {
			k := i + step
			if len(p.taken) >= limit || k < 0 || k >= len(p.candidates) || p.taken[k] {
				continue
			}
			if p.candidates[k].document == p.candidates[i].document {
				p.taken[k] = true
			}
		}
	}
}

// picker is the choice of sentences under way.
type picker struct {
	*field
	pinned      int // the one document they come from, -1: any
	most        int // of one document
	taken       map[int]bool
	perDocument map[int]int
	said        matches
	fresh       matches // scratch
}

// next takes the best sentence for an aspect, if there is one that says enough.
func (p *picker) next(a aspect) bool {
	best, at := least, -1
	for i := range p.candidates {
		document := p.candidates[i].document
		if p.taken[i] || p.perDocument[document] >= p.most || p.pinned >= 0 && document != p.pinned {
			continue
		}
		if score := p.gain(i, a); score > best {
			best, at = score, i
		}
	}
	if at < 0 {
		return false
	}
	s := &p.candidates[at]
	p.taken[at] = true
	p.perDocument[s.document]++
	s.score = max(s.score, best)
	p.said.add(s.matched, 1)
	return true
}

// gain is what a sentence adds for an aspect.
func (p *picker) gain(i int, a aspect) float64 {
	s := &p.candidates[i]
	score := s.score
	if len(a.terms) > 0 {
		for t, strength := range s.matched {
			p.fresh[t] = strength * (1 - repeated*min(p.said[t], strength))
		}
		score = 0.5*s.score + p.fresh.share(a.at, p.weights)
	}
	around := p.around(i, a)
	if score > 0 {
		score += surrounding * around
	}
	if a.want != anything && p.fits(i, a.want) {
		score += fitting * min(1, 0.3+2*(s.matched.share(a.at, p.weights)+surrounding*around))
	}
	return score
}

// around is what the sentences next to one say of an aspect.
func (p *picker) around(i int, a aspect) float64 {
	best := 0.0
	for _, k := range []int{i - 1, i + 1} {
		if k >= 0 && k < len(p.candidates) && p.candidates[k].document == p.candidates[i].document {
			best = max(best, p.candidates[k].matched.share(a.at, p.weights))
		}
	}
	return best
}
