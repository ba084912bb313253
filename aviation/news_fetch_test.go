package aviation

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/fetch"
	"github.com/sextant-rag/sextant/ingest"
)

// A feed that cannot be had does not keep the others out, is named with its reason, and is
// read from what was kept of it if it was ever had.
func TestFeedsThatFailDoNotStopTheOthers(t *testing.T) {
	var down, sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" || r.URL.Path == "/sometimes" && down.Load() > 0 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		const changed = "Tue, 03 Mar 2026 09:15:00 GMT"
		w.Header().Set("Last-Modified", changed)
		if r.Header.Get("If-Modified-Since") == changed {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent.Add(1)
		w.Header().Set("Content-Type", "application/rss+xml; charset=iso-8859-1")
		w.Write([]byte("<rss version='2.0'><channel><title>News of " + r.URL.Path + "</title><item><title>Caf\xe9 " + r.URL.Path + "</title><link>a.html</link></item></channel></rss>"))
	}))
	defer server.Close()
	st := openStore(t)
	service := NewsService{
		Client: fetch.New(fetch.Options{Permit: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}), Cache: t.TempDir(),
		Feeds: []string{server.URL + "/always", server.URL + "/sometimes", server.URL + "/never"}, Now: func() time.Time { return clock },
	}
	run := func() sextant.Receipt {
		t.Helper()
		src, err := service.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: News(), Source: src})
		if err == nil || !strings.Contains(err.Error(), "502 Bad Gateway") {
			t.Errorf("the feed that fails: %v", err)
		}
		return r
	}
	if r := run(); r.Records[sextant.Stored] != 2 || r.Read != 2 || !strings.Contains(strings.Join(r.Files[2].Warnings, " "), "502") {
		t.Errorf("first run: %+v", r)
	}
	down.Add(1)
	r := run()
	if r.Records[sextant.Unchanged] != 2 || sent.Load() != 2 {
		t.Errorf("second run: %v, %d sent", r.Records, sent.Load())
	}
	var titles []string
	c, err := st.Open(t.Context(), "news")
	if err != nil {
		t.Fatal(err)
	}
	for doc, err := range c.Scan(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		titles = append(titles, doc.Title+" "+strings.TrimPrefix(doc.Meta.Fields.One("url").Str(), server.URL))
	}
	if diff := cmp.Diff([]string{"Café /always /a.html", "Café /sometimes /a.html"}, titles); diff != "" {
		// the ids are hashes, so that the order is theirs
		titles[0], titles[1] = titles[1], titles[0]
		if diff = cmp.Diff([]string{"Café /always /a.html", "Café /sometimes /a.html"}, titles); diff != "" {
			t.Errorf("articles (-want +got):\n%s", diff)
		}
	}
	service.Feeds = service.Feeds[2:]
	if _, err := service.Open(t.Context()); sextant.ErrorCode(err) != sextant.CodeUnavailable {
		t.Errorf("none at all: %v", err)
	}
}

// What an article names is told by its capitals.
func TestNamedIn(t *testing.T) {
	for text, want := range map[string]mentions{
		"A Cessna 172 and a Piper PA-28-161 met near Boise, Idaho.":   {[]string{"CESSNA", "CESSNA 172", "PIPER", "PIPER PA-28-161"}, nil, []string{"Idaho"}},
		"N123AB, a Boeing 737-800, came from New Mexico and Brazil.":  {[]string{"BOEING", "BOEING 737-800"}, []string{"N123AB"}, []string{"Brazil", "New Mexico"}},
		"Boeing in 2026 and Airbus 2025 forecasts":                    {[]string{"AIRBUS", "BOEING"}, nil, nil},
		"the piper played and a bell rang in the state of washington": {},
		"CESSNA CRASHES IN ALASKA":                                    {},
		"":                                                            {},
	} {
		if diff := cmp.Diff(want, namedIn(text), cmp.AllowUnexported(mentions{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
