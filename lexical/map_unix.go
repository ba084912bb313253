//go:build linux || darwin || freebsd

package lexical

import (
	"fmt"
	"math"
	"os"
	"syscall"
)

// canMap says that segments may be kept in files. These systems have one cache for files
// that are written and files that are mapped, and let a mapped file be removed.
const canMap = true

// mapFile maps a file to be read, until unmap is called.
func mapFile(path string) (b []byte, unmap func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 || info.Size() > math.MaxInt {
		return nil, nil, fmt.Errorf("%s has %d bytes: %w", info.Name(), info.Size(), ErrCorrupt)
	}
	b, err = syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return b, func() { _ = syscall.Munmap(b) }, nil // fails only for what was never mapped
}
