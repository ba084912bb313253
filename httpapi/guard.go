package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
)

// The guard decides who may ask, before any handler runs. A server on a loopback
// address is reachable from every page its user's browser has open, so three things are
// checked of each request:
//
//   - Host: a name that is not ours means that someone's DNS points at us (rebinding).
//   - Origin and Sec-Fetch-*: a page of another origin may ask only if it was allowed.
//     Its POST is refused, not merely hidden from it, because asking costs.
//   - Authorization: a key, where keys are configured.

var errHost = &sextant.Error{Code: sextant.CodeForbidden, Op: "guard", Message: "This server does not answer under that host name.",
	Hint: "Use the address it printed when it started, or allow the name with --allow-host."}

var errOrigin = &sextant.Error{Code: sextant.CodeForbidden, Op: "guard", Message: "A page of another origin may not use this server.",
	Hint: "Allow it with --allow-origin."}

var errKey = &sextant.Error{Code: codeUnauthorized, Op: "guard", Message: "This server needs a key.", Hint: "Send it as Authorization: Bearer KEY."}

type guard struct {
	hosts   []string // nil: any
	origins []string // exact; "*" opens the blueprint's routes only
	keys    [][sha256.Size]byte
	free    func(*http.Request) bool // needs no key
}

func newGuard(c Config, free func(*http.Request) bool) *guard {
	g := &guard{origins: c.AllowOrigins, free: free}
	for _, k := range c.Keys {
		g.keys = append(g.keys, sha256.Sum256([]byte(k)))
	}
	// A page that reaches us by rebinding carries no key and no session of the proxy in
	// front, so only a server that asks nobody for either has to know its names.
	if len(c.AllowHosts) > 0 || len(c.Keys) == 0 && !c.AuthUpstream {
		g.hosts = append([]string{"localhost"}, c.AllowHosts...)
	}
	return g
}

// wrap puts the guard in front of next.
func (g *guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		if !g.hostAllowed(r.Host) {
			writeError(w, errHost)
			return
		}
		if !g.originAllowed(r) {
			writeError(w, errOrigin)
			return
		}
		if crossOrigin(r) {
			h.Add("Vary", "Origin")
			h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
			h.Set("Access-Control-Expose-Headers", requestIDHeader+", Retry-After")
		}
		if r.Method == http.MethodOptions {
			preflight(w)
			return
		}
		if !g.keyFits(r) {
			writeError(w, withHeader(errKey, "WWW-Authenticate", "Bearer"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *guard) hostAllowed(host string) bool {
	if g.hosts == nil {
		return true
	}
	name := hostname(host)
	if ip, err := netip.ParseAddr(name); err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	return slices.ContainsFunc(g.hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// hostname cuts the port and the brackets of an IPv6 address off.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// originAllowed reads Origin where there is one. Browsers leave it out of plain GETs;
// then Sec-Fetch-Site tells, and following a link from another site is the only thing
// such a site may do. Programs send neither.
func (g *guard) originAllowed(r *http.Request) bool {
	if len(r.Header.Values("Origin")) > 0 {
		return !crossOrigin(r) || g.listed(r)
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	return read && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// crossOrigin reports whether the request names an origin other than ours. Schemes are
// not compared: behind a proxy that ends TLS ours is not the browser's.
func crossOrigin(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return false
	}
	u, err := url.Parse(values[0])
	return len(values) > 1 || err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host)
}

// listed reports whether the operator allowed the origin here. "null", which every
// sandboxed frame and local file is, cannot be allowed.
func (g *guard) listed(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if len(r.Header.Values("Origin")) > 1 || origin == "null" {
		return false
	}
	if slices.Contains(g.origins, origin) {
		return true
	}
	return slices.Contains(g.origins, "*") && ofBlueprint(r.URL.Path)
}

func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	h.Set("Access-Control-Allow-Private-Network", "true")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// keyFits compares hashes, all of them, in constant time: neither a key's length nor
// which of several was nearly right can be measured.
func (g *guard) keyFits(r *http.Request) bool {
	if len(g.keys) == 0 || g.free(r) {
		return true
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given, fits := sha256.Sum256([]byte(strings.TrimSpace(key))), 0
	for _, k := range g.keys {
		fits |= subtle.ConstantTimeCompare(k[:], given[:])
	}
	return fits == 1 && strings.EqualFold(scheme, "Bearer")
}
