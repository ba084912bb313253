package constrain

import (
	"index/suffixarray"
	"sort"
	"sync"
)

// parts finds values by a part of them, built when first asked for. A scan of the
// values would cost milliseconds: there are ten thousand models, twenty thousand
// airport names.
type parts struct {
	once  sync.Once
	index *partIndex
}

// partIndex is a suffix array over the folded values, each after a NUL byte.
type partIndex struct {
	suffixes *suffixarray.Index
	starts   []int // of each value, rising
	counts   []int64
}

func (fv *fieldValues) partIndex() *partIndex {
	fv.parts.once.Do(func() {
		x := &partIndex{}
		var text []byte
		for folded, value := range fv.byFold {
			x.starts = append(x.starts, len(text))
			x.counts = append(x.counts, value.Count)
			text = append(append(text, 0), folded...)
		}
		x.suffixes = suffixarray.New(text)
		fv.parts.index = x
	})
	return fv.parts.index
}

// enough matches are looked at first: nearly every question is settled by them.
const enough = 64

// atLeast reports whether the values that contain sub count least units together.
func (x *partIndex) atLeast(sub string, least int64) bool {
	for _, limit := range []int{enough, -1} {
		matches := x.suffixes.Lookup([]byte(sub), limit)
		var n int64
		seen := make(map[int]bool, len(matches))
		for _, at := range matches {
			i := sort.SearchInts(x.starts, at+1) - 1
			if !seen[i] {
				seen[i] = true
				n += x.counts[i]
			}
			if n >= least {
				return true
			}
		}
		if len(matches) < enough {
			return false
		}
	}
	return false
}
