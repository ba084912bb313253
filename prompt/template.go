package prompt

import (
	"regexp"
	"strings"
	"sync"
)

// template is one half of a prompt. The pieces it is put together from depend only on which of
// its optional lines are left out; they are cut once for each choice of them.
type template struct {
	text     string
	optional []string // slots of the optional lines, in order

	mu  sync.Mutex
	cut map[uint64][]piece // by the lines that are left out, as bits
}

// piece is text as it stands, then a slot; the last one has none.
type piece struct{ text, slot string }

const optionalMark = "{{?"

var (
	anySlot = regexp.MustCompile(`\{\{([a-z ]+)\}\}`)
	blanks  = regexp.MustCompile(`\n{3,}`)
)

func templateOf(text string) *template {
	t := &template{text: text, cut: map[uint64][]piece{}}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, optionalMark); ok {
			name, _, _ := strings.Cut(rest, "}}")
			t.optional = append(t.optional, name)
		}
	}
	return t
}

func (t *template) fill(in slots) string {
	var without uint64
	for i, name := range t.optional {
		if in[name] == "" {
			without |= 1 << i
		}
	}
	pieces := t.pieces(without)
	size := 0
	for _, p := range pieces {
		value, ok := in[p.slot]
		if !ok && p.slot != "" {
			panic("prompt: nothing fills {{" + p.slot + "}}")
		}
		size += len(p.text) + len(value)
	}
	var b strings.Builder
	b.Grow(size)
	for _, p := range pieces {
		b.WriteString(p.text)
		b.WriteString(in[p.slot])
	}
	return b.String()
}

// pieces cuts the template without some of its optional lines.
func (t *template) pieces(without uint64) []piece {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.cut[without]; ok {
		return known
	}
	var kept strings.Builder
	n := 0
	for line := range strings.Lines(t.text) {
		if rest, ok := strings.CutPrefix(line, optionalMark); ok {
			left := without&(1<<n) != 0
			n++
			if left {
				continue
			}
			_, line, _ = strings.Cut(rest, "}}")
		}
		kept.WriteString(line)
	}
	text := blanks.ReplaceAllString(strings.TrimSpace(kept.String()), "\n\n")
	var out []piece
	from := 0
	for _, at := range anySlot.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, piece{text[from:at[0]], text[at[2]:at[3]]})
		from = at[1]
	}
	out = append(out, piece{text: text[from:]})
	t.cut[without] = out
	return out
}
