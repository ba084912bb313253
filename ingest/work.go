package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
)

// run works on tasks until the desk is closed.
func (d *Desk) run() {
	for {
		id := d.next()
		if id == "" {
			select {
			case <-d.wake:
				continue
			case <-d.ctx.Done():
				return
			}
		}
		d.handle(id)
	}
}

// next takes the first task in line, which is running from now on; "" if there is none.
func (d *Desk) next() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) == 0 || d.ctx.Err() != nil {
		return ""
	}
	id := d.waiting[0]
	d.waiting = d.waiting[1:]
	t := d.tasks[id]
	t.State, t.Started = Running, d.config.Now().UTC()
	d.tell()
	return id
}

// handle does a task and writes down how it ended.
func (d *Desk) handle(id string) {
	ctx, cancel := context.WithCancelCause(d.ctx)
	defer cancel(nil)
	d.mu.Lock()
	t := d.tasks[id]
	order := t.Order
	d.cancel[id] = cancel
	if err := d.keep(ctx, t); err != nil {
		cancel(err)
	}
	d.mu.Unlock()
	receipt, notes, err := d.do(ctx, id, order)
	cause := context.Cause(ctx)

	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.cancel, id)
	t.Ended, t.Notes = d.config.Now().UTC(), notes
	if receipt.Run != "" {
		t.Receipt = &receipt
	}
	switch {
	case err == nil:
		t.State = Done
	case errors.Is(cause, errCancelled):
		t.State = Cancelled
	case errors.Is(cause, errClosing):
		t.State = Interrupted
	default:
		t.State, t.Problem = Failed, problemOf(err)
	}
	if t.State == Done || t.State == Cancelled {
		_ = os.RemoveAll(d.folder(id))
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	_ = d.keep(last, t) // if even that fails, the task is found running and taken for interrupted
	d.tell()
}

// do runs the job of an order. A panic is this task's failure and nobody else's.
func (d *Desk) do(ctx context.Context, id string, order Order) (receipt sextant.Receipt, notes []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("ingest: panic: %v\n%s", p, debug.Stack())
		}
	}()
	if order.URL != "" {
		if err := d.fetch(ctx, id, order.URL); err != nil {
			return receipt, nil, err
		}
	}
	paths, err := d.sent(id)
	if err != nil {
		return receipt, nil, err
	}
	job, notes, done, err := d.config.Open(ctx, order, paths)
	if err != nil {
		return receipt, notes, err
	}
	defer done()
	job.Progress = func(p Progress) { d.progress(id, p) }
	receipt, err = Run(ctx, job)
	return receipt, notes, err
}

func (d *Desk) fetch(ctx context.Context, id, url string) error {
	if paths, err := d.sent(id); err == nil && len(paths) > 0 {
		return nil // fetched before the interruption
	}
	folder := filepath.Join(d.folder(id), "upload")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	name, err := d.config.Fetch(ctx, url, folder)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tasks[id].Files = []string{"upload/" + name}
	return nil
}

// sent lists the files of a task, in order.
func (d *Desk) sent(id string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(d.folder(id), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			out = append(out, path)
		}
		return err
	})
	slices.Sort(out)
	if err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	return out, nil
}

func (d *Desk) progress(id string, p Progress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tasks[id].Progress = progressOf(p)
	d.tell()
}
