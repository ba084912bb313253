package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/pipeline"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/store/sqlite"
)

const conflictFeed = `<?xml version="1.0"?><rss version="2.0"><channel><title>Wire</title><link>http://example.com</link><description>d</description>
<item><title>Three dead in crash near Boise</title><link>http://example.com/a</link><guid>a</guid><pubDate>Mon, 06 Jun 2016 10:00:00 GMT</pubDate>
<description>A small airplane registered N4567Q crashed near Boise on Sunday. Three people were killed in the crash, the sheriff said.</description></item>
<item><title>Vigil for the dead of another crash</title><link>http://example.com/b</link><guid>b</guid><pubDate>Tue, 07 Jun 2016 10:00:00 GMT</pubDate>
<description>Five people were killed in a crash of another airplane near Boise last year.</description></item>
</channel></rss>`

// An article about an event, known by the registration it names, that counts other dead than
// the record: both are quoted, the record first, and nothing is blended. An article that
// names no registration of the event is no side of anything.
func TestNewsThatDisagreeWithTheRecordAreShown(t *testing.T) {
	crash := row{id: "20160605X00001", date: "2016-06-05", severity: "Fatal(2)", dead: "2", registration: "N4567Q", category: "Airplane"}
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	rows := aviation.NewNTSB(source.Bytes("AviationData.csv", []byte(rowsHeader+"\n"+crash.csv()+"\n")))
	for _, job := range []ingest.Job{{Store: st, Collection: aviation.Incidents(), Source: rows}, {Store: st, Collection: aviation.News(), Source: aviation.NewNews(source.Bytes("feed.xml", []byte(conflictFeed)))}} {
		if _, err := ingest.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	e, err := pipeline.New(t.Context(), pipeline.Config{Store: st, Domain: domain(), Now: func() time.Time { return time.Date(2017, 4, 1, 0, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	var a sextant.Answer
	for event, err := range e.Ask(t.Context(), sextant.Question{Text: "What happened to N4567Q?"}) {
		if err != nil {
			t.Fatal(err)
		}
		if final, ok := event.(sextant.Final); ok {
			a = final.Answer
		}
	}
	if len(a.Conflicts) != 1 || len(a.Conflicts[0].Sides) != 2 {
		t.Fatalf("%s: conflicts %+v", a.Status, a.Conflicts)
	}
	record, news := a.Conflicts[0].Sides[0], a.Conflicts[0].Sides[1]
	if record.Source != "incidents" || !strings.Contains(record.Text, "2") || record.Confidence != "high" {
		t.Errorf("record %+v", record)
	}
	if news.Source != "news" || !strings.Contains(news.Text, "Three") || len(news.Quotes) != 1 || news.Confidence != "low" {
		t.Errorf("news %+v", news)
	}
}
