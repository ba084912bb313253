//go:build !amd64 && !arm64

package vector

func vectorKernels() []kernel { return nil }
