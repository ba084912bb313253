package chroma

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
)

// key is what the id of a record says: <document>#<index>@<version>.<chunks>, version in
// hexadecimal. A record of index 0 stands for its document, which may have no chunks; one
// of index "-" says that there is no such document any more.
type key struct {
	document sextant.DocumentID
	index    int // gone for a deleted document
	version  uint64
	chunks   int // of the document
}

const gone = -1

func (k key) String() string {
	index := "-"
	if k.index != gone {
		index = strconv.Itoa(k.index)
	}
	return string(k.document) + "#" + index + "@" + strconv.FormatUint(k.version, 16) + "." + strconv.Itoa(k.chunks)
}

// parseKey reads an id from its end: documents may be called anything.
func parseKey(id string) (k key, ok bool) {
	dot := strings.LastIndexByte(id, '.')
	at := strings.LastIndexByte(id[:max(dot, 0)], '@')
	hash := strings.LastIndexByte(id[:max(at, 0)], '#')
	if dot < 0 || at < 0 || hash <= 0 {
		return k, false
	}
	var errV, errC, errI error
	k.document = sextant.DocumentID(id[:hash])
	k.version, errV = strconv.ParseUint(id[at+1:dot], 16, 64)
	k.chunks, errC = strconv.Atoi(id[dot+1:])
	if index := id[hash+1 : at]; index == "-" {
		k.index = gone
	} else {
		k.index, errI = strconv.Atoi(index)
	}
	return k, errV == nil && errC == nil && errI == nil
}

// entry is the present version of a document.
type entry struct {
	version uint64
	chunks  int
}

func (e entry) key(id sextant.DocumentID, index int) key { return key{id, index, e.version, e.chunks} }

// keys are the ids of all records of a document, split by where they lie: one without
// chunks among the markers.
func (e entry) keys(id sextant.DocumentID) (chunks, markers []string) {
	if e.chunks == 0 {
		return nil, []string{e.key(id, 0).String()}
	}
	for i := range e.chunks {
		chunks = append(chunks, e.key(id, i).String())
	}
	return chunks, nil
}

// directory is which documents there are, in which version.
type directory map[sextant.DocumentID]entry

// sums are what the row says of a directory, so that a record lost is noticed.
type sums struct {
	Documents int64  `json:"documents"`
	Chunks    int64  `json:"chunks"`
	Marks     uint64 `json:"marks,string"` // exclusive or of the documents' marks
}

func (s *sums) add(id sextant.DocumentID, e entry, sign int64) {
	s.Documents += sign
	s.Chunks += sign * int64(e.chunks)
	h := fnv.New64a()
	_, _ = h.Write([]byte(e.key(id, 0).String()))
	s.Marks ^= h.Sum64()
}

// listing is the ids of all records, sorted out under a row.
type listing struct {
	directory directory
	sums      sums
	dead      []string // records of chunks that count no more, or not yet
	deadMarks []string // markers alike
	highest   uint64   // version seen
}

// sorted tells the records that count from the others.
func sorted(r *row, chunks, markers []string) listing {
	l := listing{directory: directory{}}
	keys := make([]key, 0, len(chunks)+len(markers))
	latest := map[sextant.DocumentID]key{}
	for _, id := range slices.Concat(chunks, markers) {
		k, ok := parseKey(id)
		keys = append(keys, k)
		if !ok {
			continue // somebody else's record, which is left alone
		}
		l.highest = max(l.highest, k.version)
		if k.index <= 0 && r.counts(k.version) && k.version >= latest[k.document].version {
			latest[k.document] = k
		}
	}
	for id, k := range latest {
		if k.index != gone {
			l.directory[id] = entry{k.version, k.chunks}
			l.sums.add(id, entry{k.version, k.chunks}, 1)
		}
	}
	l.sums.Chunks = 0 // those that are there
	for i, k := range keys {
		e, live := l.directory[k.document]
		switch {
		case k.document == "":
		case live && e.version == k.version && k.index != gone:
			if i < len(chunks) {
				l.sums.Chunks++
			}
		case i < len(chunks):
			l.dead = append(l.dead, chunks[i])
		default:
			l.deadMarks = append(l.deadMarks, markers[i-len(chunks)])
		}
	}
	return l
}
