package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/embed"
	localmodel "github.com/sextant-rag/sextant/embed/local"
	"github.com/sextant-rag/sextant/rerank"
	"github.com/sextant-rag/sextant/rerank/crossencoder"
	"github.com/sextant-rag/sextant/rerank/maxsim"
	remotereranker "github.com/sextant-rag/sextant/rerank/remote"
)

// rerankerConfig says what judges passages where reranking is asked for. With nothing set,
// the encoder's token states do.
type rerankerConfig struct {
	Model  string `yaml:"model"`    // cross-encoder: folder or hub id (CROSS_ENCODER_MODEL)
	URL    string `yaml:"base_url"` // of a server with a route /rerank, instead (RERANK_BASE_URL)
	Name   string `yaml:"name"`     // that server's name for the model (RERANK_MODEL)
	Key    string `yaml:"key"`      // for that server (RERANK_API_KEY)
	Format string `yaml:"format"`   // documents or texts; "" finds out (RERANK_FORMAT)
	// Weight is what its judgement counts beside retrieval's, 0 to 1; "" lets it show on the
	// built-in cases what it earns (RERANK_WEIGHT).
	Weight string `yaml:"weight"`
}

func (c *rerankerConfig) environment(env environment) {
	c.Model = cmp.Or(env["CROSS_ENCODER_MODEL"], c.Model)
	c.URL = cmp.Or(env["RERANK_BASE_URL"], c.URL)
	c.Name = cmp.Or(env["RERANK_MODEL"], c.Name)
	c.Key = cmp.Or(env["RERANK_API_KEY"], c.Key)
	c.Format = cmp.Or(env["RERANK_FORMAT"], c.Format)
	c.Weight = cmp.Or(env["RERANK_WEIGHT"], c.Weight)
}

// reranker makes what reranking stands for. A model that is named and not found is an error
// at once; it is loaded when the first question wants it.
func (s *session) reranker(ctx context.Context, dir string, e encoder) (*rerank.Stage, error) {
	c := s.config.Reranker
	weight := -1.0
	if c.Weight != "" {
		var err error
		if weight, err = strconv.ParseFloat(c.Weight, 64); err != nil || !(weight >= 0 && weight <= 1) {
			return nil, usage("RERANK_WEIGHT is %q; it is a number from 0 to 1.", c.Weight)
		}
	}
	switch {
	case c.Model != "" && c.URL != "":
		return nil, usage("CROSS_ENCODER_MODEL and RERANK_BASE_URL are both set: name one thing that judges passages.")
	case c.Model != "":
		found, err := s.hub().Find(ctx, c.Model)
		if err != nil {
			return nil, rerankerError(c.Model, err)
		}
		return &rerank.Stage{Open: func(ctx context.Context) (rerank.Opened, error) {
			r, err := crossencoder.Open(found.Dir, crossencoder.Options{Name: found.Name})
			if err != nil {
				return rerank.Opened{}, rerankerError(c.Model, err)
			}
			return weighed(ctx, r, weight, dir, r.Digest())
		}}, nil
	case c.URL != "":
		r, err := remotereranker.Open(remotereranker.Options{URL: c.URL, Key: c.Key, Name: c.Name, Format: remotereranker.Format(c.Format)})
		if err != nil {
			return nil, usage("RERANK_BASE_URL, RERANK_FORMAT: %v.", err)
		}
		return &rerank.Stage{Open: func(ctx context.Context) (rerank.Opened, error) {
			return weighed(ctx, r, weight, dir, c.URL+" "+c.Name)
		}}, nil
	}
	return tokenStates(e.Embedder, weight), nil
}

// tokenStates is what works without any setting; nil where the encoder does not run here.
func tokenStates(e embed.Embedder, weight float64) *rerank.Stage {
	if twin, ok := e.(*embed.Twin); ok {
		e = twin.Embedder
	}
	own, ok := e.(*localmodel.Embedder)
	if !ok {
		return nil
	}
	if weight < 0 {
		weight = maxsim.Weight
	}
	opened := rerank.Opened{Reranker: maxsim.New(own), Mix: rerank.Mix{Weight: weight},
		Note: "No cross-encoder is set (CROSS_ENCODER_MODEL): the token states of the encoder stand in for one."}
	return &rerank.Stage{Open: func(context.Context) (rerank.Opened, error) { return opened, nil }}
}

// weighed gives a reranker the weight that was set, or the one that it earns on the built-in
// cases, which takes some seconds the first time and is kept in the data folder under key.
func weighed(ctx context.Context, r rerank.Reranker, weight float64, dir, key string) (rerank.Opened, error) {
	if weight >= 0 {
		return rerank.Opened{Reranker: r, Mix: rerank.Mix{Weight: weight}}, nil
	}
	kept := readCalibrations(dir)
	c, ok := kept[key]
	if !ok {
		var err error
		if c, err = rerank.Calibrate(ctx, r); err != nil {
			return rerank.Opened{}, rerankerError(r.Model(), err)
		}
		kept[key] = c
		kept.write(dir)
	}
	o := rerank.Opened{Reranker: r, Mix: rerank.Mix{Weight: c.Weight}}
	if c.Weight == 0 {
		o.Note = fmt.Sprintf("%s did not order %d built-in cases better than retrieval does (gain %+.3f; as good as chance in %.0f %%), so passages are in the order of retrieval. RERANK_WEIGHT can insist on it.", r.Model(), c.Cases, c.Gain, 100*c.Chance)
	}
	return o, nil
}

// calibrations are kept by what was weighed. Losing them costs the time to weigh again.
type calibrations map[string]rerank.Calibration

const calibrationFile = "rerankers.json"

func readCalibrations(dir string) calibrations {
	out := calibrations{}
	data, err := os.ReadFile(filepath.Join(dir, calibrationFile))
	if err != nil || json.Unmarshal(data, &out) != nil || out == nil {
		return calibrations{}
	}
	return out
}

func (c calibrations) write(dir string) {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return
	}
	f, err := os.CreateTemp(dir, calibrationFile+".*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, calibrationFile))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

func rerankerError(model string, err error) error {
	var known *sextant.Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	return &sextant.Error{Code: encoderCode(err), Op: "open reranker", Message: fmt.Sprintf("The reranker %q cannot be used: %s.", model, strings.TrimRight(err.Error(), ".")),
		Hint: "Name another with CROSS_ENCODER_MODEL, or unset it: the token states of the encoder then stand in.", Err: err}
}
