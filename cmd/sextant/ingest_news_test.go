package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
)

func TestIngestNews(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	saved := filepath.Join(dir, "daily.xml")
	const feed = `<rss version="2.0"><channel><title>Flying Daily</title><link>https://flying.example/</link><item><title>Carburetor ice again</title><guid>n/a</guid>
		<pubDate>Tue, Mar 03 2026 09:15:00 +0000</pubDate><description>Carburetor ice stopped the engine of a Cessna near Talkeetna.</description></item></channel></rss>`
	if err := os.WriteFile(saved, []byte(feed), 0o600); err != nil {
		t.Fatal(err)
	}
	for run, want := range []sextant.Outcome{sextant.Stored, sextant.Unchanged} {
		got := sextantIn(t, data, "ingest", "news", "--json", saved)
		r := decode[sextant.Receipt](t, got.out)
		if got.code != exitOK || r.Collection != "news" || r.Read != 1 || r.Records[want] != 1 {
			t.Errorf("run %d: exit %d, %+v", run+1, got.code, r)
		}
	}
	if got := sextantIn(t, data, "search", "carburetor ice"); got.code != exitOK || !strings.Contains(got.out, "Talkeetna") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
}

// Without arguments the four feeds are fetched; here, those of the settings, from a server
// that knows what has not changed.
func TestIngestNewsFetches(t *testing.T) {
	const feed = `<rss version="2.0"><channel><title>Flying Daily</title><item><title>Carburetor ice again</title><link>/2026/ice</link><guid>ice</guid>
		<pubDate>Tue, Mar 03 2026 09:15:00 +0000</pubDate><description>A Cessna 172, N123AB, landed near Talkeetna, Alaska.</description></item></channel></rss>`
	sent, asked := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		w.Write([]byte(feed))
	}))
	defer server.Close()
	data := filepath.Join(t.TempDir(), "data")
	env := []string{"SEXTANT_DATA=" + data, "SEXTANT_FEEDS=" + server.URL + "/feed", "SEXTANT_FETCH_PERMIT=127.0.0.0/8"}
	for run, want := range []sextant.Outcome{sextant.Stored, sextant.Unchanged, sextant.Unchanged} {
		got := sextantWith(t, env, "ingest", "news", "--json", "--no-encode")
		r := decode[sextant.Receipt](t, got.out)
		if got.code != exitOK || r.Read != 1 || r.Records[want] != 1 {
			t.Errorf("run %d: exit %d, %+v\n%s", run+1, got.code, r, got.err)
		}
		if run == 1 { // and without a connection
			server.Close()
		}
	}
	if sent != 1 || asked != 2 {
		t.Errorf("asked %d times, sent %d", asked, sent)
	}
	doc := sextantIn(t, data, "search", "--json", "Talkeetna")
	for _, want := range []string{`"url":"` + server.URL + `/2026/ice"`, `"aircraft_named":["CESSNA","CESSNA 172"]`, `"place_named":"Alaska"`, `"registration_named":"N123AB"`} {
		if !strings.Contains(strings.ReplaceAll(doc.out, ": ", ":"), want) {
			t.Errorf("%s is missing in %s", want, doc.out)
		}
	}
}

func TestIngestNewsRefuses(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for address, want := range map[string]string{
		"http://127.0.0.1:1/feed":         "leads into a private network",
		"https://user:secret@example.org": "no address that can be fetched",
	} {
		got := sextantIn(t, data, "ingest", "news", address)
		if got.code == exitOK || !strings.Contains(strings.Join(strings.Fields(got.err), " "), want) {
			t.Errorf("%s: exit %d\n%s", address, got.code, got.err)
		}
	}
	if got := sextantWith(t, []string{"SEXTANT_DATA=" + data, "SEXTANT_FETCH_PERMIT=127.0.0.0/8"}, "ingest", "news", "http://127.0.0.1:1/feed"); got.code != 8 || !strings.Contains(got.err, "save the feed") {
		t.Errorf("offline: exit %d\n%s", got.code, got.err)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(page, []byte("<html><body>no feed</body></html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := sextantIn(t, data, "ingest", "news", page); got.code != exitFailure || !strings.Contains(got.out, "It is no RSS, Atom or JSON feed") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
}
