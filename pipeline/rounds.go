package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/plan"
	"github.com/sextant-rag/sextant/prompt"
	"github.com/sextant-rag/sextant/retrieve"
	"github.com/sextant-rag/sextant/signal"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/trace"
)

// look retrieves in rounds: one, or as the iterative strategy goes, until what is asked is
// covered, no new query is left, or the limit is reached. Conditions are the same in every
// round; the query never is.
func (a *asking) look() error {
	for n := 1; ; n++ {
		if err := a.stage(stage{"retrieve", fmt.Sprintf(spanRetrieval, n), trace.Retriever, a.retrieve, a.retrieved}); err != nil {
			return err
		}
		if !a.iterates() {
			return nil
		}
		if err := a.stage(stage{"assess", spanEvaluation, trace.LLM, a.assess, a.assessed}); err != nil {
			return err
		}
		if len(a.next) == 0 {
			return nil
		}
	}
}

// iterates reports whether the plan looks again. A figure is computed over everything held,
// so that no further passage changes it.
func (a *asking) iterates() bool {
	return a.plan.Strategy == plan.Iterative && a.question.Mode != sextant.Traditional && !(a.asksFigure() && len(a.answer.Computed) > 0)
}

func (a *asking) maxRounds() int {
	if n := a.question.Limits.Rounds; n > 0 {
		return n
	}
	return defaultRounds
}

// lookup is one query of a round to one collection.
type lookup struct {
	collection store.Collection
	text       string
	found      retrieve.Result
	err        error
}

// retrieve is one round: as the strategy says, collection by collection with what the one
// before has found, or all at once.
func (a *asking) retrieve() (string, error) {
	began := time.Now()
	lookups := a.lookups()
	if a.plan.Strategy == plan.Sequential && len(a.rounds) == 0 {
		a.oneAfterTheOther(lookups)
	} else {
		a.allAtOnce(lookups)
	}
	known := map[string]bool{}
	for _, p := range a.answer.Evidence {
		known[p.ChunkID] = true
	}
	round := sextant.Round{Iteration: len(a.rounds) + 1, Strategy: string(a.plan.Strategy), Queries: map[string]string{}}
	var fresh []sextant.Passage
	for _, l := range lookups {
		if l.err != nil {
			return "", unavailable("retrieve", l.err)
		}
		name := l.collection.Spec().Name
		round.Sources, round.Queries[name] = append(round.Sources, name), l.text
		round.Retrieved += len(l.found.Passages)
		for _, p := range l.found.Passages {
			if !known[p.ChunkID] {
				known[p.ChunkID] = true
				fresh = append(fresh, p)
			}
		}
		a.degrade(l.found.Degraded...)
	}
	a.answer.Evidence = append(a.answer.Evidence, fresh...)
	a.documents = nil
	if err := a.load(); err != nil {
		return "", err
	}
	if !a.iterates() {
		if err := a.applicable(); err != nil {
			return "", err
		}
		fresh = a.answer.Evidence
	}
	round.DurationMS, round.Documents = milliseconds(time.Since(began)), len(fresh)
	a.rounds = append(a.rounds, round)
	if !a.yield(sextant.PassagesFound{Passages: fresh}, nil) {
		return "", errStopped
	}
	return fmt.Sprintf("%d passages of %d documents", len(a.answer.Evidence), len(a.documents)), nil
}

// applicable settles which text of a rule applied and where sources disagree, once all
// rounds have brought what they bring.
func (a *asking) applicable() error {
	if err := a.inForce(); err != nil {
		return err
	}
	return a.conflicts()
}

// lookups are the queries of this round: in the first each collection's own, later what is
// still to be looked for, in all of them.
func (a *asking) lookups() []lookup {
	var out []lookup
	for _, c := range a.planned() {
		if len(a.rounds) == 0 {
			out = append(out, lookup{collection: c, text: a.queryFor(c.Spec().Name)})
			continue
		}
		for _, text := range a.next {
			out = append(out, lookup{collection: c, text: text})
		}
	}
	for _, l := range out {
		if !slices.Contains(a.asked, l.text) {
			a.asked = append(a.asked, l.text)
		}
	}
	return out
}

// queryFor is what to look for in a collection: the model's words beside the question's own
// where there are any. They add to it: words that a model leaves out are still looked for.
func (a *asking) queryFor(name string) string {
	text, advised := a.searchText(), a.advice.Queries[name]
	if advised == "" || strings.EqualFold(advised, text) {
		return text
	}
	said := signal.Stems(text)
	var more []string
	for word := range strings.FieldsSeq(advised) {
		if new := signal.Stems(word); len(new) > 0 && !subset(new, said) {
			more = append(more, word)
			maps.Copy(said, new)
		}
	}
	return strings.TrimSpace(text + " " + strings.Join(more, " "))
}

func subset(a, b map[string]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}

// oneAfterTheOther asks each collection with what those before it brought.
func (a *asking) oneAfterTheOther(lookups []lookup) {
	for i := range lookups {
		if i > 0 {
			cues := a.cues(lookups[:i], lookups[i].collection)
			lookups[i].text = strings.TrimSpace(lookups[i].text + " " + strings.Join(cues, " "))
		}
		a.lookUp(&lookups[i])
		if lookups[i].err != nil {
			return
		}
	}
}

// allAtOnce asks all collections side by side; results stand in the order of the plan.
func (a *asking) allAtOnce(lookups []lookup) {
	if len(lookups) == 1 {
		a.lookUp(&lookups[0])
		return
	}
	var wait sync.WaitGroup
	panics := make([]any, len(lookups))
	for i := range lookups {
		wait.Go(func() {
			defer func() { panics[i] = recover() }()
			a.lookUp(&lookups[i])
		})
	}
	wait.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p) // on the question's own goroutine, whose trace records it
		}
	}
}

func (a *asking) lookUp(l *lookup) {
	f, bound := a.account.Filters[l.collection.Spec().Name]
	if !bound {
		f = filter.All
	}
	l.found, l.err = a.engine.search.Search(a.ctx, l.collection, retrieve.Query{Text: l.text, Filter: f, Limit: a.candidates(), PerDocument: 3, Fill: bound && len(a.rounds) == 0})
}

// assess says whether another round is needed and with which query: by the small model's
// judgement where there is one, else by which aspects nothing speaks of.
func (a *asking) assess() (string, error) {
	round := &a.rounds[len(a.rounds)-1]
	aspects := a.aspects()
	coverage := signal.Coverage(aspects, a.answer.Evidence)
	round.Sufficient, round.Missing, round.JudgedBy = signal.Recommend(coverage.Ratio) == signal.Proceed, coverage.Missing, byCoverage
	var queries []string
	if m := a.small(); m != nil && len(a.answer.Evidence) > 0 {
		v, err := fit(a, "assess", room{passages: len(a.answer.Evidence)}, func(r room) (plan.Verdict, error) {
			return plan.Judge(a.ctx, m, a.question.Text, a.mark(), prompt.Number(a.answer.Evidence[:r.passages]), aspects, a.asked)
		})
		switch {
		case err == nil:
			round.Sufficient, round.Missing, round.JudgedBy, queries = v.Sufficient, a.ofQuestion(v.Missing), m.Name(), v.Queries
		default:
			if err := a.lesser("assess", err); err != nil {
				return "", err
			}
		}
	}
	a.next = nil
	if round.Iteration < a.maxRounds() {
		switch {
		case !round.Sufficient:
			a.next = a.unasked(append(queries, strings.Join(round.Missing, " ")), queries != nil)
		case len(coverage.Missing) > 0 && signal.Recommend(coverage.Ratio) != signal.Proceed:
			// A model can ask for more; it cannot talk the search out of a word nobody says.
			a.next = a.unasked([]string{strings.Join(coverage.Missing, " ")}, false)
		}
	}
	if len(a.next) == 0 {
		if err := a.applicable(); err != nil {
			return "", err
		}
	}
	if round.Sufficient {
		return "enough was found", nil
	}
	return fmt.Sprintf("missing: %s", strings.Join(round.Missing, ", ")), nil
}

// ofQuestion are the things that the question names itself, of those that a model says are
// missing: any document may have told it the others.
func (a *asking) ofQuestion(things []string) []string {
	asked := signal.Stems(a.question.Text + " " + strings.Join(a.advice.Aspects, " "))
	return slices.DeleteFunc(slices.Clone(things), func(s string) bool { return hasMarkup(s) || !subset(signal.Stems(s), asked) })
}

// unasked are the queries that were not made yet, one or, of a model's, as many as it gave.
func (a *asking) unasked(queries []string, all bool) []string {
	var out []string
	for _, q := range queries {
		q = strings.TrimSpace(q)
		if q == "" || slices.ContainsFunc(slices.Concat(a.asked, out), func(s string) bool { return strings.EqualFold(s, q) }) {
			continue
		}
		out = append(out, q)
		if !all || len(out) == maxQueries {
			break
		}
	}
	return out
}

// maxQueries bounds how many queries one round makes to a collection.
const maxQueries = 3

// aspects are the things the question asks: as the small model put them, or the words of its
// subject.
func (a *asking) aspects() []string {
	if len(a.advice.Aspects) > 0 {
		return a.advice.Aspects
	}
	return a.reading.Topic
}

// assessed is what the trace shows of the last assessment.
func (a *asking) assessed() any {
	round := a.rounds[len(a.rounds)-1]
	return struct {
		Sufficient bool     `json:"is_sufficient"`
		Missing    []string `json:"missing"`
		JudgedBy   string   `json:"judged_by"`
		Next       []string `json:"next,omitempty"`
	}{round.Sufficient, round.Missing, round.JudgedBy, a.next}
}

// weigh enters the signals of what was found, and by them what nobody else judged of the
// last round.
func (a *asking) weigh() {
	a.answer.Signals = a.signals()
	for _, aspect := range a.aspects() {
		a.answer.Aspects = append(a.answer.Aspects, sextant.Aspect{Name: aspect, Covered: slices.Contains(a.answer.Signals.Coverage.Covered, aspect)})
	}
	if last := &a.rounds[len(a.rounds)-1]; last.JudgedBy == "" {
		c := a.answer.Signals.Coverage
		last.Sufficient, last.Missing, last.JudgedBy = a.answer.Signals.Recommendation == signal.Proceed, c.Missing, byCoverage
	}
	a.answer.Rounds = a.rounds
}

// byCoverage is what judged a round that no model did.
const byCoverage = "coverage"

// signals are what is known of how far the evidence can be trusted.
func (a *asking) signals() *sextant.Signals {
	dates := map[string]string{}
	for _, c := range a.inScope() {
		dates[c.Spec().Name] = c.Spec().DateField
	}
	coverage := signal.Coverage(a.aspects(), a.answer.Evidence)
	return &sextant.Signals{Confidence: signal.Confidence(coverage.Ratio, len(a.answer.Evidence)), Diversity: signal.Diversity(a.answer.Evidence, dates), Coverage: coverage,
		Freshness: signal.Freshness(a.answer.Evidence, dates, a.asOf), Recommendation: signal.Recommend(coverage.Ratio)}
}
