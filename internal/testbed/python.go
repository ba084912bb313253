//go:build unix

package testbed

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// cache is where things are installed: .cache at the root of the module.
func cache(t testing.TB) string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("testbed: the source tree cannot be found")
	}
	return filepath.Join(filepath.Dir(file), "..", "..", ".cache")
}

// Python returns the folder of a virtual environment with exactly the named packages
// ("mlflow[auth]==3.17.2"), made on first use. A second test process that needs it at the
// same time waits.
func Python(t testing.TB, name string, packages ...string) string {
	t.Helper()
	dir := filepath.Join(cache(t), "python", name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	unlock := lock(t, dir+".lock")
	defer unlock()
	stamp := filepath.Join(dir, "installed.txt")
	want := fmt.Sprintln(packages)
	if got, err := os.ReadFile(stamp); err == nil && string(got) == want {
		return dir
	}
	t.Logf("testbed: installing %v", packages)
	for _, args := range [][]string{{"python3", "-m", "venv", "--clear", dir}, append([]string{filepath.Join(dir, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check"}, packages...)} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("testbed: %v: %v\n%s", args, err, out)
		}
	}
	if err := os.WriteFile(stamp, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func lock(t testing.TB, path string) (unlock func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() }
}

// Process is a server that a test started.
type Process struct {
	URL  string
	cmd  *exec.Cmd
	log  bytes.Buffer
	done chan struct{}
}

// start runs a command and waits until its health route answers. The process and all its
// children end with the test.
func start(t testing.TB, url, health string, patience time.Duration, env []string, name string, args ...string) *Process {
	t.Helper()
	p := &Process{URL: url, done: make(chan struct{})}
	p.cmd = exec.Command(name, args...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("testbed: start %s: %v", name, err)
	}
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	t.Cleanup(p.Stop)
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if answers(t.Context(), url+health) {
			return p
		}
		select {
		case <-p.done:
			t.Fatalf("testbed: %s ended before it answered:\n%s", name, p.log.String())
		default:
		}
		if time.Now().After(deadline) {
			p.Stop()
			t.Fatalf("testbed: %s does not answer after %s:\n%s", name, patience, p.log.String())
		}
	}
}

func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// Stop ends the server and its children, at once. It may be called twice.
func (p *Process) Stop() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// freePort is a port that nothing listens on right now.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
