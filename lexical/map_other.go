//go:build !(linux || darwin || freebsd)

package lexical

import "os"

// canMap says that segments stay in memory: a mapped file cannot be removed on Windows,
// and elsewhere may lag behind what was written.
const canMap = false

// mapFile reads a file, of a folder that comes from another system, into memory.
func mapFile(path string) (b []byte, unmap func(), err error) {
	b, err = os.ReadFile(path)
	return b, func() {}, err
}
