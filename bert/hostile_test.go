package bert_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/bert/berttest"
)

// hostileTexts are what makes tokenizers slow or greedy: a megabyte each of one word, of
// marks on one letter, of letters that decompose, of unfinished characters.
var hostileTexts = map[string]string{
	"one word":             strings.Repeat("x", 1<<20),
	"one word of Hangul":   strings.Repeat("각", 1<<18),
	"marks in one order":   "a" + strings.Repeat("\u0301", 1<<19),
	"marks in many orders": "a" + strings.Repeat("\u0301\u0323\u0345\u05b0", 1<<17),
	"long folds":           strings.Repeat("ﷺ", 1<<18),
	"broken UTF-8":         strings.Repeat("\xe2\x82", 1<<19),
	"zeros":                strings.Repeat("\x00", 1<<20),
	"blanks":               strings.Repeat("\u3000 ", 1<<18),
	"punctuation":          strings.Repeat(".", 1<<20),
	"Han":                  strings.Repeat("中", 1<<18),
	"joiners":              strings.Repeat("a\u200d", 1<<18),
}

// Whatever the text, time grows with its length and memory does not.
func TestHostileTexts(t *testing.T) {
	e := newEncoder(t, openFolder(t, berttest.New(shapes["tiny"], 5).Write(t)), bert.Options{Workers: 1})
	encode(t, e, strings.Repeat("warm ", 100))
	for name, text := range hostileTexts {
		for _, cased := range []bool{false, true} {
			start := time.Now()
			tokens := tokenizer(t, cased).Append(nil, text, 510)
			if took := time.Since(start); took > 3*time.Second || len(tokens) > 510 {
				t.Errorf("%s: %d tokens in %v", name, len(tokens), took)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		encode(t, e, text)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; took > 3*time.Second || grown > 1<<20 {
			t.Errorf("%s: %v, and %d bytes of memory for a text of %d", name, took, grown, len(text))
		}
	}
}

// Many callers with dead contexts take no worker from those alive.
func TestCancelledCallersLetGo(t *testing.T) {
	m := berttest.New(shapes["tiny"], 5)
	m.AddHead(5)
	e := newEncoder(t, openFolder(t, m.Write(t)), bert.Options{Workers: 2})
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		_, a := e.Encode(dead, []string{"a", "b"})
		_, b := e.States(dead, []string{"a"})
		_, c := e.Score(dead, []bert.Pair{{First: "a"}})
		_, d := e.MaxSim(dead, bert.States{}, []string{"a"})
		for _, err := range []error{a, b, c, d} {
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v", err)
			}
		}
	}
	encode(t, e, "alive", "and well", "with all workers")
}

// Whatever a folder's files say, opening gives an error that says so or a model that runs.
func FuzzOpenFolder(f *testing.F) {
	dir := berttest.New(smallest, 1).Write(f)
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		return string(b)
	}
	config, weights := read("config.json"), read("model.safetensors")
	start := strings.IndexByte(weights, '}') // within the header
	f.Add(config, `{"max_seq_length": 16}`, `{"pooling_mode_mean_tokens": true}`, "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n", 0, byte(0))
	f.Add(config, `{}`, `{}`, read("vocab.txt"), start, byte('9'))
	f.Fuzz(func(t *testing.T, config, sentence, pooling, vocabulary string, at int, with byte) {
		var shape struct {
			Hidden int `json:"hidden_size"`
		}
		if json.Unmarshal([]byte(config), &shape) == nil && shape.Hidden > 1024 {
			return // refused for its size alone, after the vocabulary; nothing to learn
		}
		changed := []byte(weights)
		if at >= 0 && at < len(changed) {
			changed[at] = with
		}
		dir := t.TempDir()
		for name, text := range map[string]string{"config.json": config, "sentence_bert_config.json": sentence, "1_Pooling/config.json": pooling, "vocab.txt": vocabulary, "model.safetensors": string(changed)} {
			rewrite(t, dir, name, func([]byte) []byte { return []byte(text) })
		}
		m, err := bert.OpenFolder(dir)
		if err != nil {
			if !errors.Is(err, bert.ErrModel) && !errors.Is(err, bert.ErrVocabulary) && !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("an error without a kind: %v", err)
			}
			return
		}
		if _, err := newEncoder(t, m, bert.Options{Workers: 1}).Encode(t.Context(), []string{"some text"}); err != nil && !errors.Is(err, bert.ErrModel) {
			t.Error(err)
		}
	})
}
