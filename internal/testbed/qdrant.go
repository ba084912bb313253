//go:build unix

package testbed

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// qdrantPackages hold the engine of Qdrant 1.19 without the server around it, which is in
// no registry.
var qdrantPackages = []string{"qdrant-edge-py==0.9.0"}

// Qdrant starts a server with Qdrant's real engine and the part of its REST API that
// store/qdrant uses, over what is kept in dir. port 0 takes a free one.
func Qdrant(t testing.TB, dir string, port int) *Process {
	t.Helper()
	venv := Python(t, "qdrant", qdrantPackages...)
	if port == 0 {
		port = freePort(t)
	}
	_, file, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(file), "qdrant.py")
	return start(t, fmt.Sprintf("http://127.0.0.1:%d", port), "/collections", time.Minute, nil, filepath.Join(venv, "bin", "python"), script, fmt.Sprint(port), dir)
}
