//go:build unix

package testbed

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// chromaPackages are what the facts in store/chroma were measured on: one wheel with the
// whole server, none of the Python packages around it.
var chromaPackages = []string{"--no-deps", "chromadb==1.5.9"}

// Chroma starts a Chroma server over a folder, so that one that is started again with the
// same folder and port goes on where it was. port 0 takes a free one.
func Chroma(t testing.TB, dir string, port int) *Process {
	t.Helper()
	venv := Python(t, "chroma", chromaPackages...)
	if port == 0 {
		port = freePort(t)
	}
	const run = `import sys, chromadb_rust_bindings as b; b.cli(["chroma"] + sys.argv[1:])`
	return start(t, fmt.Sprintf("http://127.0.0.1:%d", port), "/api/v2/heartbeat", time.Minute, []string{"ANONYMIZED_TELEMETRY=false"},
		filepath.Join(venv, "bin", "python"), "-c", run, "run", "--path", dir, "--host", "127.0.0.1", "--port", fmt.Sprint(port))
}
