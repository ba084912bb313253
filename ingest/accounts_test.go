package ingest

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
)

// Whatever is entered and dropped in whatever order, accounts are what two maps are.
func TestAccountsAreMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newAccounts()
		left, done := map[sextant.DocumentID]revision{}, map[sextant.DocumentID]fate{}
		var numbers []uint32
		var named []sextant.DocumentID
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			id := sextant.DocumentID(fmt.Sprint("d", rapid.IntRange(0, 12).Draw(t, "document")))
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				rev := revision{rapid.Byte().Draw(t, "revision")}
				a.leave(id, rev)
				left[id] = rev
			case 1:
				a.forget(id)
				delete(left, id)
			case 2:
				a.drop(id)
				delete(left, id)
				delete(done, id)
			case 3:
				f := fate(rapid.IntRange(int(unchanged), int(added)).Draw(t, "fate"))
				a.note(id, f)
				done[id] = max(done[id], f)
			case 4:
				numbers, named = append(numbers, a.number(id)), append(named, id)
			}
			want, wantKnown := left[id]
			if got, known := a.revision(id); got != want || known != wantKnown {
				t.Fatalf("%s was left with %v, %v; want %v, %v", id, got, known, want, wantKnown)
			}
		}
		if diff := cmp.Diff(left, maps.Collect(a.left())); diff != "" {
			t.Errorf("revisions: %s", diff)
		}
		var tally sextant.DocumentTally
		for _, f := range done {
			switch f {
			case unchanged:
				tally.Unchanged++
			case changed:
				tally.Changed++
			case added:
				tally.Added++
			}
		}
		if diff := cmp.Diff(tally, a.tally()); diff != "" {
			t.Errorf("tally: %s", diff)
		}
		if diff := cmp.Diff(append([]sextant.DocumentID{}, named...), a.documents(numbers)); diff != "" {
			t.Errorf("documents: %s", diff)
		}
	})
}
