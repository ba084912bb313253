package trace_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/trace"
)

func TestLogLinesCarryTheirTrace(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(trace.LogHandler(slog.NewTextHandler(&out, nil), trace.NewScrubber("known-secret"))).With("part", "store")
	ctx, root, _ := open(t)
	log.InfoContext(ctx, "inside")
	log.InfoContext(t.Context(), "outside")
	log.WithGroup("g").With("a", "known-secret").Info("known-secret", "error", errors.New("password=correcthorse"), slog.Group("h", "b", "known-secret"))
	if strings.Contains(out.String(), "known-secret") || strings.Contains(out.String(), "correcthorse") {
		t.Errorf("a secret is in the log: %s", out.String())
	}
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[0], "part=store trace_id="+root.TraceID().String()) || strings.Contains(lines[1], "trace_id") {
		t.Errorf("%s", out.String())
	}
}
