package extract

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
)

// readGzip unpacks a file and reads what is in it.
func (x *Extractor) readGzip(ctx context.Context, in *input) (Text, error) {
	if in.level >= 2 {
		return Text{}, &Refusal{Code: TooDeep, Reason: "it is compressed more than twice"}
	}
	zr, err := gzip.NewReader(io.NewSectionReader(&contextReaderAt{ctx, in.r}, 0, in.size))
	if err != nil {
		return Text{}, &Refusal{Code: Malformed, Reason: "it is no valid gzip file", Err: err}
	}
	u := &unpacking{r: zr, in: in, name: "gzip", left: min(entryFloor+gzipRatio*in.size, max(in.limits.Text+entryFloor, 4*in.size))}
	b, size, err := readPieces(u)
	switch {
	case ctx.Err() != nil:
		return Text{}, ctx.Err()
	case err != nil:
		return Text{}, err
	}
	name := strings.TrimSuffix(strings.TrimSuffix(in.name, ".gz"), ".GZ")
	if zr.Name != "" && endingOf(name) == "" {
		name = zr.Name
	}
	in.left.text = max(in.left.text, min(in.limits.Text, size)) // what it unpacked to is held already
	inner := input{name: name, r: b, size: size, limits: in.limits, left: in.left, level: in.level + 1}
	return x.extract(ctx, inner)
}

// gzipRatio bounds what unpacks to memory: text compresses 3 to 30 times.
const gzipRatio = 30

// pieces is data in memory that grows without being copied.
type pieces [][]byte

const pieceSize = 1 << 20

func readPieces(r io.Reader) (pieces, int64, error) {
	var p pieces
	size := int64(0)
	for {
		b := make([]byte, pieceSize)
		n, err := io.ReadFull(r, b)
		size += int64(n)
		p = append(p, b[:n])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && RefusalOf(err) == nil && n < pieceSize {
			return p, size, nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

// ReadAt implements io.ReaderAt.
func (p pieces) ReadAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		i := int(at / pieceSize)
		if i >= len(p) || at%pieceSize >= int64(len(p[i])) {
			return n, io.EOF
		}
		m := copy(b[n:], p[i][at%pieceSize:])
		n, at = n+m, at+int64(m)
	}
	return n, nil
}

// contextReaderAt ends with the context.
type contextReaderAt struct {
	ctx context.Context
	r   io.ReaderAt
}

// ReadAt implements io.ReaderAt.
func (c *contextReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.ReadAt(p, at)
}
