package extract

import (
	"regexp"
	"slices"
	"strings"
)

// edgeRows is how many rows at the top and the foot of a page can be running ones.
const edgeRows = 4

var (
	digits    = regexp.MustCompile(`\d+`)
	pageCount = regexp.MustCompile(`^(page )?# (of|/) #$`)
	leaders   = regexp.MustCompile(`\s*(?:\.\s?){4,}\s*`)
)

// removeRunning takes running headers and footers off the pages and returns how many
// rows that were. A row runs if it stands at the edge of many pages, numbers aside. One
// that is the same to the letter stays where it stands first: it may be the title.
func removeRunning(pages []pdfPage) int {
	type edge struct {
		pages int
		texts map[string]bool
	}
	seen := map[string]*edge{}
	for i := range pages {
		for key, text := range edgesOf(&pages[i]) {
			e := seen[key]
			if e == nil {
				e = &edge{texts: map[string]bool{}}
				seen[key] = e
			}
			e.pages++
			if len(e.texts) < 3 {
				e.texts[text] = true
			}
		}
	}
	removed := 0
	kept := map[string]bool{}
	offset, numbered := pageOffset(pages)
	for i := range pages {
		p := &pages[i]
		first, last := edgeRange(p)
		rows := p.rows[:0:0]
		for j, r := range p.rows {
			key := runningKey(r)
			e := seen[key]
			if (j < first || j >= last) && pageCount.MatchString(key) {
				removed++
				continue
			}
			if key == "#" {
				if n := number(r.text(), 0); (j < first || j >= last) && numbered && n-p.number == offset {
					removed++
					continue
				}
				rows = append(rows, r)
				continue
			}
			if (j < first || j >= last) && e != nil && runs(e.pages, len(e.texts) > 1, len(pages)) {
				if len(e.texts) > 1 || kept[key] {
					removed++
					continue
				}
				kept[key] = true
			}
			rows = append(rows, r)
		}
		p.rows = rows
	}
	return removed
}

// pageOffset finds page numbers that stand alone at the edges: numbers that differ from
// the count of pages by the same on most of them.
func pageOffset(pages []pdfPage) (offset int, found bool) {
	counts := map[int]int{}
	for i := range pages {
		p := &pages[i]
		first, last := edgeRange(p)
		here := map[int]bool{}
		for _, r := range slices.Concat(p.rows[:first], p.rows[last:]) {
			if n := number(r.text(), -1); n >= 0 && !here[n-p.number] {
				here[n-p.number] = true
				counts[n-p.number]++
			}
		}
	}
	most := 0
	for o, n := range counts {
		if n > most || n == most && o < offset {
			offset, most = o, n
		}
	}
	return offset, most >= 2 && most*2 >= len(pages)
}

// runs reports whether a row on some of the pages is a running one. On two pages only a
// row that counts them is.
func runs(on int, counts bool, pages int) bool {
	if pages == 2 {
		return on == 2 && counts
	}
	return on >= max(3, min((pages*3+9)/10, 8))
}

// edgeRange returns the rows that are not at the edges. The outermost row is one; those
// after it are if a gap sets them apart from the text.
func edgeRange(p *pdfPage) (first, last int) {
	n := len(p.rows)
	first = edgeDepth(n, func(i int) (gap, height float32) {
		return p.rows[i+1].top() - p.rows[i].bottom(), p.rows[i].bottom() - p.rows[i].top()
	})
	last = n - edgeDepth(n, func(i int) (gap, height float32) {
		return p.rows[n-1-i].top() - p.rows[n-2-i].bottom(), p.rows[n-1-i].bottom() - p.rows[n-1-i].top()
	})
	return first, max(first, last)
}

// edgeDepth counts rows from an edge to the first gap after one of them.
func edgeDepth(n int, after func(i int) (gap, height float32)) int {
	for i := range min(edgeRows, n-1) {
		if gap, height := after(i); gap > 0.9*height {
			return i + 1
		}
	}
	return min(n, 1)
}

// edgesOf returns the rows at the edges of a page, each with its key once.
func edgesOf(p *pdfPage) map[string]string {
	first, last := edgeRange(p)
	out := map[string]string{}
	for _, r := range slices.Concat(p.rows[:first], p.rows[last:]) {
		out[runningKey(r)] = r.text()
	}
	return out
}

// runningKey is a row without its numbers.
func runningKey(r row) string {
	return digits.ReplaceAllString(strings.ToLower(strings.Join(strings.Fields(r.text()), " ")), "#")
}
