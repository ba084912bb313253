//go:build integration

package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manyTickets writes a table of about so many bytes.
func manyTickets(t *testing.T, size int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "many.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintln(w, "ticket_id,opened,status,amount,product,report")
	r, words := rand.New(rand.NewPCG(1, 2)), strings.Fields("engine lost power router drops link invoice billed twice please replace part delivered late box damaged refund asked agent called back resolved field report")
	var b strings.Builder
	for n, i := int64(0), 0; n < size; i++ {
		b.Reset()
		fmt.Fprintf(&b, "T-%d,%d-%02d-%02d,%s,%d.50,product %d,\"", i, 2015+i%10, 1+i%12, 1+i%28, []string{"open", "closed", "waiting"}[i%3], i%900, i%300)
		for range 500 {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(' ')
		}
		b.WriteString("\"\n")
		k, err := w.WriteString(b.String())
		if err != nil {
			t.Fatal(err)
		}
		n += int64(k)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Memory is for documents, not for their text: some 180 MB and 0.4 kB a document, here with
// a margin. Pages of mapped files are the system's to take back. SEXTANT_INTAKE_MB takes more
// through: a gigabyte of NTSB narratives, 1.1 million rows, was seen to need 628 MB.
func TestIntegrationMemoryIsBounded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the size of a process is read from Linux's accounts")
	}
	size := int64(128 << 20)
	if mb, err := strconv.ParseInt(os.Getenv("SEXTANT_INTAKE_MB"), 10, 64); err == nil {
		size = mb << 20
	}
	bin, data, table := binary(t), filepath.Join(t.TempDir(), "data"), manyTickets(t, size)
	c := command(t.Context(), bin, data, "ingest", "table", "--no-encode", "--collection", "many", table)
	began, ended, peak := time.Now(), make(chan struct{}), make(chan int64)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { peak <- ownMemory(c.Process.Pid, ended) }()
	err := c.Wait()
	close(ended)
	if err != nil {
		t.Fatal(err)
	}
	own, rows := <-peak, documents(t, command(t.Context(), bin, data, "describe", "--json", "many"))
	t.Logf("%d MB in %d rows in %s, %.1f s of processor time, at most %d MB of memory of its own", size>>20, rows, time.Since(began).Round(time.Second), (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), own>>20)
	if most := int64(240<<20) + 450*rows; own == 0 || own > most {
		t.Errorf("%d MB of memory, at most %d expected", own>>20, most>>20)
	}
}

// ownMemory watches a process until it has ended, and returns the most bytes that were in
// memory and no pages of files.
func ownMemory(pid int, ended <-chan struct{}) (most int64) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return most
		case <-tick.C:
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // or it has just ended
		var kb int64
		if _, rest, ok := strings.Cut(string(status), "RssAnon:"); ok {
			fmt.Sscan(rest, &kb)
		}
		most = max(most, kb<<10)
	}
}

// Whatever verb is killed whenever: starting it again ends as if nothing had happened.
func TestIntegrationKilledVerbs(t *testing.T) {
	bin, table := binary(t), manyTickets(t, 12<<20)
	folder := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 1500 {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("note-%d.md", i)), fmt.Appendf(nil, "# Note %d\n\nThe pump of station %d was checked and found dry.\n", i, i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	verbs := map[string][]string{
		"table": {"ingest", "table", "--no-encode", "--collection", "many", table},
		"files": {"ingest", "files", "--no-encode", "--collection", "notes", folder},
	}
	for name, args := range verbs {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			for round := range 8 {
				c := command(t.Context(), bin, data, args...)
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(50+rand.IntN(400)*(round+1)) * time.Millisecond)
				_ = c.Process.Kill()
				_ = c.Wait()
			}
			if got := finish(t, command(t.Context(), bin, data, args...)); got.code != 0 {
				t.Fatalf("exit %d: %s", got.code, got.err)
			}
			got := finish(t, command(t.Context(), bin, data, "verify"))
			if got.code != 0 || !strings.Contains(got.out, "Everything is as ingestion left it") {
				t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
			}
			whole := filepath.Join(t.TempDir(), "whole")
			if got := finish(t, command(t.Context(), bin, whole, args...)); got.code != 0 {
				t.Fatalf("exit %d: %s", got.code, got.err)
			}
			if a, b := held(t, bin, data), held(t, bin, whole); a != b {
				t.Errorf("after being killed:\n%s\nwithout:\n%s", a, b)
			}
			killDeletion(t, bin, data, map[string]string{"table": "many", "files": "notes"}[name])
		})
	}
}

// held is what the collections of a data folder hold.
func held(t *testing.T, bin, data string) string {
	t.Helper()
	got := finish(t, command(t.Context(), bin, data, "verify"))
	if got.code != 0 {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	return got.out
}

// killDeletion kills a deletion and starts it again.
func killDeletion(t *testing.T, bin, data, source string) {
	t.Helper()
	c := command(t.Context(), bin, data, "delete", "--source", source)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
	_ = c.Process.Kill()
	_ = c.Wait()
	_ = finish(t, command(t.Context(), bin, data, "delete", "--source", source)) // nothing may be left to delete
	got := finish(t, command(t.Context(), bin, data, "verify", "--json"))
	if got.code != 0 || !strings.Contains(got.out, `"collection":"`+source+`"`) || strings.Contains(got.out, `"extra":["`) || strings.Contains(got.out, `"missing":["`) {
		t.Errorf("exit %d: %.400s%s", got.code, got.out, got.err)
	}
}

// While a server has the folder, commands send it what they would have read; two at once
// wait for each other.
func TestIntegrationIngestWhileServing(t *testing.T) {
	bin, data := binary(t), filepath.Join(t.TempDir(), "data")
	s := start(t, bin, data)
	table := manyTickets(t, 2<<20)
	first, second := command(t.Context(), bin, data, "ingest", "table", "--no-encode", "--collection", "many", table), command(t.Context(), bin, data, "ingest", "table", "--no-encode", "--collection", "more", table)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	got := finish(t, second)
	if err := first.Wait(); err != nil || got.code != 0 {
		t.Fatalf("%v; exit %d: %s", err, got.code, got.err)
	}
	if !strings.Contains(got.out, "0 changed, 0 unchanged in more") {
		t.Errorf("%s%s", got.out, got.err)
	}
	if got := finish(t, command(t.Context(), bin, data, "ask", "How many many records are waiting?")); !strings.Contains(got.out, "waiting") {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
	}
	s.stop(t, syscall.SIGTERM)
	if got := finish(t, command(t.Context(), bin, data, "verify")); got.code != 0 {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
	}
}
