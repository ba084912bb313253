//go:build nomodel

package local

const weights = ""
