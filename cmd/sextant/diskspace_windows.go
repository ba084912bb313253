package main

import "golang.org/x/sys/windows"

// freeSpace returns the bytes this user may still write where a folder is; -1 where that
// is not known.
func freeSpace(dir string) int64 {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return -1
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, nil, nil); err != nil {
		return -1
	}
	return int64(free)
}
