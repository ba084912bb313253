package main

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
)

// meter shows how far a run of ingestion has come: on a terminal a bar for each file, with
// rate and time left; elsewhere a line when a file begins, every lineEvery, and at its
// end. It belongs to one goroutine.
type meter struct {
	t      *terminal
	bars   *mpb.Progress // nil where lines are written
	bar    *mpb.Bar
	number int           // of the file the bar or the last line is about
	line   time.Duration // into the run, when the last line was written
}

// lineEvery keeps the log of a long run short and its silence explained.
const lineEvery = 10 * time.Second

func newMeter(t *terminal) *meter {
	m := &meter{t: t}
	if t.moving {
		m.bars = mpb.New(mpb.WithOutput(t.err), mpb.WithAutoRefresh(), mpb.WithWidth(24), mpb.WithRefreshRate(150*time.Millisecond))
	}
	return m
}

// show takes a report of the run.
func (m *meter) show(p ingest.Progress) {
	began := p.Number != m.number
	m.number = p.Number
	if m.bars != nil {
		m.draw(p, began)
		return
	}
	switch {
	case p.Done:
		m.t.say("read %s: %s records", p.File, humanize.Comma(p.Records))
	case began:
		m.line = p.Elapsed
		m.t.say("reading %s", p.File)
	case p.Elapsed-m.line >= lineEvery:
		m.line = p.Elapsed
		m.t.say("  %s of %s, %s records, %s", share(p), p.File, humanize.Comma(p.Records), pace(p))
	}
}

func (m *meter) draw(p ingest.Progress, began bool) {
	if began {
		m.bar = m.bars.AddBar(max(p.Size, 1),
			mpb.PrependDecorators(decor.Name(sextant.CleanText(p.File), decor.WCSyncSpaceR), decor.Percentage(decor.WC{W: 5})),
			mpb.AppendDecorators(decor.AverageSpeed(decor.SizeB1024(0), " % .1f"), decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 8}), " done")),
		)
	}
	m.bar.SetCurrent(min(p.Consumed, max(p.Size, 1)))
	if p.Done {
		m.bar.SetTotal(-1, true)
		m.bar = nil
	}
}

// stop ends the display, so that what is written next stands below it. A file that was
// not read to its end keeps its bar where it is.
func (m *meter) stop() {
	if m.bar != nil {
		m.bar.Abort(false)
	}
	if m.bars != nil {
		m.bars.Wait()
	}
}

// share is how much of a file was read.
func share(p ingest.Progress) string {
	if p.Size <= 0 {
		return humanize.IBytes(uint64(max(p.Consumed, 0)))
	}
	return fmt.Sprintf("%d %%", min(100*p.Consumed/p.Size, 100))
}

// pace is the rate and the time left.
func pace(p ingest.Progress) string {
	s := humanize.IBytes(uint64(max(p.Rate, 0))) + "/s"
	if p.Left > 0 {
		s += ", " + p.Left.Round(time.Second).String() + " left in all"
	}
	return s
}
