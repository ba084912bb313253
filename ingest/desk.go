package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// Desk takes orders and works on them one after the other. What was sent lies in a
// folder of its own until the task is done, and every change of a task's state is in the
// journal first, so that a server that ends in between knows what it was doing: the task
// is interrupted then, and goes on where it was when it is resumed.
//
//	job/<id>   a Task
//	jobs       the ids of the newest, in order
type Desk struct {
	config DeskConfig
	ctx    context.Context //nolint:containedctx // ends the work of all requests
	end    context.CancelCauseFunc
	wake   chan struct{}
	work   sync.WaitGroup

	mu      sync.Mutex
	tasks   map[string]*Task
	order   []string // ids by time
	waiting []string
	cancel  map[string]context.CancelCauseFunc // of the task under way
	changed chan struct{}                      // closed at every change
}

// DeskConfig is what a Desk works with.
type DeskConfig struct {
	Journal store.Journal
	Folder  string // where what is sent lies; made if it is not there
	// Open turns an order into a job; paths are what was sent. notes are for the client.
	Open func(ctx context.Context, o Order, paths []string) (job Job, notes []string, done func(), err error)
	// Fetch gets what an address holds into a folder and returns the file's name.
	Fetch  func(ctx context.Context, url, folder string) (name string, err error)
	Upload int64 // most bytes of one order; 0 is DefaultUpload
	Now    func() time.Time
}

// DefaultUpload bounds what may be sent with one order, in bytes.
const DefaultUpload = 2 << 30

// Bounds of what a Desk keeps.
const (
	maxWaiting = 32
	maxTasks   = 200
	maxSent    = 20_000 // files of one order
)

var (
	errCancelled = errors.New("cancelled")
	errClosing   = errors.New("the server is ending")
)

// NewDesk opens a desk. Tasks that were not finished are interrupted.
func NewDesk(ctx context.Context, c DeskConfig) (*Desk, error) {
	c.Upload = cmp.Or(c.Upload, DefaultUpload)
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("open desk: %w", err)
	}
	d := &Desk{config: c, tasks: map[string]*Task{}, cancel: map[string]context.CancelCauseFunc{}, wake: make(chan struct{}, 1), changed: make(chan struct{})}
	d.ctx, d.end = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := d.recall(ctx); err != nil {
		return nil, fmt.Errorf("open desk: %w", err)
	}
	d.work.Go(d.run)
	return d, nil
}

// Close ends the task under way, which is interrupted then, and returns when nothing is
// being written any more.
func (d *Desk) Close() {
	d.end(errClosing)
	d.work.Wait()
}

// recall reads the tasks of earlier.
func (d *Desk) recall(ctx context.Context) error {
	text, err := d.config.Journal.Mark(ctx, "jobs")
	if err != nil || text == "" {
		return err
	}
	var ids []string
	if err := json.Unmarshal([]byte(text), &ids); err != nil {
		return nil //nolint:nilerr // a list that cannot be read is none
	}
	for _, id := range ids {
		text, err := d.config.Journal.Mark(ctx, "job/"+id)
		if err != nil {
			return err
		}
		t := &Task{}
		if text == "" || json.Unmarshal([]byte(text), t) != nil {
			continue
		}
		if !t.State.Final() {
			t.State, t.Ended = Interrupted, d.config.Now().UTC()
			if err := d.keep(ctx, t); err != nil {
				return err
			}
		}
		d.tasks[id], d.order = t, append(d.order, id)
	}
	return nil
}

// keep writes a task down.
func (d *Desk) keep(ctx context.Context, t *Task) error {
	data, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("job %s: %w", t.ID, err)
	}
	return d.config.Journal.PutMark(ctx, "job/"+t.ID, string(data))
}

func (d *Desk) keepOrder(ctx context.Context) error {
	data, err := json.Marshal(d.order)
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	return d.config.Journal.PutMark(ctx, "jobs", string(data))
}

// Sent is one file that comes with an order.
type Sent struct {
	Name     string // may have folders
	Modified time.Time
	Body     io.Reader
}

// Take receives an order with its files and puts it in line. Nothing is read of the
// files yet; names that lead out of their folder are refused.
func (d *Desk) Take(ctx context.Context, o Order, files iter.Seq2[Sent, error]) (Task, error) {
	d.mu.Lock()
	full := len(d.waiting) >= maxWaiting
	d.mu.Unlock()
	if full {
		return Task{}, &sextant.Error{Code: sextant.CodeConflict, Op: "ingest", Message: "Too many jobs are waiting.", Hint: "Try again when some have ended."}
	}
	now := d.config.Now().UTC()
	t := &Task{ID: runID(now), State: Queued, Order: o, Created: now}
	if err := d.receive(ctx, t, files); err != nil {
		_ = os.RemoveAll(d.folder(t.ID))
		return Task{}, err
	}
	if len(t.Files) == 0 && o.URL == "" {
		_ = os.RemoveAll(d.folder(t.ID))
		return Task{}, &sextant.Error{Code: sextant.CodeBadRequest, Op: "ingest", Message: "Nothing was sent.", Hint: "Send files as multipart/form-data, or give a url."}
	}
	return d.enqueue(ctx, t)
}

func (d *Desk) folder(id string) string { return filepath.Join(d.config.Folder, id) }

func (d *Desk) receive(ctx context.Context, t *Task, files iter.Seq2[Sent, error]) error {
	if err := os.MkdirAll(d.folder(t.ID), 0o700); err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	root, err := os.OpenRoot(d.folder(t.ID))
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	defer func() { _ = root.Close() }()
	for sent, err := range files {
		if err != nil {
			return err
		}
		if len(t.Files) >= maxSent {
			return &sextant.Error{Code: sextant.CodeTooLarge, Op: "ingest", Message: fmt.Sprintf("More than %d files are too many for one job.", maxSent)}
		}
		name, err := sentPath(sent.Name)
		if err != nil {
			return err
		}
		if err := d.write(ctx, root, t, name, sent); err != nil {
			return err
		}
	}
	return nil
}

// sentPath returns where a file that was sent under a name lies: one without a folder is
// put into one, which begins the ids of its documents.
func sentPath(name string) (string, error) {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if name == "" || clean == "." || !fs.ValidPath(clean) || !filepath.IsLocal(filepath.FromSlash(clean)) || len(clean) > 1024 || strings.ContainsRune(clean, 0) {
		return "", &sextant.Error{Code: sextant.CodeBadRequest, Op: "ingest", Message: fmt.Sprintf("%q cannot be the name of a file that is sent.", sextant.CleanText(name)), Hint: "Names are relative paths without \"..\"."}
	}
	if !strings.Contains(clean, "/") {
		clean = "upload/" + clean
	}
	return clean, nil
}

func (d *Desk) write(ctx context.Context, root *os.Root, t *Task, name string, sent Sent) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("receive %s: %w", name, err)
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &sextant.Error{Code: sextant.CodeBadRequest, Op: "ingest", Message: fmt.Sprintf("%q was sent twice.", sextant.CleanText(name))}
	}
	if err != nil {
		return fmt.Errorf("receive %s: %w", name, err)
	}
	left := d.config.Upload - t.Bytes
	n, err := io.Copy(f, io.LimitReader(sent.Body, left+1))
	err = errors.Join(err, f.Close())
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("receive %s: %w", name, err)
	case n > left:
		return &sextant.Error{Code: sextant.CodeTooLarge, Op: "ingest", Message: fmt.Sprintf("What is sent is larger than %d bytes.", d.config.Upload), Hint: "Send it in parts, take it in with `sextant ingest` on the server's machine, or raise --max-upload."}
	}
	if !sent.Modified.IsZero() {
		if err := root.Chtimes(name, sent.Modified, sent.Modified); err != nil {
			return fmt.Errorf("receive %s: %w", name, err)
		}
	}
	t.Files, t.Bytes = append(t.Files, name), t.Bytes+n
	return nil
}

// enqueue puts a task in line, written down first.
func (d *Desk) enqueue(ctx context.Context, t *Task) (Task, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.keep(ctx, t); err != nil {
		return Task{}, err
	}
	if !slices.Contains(d.order, t.ID) {
		d.order = append(d.order, t.ID)
		if err := d.forgetOld(ctx); err != nil {
			return Task{}, err
		}
		if err := d.keepOrder(ctx); err != nil {
			return Task{}, err
		}
	}
	d.tasks[t.ID] = t
	d.waiting = append(d.waiting, t.ID)
	d.tell()
	select {
	case d.wake <- struct{}{}:
	default:
	}
	return t.clone(), nil
}

// forgetOld drops the oldest tasks that have ended.
func (d *Desk) forgetOld(ctx context.Context) error {
	for i := 0; i < len(d.order) && len(d.order) > maxTasks; {
		id := d.order[i]
		if t := d.tasks[id]; t != nil && !t.State.Final() {
			i++
			continue
		}
		if err := d.config.Journal.PutMark(ctx, "job/"+id, ""); err != nil {
			return err
		}
		_ = os.RemoveAll(d.folder(id))
		delete(d.tasks, id)
		d.order = slices.Delete(d.order, i, i+1)
	}
	return nil
}

// tell wakes whoever watches. The lock is held.
func (d *Desk) tell() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// ErrNoTask says that there is no job of an id.
var ErrNoTask = &sextant.Error{Code: sextant.CodeNotFound, Op: "jobs", Message: "There is no job of that id.", Hint: "GET /v1/jobs lists them."}

// Task returns a task as it is now.
func (d *Desk) Task(id string) (Task, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tasks[id]
	if t == nil {
		return Task{}, ErrNoTask
	}
	return t.clone(), nil
}

// Tasks returns the newest tasks, newest first.
func (d *Desk) Tasks() []Task {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := []Task{}
	for _, id := range slices.Backward(d.order) {
		out = append(out, d.tasks[id].clone())
	}
	return out
}

// Watch yields a task now and at every change until it is final or ctx ends.
func (d *Desk) Watch(ctx context.Context, id string) iter.Seq2[Task, error] {
	return func(yield func(Task, error) bool) {
		for {
			d.mu.Lock()
			changed, t := d.changed, d.tasks[id]
			var now Task
			if t != nil {
				now = t.clone()
			}
			d.mu.Unlock()
			if t == nil {
				yield(Task{}, ErrNoTask)
				return
			}
			if !yield(now, nil) || now.State.Final() {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(Task{}, context.Cause(ctx))
				return
			}
		}
	}
}

// Cancel ends a task: one in line at once, the one under way at the next record. What it
// has stored stays. One that has ended is returned as it is.
func (d *Desk) Cancel(ctx context.Context, id string) (Task, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tasks[id]
	switch {
	case t == nil:
		return Task{}, ErrNoTask
	case t.State == Running:
		d.cancel[id](errCancelled)
	case t.State == Queued:
		d.waiting = slices.DeleteFunc(d.waiting, func(w string) bool { return w == id })
		t.State, t.Ended = Cancelled, d.config.Now().UTC()
		_ = os.RemoveAll(d.folder(id))
		if err := d.keep(ctx, t); err != nil {
			return Task{}, err
		}
		d.tell()
	}
	return t.clone(), nil
}

// Resume puts an interrupted or failed task in line again.
func (d *Desk) Resume(ctx context.Context, id string) (Task, error) {
	d.mu.Lock()
	t := d.tasks[id]
	var again Task
	if t != nil {
		again = t.clone()
	}
	d.mu.Unlock()
	switch {
	case t == nil:
		return Task{}, ErrNoTask
	case again.State != Interrupted && again.State != Failed:
		return Task{}, &sextant.Error{Code: sextant.CodeConflict, Op: "jobs", Message: fmt.Sprintf("The job is %s; only an interrupted or failed one can be resumed.", again.State)}
	}
	if _, err := os.Stat(d.folder(id)); err != nil {
		return Task{}, &sextant.Error{Code: sextant.CodeConflict, Op: "jobs", Message: "What was sent with that job is no longer there.", Hint: "Send it again."}
	}
	again.State, again.Problem, again.Progress, again.Ended = Queued, nil, nil, time.Time{}
	return d.enqueue(ctx, &again)
}
