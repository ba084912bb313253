package outbox

import (
	"errors"
	"io/fs"
	"os"
)

// syncFolder: Windows makes names durable itself.
func syncFolder(string) error { return nil }

// hold takes the folder for this process: a file that is open cannot be removed there.
func hold(path string) (release func(), ok bool, err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return func() { f.Close() }, true, nil
}
