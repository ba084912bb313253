package main

import (
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

func TestIngestNewsRefuses(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{{"ingest", "news"}, {"ingest", "news", "https://flying.example/feed"}} {
		got := sextantIn(t, data, args...)
		if got.code != exitUsage || !strings.Contains(got.err, "fetching feeds is not available in this version") || !strings.Contains(got.err, "Save the feed") {
			t.Errorf("%q: exit %d\n%s", args, got.code, got.err)
		}
	}
	page := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(page, []byte("<html><body>no feed</body></html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := sextantIn(t, data, "ingest", "news", page); got.code != exitFailure || !strings.Contains(got.out, "It is no RSS, Atom or JSON feed") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
}
