package chroma

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

const (
	markPrefix    = "mark:"
	generationKey = "generation" // of the record that says which generations are used up
)

// marker is the vector of records that are never searched by one.
var marker = []float32{1}

// journal keeps receipts and marks as records of one collection.
type journal struct {
	store *Store
	mu    sync.Mutex
	id    string // of the collection
}

// open returns the collection's id, making it if it may be made. "" is that it is not there.
func (j *journal) open(ctx context.Context, make bool) (string, error) {
	if err := j.store.check(ctx); err != nil {
		return "", err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.id != "" {
		return j.id, nil
	}
	r, err := j.store.client.collection(ctx, journalName)
	if errors.Is(err, errMissing) {
		if !make {
			return "", j.store.client.reachable(ctx)
		}
		if err = j.store.prepare(ctx); err == nil {
			r, err = j.store.client.create(ctx, journalName, nil)
		}
	}
	if err != nil {
		return "", err
	}
	j.id = r.ID
	return j.id, nil
}

// forget has the collection looked up again: somebody removed it.
func (j *journal) forget(err error) error {
	if errors.Is(err, errMissing) {
		j.mu.Lock()
		j.id = ""
		j.mu.Unlock()
	}
	return underneath(err)
}

func (s *Store) journalGet(ctx context.Context, sel selection) (got, error) {
	id, err := s.journal.open(ctx, false)
	if err != nil || id == "" {
		return got{}, err
	}
	g, err := s.client.get(ctx, id, sel)
	return g, s.journal.forget(err)
}

func (s *Store) journalAdd(ctx context.Context, r records) error {
	id, err := s.journal.open(ctx, true)
	if err != nil {
		return err
	}
	return s.journal.forget(s.client.add(ctx, id, r))
}

func (s *Store) journalPut(ctx context.Context, r records) error {
	id, err := s.journal.open(ctx, true)
	if err != nil {
		return err
	}
	return s.journal.forget(s.client.put(ctx, id, r))
}

func (s *Store) journalRemove(ctx context.Context, ids ...string) error {
	id, err := s.journal.open(ctx, true)
	if err != nil {
		return err
	}
	return s.journal.forget(s.client.remove(ctx, id, ids))
}

// PutReceipt implements store.Journal.
func (j *journal) PutReceipt(ctx context.Context, r sextant.Receipt) error {
	if r.Run == "" {
		return fmt.Errorf("put receipt: it names no run: %w", store.ErrRecord)
	}
	if err := j.store.writable(); err != nil {
		return fmt.Errorf("put receipt: %w", err)
	}
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("put receipt %s: %w", r.Run, err)
	}
	if err := j.put(ctx, "receipt:"+r.Run, map[string]any{"kind": "receipt", "run": r.Run, "collection": r.Collection}, string(body)); err != nil {
		return fmt.Errorf("put receipt %s: %w", r.Run, err)
	}
	return nil
}

// put stores a text under an id. It is packed, and so is read whole or not at all.
func (j *journal) put(ctx context.Context, id string, about map[string]any, text string) error {
	about["body"] = pack([]byte(text))
	m, err := json.Marshal(about)
	if err != nil {
		return err
	}
	var r records
	r.add(id, marker, m, "", nil)
	return j.store.journalPut(ctx, r)
}

// note is a record of the journal.
type note struct {
	Run  string `json:"run"`
	Key  string `json:"key"`
	Body string `json:"body"`
}

func (j *journal) notes(ctx context.Context, sel selection) ([]note, error) {
	sel.Include = []string{"metadatas"}
	g, err := j.store.journalGet(ctx, sel)
	if err != nil {
		return nil, err
	}
	out := make([]note, len(g.Metadatas))
	for i, m := range g.Metadatas {
		if err := json.Unmarshal(m, &out[i]); err != nil {
			return nil, badAnswer("a record of the journal")
		}
		body, err := unpack(out[i].Body)
		if err != nil {
			return nil, fmt.Errorf("journal record %q: %w", g.IDs[i], err)
		}
		out[i].Body = string(body)
	}
	return out, nil
}

// Receipts implements store.Journal.
func (j *journal) Receipts(ctx context.Context, collection string, limit int) ([]sextant.Receipt, error) {
	where := equals("kind", "receipt")
	if collection != "" {
		where = all(where, equals("collection", collection))
	}
	notes, err := j.notes(ctx, selection{Where: where})
	if err != nil {
		return nil, fmt.Errorf("read receipts: %w", err)
	}
	slices.SortFunc(notes, func(a, b note) int { return strings.Compare(b.Run, a.Run) })
	if limit > 0 && len(notes) > limit {
		notes = notes[:limit]
	}
	out := make([]sextant.Receipt, len(notes))
	for i, n := range notes {
		if err := json.Unmarshal([]byte(n.Body), &out[i]); err != nil {
			return nil, fmt.Errorf("receipt %s: %w: %w", n.Run, store.ErrCorrupt, err)
		}
	}
	return out, nil
}

// PutMark implements store.Journal.
func (j *journal) PutMark(ctx context.Context, key, value string) error {
	err := j.store.writable()
	switch {
	case err != nil:
	case value == "":
		err = j.store.journalRemove(ctx, markPrefix+key)
	default:
		err = j.put(ctx, markPrefix+key, map[string]any{"kind": "mark", "key": key}, value)
	}
	if err != nil {
		return fmt.Errorf("put mark: %w", err)
	}
	return nil
}

// Mark implements store.Journal.
func (j *journal) Mark(ctx context.Context, key string) (string, error) {
	notes, err := j.notes(ctx, selection{IDs: []string{"mark:" + key}})
	if err != nil || len(notes) == 0 {
		if err != nil {
			err = fmt.Errorf("read mark: %w", err)
		}
		return "", err
	}
	return notes[0].Body, nil
}
