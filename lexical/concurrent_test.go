package lexical

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
)

// Every batch of the writer below leaves as many rows with "even" as with "odd", so a
// reader that saw a part of a batch would count them different.
func TestReadersSeeWholeBatches(t *testing.T) {
	const batches, readers = 300, 4
	ix := New(English())
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range readers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			q := ix.Analyzer().Query("even odd row")
			for {
				select {
				case <-done:
					return
				default:
				}
				res := ix.Search(q, DefaultBM25, nil, 5)
				rows := map[string]int{}
				for _, term := range res.Terms {
					rows[term.Word] = term.Rows
				}
				if rows["even"] != rows["odd"] || rows["even"]+rows["odd"] != rows["row"] {
					t.Errorf("half a batch was seen: %v", rows)
					return
				}
				var buf bytes.Buffer
				if _, err := ix.WriteTo(&buf); err != nil {
					t.Error(err)
					return
				}
				back, err := ReadFrom(&buf, ix.Analyzer())
				if err != nil {
					t.Error(err)
					return
				}
				if e, o := back.Rows(Word{Text: "even"}), back.Rows(Word{Text: "odd"}); count(e) != count(o) {
					t.Errorf("half a batch was written: %d and %d rows", count(e), count(o))
					return
				}
			}
		}()
	}
	row := uint32(0)
	for i := range batches {
		b := ix.NewBatch()
		for range 3 {
			for _, word := range []string{"even", "odd"} {
				if err := b.Add(row, Field{Text: fmt.Sprintf("%s row number%d", word, row)}); err != nil {
					t.Fatal(err)
				}
				row++
			}
		}
		if i%2 == 1 {
			b.Remove(row - 8)
			b.Remove(row - 9)
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
}

func count(set []uint64) int { return len(rowsOf(set)) }
