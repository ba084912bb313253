package httpapi

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
)

// fakeSite serves page and API over the fake engine at an address. Questions with
// "slowly" in them take a while, and "breaks" and "is busy" are two ways to fail.
func fakeSite(t *testing.T, address string, config Config) string {
	t.Helper()
	f := newFake()
	f.pause = 15 * time.Millisecond
	f.during = func(ctx context.Context, question string) error {
		switch {
		case strings.Contains(question, "slowly"):
			select {
			case <-time.After(30 * time.Second):
			case <-ctx.Done():
			}
		case strings.Contains(question, "breaks"):
			return &sextant.Error{Code: sextant.CodeInternal, Message: "Something went wrong inside Sextant; the log says what."}
		case strings.Contains(question, "is busy"):
			return &sextant.Error{Code: codeBusy, Message: "Too many questions are being answered right now.", Hint: "Try again in a moment."}
		}
		return nil
	}
	for _, question := range []string{"What caused it, answered slowly?", "What breaks?"} {
		a := causal()
		a.Question = question
		f.answers[question] = a
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	site := &http.Server{Handler: newServer(t, f, config).Handler(), ReadHeaderTimeout: time.Second}
	go func() { _ = site.Serve(l) }()
	t.Cleanup(func() { _ = site.Close() })
	return "http://" + l.Addr().String()
}

// TestServeFake is for working on the page: with SEXTANT_SERVE=127.0.0.1:8000 it serves
// the fake engine there until interrupted (go test -timeout 0 -run TestServeFake).
func TestServeFake(t *testing.T) {
	address := os.Getenv("SEXTANT_SERVE")
	if address == "" {
		t.Skip("SEXTANT_SERVE names no address")
	}
	url := fakeSite(t, address, quiet())
	t.Log(url)
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	<-ctx.Done()
}

// TestBrowser looks at the page with a real browser: web/ui/test/browser, run by node
// with the installed playwright-core and axe-core against the fake engine.
func TestBrowser(t *testing.T) {
	if os.Getenv("SEXTANT_BROWSER") == "" {
		t.Skip("SEXTANT_BROWSER is not set; make browser sets it and installs what is needed")
	}
	traced := quiet()
	traced.Traces, _ = kept(t) // holds the trace that every answer of the fake engine names
	keyed := quiet()
	keyed.Keys = []string{"browser-key"}
	rooted := quiet()
	rooted.RootPath = "/apps/sextant"
	cmd := exec.CommandContext(t.Context(), "npm", "run", "--silent", "browser")
	cmd.Dir = "../web/ui"
	cmd.Env = append(os.Environ(), "SITE="+fakeSite(t, "127.0.0.1:0", traced), "KEYED_SITE="+fakeSite(t, "127.0.0.1:0", keyed),
		"ROOTED_SITE="+fakeSite(t, "127.0.0.1:0", rooted)+"/apps/sextant", "HOSTILE_QUESTION="+hostileQuestion, "HOSTILE_ID="+string(hostileDocument().ID))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
