package importtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sourcePackage is one folder of Go files.
type sourcePackage struct {
	dir   string // relative to the module, slashes; root for the top
	files []sourceFile
}

// sourceFile is one parsed file.
type sourceFile struct {
	path string // relative to the module
	test bool   // its name ends in _test.go
	ast  *ast.File
}

// imports returns the import paths of a file.
func (f sourceFile) imports() []string {
	var out []string
	for _, spec := range f.ast.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			out = append(out, path)
		}
	}
	return out
}

// moduleRoot returns the folder of the go.mod above the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("module root: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("module root: no go.mod above the working directory")
		}
		dir = parent
	}
}

// load parses every Go file of the module at top, all platforms and build tags. Nested
// modules and the folders the go command ignores are left out.
func load(top string, fset *token.FileSet) ([]sourcePackage, error) {
	byDir := map[string]*sourcePackage{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != top && (ignored(d.Name()) || nestedModule(path)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(d.Name(), ".go") || ignored(d.Name()) {
			return nil
		}
		parsed, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		if byDir[dir] == nil {
			byDir[dir] = &sourcePackage{dir: dir}
		}
		byDir[dir].files = append(byDir[dir].files, sourceFile{filepath.ToSlash(rel), strings.HasSuffix(rel, "_test.go"), parsed})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load source tree: %w", err)
	}
	out := make([]sourcePackage, 0, len(byDir))
	for _, p := range byDir {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b sourcePackage) int { return strings.Compare(a.dir, b.dir) })
	return out, nil
}

// ignored mirrors what the go command leaves out of "./...".
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor" || name == "node_modules"
}

func nestedModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// name returns a package of the module as the tables name it.
func name(importPath string) string {
	if importPath == modulePath {
		return root
	}
	return strings.TrimPrefix(importPath, modulePath+"/")
}
