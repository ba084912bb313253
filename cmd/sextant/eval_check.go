package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/eval"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// How many faults eval check plants, and in how many documents of each collection.
const (
	plantedFaults    = 1000
	plantedDocuments = 600
)

// checkReport is the result of eval check.
type checkReport struct {
	Documents int     `json:"documents"`
	Detected  float64 `json:"detected"` // share of the faults
	Alarms    float64 `json:"alarms"`   // share of the true findings
	eval.Checked
}

// check plants faults in findings made of what is held and counts how many the check finds.
func (c *evalCommand) check(ctx context.Context, s *session) error {
	st, err := s.openStore(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	documents, err := sampled(ctx, st, plantedDocuments)
	if err != nil {
		return err
	}
	trials := eval.Plant(documents, plantedFaults)
	if len(trials) == 0 {
		return &sextant.Error{Code: sextant.CodeNotFound, Op: "eval check", Message: "Nothing is held that findings could be made of.", Hint: `Take something in first: "sextant ingest --help".`}
	}
	r := checkReport{Documents: len(documents), Checked: eval.Check(documents, trials)}
	r.Detected, r.Alarms = r.Checked.Detected(), r.Checked.Alarms()
	if err := s.print(reply[checkReport]{value: r}, func(p *page) { writeCheck(p, r, c.Max) }); err != nil {
		return err
	}
	if r.Detected < c.Floor {
		return exit(exitFailure)
	}
	return nil
}

// sampled returns documents of every collection at even distances in the order of their ids.
func sampled(ctx context.Context, st store.Store, most int) ([]sextant.Document, error) {
	specs, err := st.Collections(ctx)
	if err != nil {
		return nil, err
	}
	var out []sextant.Document
	for _, spec := range specs {
		c, err := st.Open(ctx, spec.Name)
		if err != nil {
			return nil, err
		}
		list, err := c.List(ctx, store.ListQuery{Filter: filter.All, Limit: 1 << 20})
		if err != nil {
			return nil, err
		}
		step := max(1, len(list.IDs)/most)
		var ids []sextant.DocumentID
		for i := 0; i < len(list.IDs) && len(ids) < most; i += step {
			ids = append(ids, list.IDs[i])
		}
		documents, err := c.Get(ctx, ids)
		if err != nil {
			return nil, err
		}
		out = append(out, documents...)
	}
	return out, nil
}

func writeCheck(p *page, r checkReport, most int) {
	p.text("", fmt.Sprintf("check: %.1f %% of planted faults found, %.1f %% of true findings removed; %d documents", 100*r.Detected, 100*r.Alarms, r.Documents))
	p.text("", fmt.Sprintf("a finding: %s median, %s for the slowest hundredth", r.P50.Round(time.Microsecond), r.Slowest.Round(time.Microsecond)))
	for _, side := range []struct {
		head  string
		kinds map[string]eval.Detection
	}{{"fault", r.Faults}, {"true, put", r.True}} {
		t := table{head: []string{side.head, "made", "removed"}, right: []bool{false, true, true}}
		for _, name := range slices.Sorted(maps.Keys(side.kinds)) {
			d := side.kinds[name]
			t.rows = append(t.rows, []string{name, fmt.Sprint(d.Made), fmt.Sprint(d.Removed)})
		}
		p.table(t)
	}
	for i, m := range r.Misses {
		if most > 0 && i == most {
			p.text("", fmt.Sprintf("... and %d more", len(r.Misses)-most))
			break
		}
		p.blank()
		p.text("", m.ID+"  "+m.Question)
		p.text("    ", "got     "+m.Got)
		p.text("    ", "quotes  "+m.Want)
	}
}
