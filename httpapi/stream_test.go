package httpapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
)

// listening starts a real server on a free port; it stops when the test ends.
func listening(t *testing.T, engine Engine, config Config) string {
	t.Helper()
	config.Port = new(int)
	s := newServer(t, engine, config)
	url, err := s.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return url
}

func post(t *testing.T, url, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// eventNames returns the names of a stream's events in order, and how many comments.
func eventNames(t *testing.T, r io.Reader) (names []string, comments int) {
	t.Helper()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			names = append(names, name)
		}
		if strings.HasPrefix(lines.Text(), ":") {
			comments++
		}
	}
	if err := lines.Err(); err != nil {
		t.Errorf("after %v: %v", names, err)
	}
	return names, comments
}

// API01: a stream lives longer than the timeouts of reading and writing, through the
// whole chain of middleware, and ends with exactly one terminal event.
func TestAPI01StreamsOutliveTheTimeouts(t *testing.T) {
	f := newFake()
	f.pause = 60 * time.Millisecond // 14 events: 840 ms
	config := quiet()
	config.ReadTimeout, config.WriteTimeout, config.Heartbeat = 200*time.Millisecond, 200*time.Millisecond, 25*time.Millisecond
	url := listening(t, f, config)
	names, comments := eventNames(t, post(t, url+"/v1/ask", asking(causal().Question), "Accept", "text/event-stream").Body)
	if len(names) != len(events(causal())) || names[len(names)-1] != "final" {
		t.Errorf("events %v", names)
	}
	if comments < 10 {
		t.Errorf("%d heartbeats in 840 ms", comments)
	}
}

// The JSON answer has the engine's time, too; only taking it is under the timeout.
func TestAnswersOutliveTheTimeouts(t *testing.T) {
	f := newFake()
	f.pause = 50 * time.Millisecond
	config := quiet()
	config.ReadTimeout, config.WriteTimeout = 150*time.Millisecond, 150*time.Millisecond
	resp := post(t, listening(t, f, config)+"/v1/ask", asking(causal().Question))
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"status":"answered"`) {
		t.Errorf("%d, %v: %.80s", resp.StatusCode, err, body)
	}
}

// API02: nothing on the way may hold events back or compress them.
func TestAPI02StreamsAreNeitherBufferedNorCompressed(t *testing.T) {
	release := make(chan struct{})
	f := newFake()
	f.during = func(ctx context.Context, _ string) error {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return nil
	}
	resp := post(t, listening(t, f, quiet())+"/v1/ask", asking(causal().Question), "Accept", "text/event-stream", "Accept-Encoding", "gzip, br, zstd")
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Content-Encoding": "", "Content-Length": ""} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if c := resp.Header.Get("Cache-Control"); !strings.Contains(c, "no-cache") || !strings.Contains(c, "no-transform") {
		t.Errorf("Cache-Control: %q", c)
	}
	// The engine has not finished, yet the first event is here.
	first := make([]byte, len("id: 1\nevent: stage_started\n"))
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "id: 1\nevent: stage_started\n" {
		t.Errorf("first bytes %q, %v", first, err)
	}
	close(release)
	if names, _ := eventNames(t, resp.Body); len(names) == 0 || names[len(names)-1] != "final" {
		t.Errorf("events %v", names)
	}
}

func TestStreamsEndWithOneErrorAtMost(t *testing.T) {
	for name, during := range map[string]func(context.Context, string) error{
		"error": func(context.Context, string) error {
			return &sextant.Error{Code: sextant.CodeUnavailable, Message: "Gone."}
		},
		"panic": func(context.Context, string) error { panic("now") },
	} {
		f := newFake()
		f.during = during
		w := do(newServer(t, f, quiet()).Handler(), request("POST", "/v1/ask", asking(causal().Question), "Accept", "text/event-stream"))
		names, _ := eventNames(t, w.Body)
		if names[len(names)-1] != "error" || strings.Count(strings.Join(names, " "), "error") != 1 || strings.Contains(strings.Join(names, " "), "final") {
			t.Errorf("%s: %v", name, names)
		}
	}
}

// silent is an engine that stops without saying anything: a stream must still end.
type silent struct{ *fake }

func (silent) Ask(context.Context, sextant.Question) iter.Seq2[sextant.Event, error] {
	return func(func(sextant.Event, error) bool) {}
}

func TestEnginesThatSayNothingAreAnError(t *testing.T) {
	h := newServer(t, silent{newFake()}, quiet()).Handler()
	if w := do(h, request("POST", "/v1/ask", asking("Any?"))); w.Code != http.StatusInternalServerError {
		t.Errorf("JSON: %d", w.Code)
	}
	names, _ := eventNames(t, do(h, request("POST", "/v1/ask", asking("Any?"), "Accept", "text/event-stream")).Body)
	if len(names) != 1 || names[0] != "error" {
		t.Errorf("stream: %v", names)
	}
}

// A client that leaves ends the work.
func TestLeavingCancelsTheQuestion(t *testing.T) {
	for _, accept := range []string{"text/event-stream", "application/json"} {
		stopped := make(chan error, 1)
		begun := make(chan struct{})
		f := newFake()
		f.during = func(ctx context.Context, _ string) error {
			close(begun)
			<-ctx.Done()
			stopped <- ctx.Err()
			return ctx.Err()
		}
		url := listening(t, f, quiet())
		ctx, leave := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/ask", strings.NewReader(asking(causal().Question)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", accept)
		var wait sync.WaitGroup
		wait.Go(func() {
			if resp, err := http.DefaultClient.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
		<-begun
		leave()
		select {
		case err := <-stopped:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", accept, err)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s: the engine still works for a client that left", accept)
		}
		wait.Wait()
	}
}
