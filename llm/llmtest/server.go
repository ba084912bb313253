package llmtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/llm"
)

// Protocol is how a provider's server says things.
type Protocol struct {
	// Events are an answer as a stream, one event after the other with its blank line, and
	// Whole is it as one object.
	Events func(said Said) []string
	Whole  func(said Said) string
	// Event and Object are an error in a stream and by itself.
	Event  func(message string) string
	Object func(message string) string
	// Broken is an answer, as Events and Whole, with a call whose arguments are no JSON, Null
	// one whose content is null.
	Broken, Null func(stream bool) string
}

// Connect makes a model of the server at an address.
type Connect func(t *testing.T, address string) llm.Model

// say is an answer's body.
func (p Protocol) say(stream bool, said Said) string {
	if stream {
		return strings.Join(p.Events(said), "")
	}
	return p.Whole(said)
}

func (p Protocol) fail(stream bool, message string) string {
	if stream {
		return p.Event(message)
	}
	return p.Object(message)
}

// RunServer holds a provider's package to the contract, before a server that streams and
// one that does not, and then to every fault that servers and what stands before them have:
// each ends as an *llm.Error or a right answer within its deadline, and leaves nothing behind.
func RunServer(t *testing.T, p Protocol, connect Connect) {
	for name, stream := range map[string]bool{"streamed": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			Run(t, func(t *testing.T, _ llm.Request, said Said) llm.Model {
				return connect(t, serve(t, func(s *scene) { s.send(p.say(stream, said)) }, p, stream))
			})
			t.Run("faults", func(t *testing.T) { testFaults(t, p, stream, connect) })
		})
	}
	t.Run("closes", func(t *testing.T) { testCloses(t, p, connect) })
}

// Fault is a way in which a server, or what stands before it, fails.
type Fault struct {
	Name  string
	Right string // what may come as an answer all the same; "": nothing
	play  func(*scene)
}

// Faults are all that RunServer holds providers' packages to.
func Faults() (out []Fault) {
	for _, f := range faults() {
		out = append(out, Fault{f.name, f.right, f.play})
	}
	return out
}

// Serve starts a server of a protocol that fails so whenever it is asked, and returns its
// address. stop ends it, whatever it is doing.
func (f Fault) Serve(p Protocol, stream bool) (address string, stop func()) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		f.play(&scene{w, r, p, stream})
	}))
	return server.URL, func() { server.CloseClientConnections(); server.Close() }
}

// serve starts a server that plays a scene for every request.
func serve(t *testing.T, play func(*scene), p Protocol, stream bool) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see the client leave
		play(&scene{w, r, p, stream})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Deadline of a call under a fault, and what it may take longer on a busy machine.
const (
	faultDeadline = 300 * time.Millisecond
	faultGrace    = time.Second
)

func testFaults(t *testing.T, p Protocol, stream bool, connect Connect) {
	var longest time.Duration
	list := faults()
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			t.Cleanup(func() { settled(t, before) }) // after the server's own
			c := llm.NewCaller(connect(t, serve(t, f.play, p, stream)), llm.Policy{Attempts: 1, Timeout: faultDeadline})
			start := time.Now()
			out, err := c.Complete(t.Context(), hello)
			took := time.Since(start)
			longest = max(longest, took-faultDeadline)
			f.judge(t, out, err)
			if took > faultDeadline+faultGrace {
				t.Errorf("it took %v", took)
			}
		})
	}
	t.Logf("%d faults; the longest took %v more than its deadline", len(list), max(0, longest))
}

// settled waits for goroutines to end.
func settled(t *testing.T, before int) {
	t.Helper()
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines are left of %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

func (f fault) judge(t *testing.T, out llm.Response, err error) {
	t.Helper()
	var known *llm.Error
	switch {
	case err == nil && f.right == "":
		t.Errorf("was taken for an answer: %.200q", out.Text)
	case err == nil && out.Text != f.right:
		t.Errorf("came as %.200q", out.Text)
	case err == nil:
	case !errors.As(err, &known):
		t.Errorf("%v has no kind", err)
	case f.kind != "" && known.Kind != f.kind:
		t.Errorf("is %s, want %s: %v", known.Kind, f.kind, err)
	case f.right != "" && f.kind == "":
		t.Errorf("could have been answered: %v", err)
	case f.after >= 0 && (known.After > f.after || known.After < f.after-3*time.Second):
		t.Errorf("asks for %v, want %v", known.After, f.after)
	}
}

// testCloses sees that leaving a call, by break, cancel or deadline, reaches the server.
func testCloses(t *testing.T, p Protocol, connect Connect) {
	gone := make(chan struct{}, 3)
	m := connect(t, serve(t, func(s *scene) {
		s.send(s.p.Events(Said{Text: "Paris", Finish: llm.Stopped})[0])
		for _, event := range s.p.Events(Said{Text: "Paris", Finish: llm.Stopped})[1:3] {
			s.send(event)
		}
		<-s.r.Context().Done()
		gone <- struct{}{}
	}, p, true))
	seen := func(how string) {
		t.Helper()
		select {
		case <-gone:
		case <-time.After(5 * time.Second):
			t.Fatalf("the server never saw the client leave by %s", how)
		}
	}
	for range m.Stream(t.Context(), hello) {
		break
	}
	seen("break")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := llm.Complete(ctx, m, hello); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline: %v", err)
	}
	seen("deadline")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for _, err := range m.Stream(ctx, hello) {
		if stop(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("cancel: %v", err)
		}
	}
	seen("cancel")
}
