package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// secretSetting is a setting whose value is shown nowhere.
type secretSetting struct {
	name     string // in the configuration, or of what reads it
	variable string // environment variable that can hold it
	value    string // from file or environment
}

func (s secretSetting) isSet(env environment) bool { return s.value != "" || env[s.variable] != "" }

// secrets lists every secret of the configuration. A new one must be added here: a test
// goes through the fields of config and looks for names that sound like one.
func (c config) secrets() []secretSetting {
	return []secretSetting{
		{"serve.keys", "SEXTANT_KEY", c.Serve.key()},
		{"encoder.key", "EMBEDDING_API_KEY", c.Encoder.Key},
		{"encoder.ingest.key", "EMBEDDING_INGEST_KEY", c.Encoder.Ingest.Key},
		{"reranker.key", "RERANK_API_KEY", c.Reranker.Key},
		{"models.key", c.Models.keyVariable(), c.Models.Key},
		{"openai", "OPENAI_API_KEY", ""},
		{"anthropic", "ANTHROPIC_API_KEY", ""},
		{"store.key", c.Store.keyVariable(), c.Store.Key},
		{"mlflow.password", "MLFLOW_TRACKING_PASSWORD", ""},
		{"mlflow.token", "MLFLOW_TRACKING_TOKEN", ""},
		{"otlp.headers", "OTEL_EXPORTER_OTLP_HEADERS", ""},
	}
}

func (c config) withoutSecrets() config {
	c.Serve.Keys, c.Store.Key, c.Encoder.Key, c.Encoder.Ingest.Key, c.Reranker.Key, c.Models.Key = nil, "", "", "", "", ""
	if c.Store.URL != "" {
		c.Store.URL = withoutUser(c.Store.URL)
	}
	return c
}

// jsonOfYAML gives a configuration the names it has in its file.
func jsonOfYAML(c config) (json.RawMessage, error) {
	data, err := yaml.Marshal(c)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// yamlOfSettings is the file that starts a system with recorded settings. Which secrets it
// needs, it says at its top.
func yamlOfSettings(recorded json.RawMessage) ([]byte, error) {
	var k configuration
	if err := json.Unmarshal(recorded, &k); err != nil || k.Settings == nil {
		return nil, fmt.Errorf("the record holds no configuration: %w", err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(k.Settings, &tree); err != nil { // JSON is YAML, and YAML keeps whole numbers whole
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Configuration of sextant %s.\n", k.Version)
	for _, s := range (config{}).secrets() {
		if variable, set := k.Secrets[s.name]; set {
			fmt.Fprintf(&out, "# The secret %s is not in this file: set %s.\n", s.name, variable)
		}
	}
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(tree); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
