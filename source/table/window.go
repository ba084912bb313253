package table

import (
	"bytes"
	"errors"
	"io"

	"github.com/sextant-rag/sextant/source"
)

// window is the part of a stream that is being looked at. It removes NUL bytes as they
// come in and still knows the place of everything in the stream as it was.
type window struct {
	in    io.Reader
	buf   []byte // what is held; buf[start:] is not yet taken
	start int
	at    source.Position // of buf[start]
	err   error           // io.EOF or what broke the stream; nil while there may be more

	nuls    []nulRun // removed bytes that lie beyond start, in order
	removed int64    // NUL bytes in all, trailing ones included
	firstAt int64    // offset of the first
	before  int64    // bytes of buf dropped so far, for nulRun.at
}

// nulRun says that n NUL bytes stood before the byte that came to lie at place at,
// counted from the first byte of the stream without NULs.
type nulRun struct {
	at int64
	n  int64
}

const windowSize = 256 << 10

func newWindow(in io.Reader, at source.Position) *window {
	return &window{in: in, at: at, buf: make([]byte, 0, windowSize)}
}

// peek returns what is held, and whether that is everything to the end of the stream.
func (w *window) peek() (data []byte, whole bool) {
	for w.start == len(w.buf) && w.err == nil {
		w.more()
	}
	return w.buf[w.start:], w.err != nil
}

// more reads on, making room first: by dropping what is taken, or by growing.
func (w *window) more() {
	if w.start > 0 {
		w.before += int64(w.start)
		w.buf = w.buf[:copy(w.buf, w.buf[w.start:])]
		w.start = 0
	}
	if len(w.buf) == cap(w.buf) {
		w.buf = append(make([]byte, 0, 2*cap(w.buf)), w.buf...)
	}
	n, err := w.in.Read(w.buf[len(w.buf):cap(w.buf)])
	held := len(w.buf)
	w.buf = w.buf[:held+n]
	if fresh := w.buf[held:]; bytes.IndexByte(fresh, 0) >= 0 {
		w.buf = w.buf[:held+w.dropNULs(fresh)]
	}
	w.err = err
}

// dropNULs closes the gaps in fresh, the end of buf, and returns its new length.
func (w *window) dropNULs(fresh []byte) int {
	place := w.before + int64(len(w.buf)-len(fresh))
	raw := w.at.Offset + int64(len(w.buf)-len(fresh)-w.start) + w.pending()
	kept := 0
	for i, b := range fresh {
		if b != 0 {
			fresh[kept] = b
			kept++
			continue
		}
		if w.removed == 0 {
			w.firstAt = raw + int64(i)
		}
		w.removed++
		if last := len(w.nuls) - 1; last >= 0 && w.nuls[last].at == place+int64(kept) {
			w.nuls[last].n++
		} else {
			w.nuls = append(w.nuls, nulRun{place + int64(kept), 1})
		}
	}
	return kept
}

// pending counts the removed bytes that lie beyond start.
func (w *window) pending() int64 {
	var n int64
	for _, r := range w.nuls {
		n += r.n
	}
	return n
}

// row takes the next size bytes and returns a Row that says where they stood.
func (w *window) row(size int) Row {
	row := Row{At: w.at}
	lines := bytes.Count(w.buf[w.start:w.start+size], []byte{'\n'})
	w.start += size
	w.at.Record++
	w.at.Line += int64(lines)
	w.at.Offset += int64(size) + w.takeNULs()
	row.Next = w.at
	return row
}

// takeNULs counts the removed bytes that stood before start and forgets them.
func (w *window) takeNULs() int64 {
	var n int64
	for len(w.nuls) > 0 && w.nuls[0].at < w.before+int64(w.start) {
		n += w.nuls[0].n
		w.nuls = w.nuls[1:]
	}
	return n
}

// trailing returns the number of NULs at the end of the stream, once.
func (w *window) trailing() int64 {
	n := w.pending()
	w.nuls = nil
	w.at.Offset += n
	return n
}

// skipLine takes everything to the end of the line, however long, as one refused row.
func (w *window) skipLine(reason string) Row {
	row := Row{At: w.at, Problem: reason}
	for {
		data, whole := w.peek()
		size := lineLength(data)
		ended := size > 0 && data[size-1] == '\n'
		w.row(size)
		if ended || whole {
			break
		}
	}
	w.at.Record = row.At.Record + 1
	row.Next = w.at
	return row
}

// broken returns what cut the stream short, nil if it ended as it should or goes on.
func (w *window) broken() error {
	if w.err == nil || errors.Is(w.err, io.EOF) {
		return nil
	}
	return w.err
}
