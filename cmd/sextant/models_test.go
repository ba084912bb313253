package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/pipeline"
)

func modelsOf(t *testing.T, file string, pairs ...string) (config, pipeline.Models, error) {
	t.Helper()
	env := environment{}
	for i := 0; i+1 < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	path := ""
	if file != "" {
		path = filepath.Join(t.TempDir(), "sextant.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := loadConfig(path, env)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Models.models()
	return c, m, err
}

func TestModelsFromTheEnvironment(t *testing.T) {
	for name, tt := range map[string]struct {
		file         string
		env          []string
		small, large string // "" is none
	}{
		"nothing":                            {"", nil, "", ""},
		"a key for something else":           {"", []string{"OPENAI_API_KEY", "k", "ANTHROPIC_API_KEY", "k"}, "", ""},
		"none":                               {"", []string{"LLM_PROVIDER", "none", "REFINEMENT_MODEL", "x"}, "", ""},
		"the blueprint's defaults":           {"", []string{"LLM_PROVIDER", "anthropic", "ANTHROPIC_API_KEY", "k"}, "claude-3-haiku-20240307", "claude-sonnet-4-20250514"},
		"the other provider's":               {"", []string{"LLM_PROVIDER", "openai", "OPENAI_API_KEY", "k"}, "gpt-4o-mini", "gpt-4o"},
		"models by name":                     {"", []string{"LLM_PROVIDER", "openai", "OPENAI_API_KEY", "k", "REFINEMENT_MODEL", "s", "GENERATION_MODEL", "l"}, "s", "l"},
		"a model alone is the default's":     {"", []string{"ANTHROPIC_API_KEY", "k", "GENERATION_MODEL", "claude-x"}, "claude-3-haiku-20240307", "claude-x"},
		"a server without a key":             {"", []string{"LLM_PROVIDER", "openai", "OPENAI_BASE_URL", "http://127.0.0.1:8080/v1", "GENERATION_MODEL", "l"}, "gpt-4o-mini", "l"},
		"the file":                           {"models:\n  provider: anthropic\n  base_url: http://127.0.0.1:1\n  small: s\n  large: l\n", nil, "s", "l"},
		"the environment wins over the file": {"models: {provider: anthropic, key: k, small: s}\n", []string{"LLM_PROVIDER", "openai", "OPENAI_API_KEY", "k", "REFINEMENT_MODEL", "t"}, "t", "gpt-4o"},
	} {
		_, m, err := modelsOf(t, tt.file, tt.env...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var small, large string
		if m.Small != nil {
			small, large = m.Small.Name(), m.Large.Name()
		}
		if small != tt.small || large != tt.large {
			t.Errorf("%s: %q and %q", name, small, large)
		}
	}
}

func TestModelsThatCannotBe(t *testing.T) {
	for name, tt := range map[string]struct {
		env  []string
		says string
	}{
		"an unknown provider":     {[]string{"LLM_PROVIDER", "acme"}, "anthropic, openai or none"},
		"no key":                  {[]string{"LLM_PROVIDER", "anthropic"}, "no key"},
		"another provider's key":  {[]string{"LLM_PROVIDER", "openai", "ANTHROPIC_API_KEY", "k"}, "no key"},
		"a model without its key": {[]string{"REFINEMENT_MODEL", "claude-x"}, "no key"},
		"no address":              {[]string{"LLM_PROVIDER", "openai", "OPENAI_BASE_URL", "localhost:8080"}, "no http or https URL"},
	} {
		_, _, err := modelsOf(t, "", tt.env...)
		if err == nil || sextant.ErrorCode(err) != sextant.CodeBadRequest || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A provider's key never goes to a server that only the file names; that one has its own.
func TestKeysGoWhereTheyBelong(t *testing.T) {
	var shown []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = append(shown, r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"content":"ok"}}]}`)
	}))
	defer server.Close()
	for _, tt := range []struct {
		file string
		env  []string
		want string
	}{
		{"models: {provider: openai, base_url: " + server.URL + "}\n", []string{"OPENAI_API_KEY", "theirs"}, ""},
		{"models: {provider: openai, base_url: " + server.URL + ", key: its}\n", []string{"OPENAI_API_KEY", "theirs"}, "Bearer its"},
		{"models: {provider: openai}\n", []string{"OPENAI_API_KEY", "theirs", "OPENAI_BASE_URL", server.URL}, "Bearer theirs"},
	} {
		_, m, err := modelsOf(t, tt.file, tt.env...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Large.Complete(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hi"}}}); err != nil {
			t.Fatal(err)
		}
		if got := shown[len(shown)-1]; got != tt.want {
			t.Errorf("%s %v: %q", tt.file, tt.env, got)
		}
	}
}

// Every value is shown with where it came from; no key, and no password of an address.
func TestModelsAmongTheSettings(t *testing.T) {
	env := environment{"LLM_PROVIDER": "openai", "OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": "http://u:secret@h/v1", "GENERATION_MODEL": "l", "EMBEDDING_BASE_URL": "http://e"}
	c, err := loadConfig("", env)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, set := range (&session{config: c, env: env}).settings() {
		if strings.HasPrefix(set.Name, "models.") {
			got[set.Name] = set.Value + " from " + set.From
		}
	}
	want := map[string]string{"models.provider": "openai from LLM_PROVIDER", "models.base_url": "http://u:xxxxx@h/v1 from OPENAI_BASE_URL", "models.key": "(set) from OPENAI_API_KEY",
		"models.small": "gpt-4o-mini from default", "models.large": "l from GENERATION_MODEL"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	s := &session{config: config{Data: t.TempDir(), Encoder: encoderConfig{Kind: "none"}, Models: modelsConfig{Provider: "anthropic"}}, env: env}
	if d, err := s.examine(t.Context()); err != nil || len(d.Problems) == 0 || !strings.Contains(d.Problems[0].Remedy, "ANTHROPIC_API_KEY") {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
	recorded, err := json.Marshal(c.withoutSecrets().Models)
	if err != nil || strings.Contains(string(recorded), "sk-secret") {
		t.Errorf("%s %v", recorded, err)
	}
}

func TestModelsOfTheFile(t *testing.T) {
	c, m, err := modelsOf(t, "models:\n  provider: openai\n  base_url: http://127.0.0.1:1/v1\n  small: s\n  large: l\n  large_fallback: m\n  timeout: 20s\n  attempts: 2\n  prices:\n    l: {input: 3, output: 15}\n")
	if err != nil || m.Small.Name() != "s" || m.Large.Name() != "l" || c.Models.LargeFallback != "m" || c.Models.Timeout.String() != "20s" || c.Models.Prices["l"].Output != 15 {
		t.Errorf("%+v %v", c.Models, err)
	}
}
