// Package wire is what the packages that speak to providers share of HTTP: errors in every
// shape that servers give them, how long a server wants to be left alone, and streams that
// go silent.
package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/trace"
)

// Bounds of what is read of one answer, in bytes.
const (
	MaxAnswer = 64 << 20
	MaxError  = 64 << 10
)

// Client is the HTTP client of a model whose caller brings none. Redirects are not
// followed: a key is for the server it was given for.
func Client() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// RetryAfter reads how long a server wants to be left alone: in milliseconds, seconds or
// until a date; 0 without a wish.
func RetryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e10 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	return trace.RetryAfter(h)
}

// errStalled is the cause of a call that a Watch ended.
var errStalled = errors.New("the stream went silent")

// Watch ends a call whose body is silent for too long. One goroutine may read from it.
type Watch struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
	limit  time.Duration
	timer  *time.Timer
}

// NewWatch watches a body: a read that takes longer than limit cancels the call. Stop has
// to be called in the end.
func NewWatch(body io.ReadCloser, limit time.Duration, cancel context.CancelCauseFunc) *Watch {
	return &Watch{ReadCloser: body, cancel: cancel, limit: limit}
}

// Read implements io.Reader.
func (w *Watch) Read(p []byte) (int, error) {
	if w.timer == nil {
		w.timer = time.AfterFunc(w.limit, func() { w.cancel(errStalled) })
	} else {
		w.timer.Reset(w.limit)
	}
	n, err := w.ReadCloser.Read(p)
	w.timer.Stop()
	return n, err
}

// Stop ends watching.
func (w *Watch) Stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// Ended makes one kind of error of all that can end a call: an *llm.Error, or ctx's own
// when the caller gave up. ctx is the one whose cancel function the Watch has.
func Ended(ctx context.Context, provider string, err error, started bool) error {
	var known *llm.Error
	switch {
	case errors.Is(context.Cause(ctx), errStalled):
		known = &llm.Error{Kind: llm.Late, Provider: provider, Message: "the stream went silent"}
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &known):
	default:
		known = &llm.Error{Kind: llm.Unreachable, Provider: provider, Err: Bare(err)}
	}
	known.Started = started
	return known
}

// Bare leaves the URL out of an error: it may hold a password.
func Bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
