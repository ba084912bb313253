package chroma

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// lease is the right to write a collection, which one process has at a time. Chroma has
// no locks, but of several records added under one id the first stays: whoever finds his
// own name in lease:<collection>:<n> for the highest n has it. It is given back when
// nothing has been written for a while, and lost to others when its holder has not been
// heard of for leaseTerm on the clock of who waits: clocks are never compared.
type lease struct {
	store *Store
	name  string
	owner string

	mu      sync.Mutex
	id      string // of the record, "" if it is not held
	beat    int64
	renewed time.Time
	idle    *time.Timer
}

// leaseTerms are the times of a lease; tests shorten them.
type leaseTerms struct {
	term  time.Duration // after which who was not heard of has lost it
	renew time.Duration // how often it is renewed while it is used
	idle  time.Duration // after which it is given back
	wait  time.Duration // how long a writer waits for one
	retry time.Duration
}

var usualTerms = leaseTerms{term: 15 * time.Second, renew: 4 * time.Second, idle: 2 * time.Second, wait: 20 * time.Second, retry: 100 * time.Millisecond}

func newOwner() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), hex.EncodeToString(b[:]))
}

// holding is what a lease's record says.
type holding struct {
	Owner string `json:"owner"`
	Beat  int64  `json:"beat"`
}

// acquire returns when this process may write. fresh says that somebody else may have
// written since it last could; stolen that the one before did not give it back.
func (l *lease) acquire(ctx context.Context) (isFresh, stolen bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.idle != nil {
		l.idle.Stop()
	}
	if l.id != "" && time.Since(l.renewed) < l.store.terms.term/2 {
		if time.Since(l.renewed) > l.store.terms.renew {
			err = l.renew(ctx)
		}
		return false, false, err
	}
	l.id = ""
	var seen holding
	var since time.Time
	began := time.Now()
	for {
		n, held, err := l.highest(ctx)
		if err != nil {
			return false, false, err
		}
		if n > 0 && held != seen {
			seen, since = held, time.Now()
		}
		if free := n == 0; free || time.Since(since) > l.store.terms.term || deadHere(held.Owner) {
			if ok, err := l.claim(ctx, n); ok || err != nil {
				return true, !free, err
			}
			continue
		}
		if time.Since(began) > l.store.terms.wait {
			return false, false, fmt.Errorf("chroma: %q is being written by %s: %w", l.name, held.Owner, store.ErrLocked)
		}
		select {
		case <-time.After(l.store.terms.retry):
		case <-ctx.Done():
			return false, false, ctx.Err()
		}
	}
}

func (l *lease) prefix() string { return "lease:" + l.name + ":" }

// highest returns the number of the lease in force and who has it; 0 if nobody has.
func (l *lease) highest(ctx context.Context) (n int64, h holding, err error) {
	g, err := l.store.journalGet(ctx, selection{Where: equals("lease", l.name), Include: []string{"metadatas"}})
	if err != nil {
		return 0, h, err
	}
	for i, id := range g.IDs {
		m, err := strconv.ParseInt(strings.TrimPrefix(id, l.prefix()), 10, 64)
		if err != nil || m <= n {
			continue
		}
		n, h = m, holding{}
		if err := json.Unmarshal(g.Metadatas[i], &h); err != nil {
			return 0, h, badAnswer("a lease")
		}
	}
	return n, h, nil
}

// claim tries to have the lease after number n.
func (l *lease) claim(ctx context.Context, n int64) (bool, error) {
	id := l.prefix() + strconv.FormatInt(n+1, 10)
	var r records
	r.add(id, marker, l.record(1), "", nil)
	if err := l.store.journalAdd(ctx, r); err != nil {
		return false, err
	}
	m, h, err := l.highest(ctx)
	if err != nil || m != n+1 || h.Owner != l.owner {
		return false, err
	}
	l.id, l.beat, l.renewed = id, 1, time.Now()
	if n > 0 {
		_ = l.store.journalRemove(ctx, l.prefix()+strconv.FormatInt(n, 10)) // the next one tries again
	}
	return true, nil
}

func (l *lease) record(beat int64) values {
	b, _ := json.Marshal(map[string]any{"lease": l.name, "owner": l.owner, "beat": beat}) // always encodes
	return b
}

func (l *lease) renew(ctx context.Context) error {
	l.beat++
	var r records
	r.add(l.id, marker, l.record(l.beat), "", nil)
	if err := l.store.journalPut(ctx, r); err != nil {
		return err
	}
	l.renewed = time.Now()
	return nil
}

// confirm reports with store.ErrLocked that the lease was lost meanwhile. It is called
// when all is ready to count: what was sent before is of a version of its own and harmless.
func (l *lease) confirm(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.id != "" && time.Since(l.renewed) < l.store.terms.renew {
		return nil
	}
	n, h, err := l.highest(ctx)
	if err != nil {
		return err
	}
	if l.id == "" || l.id != l.prefix()+strconv.FormatInt(n, 10) || h.Owner != l.owner {
		l.id = ""
		return fmt.Errorf("chroma: writing %q took so long that %s writes it now: %w", l.name, h.Owner, store.ErrLocked)
	}
	return l.renew(ctx)
}

// rest is called after writing: the lease is given back if nothing follows soon.
func (l *lease) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.id == "" {
		return
	}
	if l.idle == nil {
		l.idle = time.AfterFunc(l.store.terms.idle, func() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			_ = l.release(ctx) // otherwise it runs out
		})
		return
	}
	l.idle.Reset(l.store.terms.idle)
}

// release gives the lease back.
func (l *lease) release(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.idle != nil {
		l.idle.Stop()
	}
	if l.id == "" {
		return nil
	}
	id := l.id
	l.id = ""
	return l.store.journalRemove(ctx, id)
}

// deadHere reports whether an owner was a process of this machine that has ended.
func deadHere(owner string) bool {
	host, rest, _ := strings.Cut(owner, "/")
	pid, _, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(pid)
	here, _ := os.Hostname()
	return err == nil && host == here && n != os.Getpid() && !processLives(n)
}
