package chroma

import (
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// A server whose certificate nobody vouches for is refused, with the reason and the remedy;
// one whose authority the environment names, as for any program, is used.
func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":"d","name":"default_database","tenant":"default_tenant"}`)
	}))
	t.Cleanup(s.Close)
	err := pinged(t, s.URL)
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "certificate is not trusted") || !strings.Contains(err.Error(), "SSL_CERT_FILE") {
		t.Errorf("a certificate of nobody: %v", err)
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return // authorities are not files there
	}
	file := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTLSOfTheSystem$", "-test.v")
	child.Env = append(os.Environ(), "SSL_CERT_FILE="+file, "SEXTANT_TLS_TEST="+s.URL)
	if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("with SSL_CERT_FILE: %v\n%s", err, out)
	}
}

func pinged(t *testing.T, url string) error {
	t.Helper()
	s, err := Open(Options{URL: url, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.Ping(t.Context())
}

// TestTLSOfTheSystem is what TestTLS runs in a process whose environment names an authority:
// a process reads that once.
func TestTLSOfTheSystem(t *testing.T) {
	url := os.Getenv("SEXTANT_TLS_TEST")
	if url == "" {
		t.Skip("needs SEXTANT_TLS_TEST, the address that TestTLS runs it with")
	}
	if err := pinged(t, url); err != nil {
		t.Error(err)
	}
}
