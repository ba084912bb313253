package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sextant-rag/sextant/store"
)

// SQLite reads its write-ahead log up to the first frame whose checksum is wrong, takes
// that for the place where a crash came, and forgets the rest. Damage in the middle of a
// log so takes away every commit after it without a word. The two can be told apart:
// with synchronous=FULL no transaction begins before the one before it is synced, so
// that behind a frame torn by a crash there can be frames of the same transaction, but
// none of a later one.
//
// The format is that of sqlite.org/fileformat2.html, section 4. A frame's checksum goes
// on from the one before it, as that one has it written, so that frames behind a
// damaged one can still be checked.

// checkLog reports damage in the middle of a database's log; see above. It is to be
// called before SQLite opens the file. What it cannot tell from a crash is damage to
// the last transaction.
func checkLog(path string) error {
	f, err := os.Open(path + "-wal")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	var l walLog
	if err := l.header(r); err != nil {
		return err
	}
	if l.page == 0 {
		return nil
	}
	return l.frames(r)
}

const (
	walMagic       = 0x377f0682 // the lowest bit says that checksums read big-endian words
	walHeaderSize  = 32
	walFrameHeader = 24
)

type walLog struct {
	order binary.ByteOrder
	page  int
	salts [8]byte
	sum   [2]uint32
}

// header reads the log's header; a page size of 0 says that there is no log.
func (l *walLog) header(r io.Reader) error {
	var h [walHeaderSize]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return nil // empty, or cut before anything was in it
	}
	if h == [walHeaderSize]byte{} {
		return nil // made, and never written
	}
	magic := binary.BigEndian.Uint32(h[0:])
	l.order = binary.LittleEndian
	if magic&1 == 1 {
		l.order = binary.BigEndian
	}
	l.sum = l.add([2]uint32{}, h[:24])
	if magic&^1 != walMagic || l.sum != sumAt(h[24:]) {
		return fmt.Errorf("the log's header is damaged: %w", store.ErrCorrupt)
	}
	l.page = int(binary.BigEndian.Uint32(h[8:]))
	copy(l.salts[:], h[16:24])
	return nil
}

// frames looks for a frame that is whole behind the end of a transaction that is not. A
// frame whose page is damaged still says by its header whether it ends one.
func (l *walLog) frames(r io.Reader) error {
	frame := make([]byte, walFrameHeader+l.page)
	broken, ended := 0, false
	for n := 1; ; n++ {
		if _, err := io.ReadFull(r, frame); err != nil {
			return nil
		}
		ours := [8]byte(frame[8:16]) == l.salts // not left from before the log began anew
		sum := l.add(l.add(l.sum, frame[:8]), frame[walFrameHeader:])
		l.sum = sumAt(frame[16:])
		whole := ours && sum == l.sum
		if whole && ended {
			return fmt.Errorf("the log is damaged at frame %d, and later commits are in it: %w", broken, store.ErrCorrupt)
		}
		if !whole && broken == 0 {
			broken = n
		}
		if broken > 0 && ours && binary.BigEndian.Uint32(frame[4:]) != 0 {
			ended = true
		}
	}
}

func sumAt(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

// add is the log's checksum over b, whose length is a multiple of 8.
func (l *walLog) add(sum [2]uint32, b []byte) [2]uint32 {
	a, c := sum[0], sum[1]
	if l.order == binary.LittleEndian {
		for ; len(b) >= 8; b = b[8:] {
			a += binary.LittleEndian.Uint32(b) + c
			c += binary.LittleEndian.Uint32(b[4:]) + a
		}
		return [2]uint32{a, c}
	}
	for ; len(b) >= 8; b = b[8:] {
		a += binary.BigEndian.Uint32(b) + c
		c += binary.BigEndian.Uint32(b[4:]) + a
	}
	return [2]uint32{a, c}
}
