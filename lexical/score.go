package lexical

// scorer scores the rows of one part after the other, term by term: each term adds to
// a dense array of scores, which is looked through at the end.
type scorer struct {
	top     topK
	score   []float32 // by ordinal; zero between parts
	a, b    float32   // K1*(1-B) and K1*B/average: what a row's length is worth
	lengths []float32
}

func (sc *scorer) begin(st *state, p BM25, k int) {
	sc.top.reset(k)
	sc.a = p.K1 * (1 - p.B)
	sc.b = p.K1 * p.B * float32(float64(st.rows)/st.length)
}

func (sc *scorer) part(p *part, terms []Matched, mask []uint64) {
	n := len(p.seg.rows)
	if len(sc.score) < n {
		sc.score = make([]float32, n)
	}
	sc.lengths = p.seg.lengths
	any := false
	for _, t := range terms {
		if f := p.seg.family([]byte(t.Stem)); f >= 0 {
			sc.add(p.seg.list(f).docs, t.factor())
			any = true
		}
	}
	if any {
		sc.collect(p, mask)
	}
}

// add adds a term of one word.
func (sc *scorer) add(docs []byte, factor float32) {
	score := sc.score[:len(sc.lengths)]
	ord := -1
	for i := 0; i+1 < len(docs); i += 2 {
		d := int(docs[i])
		if d >= 0x80 {
			u, next := uvarint(docs, i)
			d, i = int(u), next-1
		}
		ord += d
		f := float32(docs[i+1])
		score[ord] += factor * f / (f + sc.a + sc.b*sc.lengths[ord])
	}
}

// collect offers the scored rows that pass to the top and clears the scores.
func (sc *scorer) collect(p *part, mask []uint64) {
	score := sc.score[:len(p.seg.rows)]
	least := sc.top.least
	for ord, s := range score {
		if s <= least {
			continue
		}
		row := p.seg.rows[ord]
		if !passes(mask, row) || p.removed.has(ord) {
			continue
		}
		least = sc.top.offer(row, s)
	}
	clear(score)
}

// passes reports whether the row is in the mask.
func passes(mask []uint64, row uint32) bool {
	if mask == nil {
		return true
	}
	w := int(row >> 6)
	return w < len(mask) && mask[w]>>(row&63)&1 != 0
}

// topK keeps the k best hits as a heap with the worst on top. Rows come in rising
// order, so of two equal scores the one that is there stays.
type topK struct {
	k     int
	hits  []Hit
	least float32 // a score must be above this to get in
}

func (t *topK) reset(k int) { t.k, t.hits, t.least = k, t.hits[:0], 0 }

// offer puts a row in and returns what the next must be above.
func (t *topK) offer(row uint32, score float32) float32 {
	if len(t.hits) < t.k {
		t.hits = append(t.hits, Hit{Row: row, Score: score})
		t.up(len(t.hits) - 1)
	} else {
		t.hits[0] = Hit{Row: row, Score: score}
		t.down(0)
	}
	if len(t.hits) == t.k {
		t.least = t.hits[0].Score
	}
	return t.least
}

// worse is the order of the heap.
func (t *topK) worse(i, j int) bool {
	a, b := t.hits[i], t.hits[j]
	return a.Score < b.Score || a.Score == b.Score && a.Row > b.Row
}

func (t *topK) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.worse(i, parent) {
			return
		}
		t.hits[i], t.hits[parent] = t.hits[parent], t.hits[i]
		i = parent
	}
}

func (t *topK) down(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.hits); child++ {
			if t.worse(child, worst) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.hits[i], t.hits[worst] = t.hits[worst], t.hits[i]
		i = worst
	}
}

// sorted returns a copy of the hits, best first.
func (t *topK) sorted() []Hit {
	out := make([]Hit, len(t.hits))
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = t.hits[0]
		last := len(t.hits) - 1
		t.hits[0] = t.hits[last]
		t.hits = t.hits[:last]
		t.down(0)
	}
	return out
}
