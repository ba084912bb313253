package chroma

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// row is the catalogue's entry of a collection: the metadata of sextant--<name>. What it
// says is so; replacing it is how anything becomes so.
type row struct {
	Format     int                `json:"format"`
	Spec       sextant.Collection `json:"spec"`
	Generation uint64             `json:"generation"` // of its making; the upper part of the sequence
	Version    uint64             `json:"version"`    // the last that counts
	Void       []span             `json:"void,omitempty"`
	Records    string             `json:"records,omitempty"` // id of the collection that holds the chunks; "" if there never were any
	Name       string             `json:"name"`              // of that collection, for people
	Dimension  int                `json:"dimension,omitempty"`
	Held       sums               `json:"held"`
	Fresh      *fresh             `json:"fresh,omitempty"` // vectors being made anew

	catalog string // id of the collection this is the metadata of
}

// span is a range of versions that were begun and never came to count.
type span struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// fresh is a collection of records being written beside the present one.
type fresh struct {
	Encoder   string `json:"encoder"`
	Records   string `json:"records"`
	Dimension int    `json:"dimension,omitempty"`
}

// format is the version of all that is written; a row of another is not read.
const format = 1

// rowKey is the one key of the catalogue collection's metadata. Chroma takes strings and
// numbers there; a list breaks the connection.
const rowKey = "sextant"

func (r *row) sequence() uint64 { return r.Generation<<32 | r.Version }

// counts reports whether what a version wrote is there.
func (r *row) counts(version uint64) bool {
	return version <= r.Version && !slices.ContainsFunc(r.Void, func(s span) bool { return s.From <= version && version <= s.To })
}

// advance makes version the last that counts; those in between never will.
func (r *row) advance(version uint64) {
	if version > r.Version+1 {
		r.Void = append(slices.Clip(r.Void), span{r.Version + 1, version - 1})
	}
	r.Version = version
}

const catalogPrefix = "sextant--"

// journalName holds receipts, marks and leases. No collection is called so.
const journalName = "sextant--Journal"

func readRow(r remote) (*row, error) {
	text, ok := r.Metadata[rowKey].(string)
	out := &row{catalog: r.ID}
	if !ok || json.Unmarshal([]byte(text), out) != nil {
		return nil, fmt.Errorf("chroma: catalogue row of %q: %w", strings.TrimPrefix(r.Name, catalogPrefix), store.ErrCorrupt)
	}
	if out.Format != format {
		return nil, fmt.Errorf("chroma: collection %q has format %d, this program reads %d: %w", out.Spec.Name, out.Format, format, store.ErrUnsupported)
	}
	return out, nil
}

func (r *row) metadata() (map[string]any, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("chroma: catalogue row: %w", err)
	}
	return map[string]any{rowKey: string(b)}, nil
}

// row reads a collection's row; store.ErrNotFound if there is none.
func (s *Store) row(ctx context.Context, name string) (*row, error) {
	r, err := s.client.collection(ctx, catalogPrefix+name)
	if errors.Is(err, errMissing) {
		return nil, fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	if err != nil {
		return nil, err
	}
	return readRow(r)
}

// putRow replaces a row, and reads it back.
func (s *Store) putRow(ctx context.Context, r *row) error {
	m, err := r.metadata()
	if err != nil {
		return err
	}
	if err := underneath(s.client.setMetadata(ctx, r.catalog, m)); err != nil {
		return err
	}
	now, err := s.client.collection(ctx, catalogPrefix+r.Spec.Name)
	if err == nil && now.Metadata[rowKey] != m[rowKey] {
		err = fmt.Errorf("chroma: the catalogue row is not as it was put on the server: %w", store.ErrUnavailable)
	}
	return underneath(err)
}

// underneath makes a missing collection what it is to who had it open: removed by
// somebody else, and no reason to answer that there is nothing.
func underneath(err error) error {
	if errors.Is(err, errMissing) {
		return fmt.Errorf("the collection was removed from the server by somebody else: %w: %w", store.ErrUnavailable, err)
	}
	return err
}

func missingIsFine(err error) error {
	if errors.Is(err, errMissing) {
		return nil
	}
	return err
}

// thereIsFine: somebody else has made it at the same time.
func thereIsFine(err error) error {
	if errors.Is(err, errThere) {
		return nil
	}
	return err
}
