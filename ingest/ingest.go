// Package ingest takes records from a source to a store: read, merge with what is
// stored, cut into chunks, embed, write. Every record handed in has exactly one outcome
// in the receipt; nothing is acknowledged before it is durable.
//
// Reading, merging and writing overlap, a batch each, and memory does not grow with the
// text read (a few dozen bytes for each document are kept for the account).
//
// A run can be killed at any moment. Documents are replaced whole, merging a record
// twice changes nothing (see source.Contribution), and a mark says from where a run has
// to go on; so the next run ends in the same state as one that was never interrupted.
//
// A second run over unchanged files reads none of them: the journal keeps the digest
// of every file that was read to its end, and the revision its documents were left
// with. What was changed or deleted in the store since then is found by comparing
// revisions and read again.
package ingest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/embed"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/store"
)

// Job is one ingestion.
type Job struct {
	Store      store.Store
	Collection sextant.Collection // created if new
	Source     source.Source
	Chunks     chunk.Options
	Embedder   embed.Embedder // needed where the collection has an encoder, else nil
	Progress   func(Progress) // called from one goroutine, some times a second; may be nil
	Reread     bool           // read every file, whatever is known of it
	Prune      bool           // delete what a source.Covering no longer speaks of

	Batch    int              // records taken together; 0 is 1,024, with an Embedder 256
	Now      func() time.Time // nil is time.Now
	MarkEach time.Duration    // how often a mark is set; 0 is five seconds
}

// Large batches cost fewer flushes to the disk and fewer merges of the index. Vectors take
// so long that a batch of them is a matter of progress instead.
const (
	defaultBatch = 1024
	encodedBatch = 256
	defaultMark  = 5 * time.Second
)

// Run does the job and returns its receipt, which is also kept in the store's journal.
// Inputs that cannot be read at all are an error before anything is written. When the
// context ends or the store fails in between, the receipt holds what was done until
// then (Finished is zero) and the next run of the same job goes on from there.
func Run(ctx context.Context, job Job) (sextant.Receipt, error) {
	if job.Batch <= 0 {
		job.Batch = defaultBatch
		if job.Embedder != nil {
			job.Batch = encodedBatch
		}
	}
	if job.Now == nil {
		job.Now = time.Now
	}
	if job.MarkEach <= 0 {
		job.MarkEach = defaultMark
	}
	if err := job.Collection.Validate(); err != nil {
		return sextant.Receipt{}, fmt.Errorf("ingest: %w", err)
	}
	if (job.Collection.Encoder == "") != (job.Embedder == nil) {
		return sextant.Receipt{}, fmt.Errorf("ingest into %s: an encoder is named and none is given, or the other way round", job.Collection.Name)
	}
	leave, err := enter(job)
	if err != nil {
		return sextant.Receipt{}, err
	}
	defer leave()
	if err := job.record(ctx); err != nil {
		return sextant.Receipt{}, err
	}
	inputs, err := job.Source.Inputs(ctx)
	if err != nil {
		return sextant.Receipt{}, fmt.Errorf("ingest: %w", err)
	}
	r := newRun(job)
	err = r.all(ctx, inputs)
	if err != nil {
		err = fmt.Errorf("ingest into %s: %w", job.Collection.Name, err)
	}
	return r.receipt, err
}

// Two runs into one collection would each merge with documents the other is about to
// replace. running names those under way in this process; a data folder has only one.
var running sync.Map

type place struct {
	store      store.Store
	collection string
}

func enter(job Job) (leave func(), err error) {
	p := place{job.Store, job.Collection.Name}
	if _, busy := running.LoadOrStore(p, true); busy {
		return nil, &sextant.Error{
			Code: sextant.CodeConflict, Op: "ingest", Message: "Another ingestion into " + job.Collection.Name + " is running.",
			Hint: "Wait for it to end, then start this one again.",
		}
	}
	return func() { running.Delete(p) }, nil
}

// run is a Job under way.
type run struct {
	Job
	collection store.Collection
	schema     filter.Schema
	journal    journal
	receipt    sextant.Receipt
	ledger     *ledger
	marks      map[string]*mark // of unfinished inputs, by digest
	digests    []string         // of the inputs, in order
	items      itemLog
	meter      meter
	workers    int
	failed     []error // inputs that broke off
}

func newRun(job Job) *run {
	started := job.Now().UTC()
	return &run{
		Job: job, workers: runtime.GOMAXPROCS(0),
		receipt: sextant.Receipt{
			Run: runID(started), Source: job.Source.Name(), Collection: job.Collection.Name, Started: started,
			Records: map[sextant.Outcome]int64{},
		},
	}
}

// runID is sortable by time and unique.
func runID(t time.Time) string {
	var tail [4]byte
	_, _ = rand.Read(tail[:]) // never fails
	return t.Format("20060102T150405.000000Z") + "-" + hex.EncodeToString(tail[:])
}

// all reads the inputs one after the other and closes the account.
func (r *run) all(ctx context.Context, inputs []source.Input) error {
	var err error
	if r.collection, err = r.Store.Ensure(ctx, r.Collection); err != nil {
		return err
	}
	r.schema = r.collection.Spec().Schema
	if s, ok := r.Source.(source.Recaller); ok {
		s.Recall(holdings{r.collection})
	}
	r.journal = journal{Journal: r.Store.Journal(), prefix: prefixOf(r.Collection.Name, r.Source.Name()), version: r.version()}
	if r.Chunks.Openings, err = resumeOpenings(ctx, r.journal, r.collection); err != nil {
		return err
	}
	r.items = itemLog{journal: r.journal, run: r.receipt.Run}
	if r.digests, err = digestsOf(ctx, inputs); err != nil {
		return err
	}
	if err := r.recall(ctx, r.digests); err != nil {
		return err
	}
	r.meter = newMeter(r.Job, inputs)
	for i, in := range inputs {
		err := r.file(ctx, in, r.digests[i])
		r.sum()
		if err != nil {
			return errors.Join(err, r.interrupted(ctx))
		}
	}
	return r.finish(ctx)
}

// holdings lets a source look up documents.
type holdings struct{ collection store.Collection }

// Find implements source.Held.
func (h holdings) Find(ctx context.Context, f filter.Filter) ([]sextant.DocumentID, error) {
	list, err := h.collection.List(ctx, store.ListQuery{Filter: f, Limit: 100})
	return list.IDs, err
}

// version names everything that decides what a record becomes in this collection.
func (r *run) version() string {
	return fmt.Sprintf("%s; %s; %s", r.Source.Version(), r.Chunks.Version(), r.Collection.Encoder)
}

func digestsOf(ctx context.Context, inputs []source.Input) ([]string, error) {
	out := make([]string, len(inputs))
	for i, in := range inputs {
		var err error
		if out[i], err = in.Digest(ctx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// recall loads what the journal knows and finds out which documents are no longer as
// they were left. It does so before anything is written, since what this run writes
// must not be taken for what was there.
func (r *run) recall(ctx context.Context, digests []string) error {
	r.ledger, r.marks = newLedger(), map[string]*mark{}
	if r.Reread {
		return nil
	}
	known, err := r.journal.load(ctx)
	if err != nil {
		return err
	}
	if known != nil {
		r.ledger = known
		if known.sequence != r.collection.Sequence() {
			stale, err := compare(ctx, r.collection, known.accounts)
			if err != nil {
				return err
			}
			known.mistrust(stale, digests)
		}
	}
	for _, digest := range digests {
		if digest == "" || r.ledger.files[digest] != nil || r.ledger.partial[digest] != nil {
			continue
		}
		m, err := r.journal.getMark(ctx, digest)
		if err != nil {
			return err
		}
		if m != nil {
			if m.suspects, err = compare(ctx, r.collection, m.accounts); err != nil {
				return err
			}
			r.ledger.recallMark(m)
			r.marks[digest] = m
		}
	}
	return nil
}

// sum adds the files' accounts up.
func (r *run) sum() {
	r.receipt.Read, r.receipt.Records = 0, map[sextant.Outcome]int64{}
	for _, f := range r.receipt.Files {
		r.receipt.Read += f.Read
		for o, n := range f.Records {
			r.receipt.Records[o] += n
		}
	}
	deleted := r.receipt.Documents.Deleted
	r.receipt.Documents = r.ledger.tally()
	r.receipt.Documents.Deleted = deleted
}

// finish writes down what is settled, then the receipt.
func (r *run) finish(ctx context.Context) error {
	if err := errors.Join(r.items.flush(ctx), r.supersede(ctx)); err != nil {
		return err
	}
	if err := r.quieten(ctx); err != nil {
		return err
	}
	sequence, err := r.undisturbed(ctx)
	if err != nil {
		return err
	}
	r.ledger.sequence = sequence
	if err := r.journal.save(ctx, r.ledger); err != nil {
		return err
	}
	r.receipt.Finished = r.Now().UTC()
	return errors.Join(r.journal.PutReceipt(ctx, r.receipt), errors.Join(r.failed...))
}

// undisturbed returns a sequence of the collection at which every document is as the
// ledger says, 0 if somebody else has changed some since: the next run then looks which.
// A store may commit our changes and others' in one step, so sequences alone cannot tell.
func (r *run) undisturbed(ctx context.Context) (uint64, error) {
	now := r.collection.Sequence()
	if now == r.ledger.sequence {
		return now, nil
	}
	stale, err := compare(ctx, r.collection, r.ledger.accounts)
	if err != nil || len(stale) > 0 || r.collection.Sequence() != now {
		return 0, err
	}
	return now, nil
}

// interrupted keeps the account of a run that ends early, even if the reason is that
// the context has ended.
func (r *run) interrupted(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return r.journal.PutReceipt(ctx, r.receipt)
}
