//go:build linux && !nomodel

package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/bert"
	"github.com/sextant-rag/sextant/embed/embedtest"
)

// With one CPU and a quarter of the memory that Python needs to say hello to a model, texts
// of any kind are embedded, and deadlines hold.
func TestStarved(t *testing.T) {
	if os.Getenv("SEXTANT_TEST_STARVED") != "" {
		starve(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStarved$", "-test.v")
	cmd.Env = append(os.Environ(), "SEXTANT_TEST_STARVED=1", "GOMEMLIMIT=40MiB", "GOMAXPROCS=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, out.String())
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Skip("the system does not tell what memory a process took")
	}
	// 24 MB of weights in the file, which the system may drop, and the program itself.
	if mb := usage.Maxrss >> 10; mb > 160 {
		t.Errorf("%d MB resident at most", mb)
	} else {
		t.Logf("%d MB resident at most", mb)
	}
}

func starve(t *testing.T) {
	e := open(t, bert.Options{})
	texts := []string{strings.Repeat("x", 1<<20), "a" + strings.Repeat("\u0301\u0323", 100_000), strings.Repeat("中", 300_000), strings.Repeat("long text ", 100_000)}
	for i := range 12 {
		texts = append(texts, fmt.Sprintf("the pilot landed %d times", i))
	}
	embedtest.Embed(t, e, texts...)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	start := time.Now()
	many := make([]string, 5000)
	for i := range many {
		many[i] = strings.Repeat("long text ", 200)
	}
	if v, err := e.Embed(ctx, many); !errors.Is(err, context.DeadlineExceeded) || v != nil {
		t.Errorf("%d vectors, error %v", len(v), err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("stopped only after %v", took)
	}
}
