package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/trace"
)

// The life of a trace at the command line: asked, listed, shown, exported, replayed from
// the archive and from the file, and the configuration that it was made with restored.
func TestTraceVerbs(t *testing.T) {
	data := filled(t, 60)
	work := t.TempDir()
	sx := func(args ...string) (string, int) {
		t.Helper()
		r := sextantIn(t, data, args...)
		if r.code != 0 && r.code != exitDiffers {
			t.Logf("%v: exit %d: %s", args, r.code, r.err)
		}
		return r.out, r.code
	}
	sx("ask", "How many accidents were there in 2008?")
	out, _ := sx("trace", "list", "--json")
	var list []trace.Listed
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 || list[0].Status != "answered" {
		t.Fatalf("%v %s", err, out)
	}
	id := list[0].TraceID
	if out, _ := sx("trace", "list"); !strings.Contains(out, id) {
		t.Errorf("the list cuts ids: %s", out)
	}
	if out, _ := sx("trace", "show", id); !strings.Contains(out, "constraint_validation") {
		t.Errorf("show: %s", out)
	}
	file := filepath.Join(work, "trace.json")
	sx("trace", "export", id, file)
	for _, what := range []string{id, file} {
		if out, code := sx("trace", "replay", what); code != 0 || !strings.Contains(out, "byte for byte") {
			t.Errorf("replay %s: exit %d: %s", what, code, out)
		}
	}
	restored := filepath.Join(work, "restored.yaml")
	if _, code := sx("config", "restore", "--from", id, restored); code != 0 {
		t.Errorf("restore: exit %d", code)
	}
	if _, code := sx("config", "restore", "--from", id, restored); code == 0 {
		t.Error("restore wrote over a file")
	}
	if _, code := sx("trace", "show", "nonsense"); code != exitUsage {
		t.Errorf("show nonsense: exit %d", code)
	}
	if _, code := sx("trace", "show", trace.NewID().String()); code != exitFailure {
		t.Errorf("show of an unknown trace: exit %d", code)
	}
	if _, code := sx("trace", "replay", restored+".json"); code == 0 {
		t.Error("replayed a file that is not there")
	}
}

// What a trace keeps of the configuration starts the same system, and holds no secret.
func TestConfigurationsComeBackFromTraces(t *testing.T) {
	const canary = "c4n4ry"
	env := environment{"SEXTANT_KEY": canary + "1", "API_PORT": "8123", "EMBEDDER": "none", "EMBEDDING_API_KEY": canary + "2", "MLFLOW_TRACKING_URI": "http://mlflow.example:5000",
		"MLFLOW_TRACKING_PASSWORD": canary + "3", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector.example:4318", "OTEL_EXPORTER_OTLP_HEADERS": "key=" + canary + "4", "ROOT_PATH": "/apps/sextant"}
	first, err := loadConfig("", env)
	if err != nil {
		t.Fatal(err)
	}
	first.Data = "/somewhere"
	s := &session{env: env, config: first}
	recorded, err := s.effective()
	if err != nil {
		t.Fatal(err)
	}
	file, err := yamlOfSettings(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(recorded)+string(file), canary) {
		t.Errorf("a secret is in the record:\n%s\n%s", recorded, file)
	}
	for _, variable := range []string{"SEXTANT_KEY", "EMBEDDING_API_KEY", "MLFLOW_TRACKING_PASSWORD", "OTEL_EXPORTER_OTLP_HEADERS"} {
		if !strings.Contains(string(file), variable) {
			t.Errorf("the file does not say that %s is needed:\n%s", variable, file)
		}
	}
	path := filepath.Join(t.TempDir(), "restored.yaml")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := loadConfig(path, environment{})
	if err != nil {
		t.Fatal(err)
	}
	normal := func(c config) string { out, _ := jsonOfYAML(c.withoutSecrets()); return string(out) }
	if d := cmp.Diff(normal(first), normal(second)); d != "" {
		t.Error(d)
	}
}

// Every field of the configuration that sounds like a secret is emptied before it is
// recorded.
func TestNoSecretIsForgotten(t *testing.T) {
	var c config
	fill(reflect.ValueOf(&c).Elem(), "")
	walk(reflect.ValueOf(c.withoutSecrets()), "", func(name, value string) {
		for _, word := range []string{"key", "token", "password", "secret"} {
			if strings.Contains(strings.ToLower(name), word) && value != "" {
				t.Errorf("%s is recorded", name)
			}
		}
	})
}

func fill(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.ValueOf([]string{"x"}))
		}
	}
}

func walk(v reflect.Value, name string, see func(name, value string)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), name+"."+v.Type().Field(i).Name, see)
		}
	case reflect.String:
		see(name, v.String())
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), name, see)
		}
	}
}
