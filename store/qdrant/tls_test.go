package qdrant_test

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
)

// A server whose certificate nobody vouches for is refused, with the reason and the remedy;
// one whose authority the caller names is used.
func TestTLS(t *testing.T) {
	f := newFake(t)
	s := httptest.NewTLSServer(f)
	t.Cleanup(s.Close)
	stranger := open(t, qdrant.Options{URL: s.URL})
	_, err := stranger.Open(t.Context(), "notes")
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "certificate is not trusted") || !strings.Contains(err.Error(), "SSL_CERT_FILE") {
		t.Errorf("a certificate of nobody: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	known := open(t, qdrant.Options{URL: s.URL, Roots: roots})
	c := filled(t, known)
	for what, ask := range questions(known, c) {
		if err := ask(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for name, url := range map[string]string{"plain to TLS": "http://" + s.Listener.Addr().String(), "TLS to plain": "https://" + f.Listener.Addr().String()} {
		if err := open(t, qdrant.Options{URL: url, Roots: roots}).Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f := authority(t, s.Certificate()); f != "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTLSOfTheSystem$", "-test.v")
		child.Env = append(os.Environ(), "SSL_CERT_FILE="+f, "SEXTANT_TLS_TEST="+s.URL)
		if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("with SSL_CERT_FILE: %v\n%s", err, out)
		}
	}
}

// authority writes a certificate to a file, where the system's authorities are files.
func authority(t *testing.T, c *x509.Certificate) string {
	t.Helper()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return ""
	}
	file := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestTLSOfTheSystem is what TestTLS runs in a process whose environment names an authority:
// a process reads that once.
func TestTLSOfTheSystem(t *testing.T) {
	url := os.Getenv("SEXTANT_TLS_TEST")
	if url == "" {
		t.Skip("needs SEXTANT_TLS_TEST, the address that TestTLS runs it with")
	}
	if err := open(t, qdrant.Options{URL: url}).Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
