package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed"
	localmodel "github.com/sextant-rag/sextant/embed/local"
)

// encoderConfig says what turns texts into vectors.
type encoderConfig struct {
	Kind  string `yaml:"kind"`  // one of encoderKinds; "" is local (EMBEDDER)
	Model string `yaml:"model"` // folder or hub id for local (EMBEDDING_MODEL); "" is the embedded one
}

// encoderKinds are the values of EMBEDDER. With none, texts are found by their words.
var encoderKinds = []string{"local", "openai", "none"}

// encoder is the session's encoder, or why there is none.
type encoder struct {
	embed.Embedder        // nil: texts are found by their words only
	missing        string // why, as a sentence for people; "" where that was asked for
}

// model names the encoder for people, "" if there is none.
func (e encoder) model() string {
	if e.Embedder == nil {
		return ""
	}
	return e.Fingerprint().Model
}

// openEncoder makes the encoder that the settings name: the only place that does. A model
// that is named and not found is an error, never another one in silence.
func (s *session) openEncoder() (encoder, error) {
	c := s.config.Encoder
	switch kind := cmp.Or(c.Kind, "local"); {
	case kind == "none":
		return encoder{}, nil
	case kind == "local" && slices.Contains([]string{"", localmodel.EmbeddedModel, "sentence-transformers/" + localmodel.EmbeddedModel}, c.Model):
		return embeddedEncoder(c)
	case kind == "local":
		return localEncoder(c.Model, s.env)
	}
	return encoder{}, usage("EMBEDDER is %q; it can be %s.", c.Kind, strings.Join(encoderKinds, ", "))
}

// embeddedEncoder uses the weights in the binary. One built without them still works, by
// words, unless they were asked for by name.
func embeddedEncoder(c encoderConfig) (encoder, error) {
	e, err := localmodel.New(bert.Options{})
	switch {
	case errors.Is(err, localmodel.ErrNoWeights) && c.Model == "":
		return encoder{missing: "This program was built without an encoder (tag nomodel): texts are found by their words only. EMBEDDING_MODEL can name the folder of one."}, nil
	case err != nil:
		return encoder{}, encoderError(localmodel.EmbeddedModel, err)
	}
	return encoder{Embedder: e}, nil
}

// localEncoder loads a model from a folder or from the cache of models.
func localEncoder(model string, env environment) (encoder, error) {
	dir, err := localmodel.Find(model, func(name string) string { return env[name] })
	if err != nil {
		return encoder{}, encoderError(model, err)
	}
	name := model
	if dir == model {
		name = "" // the folder's own: where it lies is not what it is
	}
	e, err := localmodel.Open(dir, localmodel.Options{Name: name})
	if err != nil {
		return encoder{}, encoderError(model, err)
	}
	return encoder{Embedder: e}, nil
}

func encoderError(model string, err error) error {
	return &sextant.Error{Code: sextant.CodeNotFound, Op: "open encoder", Message: fmt.Sprintf("The encoder %q cannot be used: %s.", model, strings.TrimRight(err.Error(), ".")),
		Hint: "Name another with EMBEDDING_MODEL, unset it for the one inside the program, or set EMBEDDER=none to find texts by their words only.", Err: err}
}
