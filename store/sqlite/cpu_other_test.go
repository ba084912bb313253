//go:build !unix

package sqlite

import "testing"

func reportCPU(*testing.B) (stop func()) { return func() {} }
