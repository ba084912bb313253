package testbed

import (
	"os"
	"syscall"
	"testing"
)

// leastMemory is how much must be free in memory for a folder there: the largest of the
// stores that tests make is a tenth of it.
const leastMemory = 4 << 30

// Scratch is an empty folder for a server's storage that goes with the test: in memory
// where there is enough of it, since servers have each small step reach the disk, which
// for thousands of collections is most of the time. A process that is killed loses nothing
// in it; what a machine's fall would lose is not what such tests are about.
func Scratch(t testing.TB) string {
	t.Helper()
	const memory = "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < leastMemory { //nolint:gosec // a block has a size
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "sextant-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("testbed: %v", err)
		}
	})
	return dir
}
