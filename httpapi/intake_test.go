package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/table"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// withDesk is a server that takes tables of two columns in.
func withDesk(t *testing.T) http.Handler {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	desk, err := ingest.NewDesk(t.Context(), ingest.DeskConfig{Journal: st.Journal(), Folder: t.TempDir(), Upload: 4096,
		Open: func(_ context.Context, o ingest.Order, paths []string) (ingest.Job, []string, func(), error) {
			m := table.Mapping{Source: o.Collection, Collection: o.Collection, ID: "no", Now: time.Now()}
			m.Fields = []table.Column{{Name: "city", Field: filter.Field{Name: "city", Kind: filter.Keyword, Facet: true}}}
			var blobs []source.Blob
			for _, p := range paths {
				b, err := source.File(p)
				if err != nil {
					return ingest.Job{}, nil, nil, err
				}
				blobs = append(blobs, b)
			}
			spec := sextant.Collection{Name: o.Collection, Title: o.Collection, Unit: "rows", Schema: filter.Schema{Fields: []filter.Field{m.Fields[0].Field}}}
			return ingest.Job{Store: st, Collection: spec, Source: table.NewSource(m, blobs...)}, []string{"Schema: as it is"}, func() {}, nil
		},
		Fetch: func(context.Context, string, string) (string, error) {
			return "", &sextant.Error{Code: sextant.CodeBadRequest, Op: "fetch", Message: "The address is not a public one.", Hint: "Send the file itself."}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { desk.Close(); st.Close() })
	config := quiet()
	config.Desk = desk
	return newServer(t, newFake(), config).Handler()
}

// upload is a form as a browser sends it; files come in pairs of name and content.
func upload(fields map[string]string, files ...string) *http.Request {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for name, value := range fields {
		_ = form.WriteField(name, value)
	}
	for i := 0; i < len(files); i += 2 {
		part, _ := form.CreateFormFile("file", files[i])
		_, _ = part.Write([]byte(files[i+1]))
	}
	_ = form.Close()
	r := httptest.NewRequest(http.MethodPost, "/v1/ingest", &b)
	r.Host = "127.0.0.1:8000"
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}

// moving is what differs from run to run.
var moving = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8}`), "20260315T120000.000000Z-00000000"},
	{regexp.MustCompile(`"(created|started|ended|finished)":"[^"]+"`), `"$1":"2026-03-15T12:00:00Z"`},
	{regexp.MustCompile(`"(bytes_per_second|seconds_left|seconds)":[0-9.e+-]+`), `"$1":1`},
}

func still(text string) []byte {
	for _, m := range moving {
		text = m.what.ReplaceAllString(text, m.with)
	}
	return []byte(text)
}

func location(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	if w.Code != http.StatusAccepted || !strings.HasPrefix(w.Header().Get("Location"), "/v1/jobs/") {
		t.Fatalf("%d %s: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	return w.Header().Get("Location")
}

func TestGoldenJobs(t *testing.T) {
	h := withDesk(t)
	w := do(h, upload(map[string]string{"kind": "table", "collection": "cities", "reread": "false"}, "cities.csv", "no,city\n1,Bern\n2,York\n,lost\n"))
	job := location(t, w)
	golden(t, "job_queued.json", still(w.Body.String()))

	events := do(h, request("GET", job, "", "Accept", "text/event-stream")).Body.String()
	if !strings.Contains(events, "event: done\n") || strings.Count(events, "event: done\n") != 1 || strings.Contains(events, "event: error") {
		t.Errorf("events %s", events)
	}
	w = do(h, request("GET", job, ""))
	golden(t, "job_done.json", still(w.Body.String()))

	failed := location(t, do(h, request("POST", "/v1/ingest", `{"kind": "table", "collection": "cities", "url": "http://10.0.0.1/"}`)))
	do(h, request("GET", failed, "", "Accept", "text/event-stream")) // until its end
	golden(t, "job_failed.json", still(do(h, request("GET", failed, "")).Body.String()))
	golden(t, "jobs.json", still(do(h, request("GET", "/v1/jobs", "")).Body.String()))
	if w := do(h, request("POST", job+"/cancel", "{}")); w.Code != 200 || !strings.Contains(w.Body.String(), `"state":"done"`) {
		t.Errorf("cancelling what is done: %d %s", w.Code, w.Body)
	}
	if w := do(h, request("POST", job+"/resume", "{}")); w.Code != http.StatusConflict {
		t.Errorf("resuming what is done: %d %s", w.Code, w.Body)
	}
}

func TestWhatIsNotTakenIn(t *testing.T) {
	h, good := withDesk(t), map[string]string{"kind": "table", "collection": "cities"}
	foreign := upload(good, "a.csv", "no,city\n1,Bern\n")
	foreign.Header.Set("Origin", "https://evil.example")
	rebound := upload(good, "a.csv", "no,city\n1,Bern\n")
	rebound.Host = "evil.example"
	cut := upload(good, "a.csv", "no,city\n1,Bern\n")
	cut.Body = http.NoBody
	for i, c := range []struct {
		request *http.Request
		status  int
	}{
		{foreign, 403}, {rebound, 403}, {cut, 400},
		{upload(nil, "a.csv", "x"), 400}, {upload(map[string]string{"kind": "secrets"}, "a.csv", "x"), 400}, {upload(map[string]string{"kind": "table"}, "a.csv", "x"), 400},
		{upload(map[string]string{"kind": "table", "collection": "c", "colour": "red"}, "a.csv", "x"), 400}, {upload(map[string]string{"kind": "table", "collection": "c", "prune": "perhaps"}, "a.csv", "x"), 400},
		{upload(good), 400}, {upload(good, "../../a.csv", "x"), 400}, {upload(good, "a.csv", strings.Repeat("x", 5000)), 413},
		{request("POST", "/v1/ingest", `{"kind": "table", "collection": "c", "colour": 1}`), 400}, {request("POST", "/v1/ingest", "kind=table", "Content-Type", "application/x-www-form-urlencoded"), 415},
		{request("GET", "/v1/ingest", ""), 405}, {request("GET", "/v1/jobs/none", ""), 404}, {request("POST", "/v1/jobs/none/cancel", "{}"), 404}, {request("POST", "/v1/jobs/none/resume", "{}"), 404},
	} {
		if w := do(h, c.request); w.Code != c.status || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%d: %d %s, want %d", i, w.Code, w.Body, c.status)
		}
	}
	none := newServer(t, newFake(), quiet()).Handler()
	for _, r := range []*http.Request{upload(good, "a.csv", "x"), request("GET", "/v1/jobs", ""), request("GET", "/v1/jobs/x", "")} {
		if w := do(none, r); w.Code != http.StatusNotFound {
			t.Errorf("a server that takes nothing in: %d", w.Code)
		}
	}
}

// Whatever the form: an answer, never a panic, and nothing outside of the folder.
func FuzzIngestForm(f *testing.F) {
	f.Add("Content-Disposition: form-data; name=\"kind\"\r\n\r\ntable")
	f.Add("Content-Disposition: form-data; name=\"file\"; filename=\"../x\"\r\n\r\nx")
	f.Fuzz(func(t *testing.T, part string) {
		body := fmt.Sprintf("--b\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\ntable\r\n--b\r\n%s\r\n--b--\r\n", part)
		r := request("POST", "/v1/ingest", body, "Content-Type", "multipart/form-data; boundary=b")
		if w := do(withDesk(t), r); w.Code >= 500 {
			t.Errorf("%q: %d %s", part, w.Code, w.Body)
		}
	})
}

func TestMetricsTellOfJobs(t *testing.T) {
	h := withDesk(t)
	job := location(t, do(h, upload(map[string]string{"kind": "table", "collection": "shops"}, "a.csv", "no,city\n1,Leeds\n2,York\n")))
	do(h, request("GET", job, "", "Accept", "text/event-stream")) // until its end
	body := do(h, request("GET", "/metrics", "")).Body.String()
	for _, line := range []string{`sextant_ingest_jobs{state="done"} 1`, `sextant_ingest_records{outcome="stored"} 2`, `sextant_ingest_bytes_per_second 0`} {
		if !strings.Contains(body, line) {
			t.Errorf("there is no line %s in:\n%s", line, body)
		}
	}
}
