package storetest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Fault is one way in which a server over HTTP, or what lies before it, fails.
type Fault struct {
	Name string
	// serve answers instead of the server, or spoils what pass answers.
	serve func(w http.ResponseWriter, r *http.Request, pass http.Handler)
	// refuses closes the port.
	refuses bool
}

// Proxy stands between a store and its server, and fails on demand.
type Proxy struct {
	URL string

	t       testing.TB
	address string
	server  *http.Server
	pass    http.Handler
	fault   atomic.Pointer[Fault]
	every   atomic.Int64 // requests of which one fails; 1: all
	count   atomic.Int64
}

// NewProxy starts a proxy to a server. It fails nothing yet.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(u)
	pass.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	p := &Proxy{t: t, pass: pass}
	p.every.Store(1)
	p.listen("127.0.0.1:0")
	p.URL = "http://" + p.address
	t.Cleanup(func() { p.server.Close() })
	return p
}

func (p *Proxy) listen(address string) {
	var l net.Listener
	var err error
	for range 50 { // the port may still be in use for a moment
		if l, err = net.Listen("tcp", address); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.address = l.Addr().String()
	p.server = &http.Server{Handler: p}
	go p.server.Serve(l)
}

// Fail makes one of every so many requests fail.
func (p *Proxy) Fail(f *Fault, every int) {
	p.every.Store(int64(every))
	p.fault.Store(f)
	if f.refuses {
		p.server.Close()
	}
}

// Heal ends all failing. Connections begun while it failed are cut.
func (p *Proxy) Heal() {
	p.fault.Store(nil)
	p.server.Close()
	p.listen(p.address)
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := p.fault.Load()
	if f == nil || f.serve == nil || p.count.Add(1)%p.every.Load() != 0 {
		p.pass.ServeHTTP(w, r)
		return
	}
	f.serve(w, r, p.pass)
}

// Faults are the ways to fail: connections, statuses, bodies.
func Faults() []Fault {
	out := []Fault{{Name: "refuse", refuses: true}}
	out = append(out, connectionFaults()...)
	for status := 300; status < 600; status++ {
		if text := http.StatusText(status); text != "" {
			out = append(out, Fault{Name: "status " + strconv.Itoa(status), serve: func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(status)
				fmt.Fprintf(w, "<html><body>%s</body></html>", text)
			}})
		}
	}
	for name, body := range map[string]string{
		"empty": "", "object": "{}", "list": "[]", "null": "null", "true": "true", "number": "0", "string": `"ok"`, "page": "<html>log in</html>", "text": "OK", "NULs": "\x00\x00\x00",
		"object cut": `{"ids":["a`, "list cut": `[{"id":`, "nothing found, of no form": `{"ids":null}`, "wrong types": `{"ids":"a","documents":5,"name":7,"id":[]}`, "no UTF-8": "{\"\xff\":\"\xfe\"}",
		"two objects": `{}{}`, "deep": strings.Repeat("[", 20_000),
	} {
		out = append(out, Fault{Name: "body " + name, serve: func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			w.Header().Set("Content-Type", "application/json")
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/add") {
				w.WriteHeader(http.StatusCreated)
			}
			_, _ = io.WriteString(w, body)
		}})
	}
	return out
}

func connectionFaults() []Fault {
	stall := func(r *http.Request) { // until the client gives up
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
	}
	raw := func(name string, f func(c net.Conn, rw *bufio.ReadWriter, r *http.Request)) Fault {
		return Fault{Name: name, serve: func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			c, rw, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer c.Close()
			f(c, rw, r)
		}}
	}
	say := func(text string) func(net.Conn, *bufio.ReadWriter, *http.Request) {
		return func(_ net.Conn, rw *bufio.ReadWriter, _ *http.Request) {
			_, _ = rw.WriteString(text)
			_ = rw.Flush()
		}
	}
	answered := func(w http.ResponseWriter, r *http.Request, pass http.Handler) []byte {
		rec := &recording{header: http.Header{}}
		pass.ServeHTTP(rec, r)
		return rec.body
	}
	return []Fault{
		raw("hang up", say("")),
		raw("reset", func(c net.Conn, _ *bufio.ReadWriter, _ *http.Request) { _ = c.(*net.TCPConn).SetLinger(0) }),
		raw("no HTTP", say("SSH-2.0-OpenSSH\r\n")),
		raw("cut in the head", say("HTTP/1.1 200 OK\r\nContent-Le")),
		raw("cut in the body", say("HTTP/1.1 200 OK\r\nContent-Length: 900\r\nContent-Type: application/json\r\n\r\n{\"ids\":[")),
		raw("chunked and cut", say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"ids\r\n")),
		raw("gzip that is none", say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}")),
		{Name: "stall", serve: func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { stall(r) }},
		{Name: "stall after the head", serve: func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			stall(r)
		}},
		{Name: "stall in the body", serve: func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			_, _ = io.WriteString(w, `{"ids":["`)
			w.(http.Flusher).Flush()
			stall(r)
		}},
		{Name: "drip", serve: func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			for _, b := range answered(w, r, pass) {
				if _, err := w.Write([]byte{b}); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		}},
		{Name: "late", serve: func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			// Until it has read the request, a server does not notice that the client has gone, and
			// would pass on what was given up, over what was written since.
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Second):
				pass.ServeHTTP(w, r)
			}
		}},
		{Name: "done, and the answer lost", serve: func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			answered(w, r, pass)
			panic(http.ErrAbortHandler)
		}},
		{Name: "answer cut in half", serve: func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			b := answered(w, r, pass)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(b[:len(b)/2])
		}},
		{Name: "answer twice", serve: func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			b := answered(w, r, pass)
			_, _ = w.Write(append(b, b...))
		}},
	}
}

// recording keeps an answer instead of sending it.
type recording struct {
	header http.Header
	body   []byte
}

func (r *recording) Header() http.Header         { return r.header }
func (r *recording) WriteHeader(int)             {}
func (r *recording) Write(b []byte) (int, error) { r.body = append(r.body, b...); return len(b), nil }
