package main

import (
	"cmp"
	"strconv"
)

// setting is what is in force for one name of the configuration, and where that was said.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"` // "default", "--data", an environment variable, or "configuration" for the file
}

// settings lists what is in force, in the order of the configuration. Secrets are shown as
// being set, no more.
func (s *session) settings() []setting {
	c, e := &s.config, &s.config.Encoder
	port := ""
	if c.Serve.Port != nil {
		port = strconv.Itoa(*c.Serve.Port)
	}
	list := []setting{
		{"data", c.Data, s.dataFrom},
		s.setting("chunks.size", number(c.Chunks.Size)),
		s.setting("store.url", withoutUser(c.Store.URL), "QDRANT_URL", "CHROMA_URL"),
		s.setting("store.key", secret(c.Store.Key != ""), "QDRANT_API_KEY", "CHROMA_TOKEN"),
		s.setting("encoder.kind", e.Kind, "EMBEDDER"),
		s.setting("encoder.model", e.Model, "EMBEDDING_MODEL"),
		s.setting("encoder.base_url", e.URL, "EMBEDDING_BASE_URL", "OPENAI_BASE_URL"),
		s.setting("encoder.key", secret(e.Key != ""), "EMBEDDING_API_KEY", "OPENAI_API_KEY"),
		s.setting("encoder.dimension", number(e.Dimension), "EMBEDDING_DIMENSION"),
		s.setting("encoder.ingest.base_url", e.Ingest.URL, "EMBEDDING_INGEST_URL"),
		s.setting("encoder.ingest.key", secret(e.Ingest.Key != ""), "EMBEDDING_INGEST_KEY"),
		s.setting("reranker.model", c.Reranker.Model, "CROSS_ENCODER_MODEL"),
		s.setting("reranker.base_url", c.Reranker.URL, "RERANK_BASE_URL"),
		s.setting("reranker.name", c.Reranker.Name, "RERANK_MODEL"),
		s.setting("reranker.key", secret(c.Reranker.Key != ""), "RERANK_API_KEY"),
		s.setting("reranker.format", c.Reranker.Format, "RERANK_FORMAT"),
		s.setting("reranker.weight", c.Reranker.Weight, "RERANK_WEIGHT"),
		s.setting("models.provider", c.Models.Provider, "LLM_PROVIDER"),
		s.setting("models.base_url", c.Models.address(), modelProviders[c.Models.provider()].urlVariable),
		s.setting("models.key", secret(c.Models.Key != ""), c.Models.keyVariable()),
		s.setting("models.small", c.Models.Small, "REFINEMENT_MODEL"),
		s.setting("models.large", c.Models.Large, "GENERATION_MODEL"),
		s.setting("models.small_fallback", c.Models.SmallFallback),
		s.setting("models.large_fallback", c.Models.LargeFallback),
		s.setting("traces.off", yes(c.Traces.Off), "SEXTANT_TRACES"),
		s.setting("traces.without_content", yes(c.Traces.WithoutContent), "SEXTANT_TRACE_CONTENT"),
		s.setting("traces.mlflow", c.Traces.MLflow, "MLFLOW_TRACKING_URI"),
		s.setting("traces.experiment", experimentInForce(c.Traces), "MLFLOW_EXPERIMENT_NAME"),
		s.setting("traces.otlp", c.Traces.OTLP, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
		s.setting("serve.host", c.Serve.Host, "API_HOST"),
		s.setting("serve.port", port, "API_PORT"),
		s.setting("serve.keys", secret(len(c.Serve.Keys) > 0), "SEXTANT_KEY"),
		s.setting("serve.root_path", c.Serve.RootPath, "ROOT_PATH"),
	}
	defaults := map[string]string{"encoder.kind": "local", "serve.host": "127.0.0.1", "serve.port": "8000"}
	defaults["models.small"], defaults["models.large"] = c.Models.names()
	shown := list[:0]
	for _, set := range list {
		if set.Value = cmp.Or(set.Value, defaults[set.Name]); set.Value != "" {
			shown = append(shown, set)
		}
	}
	return shown
}

// setting finds where a value came from: the environment wins over the file.
func (s *session) setting(name, value string, variables ...string) setting {
	if value == "" {
		return setting{name, value, "default"}
	}
	for _, v := range variables {
		if s.env[v] != "" {
			return setting{name, value, v}
		}
	}
	return setting{name, value, "configuration"}
}

func secret(set bool) string {
	if set {
		return "(set)"
	}
	return ""
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// experimentInForce is shown only where it means something.
func experimentInForce(c tracesConfig) string {
	if c.MLflow == "" {
		return ""
	}
	return c.Experiment
}

// number writes a number that is set; 0 is none.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
