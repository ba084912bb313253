package chunk

// packer puts units together to chunks.
type packer struct {
	text string
	opt  *Options
	out  []packed
}

// packed is the byte range of a chunk with what stands above it.
type packed struct {
	start, end int
	heading    string
}

// pack packs the units of a section. Stretches that fit into one chunk whole share it;
// all others are cut by themselves, so that no chunk holds a piece of one and a piece
// of the next.
func (p *packer) pack(units []unit) {
	for len(units) > 0 {
		n := p.together(units)
		if n > 0 {
			p.add(units[:n], 0)
		} else {
			n = stretchLength(units)
			p.spread(units[:n])
		}
		units = units[n:]
	}
}

// add makes a chunk of units under the heading of one of them.
func (p *packer) add(units []unit, of int) {
	p.out = append(p.out, packed{units[0].start, units[len(units)-1].end, units[of].heading})
}

// together is the number of units in the whole stretches, from the first on, that fit
// into one chunk.
func (p *packer) together(units []unit) int {
	ends := []int{0}
	for end, sum := 0, 0; end < len(units); {
		n := stretchLength(units[end:])
		for _, u := range units[end : end+n] {
			if sum += u.size; sum > units[0].budget {
				break
			}
		}
		if sum > units[0].budget {
			break
		}
		end += n
		ends = append(ends, end)
	}
	return ends[shrink(0, len(ends)-1, func(i int) bool { return p.fit(units[:ends[i]], units[0].budget) })]
}

func stretchLength(units []unit) int {
	n := 1
	for n < len(units) && units[n].stretch == units[0].stretch {
		n++
	}
	return n
}

// fit measures units as the one text they are.
func (p *packer) fit(units []unit, budget int) bool {
	return p.opt.fits(p.text[units[0].start:units[len(units)-1].end], budget)
}

// shrink returns the largest n in (from, to] for which ok holds, or from. Sums of sizes
// are exact for word pieces, so that the first try nearly always holds; a Sizer that
// counts what stands between as well is met halfway.
func shrink(from, to int, ok func(n int) bool) int {
	if to == from || ok(to) {
		return to
	}
	for to-from > 1 { // from holds or is the least, to does not hold
		if middle := from + (to-from)/2; ok(middle) {
			from = middle
		} else {
			to = middle
		}
	}
	return from
}

// spread cuts units that are too much for one chunk into chunks of about equal size.
func (p *packer) spread(units []unit) {
	target, run := 0, 0 // run is where units under another heading begin
	last := -1          // first unit of the chunk before
	for i := 0; i < len(units); {
		if i >= run {
			for run = i + 1; run < len(units) && units[run].heading == units[i].heading; {
				run++
			}
			target = p.target(units[i:run])
		}
		budget := units[i].budget
		first, size := p.overlapped(units, last+1, i)
		size += units[i].size
		end := i + 1
		for end < len(units) && joins(units, end, size, target, budget) {
			size += units[end].size
			end++
		}
		if !p.fit(units[first:end], budget) {
			first = i
			end = shrink(i+1, end, func(n int) bool { return p.fit(units[i:n], budget) })
		}
		p.add(units[first:end], i-first)
		last, i = first, end
	}
}

// target is the size that gives chunks of about equal size instead of full ones and
// a rest.
func (p *packer) target(units []unit) int {
	total, budget := 0, units[0].budget
	for _, u := range units {
		total += u.size
	}
	if total <= budget {
		return budget
	}
	each := max(budget-p.opt.Overlap, 1)
	n := (total - p.opt.Overlap + each - 1) / each
	return (total-p.opt.Overlap+n-1)/n + p.opt.Overlap
}

// joins reports whether unit i goes into a chunk of a size so far.
func joins(units []unit, i, size, target, budget int) bool {
	u := units[i]
	switch {
	case size+u.size > budget:
		return false
	case units[i-1].leads: // a heading goes with what follows it
		return true
	case u.heading != units[i-1].heading: // pieces of tables are not mixed with text
		return false
	case size >= target:
		return false
	case u.paragraph > 0 && size >= target/2 && size+u.paragraph > budget:
		return false // the paragraph will fit into the next chunk whole, or be cut anyway
	}
	return true
}

// overlapped returns the unit a chunk that begins with unit i starts to repeat from,
// not before the earliest, and the size of what is repeated.
func (p *packer) overlapped(units []unit, earliest, i int) (first, size int) {
	first = i
	room := min(p.opt.Overlap, units[i].budget-units[i].size)
	for first > earliest && units[first-1].sentence && units[i].sentence && size+units[first-1].size <= room {
		first--
		size += units[first].size
	}
	return first, size
}
