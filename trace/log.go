package trace

import (
	"context"
	"log/slog"
)

// LogHandler adds the trace that a line belongs to, trace_id and span_id as in
// OpenTelemetry's data model of logs, and takes secrets out of messages and values.
func LogHandler(h slog.Handler, scrub *Scrubber) slog.Handler { return logHandler{h, scrub} }

type logHandler struct {
	slog.Handler
	scrub *Scrubber
}

// Handle implements slog.Handler.
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.scrub.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.clean(a))
		return true
	})
	if s := Current(ctx); s != nil {
		clean.AddAttrs(slog.String("trace_id", s.trace.id.String()), slog.String("span_id", s.ID().String()))
	}
	return h.Handler.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	cleaned := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		cleaned[i] = h.clean(a)
	}
	return logHandler{h.Handler.WithAttrs(cleaned), h.scrub}
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name), h.scrub}
}

// clean looks at strings, and at errors and other values as they will be printed.
func (h logHandler) clean(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString, slog.KindAny:
		if text, scrubbed := v.String(), h.scrub.Text(v.String()); scrubbed != text {
			return slog.String(a.Key, scrubbed)
		}
	case slog.KindGroup:
		group := make([]slog.Attr, len(v.Group()))
		for i, inner := range v.Group() {
			group[i] = h.clean(inner)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(group...)}
	}
	return a
}
