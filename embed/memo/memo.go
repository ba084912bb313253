// Package memo keeps vectors of known texts in a file, so that these need not be encoded
// again: a program that ships documents ships their vectors with them.
//
// # Form
//
// A DEFLATE stream of a magic line, the fingerprint of the encoder in text form and a line
// break, the number of texts as uint32, the step as float32, the mean vector as float32s;
// then, in order of the digests, the first eight bytes of each text's SHA-256, and a row of
// int8 for each: how many steps its components are from the mean. All numbers are
// little-endian.
//
// Texts of one kind lie close to their mean, so steps from it are small numbers that
// compress to two thirds of what int8 with a scale a row takes, at a cosine to the vectors
// themselves of 0.9998: nearer than the encoder is to its own model in 32 bits.
package memo

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant/embed"
)

const magic = "sextant vectors 1\n"

// step is the distance between two values that are told apart.
const step = 0.003

// Bounds of a file, so that a damaged one takes no memory that is not there.
const (
	maxTexts = 1 << 20
	maxDim   = 1 << 12
)

// ErrFormat is wrapped by errors about files that Read does not understand.
var ErrFormat = errors.New("not a file of vectors")

type digest [8]byte

func digestOf(text string) digest {
	sum := sha256.Sum256([]byte(text))
	return digest(sum[:8])
}

// Table holds the vectors of texts. It is not changed after it is read.
type Table struct {
	fingerprint embed.Fingerprint
	mean        []float32
	step        float32
	rows        map[digest]int
	codes       []int8
}

// Fingerprint says what made the vectors.
func (t *Table) Fingerprint() embed.Fingerprint { return t.fingerprint }

// Len is the number of texts.
func (t *Table) Len() int { return len(t.rows) }

// Vector returns the vector of a text, of unit length, if the table has it.
func (t *Table) Vector(text string) ([]float32, bool) {
	row, ok := t.rows[digestOf(text)]
	if !ok {
		return nil, false
	}
	v := make([]float32, len(t.mean))
	sum := 0.0
	for i, code := range t.codes[row*len(v):][:len(v)] {
		v[i] = t.mean[i] + t.step*float32(code)
		sum += float64(v[i]) * float64(v[i])
	}
	length := float32(math.Sqrt(sum))
	for i := range v {
		v[i] /= length
	}
	return v, true
}

// Write writes the vectors of texts, one each, all of unit length. A text may come more
// than once.
func Write(w io.Writer, f embed.Fingerprint, texts []string, vectors [][]float32) error {
	if len(texts) != len(vectors) || len(texts) == 0 || len(texts) > maxTexts || f.Dim < 1 || f.Dim > maxDim {
		return fmt.Errorf("write vectors: %d texts, %d vectors of %d dimensions", len(texts), len(vectors), f.Dim)
	}
	for i, v := range vectors {
		if len(v) != f.Dim {
			return fmt.Errorf("write vectors: vector %d has %d dimensions, not %d", i, len(v), f.Dim)
		}
	}
	order := make([]int, len(texts))
	digests := make([]digest, len(texts))
	for i, text := range texts {
		order[i], digests[i] = i, digestOf(text)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(bytes.Compare(digests[a][:], digests[b][:]), cmp.Compare(a, b)) })
	order = slices.CompactFunc(order, func(a, b int) bool { return digests[a] == digests[b] })
	mean := meanOf(vectors)
	var out bytes.Buffer
	out.WriteString(magic + f.String() + "\n")
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(order))))
	writeFloats(&out, step)
	writeFloats(&out, mean...)
	for _, i := range order {
		out.Write(digests[i][:])
	}
	for _, i := range order {
		for k, x := range vectors[i] {
			out.WriteByte(byte(int8(max(-127, min(127, math.Round(float64(x-mean[k])/step))))))
		}
	}
	z, err := flate.NewWriter(w, flate.BestCompression)
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	_, err = z.Write(out.Bytes())
	return errors.Join(err, z.Close())
}

func meanOf(vectors [][]float32) []float32 {
	mean := make([]float32, len(vectors[0]))
	for k := range mean {
		sum := 0.0
		for _, v := range vectors {
			sum += float64(v[k])
		}
		mean[k] = float32(sum / float64(len(vectors)))
	}
	return mean
}

func writeFloats(out *bytes.Buffer, all ...float32) {
	for _, x := range all {
		out.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
	}
}

// Read reads what Write wrote. Errors wrap [ErrFormat] or are those of r.
func Read(r io.Reader) (*Table, error) {
	t, err := read(flate.NewReader(r))
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	return t, nil
}

func read(r io.Reader) (*Table, error) {
	head, err := readHead(r)
	if err != nil {
		return nil, err
	}
	f, err := embed.ParseFingerprint(head)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	var count [4]byte
	if _, err := io.ReadFull(r, count[:]); err != nil {
		return nil, cut(err)
	}
	n := int(binary.LittleEndian.Uint32(count[:]))
	if f.Dim < 1 || f.Dim > maxDim || n > maxTexts {
		return nil, fmt.Errorf("%w: %d texts of %d dimensions", ErrFormat, n, f.Dim)
	}
	floats := make([]float32, 1+f.Dim)
	if err := binary.Read(r, binary.LittleEndian, floats); err != nil {
		return nil, cut(err)
	}
	t := &Table{fingerprint: f, step: floats[0], mean: floats[1:], rows: make(map[digest]int, n)}
	for i := range n {
		var d digest
		if _, err := io.ReadFull(r, d[:]); err != nil {
			return nil, cut(err)
		}
		t.rows[d] = i
	}
	row := make([]byte, f.Dim)
	for range n {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, cut(err)
		}
		for _, b := range row {
			t.codes = append(t.codes, int8(b))
		}
	}
	return t, nil
}

// readHead reads the magic line and returns the one after it.
func readHead(r io.Reader) (string, error) {
	start := make([]byte, len(magic))
	if _, err := io.ReadFull(r, start); err != nil {
		return "", cut(err)
	}
	if string(start) != magic {
		return "", fmt.Errorf("%w: it begins with %.20q", ErrFormat, start)
	}
	var line strings.Builder
	for b := make([]byte, 1); line.Len() < 1<<12; {
		if _, err := io.ReadFull(r, b); err != nil {
			return "", cut(err)
		}
		if b[0] == '\n' {
			return line.String(), nil
		}
		line.WriteByte(b[0])
	}
	return "", fmt.Errorf("%w: its second line does not end", ErrFormat)
}

// cut makes the end of a file where there should be more an error of format.
func cut(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return err
}

// Over returns an embedder that answers from the table where it can and asks e otherwise.
// A table of another encoder than e is of no use, and e is returned.
func (t *Table) Over(e embed.Embedder) embed.Embedder {
	if e.Fingerprint() != t.fingerprint {
		return e
	}
	return over{e, t}
}

// over is an embedder with a table before it.
type over struct {
	embed.Embedder
	table *Table
}

// Embed implements embed.Embedder.
func (o over) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var unknown []string
	var at []int
	for i, text := range texts {
		v, ok := o.table.Vector(text)
		if !ok {
			unknown, at = append(unknown, text), append(at, i)
		}
		out[i] = v
	}
	if len(unknown) == 0 {
		return out, ctx.Err()
	}
	vectors, err := o.Embedder.Embed(ctx, unknown)
	if err != nil {
		return nil, err
	}
	for i, v := range vectors {
		out[at[i]] = v
	}
	return out, nil
}
