package aviation

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"compress/gzip"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

// reckoning counts events from the files themselves, with nothing of what is tested: a
// case is an event, its number without a last letter; numbers and event ids that stand in
// one record are one event.
type reckoning struct {
	names map[string]string            // union-find over case numbers and event ids
	dates map[string]map[string]string // by event and kind of file
}

var lastLetter = regexp.MustCompile(`^([A-Z]{3}[0-9]{2}[A-Z]{1,2}[0-9]{3,4})[A-H]$`)

func (r *reckoning) root(name string) string {
	for r.names[name] != name && r.names[name] != "" {
		name = r.names[name]
	}
	return name
}

// add enters a record: its names, and the date that a kind of file gives the event.
func (r *reckoning) add(kind, date string, names ...string) {
	first := ""
	for _, name := range names {
		name = lastLetter.ReplaceAllString(strings.TrimSpace(name), "$1")
		if name == "" {
			continue
		}
		if r.names[name] == "" {
			r.names[name] = name
		}
		if first == "" {
			first = r.root(name)
		} else if other := r.root(name); other != first {
			r.names[other] = first
			for k, d := range r.dates[other] {
				r.note(first, k, d)
			}
		}
	}
	if first != "" && date != "" {
		r.note(first, kind, date)
	}
}

func (r *reckoning) note(event, kind, date string) {
	if r.dates[event] == nil {
		r.dates[event] = map[string]string{}
	}
	if r.dates[event][kind] < date {
		r.dates[event][kind] = date
	}
}

// years counts the events of each year by the date of the most authoritative kind.
func (r *reckoning) years(kinds []string) map[string]int64 {
	out := map[string]int64{}
	for name := range r.names {
		if r.root(name) != name {
			continue
		}
		year := ""
		for _, kind := range kinds {
			if d := r.dates[name][kind]; d != "" && year == "" {
				year = d[:4]
			}
		}
		out[year]++
	}
	return out
}

func openPlain(t *testing.T, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if !strings.HasSuffix(path, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// table reads a CSV file's rows by column.
func (r *reckoning) table(t *testing.T, path string, each func(row map[string]string)) (rows int64) {
	t.Helper()
	in := openPlain(t, path)
	if strings.Contains(path, "AviationData") || strings.Contains(path, "cp1252") {
		in = charmap.Windows1252.NewDecoder().Reader(in)
	}
	c := csv.NewReader(in)
	c.FieldsPerRecord, c.LazyQuotes = -1, true
	header, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	header[0] = strings.Trim(strings.TrimPrefix(header[0], "\ufeff"), `"`)
	for {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		row := map[string]string{}
		for i, cell := range cells {
			if i < len(header) {
				row[header[i]] = cell
			}
		}
		rows++
		each(row)
	}
}

// All records of the published file, the CAROL exports and the narratives together: every
// one accounted for, an accident that stands in several files one document, and the counts
// by year those of the files. It prints how long that took.
func TestAllFilesTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 152,938 records in")
	}
	rows := shared(t, "ntsb-aviationdata", "AviationData-2017.csv.gz")
	narratives, err := filepath.Glob(filepath.Join(shared(t, "ntsb-narratives"), "*.jsonl.gz"))
	if err != nil || len(narratives) != 6 {
		t.Skipf("needs the six files of ntsb-narratives, found %d", len(narratives))
	}
	exports, err := filepath.Glob(filepath.Join(shared(t, "ntsb-carol"), "NTSB_*.csv.gz"))
	if err != nil || len(exports) != 4 {
		t.Skipf("needs the four exports of ntsb-carol, found %d", len(exports))
	}
	r := reckoning{names: map[string]string{}, dates: map[string]map[string]string{}}
	read := r.table(t, rows, func(row map[string]string) { r.add("rows", row["Event.Date"], row["Event.Id"], row["Accident.Number"]) })
	for _, path := range narratives {
		lines := bufio.NewScanner(openPlain(t, path))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var n struct {
				ID       string `json:"event_id"`
				Date     string `json:"event_date"`
				Aircraft []struct {
					Number string `json:"accident_number"`
				} `json:"aircraft"`
			}
			if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
				t.Fatal(err)
			}
			names := []string{n.ID}
			for _, a := range n.Aircraft {
				names = append(names, a.Number)
			}
			r.add("narratives", n.Date, names...)
			read++
		}
	}
	final := map[string]bool{} // cases that the published file has closed and CAROL has not
	r.table(t, rows, func(row map[string]string) {
		if row["Report.Status"] == "Probable Cause" {
			final[lastLetter.ReplaceAllString(row["Accident.Number"], "$1")] = true
		}
	})
	for _, path := range exports {
		read += r.table(t, path, func(row map[string]string) {
			kind := "carol"
			if final[row["NtsbNo"]] && row["ReportStatus"] != "Completed" {
				kind = "open"
			}
			r.add(kind, row["EventDate"], row["NtsbNo"])
		})
	}
	want := r.years([]string{"carol", "rows", "open", "narratives"})

	st := openStore(t)
	files := slices.Concat(exports, narratives, []string{rows})
	src, err := OpenNTSB(files...)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	receipt, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: Incidents(), Source: src})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d records in %.1f s", receipt.Read, time.Since(began).Seconds())
	var outcomes int64
	for _, n := range receipt.Records {
		outcomes += n
	}
	if receipt.Read != read || outcomes != read || receipt.Records[sextant.Refused]+receipt.Records[sextant.Skipped] != 0 {
		t.Errorf("%d records in the files; read %d, of which %v", read, receipt.Read, receipt.Records)
	}
	c, err := st.Open(t.Context(), "incidents")
	if err != nil {
		t.Fatal(err)
	}
	facet, err := c.Facet(t.Context(), store.FacetQuery{Field: "event_date", Filter: filter.All, By: store.Year})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, b := range facet.Buckets {
		got[b.Value.Str()] = b.Count
	}
	if facet.Unknown > 0 {
		got[""] = facet.Unknown
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events by year, of the files and of the store (-files +store):\n%s", diff)
	}
	t.Logf("%d events, %d years", facet.Total, len(slices.Collect(maps.Keys(got))))
	began = time.Now()
	again, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: Incidents(), Source: src})
	if err != nil || again.Records[sextant.Unchanged] != read {
		t.Errorf("the second run found %v, %v", again.Records, err)
	}
	t.Logf("unchanged, %.1f s", time.Since(began).Seconds())
	if v, err := ingest.Verify(t.Context(), st, "incidents"); err != nil || len(v.Missing)+len(v.Changed)+len(v.Extra) > 0 {
		t.Errorf("verify: %d missing, %d changed, %d extra, %v", len(v.Missing), len(v.Changed), len(v.Extra), err)
	}
}
