package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
)

// Blob is a run of bytes that can be read from the start as often as needed: a file,
// or data inside the program.
type Blob struct {
	Name string // without folders
	Size int64
	open func() (io.ReadCloser, error)
}

// File returns a regular file as a Blob. Its size is taken now: what is appended
// later is not read, so that a growing file ends where it ended.
func File(path string) (Blob, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Blob{}, fmt.Errorf("open input: %w", err)
	}
	if !info.Mode().IsRegular() {
		return Blob{}, fmt.Errorf("open input %s: not a regular file", path)
	}
	open := func() (io.ReadCloser, error) { return os.Open(path) }
	return Blob{Name: filepath.Base(path), Size: info.Size(), open: open}, nil
}

// Bytes returns data as a Blob. The data must not change.
func Bytes(name string, data []byte) Blob {
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	return Blob{Name: name, Size: int64(len(data)), open: open}
}

// Digest returns the SHA-256 of the bytes as stored, in hex digits.
func (b Blob) Digest(ctx context.Context) (string, error) {
	r, err := b.open()
	if err != nil {
		return "", fmt.Errorf("read %s: %w", b.Name, err)
	}
	defer r.Close()
	h := sha256.New()
	if _, err := io.Copy(h, &contextReader{ctx, io.LimitReader(r, b.Size)}); err != nil {
		return "", fmt.Errorf("read %s: %w", b.Name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// contextReader ends with the context's error once that is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// Expansion limits what a compressed Blob may become: this many times its size and
// 64 MiB on top. Records compress 5 to 10 times; a bomb 1,000 times.
const Expansion = 200

// ErrExpands says that a compressed input unpacks to more than Expansion allows.
var ErrExpands = errors.New("unpacks to an implausible size")

// Stream is a Blob being read, decompressed if it is gzip.
type Stream struct {
	r        io.Reader
	file     io.Closer
	consumed *atomic.Int64
	left     int64 // decompressed bytes still allowed
}

// Stream opens the Blob and unpacks it if its first bytes are those of gzip. The
// bytes taken from the Blob are counted in consumed, which may be nil.
func (b Blob) Stream(consumed *atomic.Int64) (*Stream, error) {
	f, err := b.open()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", b.Name, err)
	}
	if consumed == nil {
		consumed = new(atomic.Int64)
	}
	consumed.Store(0)
	s := &Stream{file: f, consumed: consumed, left: b.Size*Expansion + 64<<20}
	raw := bufio.NewReaderSize(&countingReader{io.LimitReader(f, b.Size), consumed}, 64<<10)
	s.r = raw
	if magic, err := raw.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		if s.r, err = gzip.NewReader(raw); err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("read %s: %w", b.Name, err)
		}
	}
	return s, nil
}

// Read implements io.Reader.
func (s *Stream) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, ErrExpands
	}
	n, err := s.r.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	return n, err
}

// Close closes what is underneath.
func (s *Stream) Close() error { return s.file.Close() }

type countingReader struct {
	r io.Reader
	n *atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
