// Package prompt holds what language models are told, as files with typed inputs. A prompt
// is rendered here and nowhere else, so that a change of a word is a change of a file, and the
// trace of a question says by its hash which words led to an answer.
//
// Text from documents is data. It enters a prompt only through [Evidence], between marks
// that are made anew for each question, cleaned of what could pass for a mark, an
// instruction channel or markup; see Quoted.
package prompt

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"
	"text/template"
)

//go:embed files/*.tmpl
var files embed.FS

// Text is a rendered prompt.
type Text struct {
	Name   string // of its file: "understand"
	Hash   string // of the file and those it is made with, 12 hex digits
	System string
	User   string
}

// ID names the prompt and its version, as spans show it.
func (t Text) ID() string { return t.Name + "@" + t.Hash }

// A prompt is a file with two templates, "system" and "user".
type file struct {
	name string
	hash string
	t    *template.Template
}

// shared is parsed into every file: how evidence and figures are laid out.
const shared = "evidence"

var prompts = load()

func load() map[string]*file {
	entries, err := files.ReadDir("files")
	if err != nil {
		panic(err) // the files are in the binary
	}
	base, err := files.ReadFile("files/" + shared + ".tmpl")
	if err != nil {
		panic(err)
	}
	out := map[string]*file{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".tmpl")
		if name == shared {
			continue
		}
		text, err := files.ReadFile("files/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(append(append([]byte{}, base...), text...))
		t := template.Must(template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"join": strings.Join, "inc": func(i int) int { return i + 1 }}).Parse(string(base)))
		out[name] = &file{name, hex.EncodeToString(sum[:6]), template.Must(t.Parse(string(text)))}
	}
	return out
}

// render fills both templates. Inputs are typed structs of this package: a template that
// asks for something else is a mistake of this package, found by its golden renders.
func render(name string, in any) Text {
	f, ok := prompts[name]
	if !ok {
		panic("prompt: there is no file " + name)
	}
	part := func(which string) string {
		var b strings.Builder
		if err := f.t.ExecuteTemplate(&b, which, in); err != nil {
			panic(fmt.Sprintf("prompt %s: %v", name, err))
		}
		return strings.TrimSpace(b.String())
	}
	return Text{Name: name, Hash: f.hash, System: part("system"), User: part("user")}
}
