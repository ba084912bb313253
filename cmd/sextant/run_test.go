package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// result is what a command left behind.
type result struct {
	code     int
	out, err string
}

// sextantIn runs a command in this process, as a shell would with the data folder in the
// environment.
func sextantIn(t *testing.T, data string, args ...string) result {
	t.Helper()
	return sextantWith(t, []string{"SEXTANT_DATA=" + data}, args...)
}

func sextantWith(t *testing.T, environ []string, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	code := run(t.Context(), args, environ, &out, &err)
	return result{code, out.String(), err.String()}
}

// decode reads the one JSON value a command printed.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("output is no JSON: %v\n%s", err, text)
	}
	if d.More() {
		t.Fatalf("more than one JSON value:\n%s", text)
	}
	return v
}

func TestWrongUse(t *testing.T) {
	dir := t.TempDir()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	misspelt := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(misspelt, []byte("serve:\n  kees: [a]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args    []string
		environ []string
		code    int
		says    []string // all of them on err
	}{
		"unknown flag":        {args: []string{"ask", "--nope", "why?"}, code: 2, says: []string{"--nope", "sextant ask --help"}},
		"unknown verb":        {args: []string{"aks", "why?"}, code: 2, says: []string{"aks", "sextant --help"}},
		"no question":         {args: []string{"ask"}, code: 2, says: []string{"question"}},
		"empty question":      {args: []string{"ask", " "}, code: 2, says: []string{"Please enter a question."}},
		"only punctuation":    {args: []string{"ask", "?"}, code: 2, says: []string{"Please enter a question."}},
		"too long a question": {args: []string{"ask", strings.Repeat("why ", 5000)}, code: 2, says: []string{"20000 bytes", "16384"}},
		"no date":             {args: []string{"ask", "--as-of", "July", "why?"}, code: 2, says: []string{"--as-of", "2012-07-04"}},
		"too many passages":   {args: []string{"ask", "--top-k", "51", "why?"}, code: 2, says: []string{"between 1 and 50"}},
		"no such collection":  {args: []string{"describe", "unicorns"}, code: 1, says: []string{"unicorns"}},
		"a port taken":        {args: []string{"serve", "--port", port}, code: 1, says: []string{"127.0.0.1:" + port, "--port (API_PORT)"}},
		"a port too high":     {args: []string{"serve"}, environ: []string{"API_PORT=70000"}, code: 2, says: []string{"70000", "65535"}},
		"a port of letters":   {args: []string{"serve"}, environ: []string{"API_PORT=http"}, code: 2, says: []string{"API_PORT", "http"}},
		"the whole network":   {args: []string{"serve", "--host", "0.0.0.0", "--port", "0"}, code: 1, says: []string{"--key"}},
		"no such config":      {args: []string{"--config", filepath.Join(dir, "none.yaml"), "collections"}, code: 1, says: []string{"none.yaml"}},
		"misspelt config":     {args: []string{"--config", misspelt, "collections"}, code: 2, says: []string{"kees", "line 2"}},
		"data in a file":      {args: []string{"--data", filepath.Join(file, "sub"), "collections"}, code: 1, says: []string{"data folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			environ := append([]string{"SEXTANT_DATA=" + filepath.Join(t.TempDir(), "data")}, tt.environ...)
			got := sextantWith(t, environ, tt.args...)
			if got.code != tt.code || got.out != "" {
				t.Errorf("exit %d, want %d; out %q, err %q", got.code, tt.code, got.out, got.err)
			}
			for _, s := range tt.says {
				if !strings.Contains(got.err, s) {
					t.Errorf("%q is missing in %q", s, got.err)
				}
			}
			if strings.Contains(got.err, "goroutine ") {
				t.Errorf("a stack trace: %q", got.err)
			}
		})
	}
}

func TestHelpIsNoError(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"ask", "--help"}, {"serve", "--help"}} {
		got := sextantWith(t, nil, args...)
		if got.code != exitOK || !strings.HasPrefix(got.out, "Usage: sextant") || got.err != "" {
			t.Errorf("%v: exit %d, out %q, err %q", args, got.code, got.out, got.err)
		}
	}
}

func TestFailureAsJSON(t *testing.T) {
	got := sextantIn(t, filepath.Join(t.TempDir(), "data"), "describe", "--json", "unicorns")
	f := decode[failure](t, got.out)
	if got.code != exitFailure || f.Error.Code != "not_found" || f.Error.Detail == "" {
		t.Errorf("exit %d, failure %+v", got.code, f)
	}
}
