package feed

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"github.com/sextant-rag/sextant/source"
)

func rss(items string) string {
	return `<?xml version="1.0"?><rss version="2.0"><channel><title>Flying Daily</title><link>https://news.example/</link>` + items + `</channel></rss>`
}

func parse(t *testing.T, raw string) *Feed {
	t.Helper()
	f, err := Parse([]byte(raw), Options{})
	if err != nil {
		t.Fatalf("%v in %.300q", err, raw)
	}
	return f
}

func titles(f *Feed) []string {
	var out []string
	for _, e := range f.Entries {
		out = append(out, e.Title)
	}
	return out
}

// RSS-01: HTML entities and bare ampersands in XML.
func TestEntitiesInXML(t *testing.T) {
	f := parse(t, rss(`<item><title>One</title></item>
		<item><title>The pilot&rsquo;s&nbsp;choice</title><description>caf&eacute; &unknown; text</description></item>
		<item><title>Pratt & Whitney < GE</title></item>`))
	if diff := cmp.Diff([]string{"One", "The pilot’s choice", "Pratt & Whitney < GE"}, titles(f)); diff != "" || f.Repaired == 0 {
		t.Errorf("repaired %d, titles (-want +got):\n%s", f.Repaired, diff)
	}
	if got := f.Entries[1].Text; got != "café &unknown; text" {
		t.Errorf("text %q", got)
	}
	if f := parse(t, rss(`<item><title>A &amp; B &#8217;</title></item>`)); f.Repaired != 0 {
		t.Errorf("a sound feed was repaired in %d places", f.Repaired)
	}
}

// RSS-02: the declared encoding and the real one.
func TestEncodings(t *testing.T) {
	body := func(declared, title string) string {
		return `<?xml version="1.0" encoding="` + declared + `"?><rss version="2.0"><channel><item><title>` + title + `</title></item></channel></rss>`
	}
	utf16, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String(body("utf-16", "Zürich"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ raw, title, won string }{
		{body("ISO-8859-1", "caf\xe9"), "café", "iso-8859-1 (declared)"},
		{body("windows-1251", "\xd1\xe0\xec\xee\xeb\xb8\xf2"), "Самолёт", "windows-1251 (declared)"},
		{body("us-ascii", "naïve"), "naïve", "UTF-8 (found; us-ascii was declared)"},
		{body("utf-16", "Zürich"), "Zürich", "UTF-8 (found; utf-16 was declared)"},
		{body("utf-8", "don\x92t"), "don’t", "Windows-1252 (assumed; utf-8 was declared)"},
		{body("bogus-charset", "caf\xe9"), "café", "Windows-1252 (assumed; bogus-charset was declared)"},
		{body("utf-8", "don\u0092t &#146;"), "don’t ’", "UTF-8"},
		{utf16, "Zürich", "UTF-16BE (by its first bytes)"},
		{strings.ReplaceAll(strings.TrimPrefix(utf16, "\xfe\xff"), "", ""), "Zürich", "UTF-16BE (by its first bytes)"},
		{"\xef\xbb\xbf \n" + body("utf-8", "x"), "x", "UTF-8"},
		{body("iso-2022-jp", "\x1b$BHt9T\x1b(B"), "飛行", "iso-2022-jp (declared)"},
	} {
		f := parse(t, c.raw)
		if len(f.Entries) != 1 || f.Entries[0].Title != c.title || f.Encoding != c.won {
			t.Errorf("%q, %q; want %q, %q", titles(f), f.Encoding, c.title, c.won)
		}
	}
}

// RSS-04: dates nobody agrees on.
func TestParseDate(t *testing.T) {
	for text, want := range map[string]string{
		"Tue, Mar 03 2026 09:15:00 +0000":  "2026-03-03T09:15:00Z",
		"Fri, 06 Feb 2026 01:45:08 +02:00": "2026-02-05T23:45:08Z",
		"Mon, 02 Mar 2026 18:00:00 UT":     "2026-03-02T18:00:00Z",
		"WED,11 MAR 2026 02:23:01":         "2026-03-11T02:23:01Z",
		"Thu, 01 Jan 2004 19:48:21 GMT":    "2004-01-01T19:48:21Z",
		"1 Jan 04 19:48 EST":               "2004-01-02T00:48:00Z",
		"Thu, 5 Sept 2024 10:00:00 PDT":    "2024-09-05T17:00:00Z",
		"Thursday, 29 February 2024 noon":  "2024-02-29T00:00:00Z",
		"Sun Jan  4 16:29:06 PST 2004":     "2004-01-05T00:29:06Z",
		"06-Feb-2026 10:00:00 GMT+2":       "2026-02-06T08:00:00Z",
		"2026-03-03T09:15:00+02:00":        "2026-03-03T07:15:00Z",
		"2026-03-03t09:15:00.123z":         "2026-03-03T09:15:00Z",
		"2026-03-03 09:15:00 -0500":        "2026-03-03T14:15:00Z",
		"20260303":                         "2026-03-03T00:00:00Z",
		"2026-03":                          "2026-03-01T00:00:00Z",
		"2026":                             "2026-01-01T00:00:00Z",
		"Sat, 01 Feb 2031 00:00:00 GMT":    "2031-02-01T00:00:00Z",
		"":                                 "",
		"today":                            "",
		"Thu, 01 Jan 1970 00:00:00 GMT":    "",
		"0001-01-01T00:00:00Z":             "",
		"Mon, 31 Feb 2026 10:00:00 GMT":    "",
		"2026-13-01":                       "",
		"Tue, 03 Mar 2026 25:00:00 GMT":    "",
		"9223372036854775807 Mar 1":        "",
	} {
		got, ok := ParseDate(text)
		if formatted := got.Format(time.RFC3339); ok != (want != "") || ok && formatted != want {
			t.Errorf("%q is %s (%v), want %q", text, formatted, ok, want)
		}
	}
}

func TestUndatedEntries(t *testing.T) {
	f := parse(t, rss(`<item><title>A</title></item><item><title>B</title><pubDate>soon</pubDate></item><item><title>C</title><pubDate>Mon, 02 Mar 2026 18:00:00 UT</pubDate></item>`))
	if !f.Entries[0].Published.IsZero() || f.Entries[0].OddDate != "" || !f.Entries[1].Published.IsZero() || f.Entries[1].OddDate != "soon" || f.Entries[2].Published.IsZero() {
		t.Errorf("%+v", f.Entries)
	}
}

// RSS-05: guids that name nothing.
func TestUselessGUIDs(t *testing.T) {
	raw := rss(`<item><title>A</title><guid>N/A</guid><link></link></item><item><title>B</title><guid>N/A</guid><link/></item>
		<item><title>C</title><guid>N/A</guid><link>https://news.example/c</link></item>
		<item><title>D</title><guid>7</guid></item><item><title>E</title><guid>7</guid></item>
		<item><title>F</title><guid>https://news.example/?p=9</guid></item>`)
	ids := func() []string {
		var out []string
		for _, e := range parse(t, raw).Entries {
			if e.Repeats {
				t.Errorf("%q is taken for a repetition", e.Title)
			}
			out = append(out, e.ID)
		}
		return out
	}
	first := ids()
	seen := map[string]bool{}
	for _, id := range first {
		seen[id] = true
	}
	if len(seen) != 6 || first[5] != "https://news.example/?p=9" {
		t.Errorf("ids %q", first)
	}
	if diff := cmp.Diff(first, ids()); diff != "" {
		t.Errorf("another reading gives other ids:\n%s", diff)
	}
}

func TestVersionsOfOneArticle(t *testing.T) {
	f := parse(t, `<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title>
		<entry><id>tag:a,1</id><title>Old</title><link href="https://a.example/1"/><updated>2026-01-01T00:00:00Z</updated></entry>
		<entry><id>tag:a,1</id><title>New</title><link href="https://a.example/1"/><updated>2026-01-02T00:00:00Z</updated></entry></feed>`)
	if len(f.Entries) != 2 || !f.Entries[0].Repeats || f.Entries[1].Repeats || f.Format != "Atom 1.0" {
		t.Errorf("%+v", f)
	}
}

// RSS-07: markup in descriptions.
func TestMarkup(t *testing.T) {
	const inner = `<p>First &amp; <b>bold</b>.</p><script>alert(1)</script><style>p{}</style><p>See <a href="/a?id=1&amp;x=2">the report</a>.</p>`
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	const want = "First & bold.\n\nSee the report."
	for name, description := range map[string]string{
		"in CDATA": "<![CDATA[" + inner + "]]>", "in two CDATA": "<![CDATA[" + inner[:20] + "]]><![CDATA[" + inner[20:] + "]]>",
		"encoded once": escape(inner), "encoded twice": escape(escape(inner)), "bare": strings.ReplaceAll(inner, "&amp;x", "&amp;x"),
	} {
		f := parse(t, rss(`<item><title>T</title><description>`+description+`</description></item>`))
		e := f.Entries[0]
		if e.Text != want || len(e.Links) != 1 || e.Links[0] != "https://news.example/a?id=1&x=2" {
			t.Errorf("%s: %q, links %q", name, e.Text, e.Links)
		}
	}
	for in, want := range map[string]string{
		"a < b and c > d": "a < b and c > d", "x<br>y<br/>z": "x\ny\nz", "<ul><li>one<li>two</ul>": "- one\n- two",
		`<iframe src="x"><p>instead</p></iframe>yes`: "instead\n\nyes", `<img onerror="alert(1)" src=x>after<p>`: "after",
		`<svg><script>no</script></svg><a href="javascript:no()">go</a>`: "go", "<script>never closed": "", `safe<iframe src="x"> text`: "safe text",
		"<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>": "a b\nc", "plain\n\ntext": "plain\n\ntext", "soft\u00adhyphen\u202e": "softhyphen",
	} {
		if got := clean(in, nil); got.text != want || len(got.links) != 0 {
			t.Errorf("%q is %q, %q, want %q", in, got.text, got.links, want)
		}
	}
}

func TestFormats(t *testing.T) {
	for raw, want := range map[string]string{
		rss(`<item><title>A</title><author>b@x.org (Bob)</author><category>IFR</category></item>`):                                                                                                "RSS 2.0",
		`{"version":"https://jsonfeed.org/version/1.1","title":"Flying Daily","items":[{"id":"1","title":"A","content_text":"x","tags":["IFR"],"authors":[{"name":"Bob"}]}]}`:                     "JSON Feed 1.1",
		`<feed xmlns="http://www.w3.org/2005/Atom"><title>Flying Daily</title><entry><id>1</id><title>A</title><author><name>Bob</name></author><category term="IFR"/></entry></feed>`:            "Atom 1.0",
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>Flying Daily</title></channel><item><title>A</title></item></rdf:RDF>`: "RSS 1.0",
		`<rss version="2.0"><channel><title>Flying Daily</title><item><title>A</title><description>breaks <b>off`:                                                                                 "RSS 2.0",
		"<!-- first --> <?xml version='1.0'?><!DOCTYPE rss [<!ENTITY a \"b\">]><rss version=\"0.91\"><channel><title>Flying Daily</title><item><title>A</title></item></channel></rss>":           "RSS 0.91",
	} {
		f := parse(t, raw)
		if f.Format != want || f.Title != "Flying Daily" || len(f.Entries) != 1 || f.Entries[0].Title != "A" {
			t.Errorf("%q: %+v", want, f)
		}
		if e := f.Entries[0]; len(e.Authors)+len(e.Categories) > 0 && (e.Authors[0] != "Bob" || e.Categories[0] != "IFR") {
			t.Errorf("%q: by %q in %q", want, e.Authors, e.Categories)
		}
	}
	for _, raw := range []string{"", "   ", "hello", "<html><body>no</body></html>", `{"a":1}`, "[]", "\x00\x01", "<"} {
		if f, err := Parse([]byte(raw), Options{}); !errors.Is(err, ErrNoFeed) {
			t.Errorf("%q is %+v, %v", raw, f, err)
		}
	}
}

// RSS-08: bounds are on what is unpacked, and beyond them nothing is read.
func TestBounds(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		z.Write(bytes.Repeat([]byte{' '}, 1<<20))
	}
	z.Close()
	if _, err := Read(source.Bytes("bomb.gz", bomb.Bytes()), Options{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("bomb of %d bytes: %v", bomb.Len(), err)
	}
	sound := rss(`<item><title>A</title></item>`)
	if _, err := Read(source.Bytes("a.xml", []byte(sound)), Options{Bytes: int64(len(sound))}); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := Read(source.Bytes("a.xml", []byte(sound)), Options{Bytes: int64(len(sound)) - 1}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a byte over the limit: %v", err)
	}
	if !testing.Short() {
		large := rss("<item><title>A</title><description>" + strings.Repeat("word ", 26<<20/5) + "</description></item>")
		if f, err := Parse([]byte(large), Options{}); err != nil || len(f.Entries) != 1 || len(f.Entries[0].Text) != 26<<20/5*5-1 {
			t.Errorf("26 MB: %v", err)
		}
	}
	for name, raw := range map[string]string{
		"entries":        rss(strings.Repeat("<item/>", 10_001)),
		"JSON entries":   `{"version":"https://jsonfeed.org/version/1","items":[` + strings.Repeat("{},", 10_001) + `{}]}`,
		"depth":          rss("<item>" + strings.Repeat("<a>", 100_000) + "</item>"),
		"JSON depth":     `{"items":` + strings.Repeat("[", 100_000),
		"elements":       rss("<item>" + strings.Repeat("<b/>", maxElements+1) + "</item>"),
		"one tag":        rss(`<item a="` + strings.Repeat("x", maxTag) + `"></item>`),
		"entity bombs":   `<!DOCTYPE lolz [<!ENTITY a "ha">` + strings.Repeat(`<!ENTITY b "&a;&a;&a;">`, 100) + `]><lolz>&b;</lolz>`,
		"JSON of others": `{"items":"none"}`,
	} {
		began := time.Now()
		if f, err := Parse([]byte(raw), Options{}); err == nil {
			t.Errorf("%s: %d entries", name, len(f.Entries))
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(rss(`<item><title>A &rsquo; & <![CDATA[<b>x</b>]]></title><guid>N/A</guid><pubDate>Tue, Mar 03 2026 09:15:00 +0000</pubDate></item>`)))
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","content_html":"<p>x"}]}`))
	f.Add([]byte("<?xml version='1.0' encoding='utf-16'?><feed><entry><id>1</id><summary type='xhtml'><div>x</div></summary></entry>"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		feed, err := Parse(raw, Options{Bytes: 1 << 20, Items: 100})
		if err != nil {
			return
		}
		ids := map[string]bool{}
		for _, e := range feed.Entries {
			for _, s := range append([]string{e.ID, e.Title, e.Text, e.Link}, e.Links...) {
				if strings.ToValidUTF8(s, "?") != s {
					t.Fatalf("%q is no UTF-8", s)
				}
			}
			if !e.Published.IsZero() && e.Published.Year() < 1989 || e.ID == "" || ids[e.ID] && !e.Repeats {
				t.Fatalf("entry %+v", e)
			}
			ids[e.ID] = ids[e.ID] || !e.Repeats
		}
	})
}

func ExampleParse() {
	f, err := Parse([]byte(rss(`<item><title>Go-arounds &mdash; why not?</title><link>/go-around</link></item>`)), Options{})
	fmt.Println(err, f.Format, f.Entries[0].Title, f.Entries[0].Link)
	// Output: <nil> RSS 2.0 Go-arounds — why not? https://news.example/go-around
}
