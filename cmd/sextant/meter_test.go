package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant/ingest"
)

func TestMeterWritesPlainLinesElsewhere(t *testing.T) {
	var out bytes.Buffer
	m := newMeter(newTerminal(&bytes.Buffer{}, &out, nil))
	for _, p := range []ingest.Progress{
		{File: "one.csv", Number: 1, Size: 1000},
		{File: "one.csv", Number: 1, Size: 1000, Consumed: 100, Elapsed: 9 * time.Second}, // too soon for a line
		{File: "one.csv", Number: 1, Size: 1000, Consumed: 250, Records: 2000, Rate: 25, Left: 30 * time.Second, Elapsed: 10 * time.Second},
		{File: "one.csv", Number: 1, Size: 1000, Consumed: 1000, Records: 8000, Done: true, Elapsed: 40 * time.Second},
		{File: "two\x1b[2J.csv", Number: 2, Size: -1, Elapsed: 40 * time.Second},
		{File: "two\x1b[2J.csv", Number: 2, Size: -1, Consumed: 4096, Records: 10, Rate: 2048, Elapsed: 60 * time.Second},
		{File: "known.csv", Number: 3, Size: 10, Consumed: 10, Records: 5, Done: true}, // nothing new in it: no reading
	} {
		m.show(p)
	}
	m.stop()
	want := `reading one.csv
  25 % of one.csv, 2,000 records, 25 B/s, 30s left in all
read one.csv: 8,000 records
reading two[2J.csv
  4.0 KiB of two[2J.csv, 10 records, 2.0 KiB/s
read known.csv: 5 records
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestMeterDrawsBarsOnATerminal(t *testing.T) {
	var out bytes.Buffer
	terminal := newTerminal(&bytes.Buffer{}, &out, nil)
	terminal.moving = true
	m := newMeter(terminal)
	m.show(ingest.Progress{File: "one.csv", Number: 1, Size: 1000, Consumed: 400})
	m.show(ingest.Progress{File: "one.csv", Number: 1, Size: 1000, Consumed: 1000, Done: true})
	m.show(ingest.Progress{File: "two.csv", Number: 2, Size: 1000, Consumed: 300}) // the run breaks here
	m.stop()
	for _, want := range []string{"one.csv", "100 %", "done", "two.csv", "30 %"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in %q", want, out.String())
		}
	}
}
