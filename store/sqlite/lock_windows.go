package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// takeLock locks the open file for this process, without waiting. Windows forbids
// others to read a locked range, so the range is one byte far behind the content.
func takeLock(f *os.File) error { return lockByte(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// shareLock locks it so that others can do the same, and none can take it.
func shareLock(f *os.File) error { return lockByte(f, 0) }

func lockByte(f *os.File, how uint32) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}
