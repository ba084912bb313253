package ingest_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

// openDesk opens a desk whose orders are of words; gate, if it is not nil, is called
// before each record.
func openDesk(t *testing.T, st store.Store, folder string, gate func(int64)) *ingest.Desk {
	t.Helper()
	d, err := ingest.NewDesk(t.Context(), ingest.DeskConfig{
		Journal: st.Journal(), Folder: folder, Upload: 1000,
		Open: func(_ context.Context, o ingest.Order, paths []string) (ingest.Job, []string, func(), error) {
			if o.Kind == "panic" {
				panic("out of order")
			}
			s := &words{}
			for _, p := range paths {
				text, err := os.ReadFile(p)
				if err != nil {
					return ingest.Job{}, nil, nil, err
				}
				f := file(filepath.Base(p), strings.Split(string(text), "\n")...)
				f.hook = gate
				s.files = append(s.files, f)
			}
			return ingest.Job{Store: st, Collection: notes(), Source: s, Batch: 4, MarkEach: time.Nanosecond}, []string{"read as words"}, func() {}, nil
		},
		Fetch: func(_ context.Context, url, folder string) (string, error) {
			if strings.Contains(url, "private") {
				return "", &sextant.Error{Code: sextant.CodeBadRequest, Message: "The address is not a public one."}
			}
			return "got.txt", os.WriteFile(filepath.Join(folder, "got.txt"), []byte("9 fetched"), 0o600)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func sent(files ...string) iter.Seq2[ingest.Sent, error] {
	return func(yield func(ingest.Sent, error) bool) {
		for i := 0; i < len(files); i += 2 {
			if !yield(ingest.Sent{Name: files[i], Body: strings.NewReader(files[i+1])}, nil) {
				return
			}
		}
	}
}

// ended waits for a task's end.
func ended(t *testing.T, d *ingest.Desk, id string) ingest.Task {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var last ingest.Task
	for task, err := range d.Watch(ctx, id) {
		if err != nil {
			t.Fatal(err)
		}
		last = task
	}
	return last
}

func take(t *testing.T, d *ingest.Desk, o ingest.Order, files ...string) ingest.Task {
	t.Helper()
	task, err := d.Take(t.Context(), o, sent(files...))
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func TestADeskTakesOrders(t *testing.T) {
	st, folder := openStore(t, t.TempDir()), t.TempDir()
	d := openDesk(t, st, folder, nil)
	defer d.Close()
	first := take(t, d, ingest.Order{Kind: "words"}, "a.txt", "1 x\n2 y\n3")
	second := take(t, d, ingest.Order{Kind: "words", URL: "https://example.org/got"})
	third := take(t, d, ingest.Order{Kind: "words", URL: "https://private.example"})
	fourth := take(t, d, ingest.Order{Kind: "panic"}, "a.txt", "1 x")
	if got := ended(t, d, first.ID); got.State != ingest.Done || got.Receipt.Records[sextant.Refused] != 1 || got.Receipt.Documents.Added != 2 || got.Progress == nil || got.Notes[0] != "read as words" {
		t.Errorf("%+v", got)
	}
	if got := ended(t, d, second.ID); got.State != ingest.Done || got.Receipt.Documents.Added != 1 || got.Files[0] != "upload/got.txt" {
		t.Errorf("%+v", got)
	}
	if got := ended(t, d, third.ID); got.State != ingest.Failed || got.Problem.Detail != "The address is not a public one." {
		t.Errorf("%+v", got)
	}
	if got := ended(t, d, fourth.ID); got.State != ingest.Failed || strings.Contains(got.Problem.Detail, "out of order") {
		t.Errorf("the inside of a failure is shown: %+v", got.Problem)
	}
	var order []string
	for _, task := range d.Tasks() {
		order = append(order, task.ID)
	}
	if diff := cmp.Diff([]string{fourth.ID, third.ID, second.ID, first.ID}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 2 { // those that failed can be resumed
		t.Errorf("%v %v", left, err)
	}
}

func TestWhatADeskDoesNotTake(t *testing.T) {
	st, folder := openStore(t, t.TempDir()), t.TempDir()
	d := openDesk(t, st, folder, nil)
	defer d.Close()
	for _, c := range []struct {
		files []string
		code  sextant.Code
	}{
		{nil, sextant.CodeBadRequest}, {[]string{"../a", "x"}, sextant.CodeBadRequest}, {[]string{"/etc/a", "x"}, sextant.CodeBadRequest}, {[]string{"..", "x"}, sextant.CodeBadRequest},
		{[]string{"a/../../b", "x"}, sextant.CodeBadRequest}, {[]string{`..\a`, "x"}, sextant.CodeBadRequest}, {[]string{"a\x00b", "x"}, sextant.CodeBadRequest}, {[]string{"", "x"}, sextant.CodeBadRequest},
		{[]string{"a", "x", "upload/a", "y"}, sextant.CodeBadRequest}, {[]string{"a", strings.Repeat("x", 1001)}, sextant.CodeTooLarge},
		{[]string{"a", strings.Repeat("x", 600), "b", strings.Repeat("x", 600)}, sextant.CodeTooLarge},
	} {
		if _, err := d.Take(t.Context(), ingest.Order{Kind: "words"}, sent(c.files...)); sextant.ErrorCode(err) != c.code {
			t.Errorf("%.40q: %v", c.files, err)
		}
	}
	broken := func(yield func(ingest.Sent, error) bool) {
		yield(ingest.Sent{Name: "a", Body: io.MultiReader(strings.NewReader("1 x"), &failing{})}, nil)
	}
	if _, err := d.Take(t.Context(), ingest.Order{Kind: "words"}, broken); !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("something was left: %v %v", left, err)
	}
	if _, err := d.Task("none"); sextant.ErrorCode(err) != sextant.CodeNotFound {
		t.Errorf("%v", err)
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errBroken }

func TestCancelledAndInterruptedTasks(t *testing.T) {
	st, folder := openStore(t, t.TempDir()), t.TempDir()
	reached, goOn := make(chan bool, 100), make(chan bool)
	gate := func(record int64) {
		if record == 20 {
			reached <- true
			<-goOn
		}
	}
	text := strings.Join(manyLines(60, "x"), "\n")
	d := openDesk(t, st, folder, gate)
	running := take(t, d, ingest.Order{Kind: "words"}, "a.txt", text)
	waiting := take(t, d, ingest.Order{Kind: "words"}, "b.txt", text)
	<-reached
	if got, err := d.Cancel(t.Context(), waiting.ID); err != nil || got.State != ingest.Cancelled {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := d.Resume(t.Context(), running.ID); sextant.ErrorCode(err) != sextant.CodeConflict {
		t.Errorf("a running task was resumed: %v", err)
	}
	if got, err := d.Cancel(t.Context(), running.ID); err != nil || got.State != ingest.Running {
		t.Errorf("%+v %v", got, err)
	}
	close(goOn)
	if got := ended(t, d, running.ID); got.State != ingest.Cancelled {
		t.Errorf("%+v", got)
	}

	// The server ends in between, and another one goes on.
	goOn = make(chan bool)
	third := take(t, d, ingest.Order{Kind: "words"}, "c.txt", text)
	<-reached
	go func() {
		time.Sleep(10 * time.Millisecond)
		close(goOn)
	}()
	d.Close()
	if got, err := d.Task(third.ID); err != nil || got.State != ingest.Interrupted {
		t.Fatalf("%+v %v", got, err)
	}
	d = openDesk(t, st, folder, nil)
	defer d.Close()
	if got, err := d.Task(third.ID); err != nil || got.State != ingest.Interrupted {
		t.Fatalf("after a restart: %+v %v", got, err)
	}
	if _, err := d.Resume(t.Context(), third.ID); err != nil {
		t.Fatal(err)
	}
	if got := ended(t, d, third.ID); got.State != ingest.Done || got.Receipt.Read != 60 {
		t.Errorf("%+v", got)
	}
	if _, err := d.Resume(t.Context(), third.ID); sextant.ErrorCode(err) != sextant.CodeConflict {
		t.Errorf("a task that is done was resumed: %v", err)
	}
}
