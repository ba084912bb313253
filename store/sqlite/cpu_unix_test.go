//go:build unix

package sqlite

import (
	"syscall"
	"testing"
)

// reportCPU adds to a benchmark what it costs in processor time, which a busy machine
// falsifies less than the time that passes.
func reportCPU(b *testing.B) (stop func()) {
	before := processorTime(b)
	return func() { b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op") }
}

func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
