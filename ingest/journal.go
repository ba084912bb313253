package ingest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/store"
)

// journal keeps a ledger and the marks of unfinished files in a store's journal, for
// one source and one collection, each as one value: a crash leaves the old one or the
// new one. What was written by another version of reading is as good as unknown.
//
//	ingest/<collection>/<source>/settled      the ledger
//	ingest/<collection>/<source>/mark/DIGEST  how far an unfinished file was read
type journal struct {
	store.Journal
	prefix     string
	version    string
	anyVersion bool // for looking only
}

func prefixOf(collection, source string) string { return "ingest/" + collection + "/" + source + "/" }

// settledState is the form of a ledger. Documents holds, packed, the documents of the
// files, their revisions, and which file went into which of them.
type settledState struct {
	Version   string                  `json:"version"`
	Sequence  uint64                  `json:"sequence"`
	Files     map[string]*settledFile `json:"files"`
	Documents []byte                  `json:"documents"`
	Deleted   []sextant.DocumentID    `json:"deleted,omitempty"`
}

// load returns the ledger, nil if there is none of this version.
func (j journal) load(ctx context.Context) (*ledger, error) {
	text, err := j.Mark(ctx, j.prefix+"settled")
	if err != nil || text == "" {
		return nil, err
	}
	var s settledState
	if json.Unmarshal([]byte(text), &s) != nil || s.Version != j.version && !j.anyVersion {
		return nil, nil //nolint:nilerr // a ledger that cannot be read is none: everything is read again
	}
	l := newLedger()
	l.version, l.sequence, l.files = s.Version, s.Sequence, s.Files
	for _, id := range s.Deleted {
		l.deleted[id] = true
	}
	if l.accounts, err = unpackLedger(s.Documents, l.files); err != nil {
		return nil, nil //nolint:nilerr // as above
	}
	return l, nil
}

// save writes the ledger.
func (j journal) save(ctx context.Context, l *ledger) error {
	files := l.settledFiles()
	var documents [][]sextant.DocumentID
	for _, f := range files {
		documents = append(documents, f.documents)
	}
	packed := packLedger(slices.Concat(documents...), l.leftWith, files)
	text, err := withDocuments(settledState{j.version, l.sequence, files, nil, l.deletedIDs()}, packed)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return j.PutMark(ctx, j.prefix+"settled", text)
}

// withDocuments returns the JSON of a state whose Documents are nil, with packed in their
// place. Of a million documents that is 30 MB, of which json.Marshal makes four.
func withDocuments(state any, packed []byte) (string, error) {
	const none, name = `"documents":null`, `"documents":"`
	text, err := json.Marshal(state)
	if err != nil {
		return "", err
	}
	at := bytes.LastIndex(text, []byte(none)) // in a string its quotes would be escaped
	if at < 0 {
		return "", errPacked
	}
	var out strings.Builder
	out.Grow(len(text) + base64.StdEncoding.EncodedLen(len(packed)))
	out.Write(text[:at])
	out.WriteString(name)
	w := base64.NewEncoder(base64.StdEncoding, &out)
	if _, err := w.Write(packed); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	out.WriteByte('"')
	out.Write(text[at+len(none):])
	return out.String(), nil
}

// mark is how far an unfinished file was read: everything before At is stored.
type mark struct {
	Version   string              `json:"version"`
	Run       string              `json:"run"`
	At        source.Position     `json:"at"`
	Receipt   sextant.FileReceipt `json:"receipt"`
	Rejected  int64               `json:"rejected"`
	Documents []byte              `json:"documents"` // revisions, packed

	accounts *accounts                   // of the documents it went into so far
	suspects map[sextant.DocumentID]bool // of these, those that were not like that when the run began
}

func (j journal) putMark(ctx context.Context, digest string, m mark) error {
	m.Version = j.version
	packed := m.Documents
	m.Documents = nil
	text, err := withDocuments(m, packed)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return j.PutMark(ctx, j.prefix+"mark/"+digest, text)
}

// getMark returns the mark of an unfinished file, nil if there is none.
func (j journal) getMark(ctx context.Context, digest string) (*mark, error) {
	text, err := j.Mark(ctx, j.prefix+"mark/"+digest)
	m := &mark{}
	if err != nil || text == "" || json.Unmarshal([]byte(text), m) != nil || m.Version != j.version {
		return nil, err
	}
	if m.accounts, err = unpackLedger(m.Documents, nil); err != nil {
		return nil, nil //nolint:nilerr // a mark without its documents is none
	}
	return m, nil
}

func (j journal) dropMark(ctx context.Context, digest string) error {
	return j.PutMark(ctx, j.prefix+"mark/"+digest, "")
}
