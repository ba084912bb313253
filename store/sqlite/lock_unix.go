//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// takeLock locks the open file for this process, without waiting.
func takeLock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		default:
			return err
		}
	}
}
