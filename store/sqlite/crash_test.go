package sqlite

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant/store/storetest"
)

var crashes = flag.Int("crashes", 25, "how often the writing process is killed; a third of it with -short")

// A process that writes is killed at random moments, over and over on the same folder.
// The folder always opens, holds every step that was acknowledged, at most the one that
// was under way besides, and nothing else.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir, l := t.TempDir(), life{seed: 11}
	rng := rand.New(rand.NewPCG(11, 11))
	steps, ref := 0, storetest.NewReference(l.spec())
	lives := rounds(*crashes)
	for range lives {
		acknowledged := runUntilKilled(t, dir, l, steps, rng.IntN(3) == 0, time.Duration(rng.IntN(60))*time.Millisecond)
		for ; steps < acknowledged; steps++ {
			l.follow(ref, steps)
		}
		s := openWith(t, dir, eager)
		c, err := s.Ensure(t.Context(), l.spec())
		if err != nil {
			t.Fatalf("after %d steps: %v", steps, err)
		}
		if diff, err := differs(c, ref); err != nil {
			t.Fatalf("after %d steps: %v", steps, err)
		} else if diff != "" { // the step under way may have been done
			l.follow(ref, steps)
			steps++
			mustBe(t, c, ref)
		}
		if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Fatalf("after %d steps: %v %+v", steps, err, problems)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if steps < lives {
		t.Errorf("only %d steps in %d lives: the test kills too early to say anything", steps, lives)
	}
}

func openWith(t *testing.T, dir string, at thresholds) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir, at: at, Log: slogTo(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// runUntilKilled has another process live from a step on, kills it some time after its
// first step, or after it began opening the folder, and returns how many steps were acknowledged.
func runUntilKilled(t *testing.T, dir string, l life, from int, opening bool, after time.Duration) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestWriterProcess$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("SEXTANT_TEST_WRITER=%d %d %s", l.seed, from, dir))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
	}
	if opening { // the time runs from here, and may end while it opens the folder
		defer time.AfterFunc(after, func() { cmd.Process.Kill() }).Stop()
	}
	for lines.Scan() {
		if !opening {
			opening = true
			defer time.AfterFunc(after, func() { cmd.Process.Kill() }).Stop()
		}
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			rest, _ := io.ReadAll(out)
			t.Fatalf("the writer failed: %s %s", lines.Text(), rest)
		}
		from = n
	}
	cmd.Wait()
	return from
}

// TestWriterProcess is the process that is killed.
func TestWriterProcess(t *testing.T) {
	order := os.Getenv("SEXTANT_TEST_WRITER")
	if order == "" {
		t.Skip("run by TestKilled")
	}
	parts := strings.SplitN(order, " ", 3)
	seed, _ := strconv.ParseUint(parts[0], 10, 64)
	from, _ := strconv.Atoi(parts[1])
	if err := writeForEver(life{seed}, parts[2], from); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func writeForEver(l life, dir string, from int) error {
	ctx := context.Background()
	fmt.Println("ready")
	for i := from; ; {
		s, err := Open(ctx, Options{Dir: dir, at: eager})
		if err != nil {
			return err
		}
		c, err := s.Ensure(ctx, l.spec())
		if err != nil {
			return err
		}
		for range 7 {
			if err := l.live(ctx, c, i); err != nil {
				return err
			}
			i++
			fmt.Println(i)
		}
		if err := s.Close(); err != nil { // writes a derived file, and begins anew
			return err
		}
	}
}
