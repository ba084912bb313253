package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"time"
)

// resident returns the bytes of memory this process takes, garbage returned first; 0
// where the kernel does not say. It counts what no Go figure has: the memory of SQLite
// and the pages of mapped files that were touched.
func resident() int64 {
	debug.FreeOSMemory()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Fscan(bytes.NewReader(statm), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// processor returns the time of processors this process has used on all cores.
func processor() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
