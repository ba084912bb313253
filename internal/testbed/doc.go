// Package testbed installs and starts the real servers that integration tests talk to. Each
// is installed once, pinned, into the module's .cache folder, and every test starts one of
// its own on a free port and stops it. Nothing here is used outside of tests.
package testbed
