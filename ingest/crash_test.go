package ingest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// dying is a store that stops doing anything after some writes, as if the process were
// gone: everything before is durable, nothing after happens.
type dying struct {
	store.Store
	left int
}

var errDead = errors.New("dead")

func (d *dying) spend() error {
	if d.left--; d.left < 0 {
		return errDead
	}
	return nil
}

func (d *dying) Ensure(ctx context.Context, spec sextant.Collection) (store.Collection, error) {
	c, err := d.Store.Ensure(ctx, spec)
	return &dyingCollection{c, d}, err
}

func (d *dying) Journal() store.Journal { return &dyingJournal{d.Store.Journal(), d} }

type dyingCollection struct {
	store.Collection
	d *dying
}

func (c *dyingCollection) Upsert(ctx context.Context, records []store.Record) error {
	if err := c.d.spend(); err != nil {
		return err
	}
	return c.Collection.Upsert(ctx, records)
}

type dyingJournal struct {
	store.Journal
	d *dying
}

func (j *dyingJournal) PutReceipt(ctx context.Context, r sextant.Receipt) error {
	if err := j.d.spend(); err != nil {
		return err
	}
	return j.Journal.PutReceipt(ctx, r)
}

func (j *dyingJournal) PutMark(ctx context.Context, key, value string) error {
	if err := j.d.spend(); err != nil {
		return err
	}
	return j.Journal.PutMark(ctx, key, value)
}

// However often and wherever runs die, and whatever is deleted in between and meanwhile,
// a run that
// is let finish ends in the state of one that was never interrupted, and the run after
// that has nothing to do.
func TestRunsThatDieConverge(t *testing.T) {
	lines := append(manyLines(60, "a"), "x BAD", "", "y")
	want := func() map[string]string {
		st := openStore(t, t.TempDir())
		run(t, st, &words{files: []*wordFile{file("one", lines...), file("two", manyLines(45, "b")...)}})
		return held(t, st)
	}()
	seeds := uint64(16)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // repeatable on purpose
			st := openStore(t, t.TempDir())
			one, two := file("one", lines...), file("two", manyLines(45, "b")...)
			job := func(s store.Store, files ...*wordFile) ingest.Job {
				return ingest.Job{Store: s, Collection: notes(), Batch: 4, MarkEach: 1, Source: &words{files: files}}
			}
			for range 1 + random.IntN(4) {
				files := [][]*wordFile{{one, two}, {two, one}, {one}, {two}}[random.IntN(4)]
				disturb := remove(t, st, random.IntN(20))
				when := int64(random.IntN(200))
				files[0].hook = func(record int64) {
					if record == when {
						disturb()
					}
				}
				if _, err := ingest.Run(t.Context(), job(&dying{st, random.IntN(150)}, files...)); err != nil && !errors.Is(err, errDead) {
					t.Fatal(err)
				}
				files[0].hook = nil
				if random.IntN(2) == 0 {
					remove(t, st, random.IntN(20))()
				}
			}
			for _, last := range []bool{false, true} {
				r, err := ingest.Run(t.Context(), job(st, one, two))
				if err != nil {
					t.Fatal(err)
				}
				if r.Read != 108 || last && r.Records[sextant.Unchanged] != 105 {
					t.Fatalf("the account is not whole: %+v", r)
				}
				if diff := cmp.Diff(want, held(t, st)); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// remove returns a function that deletes a document, as somebody else might.
func remove(t *testing.T, st store.Store, n int) func() {
	return func() {
		c, err := st.Open(t.Context(), "notes")
		if errors.Is(err, store.ErrNotFound) {
			return
		}
		if err == nil {
			_, err = c.Delete(t.Context(), []sextant.DocumentID{sextant.DocumentID(fmt.Sprintf("w:d%04d", n))})
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// What another file said of a document that was lost is not taken for held once the
// document is made again without it.
func TestALostDocumentIsMadeOfAllItsFiles(t *testing.T) {
	st := openStore(t, t.TempDir())
	one, two := file("one", manyLines(20, "a")...), file("two", manyLines(20, "b")...)
	job := func(files ...*wordFile) ingest.Job {
		return ingest.Job{Store: st, Collection: notes(), Source: &words{files: files}}
	}
	run := func(files ...*wordFile) {
		if _, err := ingest.Run(t.Context(), job(files...)); err != nil {
			t.Fatal(err)
		}
	}
	run(one, two)
	want := held(t, st)
	remove(t, st, 3)()
	run(one)
	run(one, two)
	if diff := cmp.Diff(want, held(t, st)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnInterruptedRunResumesAtItsMark(t *testing.T) {
	st := openStore(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	f := file("one", manyLines(3000, "a")...)
	f.hook = func(record int64) {
		if record == 2000 {
			cancel()
		}
	}
	job := ingest.Job{Store: st, Collection: notes(), Source: &words{files: []*wordFile{f}}, Batch: 10}
	first, err := ingest.Run(ctx, job)
	if !errors.Is(err, context.Canceled) || !first.Finished.IsZero() || first.Read == 0 || first.Read > 2000 {
		t.Fatalf("read %d, finished %v, %v", first.Read, first.Finished, err)
	}
	kept, err := st.Journal().Receipts(t.Context(), "notes", 0)
	if err != nil || len(kept) != 1 || kept[0].Read != first.Read {
		t.Fatalf("the account of the interrupted run is lost: %+v, %v", kept, err)
	}
	f.hook = nil
	second, err := ingest.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	switch resumed := f.last.Load(); {
	case resumed == 0:
		// The store finished a write that the interruption had already given up on. Its
		// document is not as the mark left it, so everything is looked at once more.
		if second.Read != 3000 || second.Records[sextant.Unchanged] != first.Read {
			t.Errorf("the account of the file is not whole: %+v", second.Records)
		}
	case resumed != first.Read:
		t.Errorf("went on after record %d, the mark was at %d", resumed, first.Read)
	default:
		if w := strings.Join(second.Files[0].Warnings, " "); !strings.Contains(w, fmt.Sprintf("Resumed after record %d, which run %s had reached.", first.Read, first.Run)) {
			t.Errorf("warnings %q", w)
		}
		if second.Read != 3000 || second.Records[sextant.Stored] != 1000 || second.Records[sextant.Merged] != 2000 {
			t.Errorf("the account of the file is not whole: %+v", second.Records)
		}
	}
	if n := first.Documents.Added + second.Documents.Added; n < 1000 || n > 1001 {
		t.Errorf("%d and %d documents added", first.Documents.Added, second.Documents.Added)
	}
	third, err := ingest.Run(t.Context(), job)
	if err != nil || f.reads.Load() != 2 || third.Records[sextant.Unchanged] != 3000 {
		t.Errorf("read %d times, %+v, %v", f.reads.Load(), third.Records, err)
	}
}

// TestOPS01KilledWhileWriting kills a process that ingests, at random moments.
func TestOPS01KilledWhileWriting(t *testing.T) {
	if dir := os.Getenv("SEXTANT_TEST_INGEST"); dir != "" {
		ingestForever(t, dir)
		return
	}
	if testing.Short() {
		t.Skip("starts 20 processes")
	}
	dir := t.TempDir()
	acknowledged := int64(0)
	for i := range 20 {
		acknowledged = max(acknowledged, killDuring(t, dir, time.Duration(rand.IntN(150))*time.Millisecond))
		st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir})
		if err != nil {
			t.Fatalf("kill %d: does not open: %v", i, err)
		}
		if c, err := st.Open(t.Context(), "notes"); err == nil {
			n, err := c.Count(t.Context(), nil, store.Documents)
			if err != nil || n < acknowledged {
				t.Errorf("kill %d: %d documents, %d were acknowledged (%v)", i, n, acknowledged, err)
			}
			held(t, st) // every document whole, with its chunks
		} else if !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("kill %d: %v", i, err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	st := openStore(t, dir)
	r, err := ingest.Run(t.Context(), endless(st, nil))
	if err != nil || r.Read != endlessLines {
		t.Fatalf("read %d, %v", r.Read, err)
	}
	if got := held(t, st); len(got) != endlessLines/3 || got["w:d0007"] != "a0 a1 a2" {
		t.Errorf("%d documents, d0007 is %q", len(got), got["w:d0007"])
	}
}

const endlessLines = 30_000

func endless(st store.Store, progress func(ingest.Progress)) ingest.Job {
	return ingest.Job{
		Store: st, Collection: notes(), Batch: 32, MarkEach: 20 * time.Millisecond, Progress: progress,
		Source: &words{files: []*wordFile{file("one", manyLines(endlessLines, "a")...)}},
	}
}

// ingestForever is what the killed process does. It says how many records are
// acknowledged, a line each time.
func ingestForever(t *testing.T, dir string) {
	st := openStore(t, dir)
	var began time.Time
	job := endless(st, func(p ingest.Progress) { fmt.Fprintf(os.Stderr, "records %d\n", p.Records) })
	job.Now = func() time.Time { // progress at every batch
		if began.IsZero() {
			began = time.Now()
		}
		began = began.Add(100 * time.Millisecond)
		return began
	}
	if _, err := ingest.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(os.Stderr, "done")
	time.Sleep(time.Minute)
}

// killDuring starts the process, kills it some time after its first word, and returns
// the number of documents that were certainly stored by then.
func killDuring(t *testing.T, dir string, after time.Duration) int64 {
	cmd := exec.Command(os.Args[0], "-test.run=^TestOPS01KilledWhileWriting$") //nolint:gosec // ourselves
	cmd.Env = append(os.Environ(), "SEXTANT_TEST_INGEST="+dir)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	records := int64(0)
	lines := bufio.NewScanner(out)
	var timer *time.Timer
	for lines.Scan() {
		if timer == nil {
			timer = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
		if n, ok := strings.CutPrefix(lines.Text(), "records "); ok {
			if v, err := strconv.ParseInt(n, 10, 64); err == nil {
				records = v
			}
		}
		if lines.Text() == "done" {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait() // killed
	if timer == nil {
		t.Fatal("the process never said anything")
	}
	return records / 3
}
