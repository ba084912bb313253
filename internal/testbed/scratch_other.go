//go:build unix && !linux

package testbed

import "testing"

// Scratch is an empty folder for a server's storage that goes with the test.
func Scratch(t testing.TB) string { return t.TempDir() }
