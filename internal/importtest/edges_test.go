package importtest

import (
	"slices"
	"strings"
)

// modulePath is the path every package of the module starts with.
const modulePath = "github.com/sextant-rag/sextant"

// root is the name of the module's top package in the tables; every other package is
// named by its folder.
const root = "."

// anything in a row allows every import: the wiring's.
const anything = "..."

// The layers of the module from the bottom up. A package may import what lies below it
// and nothing beside it, unless its own row says so.
var (
	nouns        = []string{root, "filter"}
	base         = with(nouns, "trace") // trace may be called from everywhere above the nouns
	capabilities = with(base, "rerank", "signal", "embed", "llm", "prompt", "chunk", "extract", "fetch", "source", "store")
	engines      = with(capabilities, "lexical", "lexical/thesaurus", "vector") // what a stage of a question stands on
	stages       = with(capabilities, "generate", "check", "compute", "constrain", "plan", "retrieve")
)

// edges is the full table of imports inside the module: for each package what its
// non-test files may import. A package that is not in the table may not exist; one that
// is in the table need not exist yet.
//
// Three shapes carry the design. Contracts never import their implementations
// (store does not know store/sqlite); implementations never import each other; and
// only cmd/sextant imports aviation, so that without that folder and its lines in cmd
// everything generic still builds.
var edges = map[string][]string{
	// The nouns.
	"filter": {},
	root:     {"filter"},

	// Engines that know words and numbers.
	"bert":                        {"bert/internal/kernel"},
	"bert/berttest":               {"bert"},
	"bert/internal/kernel":        {"bert/internal/kernel/approx"},
	"bert/internal/kernel/approx": {},
	"bert/internal/kernel/gen":    {"bert/internal/kernel/approx"},
	"vector":                      {},
	"lexical":                     nouns,
	"lexical/thesaurus":           {"lexical"},

	// The recorder of traces, and where it sends them.
	"trace":           nouns,
	"trace/mlflow":    base,
	"trace/otlp":      base,
	"trace/tracetest": base,

	// Capabilities: a contract, then what fulfils it.
	"chunk":              base,
	"embed":              base,
	"embed/adapt":        {},
	"embed/embedtest":    with(base, "embed"),
	"embed/local":        with(base, "embed", "bert", "vector"),
	"embed/local/pack":   with(base, "embed", "embed/local", "bert"),
	"embed/local/parity": with(base, "embed", "embed/local", "bert"),
	"embed/memo":         with(base, "embed"),
	"embed/openai":       with(base, "embed", "internal/endpoint"),
	"chart":              nouns, // draws what compute made, wherever it is shown
	"hub":                {},
	"extract":            with(base, "extract/pdfium"),
	"extract/pdfium":     {},
	"fetch":              base,
	"llm":                base,
	"llm/anthropic":      with(base, "llm", "llm/internal/wire"),
	"llm/internal/wire":  with(base, "llm"),
	"llm/openai":         with(base, "llm", "llm/internal/wire"),
	"llm/replay":         with(base, "llm"),
	"llm/llmtest":        with(base, "llm"),
	"prompt":             with(base, "llm"), // a rendered prompt is a request
	"rerank":             base,
	"signal":             with(base, "lexical"), // covered is what is said in whatever inflection
	"source":             base,
	"source/feed":        with(base, "source", "extract"),
	"source/file":        with(base, "source", "extract"),
	"source/table":       with(base, "source", "extract"),
	"store":              with(base, "lexical"),
	"store/chroma":       with(base, "store", "lexical", "vector"),
	"store/outbox":       with(base, "store"),
	"store/qdrant":       with(base, "store", "lexical", "vector"),
	"store/sqlite":       with(base, "store", "lexical", "vector", "internal/intern"),
	"store/storetest":    with(base, "store", "lexical"),

	"rerank/cases":        with(base, "rerank", "bert", "embed", "embed/local", "lexical", "chunk"),
	"rerank/crossencoder": with(base, "rerank", "bert"),
	"rerank/maxsim":       with(base, "rerank", "bert", "embed", "embed/local"),
	"rerank/remote":       with(base, "rerank", "internal/endpoint"),
	"rerank/reranktest":   with(base, "rerank"),

	// Stages of a question.
	"check":     engines,
	"compute":   with(engines, "constrain"), // counts what constrain read
	"constrain": engines,
	"generate":  engines,
	"plan":      with(engines, "constrain"), // decides by what constrain read
	"retrieve":  with(engines, "embed/adapt"),
	"tune":      with(engines, "embed/adapt"),

	// What strings them together.
	"pipeline": with(stages, "lexical", "vector", "llm/replay"), // answers again from what a trace kept

	// Surfaces and whole jobs, above the pipeline.
	"agent":     with(stages, "pipeline"),
	"eval":      with(stages, "pipeline"),
	"httpapi":   with(stages, "pipeline", "ingest", "agent", "web"),
	"ingest":    with(stages, "pipeline", "internal/intern"),
	"mcpserver": with(stages, "pipeline"),
	"web":       {},

	// The domain pack: values for the engine to work with.
	"aviation":               with(stages, "lexical/thesaurus", "source/feed", "source/file", "source/table"),
	"aviation/sample":        with(nouns, "source", "aviation", "embed/memo"),
	"aviation/sample/cut":    {},
	"aviation/sample/encode": with(stages, "aviation", "aviation/sample", "bert", "embed/local", "embed/memo", "ingest", "store/sqlite"),

	// Wiring, by hand.
	"cmd/sextant": {anything},

	// What clients of model servers share.
	"internal/endpoint": {},
	"internal/intern":   {},

	// Laws and machinery of the tests.
	"internal/importtest": {},
	"internal/testbed":    with(base, "store", "store/chroma", "store/qdrant"),
}

// testOnly packages exist for tests: only test files and each other may import them.
var testOnly = []string{"bert/berttest", "embed/embedtest", "internal/importtest", "internal/testbed", "llm/llmtest", "rerank/reranktest", "store/storetest"}

// commands are the packages main: the product, and what makes files of the source tree.
var commands = []string{"cmd/sextant", "bert/internal/kernel/gen", "embed/local/pack", "embed/local/parity", "rerank/cases", "aviation/sample/cut", "aviation/sample/encode"}

// allowed reports whether a non-test file of package from may import package to, both
// as named in edges.
func allowed(from, to string) bool {
	if slices.Contains(testOnly, to) && !slices.Contains(testOnly, from) {
		return false
	}
	return slices.Contains(edges[from], to) || slices.Contains(edges[from], anything)
}

// allowedInTests reports whether a test file of package from may import package to.
// Tests may set up anything they need, such as a real store, but a test of generic code
// must not lean on the domain pack, or it would fall with it.
func allowedInTests(from, to string) bool {
	if from == "cmd/sextant" || within(from, "aviation") {
		return true
	}
	return !within(to, "aviation") && !slices.Contains(commands, to)
}

// within reports whether a package is dir or lies below it.
func within(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

// with returns a row of the table with more packages.
func with(row []string, more ...string) []string { return append(slices.Clone(row), more...) }
