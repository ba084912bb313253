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
	"strings"

	"github.com/sextant-rag/sextant/llm"
)

//go:embed files/*.txt
var files embed.FS

// Text is a rendered prompt.
type Text struct {
	Name   string // of its file: "understand"
	Hash   string // of the file and the parts it shares with others, 12 hex digits
	System string
	User   string
}

// ID names the prompt and its version, as spans show it.
func (t Text) ID() string { return t.Name + "@" + t.Hash }

// Request is what a model is sent: the same answer is wanted whenever the same is asked, so
// that the temperature is 0. A nil output asks for text.
func (t Text) Request(purpose string, output *llm.Schema, tokens int) llm.Request {
	zero := 0.0
	return llm.Request{System: t.System, Messages: []llm.Message{{Role: llm.User, Text: t.User}}, Output: output, MaxTokens: tokens, Temperature: &zero, Purpose: purpose, Prompt: t.ID()}
}

// file is a prompt: what stands before the line "=== user" is the system's, the rest the
// user's. {{name}} is a slot; a line that begins with {{?name}} is left out where that slot is
// empty. (The standard library's templates can do more than is needed here, and would be the
// only ones in the binary.)
type file struct {
	name, hash   string
	system, user *template
}

const userPart = "=== user\n"

var prompts = load()

func load() map[string]file {
	common := read("shared")
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(common, "=== "), "\n=== ") {
		name, text, _ := strings.Cut(part, "\n")
		parts["{{"+name+"}}"] = strings.TrimSpace(text)
	}
	entries, err := files.ReadDir("files")
	if err != nil {
		panic(err) // the files are in the binary
	}
	out := map[string]file{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".txt")
		text := read(name)
		sum := sha256.Sum256([]byte(common + text))
		for slot, part := range parts {
			text = strings.ReplaceAll(text, slot, part)
		}
		system, user, _ := strings.Cut(text, userPart)
		out[name] = file{name, hex.EncodeToString(sum[:6]), templateOf(system), templateOf(user)}
	}
	return out
}

func read(name string) string {
	text, err := files.ReadFile("files/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// slots are what a prompt is filled with, by name.
type slots map[string]string

// render fills a prompt. Values go in as they are, in one pass: what looks like a slot in
// them is text.
func render(name string, in slots) Text {
	f, ok := prompts[name]
	if !ok {
		panic("prompt: there is no file " + name)
	}
	return Text{Name: name, Hash: f.hash, System: f.system.fill(in), User: f.user.fill(in)}
}
