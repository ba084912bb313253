package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

func manuals() sextant.Collection {
	return sextant.Collection{Name: "manuals", Schema: filter.Schema{Fields: []filter.Field{{Name: "version", Kind: filter.Int}}}}
}

// manual makes a document of n chunks, each of which names its version.
func manual(id string, version int64, n int) store.Record {
	text := strings.Repeat(fmt.Sprintf("limit %d hours\n", 100*version), n)
	rec := plain("manuals", id, text, filter.Meta{Fields: filter.Fields{"version": {filter.OfInt(version)}}})
	rec.Document.Revision = fmt.Sprint(version)
	rec.Chunks = nil
	for i := range n {
		start, end := i*len(text)/n, (i+1)*len(text)/n
		rec.Chunks = append(rec.Chunks, sextant.Chunk{ID: sextant.ChunkID(rec.Document.ID, i), DocumentID: rec.Document.ID, Index: i, Start: start, End: end, Content: text[start:end]})
	}
	return rec
}

// testVersions: of a document that has shrunk, nothing of the old version is left.
func testVersions(t *testing.T, open Open) {
	c := ensure(t, opened(t, open), manuals())
	for _, rec := range []store.Record{manual("m:1", 5, 5), manual("m:1", 1, 2), manual("m:1", 1, 2)} {
		if err := c.Upsert(t.Context(), []store.Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
	hits, err := c.SearchLexical(t.Context(), store.LexicalQuery{Text: "500 hours", Limit: 50})
	if err != nil || len(hits) != 2 {
		t.Errorf("%d hits, %v; want the two new chunks", len(hits), err)
	}
	for _, h := range hits {
		if strings.Contains(h.Chunk.Content, "500") {
			t.Errorf("found the old version: %+v", h.Chunk)
		}
	}
	if chunks, err := c.Chunks(t.Context(), "m:1"); len(chunks) != 2 || err != nil {
		t.Errorf("%d chunks, %v", len(chunks), err)
	}
	// Of two records of one id in a batch, the later one counts.
	if err := c.Upsert(t.Context(), []store.Record{manual("m:2", 7, 3), manual("m:2", 8, 1)}); err != nil {
		t.Fatal(err)
	}
	revisions, err := c.Revisions(t.Context(), []sextant.DocumentID{"m:2"})
	if revisions["m:2"] != "8" || err != nil {
		t.Errorf("revision %q, %v", revisions["m:2"], err)
	}
}

// testWriters: while many writers replace the same two documents, every reader sees
// both, whole, and of one version.
func (d Differences) testWriters(t *testing.T, open Open) {
	c := ensure(t, opened(t, open), manuals())
	both := func(v int64) []store.Record { return []store.Record{manual("m:1", v, 1+int(v)%4), manual("m:2", v, 3)} }
	if err := c.Upsert(t.Context(), both(1)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var readers, writers sync.WaitGroup
	reads := []func(context.Context, store.Collection) error{readDocuments, readChunks, readWords, readCounts, readScan}
	if d.Unisolated {
		t.Log("this store shows batches while they are written: only the end is compared")
		reads = nil
	}
	for _, read := range reads {
		readers.Go(func() {
			for ctx.Err() == nil {
				if err := read(context.WithoutCancel(ctx), c); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for w := range 4 {
		writers.Go(func() {
			for i := range 25 {
				if err := c.Upsert(ctx, both(int64(w*25+i))); err != nil {
					t.Errorf("upsert: %v", err)
				}
			}
		})
	}
	writers.Wait()
	stop()
	readers.Wait()
	if n, err := c.Count(t.Context(), filter.All, ""); n != 2 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
}

func readDocuments(ctx context.Context, c store.Collection) error {
	docs, err := c.Get(ctx, []sextant.DocumentID{"m:1", "m:2"})
	if err != nil || len(docs) != 2 || docs[0].Revision != docs[1].Revision {
		return fmt.Errorf("get: %v %+v", err, docs)
	}
	return nil
}

func readChunks(ctx context.Context, c store.Collection) error {
	chunks, err := c.Chunks(ctx, "m:1")
	if err != nil || len(chunks) == 0 {
		return fmt.Errorf("chunks: %v, %d", err, len(chunks))
	}
	for _, ch := range chunks {
		if ch.Content != chunks[0].Content {
			return fmt.Errorf("chunks of two versions: %q and %q", chunks[0].Content, ch.Content)
		}
	}
	return nil
}

func readWords(ctx context.Context, c store.Collection) error {
	hits, err := c.SearchLexical(ctx, store.LexicalQuery{Text: "hours", Limit: 100})
	if err != nil || len(hits) < 4 {
		return fmt.Errorf("search: %v, %d hits", err, len(hits))
	}
	for _, h := range hits {
		if h.Chunk.Content != hits[0].Chunk.Content {
			return fmt.Errorf("hits of two versions: %q and %q", hits[0].Chunk.Content, h.Chunk.Content)
		}
	}
	return nil
}

func readCounts(ctx context.Context, c store.Collection) error {
	facet, err := c.Facet(ctx, store.FacetQuery{Field: "version"})
	if err != nil || facet.Total != 2 || len(facet.Buckets) != 1 || facet.Buckets[0].Count != 2 {
		return fmt.Errorf("facet: %v %+v", err, facet)
	}
	sum, err := c.Sum(ctx, filter.All, "version")
	if err != nil || sum.Known != 2 || sum.Min != sum.Max {
		return fmt.Errorf("sum: %v %+v", err, sum)
	}
	return nil
}

func readScan(ctx context.Context, c store.Collection) error {
	var revisions []string
	for d, err := range c.Scan(ctx, filter.All) {
		if err != nil {
			return err
		}
		revisions = append(revisions, d.Revision)
	}
	if len(revisions) != 2 || revisions[0] != revisions[1] {
		return fmt.Errorf("scan: %q", revisions)
	}
	return nil
}
