package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// queue is changes on disk, a file each, in the order of their names. A file is there
// whole or not at all, and gone once the store has acknowledged what it says.
type queue struct {
	dir  string
	next uint64
	open []uint64
}

// change is what a file says. Exactly one of its members is set.
type change struct {
	Upsert  *upsert          `json:"upsert,omitempty"`
	Receipt *sextant.Receipt `json:"receipt,omitempty"`
	Mark    *store.Mark      `json:"mark,omitempty"`
}

// upsert is a batch, with the specification that it was checked against.
type upsert struct {
	Spec    sextant.Collection `json:"spec"`
	Records []json.RawMessage  `json:"records"` // see store.EncodeRecord
}

const suffix = ".change"

func openQueue(dir string) (*queue, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("outbox: %w: %w", store.ErrIO, err)
	}
	q := &queue{dir: dir, next: 1}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("outbox: %w: %w", store.ErrIO, err)
	}
	for _, f := range files {
		n, err := strconv.ParseUint(strings.TrimSuffix(f.Name(), suffix), 10, 64)
		if err != nil || !strings.HasSuffix(f.Name(), suffix) {
			continue
		}
		q.open = append(q.open, n)
		q.next = max(q.next, n+1)
	}
	slices.Sort(q.open)
	return q, nil
}

func (q *queue) path(n uint64) string { return filepath.Join(q.dir, fmt.Sprintf("%012d", n)+suffix) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// put makes a change durable: the file is complete and synced before it has its name, and
// the name is synced before put returns.
func (q *queue) put(ch change) error {
	body, err := json.Marshal(ch)
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	body = append(fmt.Appendf(nil, "%08x ", crc32.Checksum(body, castagnoli)), body...)
	name := q.path(q.next)
	if err = writeSynced(name+".part", body); err == nil {
		err = os.Rename(name+".part", name)
	}
	if err == nil {
		err = syncFolder(q.dir)
	}
	if err != nil {
		_ = os.Remove(name + ".part")
		return fmt.Errorf("outbox: %w: %w", store.ErrIO, err)
	}
	q.open = append(q.open, q.next)
	q.next++
	return nil
}

func writeSynced(name string, body []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	return errors.Join(err, f.Sync(), f.Close())
}

// first reads the oldest change; ok is false if there is none.
func (q *queue) first() (ch change, ok bool, err error) {
	if len(q.open) == 0 {
		return ch, false, nil
	}
	name := q.path(q.open[0])
	b, err := os.ReadFile(name)
	if err != nil {
		return ch, false, fmt.Errorf("outbox: %w: %w", store.ErrIO, err)
	}
	if len(b) < 9 || fmt.Sprintf("%08x", crc32.Checksum(b[9:], castagnoli)) != string(b[:8]) {
		return ch, false, fmt.Errorf("outbox: %s is damaged: %w", name, store.ErrCorrupt)
	}
	if err := json.Unmarshal(b[9:], &ch); err != nil {
		return ch, false, fmt.Errorf("outbox: %s: %w: %w", name, store.ErrCorrupt, err)
	}
	return ch, true, nil
}

// drop removes the oldest change.
func (q *queue) drop() error {
	if err := os.Remove(q.path(q.open[0])); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("outbox: %w: %w", store.ErrIO, err)
	}
	q.open = q.open[1:]
	return nil
}
