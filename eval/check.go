package eval

import (
	"fmt"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/check"
)

// Detection counts trials of one kind and those of them that the check removed.
type Detection struct {
	Made    int `json:"made"`
	Removed int `json:"removed"`
}

// Checked is the result of the check on planted faults.
type Checked struct {
	Faults      map[string]Detection `json:"faults"` // by the kind that was planted
	True        map[string]Detection `json:"true"`   // by how the statement was put
	Misses      []Miss               `json:"misses"` // faults that were kept, true findings that were removed
	P50         time.Duration        `json:"-"`      // of one finding
	Slowest     time.Duration        `json:"-"`      // hundredth
	faulty, all Detection
}

// Detected is the share of the faults that were found.
func (c Checked) Detected() float64 { return ratio(c.faulty.Removed, c.faulty.Made) }

// Alarms is the share of the true findings that were removed.
func (c Checked) Alarms() float64 {
	if c.all.Made == 0 {
		return 0
	}
	return float64(c.all.Removed) / float64(c.all.Made)
}

// Check runs the check over trials made of documents.
func Check(documents []sextant.Document, trials []Trial) Checked {
	out := Checked{Faults: map[string]Detection{}, True: map[string]Detection{}, Misses: []Miss{}}
	byID := map[sextant.DocumentID]sextant.Document{}
	for _, d := range documents {
		byID[d.ID] = d
	}
	look := func(id sextant.DocumentID) (sextant.Document, bool) { d, ok := byID[id]; return d, ok }
	var times []time.Duration
	for i, t := range trials {
		start := time.Now()
		_, removed := check.Findings([]sextant.Finding{t.Finding}, look)
		times = append(times, time.Since(start))
		kinds, total := out.True, &out.all
		if t.Fault {
			kinds, total = out.Faults, &out.faulty
		}
		d := kinds[t.Kind]
		d.Made, d.Removed = d.Made+1, d.Removed+len(removed)
		kinds[t.Kind] = d
		total.Made, total.Removed = total.Made+1, total.Removed+len(removed)
		if t.Fault != (len(removed) == 1) {
			m := Miss{ID: fmt.Sprintf("%d %s", i, t.Kind), Question: t.Finding.Text, Got: "kept", Want: t.Finding.Quotes[0].Text}
			if len(removed) == 1 {
				m.Got = string(removed[0].Fault) + ": " + removed[0].Reason
			}
			out.Misses = append(out.Misses, m)
		}
	}
	if n := len(times); n > 0 {
		slices.Sort(times)
		out.P50, out.Slowest = times[n/2], times[n*99/100]
	}
	return out
}
