package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/store"
)

// Bounds of the sizes that can be asked for, in tokens.
const (
	MinChunk = 32
	MaxChunk = 4096
)

// Cutting is the size of chunks that somebody asks for. Zero and nil ask for nothing.
type Cutting struct {
	Size    int  // most tokens of a chunk
	Overlap *int // most tokens repeated; 0 is none
}

// Check returns a bad request if the sizes cannot be.
func (c Cutting) Check() error {
	bad := func(message string) error {
		return &sextant.Error{Code: sextant.CodeBadRequest, Op: "ingest", Message: message, Hint: "Sizes are in tokens of the encoder; most encoders see 256 of them."}
	}
	switch {
	case c.Size != 0 && (c.Size < MinChunk || c.Size > MaxChunk):
		return bad(fmt.Sprintf("A chunk has %d to %d tokens, not %d.", MinChunk, MaxChunk, c.Size))
	case c.Overlap != nil && *c.Overlap < 0:
		return bad("Chunks cannot overlap by less than nothing.")
	case c.Overlap != nil && c.Size != 0 && *c.Overlap > c.Size/3:
		return bad(fmt.Sprintf("Chunks of %d tokens can overlap by a third of that, not by %d.", c.Size, *c.Overlap))
	}
	return nil
}

// from returns what was asked for, and what is there of that which was not.
func (c Cutting) from(there sextant.Chunking) sextant.Chunking {
	if there == (sextant.Chunking{}) {
		there = chunk.Options{}.Chunking()
	}
	if c.Size > 0 {
		there.Size = c.Size
	}
	if c.Overlap != nil {
		there.Overlap = *c.Overlap
	}
	return chunk.OptionsOf(there).Chunking()
}

// Apply sets how a job cuts its documents: as those are cut that its collection holds, else
// as asked, else by default. A collection that holds documents is not cut two ways: asking
// it for other sizes is a conflict, whose hint is to cut all of it anew. settings are what
// the configuration asks of new collections; those of c come first.
func (c Cutting) Apply(ctx context.Context, job *Job, settings Cutting) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := settings.Check(); err != nil {
		return err
	}
	spec, holds, err := held(ctx, job.Store, job.Collection)
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	if holds {
		there := chunk.OptionsOf(spec.Chunking).Chunking()
		if asked := c.from(there); asked != there {
			return otherCutting(spec.Name, there, asked)
		}
		job.Collection.Chunking = there
	} else {
		job.Collection.Chunking = c.from(settings.from(sextant.Chunking{}))
	}
	job.cutAs(job.Collection.Chunking)
	return nil
}

// cutAs sets the sizes and leaves what else chunks are made with.
func (job *Job) cutAs(c sextant.Chunking) {
	glossary, openings := job.Chunks.Glossary, job.Chunks.Openings
	job.Chunks = chunk.OptionsOf(c)
	job.Chunks.Glossary, job.Chunks.Openings = glossary, openings
}

func otherCutting(collection string, there, asked sextant.Chunking) error {
	return &sextant.Error{
		Code: sextant.CodeConflict, Op: "ingest",
		Message: fmt.Sprintf("The documents of %s are cut into chunks of at most %d tokens that overlap by %d; %d and %d are asked for, and chunks of several sizes cannot be ranked against each other.", collection, there.Size, there.Overlap, asked.Size, asked.Overlap),
		Hint:    fmt.Sprintf("Leave the sizes out, or cut all of it anew: sextant rechunk %s --chunk-size %d --chunk-overlap %d", collection, asked.Size, asked.Overlap),
	}
}

// record enters into the job's collection how it is cut, and refuses to cut two ways.
func (job *Job) record(ctx context.Context) error {
	job.Collection.Chunking = job.Chunks.Chunking()
	spec, holds, err := held(ctx, job.Store, job.Collection)
	if err != nil {
		return err
	}
	if there := chunk.OptionsOf(spec.Chunking).Chunking(); holds && there != job.Collection.Chunking {
		return otherCutting(spec.Name, there, job.Collection.Chunking)
	}
	return nil
}

// Rechunking is what Rechunk did.
type Rechunking struct {
	Collection string           `json:"collection"`
	From       sextant.Chunking `json:"from"`
	To         sextant.Chunking `json:"to"`
	Documents  int64            `json:"documents"` // looked at
	Cut        int64            `json:"cut"`       // whose chunks are others now
	Chunks     int64            `json:"chunks"`    // of the collection, afterwards
}

// rechunkBatch is how many documents are cut together.
const rechunkBatch = 64

// Rechunk cuts all documents of a collection anew and gives the new chunks their vectors.
// The job says how to cut and with what: its Store, Collection (the name will do), Embedder
// (needed where the collection has vectors) and what else its chunks are made with. What
// was recorded says the new sizes from the beginning: a run that was interrupted is gone on
// with, since documents that are cut as they should be are left alone. It excludes
// ingestion into the collection. progress may be nil.
func Rechunk(ctx context.Context, job Job, to Cutting, progress func(done, of int64)) (Rechunking, error) {
	out := Rechunking{Collection: job.Collection.Name}
	if err := to.Check(); err != nil {
		return out, err
	}
	c, err := job.Store.Open(ctx, job.Collection.Name)
	if err != nil {
		return out, fmt.Errorf("rechunk: %w", err)
	}
	job.Collection = c.Spec()
	leave, err := enter(job)
	if err != nil {
		return out, err
	}
	defer leave()
	if err := out.run(ctx, &job, c, to, progress); err != nil {
		return out, fmt.Errorf("rechunk %s: %w", job.Collection.Name, err)
	}
	return out, nil
}

func (r *Rechunking) run(ctx context.Context, job *Job, c store.Collection, to Cutting, progress func(done, of int64)) error {
	spec := c.Spec()
	r.From = chunk.OptionsOf(spec.Chunking).Chunking()
	r.To = to.from(r.From)
	if spec.Encoder == "" {
		job.Embedder = nil
	} else if job.Embedder == nil || job.Embedder.Fingerprint().String() != spec.Encoder {
		return Encoding{Embedder: job.Embedder}.conflict(spec)
	}
	size, err := c.Size(ctx)
	if err != nil {
		return err
	}
	spec.Chunking = r.To
	job.cutAs(r.To)
	if job.Chunks.Openings, err = learnOpenings(ctx, job.Store.Journal(), c); err != nil {
		return err
	}
	if c, err = job.Store.Ensure(ctx, spec); err != nil {
		return err
	}
	for after, more := "", true; more; more = after != "" {
		page, err := c.List(ctx, store.ListQuery{After: after, Limit: rechunkBatch})
		if err != nil {
			return err
		}
		if err := r.cut(ctx, job, c, page.IDs); err != nil {
			return err
		}
		if after = page.Next; progress != nil {
			progress(r.Documents, size.Documents)
		}
	}
	if size, err = c.Size(ctx); err == nil {
		r.Chunks = size.Chunks
	}
	return err
}

// cut writes documents whose chunks are not as they should be.
func (r *Rechunking) cut(ctx context.Context, job *Job, c store.Collection, ids []sextant.DocumentID) error {
	docs, err := c.Get(ctx, ids)
	if err != nil {
		return err
	}
	var records []store.Record
	for i := range docs {
		there, err := c.Chunks(ctx, docs[i].ID)
		if err != nil {
			return err
		}
		if chunks := chunk.Split(&docs[i], job.Chunks); !sameChunks(there, chunks) {
			records = append(records, store.Record{Document: docs[i], Chunks: chunks})
		}
	}
	r.Documents += int64(len(docs))
	r.Cut += int64(len(records))
	if len(records) == 0 {
		return nil
	}
	if job.Embedder != nil {
		if err := encodeRecords(ctx, job.Embedder, records); err != nil {
			return err
		}
	}
	return c.Upsert(ctx, records)
}

func sameChunks(a, b []sextant.Chunk) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Start != b[i].Start || a[i].End != b[i].End || a[i].Heading != b[i].Heading || !slices.Equal(a[i].Rewrites, b[i].Rewrites) {
			return false
		}
	}
	return true
}
