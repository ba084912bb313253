//go:build integration

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
)

// binary returns the built command: the one SEXTANT_BINARY names, or one built here.
func binary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("SEXTANT_BINARY"); path != "" {
		return path
	}
	path := filepath.Join(t.TempDir(), "sextant")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// command prepares the binary to run on a data folder, with nothing else in its environment.
func command(ctx context.Context, binary, data string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, binary, args...)
	c.Env = []string{"SEXTANT_DATA=" + data, "HOME=" + filepath.Dir(data), "NO_COLOR=1"}
	if args[0] == "ingest" { // these tests are about processes and disks, and encoding takes minutes
		c.Env = append(c.Env, "EMBEDDER=none")
	}
	return c
}

// finish runs a command to its end.
func finish(t *testing.T, c *exec.Cmd) result {
	t.Helper()
	var out, err bytes.Buffer
	c.Stdout, c.Stderr = &out, &err
	if e := c.Run(); e != nil && c.ProcessState == nil {
		t.Fatal(e)
	}
	return result{c.ProcessState.ExitCode(), out.String(), err.String()}
}

var announced = regexp.MustCompile(`http://[0-9.:\[\]a-f]+`)

// server is a running `sextant serve`.
type server struct {
	*exec.Cmd
	url string
}

// start runs `sextant serve` on a free port and waits for its announcement.
func start(t *testing.T, binary, data string, args ...string) *server {
	t.Helper()
	c := command(t.Context(), binary, data, append([]string{"serve", "--port", "0"}, args...)...)
	lines, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(lines)
	for scanner.Scan() {
		if url := announced.FindString(scanner.Text()); url != "" {
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return &server{c, url}
		}
	}
	t.Fatalf("serve ended without an announcement: %v", c.Wait())
	return nil
}

// stop asks the server to end and returns how long that took.
func (s *server) stop(t *testing.T, signal os.Signal) time.Duration {
	t.Helper()
	began := time.Now()
	if err := s.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("after %v the server ended with %v", signal, err)
	}
	return time.Since(began)
}

func documents(t *testing.T, c *exec.Cmd) int64 {
	t.Helper()
	r := finish(t, c)
	if r.code != exitOK {
		t.Fatalf("describe: exit %d\n%s", r.code, r.err)
	}
	return decode[sextant.Description](t, r.out).Documents
}

func TestIntegrationServe(t *testing.T) {
	bin, data := binary(t), filled(t, 30)
	s := start(t, bin, data)

	response, err := http.Get(s.url + "/health")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("/health: %s", response.Status)
	}

	// Verbs that ask go to the server that has the folder.
	ask := []string{"ask", "--json", "How many fatal accidents happened in Alaska?"}
	served := finish(t, command(t.Context(), bin, data, ask...))
	if served.code != exitOK {
		t.Errorf("ask beside the server: exit %d\n%s", served.code, served.err)
	}
	if got := decode[struct {
		Computed []struct{ Total int64 }
	}](t, served.out); len(got.Computed) == 0 || got.Computed[0].Total != 10 {
		t.Errorf("10 fatal accidents in Alaska expected: %s", served.out)
	}

	// Verbs that look after the folder work beside it.
	health := finish(t, command(t.Context(), bin, data, "doctor", "--json"))
	if d := decode[diagnosis](t, health.out); health.code != exitOK || d.Holder == nil || d.Holder.Address != s.url || d.Collections[0].Memory == 0 {
		t.Errorf("doctor beside the server: exit %d, %s", health.code, health.out)
	}
	backup := filepath.Join(t.TempDir(), "backup.tar")
	if r := finish(t, command(t.Context(), bin, data, "backup", backup)); r.code != exitOK {
		t.Errorf("backup beside the server: exit %d\n%s", r.code, r.err)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if r := finish(t, command(t.Context(), bin, restored, "restore", backup)); r.code != exitOK {
		t.Errorf("restore: exit %d\n%s", r.code, r.err)
	}
	if n := documents(t, command(t.Context(), bin, restored, "describe", "--json", "incidents")); n != 30 {
		t.Errorf("%d documents restored of 30", n)
	}

	// What is to be taken in is sent to it.
	if r := finish(t, command(t.Context(), bin, data, "ingest", "ntsb", accidents(t, 1))); r.code != exitOK || !strings.Contains(r.err, s.url) {
		t.Errorf("ingest beside the server: exit %d, %q", r.code, r.err)
	}

	// Verbs that need the folder to themselves say who has it.
	for _, args := range [][]string{{"verify"}, {"doctor", "--repair"}, {"restore", "--force", backup}} {
		refused := finish(t, command(t.Context(), bin, data, args...))
		if want := fmt.Sprintf("process %d", s.Process.Pid); refused.code != exitFailure || !strings.Contains(refused.err, want) || !strings.Contains(refused.err, s.url) {
			t.Errorf("%v beside the server: exit %d, %q; want %q and %s in it", args, refused.code, refused.err, want, s.url)
		}
	}

	if took := s.stop(t, syscall.SIGTERM); took > 12*time.Second {
		t.Errorf("SIGTERM: stopped after %s", took)
	}
	if n := documents(t, command(t.Context(), bin, data, "describe", "--json", "incidents")); n != 30 {
		t.Errorf("%d documents after the server, want 30", n)
	}
	start(t, bin, data).stop(t, os.Interrupt)
}

func TestIntegrationStartTwiceOnOnePort(t *testing.T) {
	bin := binary(t)
	s := start(t, bin, filepath.Join(t.TempDir(), "one"))
	defer s.stop(t, syscall.SIGTERM)
	port := s.url[strings.LastIndexByte(s.url, ':')+1:]
	second := filepath.Join(t.TempDir(), "two")
	got := finish(t, command(t.Context(), bin, second, "serve", "--port", port))
	if got.code != exitFailure || !strings.Contains(got.err, "127.0.0.1:"+port) || strings.Contains(got.err, "serves") {
		t.Errorf("exit %d, %q", got.code, got.err)
	}
	if r := finish(t, command(t.Context(), bin, second, "collections")); r.code != exitOK {
		t.Errorf("the folder of the one that failed is not free: %q", r.err)
	}
}

// TestIntegrationKilledIngestion kills ingestion at random points. Every next run resumes,
// and in the end nothing is missing and nothing is there twice.
func TestIntegrationKilledIngestion(t *testing.T) {
	const n = 6000
	bin, file := binary(t), accidents(t, n)
	whole := filepath.Join(t.TempDir(), "whole")
	began := time.Now()
	if r := finish(t, command(t.Context(), bin, whole, "ingest", "ntsb", file)); r.code != exitOK {
		t.Fatalf("ingest: exit %d\n%s", r.code, r.err)
	}
	took := time.Since(began)

	data := filepath.Join(t.TempDir(), "killed")
	killed := 0
	for range 8 {
		c := command(t.Context(), bin, data, "ingest", "ntsb", file)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(took))))
		_ = c.Process.Kill() // it may be done already
		if c.Wait() != nil {
			killed++
		}
	}
	if killed == 0 {
		t.Error("no run was killed; the file is too small")
	}
	if r := finish(t, command(t.Context(), bin, data, "ingest", "ntsb", file)); r.code != exitOK {
		t.Fatalf("ingest after %d kills: exit %d\n%s", killed, r.code, r.err)
	}
	for _, dir := range []string{whole, data} {
		if got := documents(t, command(t.Context(), bin, dir, "describe", "--json", "incidents")); got != n {
			t.Errorf("%s holds %d documents, want %d", filepath.Base(dir), got, n)
		}
	}
	ask := []string{"ask", "--json", "How many fatal Cessna 172 accidents happened in Alaska, by year?"}
	if a, b := counts(t, command(t.Context(), bin, whole, ask...)), counts(t, command(t.Context(), bin, data, ask...)); a != b {
		t.Errorf("counts differ: %s whole, %s after kills", a, b)
	}
}

func counts(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	r := finish(t, c)
	got := decode[struct {
		Computed []struct {
			Total int64
			Rows  json.RawMessage
		}
	}](t, r.out)
	return fmt.Sprintf("%d %+v", r.code, got)
}

// TestIntegrationDiskFull fills a small volume and goes on when there is room.
func TestIntegrationDiskFull(t *testing.T) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("needs root on Linux to mount a small volume")
	}
	volume := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", volume).CombinedOutput(); err != nil {
		t.Skipf("needs permission to mount a tmpfs: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", volume).Run() })
	bin, data := binary(t), filepath.Join(volume, "data")
	few, many := accidents(t, 20), accidents(t, 20000)
	if r := finish(t, command(t.Context(), bin, data, "ingest", "ntsb", few)); r.code != exitOK {
		t.Fatalf("ingest of little: exit %d\n%s", r.code, r.err)
	}
	full := finish(t, command(t.Context(), bin, data, "ingest", "ntsb", many))
	if full.code != exitFailure || !strings.Contains(full.err, "no space left") || !strings.Contains(full.err, data) {
		t.Errorf("ingest of too much: exit %d, %q", full.code, full.err)
	}
	if n := documents(t, command(t.Context(), bin, data, "describe", "--json", "incidents")); n < 20 {
		t.Errorf("%d documents after the volume was full, want the 20 that were there", n)
	}
	rest := filepath.Join(volume, "rest")
	if err := os.WriteFile(rest, make([]byte, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the volume to its last byte: %v", err)
	}
	if n := documents(t, command(t.Context(), bin, data, "describe", "--json", "incidents")); n < 20 {
		t.Errorf("%d documents on a volume without a byte left, want the 20 that were there", n)
	}
	if r := finish(t, command(t.Context(), bin, data, "ingest", "ntsb", many)); r.code != exitFailure || !strings.Contains(r.err, "no space left") {
		t.Errorf("ingest on a volume without a byte left: exit %d, %q", r.code, r.err)
	}
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,size=256m", volume).CombinedOutput(); err != nil {
		t.Fatalf("remount: %s", out)
	}
	if r := finish(t, command(t.Context(), bin, data, "ingest", "ntsb", many)); r.code != exitOK {
		t.Errorf("ingest with room again: exit %d\n%s", r.code, r.err)
	}
	if n := documents(t, command(t.Context(), bin, data, "describe", "--json", "incidents")); n != 20000 {
		t.Errorf("%d documents, want 20000", n)
	}
}
