package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheBuiltPageIsOfTheseSources holds dist/SOURCES, which the build writes, against
// the sources and the built files as they stand: neither can change alone.
func TestTheBuiltPageIsOfTheseSources(t *testing.T) {
	recorded, err := os.ReadFile("dist/SOURCES")
	if err != nil {
		t.Fatal(err)
	}
	sources := []string{"index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "public", "src", "scripts"}
	want := fmt.Sprintf("sources %s\nbuilt %s\n", hash(t, "ui", sources...), hash(t, "dist", "."))
	if string(recorded) != want {
		t.Errorf("web/dist was not built from web/ui as it is; run npm ci && npm run build there.\nrecorded:\n%scomputed:\n%s", recorded, want)
	}
}

// hash is that of web/ui/scripts/stamp.mjs: over the hash and the name of every file.
func hash(t *testing.T, root string, paths ...string) string {
	t.Helper()
	var names []string
	for _, p := range paths {
		err := filepath.WalkDir(filepath.Join(root, p), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "SOURCES" {
				return err
			}
			name, err := filepath.Rel(root, path)
			names = append(names, filepath.ToSlash(name))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sum, "%x  %s\n", sha256.Sum256(content), name)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// A lock file that names a registry would send every other machine there.
func TestTheLockFileNamesNoRegistry(t *testing.T) {
	lock, err := os.ReadFile("ui/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(lock), `"resolved"`) {
		t.Error("package-lock.json has resolved addresses; .npmrc should keep them out")
	}
	if !strings.Contains(string(lock), `"integrity": "sha512-`) {
		t.Error("package-lock.json has no integrity hashes")
	}
}

func get(root, path string, header ...string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	Page(root).ServeHTTP(w, r)
	return w
}

func TestPageAndAssets(t *testing.T) {
	page := get("", "/")
	if page.Code != http.StatusOK || !strings.HasPrefix(page.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("%d %v", page.Code, page.Header())
	}
	assets := regexp.MustCompile(`(?:src|href)="\./(assets/[^"]+)"`).FindAllStringSubmatch(page.Body.String(), -1)
	if len(assets) != 2 {
		t.Fatalf("the page names %v", assets)
	}
	for _, a := range assets {
		w := get("", "/"+a[1])
		if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: %d %v", a[1], w.Code, w.Header())
		}
	}
	if w := get("", "/favicon.svg"); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/svg+xml" {
		t.Errorf("icon: %d %v", w.Code, w.Header())
	}
	for _, path := range []string{"/assets/none.js", "/assets/../SOURCES", "/assets/", "/assets/..%2f..%2fpage.go"} {
		if w := get("", path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := get("", "/documents/ntsb:1"); w.Body.String() != page.Body.String() {
		t.Error("a document's address does not show the page")
	}
}

func TestPageIsNotSentTwice(t *testing.T) {
	tag := get("", "/").Header().Get("ETag")
	if w := get("", "/", "If-None-Match", tag); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
	if w := get("/apps/sextant", "/", "If-None-Match", tag); w.Code != http.StatusOK {
		t.Errorf("another root has the same tag: %d", w.Code)
	}
}

func TestPageUnderAPath(t *testing.T) {
	for root, want := range map[string]string{"": `<base href="/"`, "/apps/sextant": `<base href="/apps/sextant/"`, `/a"b`: `<base href="/a&#34;b/"`} {
		if body := get(root, "/").Body.String(); strings.Count(body, "<base") != 1 || !strings.Contains(body, want) {
			t.Errorf("%s: %.300s", root, body)
		}
	}
}

// The policy forbids what is inline, so the page may hold nothing of the kind, and
// nothing from elsewhere.
func TestPageHoldsNothingInline(t *testing.T) {
	w := get("", "/")
	csp := w.Header().Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "require-trusted-types-for 'script'", "frame-ancestors 'none'"} {
		if !strings.Contains(csp, part) {
			t.Errorf("no %s in %q", part, csp)
		}
	}
	if strings.Contains(csp, "unsafe") {
		t.Errorf("%q", csp)
	}
	if m := regexp.MustCompile(`(?i)<style|<script>|<script [^>]*>[^<]|\sstyle=|\son\w+=|https?://`).FindString(w.Body.String()); m != "" {
		t.Errorf("the page holds %q", m)
	}
	for _, name := range mustGlob(t, "dist/assets/*.css") {
		css, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(css), "url(") || strings.Contains(string(css), "@import") {
			t.Errorf("%s loads something", name)
		}
	}
}

func mustGlob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	return names
}
