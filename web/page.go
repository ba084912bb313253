// Package web is the page at /: one HTML file, one script, one style sheet and an icon,
// embedded as built from web/ui (TypeScript, Preact, Vite). The built files in dist are
// committed, so that a Go toolchain is all a build needs; a test holds them against the
// hash of the sources they were made from.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed dist
var dist embed.FS

// policy lets the page run its own script and style and talk to its own server, and
// nothing else: text of documents that should ever become markup finds nothing to run,
// load or send. Trusted Types refuse the assignments through which it could.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'self'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Page serves the page under the path root ("" at the top, "/apps/sextant" behind a
// proxy): its assets under /assets/, the icon, and for every other path the page itself,
// which reads what to show from the address.
func Page(root string) http.Handler {
	index := must(dist.ReadFile("dist/index.html"))
	index = bytes.Replace(index, []byte(`<base href="/"`), []byte(`<base href="`+html.EscapeString(root)+`/"`), 1)
	sum := sha256.Sum256(index)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		if strings.HasPrefix(r.URL.Path, "/assets/") || r.URL.Path == "/favicon.svg" {
			asset(w, r)
			return
		}
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(index)
	})
}

// asset serves a built file. Names under assets carry a hash of their content, so they
// may be kept for ever.
func asset(w http.ResponseWriter, r *http.Request) {
	content, err := dist.ReadFile("dist" + r.URL.Path) // an embedded file system takes no ".." in a name
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(r.URL.Path)))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if !strings.HasPrefix(r.URL.Path, "/assets/") {
		h.Set("Cache-Control", "public, max-age=86400")
	}
	_, _ = w.Write(content)
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic("web: the embedded page is incomplete: " + err.Error()) // the build's fault, not a caller's
	}
	return b
}
