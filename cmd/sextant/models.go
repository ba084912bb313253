package main

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/anthropic"
	"github.com/sextant-rag/sextant/llm/openai"
	"github.com/sextant-rag/sextant/pipeline"
)

// modelsConfig says which language models help with a question. Without a provider none
// does, and nothing leaves the machine: a key that lies in the environment for something
// else is no wish to send questions and passages somewhere.
type modelsConfig struct {
	Provider string `yaml:"provider"` // one of providers (LLM_PROVIDER)
	URL      string `yaml:"base_url"` // of a server of that provider's API (ANTHROPIC_BASE_URL, OPENAI_BASE_URL)
	Key      string `yaml:"key"`      // for that server (ANTHROPIC_API_KEY, OPENAI_API_KEY)
	Small    string `yaml:"small"`    // understands questions, judges passages (REFINEMENT_MODEL)
	Large    string `yaml:"large"`    // writes findings (GENERATION_MODEL)

	SmallFallback string        `yaml:"small_fallback"` // of the same provider, asked once where the small one fails
	LargeFallback string        `yaml:"large_fallback"`
	Timeout       time.Duration `yaml:"timeout"`  // of one attempt; 0: a minute
	Attempts      int           `yaml:"attempts"` // of one call; 0: 3
	// Prices are what models cost, by name, in US dollars for a million tokens: what limits of
	// cost are counted by. A model without one costs nothing as far as they know.
	Prices map[string]modelPrice `yaml:"prices"`
}

type modelPrice struct {
	Input        float64 `yaml:"input"`
	Output       float64 `yaml:"output"`
	CacheRead    float64 `yaml:"cache_read"`
	CacheWritten float64 `yaml:"cache_written"`
}

// modelProvider is an API that models can be asked by: where it is, what the blueprint calls
// its settings, which models it takes by default.
type modelProvider struct {
	url                      string
	urlVariable, keyVariable string
	small, large             string
	open                     func(c modelsConfig, model string) (llm.Model, error)
}

var modelProviders = map[string]modelProvider{
	"anthropic": {anthropic.DefaultURL, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "claude-3-haiku-20240307", "claude-sonnet-4-20250514", func(c modelsConfig, model string) (llm.Model, error) {
		return anthropic.New(anthropic.Options{BaseURL: c.URL, Key: c.Key, Model: model})
	}},
	"openai": {"https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY", "gpt-4o-mini", "gpt-4o", func(c modelsConfig, model string) (llm.Model, error) {
		return openai.New(openai.Options{BaseURL: c.URL, Key: c.Key, Model: model})
	}},
}

// provider is the one in force: a model that is named by itself is of the blueprint's
// default.
func (c *modelsConfig) provider() string {
	if c.Provider == "" && c.Small+c.Large != "" {
		return "anthropic"
	}
	return c.Provider
}

// environment lays what the environment says over c. A provider's own key goes only to the
// provider's own address, or the one that its own variable names: a server of the file has
// its key there.
func (c *modelsConfig) environment(env environment) {
	c.Provider = cmp.Or(env["LLM_PROVIDER"], c.Provider)
	c.Small = cmp.Or(env["REFINEMENT_MODEL"], c.Small)
	c.Large = cmp.Or(env["GENERATION_MODEL"], c.Large)
	p, ok := modelProviders[c.provider()]
	if !ok {
		return
	}
	if address := env[p.urlVariable]; address != "" || c.URL == "" {
		c.URL, c.Key = address, cmp.Or(env[p.keyVariable], c.Key)
	}
}

// names are the models in force, "" without a provider.
func (c *modelsConfig) names() (small, large string) {
	p, ok := modelProviders[c.provider()]
	if !ok {
		return "", ""
	}
	return cmp.Or(c.Small, p.small), cmp.Or(c.Large, p.large)
}

// keyVariable is the environment variable of the key, "" without a provider.
func (c *modelsConfig) keyVariable() string { return modelProviders[c.provider()].keyVariable }

// address is the server's as it may be shown.
func (c *modelsConfig) address() string {
	u, err := url.Parse(c.URL)
	if err != nil {
		return ""
	}
	return u.Redacted()
}

// models makes the models that the settings name, without talking to them: the only place
// that does. One breaker guards both, as they are one provider's.
func (c modelsConfig) models() (pipeline.Models, error) {
	name := c.provider()
	if name == "" || name == "none" {
		return pipeline.Models{}, nil
	}
	p, ok := modelProviders[name]
	if !ok {
		return pipeline.Models{}, usage("LLM_PROVIDER is %q; it can be anthropic, openai or none.", name)
	}
	if c.URL = cmp.Or(c.URL, p.url); c.Key == "" && strings.TrimRight(c.URL, "/") == p.url {
		return pipeline.Models{}, &sextant.Error{Code: sextant.CodeBadRequest, Op: "models", Message: fmt.Sprintf("LLM_PROVIDER is %s, and there is no key for it.", name),
			Hint: fmt.Sprintf("Set %s, name a server that needs none with %s, or set LLM_PROVIDER=none to answer without a model.", p.keyVariable, p.urlVariable)}
	}
	var out pipeline.Models
	breaker := &llm.Breaker{}
	small, large := c.names()
	for _, role := range []struct {
		name, fallback string
		into           **llm.Caller
	}{{small, c.SmallFallback, &out.Small}, {large, c.LargeFallback, &out.Large}} {
		m, err := p.open(c, role.name)
		if err != nil {
			return pipeline.Models{}, usage("The model %s cannot be used: %v.", role.name, err)
		}
		policy := llm.Policy{Breaker: breaker, Timeout: c.Timeout, Attempts: c.Attempts, Price: llm.Price(c.Prices[role.name])}
		if role.fallback != "" {
			if policy.Fallback, err = p.open(c, role.fallback); err != nil {
				return pipeline.Models{}, usage("The model %s cannot be used: %v.", role.fallback, err)
			}
		}
		*role.into = llm.NewCaller(m, policy)
	}
	return out, nil
}
