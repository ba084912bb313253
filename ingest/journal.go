package ingest

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/store"
)

// journal keeps a ledger and the marks of unfinished files in a store's journal, for
// one source and one collection. What was written by another version of reading is as
// good as unknown.
//
//	<prefix>settled       the files read to their end, and the collection's sequence
//	<prefix>ledger        id and revision of every document they went into, by id
//	<prefix>ids/DIGEST    the documents one of the files went into
//	<prefix>mark/DIGEST   how far an unfinished file was read
//	<prefix>begun/DIGEST  id and revision of the documents it went into so far
type journal struct {
	store.Journal
	prefix     string
	version    string
	anyVersion bool // for looking only
}

func prefixOf(collection, source string) string { return "ingest/" + collection + "/" + source + "/" }

type settledState struct {
	Version  string                  `json:"version"`
	Sequence uint64                  `json:"sequence"`
	Files    map[string]*settledFile `json:"files"`
}

// load returns the ledger, nil if there is none of this version.
func (j journal) load(ctx context.Context) (*ledger, error) {
	text, err := j.Mark(ctx, j.prefix+"settled")
	if err != nil || text == "" {
		return nil, err
	}
	var s settledState
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Version != j.version && !j.anyVersion {
		return nil, nil //nolint:nilerr // a ledger that cannot be read is none: everything is read again
	}
	l := newLedger()
	l.sequence, l.files = s.Sequence, s.Files
	if text, err = j.Mark(ctx, j.prefix+"ledger"); err != nil {
		return nil, err
	}
	if l.revisions, err = unpackRevisions(text); err != nil {
		return nil, nil //nolint:nilerr // as above
	}
	for digest, f := range l.files {
		if text, err = j.Mark(ctx, j.prefix+"ids/"+digest); err != nil {
			return nil, err
		}
		if f.documents, err = unpackIDs(text); err != nil {
			delete(l.files, digest)
		}
	}
	return l, nil
}

// save writes the ledger. What says that it is true goes last.
func (j journal) save(ctx context.Context, l *ledger) error {
	files := l.settledFiles()
	var documents []sextant.DocumentID
	for _, f := range files {
		documents = append(documents, f.documents...)
	}
	if err := j.PutMark(ctx, j.prefix+"ledger", packRevisions(l.snapshot(documents))); err != nil {
		return err
	}
	for digest, f := range files {
		if !f.fresh {
			continue
		}
		if err := j.PutMark(ctx, j.prefix+"ids/"+digest, packIDs(f.documents)); err != nil {
			return err
		}
		f.fresh = false
	}
	text, err := json.Marshal(settledState{j.version, l.sequence, files})
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return j.PutMark(ctx, j.prefix+"settled", string(text))
}

// mark is how far an unfinished file was read: everything before At is stored.
type mark struct {
	Version   string                          `json:"version"`
	Run       string                          `json:"run"`
	At        source.Position                 `json:"at"`
	Receipt   sextant.FileReceipt             `json:"receipt"`
	Rejected  int64                           `json:"rejected"`
	revisions map[sextant.DocumentID]revision // of the documents it went into so far
	suspects  map[sextant.DocumentID]bool     // of these, those that were not like that when the run began
}

func (j journal) putMark(ctx context.Context, digest string, m mark) error {
	m.Version = j.version
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := j.PutMark(ctx, j.prefix+"begun/"+digest, packRevisions(m.revisions)); err != nil {
		return err
	}
	return j.PutMark(ctx, j.prefix+"mark/"+digest, string(text))
}

// getMark returns the mark of an unfinished file, nil if there is none.
func (j journal) getMark(ctx context.Context, digest string) (*mark, error) {
	text, err := j.Mark(ctx, j.prefix+"mark/"+digest)
	m := &mark{}
	if err != nil || text == "" || json.Unmarshal([]byte(text), m) != nil || m.Version != j.version {
		return nil, err
	}
	if text, err = j.Mark(ctx, j.prefix+"begun/"+digest); err != nil {
		return nil, err
	}
	if m.revisions, err = unpackRevisions(text); err != nil {
		return nil, nil //nolint:nilerr // a mark without its documents is none
	}
	return m, nil
}

func (j journal) dropMark(ctx context.Context, digest string) error {
	if err := j.PutMark(ctx, j.prefix+"mark/"+digest, ""); err != nil {
		return err
	}
	return j.PutMark(ctx, j.prefix+"begun/"+digest, "")
}

// Lists of ids are kept as lines, deflated, in base64: 5 bytes an id instead of 20.

func packIDs(ids []sextant.DocumentID) string {
	var b strings.Builder
	for _, id := range slices.Sorted(slices.Values(ids)) {
		b.WriteString(string(id))
		b.WriteByte('\n')
	}
	return deflate(b.String())
}

func unpackIDs(text string) ([]sextant.DocumentID, error) {
	plain, err := inflate(text)
	if err != nil {
		return nil, err
	}
	out := make([]sextant.DocumentID, 0, strings.Count(plain, "\n"))
	for line := range strings.Lines(plain) {
		out = append(out, sextant.DocumentID(strings.TrimSuffix(line, "\n")))
	}
	return out, nil
}

// packRevisions writes the ids, a blank line, and the revisions in their order.
func packRevisions(revisions map[sextant.DocumentID]revision) string {
	ids := slices.Sorted(maps.Keys(revisions))
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(string(id))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	for _, id := range ids {
		rev := revisions[id]
		b.Write(rev[:])
	}
	return deflate(b.String())
}

func unpackRevisions(text string) (map[sextant.DocumentID]revision, error) {
	plain, err := inflate(text)
	if err != nil {
		return nil, err
	}
	head, tail, ok := strings.Cut("\n"+plain, "\n\n")
	n := strings.Count(head, "\n")
	if !ok || len(tail) != n*len(revision{}) {
		return nil, fmt.Errorf("ledger of %d documents has %d bytes of revisions", n, len(tail))
	}
	out := make(map[sextant.DocumentID]revision, n)
	for id := range strings.SplitSeq(strings.TrimPrefix(head, "\n"), "\n") {
		if id == "" {
			continue
		}
		var rev revision
		copy(rev[:], tail)
		tail = tail[len(rev):]
		out[sextant.DocumentID(id)] = rev
	}
	return out, nil
}

func deflate(plain string) string {
	var b bytes.Buffer
	encoder := base64.NewEncoder(base64.StdEncoding, &b)
	w, err := flate.NewWriter(encoder, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	_, _ = io.WriteString(w, plain) // to memory
	_ = w.Close()
	_ = encoder.Close()
	return b.String()
}

func inflate(text string) (string, error) {
	r := flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	plain, err := io.ReadAll(r)
	return string(plain), err
}
