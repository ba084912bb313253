package bert

import (
	"context"

	"github.com/sextant-rag/sextant/bert/internal/kernel"
)

const (
	// ffnRows is how many tokens go through the feed-forward network together: enough to
	// use each panel of weights well, few enough that what lies between its two layers stays
	// in the second-level cache.
	ffnRows = 96
	// attentionRows is how many queries meet all keys together; their scores stay in the
	// first-level cache.
	attentionRows = 24
	// masked is the score of a key that is padding.
	masked = -1e30
)

// A workspace holds the intermediate results of one sequence. It grows to the longest
// sequence it has seen, at most the model's limit, and allocates nothing after.
type workspace struct {
	tokens []Token
	ids    []int32
	types  []uint8

	x, y    []float32 // tokens x hidden: states, and what is to be added to them
	qkv     []float32 // [3][heads][tokens][head width], and a panel of slack
	keys    []float32 // one head's keys, transposed: [tokens/Width][head width][Width]
	scores  []float32 // [attentionRows][tokens, rounded up to Width]
	mask    []float32 // added to the last panel of scores
	sums    []float32 // reciprocals of softmax sums
	up      []float32 // [ffnRows][intermediate]
	codes   []byte
	upCodes []byte
	scales  []kernel.RowScale
}

// grow makes room for a sequence of n tokens.
func (w *workspace) grow(c *Config, set kernel.Set, n int) {
	if len(w.x) >= n*c.Hidden {
		return
	}
	// A little more than asked, so that slowly rising lengths do not each allocate.
	n = min(c.MaxTokens, (n+63)/64*64)
	padded := roundUp(n)
	w.x, w.y = make([]float32, n*c.Hidden), make([]float32, n*c.Hidden)
	w.qkv = make([]float32, 3*n*c.Hidden+kernel.Width*c.headWidth())
	w.keys = make([]float32, padded*c.headWidth())
	w.scores, w.sums = make([]float32, attentionRows*padded), make([]float32, attentionRows)
	w.mask = make([]float32, kernel.Width)
	w.up = make([]float32, ffnRows*c.Intermediate)
	w.codes = make([]byte, n*c.Hidden*set.CodeBytes())
	w.upCodes = make([]byte, ffnRows*c.Intermediate*set.CodeBytes())
	w.scales = make([]kernel.RowScale, max(n, ffnRows))
}

func roundUp(n int) int { return (n + kernel.Width - 1) / kernel.Width * kernel.Width }

// forward runs the sequence w.ids, with segments w.types, and leaves the states of its
// tokens in w.x. It looks at ctx between layers and between blocks of tokens.
func (m *Model) forward(ctx context.Context, set kernel.Set, w *workspace) error {
	w.grow(&m.config, set, len(w.ids))
	m.embed(set, w)
	for i := range m.layers {
		if err := m.layers[i].attend(ctx, &m.config, set, w); err != nil {
			return err
		}
		if err := m.layers[i].feed(ctx, &m.config, set, w); err != nil {
			return err
		}
	}
	return nil
}

// embed sets w.x to the normalised sum of word, position and type embeddings.
func (m *Model) embed(set kernel.Set, w *workspace) {
	h := m.config.Hidden
	for i, id := range w.ids {
		start := m.starts[w.types[i]][i*h : (i+1)*h]
		set.Embed(w.x[i*h:(i+1)*h], m.words[int(id)*h:(int(id)+1)*h], &m.wordScales[id], start)
	}
	zero := w.y[:h]
	clear(zero)
	set.AddNorm(w.x, w.x, zero, &m.embedNorm, len(w.ids), h)
}

// attend adds attention to the states.
func (l *layer) attend(ctx context.Context, c *Config, set kernel.Set, w *workspace) error {
	n, h, d := len(w.ids), c.Hidden, c.headWidth()
	set.Quantize(w.codes, w.scales, w.x, n, h)
	for p := range 3 * h / kernel.Width {
		// Each head's queries, keys and values lie together: column·n would be its place if
		// heads were one panel wide; wider heads interleave their panels.
		column := p * kernel.Width
		set.MultiplyCodes(w.qkv[column/d*d*n+column%d:], d, w.codes, w.scales, n, l.qkv, p)
	}
	for head := range c.Heads {
		if err := ctx.Err(); err != nil {
			return err
		}
		attendHead(c, set, w, head)
	}
	set.Quantize(w.codes, w.scales, w.y, n, h)
	multiply(set, w.y, w.codes, w.scales, n, l.attended)
	set.AddNorm(w.x, w.y, w.x, &l.attendedNorm, n, h)
	return nil
}

// attendHead writes one head's mixture of values to its columns of w.y.
func attendHead(c *Config, set kernel.Set, w *workspace, head int) {
	n, h, d := len(w.ids), c.Hidden, c.headWidth()
	padded := roundUp(n)
	part := func(i int) []float32 { return w.qkv[(i*c.Heads+head)*n*d:] }
	queries, keys, values := part(0), part(1), part(2)
	// The last panel takes in what lies after the keys: other finite numbers, masked below.
	for p := 0; p < padded; p += kernel.Width {
		set.TransposePanel(w.keys[p*d:], keys[p*d:], d)
	}
	for i := range w.mask {
		w.mask[i] = 0
		if padded-kernel.Width+i >= n {
			w.mask[i] = masked
		}
	}
	for first := 0; first < n; first += attentionRows {
		rows := min(attentionRows, n-first)
		for p := 0; p < padded; p += kernel.Width {
			var mask []float32
			if p == padded-kernel.Width {
				mask = w.mask
			}
			set.MultiplyFloats(w.scores[p:], padded, queries[first*d:], d, w.keys[p*d:], kernel.Width, d, rows, mask, nil)
		}
		set.Softmax(w.scores, padded, rows, w.sums)
		for column := 0; column < d; column += kernel.Width {
			set.MultiplyFloats(w.y[first*h+head*d+column:], h, w.scores, padded, values[column:], d, n, rows, nil, w.sums)
		}
	}
}

// feed adds the feed-forward network to the states.
func (l *layer) feed(ctx context.Context, c *Config, set kernel.Set, w *workspace) error {
	h := c.Hidden
	for first := 0; first < len(w.ids); first += ffnRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := min(ffnRows, len(w.ids)-first)
		x, y := w.x[first*h:(first+rows)*h], w.y[first*h:(first+rows)*h]
		set.Quantize(w.codes, w.scales, x, rows, h)
		multiply(set, w.up, w.codes, w.scales, rows, l.up)
		set.GeluQuantize(w.upCodes, w.scales, w.up, rows, c.Intermediate)
		multiply(set, y, w.upCodes, w.scales, rows, l.down)
		set.AddNorm(x, y, x, &l.downNorm, rows, h)
	}
	return nil
}

// multiply writes codes·m + bias, rows of m.N floats.
func multiply(set kernel.Set, out []float32, codes []byte, scales []kernel.RowScale, rows int, m *kernel.Matrix) {
	for p := range m.N / kernel.Width {
		set.MultiplyCodes(out[p*kernel.Width:], m.N, codes, scales, rows, m, p)
	}
}
