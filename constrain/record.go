package constrain

import (
	"slices"

	"github.com/sextant-rag/sextant"
)

// What people ask of a record they name: the values of some of its fields, how far it has
// come, what changed in it, the course of what it tells, and the parts they do not want.

// recognizeRecord claims such words. Most are everyday words, which say so only in a
// question that names a record.
func recognizeRecord(q *Query) []Claim {
	var out []Claim
	identified := q.namesRecord() && !q.asksCount()
	for i := range q.Tokens {
		if c, ok := q.withoutPart(i); ok {
			out = append(out, c)
		}
		if c, ok := q.withPart(i); ok {
			out = append(out, c)
		}
		if !identified {
			continue
		}
		if fields, to, ok := q.records.PluralAt(q, i); ok && q.standsFor(i, to) {
			out = append(out, Claim{From: i, To: to, Request: &Request{Fields: fields}, Drop: true, Weight: 9})
		}
		if len(q.Lexicon.Stages) > 0 && q.asksStage(i) {
			out = append(out, Claim{From: i, To: i + 1, Request: &Request{Fields: q.Lexicon.Stages}, Drop: true, Weight: 9})
		}
		if _, to, ok := changing.At(q, i); ok && q.revised(i, to) {
			out = append(out, Claim{From: i, To: to, Request: &Request{Changes: true}, Drop: true, Weight: 1})
		}
		if _, to, ok := courses.At(q, i); ok {
			out = append(out, Claim{From: i, To: to, Request: &Request{Timeline: true}, Drop: true, Weight: 1})
		}
	}
	return out
}

var (
	changing = NewTable(phrases(true, "what changed, what has changed, what was changed, what is changed, anything changed, anything change, did anything change, has anything changed, how did it change, what was revised, what was corrected, changed between, changes between, change between, changed from, changes from, "+
		"differences between the, difference between the, differ from the, differs from the, what is different in, what is new in, revisions of, revision history, earlier versions of, earlier version of"))
	courses = NewTable(phrases(true, "timeline, time line, timelines, chronology, chronological order, chronological account, in order of time, minute by minute, sequence of events in, sequence of events of, sequence of events for, course of events, order of events"))
)

var (
	stageWords = set(`completed complete finished closed concluded over done final finalized finalised open ongoing out ready published`)
	stageFill  = set(`is has have was are been the a an investigation investigations inquiry case report of into on for in by yet now already still not ntsb number no`)
)

// asksStage reports whether token i says how far a record has come and nothing else is asked:
// "is the investigation of T-1042 completed?".
func (q *Query) asksStage(i int) bool {
	if w := q.Word(0); !stageWords[q.Word(i)] || w != "is" && w != "has" && w != "have" && w != "was" && w != "are" {
		return false
	}
	for k, t := range q.Tokens {
		if k != i && !stageFill[t.Lower] && t.digits == 0 && !q.EventNoun(k) && !(k+1 < len(q.Tokens) && q.Gap(k+1) == "-") {
			return false
		}
	}
	return true
}

// identified marks the tokens that look like a number of a record's own: letters and digits
// in one word, or a longer number that is no year. What another claim reads as a date, a
// quantity or a kind of thing is none: a PA-28-161, the years 2022-2024.
func (q *Query) identified(claims []Claim) []bool {
	out := make([]bool, len(q.Tokens))
	for i, t := range q.Tokens {
		out[i] = t.digits > 0 && len(t.Text) >= minIdentifier || t.digits > 1 && t.Gap == "-"
	}
	if !slices.Contains(out, true) {
		return out
	}
	other := q.taken(choose(slices.Clone(claims), len(q.Tokens)), func(c Claim) bool {
		return slices.ContainsFunc(c.Conditions, func(k Condition) bool {
			_, text := firstOf(k.Values).(string)
			return !text || slices.Contains(q.Lexicon.Kinds, k.Field) || k.Op != sextant.OpEq && k.Op != sextant.OpIn
		})
	})
	for i := range out {
		out[i] = out[i] && !other[i]
	}
	return out
}

func firstOf(values []any) any {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}

// namesRecord reports whether a question names a record.
func (q *Query) namesRecord() bool { return slices.Contains(q.identifiers, true) }

// minIdentifier is how long an identifier is at least.
const minIdentifier = 5

// leaving begin what is to be left out of an answer; bare ones (false) may also say what
// a record lacks, and count only apart from the words for records.
var leaving = tableOf(
	phrases(true, "leave out, leaving out, leave off, leaving off, omit, omitting, excluding, exclude, skip, skipping, spare me, except for, except, apart from, do not quote, don't quote, not quoting"),
	phrases(false, "without, no, not, minus, but not, but no, and no"),
)

var leavingFill = set(`the a an any its probable board s official stated of and or quoting`)

// withoutPart reads "without the probable cause", "leave out findings", "facts only".
func (q *Query) withoutPart(i int) (Claim, bool) {
	if len(q.Lexicon.Opinions) > 0 {
		if _, to, ok := factual.At(q, i); ok {
			return Claim{From: i, To: to, Request: &Request{Without: q.Lexicon.Opinions}, Drop: true, Weight: 9}, true
		}
	}
	firm, at, ok := leaving.At(q, i)
	if !ok || !firm && !q.apartFrom(i) {
		return Claim{}, false
	}
	var parts []string
	to := at
	for k := at; k < len(q.Tokens) && k < at+8 && (k == at || q.Joined(k) || q.Gap(k) == ", "); k++ {
		if n, ok := q.nounAt(k); ok && n.Part != "" {
			parts, to = append(parts, n.Part), k+1
		} else if !leavingFill[q.Word(k)] {
			break
		}
	}
	if len(parts) == 0 || !q.namesRecord() && (q.asksCount() || q.Joined(to) && !asideEnds[q.Word(to)]) {
		return Claim{}, false
	}
	return Claim{From: i, To: to, Request: &Request{Without: parts}, Drop: true, Weight: 9}, true
}

// asideEnds may follow what is to be left out; other words go on to say which records are
// meant: "excluding findings of pilot error".
var asideEnds = set(`for in from please and but if since`)

// asksCount reports whether a question asks how many there are, of which no part is quoted.
func (q *Query) asksCount() bool {
	for i := range q.Tokens {
		if q.HasLoose(i, "how", "many") || q.HasLoose(i, "number", "of") || q.Word(i) == "count" {
			return true
		}
	}
	return false
}

// apartFrom reports whether a bare "no" or "without" at i begins an aside, and does not say
// which records are meant: "accidents without a probable cause".
func (q *Query) apartFrom(i int) bool {
	if i == 0 || q.EventNoun(i-1) {
		return false
	}
	return q.Gap(i) != " " || q.Tokens[i-1].digits > 0 && len(q.Tokens[i-1].Text) >= minIdentifier
}

var factual = NewTable(phrases(true, "facts only, only facts, only the facts, just the facts, the facts only, the bare facts, just facts, factual part only, only the factual part, factual information only, only factual information"))

// withPart reads "with cause", "with the probable cause of each": a part that is to stand
// beside each record of a list.
func (q *Query) withPart(i int) (Claim, bool) {
	if w := q.Word(i); w != "with" && w != "and" && w != "including" || i == 0 {
		return Claim{}, false
	}
	for k := i + 1; k < i+6; k++ {
		if n, ok := q.nounAt(k); ok && n.Part != "" {
			if ending := q.Word(k + 1); q.Joined(k+1) && !partEnds[ending] {
				break
			}
			return Claim{From: i, To: k + 1, Request: &Request{With: []string{n.Part}}, Drop: true, Weight: 2}, true
		}
		if !partFill[q.Word(k)] {
			break
		}
	}
	return Claim{}, false
}

var (
	partFill = set(`the their its one line short brief probable stated official`)
	partEnds = set(`of for in each where if and since from column please quoted`)
)

// ofRecord joins what is asked of a record, whatever else is computed.
func (r *Request) ofRecord(c Request) {
	r.Fields = appendNew(r.Fields, c.Fields)
	r.With, r.Without = appendNew(r.With, c.With), appendNew(r.Without, c.Without)
	r.Changes, r.Timeline = r.Changes || c.Changes, r.Timeline || c.Timeline
}

func appendNew(to, more []string) []string {
	for _, s := range more {
		if !slices.Contains(to, s) {
			to = append(slices.Clip(to), s)
		}
	}
	return to
}

// revisionsAway takes out conditions on how far a record has come where a question asks
// what changed in it: "from preliminary to final" names two states of one record.
func (q *Query) revisionsAway(r *Reading, claims *[]Claim) {
	kind := r.Request.Kind
	if !r.Request.Changes && len(r.Request.Fields) == 0 || kind != "" && kind != "list" {
		return
	}
	*claims = slices.DeleteFunc(*claims, func(c Claim) bool {
		return slices.ContainsFunc(c.Conditions, func(k Condition) bool { return slices.Contains(q.Lexicon.Stages, k.Field) })
	})
}
