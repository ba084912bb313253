package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed"
	localmodel "github.com/sextant-rag/sextant/embed/local"
	"github.com/sextant-rag/sextant/embed/openai"
	"github.com/sextant-rag/sextant/hub"
	"github.com/sextant-rag/sextant/internal/endpoint"
)

// encoderConfig says what turns texts into vectors.
type encoderConfig struct {
	Kind  string `yaml:"kind"`  // one of encoderKinds; "" is local (EMBEDDER)
	Model string `yaml:"model"` // local: folder or hub id, "" is the embedded one; openai: the server's name for it (EMBEDDING_MODEL)

	URL            string `yaml:"base_url"`  // of the API, for openai (EMBEDDING_BASE_URL, OPENAI_BASE_URL)
	Key            string `yaml:"key"`       // for that server (EMBEDDING_API_KEY, OPENAI_API_KEY)
	Dimension      int    `yaml:"dimension"` // of openai's vectors; 0 asks the server at start (EMBEDDING_DIMENSION)
	QueryPrefix    string `yaml:"query_prefix"`
	DocumentPrefix string `yaml:"document_prefix"`

	Ingest ingestEncoder `yaml:"ingest"`
}

// ingestEncoder is a server that runs the same weights as a local encoder, only faster:
// documents are encoded there, questions here.
type ingestEncoder struct {
	URL   string `yaml:"base_url"` // EMBEDDING_INGEST_URL; "" is none
	Key   string `yaml:"key"`      // EMBEDDING_INGEST_KEY
	Model string `yaml:"model"`    // the server's name for the weights (EMBEDDING_INGEST_MODEL); "" is the local name
}

// environment lays what the environment says over c. OpenAI's own key goes only to the
// server that OpenAI's own setting names: another server has no business with it.
func (c *encoderConfig) environment(env environment) error {
	c.Kind = cmp.Or(env["EMBEDDER"], c.Kind)
	c.Model = cmp.Or(env["EMBEDDING_MODEL"], c.Model)
	c.Key = cmp.Or(env["EMBEDDING_API_KEY"], c.Key)
	if c.URL = cmp.Or(env["EMBEDDING_BASE_URL"], c.URL); c.URL == "" {
		c.URL, c.Key = env["OPENAI_BASE_URL"], cmp.Or(c.Key, env["OPENAI_API_KEY"])
	}
	c.Ingest.URL = cmp.Or(env["EMBEDDING_INGEST_URL"], c.Ingest.URL)
	c.Ingest.Key = cmp.Or(env["EMBEDDING_INGEST_KEY"], c.Ingest.Key)
	c.Ingest.Model = cmp.Or(env["EMBEDDING_INGEST_MODEL"], c.Ingest.Model)
	if text := env["EMBEDDING_DIMENSION"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return usage("EMBEDDING_DIMENSION is %q, which is no number of dimensions.", text)
		}
		c.Dimension = n
	}
	return nil
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
// that is named and not found is an error, never another one in silence; a server that
// cannot be reached just now leaves the words.
func (s *session) openEncoder(ctx context.Context) (encoder, error) {
	c := s.config.Encoder
	var e encoder
	var err error
	switch kind := cmp.Or(c.Kind, "local"); {
	case kind == "none":
		return encoder{}, nil
	case kind == "openai":
		return serverEncoder(ctx, c)
	case kind != "local":
		return encoder{}, usage("EMBEDDER is %q; it can be %s.", c.Kind, strings.Join(encoderKinds, ", "))
	case slices.Contains([]string{"", localmodel.EmbeddedModel, "sentence-transformers/" + localmodel.EmbeddedModel}, c.Model):
		e, err = embeddedEncoder(c)
	default:
		e, err = s.localEncoder(ctx, c.Model)
	}
	if err != nil || e.Embedder == nil || c.Ingest.URL == "" {
		return e, err
	}
	return twinEncoder(ctx, c.Ingest, e)
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

// localEncoder loads a model from a folder, the cache of models, or the hub.
func (s *session) localEncoder(ctx context.Context, model string) (encoder, error) {
	found, err := s.hub().Find(ctx, model)
	if err != nil {
		return encoder{}, encoderError(model, err)
	}
	e, err := localmodel.Open(found.Dir, localmodel.Options{Name: found.Name})
	if err != nil {
		return encoder{}, encoderError(model, err)
	}
	return encoder{Embedder: e}, nil
}

// hub is where models with a name are found.
func (s *session) hub() hub.Hub {
	return hub.Hub{Getenv: func(name string) string { return s.env[name] }}
}

// serverEncoder asks a server for vectors.
func serverEncoder(ctx context.Context, c encoderConfig) (encoder, error) {
	if c.Model == "" {
		return encoder{}, usage("EMBEDDER is openai, so EMBEDDING_MODEL must say which model the server shall use.")
	}
	e, err := openai.Open(ctx, openai.Options{BaseURL: c.URL, Key: c.Key, Model: c.Model, Dim: c.Dimension, QueryPrefix: c.QueryPrefix, DocumentPrefix: c.DocumentPrefix})
	switch {
	case errors.Is(err, endpoint.ErrUnavailable) && ctx.Err() == nil:
		return encoder{missing: fmt.Sprintf("The embeddings server cannot be reached (%v): texts are found by their words only.", err)}, nil
	case err != nil:
		return encoder{}, encoderError(c.Model, err)
	}
	return encoder{Embedder: e}, nil
}

// twinEncoder lets a server encode documents under the local encoder's fingerprint. Before
// the first it must show on a set of texts that it runs the same weights.
func twinEncoder(ctx context.Context, c ingestEncoder, local encoder) (encoder, error) {
	f := local.Fingerprint()
	server, err := openai.Open(ctx, openai.Options{BaseURL: c.URL, Key: c.Key, Model: cmp.Or(c.Model, f.Model), Dim: f.Dim, DocumentPrefix: f.DocumentPrefix})
	if err != nil {
		return encoder{}, encoderError(c.URL, err)
	}
	return encoder{Embedder: embed.NewTwin(server, local.Embedder)}, nil
}

// encoderCode tells what is not there from what cannot be reached.
func encoderCode(err error) sextant.Code {
	if errors.Is(err, endpoint.ErrUnavailable) || errors.Is(err, hub.ErrFetch) {
		return sextant.CodeUnavailable
	}
	return sextant.CodeNotFound
}

func encoderError(model string, err error) error {
	return &sextant.Error{Code: encoderCode(err), Op: "open encoder", Message: fmt.Sprintf("The encoder %q cannot be used: %s.", model, strings.TrimRight(err.Error(), ".")),
		Hint: "Name another with EMBEDDING_MODEL, unset it for the one inside the program, or set EMBEDDER=none to find texts by their words only.", Err: err}
}
