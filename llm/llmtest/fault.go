package llmtest

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/llm"
)

// scene is one request before a server that misbehaves.
type scene struct {
	w      http.ResponseWriter
	r      *http.Request
	p      Protocol
	stream bool
}

// fault is a way in which a server, or what stands before it, fails.
type fault struct {
	name  string
	kind  llm.Kind      // the error it must be; "": any
	right string        // the text that may come all the same
	after time.Duration // the pause it asks for; -1: any
	play  func(*scene)
}

// send writes a body, or a piece of one.
func (s *scene) send(body string) {
	kind := "application/json"
	if s.stream {
		kind = "text/event-stream"
	}
	if s.w.Header().Get("Content-Type") == "" {
		s.w.Header().Set("Content-Type", kind)
	}
	_, _ = s.w.Write([]byte(body))
	s.w.(http.Flusher).Flush()
}

func (s *scene) hang() { <-s.r.Context().Done() }

// reset breaks the connection; what was sent before may have arrived.
func (s *scene) reset() {
	conn, _, err := s.w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// answer is a right one, half the first part of it.
func (s *scene) answer() string {
	return s.p.say(s.stream, Said{Text: "Paris is the capital.", Finish: llm.Stopped, Usage: used})
}

func (s *scene) half() string { a := s.answer(); return a[:len(a)*2/3] }

// faults are all of them: what comes as a status, what asks for a pause, what the
// connection does, and what a success holds.
func faults() []fault {
	return append(append(append(statusFaults(), pauseFaults()...), connectionFaults()...), contentFaults()...)
}

// statuses with what each means; "" is any kind.
var statuses = []struct {
	code int
	kind llm.Kind
}{
	{204, llm.Server}, {301, llm.Invalid}, {302, llm.Invalid}, {304, llm.Invalid}, {307, llm.Invalid}, {400, llm.Invalid}, {401, llm.Denied}, {402, llm.Denied}, {403, llm.Denied}, {404, llm.Invalid}, {405, llm.Invalid},
	{408, llm.Late}, {409, llm.Server}, {410, llm.Invalid}, {413, llm.Invalid}, {418, llm.Invalid}, {422, llm.Invalid}, {425, llm.Server}, {429, llm.Overloaded}, {431, llm.Invalid}, {451, llm.Invalid},
	{500, llm.Server}, {501, llm.Invalid}, {502, llm.Server}, {503, llm.Overloaded}, {504, llm.Late}, {507, llm.Server}, {520, llm.Server}, {524, llm.Server}, {529, llm.Overloaded}, {599, llm.Server},
}

func statusFaults() []fault {
	var list []fault
	for _, st := range statuses {
		list = append(list, fault{fmt.Sprintf("status %d", st.code), st.kind, "", -1, func(s *scene) {
			s.w.Header().Set("Location", "/elsewhere")
			s.w.WriteHeader(st.code)
			if st.code != http.StatusNoContent && st.code != http.StatusNotModified {
				_, _ = s.w.Write([]byte(s.p.Object("no")))
			}
		}})
	}
	return list
}

func pauseFaults() []fault {
	date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	list := []fault{}
	for _, c := range []struct {
		header, value string
		want          time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second}, {"Retry-After", "0.5", 500 * time.Millisecond}, {"Retry-After", " 7 ", 7 * time.Second}, {"Retry-After-Ms", "250", 250 * time.Millisecond}, {"Retry-After", date(time.Hour), time.Hour},
		{"Retry-After", date(-time.Hour), 0}, {"Retry-After", "soon", 0}, {"Retry-After", "-3", 0}, {"Retry-After", "NaN", 0}, {"Retry-After", "1e300", 0},
	} {
		list = append(list, fault{"429 " + c.header + " " + c.value, llm.Overloaded, "", c.want, func(s *scene) {
			s.w.Header().Set(c.header, c.value)
			s.w.WriteHeader(http.StatusTooManyRequests)
		}})
	}
	return list
}

func connectionFaults() []fault {
	return []fault{
		{"reset before an answer", llm.Unreachable, "", -1, func(s *scene) { s.reset() }},
		{"reset in the middle", "", "", -1, func(s *scene) { s.send(s.half()); s.reset() }},
		{"cut in the middle", "", "", -1, func(s *scene) { s.send(s.half()) }},
		{"shorter than it says", "", "", -1, func(s *scene) {
			s.w.Header().Set("Content-Length", strconv.Itoa(len(s.answer())))
			s.send(s.half())
		}},
		{"silence before an answer", llm.Late, "", -1, func(s *scene) { s.hang() }},
		{"silence after the headers", llm.Late, "", -1, func(s *scene) { s.send(""); s.hang() }},
		{"silence in the middle", llm.Late, "", -1, func(s *scene) { s.send(s.half()); s.hang() }},
		{"a drip that takes for ever", llm.Late, "", -1, func(s *scene) {
			for _, b := range []byte(s.answer()) {
				if s.send(string(b)); s.r.Context().Err() != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}},
		{"comments that never end", llm.Late, "", -1, func(s *scene) {
			s.stream = true
			for s.r.Context().Err() == nil {
				s.send(": still there\n\n")
				time.Sleep(5 * time.Millisecond)
			}
		}},
		{"an answer in single bytes", "", "Paris is the capital.", -1, func(s *scene) {
			for _, b := range []byte(s.answer()) {
				s.send(string(b))
			}
		}},
	}
}

func contentFaults() []fault {
	body := func(name string, kind llm.Kind, text func(s *scene) string) fault {
		return fault{name, kind, "", -1, func(s *scene) { s.send(text(s)) }}
	}
	said := func(name string, kind llm.Kind, what Said) fault {
		return body(name, kind, func(s *scene) string { return s.p.say(s.stream, what) })
	}
	fixed := func(name string, kind llm.Kind, text string) fault {
		return body(name, kind, func(*scene) string { return text })
	}
	inStream := func(s *scene, data string) string {
		if s.stream {
			return "data: " + data + "\n\n"
		}
		return data
	}
	return []fault{
		fixed("nothing", llm.Malformed, ""),
		fixed("blank lines", llm.Malformed, "\n\n\n"),
		fixed("a web page", llm.Malformed, "<!doctype html><h1>Sign in</h1>"),
		fixed("an empty object", "", "{}"),
		fixed("a list", llm.Malformed, "[]"),
		fixed("null", llm.Malformed, "null"),
		fixed("bytes", llm.Malformed, "\x00\x01\x02\xff\xfe"),
		fixed("only an end", llm.Malformed, "data: [DONE]\n\n"),
		body("half an object", "", func(s *scene) string { return inStream(s, `{"choices":[{"del`) }),
		body("too deep", llm.Malformed, func(s *scene) string { return inStream(s, `{"type":`+strings.Repeat("[", 100_000)) }),
		body("a list for an object", "", func(s *scene) string { return inStream(s, `{"type":"message","choices":{"a":1},"content":{"a":1}}`) }),
		body("an error inside 200", "", func(s *scene) string { return s.p.fail(s.stream, "it broke") }),
		body("an error after some", "", func(s *scene) string {
			if !s.stream {
				return s.p.Object("it broke")
			}
			return strings.Join(s.p.Events(Said{Text: "Par", Finish: llm.Stopped})[:3], "") + s.p.Event("it broke")
		}),
		body("arguments that are no JSON", llm.Malformed, func(s *scene) string { return s.p.Broken(s.stream) }),
		body("content that is null", llm.Malformed, func(s *scene) string { return s.p.Null(s.stream) }),
		said("an empty text", llm.Malformed, Said{Finish: llm.Stopped}),
		said("the limit of tokens", llm.Truncated, Said{Text: "Par", Finish: llm.Length}),
		said("a call cut at the limit", llm.Truncated, Said{Calls: []llm.Call{{ID: "a", Name: "look", Input: []byte(`{"q":`)}}, Finish: llm.Length}),
		said("a refusal", llm.Declined, Said{Text: "I cannot.", Finish: llm.Refused}),
		said("an end nobody knows", llm.Truncated, Said{Text: "Paris", Finish: llm.Unclear}),
		body("no end", llm.Truncated, func(s *scene) string {
			if !s.stream {
				return s.p.Whole(Said{Text: "Paris"})
			}
			return strings.Join(s.p.Events(Said{Text: "Paris", Finish: llm.Stopped})[:3], "")
		}),
		{"a lie about compression", "", "", -1, func(s *scene) {
			s.w.Header().Set("Content-Encoding", "gzip")
			s.send(s.answer())
		}},
		{"the wrong type", "", "Paris is the capital.", -1, func(s *scene) {
			s.w.Header().Set("Content-Type", "text/plain")
			s.send(s.answer())
		}},
		{"too long for the model", llm.TooLong, "", -1, func(s *scene) {
			s.w.WriteHeader(http.StatusBadRequest)
			s.send(s.p.Object("request (24030 tokens) exceeds the available context size (8192 tokens)"))
		}},
		{"an error of control characters", "", "", -1, func(s *scene) {
			s.w.WriteHeader(http.StatusInternalServerError)
			s.send("\x1b[2J\x00" + strings.Repeat("x", 1<<20))
		}},
		{"an error that never ends", "", "", -1, func(s *scene) {
			s.w.WriteHeader(http.StatusInternalServerError)
			for s.r.Context().Err() == nil {
				if _, err := s.w.Write([]byte(strings.Repeat("x", 4096))); err != nil {
					return
				}
			}
		}},
		{"text that is no UTF-8", "", "P\ufffdaris", -1, func(s *scene) {
			s.send(strings.ReplaceAll(s.p.say(s.stream, Said{Text: "Paris", Finish: llm.Stopped}), "Paris", "P\xffaris"))
		}},
		{"a line of a megabyte", "", strings.Repeat("x", 1<<20), -1, func(s *scene) {
			s.send(s.p.say(s.stream, Said{Text: strings.Repeat("x", 1<<20), Finish: llm.Stopped}))
		}},
	}
}
