//go:build !amd64

package kernel

func vectorSets() []Set { return nil }
