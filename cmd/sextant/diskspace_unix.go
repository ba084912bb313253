//go:build linux || darwin

package main

import "golang.org/x/sys/unix"

// freeSpace returns the bytes this user may still write where a folder is; -1 where that
// is not known.
func freeSpace(dir string) int64 {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize) //nolint:unconvert // of another type on other systems
}
