package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/compute"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

// maxTopic bounds the words of a subject that are looked for as they stand: a long one is a
// description, of which no text has all words.
const maxTopic = 4

// topicCount counts in how many of the documents the subject of a question is mentioned,
// where no field holds it. Without it the count of all that satisfies the conditions would
// look like an answer about the subject.
func (a *asking) topicCount(c store.Collection) error {
	if !a.countsTopic(c) {
		return nil
	}
	whole := a.answer.Computed[len(a.answer.Computed)-1]
	if whole.Total == 0 || whole.Kind != "list" && whole.Kind != "count" {
		return nil
	}
	parts := a.account.Parts[c.Spec().Name]
	mentions := a.topicMentions()
	all := slices.Concat(parts, mentions)
	reading := a.reading
	reading.Request = constrain.Request{Kind: "count", Unit: a.reading.Request.Unit}
	computed, err := compute.Run(a.ctx, compute.Request{Collection: c, Parser: a.subject.parser, Reading: reading, Parts: all, Filter: constrain.Joint(all), Ledger: a.account.Ledger,
		Files: a.state.files[c.Spec().Name], Domain: a.subject.counting})
	if err != nil {
		return unavailable("count mentions", err)
	}
	for _, m := range computed {
		if m.Total == 0 && a.reading.Request.Kind == "count" {
			continue // the words may well say over again what a condition says; the caveat tells of them
		}
		m.MentionOf = whole.Total
		if m.Total > 0 {
			if err := a.stated(c, parts, mentions, &m); err != nil {
				return err
			}
		}
		a.answer.Computed = append(a.answer.Computed, m)
	}
	return nil
}

// countsTopic reports whether a question has a subject that texts can be counted by, beside
// a count of everything that satisfies its conditions.
func (a *asking) countsTopic(c store.Collection) bool {
	r := &a.reading
	if kind := r.Request.Kind; kind != "" && kind != "list" && kind != "count" || r.Request.Compared {
		return false
	}
	if r.Denied || len(r.Phrases) == 0 || len(r.Topic) > maxTopic || namesField(c.Spec(), r.Topic) {
		return false
	}
	if strings.ContainsAny(strings.Join(r.Phrases, " "), "0123456789") {
		return false // a figure is no subject
	}
	return a.events(c) && a.account.Applies(c.Spec().Name) && !a.narrow() && !a.asksRecord()
}

// topicMentions makes a condition of each phrase of the subject.
func (a *asking) topicMentions() (out []constrain.Compiled) {
	for _, p := range a.reading.Phrases {
		m := filter.Mentions{Phrases: []string{p}}
		out = append(out, constrain.Compiled{Filter: m,
			Constraint: constrain.Constraint{Text: p, Condition: constrain.Condition{Field: constrain.TextField, Op: sextant.OpMentions, Values: []any{p}, Narrow: m}}})
	}
	return out
}

// namesField reports whether a word of a topic is one of a field's name: "priority" beside
// "high" is no subject but what the value is of.
func namesField(spec sextant.Collection, topic []string) bool {
	for _, f := range spec.Schema.Fields {
		for _, name := range constrain.Words(strings.ReplaceAll(f.Name, "_", " ") + " " + f.Label) {
			if slices.ContainsFunc(topic, func(w string) bool {
				return len(name) > 2 && strings.TrimSuffix(strings.ToLower(w), "s") == strings.TrimSuffix(name, "s")
			}) {
				return true
			}
		}
	}
	return false
}

// statements are the kinds of parts in which a mention weighs more than in a narrative.
var statements = []struct{ kind, words string }{{"cause", "in the stated cause"}, {"finding", "in a coded finding"}}

// stated counts the mentions in what states a cause, where a collection has such parts.
func (a *asking) stated(c store.Collection, parts, mentions []constrain.Compiled, out *sextant.Computed) error {
	for _, s := range statements {
		f := filter.And{constrain.Joint(parts)}
		for _, m := range mentions {
			in := m.Filter.(filter.Mentions)
			in.Part = s.kind
			f = append(f, in)
		}
		n, err := c.Count(a.ctx, filter.Simplify(f), out.Unit)
		if err != nil {
			return unavailable("count mentions", err)
		}
		if n > 0 {
			out.Method.OtherCounts = append(out.Method.OtherCounts, sextant.OtherCount{Rule: "mentioned " + s.words, Count: n, Why: "a part of these, nearer to a cause than a mention anywhere"})
		}
	}
	return nil
}

// mentionText says how many documents mention the subject, and that it is no more.
func (a *asking) mentionText(c sextant.Computed, conditions string) string {
	topic := "“" + strings.Join(a.reading.Phrases, "” and “") + "”"
	is := "is"
	if len(a.reading.Phrases) > 1 {
		is = "are"
	}
	if c.Total == 0 {
		nowhere := fmt.Sprintf("No field holds %s, and no narrative or cause that is held has these words together", topic)
		if a.quotesTopic() {
			nowhere = fmt.Sprintf("By %s nothing could be counted", topic)
		}
		return fmt.Sprintf("%s; %s satisfy the rest%s.", nowhere, count(c.MentionOf, c.UnitLabel), conditions)
	}
	s := fmt.Sprintf("%s %s mentioned in at least %s of %s%s; a mention, not a cause, and other words for it are not counted.", topic, is, thousands(c.Total), count(c.MentionOf, c.UnitLabel), conditions)
	for _, o := range c.Method.OtherCounts {
		for _, st := range statements {
			if o.Rule == "mentioned "+st.words {
				s += fmt.Sprintf(" %s of them %s.", thousands(o.Count), st.words)
			}
		}
	}
	return s
}

// quotesTopic reports whether a finding has the words of the subject, so that to say nothing
// has them would be untrue: a value of a field may, in which mentions are not counted.
func (a *asking) quotesTopic() bool {
	return slices.ContainsFunc(a.answer.Findings, func(f sextant.Finding) bool {
		return slices.ContainsFunc(a.reading.Phrases, func(p string) bool {
			return strings.Contains(strings.ToLower(f.Text), strings.ToLower(p))
		})
	})
}
