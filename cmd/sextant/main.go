// Command sextant asks questions of documents and proves the answers. It is the only
// place where the parts meet: wire.go puts them together by hand, config.go says what can
// be set, and every verb of the command line has a file of its own.
//
// A verb gets a context, the session with its configuration and terminal, and nothing
// else: no globals, no environment but the one it was given. So tests run commands in
// their own process, as a shell would.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
