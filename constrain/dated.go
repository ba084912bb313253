package constrain

import (
	"github.com/sextant-rag/sextant"
)

// A question may be about the documents of one collection and date those of another:
// "news of March 2024 about the crash" is dated by its publication, "news about the crash of
// March 2024" by the crash.

// datedNouns returns, by what reports are called, the field that dates them, for collections
// of reports that have a date of their own.
func datedNouns(v *Vocabulary, l *Lexicon) map[string]string {
	out := map[string]string{}
	for _, spec := range v.Collections {
		if spec.Role != sextant.RoleReports || spec.DateField == "" || spec.DateField == l.Dates {
			continue
		}
		names := append(Words(spec.Name), Words(spec.Unit)...)
		for noun, what := range l.TextNouns {
			if what.Role == spec.Role {
				names = append(names, noun, noun+"s")
			}
		}
		for _, name := range names {
			out[name] = spec.DateField
		}
	}
	return out
}

// dateReports moves dates onto the field of the reports they are of.
func (q *Query) dateReports(claims []Claim) {
	if len(q.datedNouns) == 0 {
		return
	}
	for i := range claims {
		field := ""
		for k := range claims[i].Conditions {
			c := &claims[i].Conditions[k]
			if !q.dates(c.Field) || len(c.Values) == 0 || !isSpan(c.Values[0]) {
				continue
			}
			if field == "" {
				field = q.reportsDated(claims[i])
			}
			if field == "" {
				break
			}
			c.Field = field
		}
		for k := range claims[i].Others {
			if field != "" && q.dates(claims[i].Others[k].Field) {
				claims[i].Others[k].Field = field
			}
		}
	}
}

// dates reports whether a field is what a date is read for before it is known which
// documents are meant.
func (q *Query) dates(field string) bool {
	if field == q.Lexicon.Dates {
		return true
	}
	for _, by := range q.Lexicon.DatedBy {
		if by == field {
			return true
		}
	}
	return false
}

// aboutWords begin what the dated documents are about.
var aboutWords = set(`about on of regarding concerning mentioning with in at from covering`)

// reportsDated returns the date field of the reports that a date belongs to: what stands
// right after it ("2024 news"), or else what stands nearest before it, reports or events.
func (q *Query) reportsDated(c Claim) string {
	for k := c.To; k < c.To+3 && q.Joined(k) && !aboutWords[q.Word(k)]; k++ {
		if field := q.datedNouns[q.Word(k)]; field != "" && k == c.To {
			return field
		}
		if q.EventNoun(k) && !q.document(k) || q.Lexicon.Ties[q.Word(k)] {
			return "" // "coverage of the 2009 Hudson ditching"
		}
	}
	if field := q.datedNouns[q.Word(c.From-1)]; field != "" && q.Joined(c.From) {
		return field
	}
	for k := c.From - 1; k >= 0; k-- {
		if field := q.datedNouns[q.Word(k)]; field != "" {
			return field
		}
		if q.EventNoun(k) && !q.document(k) {
			return ""
		}
	}
	for k := c.To; k < len(q.Tokens); k++ { // "in March 2024, what did the press write about Boeing"
		if field := q.datedNouns[q.Word(k)]; field != "" {
			return field
		}
		if q.EventNoun(k) && !q.document(k) {
			return ""
		}
	}
	return ""
}
