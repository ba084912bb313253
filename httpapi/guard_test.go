package httpapi

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// API04: what a page of another site can send to a server on the reader's own machine.
func TestAPI04BrowserAttacksAreRefused(t *testing.T) {
	const evil = "https://evil.example"
	for name, c := range map[string]struct {
		method, path string
		host         string
		header       []string
		status       int
	}{
		"program":                     {"POST", "/v1/ask", "127.0.0.1:8000", nil, 200},
		"own page":                    {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Origin", "http://127.0.0.1:8000", "Sec-Fetch-Site", "same-origin"}, 200},
		"own page by name":            {"POST", "/v1/ask", "LocalHost:8000", []string{"Origin", "http://localhost:8000"}, 200},
		"own page, IPv6":              {"POST", "/v1/ask", "[::1]:8000", []string{"Origin", "http://[::1]:8000"}, 200},
		"no port":                     {"POST", "/v1/ask", "localhost", nil, 200},
		"rebinding":                   {"POST", "/v1/ask", "evil.example:8000", nil, 403},
		"rebinding, same origin":      {"POST", "/v1/ask", "evil.example:8000", []string{"Origin", "http://evil.example:8000"}, 403},
		"rebinding, lookalike":        {"GET", "/v1/collections", "127.0.0.1.evil.example", nil, 403},
		"rebinding, private address":  {"GET", "/v1/collections", "192.168.1.5:8000", nil, 403},
		"no host":                     {"GET", "/v1/collections", "", nil, 403},
		"cross-site":                  {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Origin", evil}, 403},
		"cross-site as text":          {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Origin", evil, "Content-Type", "text/plain"}, 403},
		"text without origin":         {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Content-Type", "text/plain"}, 415},
		"form without origin":         {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		"no content type":             {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Content-Type", ""}, 415},
		"null origin":                 {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Origin", "null"}, 403},
		"null origin, blueprint":      {"POST", "/api/query", "127.0.0.1:8000", []string{"Origin", "null"}, 403},
		"another port":                {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Origin", "http://127.0.0.1:3000", "Sec-Fetch-Site", "same-site"}, 403},
		"userinfo in the origin":      {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Origin", "http://127.0.0.1:8000@evil.example"}, 403},
		"other scheme":                {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Origin", "chrome-extension://127.0.0.1:8000"}, 403},
		"fetch without origin":        {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"cross-site read":             {"GET", "/v1/collections", "127.0.0.1:8000", []string{"Origin", evil}, 403},
		"image of another site":       {"GET", "/v1/collections", "127.0.0.1:8000", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		"frame on another site":       {"GET", "/", "127.0.0.1:8000", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		"link on another site":        {"GET", "/?q=x", "127.0.0.1:8000", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		"form navigation":             {"POST", "/v1/ask", "127.0.0.1:8000", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		"preflight of another site":   {"OPTIONS", "/v1/ask", "127.0.0.1:8000", []string{"Origin", evil, "Access-Control-Request-Method", "POST"}, 403},
		"health under a foreign host": {"GET", "/health", "evil.example", nil, 403},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			body := ""
			if c.method == "POST" {
				body = asking("Any?")
			}
			r := request(c.method, c.path, body, c.header...)
			r.Host = c.host
			w := do(newServer(t, f, quiet()).Handler(), r)
			if w.Code != c.status {
				t.Errorf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			if w.Code >= 400 && f.asked.Load() != 0 {
				t.Error("refused, but the engine was asked")
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != "" && w.Code >= 400 {
				t.Errorf("lets %s read the refusal", got)
			}
		})
	}
}

func TestAllowedOriginsMayAsk(t *testing.T) {
	const lab = "https://lab.example:8443"
	for name, c := range map[string]struct {
		origins      []string
		origin, path string
		allowed      bool
	}{
		"listed":                      {[]string{lab}, lab, "/v1/ask", true},
		"another":                     {[]string{lab}, "https://lab.example", "/v1/ask", false},
		"any, blueprint":              {[]string{"*"}, "http://localhost:3000", "/api/query", true},
		"any, retrieve":               {[]string{"*"}, "http://localhost:3000", "/retrieve/incidents", true},
		"any does not open /v1":       {[]string{"*"}, "http://localhost:3000", "/v1/ask", false},
		"any is not null":             {[]string{"*"}, "null", "/api/query", false},
		"any, and one listed for /v1": {[]string{"*", lab}, lab, "/v1/ask", true},
	} {
		t.Run(name, func(t *testing.T) {
			config := quiet()
			config.AllowOrigins = c.origins
			h := newServer(t, newFake(), config).Handler()
			want := map[bool]string{true: c.origin}[c.allowed]
			body := `{"question": "Any?"}`
			if strings.HasPrefix(c.path, "/retrieve") {
				body = `{"query": "Any?"}`
			}
			for _, r := range []*http.Request{
				request("OPTIONS", c.path, "", "Origin", c.origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type"),
				request("POST", c.path, body, "Origin", c.origin, "Sec-Fetch-Site", "cross-site"),
			} {
				w := do(h, r)
				if (w.Code < 300) != c.allowed || w.Header().Get("Access-Control-Allow-Origin") != want {
					t.Errorf("%s: status %d, allows %q", r.Method, w.Code, w.Header().Get("Access-Control-Allow-Origin"))
				}
				if w.Header().Get("Access-Control-Allow-Credentials") != "" {
					t.Error("credentials are never shared")
				}
				if c.allowed && r.Method == http.MethodOptions && !strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "Content-Type") {
					t.Error("the preflight does not allow Content-Type")
				}
			}
		})
	}
}

func TestKeys(t *testing.T) {
	var logged bytes.Buffer
	config := quiet()
	config.Keys = []string{"first-key", "second-key"}
	config.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := newServer(t, newFake(), config)
	for _, r := range s.routes() {
		path := strings.NewReplacer("{name}", "incidents", "{id...}", "ntsb:1", "{file...}", "x", "{$}", "").Replace(r.path)
		without := do(s.Handler(), request(r.method, path, map[string]string{"POST": "{}"}[r.method]))
		if open := without.Code != http.StatusUnauthorized; open != (r.traits&free != 0) {
			t.Errorf("%s %s without a key: %d", r.method, path, without.Code)
		}
	}
	for name, header := range map[string]string{"wrong": "Bearer other-key", "prefix": "Bearer first", "empty": "Bearer ", "scheme": "Basic first-key", "bare": "first-key", "none": ""} {
		w := do(s.Handler(), request("POST", "/v1/ask", asking("Any?"), "Authorization", header))
		if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s key: %d", name, w.Code)
		}
	}
	for _, header := range []string{"Bearer first-key", "Bearer second-key", "bearer second-key"} {
		if w := do(s.Handler(), request("POST", "/v1/ask", asking("Any?"), "Authorization", header)); w.Code != http.StatusOK {
			t.Errorf("%s: %d", header, w.Code)
		}
	}
	if w := do(s.Handler(), request("GET", "/v1/collections?key=first-key", "")); w.Code != http.StatusUnauthorized {
		t.Errorf("a key in the URL is taken: %d", w.Code)
	}
	do(s.Handler(), request("GET", "/?q=a+private+question", ""))
	if s := logged.String(); strings.Contains(s, "first-key") || strings.Contains(s, "other-key") || strings.Contains(s, "private") {
		t.Errorf("the log holds a key or a question:\n%s", s)
	}
}

func TestHostsWithKeysOrProxy(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		host   string
		status int
	}{
		"allowed name":                 {func(c *Config) { c.AllowHosts = []string{"sextant.lab"} }, "sextant.lab:8000", 200},
		"other name":                   {func(c *Config) { c.AllowHosts = []string{"sextant.lab"} }, "other.lab", 403},
		"keys make names unimportant":  {func(c *Config) { c.Keys = []string{"k"} }, "other.lab", 200},
		"names given beside keys":      {func(c *Config) { c.Keys, c.AllowHosts = []string{"k"}, []string{"sextant.lab"} }, "other.lab", 403},
		"a proxy asks for credentials": {func(c *Config) { c.AuthUpstream = true }, "apps.example", 200},
	} {
		config := quiet()
		c.change(&config)
		r := request("GET", "/v1/collections", "", "Authorization", "Bearer k")
		r.Host = c.host
		if w := do(newServer(t, newFake(), config).Handler(), r); w.Code != c.status {
			t.Errorf("%s: %d, want %d", name, w.Code, c.status)
		}
	}
}

func TestEveryResponseIsGuarded(t *testing.T) {
	h := newServer(t, newFake(), quiet()).Handler()
	for _, r := range []*http.Request{request("GET", "/", ""), request("GET", "/v1/collections", ""), request("GET", "/nowhere", ""), request("POST", "/v1/ask", "{}")} {
		header := do(h, r).Header()
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"} {
			if header.Get(name) != want {
				t.Errorf("%s: %s is %q", r.URL, name, header.Get(name))
			}
		}
		if !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") || len(header.Get(requestIDHeader)) != 12 {
			t.Errorf("%s: %v", r.URL, header)
		}
	}
}
