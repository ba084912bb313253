package ingest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/source"
)

// maxRefusals is how many refused records a file's receipt names.
const maxRefusals = 100

// fileRun is one input being read.
type fileRun struct {
	input    source.Input
	digest   string
	receipt  sextant.FileReceipt
	from, at source.Position             // where reading began, and up to where all is stored
	only     map[sextant.DocumentID]bool // documents to look at among the records before until; nil is all
	until    int64
	seen     []uint32 // documents its records went into, by their numbers in the ledger
	ledger   *ledger
	marked   time.Time
	marking  time.Duration // that the last mark took
	hasMark  bool
	textless int64
	rejected int64 // records that could be read but not merged
	broken   error // why the input could not be read on; set before the reader ends
}

// file reads one input to its end, or leaves it if nothing about it is new.
func (r *run) file(ctx context.Context, in source.Input, digest string) error {
	if f, ok := r.ledger.settled(digest); ok && !r.Reread {
		receipt := r.ledger.leave(f)
		receipt.Name = in.Name()
		r.receipt.Files = append(r.receipt.Files, receipt)
		r.meter.left(in, receipt)
		return nil
	}
	f := &fileRun{ledger: r.ledger, input: in, digest: digest, marked: r.Now(), receipt: sextant.FileReceipt{
		Name: in.Name(), Kind: in.Kind(), SHA256: digest, Bytes: in.Size(), Records: map[sextant.Outcome]int64{},
	}}
	r.resume(f)
	r.receipt.Files = append(r.receipt.Files, f.receipt)
	err := r.stages(ctx, f)
	notes := in.Notes()
	f.receipt.Encoding = notes.Encoding
	f.receipt.Warnings = append(f.receipt.Warnings, notes.Warnings...)
	if f.textless > 0 {
		f.receipt.Warnings = append(f.receipt.Warnings, fmt.Sprintf("%d documents have no content: nothing of them can be found by text.", f.textless))
	}
	switch {
	case err != nil:
		r.markLast(ctx, f)
	case f.broken != nil:
		f.receipt.Warnings = append(f.receipt.Warnings, fmt.Sprintf("Reading stopped after record %d: %v.", f.receipt.Read, f.broken))
		r.failed = append(r.failed, fmt.Errorf("%s: %w", in.Name(), f.broken))
		r.meter.end(f)
	default:
		err = r.settle(ctx, f)
	}
	r.receipt.Files[len(r.receipt.Files)-1] = f.receipt
	return err
}

// resume decides where to begin and what to look at. Of what was read before (a
// settled file, or one up to the mark of an interrupted run) only records of documents
// that are not as they were left are looked at; if there are none, reading begins after
// the mark.
func (r *run) resume(f *fileRun) {
	if r.Reread {
		return
	}
	if known := r.ledger.partial[f.digest]; known != nil {
		if known.Rejected == 0 { // else only merging tells which they are
			f.only, f.until = r.ledger.changedAmong(slices.Values(known.documents), r.ledger.stale), math.MaxInt64
		}
		return
	}
	m := r.marks[f.digest]
	if m == nil {
		return
	}
	f.hasMark = true
	if suspects := r.ledger.changedAmong(first(m.accounts.left()), m.suspects); len(suspects) > 0 {
		if m.Rejected == 0 {
			f.only, f.until = suspects, m.At.Record
		}
		return
	}
	f.from, f.at, f.receipt, f.rejected = m.At, m.At, m.Receipt, m.Rejected
	for id := range m.accounts.left() {
		f.seen = append(f.seen, r.ledger.number(id))
	}
	f.receipt.Name, f.receipt.Records = f.input.Name(), cloneCounts(m.Receipt.Records)
	f.receipt.Warnings = append(f.receipt.Warnings, fmt.Sprintf("Resumed after record %d, which run %s had reached.", m.At.Record, m.Run))
}

// passes reports whether an item need not be looked at: it was stored before, and its
// document is as it was left.
func (f *fileRun) passes(item source.Item) bool {
	return f.only != nil && item.At.Record < f.until && !f.only[item.ID]
}

func cloneCounts(counts map[sextant.Outcome]int64) map[sextant.Outcome]int64 {
	out := map[sextant.Outcome]int64{}
	for o, n := range counts {
		out[o] = n
	}
	return out
}

// markLast sets a mark where a run is interrupted, so that nothing is read twice. It
// is not needed for the next run to be right, and may fail as the run did.
func (r *run) markLast(ctx context.Context, f *fileRun) {
	if f.at == f.from || f.digest == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = r.mark(ctx, f) // see above
}

// settle remembers that the file was read to its end.
func (r *run) settle(ctx context.Context, f *fileRun) error {
	r.meter.end(f)
	if f.digest == "" { // an input that cannot be known again
		return nil
	}
	documents := r.ledger.ids(f.seen)
	slices.Sort(documents)
	kept := f.receipt
	kept.Records = cloneCounts(f.receipt.Records)
	r.ledger.files[f.digest] = &settledFile{Receipt: kept, Rejected: f.rejected, documents: slices.Compact(documents)}
	if !f.hasMark {
		return nil
	}
	if err := r.items.flush(ctx); err != nil {
		return err
	}
	// The mark goes only once the ledger that replaces it is written.
	if err := r.journal.save(ctx, r.ledger); err != nil {
		return err
	}
	return r.journal.dropMark(ctx, f.digest)
}

// count enters a record's outcome.
func (f *fileRun) count(res result) {
	f.receipt.Read++
	f.receipt.Records[res.outcome]++
	if res.outcome == sextant.Refused && res.id != "" {
		f.rejected++
	}
	if res.id != "" && res.outcome != sextant.Refused && res.outcome != sextant.Skipped { // those have no document
		document := f.ledger.number(res.id)
		if n := len(f.seen); n == 0 || f.seen[n-1] != document {
			f.seen = append(f.seen, document)
		}
	}
	if res.outcome == sextant.Refused && len(f.receipt.Refused) < maxRefusals {
		f.receipt.Refused = append(f.receipt.Refused, sextant.Refusal{
			Line: res.at.Line + 1, Offset: res.at.Offset, Record: string(res.id), Reason: res.reason,
		})
	}
}
