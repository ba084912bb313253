package tune

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed/adapt"
	"github.com/sextant-rag/sextant/store"
)

// A collection's versions are kept in the store's journal, so that they are backed up with
// it:
//
//	tune/<collection>/versions    their ids, oldest first, and which is in use
//	tune/<collection>/<id>        one of them
func key(collection, name string) string { return "tune/" + collection + "/" + name }

// Version is one thing learnt.
type Version struct {
	ID      string    `json:"id"`
	Encoder string    `json:"encoder"` // the fingerprint it is for
	Made    time.Time `json:"made"`
	Report  Report    `json:"report"`
	Map     string    `json:"map,omitempty"` // base64
}

// Versions are those of a collection.
type Versions struct {
	IDs   []string `json:"ids"`
	InUse string   `json:"in_use"` // "" is none
}

// List returns the versions of a collection.
func List(ctx context.Context, j store.Journal, collection string) (Versions, error) {
	var v Versions
	text, err := j.Mark(ctx, key(collection, "versions"))
	if err != nil || text == "" {
		return v, err
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return v, fmt.Errorf("tune: versions of %s: %w", collection, err)
	}
	return v, nil
}

// Keep stores what was learnt as a new version and puts it in use. It sets the report's
// version.
func Keep(ctx context.Context, j store.Journal, r *Report, encoder string, now time.Time) error {
	all, err := List(ctx, j, r.Collection)
	if err != nil {
		return err
	}
	data, err := r.Map.MarshalBinary()
	if err != nil {
		return err
	}
	r.Version = fmt.Sprintf("%d", len(all.IDs)+1)
	text, err := json.Marshal(Version{ID: r.Version, Encoder: encoder, Made: now.UTC(), Report: *r, Map: base64.StdEncoding.EncodeToString(data)})
	if err != nil {
		return err
	}
	if err := j.PutMark(ctx, key(r.Collection, r.Version), string(text)); err != nil {
		return err
	}
	all.IDs, all.InUse = append(all.IDs, r.Version), r.Version
	return put(ctx, j, r.Collection, all)
}

func put(ctx context.Context, j store.Journal, collection string, v Versions) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return j.PutMark(ctx, key(collection, "versions"), string(text))
}

// ErrVersion is why a version cannot be used.
var ErrVersion = errors.New("no such version")

// Use puts a version in use, "" being none: queries go as the encoder made them then.
func Use(ctx context.Context, j store.Journal, collection, id string) error {
	all, err := List(ctx, j, collection)
	if err != nil {
		return err
	}
	if id != "" {
		if _, err := load(ctx, j, collection, id); err != nil {
			return err
		}
	}
	all.InUse = id
	return put(ctx, j, collection, all)
}

func load(ctx context.Context, j store.Journal, collection, id string) (Version, error) {
	var v Version
	text, err := j.Mark(ctx, key(collection, id))
	if err != nil {
		return v, err
	}
	if text == "" {
		return v, fmt.Errorf("tune: %s of %s: %w", id, collection, ErrVersion)
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return v, fmt.Errorf("tune: %s of %s: %w", id, collection, err)
	}
	return v, nil
}

// Maps hands out the maps in use. It is safe for concurrent use.
type Maps struct {
	journal store.Journal
	mu      sync.Mutex
	known   map[string]known // by collection
}

type known struct {
	id, encoder string
	m           adapt.Map
}

// NewMaps returns the maps that a journal keeps.
func NewMaps(j store.Journal) *Maps { return &Maps{journal: j, known: map[string]known{}} }

// Of returns the map in use for a collection and its name, the zero map if there is none
// or it was learnt for another encoder. Looking which one is in use takes some
// microseconds, so that a switch shows at the next question.
func (a *Maps) Of(ctx context.Context, spec sextant.Collection) (adapt.Map, string, error) {
	all, err := List(ctx, a.journal, spec.Name)
	if err != nil || all.InUse == "" {
		return adapt.Map{}, "", err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.known[spec.Name]
	if k.id != all.InUse {
		v, err := load(ctx, a.journal, spec.Name, all.InUse)
		if err != nil {
			return adapt.Map{}, "", err
		}
		data, err := base64.StdEncoding.DecodeString(v.Map)
		if err != nil {
			return adapt.Map{}, "", fmt.Errorf("tune: %s of %s: %w", v.ID, spec.Name, err)
		}
		k = known{id: v.ID, encoder: v.Encoder}
		if err := k.m.UnmarshalBinary(data); err != nil {
			return adapt.Map{}, "", fmt.Errorf("tune: %s of %s: %w", v.ID, spec.Name, err)
		}
		a.known[spec.Name] = k
	}
	if k.encoder != spec.Encoder {
		return adapt.Map{}, "", nil
	}
	return k.m, k.id, nil
}
