package trace

import (
	"context"
	"log/slog"
)

// LogHandler adds the trace that a line belongs to: trace_id and span_id, as in
// OpenTelemetry's data model of logs.
func LogHandler(h slog.Handler) slog.Handler { return logHandler{h} }

type logHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	if s := Current(ctx); s != nil {
		r.AddAttrs(slog.String("trace_id", s.trace.id.String()), slog.String("span_id", s.ID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }
