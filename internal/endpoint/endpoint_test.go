package endpoint_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sextant-rag/sextant/internal/endpoint"
)

const key = "sk-very-secret"

// A transport answers requests in the process, so that time can be made up.
type transport func(n int, r *http.Request) (*http.Response, error)

type counted struct {
	answer transport
	n      int
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n++
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	return c.answer(c.n, r)
}

func response(status int, body string, headers ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func newClient(t testing.TB, answer transport, change func(*endpoint.Options)) (*endpoint.Client, *counted) {
	t.Helper()
	c := &counted{answer: answer}
	o := endpoint.Options{Service: "the test server", URL: "https://user:pw@models.example/v1/x?api-key=hidden", Key: key, HTTP: &http.Client{Transport: c}}
	if change != nil {
		change(&o)
	}
	client, err := endpoint.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return client, c
}

func TestBusyServersAreAskedAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		answer transport
		waits  [2]time.Duration // least and most
	}{
		"broken":      {func(int, *http.Request) (*http.Response, error) { return response(503, ""), nil }, [2]time.Duration{125e6, 250e6}},
		"unreachable": {func(int, *http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }, [2]time.Duration{125e6, 250e6}},
		"seconds":     {func(int, *http.Request) (*http.Response, error) { return response(429, "", "Retry-After", "7"), nil }, [2]time.Duration{7e9, 7e9}},
		"milliseconds": {func(int, *http.Request) (*http.Response, error) {
			return response(429, "", "Retry-After-Ms", "900"), nil
		}, [2]time.Duration{9e8, 9e8}},
		"a date": {func(int, *http.Request) (*http.Response, error) {
			return response(429, "", "Retry-After", time.Now().Add(9*time.Second).UTC().Format(http.TimeFormat)), nil
		}, [2]time.Duration{8e9, 9e9}},
		"nonsense": {func(int, *http.Request) (*http.Response, error) { return response(429, "", "Retry-After", "soon"), nil }, [2]time.Duration{125e6, 250e6}},
		"a date long past": {func(int, *http.Request) (*http.Response, error) {
			return response(429, "", "Retry-After", "Sat, 02 Jan 1999 15:04:05 GMT"), nil
		}, [2]time.Duration{125e6, 250e6}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, seen := newClient(t, func(n int, r *http.Request) (*http.Response, error) {
					if n == 1 {
						return tt.answer(n, r)
					}
					return response(200, `{"ok": true}`), nil
				}, nil)
				start := time.Now()
				var out struct{ OK bool }
				if err := client.Post(t.Context(), 1, &out); err != nil || !out.OK || seen.n != 2 {
					t.Fatalf("after %d attempts: %+v, error %v", seen.n, out, err)
				}
				if took := time.Since(start); took < tt.waits[0] || took > tt.waits[1] {
					t.Errorf("waited %v, want %v", took, tt.waits)
				}
			})
		})
	}
}

// A budget is never overrun: attempts, patience and the caller's deadline end it, and what
// the server said last is the error.
func TestBudget(t *testing.T) {
	for name, tt := range map[string]struct {
		retryAfter string
		deadline   time.Duration
		change     func(*endpoint.Options)
		attempts   int
		most       time.Duration
	}{
		"attempts":                          {"1", 0, func(o *endpoint.Options) { o.Attempts = 3 }, 3, 2 * time.Second},
		"patience":                          {"20", 0, nil, 4, 60 * time.Second},
		"one wait longer than all patience": {"3600", 0, nil, 1, 0},
		"deadline before the wait ends":     {"10", 5 * time.Second, nil, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, seen := newClient(t, func(int, *http.Request) (*http.Response, error) {
					return response(429, `{"error": {"message": "slow down"}}`, "Retry-After", tt.retryAfter), nil
				}, tt.change)
				ctx := t.Context()
				if tt.deadline > 0 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, tt.deadline)
					defer cancel()
				}
				start := time.Now()
				err := client.Post(ctx, 1, new(int))
				if took := time.Since(start); !errors.Is(err, endpoint.ErrUnavailable) || seen.n != tt.attempts || took > tt.most {
					t.Errorf("%d attempts in %v: %v; want %d in at most %v", seen.n, took, err, tt.attempts, tt.most)
				}
				if !strings.Contains(err.Error(), "slow down") {
					t.Errorf("error %v does not say what the server said", err)
				}
			})
		})
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := newClient(t, func(int, *http.Request) (*http.Response, error) { return response(503, "", "Retry-After", "30"), nil }, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		if err := client.Post(ctx, 1, new(int)); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
	})
}

// What a server refuses is a kind to decide on, asked once.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		kind   error
		says   string
	}{
		{401, `{"error": {"message": "Incorrect API key provided: ` + key + `"}}`, endpoint.ErrUnauthorized, "[key]"},
		{403, ``, endpoint.ErrUnauthorized, "403"},
		{429, `{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}`, endpoint.ErrUnauthorized, "quota"},
		{400, `{"error": {"message": "This model's maximum context length is 8192 tokens, however you requested 9000"}}`, endpoint.ErrTooLong, "8192"},
		{413, `{"error": "Input validation error: inputs must have less than 512 tokens. Given: 900", "error_type": "Validation"}`, endpoint.ErrTooLong, "900"},
		{422, `{"error": "batch size 64 > maximum allowed batch size 32"}`, endpoint.ErrTooLong, "64"},
		{500, `{"error": {"message": "input is too large to process. increase the physical batch size"}}`, endpoint.ErrTooLong, "physical"},
		{404, `{"detail": "Not Found"}`, endpoint.ErrRequest, "Not Found"},
		{422, `{"detail": [{"loc": ["body"], "msg": "field required"}]}`, endpoint.ErrRequest, "field required"},
		{400, "<html>\x1b[31mno\x00</html>", endpoint.ErrRequest, "<html>[31mno</html>"},
		{501, `{"message": "not here"}`, endpoint.ErrRequest, "not here"},
		{200, `{"ok"`, endpoint.ErrResponse, "JSON"},
		{200, `{"ok": "` + strings.Repeat("x", 2000) + `"}`, endpoint.ErrResponse, "1000 bytes"},
	} {
		client, seen := newClient(t, func(int, *http.Request) (*http.Response, error) { return response(tt.status, tt.body), nil }, func(o *endpoint.Options) { o.MaxBytes = 1000 })
		err := client.Post(t.Context(), 1, new(struct{ OK bool }))
		if !errors.Is(err, tt.kind) || seen.n != 1 {
			t.Errorf("%d %s: %v after %d attempts, want %v after one", tt.status, tt.body, err, seen.n, tt.kind)
		}
		if text := err.Error(); !strings.Contains(text, tt.says) || strings.ContainsAny(text, "\x00\x1b") {
			t.Errorf("%d: error %q, want one with %q", tt.status, text, tt.says)
		}
	}
}

// Keys, passwords and tokens in the address stay out of errors, whoever repeats them.
func TestErrorsHoldNoSecret(t *testing.T) {
	for name, answer := range map[string]transport{
		"echoed": func(_ int, r *http.Request) (*http.Response, error) {
			return response(400, r.Header.Get("Authorization")), nil
		},
		"unreachable": func(int, *http.Request) (*http.Response, error) { return nil, errors.New("dial failed, key " + key) },
	} {
		client, _ := newClient(t, answer, func(o *endpoint.Options) { o.Attempts = 1 })
		err := client.Post(t.Context(), 1, new(int))
		for _, secret := range []string{key, "hidden", "pw"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: error %q holds %q", name, err, secret)
			}
		}
		if !strings.Contains(err.Error(), "https://models.example/v1/x") {
			t.Errorf("%s: error %q does not say where", name, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"", "models.example/v1", "ftp://models.example", "http://", ":"} {
		if _, err := endpoint.New(endpoint.Options{Service: "x", URL: bad}); !errors.Is(err, endpoint.ErrRequest) {
			t.Errorf("%q: error %v", bad, err)
		}
	}
	for base, want := range map[string]string{
		"https://a.example/v1":              "https://a.example/v1/embeddings",
		"https://a.example/v1/":             "https://a.example/v1/embeddings",
		"https://a.example/v1/embeddings":   "https://a.example/v1/embeddings",
		"https://a.example/v1/embeddings/":  "https://a.example/v1/embeddings/",
		"https://a.example/o?api-version=1": "https://a.example/o/embeddings?api-version=1",
		"http://localhost:8080":             "http://localhost:8080/embeddings",
	} {
		if got := endpoint.Join(base, "/embeddings"); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}
