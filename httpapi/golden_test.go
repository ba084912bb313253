package httpapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with testdata/name, which -update rewrites. JSON is compared as it
// stands on the wire, only indented.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if strings.HasSuffix(name, ".json") {
		var b bytes.Buffer
		if err := json.Indent(&b, bytes.TrimSpace(got), "", "  "); err != nil {
			t.Fatalf("%s is not JSON: %v\n%s", name, err, got)
		}
		got = append(b.Bytes(), '\n')
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites):\n%s", name, diff)
	}
}

// quiet is a configuration whose log goes nowhere.
func quiet() Config {
	return Config{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "1.2.3", Models: Models{Embedding: "all-MiniLM-L6-v2"}, Blueprint: aviation()}
}

// aviation is a Blueprint as the domain's wiring hands it in.
func aviation() Blueprint {
	equals := func(field string) func(string) (string, error) {
		return func(value string) (string, error) {
			if strings.Contains(value, "\n") {
				return "", badRequest("A header filter is one line.", "")
			}
			return field + ` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`, nil
		}
	}
	return Blueprint{
		Constraints: map[string]string{"state": "location", "city": "location", "country": "location", "airport": "location", "event_date": "date",
			"make": "aircraft", "model": "aircraft", "registration": "registration", "event_id": "event_id", "accident_number": "event_id", "cfr_part": "regulation", "cfr_section": "regulation"},
		Headers: map[string]map[string]func(string) (string, error){"incidents": {"event_id": equals("event_id"), "weather_condition": equals("weather")}},
	}
}

func newServer(t *testing.T, engine Engine, config Config) *Server {
	t.Helper()
	s, err := New(engine, config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask is a request as a program sends it.
func request(method, target, body string, header ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:8000"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func do(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func asking(question string) string {
	b, _ := json.Marshal(map[string]string{"question": question})
	return string(b)
}

func TestGoldenAnswers(t *testing.T) {
	h := newServer(t, newFake(), quiet()).Handler()
	for name, a := range map[string]sextant.Answer{
		"answered": causal(), "partial": partial(), "no_data": noData(), "insufficient_evidence": notHeld(), "out_of_scope": outOfScope(),
		"needs_clarification": ambiguous(), "budget_exhausted": exhausted(), "source_unavailable": unavailable(), "everything": everything(), "misread": misread(),
		"computed_group": byYear(), "computed_list": listed(), "computed_compare": compared(), "computed_top": topMakes(),
		"computed_share": share(), "computed_first": first(), "computed_last": last(), "computed_sum": sum(), "hostile": hostile(),
	} {
		t.Run(name, func(t *testing.T) {
			w := do(h, request("POST", "/v1/ask", asking(a.Question)))
			if w.Code != a.Status.HTTPStatus() {
				t.Errorf("status %d, want %d", w.Code, a.Status.HTTPStatus())
			}
			golden(t, "answer_"+name+".json", w.Body.Bytes())
			if bytes.Contains(w.Body.Bytes(), []byte(`":null`)) {
				t.Errorf("a member of the answer is null: %s", w.Body)
			}
		})
	}
}

func TestGoldenEvents(t *testing.T) {
	f := newFake()
	h := newServer(t, f, quiet()).Handler()
	for name, r := range map[string]*http.Request{
		"events_answered.sse":  request("POST", "/v1/ask", asking(causal().Question), "Accept", "text/event-stream"),
		"events_computed.sse":  request("POST", "/v1/ask", asking(byYear().Question), "Accept", "text/event-stream"),
		"events_no_data.sse":   request("POST", "/v1/ask", asking(noData().Question), "Accept", "text/event-stream"),
		"events_bad_query.sse": request("POST", "/v1/ask", `{"question": "Any?", "filter": "nonsense"}`, "Accept", "text/event-stream"),
	} {
		t.Run(name, func(t *testing.T) {
			w := do(h, r)
			if w.Code != http.StatusOK {
				t.Errorf("status %d", w.Code)
			}
			golden(t, name, w.Body.Bytes())
		})
	}
}

func TestGoldenRoutes(t *testing.T) {
	h := newServer(t, newFake(), quiet()).Handler()
	down := newFake()
	down.down = errDown
	ill := newServer(t, down, quiet()).Handler()
	for _, c := range []struct {
		file    string
		handler http.Handler
		request *http.Request
		status  int
	}{
		{"search.json", h, request("POST", "/v1/search", `{"query": "carburetor ice", "filter": "state = AK"}`), 200},
		{"list.json", h, request("POST", "/v1/list", `{"collection": "incidents", "filter": "state = AK", "limit": 1}`), 200},
		{"list_cursor.json", h, request("POST", "/v1/list", `{"collection": "incidents", "after": "x"}`), 400},
		{"list_collection.json", h, request("POST", "/v1/list", `{}`), 400},
		{"count.json", h, request("POST", "/v1/count", `{"collection": "incidents", "filter": "state = AK and severity = fatal"}`), 200},
		{"collections.json", h, request("GET", "/v1/collections", ""), 200},
		{"describe.json", h, request("GET", "/v1/collections/incidents", ""), 200},
		{"describe_empty.json", h, request("GET", "/v1/collections/regulations", ""), 200},
		{"document.json", h, request("GET", "/v1/documents/ntsb:20100701X33001", ""), 200},
		{"health.json", h, request("GET", "/health", ""), 200},
		{"health_degraded.json", ill, request("GET", "/health", ""), 200},
		{"ready.json", h, request("GET", "/ready", ""), 200},
		{"index.json", h, request("GET", "/", "", "Accept", "application/json"), 200},
		{"openapi.json", h, request("GET", "/openapi.json", ""), 200},

		{"api_query.json", h, request("POST", "/api/query", asking(causal().Question)), 200},
		{"api_query_no_data.json", h, request("POST", "/api/query", asking(noData().Question)), 200},
		{"api_query_computed.json", h, request("POST", "/api/query", `{"question": "`+byYear().Question+`", "include_trace": false, "sources": ["incidents"], "top_k": "7", "unknown": 1}`), 200},
		{"api_query_everything.json", h, request("POST", "/api/query", asking(everything().Question)), 200},
		{"api_baseline.json", h, request("POST", "/api/query/baseline", asking(causal().Question)), 200},
		{"api_baseline_trace.json", h, request("POST", "/api/query/baseline", `{"question": "`+causal().Question+`", "include_trace": true}`), 200},
		{"api_refinement_modes.json", h, request("GET", "/api/query/refinement-modes", ""), 200},
		{"api_reranking_modes.json", h, request("GET", "/api/query/reranking-modes", ""), 200},
		{"retrieve_incidents.json", h, request("POST", "/retrieve/incidents", `{"query": "carburetor ice", "top_k": 3, "header_filters": {"weather_condition": "VMC"}}`), 200},

		{"invalid_missing.json", h, request("POST", "/api/query", `{"top_k": 51, "refinement_mode": "wash", "sources": ["incidents", "gossip"]}`), 422},
		{"invalid_blank.json", h, request("POST", "/api/query", `{"question": " \u200b "}`), 422},
		{"invalid_json.json", h, request("POST", "/api/query", `{"question": `), 422},
		{"invalid_body.json", h, request("POST", "/api/query/baseline", `["question"]`), 422},
		{"invalid_types.json", h, request("POST", "/api/query", `{"question": 7, "top_k": "ten", "include_trace": "maybe", "sources": "news"}`), 422},
		{"invalid_header_filter.json", h, request("POST", "/retrieve/incidents", `{"query": "ice", "header_filters": {"location": "AK"}}`), 422},
		{"api_unavailable.json", h, request("POST", "/api/query", asking(unavailable().Question)), 503},

		{"problem_unknown_field.json", h, request("POST", "/v1/ask", `{"question": "Any?", "fliter": "state = AK"}`), 400},
		{"problem_blank.json", h, request("POST", "/v1/ask", `{"question": "  "}`), 400},
		{"problem_date.json", h, request("POST", "/v1/ask", `{"question": "Any?", "as_of": "last year"}`), 400},
		{"problem_filter.json", h, request("POST", "/v1/ask", `{"question": "Any?", "filter": "nonsense"}`), 400},
		{"problem_not_found.json", h, request("GET", "/v1/collections/gossip", ""), 404},
		{"problem_no_route.json", h, request("GET", "/v2/ask", ""), 404},
		{"problem_method.json", h, request("GET", "/v1/ask", ""), 405},
		{"problem_media_type.json", h, request("POST", "/v1/ask", asking("Any?"), "Content-Type", "text/plain"), 415},
		{"problem_too_large.json", h, request("POST", "/v1/ask", asking(strings.Repeat("long ", 1<<18))), 413},
		{"problem_origin.json", h, request("POST", "/v1/ask", asking("Any?"), "Origin", "https://evil.example"), 403},
		{"problem_not_ready.json", ill, request("GET", "/ready", ""), 503},
	} {
		t.Run(c.file, func(t *testing.T) {
			w := do(c.handler, c.request)
			if w.Code != c.status {
				t.Errorf("status %d, want %d", w.Code, c.status)
			}
			golden(t, c.file, w.Body.Bytes())
			if strings.Contains(w.Body.String(), "secret") {
				t.Errorf("the response shows the inside of an error: %s", w.Body)
			}
		})
	}
}
