package importtest

import "strings"

// everywhere in a row of libraries lets all packages but the nouns use it.
const everywhere = "*"

// libraries is the full table of outside modules: the packages (each with its subfolders) whose
// non-test files may import it. A technology stays behind one door, so that replacing
// it touches one folder. The nouns (the root and filter) import the standard library only.
var libraries = map[string][]string{
	"github.com/RoaringBitmap/roaring/v2":       {"lexical", "store"},
	"github.com/alecthomas/kong":                {"cmd"},
	"github.com/anthropics/anthropic-sdk-go/v2": {"llm/anthropic"},
	"github.com/danielgtaylor/huma/v2":          {"httpapi"},
	"github.com/dustin/go-humanize":             {"cmd"},
	"github.com/klippa-app/go-pdfium":           {"extract/pdfium"},
	"github.com/kljensen/snowball":              {"lexical"},
	"github.com/mattn/go-runewidth":             {"cmd"},
	"github.com/prometheus/client_golang":       {"httpapi"},
	"github.com/google/jsonschema-go":           {"llm"},
	"github.com/mmcdole/gofeed":                 {"source/feed"},
	"github.com/qdrant/go-client":               {"store/qdrant"},
	"github.com/tetratelabs/wazero":             {"extract/pdfium"},
	"github.com/vbauerster/mpb/v8":              {"cmd"},
	"go.yaml.in/yaml/v3":                        {"cmd"},
	"go.opentelemetry.io/proto/otlp":            {"trace"},
	"google.golang.org/grpc":                    {"store/qdrant"},
	"google.golang.org/protobuf":                {"trace"},
	"golang.org/x/image":                        {"chart"},                  // fonts
	"golang.org/x/net":                          {"extract", "source/feed"}, // html
	"golang.org/x/sys":                          {everywhere},
	"golang.org/x/term":                         {"cmd"},
	"golang.org/x/text":                         {everywhere},
	"modernc.org/libc":                          {"store/sqlite"}, // faults for the tests of failing disks
	"modernc.org/sqlite":                        {"store/sqlite", "trace"},
}

// testLibraries may be imported by every test file, and by the test-only packages.
var testLibraries = []string{"github.com/google/go-cmp", "pgregory.net/rapid"}

// module returns the outside module an import path belongs to, as named in the tables,
// or the path itself if it is in none of them.
func module(path string) string {
	for m := range libraries {
		if within(path, m) {
			return m
		}
	}
	for _, m := range testLibraries {
		if within(path, m) {
			return m
		}
	}
	return path
}

// outside reports whether an import path is neither the module's nor the standard
// library's: the first element of the latter has no dot.
func outside(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".") && !within(path, modulePath)
}
