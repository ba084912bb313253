package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// loopback permits the fakes of these tests, which listen on 127.0.0.1.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestPrivateAddressesAreRefusedWhenDialled(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was reached") })
	_, err := New(Options{}).Get(t.Context(), Request{URL: url})
	if !errors.Is(err, ErrPrivate) {
		t.Errorf("got %v", err)
	}
	// A name is judged by what it resolves to.
	_, port, _ := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
	if _, err := New(Options{}).Get(t.Context(), Request{URL: "http://localhost:" + port}); !errors.Is(err, ErrPrivate) {
		t.Errorf("localhost: %v", err)
	}
}

func TestRedirectsArePassedThroughTheSameGuard(t *testing.T) {
	for _, to := range []string{"http://127.0.0.2:1/", "http://10.0.0.1/", "http://[::1]:1/", "http://169.254.169.254/latest/meta-data/", "http://[::ffff:10.0.0.1]/", "http://2130706434/"} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		_, err := New(Options{Permit: loopback}).Get(t.Context(), Request{URL: url})
		if !errors.Is(err, ErrPrivate) && !errors.Is(err, ErrOffline) {
			t.Errorf("redirect to %s: %v", to, err)
		}
	}
	for _, to := range []string{"file:///etc/passwd", "gopher://x/", "http://user:pass@127.0.0.1/", "http:///"} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
		if _, err := New(Options{Permit: loopback}).Get(t.Context(), Request{URL: url}); !errors.Is(err, ErrURL) {
			t.Errorf("redirect to %s: %v", to, err)
		}
	}
	var endless string
	endless = serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, endless, http.StatusFound) })
	if _, err := New(Options{Permit: loopback}).Get(t.Context(), Request{URL: endless}); !errors.Is(err, ErrURL) {
		t.Errorf("endless redirects: %v", err)
	}
}

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true, "100.128.0.1": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"100.64.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "255.255.255.255": false, "224.0.0.1": false, "198.18.0.1": false, "192.0.2.1": false,
		"::1": false, "::": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fec0::1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:db8::1": false, "::7f00:1": false,
	} {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: public %v", text, got)
		}
	}
}

func TestWrongAddresses(t *testing.T) {
	c := New(Options{})
	for _, url := range []string{"", "x", "/etc/passwd", "file:///etc/passwd", "ftp://example.org/", "http://", "http://%zz/", "http://u:p@example.org/", "http://a b/", "http://example.org/" + strings.Repeat("x", maxURL)} {
		if _, err := c.Get(t.Context(), Request{URL: url}); !errors.Is(err, ErrURL) {
			t.Errorf("%.40q: %v", url, err)
		}
	}
}

func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}

// REG-01: a service that answers 406 unless gzip is accepted, and one that claims gzip
// for a plain body.
func TestREG01CompressionIsDecodedExactlyOnce(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.WriteHeader(http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		if r.URL.Path == "/plain" {
			_, _ = io.WriteString(w, "<ECFR/>")
			return
		}
		w.Write(packed("<ECFR/>"))
	})
	c := New(Options{Permit: loopback})
	if _, body, err := c.Bytes(t.Context(), Request{URL: url}); err != nil || string(body) != "<ECFR/>" {
		t.Errorf("got %q, %v", body, err)
	}
	if _, _, err := c.Bytes(t.Context(), Request{URL: url + "/plain"}); !errors.Is(err, ErrEncoding) {
		t.Errorf("mislabelled body: %v", err)
	}
}

// RSS-08: the bound is on the decoded size, one byte more is an error and not a shorter
// body, and a higher bound lets a large body through.
func TestRSS08BodiesAreBounded(t *testing.T) {
	bomb := packed(strings.Repeat("0", 64<<20))
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb)
		case "/endless":
			for chunk := make([]byte, 64<<10); r.Context().Err() == nil; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		default:
			w.Write(make([]byte, 1001))
		}
	})
	c := New(Options{Permit: loopback, MaxBytes: 1 << 20})
	for _, path := range []string{"/bomb", "/endless"} {
		if _, _, err := c.Bytes(t.Context(), Request{URL: url + path}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, body, err := c.Bytes(t.Context(), Request{URL: url, MaxBytes: 1000}); !errors.Is(err, ErrTooLarge) || body != nil {
		t.Errorf("one byte over: %d bytes, %v", len(body), err)
	}
	if _, body, err := c.Bytes(t.Context(), Request{URL: url, MaxBytes: 1001}); err != nil || len(body) != 1001 {
		t.Errorf("at the limit: %d bytes, %v", len(body), err)
	}
	if _, body, err := c.Bytes(t.Context(), Request{URL: url + "/bomb", MaxBytes: 64 << 20}); err != nil || len(body) != 64<<20 {
		t.Errorf("raised limit: %d bytes, %v", len(body), err)
	}
}

func TestConditionalRequests(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, "news")
	})
	c := New(Options{Permit: loopback})
	first, body, err := c.Bytes(t.Context(), Request{URL: url})
	if err != nil || string(body) != "news" || first.ETag != `"v1"` {
		t.Fatalf("%q, %+v, %v", body, first, err)
	}
	second, body, err := c.Bytes(t.Context(), Request{URL: url, ETag: first.ETag})
	if err != nil || !second.NotModified || len(body) != 0 {
		t.Errorf("%q, %+v, %v", body, second, err)
	}
}

func TestStatusesAndSilence(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/busy":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/slow":
			<-r.Context().Done()
		case "/unasked":
			w.WriteHeader(http.StatusNotModified)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	c := New(Options{Permit: loopback, Timeout: 200 * time.Millisecond})
	var status *StatusError
	if _, err := c.Get(t.Context(), Request{URL: url}); !errors.As(err, &status) || status.Status != 404 {
		t.Errorf("not found: %v", err)
	}
	if _, err := c.Get(t.Context(), Request{URL: url + "/busy"}); !errors.As(err, &status) || status.RetryAfter != 7*time.Second {
		t.Errorf("busy: %v", err)
	}
	if _, err := c.Get(t.Context(), Request{URL: url + "/unasked"}); !errors.As(err, &status) || status.Status != 304 {
		t.Errorf("304 that nobody asked for: %v", err)
	}
	if _, err := c.Get(t.Context(), Request{URL: url + "/slow"}); !errors.Is(err, ErrOffline) {
		t.Errorf("slow: %v", err)
	}
	if _, err := c.Get(t.Context(), Request{URL: "http://127.0.0.1:1/"}); !errors.Is(err, ErrOffline) {
		t.Errorf("nobody listens: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ctx, Request{URL: url}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestIsURL(t *testing.T) {
	for text, want := range map[string]bool{
		"https://example.org/feed": true, "HTTP://x": true, "feed://x/y": true,
		"feed.xml": false, "c:\\feeds": false, "http.xml": false, "file:///x": false, "": false,
	} {
		if got := IsURL(text); got != want {
			t.Errorf("IsURL(%q) = %v", text, got)
		}
	}
}
