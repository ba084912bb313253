package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
)

// config is everything that can be set. A flag wins over the environment, the
// environment over the file, the file over the default.
type config struct {
	Data  string      `yaml:"data"` // data folder
	Serve serveConfig `yaml:"serve"`
	Store storeConfig `yaml:"store"`

	Encoder  encoderConfig  `yaml:"encoder"`
	Reranker rerankerConfig `yaml:"reranker"`
	Models   modelsConfig   `yaml:"models"`
	Traces   tracesConfig   `yaml:"traces"`
	Fetch    fetchConfig    `yaml:"fetch"`
	Chunks   chunksConfig   `yaml:"chunks"`
}

// chunksConfig says how large chunks are in collections that are made anew.
type chunksConfig struct {
	Size        int                     `yaml:"size"`    // most tokens of a chunk; 0 is 224
	Overlap     *int                    `yaml:"overlap"` // most tokens repeated from the chunk before; unset is 32
	Collections map[string]chunksConfig `yaml:"collections"`
}

// of returns what is set for a collection.
func (c chunksConfig) of(collection string) ingest.Cutting {
	out := ingest.Cutting{Size: c.Size, Overlap: c.Overlap}
	own := c.Collections[collection]
	if own.Size > 0 {
		out.Size = own.Size
	}
	if own.Overlap != nil {
		out.Overlap = own.Overlap
	}
	return out
}

// serveConfig is the part of config that the server reads. Zero values are unset.
type serveConfig struct {
	Host         string   `yaml:"host"`
	Port         *int     `yaml:"port"`
	Keys         []string `yaml:"keys"`
	AllowHosts   []string `yaml:"allow_hosts"`
	AllowOrigins []string `yaml:"allow_origins"`
	AuthUpstream bool     `yaml:"auth_upstream"`
	RootPath     string   `yaml:"root_path"`
}

// key is the one a command shows to a server that asks for one.
func (c *serveConfig) key() string {
	if len(c.Keys) == 0 {
		return ""
	}
	return c.Keys[0]
}

// environment is the process's environment by name.
type environment map[string]string

func newEnvironment(list []string) environment {
	env := make(environment, len(list))
	for _, pair := range list {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	return env
}

// loadConfig puts the layers below the flags together: the file, then the environment.
func loadConfig(path string, env environment) (config, error) {
	var c config
	if path = cmp.Or(path, env["SEXTANT_CONFIG"]); path != "" {
		if err := readConfig(path, &c); err != nil {
			return c, err
		}
	}
	c.Data = cmp.Or(env["SEXTANT_DATA"], c.Data)
	if err := c.Encoder.environment(env); err != nil {
		return c, err
	}
	c.Store.environment(env)
	c.Reranker.environment(env)
	c.Models.environment(env)
	if err := c.Traces.environment(env); err != nil {
		return c, err
	}
	c.Fetch.environment(env)
	c.Serve.Host = cmp.Or(env["API_HOST"], c.Serve.Host)
	c.Serve.RootPath = cmp.Or(env["ROOT_PATH"], c.Serve.RootPath)
	if key := env["SEXTANT_KEY"]; key != "" {
		c.Serve.Keys = []string{key}
	}
	if text := env["API_PORT"]; text != "" {
		port, err := strconv.Atoi(text)
		if err != nil {
			return c, usage("API_PORT is %q, which is no number.", text)
		}
		c.Serve.Port = &port
	}
	return c, nil
}

// readConfig reads the YAML file. A name that does not exist here is an error: a
// misspelt setting that is passed over in silence is one that does not protect.
func readConfig(path string, c *config) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fileError("read the configuration", path, err)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return &sextant.Error{Code: sextant.CodeBadRequest, Op: "read configuration", Message: fmt.Sprintf("The configuration %s cannot be read: %s.", path, strings.TrimPrefix(err.Error(), "yaml: ")),
			Hint: "It is YAML with the names that `sextant serve --help` lists."}
	}
	return nil
}

// dataFolder is where documents are kept unless something else is said: the place the
// system has for data of one user.
func dataFolder(env environment) (string, error) {
	home := cmp.Or(env["HOME"], env["USERPROFILE"])
	var base string
	switch runtime.GOOS {
	case "windows":
		base = env["LOCALAPPDATA"]
	case "darwin":
		if home != "" {
			base = filepath.Join(home, "Library", "Application Support")
		}
	default:
		// XDG Base Directory Specification: a relative path is to be ignored.
		if base = env["XDG_DATA_HOME"]; !filepath.IsAbs(base) {
			base = ""
		}
		if base == "" && home != "" {
			base = filepath.Join(home, ".local", "share")
		}
	}
	if base == "" {
		return "", usage("There is no home folder to keep data in: say where with --data DIR or SEXTANT_DATA.")
	}
	return filepath.Join(base, "sextant"), nil
}

// fileError explains why a file the user named cannot be used.
func fileError(what, path string, err error) error {
	e := &sextant.Error{Code: sextant.CodeNotFound, Op: what}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Message, e.Hint = "There is no file "+path+".", "Check the path."
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Message, e.Hint = sextant.CodeForbidden, "You may not read "+path+".", "Check who owns it and its permissions."
	default:
		e.Code, e.Message, e.Err = sextant.CodeInternal, "It is not possible to "+what+" from "+path+".", err
	}
	return e
}

// usage is the error of a command that was called wrongly.
func usage(format string, args ...any) error {
	return &sextant.Error{Code: sextant.CodeBadRequest, Op: "command line", Message: fmt.Sprintf(format, args...)}
}
