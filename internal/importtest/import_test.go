package importtest

import (
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// packages loads the whole module once for a test.
func packages(t *testing.T) ([]sourcePackage, *token.FileSet) {
	t.Helper()
	top, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	pkgs, err := load(top, fset)
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 3 {
		t.Fatalf("found %d packages under the module root; the walk is broken", len(pkgs))
	}
	return pkgs, fset
}

func TestEveryPackageIsInTheTable(t *testing.T) {
	pkgs, _ := packages(t)
	for _, p := range pkgs {
		if _, ok := edges[p.dir]; !ok {
			t.Errorf("package %s is not in the table of imports.\nIf it has its place in the design, give it a row in internal/importtest/edges_test.go and a line in docs/design.md; otherwise put the code where it belongs.", p.dir)
		}
	}
}

func TestImportsPointDown(t *testing.T) {
	pkgs, _ := packages(t)
	for _, p := range pkgs {
		for _, f := range p.files {
			for _, imported := range f.imports() {
				if within(imported, modulePath) {
					checkEdge(t, p.dir, f, name(imported))
				}
			}
		}
	}
}

func checkEdge(t *testing.T, from string, f sourceFile, to string) {
	t.Helper()
	if f.test {
		if !allowedInTests(from, to) && from != to {
			t.Errorf("%s imports %s: tests of generic code must hold without the domain pack and the command.\nUse a schema and documents of the test's own.", f.path, to)
		}
		return
	}
	if !allowed(from, to) {
		t.Errorf("%s imports %s, and %s may import only: %s.\nTurn the dependency round (pass a value or a function down), or move the code; change the row in internal/importtest/edges_test.go only together with docs/design.md.",
			f.path, to, from, strings.Join(edges[from], ", "))
	}
}

func TestLibrariesStayBehindTheirDoor(t *testing.T) {
	pkgs, _ := packages(t)
	for _, p := range pkgs {
		for _, f := range p.files {
			for _, imported := range f.imports() {
				if outside(imported) {
					checkLibrary(t, p.dir, f, imported)
				}
			}
		}
	}
}

func checkLibrary(t *testing.T, from string, f sourceFile, imported string) {
	t.Helper()
	m := module(imported)
	if (f.test || slices.Contains(testOnly, from)) && (slices.Contains(testLibraries, m) || libraries[m] != nil) {
		return
	}
	switch homes := libraries[m]; {
	case slices.Contains(nouns, from):
		t.Errorf("%s imports %s: package %s holds nouns and imports the standard library only.\nMove what needs the library into the package of its capability.", f.path, imported, from)
	case homes == nil:
		t.Errorf("%s imports %s, which is in no row of internal/importtest/libraries_test.go.\nIf the library is the right choice, add its row with the folder it lives in, and the reason to docs/decisions.", f.path, imported)
	case !slices.Contains(homes, everywhere) && !slices.ContainsFunc(homes, func(home string) bool { return within(from, home) }):
		t.Errorf("%s imports %s, which stays in: %s.\nCall the package that wraps it.", f.path, imported, strings.Join(homes, ", "))
	}
}

func TestPackageNames(t *testing.T) {
	pkgs, _ := packages(t)
	for _, p := range pkgs {
		if bad := forbiddenName(p.dir); bad != "" {
			t.Errorf("package %s: %q says nothing about what is inside.\nName it for what it provides, or move the code beside its only caller.", p.dir, bad)
		}
		for _, f := range p.files {
			got := strings.TrimSuffix(f.ast.Name.Name, "_test")
			if want := packageName(p.dir); got != want {
				t.Errorf("%s is package %s; its folder asks for %s.", f.path, got, want)
			}
		}
	}
}

// forbiddenName returns the element of a package's path that says nothing, if there is one.
func forbiddenName(dir string) string {
	for _, element := range strings.Split(dir, "/") {
		switch element {
		case "util", "utils", "common", "helper", "helpers", "types", "models", "misc", "base", "lib":
			return element
		}
	}
	return ""
}

// packageName is the package clause a folder must have.
func packageName(dir string) string {
	switch {
	case dir == root:
		return path.Base(modulePath)
	case slices.Contains(commands, dir):
		return "main"
	}
	return path.Base(dir)
}

// TestRules holds the table itself to the sentences of the design, so that a slip of the
// pen in a row does not open a door.
func TestRules(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"store/sqlite", "store", true},
		{"store", "store/sqlite", false},
		{"store/qdrant", "store/sqlite", false},
		{"llm", "llm/anthropic", false},
		{"llm/openai", "llm/anthropic", false},
		{"embed", "embed/local", false},
		{"rerank/maxsim", "embed/local", true},
		{"pipeline", "constrain", true},
		{"constrain", "pipeline", false},
		{"constrain", "compute", false},
		{"pipeline", "store/sqlite", false},
		{"httpapi", "ingest", true},
		{"httpapi", "store/sqlite", false},
		{"httpapi", "aviation", false},
		{"ingest", "aviation", false},
		{"eval", "aviation", false},
		{"cmd/sextant", "aviation", true},
		{"filter", root, false},
		{root, "filter", true},
		{"store/sqlite", "store/storetest", false},
		{"store/sqlite", "trace", true},
		{"filter", "trace", false},
	} {
		if got := allowed(tt.from, tt.to); got != tt.want {
			t.Errorf("%s may import %s: %v in the table, want %v", tt.from, tt.to, got, tt.want)
		}
	}
	if !allowedInTests("pipeline", "store/sqlite") || allowedInTests("pipeline", "aviation") || !allowedInTests("aviation", "aviation/sample") {
		t.Error("rules for test files: a stage's tests may use a real store and never the domain pack; the pack may test itself")
	}
	for dir, want := range map[string]string{"store/util": "util", "models": "models", "internal/testbed": "", root: ""} {
		if got := forbiddenName(dir); got != want {
			t.Errorf("forbiddenName(%q) = %q, want %q", dir, got, want)
		}
	}
}

func TestTableHasNoCycle(t *testing.T) {
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(p string, path []string)
	visit = func(p string, path []string) {
		if state[p] == open {
			t.Errorf("the table allows a cycle: %s", strings.Join(append(path, p), " -> "))
		}
		if state[p] != 0 {
			return
		}
		state[p] = open
		for _, to := range edges[p] {
			if _, ok := edges[to]; !ok && to != anything {
				t.Errorf("row %s names %s, which has no row", p, to)
			}
			visit(to, append(path, p))
		}
		state[p] = done
	}
	for p := range edges {
		visit(p, nil)
	}
}
