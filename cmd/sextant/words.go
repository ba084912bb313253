package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/pipeline"
)

// wordsFile is where the words of a collection are kept: beside its schema.
func wordsFile(dir, collection string) string {
	return filepath.Join(dir, "schemas", collection+".words.yaml")
}

// wordsIn reads the words that are kept in a data folder. A collection without a file has
// none of its own.
func wordsIn(dir string) pipeline.Wordings {
	return func(collection string) (constrain.Wording, error) {
		var w constrain.Wording
		data, err := os.ReadFile(wordsFile(dir, collection))
		if errors.Is(err, os.ErrNotExist) {
			return w, nil
		}
		if err != nil {
			return w, err
		}
		d := yaml.NewDecoder(bytes.NewReader(data))
		d.KnownFields(true)
		if err := d.Decode(&w); err != nil && !errors.Is(err, io.EOF) {
			return w, fmt.Errorf("wording: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		return w, nil
	}
}
