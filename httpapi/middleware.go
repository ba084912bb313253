package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/sextant-rag/sextant"
)

const requestIDHeader = "X-Request-Id"

// handler is what the routes are made of: it writes an answer or returns why not.
type handler func(w http.ResponseWriter, r *http.Request) error

// serve turns a handler's error into a response. It is the only place that does.
func (s *Server) serve(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		s.logFailure(r, err)
		writeError(w, explained(r.Context(), err))
	})
}

// explained replaces "context canceled" by the reason the server gave for cancelling.
func explained(ctx context.Context, err error) error {
	var reason *sextant.Error
	if errors.Is(err, context.Canceled) && errors.As(context.Cause(ctx), &reason) {
		return reason
	}
	return err
}

// logFailure keeps what the response does not say. A client that went away, and what a
// caller can mend, are no news for the operator.
func (s *Server) logFailure(r *http.Request, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	level := slog.LevelDebug
	if problemOf(err, "").Status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	s.log.LogAttrs(r.Context(), level, "request failed", slog.String("request", requestID(r)), slog.String("path", r.URL.Path), slog.Any("error", err))
}

type requestIDKey struct{}

func requestID(r *http.Request) string {
	id, _ := r.Context().Value(requestIDKey{}).(string)
	return id
}

// observe gives the request an id, logs it when it is done, and turns a panic into a
// 500. The query string is left out of the log: a deep link carries the question.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b [6]byte
		_, _ = rand.Read(b[:]) // never fails since Go 1.24
		id := hex.EncodeToString(b[:])
		r = r.WithContext(context.WithValue(caller(r), requestIDKey{}, id))
		w.Header().Set(requestIDHeader, id)
		rec := &recorder{ResponseWriter: w}
		started := time.Now()
		defer func() {
			s.recovered(rec, r, recover())
			s.log.LogAttrs(r.Context(), slog.LevelDebug, "request", slog.String("request", id), slog.String("method", r.Method),
				slog.String("path", r.URL.Path), slog.Int("status", rec.status), slog.Duration("took", time.Since(started)))
		}()
		next.ServeHTTP(rec, r)
	})
}

func (s *Server) recovered(rec *recorder, r *http.Request, v any) {
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
		panic(v)
	}
	err := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	s.logFailure(r, err)
	if rec.status != 0 {
		panic(http.ErrAbortHandler) // half an answer is out: break the connection, so that it does not look whole
	}
	writeError(rec, err)
}

// recorder remembers the status. Unwrap lets http.ResponseController reach the flusher
// and the deadlines behind it.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
