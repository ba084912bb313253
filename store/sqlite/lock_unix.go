//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// takeLock locks the open file for this process, without waiting.
func takeLock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// shareLock locks it so that others can do the same, and none can take it.
func shareLock(f *os.File) error { return flock(f, syscall.LOCK_SH) }

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		default:
			return err
		}
	}
}
