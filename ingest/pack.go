package ingest

import (
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

func packLedger(revisions map[sextant.DocumentID]revision, files map[string]*settledFile) []byte {
	ids := slices.Sorted(maps.Keys(revisions))
	plain := binary.AppendUvarint(nil, uint64(len(ids)))
	for _, id := range ids {
		plain = binary.AppendUvarint(plain, uint64(len(id)))
		plain = append(plain, id...)
	}
	for _, id := range ids {
		rev := revisions[id]
		plain = append(plain, rev[:]...)
	}
	for _, digest := range slices.Sorted(maps.Keys(files)) {
		documents := files[digest].documents
		plain = binary.AppendUvarint(plain, uint64(len(documents)))
		place, last := 0, 0
		for _, id := range documents { // in order, and each among ids
			for ids[place] != id {
				place++
			}
			plain = binary.AppendUvarint(plain, uint64(place-last))
			last = place
		}
	}
	return deflate(plain)
}

var errPacked = errors.New("ledger is damaged")

// unpackLedger returns the revisions and sets the documents of the files.
func unpackLedger(packed []byte, files map[string]*settledFile) (map[sextant.DocumentID]revision, error) {
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return nil, err
	}
	u := unpacker{rest: plain}
	ids := make([]sextant.DocumentID, u.count())
	for i := range ids {
		ids[i] = sextant.DocumentID(u.take(u.number()))
	}
	out := make(map[sextant.DocumentID]revision, len(ids))
	for _, id := range ids {
		var rev revision
		copy(rev[:], u.take(len(rev)))
		out[id] = rev
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
	if u.bad || len(u.rest) > 0 || len(out) != len(ids) {
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

func deflate(plain []byte) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	_, _ = w.Write(plain) // to memory
	_ = w.Close()
	return b.Bytes()
}
