package ingest

import (
	"maps"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/source"
)

// Progress says how far a run has come.
type Progress struct {
	File     string // the input being read
	Number   int    // which one it is, from 1
	Files    int
	Size     int64 // bytes of the input as stored, -1 if unknown
	Consumed int64 // bytes read of it

	Records  int64                     // records of the input whose outcome is known and durable
	Outcomes map[sextant.Outcome]int64 // of these
	Done     bool                      // the input is finished

	Elapsed time.Duration // since the run began to read
	Rate    float64       // bytes a second over all inputs, those left unread not counted
	Left    time.Duration // estimate for all inputs; 0 if it cannot be told
}

// progressEach is how often progress is reported.
const progressEach = 100 * time.Millisecond

// meter reports progress.
type meter struct {
	report func(Progress)
	now    func() time.Time
	began  time.Time
	last   time.Time
	number int
	files  int
	before int64 // bytes of inputs read to their end
	ahead  int64 // bytes of inputs not finished; -1 if unknown
}

func newMeter(job Job, inputs []source.Input) meter {
	m := meter{report: job.Progress, now: job.Now, began: job.Now(), files: len(inputs)}
	for _, in := range inputs {
		if in.Size() < 0 {
			m.ahead = -1
			break
		}
		m.ahead += in.Size()
	}
	return m
}

// left reports an input that was not read because nothing about it is new.
func (m *meter) left(in source.Input, receipt sextant.FileReceipt) {
	m.number++
	if m.ahead >= 0 {
		m.ahead -= in.Size()
	}
	if m.report != nil {
		m.report(Progress{
			File: in.Name(), Number: m.number, Files: m.files, Size: in.Size(), Consumed: max(in.Size(), 0),
			Records: receipt.Read, Outcomes: maps.Clone(receipt.Records), Done: true, Elapsed: m.now().Sub(m.began),
		})
	}
}

// advance reports the input being read, not too often.
func (m *meter) advance(f *fileRun) {
	if m.report != nil && m.now().Sub(m.last) >= progressEach {
		m.last = m.now()
		m.report(m.progress(f, m.number+1))
	}
}

// end reports an input read to its end.
func (m *meter) end(f *fileRun) {
	m.number++
	if m.report != nil {
		p := m.progress(f, m.number)
		p.Done, p.Consumed = true, max(f.input.Size(), 0)
		m.report(p)
	}
	m.before += max(f.input.Size(), 0)
	if m.ahead >= 0 {
		m.ahead -= f.input.Size()
	}
}

func (m *meter) progress(f *fileRun, number int) Progress {
	p := Progress{
		File: f.input.Name(), Number: number, Files: m.files, Size: f.input.Size(), Consumed: f.input.Consumed(),
		Records: f.receipt.Read, Outcomes: maps.Clone(f.receipt.Records), Elapsed: m.now().Sub(m.began),
	}
	if seconds := p.Elapsed.Seconds(); seconds > 0 {
		p.Rate = float64(m.before+p.Consumed) / seconds
	}
	if p.Rate > 0 && m.ahead >= 0 {
		p.Left = time.Duration(float64(max(m.ahead-p.Consumed, 0)) / p.Rate * float64(time.Second))
	}
	return p
}
