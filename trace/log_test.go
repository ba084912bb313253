package trace_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant/trace"
)

func TestLogLinesCarryTheirTrace(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(trace.LogHandler(slog.NewTextHandler(&out, nil))).With("part", "store")
	ctx, root, _ := open(t)
	log.InfoContext(ctx, "inside")
	log.InfoContext(t.Context(), "outside")
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[0], "part=store trace_id="+root.TraceID().String()) || strings.Contains(lines[1], "trace_id") {
		t.Errorf("%s", out.String())
	}
}
