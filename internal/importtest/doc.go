// Package importtest holds the laws of the module's layout and tests the source tree
// against them: which package may import which (edges_test.go), where each outside library
// may be used (libraries_test.go), how packages are named, and that every package and every
// exported name is documented.
//
// It reads the files with go/parser and runs nothing, so it sees all platforms and
// build tags at once, and code that does not compile yet.
package importtest
