package aviation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

const savedFeed = `<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>Flying Daily</title><link>https://www.flying.example/</link>
<item><title>Carburetor ice &amp; you</title><link>/ice</link><guid>https://www.flying.example/?p=1</guid><pubDate>Tue, Mar 03 2026 09:15:00 +0000</pubDate>
<author>Ann Pilot</author><category>Safety</category><description>&lt;p&gt;Ice forms.&lt;/p&gt;&lt;p&gt;Apply &lt;a href="/heat"&gt;heat&lt;/a&gt;.&lt;/p&gt;</description></item>
<item><title>Only a headline</title><guid>N/A</guid></item>
<item><title>In the future</title><guid>N/A</guid><pubDate>Sat, 01 Feb 2031 00:00:00 GMT</pubDate><description>Not yet</description></item>
<item><guid>N/A</guid></item>
</channel></rss>`

// itemsOf reads an input to its end.
func itemsOf(t *testing.T, in source.Input) []source.Item {
	t.Helper()
	var out []source.Item
	for item, err := range in.Items(t.Context(), source.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, item)
	}
	return out
}

func TestArticle(t *testing.T) {
	in := &newsInput{newsFile: newsFile{blob: source.Bytes("daily.xml", []byte(savedFeed))}, now: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)}
	items := itemsOf(t, in)
	if len(items) != 4 || items[3].Outcome != sextant.Skipped {
		t.Fatalf("%+v", items)
	}
	doc, _, err := items[0].Contribution.Merge(nil)
	if err != nil {
		t.Fatal(err)
	}
	if schema := News().Schema; schema.Check(doc.Meta) != nil {
		t.Error(schema.Check(doc.Meta))
	}
	meta, err := doc.Meta.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"author":"Ann Pilot","links":"https://www.flying.example/heat","news_source":"Flying Daily","published":"2026-03-03T09:15:00Z","title":"Carburetor ice & you","topic":"Safety","url":"https://www.flying.example/ice"}`
	if diff := cmp.Diff(want, strings.ReplaceAll(string(meta), `\u0026`, "&")); diff != "" {
		t.Error(diff)
	}
	if doc.Text != "Carburetor ice & you\n\nIce forms.\n\nApply heat." || !strings.HasPrefix(string(doc.ID), "news:flying.example/") {
		t.Errorf("%s: %q", doc.ID, doc.Text)
	}
	if p, ok := doc.PartAt(strings.Index(doc.Text, "Apply")); !ok || p.Locator != "Paragraph 2" {
		t.Errorf("part %+v", p)
	}
	warnings := strings.Join(in.Notes().Warnings, "\n")
	if !strings.Contains(warnings, "2 of 4 entries have no date") || !strings.Contains(warnings, "1 of 4 entries are dated in the future") {
		t.Error(warnings)
	}
}

// The same article in feeds of two days ends the same in either order.
func TestArticleOfTwoDays(t *testing.T) {
	later := strings.Replace(savedFeed, "Ice forms.", "Ice forms quickly.", 1)
	of := func(feed string) source.Contribution {
		return itemsOf(t, &newsInput{newsFile: newsFile{blob: source.Bytes("f.xml", []byte(feed))}})[0].Contribution
	}
	merge := func(order ...source.Contribution) string {
		var old *sextant.Document
		for _, c := range order {
			doc, _, err := c.Merge(old)
			if err != nil {
				t.Fatal(err)
			}
			old = &doc
		}
		return old.Text
	}
	a, b := of(savedFeed), of(later)
	if x, y, z := merge(a, b), merge(b, a), merge(a, b, a, b); x != y || y != z || !strings.Contains(x, "quickly") {
		t.Errorf("%q, %q, %q", x, y, z)
	}
}

func TestFeedsThroughTheStore(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"a.xml": savedFeed, "b.rss": savedFeed, "c.json": "{", "note.txt": "no feed"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	for i, want := range []map[sextant.Outcome]int64{
		{sextant.Stored: 3, sextant.Unchanged: 3, sextant.Skipped: 2, sextant.Refused: 1},
		{sextant.Unchanged: 6, sextant.Skipped: 2, sextant.Refused: 1},
	} {
		src, err := OpenNews(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: News(), Source: src})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Records); diff != "" || r.Read != 9 {
			t.Errorf("run %d: %d read, records (-want +got):\n%s", i+1, r.Read, diff)
		}
	}
	c, err := st.Open(t.Context(), "news")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Count(t.Context(), nil, store.Documents); n != 3 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
}

func TestOpenNewsRefuses(t *testing.T) {
	for _, paths := range [][]string{{"https://flying.example/feed"}, {"FEED:x"}, {t.TempDir()}, {filepath.Join(t.TempDir(), "none.xml")}} {
		if _, err := OpenNews(paths...); sextant.ErrorCode(err) != sextant.CodeBadRequest {
			t.Errorf("%q: %v", paths, err)
		}
	}
}
