//go:build unix

package chroma

import (
	"errors"
	"syscall"
)

// processLives reports whether a process of this machine has not ended.
func processLives(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
