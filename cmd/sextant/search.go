package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sextant-rag/sextant"
)

// searchCommand finds passages without answering.
type searchCommand struct {
	jsonFlag
	Collection []string `help:"Look in this collection only; may be repeated." placeholder:"NAME" sep:"none"`
	Filter     string   `help:"A condition every passage's document satisfies, such as \"state = AK\"." placeholder:"EXPR"`
	Rerank     string   `help:"Whether a model reads query and passage together and orders passages anew: ${enum}." enum:"none,cross_encoder" default:"none" placeholder:"MODE"`
	TopK       int      `help:"Passages to show, at most 50; 5 otherwise." placeholder:"N"`
	Query      []string `arg:"" help:"The words to look for."`
}

// Run searches.
func (c *searchCommand) Run(ctx context.Context, s *session) error {
	r, done, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer done()
	result, err := r.Search(ctx, sextant.SearchQuery{Query: strings.Join(c.Query, " "), Collections: c.Collection, FilterText: c.Filter, TopK: c.TopK, Rerank: c.Rerank})
	if err != nil {
		return err
	}
	return s.print(result, func(p *page) { writeSearch(p, &result.value) })
}

func writeSearch(p *page, r *sextant.SearchResult) {
	p.text("", fmt.Sprintf("%d passages from %s documents under the filter.", len(r.Results), humanize.Comma(r.Total)))
	for i := range r.Results {
		writePassage(p, i+1, &r.Results[i])
	}
	p.blank()
	signals := []string{fmt.Sprintf("confidence %.2f", r.Confidence), fmt.Sprintf("coverage %.2f", r.Coverage.Ratio), fmt.Sprintf("sources %d", r.Diversity.Domains), "advice: " + r.Recommendation}
	if missing := r.Coverage.Missing; len(missing) > 0 {
		signals = append(signals, "missing: "+strings.Join(missing, ", "))
	}
	p.note("", strings.Join(signals, " · "))
	for _, d := range r.Degraded {
		p.text("- ", d.Stage+": "+d.Reason)
	}
	for _, n := range r.NotHeld {
		p.text("- ", notHeldText(n))
	}
}

func writePassage(p *page, rank int, passage *sextant.Passage) {
	p.blank()
	head := fmt.Sprintf("%s  %s", passage.DocumentID, passage.Title)
	if passage.Locator != "" {
		head += " · " + passage.Locator
	}
	p.text(fmt.Sprintf("[%d] ", rank), head)
	p.text("    ", passage.Content)
	var reasons []string
	for _, r := range passage.Reasons {
		why := fmt.Sprintf("%s %.2f", r.Kind, r.Score)
		if r.Rank > 0 {
			why += fmt.Sprintf(" (place %d)", r.Rank)
		}
		if len(r.Terms) > 0 {
			why += ": " + strings.Join(r.Terms, ", ")
		}
		reasons = append(reasons, why)
	}
	p.note("    ", strings.Join(append([]string{fmt.Sprintf("score %.3f", passage.Score)}, reasons...), " · "))
}
