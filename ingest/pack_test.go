package ingest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
)

func TestLedgersSurvivePacking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		revisions := map[sextant.DocumentID]revision{}
		for _, id := range rapid.SliceOf(rapid.String()).Draw(t, "ids") {
			var rev revision
			copy(rev[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "revision"))
			revisions[sextant.DocumentID(id)] = rev
		}
		files, names := map[string]*settledFile{}, map[string]*settledFile{}
		for i := range rapid.IntRange(0, 3).Draw(t, "files") {
			f := &settledFile{documents: []sextant.DocumentID{}}
			for _, id := range slices.Sorted(maps.Keys(revisions)) {
				if rapid.Bool().Draw(t, "of the file") {
					f.documents = append(f.documents, id)
				}
			}
			files[fmt.Sprint(i)], names[fmt.Sprint(i)] = f, &settledFile{}
		}
		ids := slices.Collect(maps.Keys(revisions))
		leftWith := func(id sextant.DocumentID) revision { return revisions[id] }
		got, err := unpackLedger(packLedger(append(ids, ids...), leftWith, files), names)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(revisions, maps.Collect(got.left())); diff != "" {
			t.Fatalf("revisions (-want +got):\n%s", diff)
		}
		for digest, f := range files {
			if diff := cmp.Diff(f.documents, names[digest].documents); diff != "" {
				t.Fatalf("file %s (-want +got):\n%s", digest, diff)
			}
		}
	})
}

// A damaged ledger is an error, never a panic or a huge allocation.
func FuzzUnpackLedger(f *testing.F) {
	leftWith := func(id sextant.DocumentID) revision { return revision{id[0]} }
	f.Add(packLedger([]sextant.DocumentID{"b", "a"}, leftWith, map[string]*settledFile{"x": {documents: []sextant.DocumentID{"b"}}}))
	f.Add(deflate([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, packed := range [][]byte{data, deflate(data)} {
			files := map[string]*settledFile{"x": {}}
			if got, err := unpackLedger(packed, files); err == nil && len(files["x"].documents) > got.ids.Len() {
				t.Errorf("%d documents of %d", len(files["x"].documents), got.ids.Len())
			}
		}
	})
}
