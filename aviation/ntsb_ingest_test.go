package aviation

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// The full files through the whole of ingestion: every record accounted for, a second
// run that has nothing to do, and one that brings back what was deleted.
func TestFullFilesThroughTheStore(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 126,066 records in")
	}
	rows := shared(t, "ntsb-aviationdata", "AviationData-2017.csv.gz")
	narratives, err := filepath.Glob(filepath.Join(shared(t, "ntsb-narratives"), "*.jsonl.gz"))
	if err != nil || len(narratives) != 6 {
		t.Skipf("needs the six files of ntsb-narratives, found %d", len(narratives))
	}
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	run := func(name string, want map[sextant.Outcome]int64, documents sextant.DocumentTally) {
		began := time.Now()
		src, err := OpenNTSB(append([]string{rows}, narratives...)...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: Incidents(), Source: src})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.2f s", name, time.Since(began).Seconds())
		if diff := cmp.Diff(want, r.Records); diff != "" || r.Read != 126_066 || r.Documents != documents {
			t.Errorf("%s: %d read, documents %+v, records (-want +got):\n%s", name, r.Read, r.Documents, diff)
		}
	}
	run("first run", map[sextant.Outcome]int64{sextant.Stored: 78_405, sextant.Merged: 1_152 + 46_509}, sextant.DocumentTally{Added: 78_405})
	all := map[sextant.Outcome]int64{sextant.Unchanged: 126_066}
	run("second run", all, sextant.DocumentTally{Unchanged: 78_405})
	c, err := st.Open(t.Context(), "incidents")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Delete(t.Context(), []sextant.DocumentID{"ntsb:20001208X05756", "ntsb:20170320X00003"}); n != 2 || err != nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	run("after two were deleted", map[sextant.Outcome]int64{sextant.Stored: 2, sextant.Merged: 1, sextant.Unchanged: 126_063},
		sextant.DocumentTally{Added: 2, Unchanged: 78_403})
	run("fourth run", all, sextant.DocumentTally{Unchanged: 78_405})
	for unit, want := range map[string]int64{store.Documents: 78_405, Aircraft: 79_557} {
		if n, err := c.Count(t.Context(), nil, unit); n != want || err != nil {
			t.Errorf("%d %s, want %d (%v)", n, unit, want, err)
		}
	}
}
