package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sextant-rag/sextant"
)

func problem(t *testing.T, body string) Problem {
	t.Helper()
	var p Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatalf("not a problem: %v\n%s", err, body)
	}
	return p
}

func TestAskReadsEveryField(t *testing.T) {
	f := newFake()
	h := newServer(t, f, quiet()).Handler()
	w := do(h, request("POST", "/v1/ask", `{"question": "  Any\tice? ", "collections": ["incidents"], "filter": "state = AK", "as_of": "2012-07-04", "mode": "traditional",
		"rerank": "cross_encoder", "refine": "filter", "refine_threshold": 6, "top_k": 7, "limits": {"model_calls": 3, "tokens": 9000, "rounds": 2, "wall_time": "1m30s", "cost": 0.5}, "model": "none"}`))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	want := &sextant.Question{Text: "Any ice?", Collections: []string{"incidents"}, FilterText: "state = AK", AsOf: time.Date(2012, 7, 4, 0, 0, 0, 0, time.UTC),
		Mode: sextant.Traditional, Rerank: "cross_encoder", Refine: "filter", Threshold: 6, NoModel: true, TopK: 7, Limits: sextant.Limits{ModelCalls: 3, Tokens: 9000, Rounds: 2, WallTime: 90 * time.Second, Cost: 0.5}}
	if diff := cmp.Diff(want, f.last.Load(), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestAskLimitsTime(t *testing.T) {
	for body, want := range map[string]time.Duration{`30`: 30 * time.Second, `2.5`: 2500 * time.Millisecond, `"90s"`: 90 * time.Second, `"2m"`: 2 * time.Minute, `0`: 0, `-1`: 0, `"soon"`: 0, `[1]`: 0, `1e400`: 0} {
		f := newFake()
		w := do(newServer(t, f, quiet()).Handler(), request("POST", "/v1/ask", `{"question": "Any?", "limits": {"wall_time": `+body+`}}`))
		if want == 0 {
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "wall_time") || f.asked.Load() != 0 {
				t.Errorf("wall_time %s: %d %s", body, w.Code, w.Body)
			}
			continue
		}
		if w.Code != http.StatusOK || f.last.Load().Limits.WallTime != want {
			t.Errorf("wall_time %s: %d, %v", body, w.Code, f.last.Load())
		}
	}
}

// What cannot be asked is refused before the engine hears of it, and the refusal names
// what is wrong.
func TestAskRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		body, names string
		status      int
	}{
		"ANS08 empty":           {`{"question": ""}`, "enter a question", 400},
		"ANS08 blanks":          {`{"question": "  \t\n "}`, "enter a question", 400},
		"ANS08 zero width":      {`{"question": "\u200b\u200d\ufeff"}`, "enter a question", 400},
		"ANS08 question mark":   {`{"question": "?"}`, "enter a question", 400},
		"ANS08 emoji":           {`{"question": "✈️"}`, "enter a question", 400},
		"no question":           {`{}`, "enter a question", 400},
		"null":                  {`null`, "enter a question", 400},
		"list":                  {`["What?"]`, "JSON object", 400},
		"number":                {`{"question": 7}`, "question", 400},
		"no body":               {``, "", 415},
		"half a body":           {`{"question": "Any?`, "ends too early", 400},
		"no JSON":               {`question=Any`, "byte 1", 400},
		"two bodies":            {`{"question": "Any?"} {"question": "Other?"}`, "after the end", 400},
		"unknown field":         {`{"question": "Any?", "colections": ["news"]}`, "colections", 400},
		"unknown limit":         {`{"question": "Any?", "limits": {"watts": 1}}`, "watts", 400},
		"mode":                  {`{"question": "Any?", "mode": "fast"}`, "fast", 400},
		"rerank":                {`{"question": "Any?", "rerank": "best"}`, "rerank", 400},
		"refine":                {`{"question": "Any?", "refine": "best"}`, "refine", 400},
		"model":                 {`{"question": "Any?", "model": "gpt"}`, "model", 400},
		"top_k 0":               {`{"question": "Any?", "top_k": 0}`, "top_k", 400},
		"top_k 51":              {`{"question": "Any?", "top_k": 51}`, "50", 400},
		"top_k text":            {`{"question": "Any?", "top_k": "ten"}`, "top_k", 400},
		"as_of":                 {`{"question": "Any?", "as_of": "4.7.2012"}`, "as_of", 400},
		"negative limit":        {`{"question": "Any?", "limits": {"rounds": -1}}`, "negative", 400},
		"ANS10 over the limit":  {asking(strings.Repeat("why ", 5000)), "16384", 400},
		"ANS10 a megabyte":      {asking(strings.Repeat("why ", 1<<18)), "1048576", 413},
		"deeply nested garbage": {`{"question": ` + strings.Repeat("[", 20000), "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			w := do(newServer(t, f, quiet()).Handler(), request("POST", "/v1/ask", c.body))
			if w.Code != c.status {
				t.Errorf("status %d, want %d: %.200s", w.Code, c.status, w.Body)
			}
			if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("content type %q", got)
			}
			if p := problem(t, w.Body.String()); !strings.Contains(p.Detail+p.Hint, c.names) {
				t.Errorf("%q does not name %q", p.Detail, c.names)
			}
			if f.asked.Load() != 0 {
				t.Error("the engine was asked")
			}
		})
	}
}

// ANS08, ANS09, ANS10: whatever has a letter or a digit in it is a question, and its
// characters are characters.
func TestAskTakesAnyTextAsText(t *testing.T) {
	for _, text := range []string{"x", "the of and", "§ 91.409(b)?", "N-123AB", "flown 20.4 hours", "AND OR NOT", `unbalanced "quote`, "a *", "title:x", "a/b @c #d",
		`'; DROP TABLE x;--`, `<script>alert(1)</script>`, `{{7*7}}`, `$(reboot)`, "NUL \x00 inside", "what\u202e happened", strings.Repeat("why ", 2500), "Что случилось?"} {
		f := newFake()
		w := do(newServer(t, f, quiet()).Handler(), request("POST", "/v1/ask", asking(text)))
		if w.Code != http.StatusOK {
			t.Errorf("%.40q: status %d", text, w.Code)
			continue
		}
		if got := f.last.Load().Text; got != sextant.CleanText(text) || !utf8.ValidString(got) {
			t.Errorf("%.40q arrived as %.40q", text, got)
		}
	}
	f := newFake()
	w := do(newServer(t, f, quiet()).Handler(), request("POST", "/v1/ask", `{"question": "lone \ud800 surrogate"}`))
	if w.Code != http.StatusOK || f.last.Load().Text != "lone � surrogate" {
		t.Errorf("lone surrogate: %d, %q", w.Code, f.last.Load().Text)
	}
}

func TestAskTellsFailuresWithoutTheirInside(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status int
		code   sextant.Code
	}{
		"typed":    {&sextant.Error{Code: sextant.CodeConflict, Message: "The encoder differs.", Hint: "Run sextant reembed.", Err: errors.New("secret")}, 409, sextant.CodeConflict},
		"untyped":  {errors.New("dial tcp 10.0.0.7: secret"), 500, sextant.CodeInternal},
		"deadline": {context.DeadlineExceeded, 504, codeTimeout},
		"unknown":  {&sextant.Error{Code: "strange", Message: "Strange."}, 500, "strange"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.during = func(context.Context, string) error { return c.err }
			w := do(newServer(t, f, quiet()).Handler(), request("POST", "/v1/ask", asking(causal().Question)))
			p := problem(t, w.Body.String())
			if w.Code != c.status || p.Status != c.status || p.Code != c.code {
				t.Errorf("%d, %+v", w.Code, p)
			}
			if strings.Contains(w.Body.String(), "secret") {
				t.Errorf("shows the cause: %s", w.Body)
			}
			if c.status == 500 && !strings.Contains(p.Hint, w.Header().Get(requestIDHeader)) {
				t.Errorf("no way from %q to the log", p.Hint)
			}
		})
	}
}

func TestPanicsAreProblems(t *testing.T) {
	f := newFake()
	f.during = func(context.Context, string) error { panic("secret") }
	h := newServer(t, f, quiet()).Handler()
	for _, accept := range []string{"application/json", "text/event-stream"} {
		w := do(h, request("POST", "/v1/ask", asking(causal().Question), "Accept", accept))
		if strings.Contains(w.Body.String(), "secret") || strings.Contains(w.Body.String(), "goroutine") || !strings.Contains(w.Body.String(), `"code":"internal"`) {
			t.Errorf("%s: %s", accept, w.Body)
		}
	}
	if w := do(h, request("POST", "/v1/ask", asking(causal().Question))); w.Code != http.StatusInternalServerError {
		t.Errorf("status %d", w.Code)
	}
}

// A panic in a handler itself, not in the engine's goroutine.
func TestHandlerPanicsAreProblems(t *testing.T) {
	h := newServer(t, nil, quiet()).Handler()
	w := do(h, request("GET", "/v1/collections", ""))
	if w.Code != http.StatusInternalServerError || problem(t, w.Body.String()).Code != sextant.CodeInternal {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func FuzzAsk(f *testing.F) {
	for _, seed := range []string{asking("What happened?"), `{"question": "Any?", "top_k": 5, "as_of": "2012-07-04"}`, `{"question": "Any?", "limits": {"wall_time": "1m"}}`,
		`{"question": "\ud800"}`, `[]`, `{"question": {"question": "x"}}`, "\xff\xfe", `{"Question": "x", "question": "y"}`} {
		f.Add([]byte(seed))
	}
	s, err := New(newFake(), quiet())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{"/v1/ask", "/api/query"} {
			w := do(s.Handler(), request("POST", path, string(body), "Content-Type", "application/json"))
			if w.Code >= 500 {
				t.Errorf("%s: status %d: %s", path, w.Code, w.Body)
			}
			if !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s: %q is not JSON", path, w.Body)
			}
		}
	})
}

// BenchmarkAsk is what the surface adds to a question: the fake engine answers at once.
func BenchmarkAsk(b *testing.B) {
	s, err := New(newFake(), quiet())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if w := do(s.Handler(), request("POST", "/v1/ask", asking(byYear().Question))); w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}
