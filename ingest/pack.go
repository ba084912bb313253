package ingest

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/sextant-rag/sextant"
)

// The packed form of a ledger, deflated. Numbers are unsigned varints.
//
//	number of documents
//	for each document, by id:  length of its id, the id
//	for each document:         its revision, 16 bytes
//	for each file, by digest:  number of documents, then the gaps between their places
//
// 78,405 documents of seven files take 1.6 MB, nearly all of it revisions.

// packLedger packs documents, which it sorts, with the revision each was left with, and
// which of them files went into.
func packLedger(ids []sextant.DocumentID, leftWith func(sextant.DocumentID) revision, files map[string]*settledFile) []byte {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	p := newPacker()
	p.number(len(ids))
	for _, id := range ids {
		p.number(len(id))
		_, _ = p.plain.WriteString(string(id))
	}
	for _, id := range ids {
		rev := leftWith(id)
		_, _ = p.plain.Write(rev[:])
	}
	for _, digest := range slices.Sorted(maps.Keys(files)) {
		documents := files[digest].documents
		p.number(len(documents))
		place, last := 0, 0
		for _, id := range documents { // in order, and each among ids
			for ids[place] != id {
				place++
			}
			p.number(place - last)
			last = place
		}
	}
	return p.finish()
}

var errPacked = errors.New("ledger is damaged")

// unpackLedger returns the revisions and sets the documents of the files.
func unpackLedger(packed []byte, files map[string]*settledFile) (*accounts, error) {
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return nil, err
	}
	u := unpacker{rest: plain}
	ids := make([]sextant.DocumentID, u.count())
	for i := range ids {
		ids[i] = sextant.DocumentID(u.take(u.number()))
	}
	out := newAccounts()
	for _, id := range ids {
		var rev revision
		copy(rev[:], u.take(len(rev)))
		out.leave(id, rev)
	}
	for _, digest := range slices.Sorted(maps.Keys(files)) {
		documents := make([]sextant.DocumentID, u.count())
		place := 0
		for i := range documents {
			if place += u.number(); place >= len(ids) {
				return nil, errPacked
			}
			documents[i] = ids[place]
		}
		if files[digest] == nil {
			return nil, errPacked
		}
		files[digest].documents = documents
	}
	if u.bad || len(u.rest) > 0 || out.ids.Len() != len(ids) {
		return nil, errPacked
	}
	return out, nil
}

// unpacker reads values until there is something wrong, and zeros from then on.
type unpacker struct {
	rest []byte
	bad  bool
}

func (u *unpacker) number() int {
	n, size := binary.Uvarint(u.rest)
	if u.bad || size <= 0 || n > 1<<40 {
		u.bad = true
		return 0
	}
	u.rest = u.rest[size:]
	return int(n)
}

// count is a number of things of at least one byte each.
func (u *unpacker) count() int {
	n := u.number()
	if n > len(u.rest) {
		u.bad = true
		return 0
	}
	return n
}

func (u *unpacker) take(n int) []byte {
	if u.bad || n > len(u.rest) {
		u.bad = true
		return nil
	}
	out := u.rest[:n]
	u.rest = u.rest[n:]
	return out
}

// packer deflates what is written as it comes, so that a million documents are never in
// memory as they are.
type packer struct {
	packed bytes.Buffer
	flate  *flate.Writer
	plain  *bufio.Writer // in front of it, which writes of single numbers would slow down
}

func newPacker() *packer {
	p := &packer{}
	w, err := flate.NewWriter(&p.packed, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	p.flate, p.plain = w, bufio.NewWriterSize(w, 1<<16)
	return p
}

// deflate packs what is there already.
func deflate(plain []byte) []byte {
	p := newPacker()
	_, _ = p.plain.Write(plain) // to memory
	return p.finish()
}

func (p *packer) number(n int) {
	_, _ = p.plain.Write(binary.AppendUvarint(p.plain.AvailableBuffer(), uint64(n)))
}

func (p *packer) finish() []byte {
	_, _ = p.plain.Flush(), p.flate.Close() // to memory
	return p.packed.Bytes()
}
