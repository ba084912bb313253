package importtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryPackageIsDocumented(t *testing.T) {
	pkgs, _ := packages(t)
	for _, p := range pkgs {
		if onlyTests(p) {
			continue
		}
		doc, start := packageDoc(p), "Package "+packageName(p.dir)+" "
		if packageName(p.dir) == "main" {
			start = "Command "
		}
		if !strings.HasPrefix(doc, start) {
			t.Errorf("package %s has no doc comment that begins %q.\nSay in doc.go, or at the top of its main file, what the package is for.", p.dir, start)
		}
	}
}

func onlyTests(p sourcePackage) bool {
	for _, f := range p.files {
		if !f.test {
			return false
		}
	}
	return true
}

func packageDoc(p sourcePackage) string {
	for _, f := range p.files {
		if !f.test && f.ast.Doc != nil {
			return f.ast.Doc.Text()
		}
	}
	return ""
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	pkgs, fset := packages(t)
	for _, p := range pkgs {
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, u := range undocumented(f.ast) {
				t.Errorf("%s: %s is exported and has no doc comment.\nSay what it gives, its units and errors; or make it unexported.", fset.Position(u.pos), u.name)
			}
		}
	}
}

type undocumentedName struct {
	name string
	pos  token.Pos
}

// undocumented lists the exported functions, methods of exported types, types,
// constants and variables of a file that no comment speaks of. In a group the
// comment of the group, of the line, or at the end of the line will do.
func undocumented(file *ast.File) []undocumentedName {
	var out []undocumentedName
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Doc == nil && decl.Name.IsExported() && receiverExported(decl) {
				out = append(out, undocumentedName{decl.Name.Name, decl.Pos()})
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				out = append(out, undocumentedSpec(decl, spec)...)
			}
		}
	}
	return out
}

func receiverExported(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	id, ok := t.(*ast.Ident)
	return ok && id.IsExported()
}

func undocumentedSpec(decl *ast.GenDecl, spec ast.Spec) []undocumentedName {
	var out []undocumentedName
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		// A group of types says nothing about each of them.
		if spec.Name.IsExported() && spec.Doc == nil && spec.Comment == nil && (decl.Doc == nil || decl.Lparen.IsValid()) {
			out = append(out, undocumentedName{spec.Name.Name, spec.Pos()})
		}
	case *ast.ValueSpec:
		if decl.Doc != nil || spec.Doc != nil || spec.Comment != nil {
			return nil
		}
		for _, id := range spec.Names {
			if id.IsExported() {
				out = append(out, undocumentedName{id.Name, id.Pos()})
			}
		}
	}
	return out
}

func TestUndocumentedFindsThem(t *testing.T) {
	const src = `// Package p is here for its exported names.
package p

func Bare() {}

// Said is documented.
func Said() {}

type T struct{}

func (T) Method()     {}
func (t *T) Pointer() {}

type hidden struct{}

func (hidden) Method() {}

const A, b = 1, 2

// A group.
const (
	B = 1
	C = 2
)

var (
	D = 1 // said at the end of the line
	E = 2
)

// A group of types.
type (
	F int
	// G is documented.
	G int
)

type List[V any] struct{}

func (l *List[V]) Len() int { return 0 }
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range undocumented(file) {
		got = append(got, u.name)
	}
	want := strings.Fields("Bare T Method Pointer A E F List Len")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("undocumented names (-want +got):\n%s", diff)
	}
}
