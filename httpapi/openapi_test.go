package httpapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sextant-rag/sextant"
)

// TestGoldenFilesFitTheSchemas holds what is written against what is promised: every
// golden body is valid under the schema the OpenAPI document gives for it, with no
// member the schema does not know.
func TestGoldenFilesFitTheSchemas(t *testing.T) {
	s := newServer(t, newFake(), quiet())
	registry := openAPI(s.routes(), s.config).Components.Schemas
	for _, schema := range registry.Map() {
		if schema.Type == huma.TypeObject && schema.AdditionalProperties == nil {
			schema.AdditionalProperties = false
		}
		schema.PrecomputeMessages()
	}
	for pattern, v := range map[string]any{
		"answer_*.json": sextant.Answer{}, "search.json": sextant.SearchResult{}, "count.json": countResponse{}, "collections.json": collectionList{},
		"describe*.json": sextant.Description{}, "document.json": sextant.Document{}, "health*.json": health{}, "ready.json": readiness{},
		"api_query*.json": queryResponse{}, "api_baseline*.json": baselineResponse{}, "api_re*_modes.json": modeList{}, "retrieve_*.json": retrieveResponse{},
		"problem_*.json": Problem{}, "api_unavailable.json": Problem{}, "invalid_*.json": validationError{},
	} {
		files, _ := filepath.Glob(filepath.Join("testdata", pattern))
		if len(files) == 0 {
			t.Errorf("no golden file %s", pattern)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var body any
			if err := json.Unmarshal(data, &body); err != nil {
				t.Fatal(err)
			}
			path, result := huma.NewPathBuffer([]byte(file), 0), &huma.ValidateResult{}
			schema := registry.SchemaFromRef(schemaOf(registry, v).Ref)
			huma.Validate(registry, schema, path, huma.ModeReadFromServer, body, result)
			for _, e := range result.Errors {
				t.Errorf("%s: %v", reflect.TypeOf(v), e)
			}
		}
	}
}

func TestOpenAPINamesEveryRouteAndItsKey(t *testing.T) {
	config := quiet()
	config.Keys, config.RootPath = []string{"secret"}, "/apps/sextant"
	s := newServer(t, newFake(), config)
	w := do(s.Handler(), request("GET", "/openapi.json", "", "Authorization", "Bearer secret"))
	var doc struct {
		Paths   map[string]map[string]struct{ Security []map[string][]string }
		Servers []struct{ URL string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.routes() {
		op, listed := doc.Paths[strings.ReplaceAll(r.path, "...}", "}")][strings.ToLower(r.method)]
		if listed == (r.traits&hidden != 0) {
			t.Errorf("%s %s: listed %v", r.method, r.path, listed)
		}
		if listed && (len(op.Security) > 0) == (r.traits&free != 0) {
			t.Errorf("%s %s: security %v", r.method, r.path, op.Security)
		}
	}
	if len(doc.Servers) != 1 || doc.Servers[0].URL != "/apps/sextant" {
		t.Errorf("servers: %v", doc.Servers)
	}
}
