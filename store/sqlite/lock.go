package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// Process is the one that has a data folder open, as written in its lock file.
type Process struct {
	PID     int       `json:"pid"`
	Address string    `json:"address,omitempty"` // where it serves, if it does
	Since   time.Time `json:"since"`
}

// String names the process for a message.
func (h Process) String() string {
	s := fmt.Sprintf("process %d", h.PID)
	if h.Address != "" {
		s += ", which serves at " + h.Address
	}
	return s
}

const lockName = "LOCK"

// errHeld is what takeLock returns when another process has the lock.
var errHeld = errors.New("lock is held")

// lock is a data folder's lock file, held. The operating system lets go of it when the
// process ends, however it ends, so that no lock is ever left behind; the file stays.
type lock struct{ f *os.File }

// acquire takes the folder's lock, or fails with store.ErrLocked naming the holder.
func acquire(dir, address string) (*lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	// Holder takes the lock for an instant to see whether it is free: try again.
	err = takeLock(f)
	for range 10 {
		if !errors.Is(err, errHeld) {
			break
		}
		time.Sleep(10 * time.Millisecond)
		err = takeLock(f)
	}
	if err != nil {
		defer f.Close()
		if !errors.Is(err, errHeld) {
			return nil, fmt.Errorf("lock data folder: %w", err)
		}
		if shareLock(f) == nil {
			return nil, fmt.Errorf("%w: to read it only", store.ErrLocked)
		}
		if h, err := readHolder(f); err == nil {
			return nil, fmt.Errorf("%w: %s", store.ErrLocked, h)
		}
		return nil, store.ErrLocked
	}
	l := &lock{f}
	if err := l.announce(address); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// share takes a part in the folder's lock that others may have as well, as long as nobody
// has it whole. A folder without a lock file was never written by this program, or was
// copied, and is taken as it is.
func share(dir string) (*lock, error) {
	f, err := os.Open(filepath.Join(dir, lockName))
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, catalogName)); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
		return &lock{}, nil
	} else if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	if err := shareLock(f); err != nil {
		defer f.Close()
		if h, e := readHolder(f); e == nil && errors.Is(err, errHeld) {
			return nil, fmt.Errorf("%w: %s", store.ErrLocked, h)
		}
		return nil, fmt.Errorf("%w: %w", store.ErrLocked, err)
	}
	return &lock{f}, nil
}

// announce writes who holds the lock.
func (l *lock) announce(address string) error {
	b, err := json.Marshal(Process{PID: os.Getpid(), Address: address, Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	if err := l.f.Truncate(0); err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	if _, err := l.f.WriteAt(append(b, '\n'), 0); err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	return nil
}

func (l *lock) release() error {
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}

func readHolder(f *os.File) (Process, error) {
	var h Process
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<16))
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(b, &h)
}

// Holder returns the process that has a data folder open for writing, if one does. The lock
// itself is asked, not the file's content, which outlives its writer.
func Holder(dir string) (Process, bool) {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return Process{}, false
	}
	defer f.Close()
	if err := shareLock(f); !errors.Is(err, errHeld) {
		return Process{}, false
	}
	h, err := readHolder(f)
	return h, err == nil
}
