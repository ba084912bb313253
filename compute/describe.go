package compute

import (
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
)

// title names the figure by its conditions.
func (c *computer) title(label string) string {
	var words []string
	for _, p := range c.Parts {
		words = append(words, Describe(c.spec, p))
	}
	if len(words) == 0 {
		return "All " + label
	}
	return strings.ToUpper(label[:1]) + label[1:] + ": " + strings.Join(words, "; ")
}

// Describe writes a constraint for people: "state AK", "date 2008-01-01 to 2012-12-31".
func Describe(spec sextant.Collection, p constrain.Compiled) string {
	if p.Field == "filter" {
		return filter.String(p.Filter)
	}
	label := p.Field
	if f, ok := spec.Schema.Field(p.Field); ok && f.Label != "" {
		label = f.Label
	}
	texts := make([]string, 0, len(p.Values)+1)
	for _, v := range p.Values {
		texts = append(texts, valueText(v))
	}
	if strings.HasPrefix(p.Note, constrain.EitherNote) {
		texts = append(texts, strings.TrimPrefix(p.Note, constrain.EitherNote))
	}
	switch p.Op {
	case sextant.OpMentions:
		return label + " mentions " + quotedList(texts)
	case sextant.OpNotMentions:
		return label + " does not mention " + quotedList(texts)
	case sextant.OpNotIn, sextant.OpNotContains:
		return label + " not " + strings.Join(texts, " or ")
	case sextant.OpGte:
		return label + " from " + strings.TrimSuffix(texts[0], " to ")
	case sextant.OpLte:
		return label + " up to " + strings.TrimPrefix(texts[0], " to ")
	case sextant.OpBetween:
		return label + " " + strings.Join(texts, " to ")
	}
	return label + " " + strings.Join(texts, " or ")
}

func quotedList(texts []string) string { return "“" + strings.Join(texts, "” or “") + "”" }
