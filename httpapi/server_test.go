package httpapi

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
)

func TestOPS05ListeningSaysWhatIsWrong(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	for name, c := range map[string]struct {
		host  string
		port  int
		code  sextant.Code
		names []string
	}{
		"port in use":     {"127.0.0.1", port, sextant.CodeConflict, []string{"127.0.0.1:" + strconv.Itoa(port), "--port"}},
		"port 70000":      {"127.0.0.1", 70000, sextant.CodeBadRequest, []string{"70000", "--port"}},
		"foreign address": {"192.0.2.1", 0, sextant.CodeBadRequest, []string{"192.0.2.1:0", "--host"}},
		"no such name":    {"no.such.host.invalid", 0, sextant.CodeBadRequest, []string{"no.such.host.invalid", "--host"}},
	} {
		config := quiet()
		config.Host, config.Port, config.AuthUpstream = c.host, &c.port, true
		_, err := newServer(t, newFake(), config).Listen(t.Context())
		message, hint := sextant.PublicMessage(err)
		if sextant.ErrorCode(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
		for _, part := range c.names {
			if !strings.Contains(message+" "+hint, part) {
				t.Errorf("%s: %q, %q do not name %s", name, message, hint, part)
			}
		}
	}
}

func TestOPS05PortZeroGivesTheRealAddress(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1", "localhost"} {
		config := quiet()
		config.Host = host
		if l, err := net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
			t.Logf("%s is not on this machine", host)
			continue
		} else {
			_ = l.Close()
		}
		url := listening(t, newFake(), config)
		resp, err := http.Get(url + "/health")
		if err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		_ = resp.Body.Close()
		if strings.HasSuffix(url, ":0") || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", url, resp.StatusCode)
		}
	}
}

func TestConfigurationsThatWouldExposeAreRefused(t *testing.T) {
	for name, c := range map[string]Config{
		"all addresses":      {Host: "0.0.0.0"},
		"all addresses, v6":  {Host: "::"},
		"a network address":  {Host: "192.168.1.5"},
		"a name":             {Host: "sextant.lab"},
		"an empty key":       {Keys: []string{""}},
		"a key with newline": {Keys: []string{"key\n"}},
		"origin with a path": {AllowOrigins: []string{"https://lab.example/"}},
		"origin null":        {AllowOrigins: []string{"null"}},
	} {
		if _, err := New(newFake(), c); err == nil || sextant.ErrorCode(err) == sextant.CodeInternal {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]Config{
		"keys": {Host: "0.0.0.0", Keys: []string{"k"}}, "proxy": {Host: "0.0.0.0", AuthUpstream: true}, "loopback": {Host: "127.0.0.9"}, "localhost": {Host: "localhost"},
	} {
		if _, err := New(newFake(), c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRootPathMayStayOrBeStripped(t *testing.T) {
	config := quiet()
	config.RootPath = "apps/sextant/"
	h := newServer(t, newFake(), config).Handler()
	for _, path := range []string{"/health", "/apps/sextant/health", "/apps/sextant/v1/documents/ntsb:20100701X33001"} {
		if w := do(h, request("GET", path, "")); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for _, path := range []string{"/", "/apps/sextant/", "/documents/ntsb:1"} {
		if w := do(h, request("GET", path, "")); !strings.Contains(w.Body.String(), `<base href="/apps/sextant/"`) {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
}

func TestDocumentIDsMayHoldAnything(t *testing.T) {
	f := newFake()
	for _, id := range []string{"file:reports/a b.pdf", "feed:https://news.example/a?id=1", "x:../../etc/passwd", `ntsb:"><img src=/hostile-id onerror=alert(9)>`, "20100701X33001"} {
		d := talkeetna()
		d.ID = sextant.DocumentID(id)
		f.docs[d.ID] = d
		escaped := strings.NewReplacer("%", "%25", "/", "%2F", "?", "%3F", "#", "%23", " ", "%20", `"`, "%22", "<", "%3C", ">", "%3E", ".", "%2E").Replace(id)
		w := do(newServer(t, f, quiet()).Handler(), request("GET", "/v1/documents/"+escaped, ""))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", id, w.Code, w.Body)
		}
	}
}

// API06: what is beyond the queue is turned away at once, what is in it is answered, and
// no answer is another question's.
func TestAPI06LoadIsBounded(t *testing.T) {
	const running, waiting, clients = 3, 5, 40
	var now, most atomic.Int64
	f := newFake()
	f.during = func(ctx context.Context, _ string) error {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(30 * time.Millisecond)
		return nil
	}
	config := quiet()
	config.Running, config.Waiting = running, waiting
	h := newServer(t, f, config).Handler()
	questions := []string{byYear().Question, causal().Question, noData().Question, share().Question}
	var answered, refused atomic.Int64
	var wait sync.WaitGroup
	for i := range clients {
		wait.Go(func() {
			question := questions[i%len(questions)]
			w := do(h, request("POST", "/v1/ask", asking(question)))
			switch {
			case w.Code == http.StatusOK && strings.Contains(w.Body.String(), `{"question":"`+question):
				answered.Add(1)
			case w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") != "" && problem(t, w.Body.String()).Code == codeBusy:
				refused.Add(1)
			default:
				t.Errorf("%d %.120s", w.Code, w.Body)
			}
		})
	}
	wait.Wait()
	if most.Load() > running || answered.Load() < running+waiting || answered.Load()+refused.Load() != clients || refused.Load() == 0 {
		t.Errorf("%d at once, %d answered, %d refused", most.Load(), answered.Load(), refused.Load())
	}
}

// A client that does not read keeps its connection, not its place.
func TestAPI06SlowReadersHoldNoPlace(t *testing.T) {
	config := quiet()
	config.Running, config.Waiting = 1, 4
	url := listening(t, newFake(), config)
	slow, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	body := asking(listed().Question)
	_, _ = io.WriteString(slow, "POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
	for range 3 {
		if resp := post(t, url+"/v1/ask", asking(causal().Question)); resp.StatusCode != http.StatusOK {
			t.Errorf("status %d beside a slow reader", resp.StatusCode)
		}
	}
}

// stopped runs one streamed question through a server that is told to stop while the
// question is in the engine, and returns what the client got.
func stopped(t *testing.T, grace, work time.Duration) string {
	t.Helper()
	begun := make(chan struct{})
	f := newFake()
	f.during = func(ctx context.Context, _ string) error {
		close(begun)
		select {
		case <-time.After(work):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	config := quiet()
	config.Grace, config.Port = grace, new(int)
	s := newServer(t, f, config)
	url, err := s.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	resp := post(t, url+"/v1/ask", asking(causal().Question), "Accept", "text/event-stream")
	<-begun
	stop()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("the stream breaks off: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Second); err == nil {
		t.Error("still listening after the stop")
	}
	return string(got)
}

func TestStoppingLetsQuestionsFinish(t *testing.T) {
	if got := stopped(t, 5*time.Second, 100*time.Millisecond); !strings.Contains(got, "event: final") {
		t.Errorf("got %s", got)
	}
}

func TestStoppingTellsThoseItCutsShort(t *testing.T) {
	if got := stopped(t, 50*time.Millisecond, time.Minute); !strings.Contains(got, "event: error") || !strings.Contains(got, "shutting down") {
		t.Errorf("got %s", got)
	}
}

func TestServeNeedsListen(t *testing.T) {
	if err := newServer(t, newFake(), quiet()).Serve(t.Context()); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("Serve before Listen: %v", err)
	}
}
