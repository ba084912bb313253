package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/eval"
)

// evalCommand measures the engine on a data set of questions with right answers.
type evalCommand struct {
	jsonFlag
	retrievalFlags
	Set   string  `arg:"" help:"Kind of data set: constraints, counts, intents or retrieval."`
	File  string  `arg:"" help:"The data set: JSON lines, or for retrieval a folder in the layout of BEIR or NTSB narratives." type:"path"`
	Floor float64 `help:"Fail (exit 1) if the share of right answers is below this." placeholder:"SHARE"`
	Max   int     `help:"Misses to print; all with 0." default:"20" placeholder:"N"`
}

// Run asks every question of the set.
func (c *evalCommand) Run(ctx context.Context, s *session) error {
	if c.Set == "retrieval" {
		return c.retrieval(ctx, s)
	}
	items, err := readSet(c.File)
	if err != nil {
		return err
	}
	e, err := s.openEngine(ctx, s.config.Data)
	if err != nil {
		return err
	}
	defer e.close()
	report, err := eval.Run(ctx, e, c.Set, items)
	if err != nil {
		return err
	}
	if err := s.print(reply[eval.Report]{value: report}, func(p *page) { writeReport(p, report, c.Max) }); err != nil {
		return err
	}
	if report.Accuracy() < c.Floor {
		return exit(exitFailure)
	}
	return nil
}

func readSet(file string) ([]eval.Item, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &sextant.Error{Code: sextant.CodeNotFound, Op: "eval", Message: "There is no file " + file + "."}
	}
	if err != nil {
		return nil, &sextant.Error{Code: sextant.CodeForbidden, Op: "eval", Message: "The file " + file + " cannot be read.", Err: err}
	}
	defer f.Close()
	items, err := eval.Read(f)
	if err != nil {
		return nil, &sextant.Error{Code: sextant.CodeBadRequest, Op: "eval", Message: "The file " + file + " is no data set: " + err.Error() + ".", Hint: "One JSON object a line, with id, question and what is right about it."}
	}
	return items, nil
}

func writeReport(p *page, r eval.Report, most int) {
	p.text("", fmt.Sprintf("%s: %d of %d right (%.3f)", r.Set, r.Right, r.Questions, r.Accuracy()))
	for _, name := range slices.Sorted(maps.Keys(r.Figures)) {
		p.text("", fmt.Sprintf("%s: %g (%.1f %%)", name, r.Figures[name], 100*r.Figures[name]/float64(max(r.Questions, 1))))
	}
	p.text("", fmt.Sprintf("a question: %s median, %s for the slowest hundredth", r.P50.Round(10*time.Microsecond), r.P99.Round(10*time.Microsecond)))
	for i, m := range r.Misses {
		if most > 0 && i == most {
			p.text("", fmt.Sprintf("... and %d more", len(r.Misses)-most))
			break
		}
		p.blank()
		p.text("", m.ID+"  "+m.Question)
		p.text("    ", "got   "+m.Got)
		p.text("    ", "want  "+m.Want)
	}
}
