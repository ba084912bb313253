package lexical

import (
	"testing"

	"pgregory.net/rapid"
)

// Rows added in batches of any size are copied by merges no more than once for each of
// the six size classes, and leave a bounded number of segments.
func TestMergingIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 3, 17, 256}).Draw(t, "batch")
		total, copied := 0, 0
		var parts []part
		for range 3000 {
			parts = append(parts, part{seg: &segment{rows: make([]uint32, size)}})
			total += size
			for from, to := due(parts); from < to; from, to = due(parts) {
				rows := 0
				for _, p := range parts[from:to] {
					rows += p.live()
				}
				copied += rows
				parts = append(append(parts[:from:from], part{seg: &segment{rows: make([]uint32, rows)}}), parts[to:]...)
			}
			if len(parts) > 6*fanout+total/(maxSegmentRows/fanout) {
				t.Fatalf("%d segments of %d rows", len(parts), total)
			}
		}
		if copied > 6*total {
			t.Fatalf("%d rows were copied %d times", total, copied)
		}
	})
}

// An index that is replaced over and over does not grow: what is removed goes.
func TestUpdatesDoNotGrowTheIndex(t *testing.T) {
	ix := New(Plain())
	row := uint32(0)
	for range 200 {
		b := ix.NewBatch()
		for range 20 {
			if row >= 500 {
				b.Remove(row - 500)
			}
			if err := b.Add(row, Field{Text: "engine failure on take-off"}); err != nil {
				t.Fatal(err)
			}
			row++
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	st := ix.Stats()
	if st.Rows != 500 || st.Removed > 200 || st.Segments > 40 {
		t.Errorf("%+v after 4,000 updates of 500 rows", st)
	}
	if got := ix.Search(Plain().Query("engine"), DefaultBM25, nil, 1).Terms[0].Rows; got != 500 {
		t.Errorf("%d rows have the word, want 500", got)
	}
}
