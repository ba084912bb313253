package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/llm"
	"github.com/sextant-rag/sextant/llm/replay"
	"github.com/sextant-rag/sextant/trace"
)

// Replay is what came of answering a question again.
type Replay struct {
	Identical   bool              `json:"identical"` // the answer is the same, byte for byte
	Differences []TraceDifference `json:"differences,omitempty"`
	Sequences   []MovedOn         `json:"moved_on,omitempty"`
	Config      bool              `json:"config_changed"` // the configuration is not the one of the trace
	Answer      sextant.Answer    `json:"answer"`
}

// TraceDifference is one thing that a stage did otherwise than the trace tells.
type TraceDifference struct {
	Stage  string `json:"stage"`
	What   string `json:"what"`
	Before string `json:"before,omitempty"` // JSON, shortened
	After  string `json:"after,omitempty"`
}

// MovedOn is a collection that was written to since the trace. A sequence counts within
// one data folder: on another machine it differs without meaning a difference.
type MovedOn struct {
	Collection string `json:"collection"`
	Before     uint64 `json:"before"`
	Now        uint64 `json:"now"`
}

// Replay asks a trace's question again, with the same clock and settings, and compares
// stage by stage. Nothing is recorded of it.
func (e *Engine) Replay(ctx context.Context, v trace.View) (Replay, error) {
	q, err := AskedAgain(&trace.Record{Summary: v.Summary})
	if err != nil {
		return Replay{}, err
	}
	recorded, err := e.recordedModels(v)
	if err != nil {
		return Replay{}, err
	}
	q.Replayed = v.TraceID
	var again catcher
	quiet := &Engine{store: e.store, domain: e.domain, words: e.words, search: e.search, rerank: e.rerank, now: e.now, models: recorded, recorder: &trace.Recorder{Sink: &again}}
	if e.recorder != nil {
		quiet.recorder.Config, quiet.recorder.Scrub = e.recorder.Config, e.recorder.Scrub
	}
	var r Replay
	for event, err := range quiet.Ask(ctx, q) {
		if err != nil {
			return Replay{}, err
		}
		if f, ok := event.(sextant.Final); ok {
			r.Answer = f.Answer
		}
	}
	now := again.view()
	before, after := timeless(rootOutputs(v)), timeless(rootOutputs(now))
	r.Identical = bytes.Equal(before, after)
	r.Config = !bytes.Equal(compact(v.Config), compact(now.Config))
	for _, name := range slices.Sorted(maps.Keys(now.Summary.Sequences)) {
		if was := v.Summary.Sequences[name]; was != now.Summary.Sequences[name] {
			r.Sequences = append(r.Sequences, MovedOn{name, was, now.Summary.Sequences[name]})
		}
	}
	if !r.Identical {
		r.Differences = append(changedPrompts(v, now), differences(v, now)...)
	}
	return r, nil
}

// recordedModels answer with what the trace kept of the models' own answers, at once and
// for nothing. Roles are told apart by what a call was for. A model that could have been asked
// and never was is there as well: a limit may have stood before it.
func (e *Engine) recordedModels(v trace.View) (Models, error) {
	all, err := llm.Exchanges(v.Exchanges)
	if err != nil {
		return Models{}, &sextant.Error{Code: sextant.CodeConflict, Op: "replay", Message: "The trace's exchanges with models cannot be read.", Err: err}
	}
	var asked request
	_ = json.Unmarshal(v.Summary.Request, &asked) // AskedAgain has read it
	large := map[string]bool{"generate": true, "repair": true, "baseline": true, "confirm": true}
	var out Models
	for _, role := range []struct {
		into  **llm.Caller
		now   *llm.Caller
		name  string
		large bool
	}{{&out.Small, e.models.Small, asked.Small, false}, {&out.Large, e.models.Large, asked.Large, true}} {
		mine := slices.DeleteFunc(slices.Clone(all), func(x llm.Exchange) bool { return large[x.Request.Purpose] != role.large })
		if len(mine) == 0 && role.name == "" {
			continue
		}
		m, err := replay.New("", mine)
		if len(mine) == 0 {
			m, err = replay.New(role.name, nil)
		}
		if err != nil {
			return Models{}, err
		}
		if role.now == nil {
			role.now = llm.NewCaller(m, llm.Policy{})
		}
		*role.into = role.now.Over(m)
	}
	return out, nil
}

// catcher keeps the one trace of a replay.
type catcher struct {
	mu   sync.Mutex
	kept *trace.Record
}

func (c *catcher) Keep(f *trace.Finished) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = f.Record()
}

func (c *catcher) view() trace.View {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		return trace.View{}
	}
	return c.kept.View()
}

func rootOutputs(v trace.View) json.RawMessage {
	if len(v.Spans) == 0 {
		return nil
	}
	return v.Spans[0].Outputs
}

// timeless takes what differs between any two runs out of an answer: its trace's id and
// how long things took. Everything else must be equal.
func timeless(answer json.RawMessage) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(answer, &fields) != nil {
		return answer
	}
	delete(fields, "trace_id")
	out, err := json.Marshal(fields) // of what was JSON before
	if err != nil {
		return answer
	}
	return untimed(out)
}

// took matches a duration as answers and spans write them, with the comma before it or the
// one after it.
var took = regexp.MustCompile(`,\s*"duration_ms":\s*[0-9.eE+-]+|"duration_ms":\s*[0-9.eE+-]+\s*,?`)

// untimed takes durations out of JSON. Inside of strings quotation marks are escaped, so
// that a text cannot look like one.
func untimed(b []byte) []byte { return took.ReplaceAll(b, nil) }

func compact(b []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return b
	}
	return out.Bytes()
}

// differences names what each stage did otherwise, in the order of the stages.
func differences(before, after trace.View) (out []TraceDifference) {
	was := map[string]trace.SpanView{}
	for _, s := range before.Spans {
		was[s.Name] = s
	}
	seen := map[string]bool{}
	for i, s := range after.Spans {
		seen[s.Name] = true
		b, ok := was[s.Name]
		switch {
		case i == 0: // the whole answer: what follows explains it
		case !ok:
			out = append(out, TraceDifference{Stage: s.Name, What: "did not run then"})
		case s.Error != b.Error:
			out = append(out, TraceDifference{s.Name, "error", b.Error, s.Error})
		default:
			out = append(out, changedDocuments(s.Name, b.Outputs, s.Outputs)...)
			out = append(out, changedFields(s.Name, b.Outputs, s.Outputs)...)
		}
	}
	for _, s := range before.Spans[min(1, len(before.Spans)):] {
		if !seen[s.Name] {
			out = append(out, TraceDifference{Stage: s.Name, What: "did not run now"})
		}
	}
	if len(before.Spans) > 0 {
		out = append(out, changedFields("answer", timeless(rootOutputs(before)), timeless(rootOutputs(after)))...)
	}
	return out
}

// changedPrompts names the prompts whose words are not what they were, by their names and
// versions: answers to other words were not recorded.
func changedPrompts(before, after trace.View) (out []TraceDifference) {
	was, err1 := llm.Exchanges(before.Exchanges)
	is, err2 := llm.Exchanges(after.Exchanges)
	if err1 != nil || err2 != nil {
		return nil
	}
	for _, b := range was {
		for _, a := range is {
			name, _, _ := strings.Cut(b.Request.Prompt, "@")
			now, _, _ := strings.Cut(a.Request.Prompt, "@")
			d := TraceDifference{b.Request.Purpose, "prompt", b.Request.Prompt, a.Request.Prompt}
			if a.Request.Purpose == b.Request.Purpose && name == now && d.Before != d.After && !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// changedDocuments names the documents of a retrieval that are not what they were.
func changedDocuments(stage string, before, after json.RawMessage) (out []TraceDifference) {
	was, is := revisions(before), revisions(after)
	for _, id := range slices.Sorted(maps.Keys(was)) {
		now, ok := is[id]
		switch {
		case !ok:
			out = append(out, TraceDifference{Stage: stage, What: fmt.Sprintf("document %s is not among what was found now", id)})
		case now != was[id]:
			out = append(out, TraceDifference{stage, fmt.Sprintf("document %s changed", id), was[id], now})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[id]; !ok {
			out = append(out, TraceDifference{Stage: stage, What: fmt.Sprintf("document %s was not among what was found then", id)})
		}
	}
	return out
}

func revisions(outputs json.RawMessage) map[string]string {
	var f struct {
		Documents []revision `json:"documents"`
	}
	out := map[string]string{}
	if json.Unmarshal(outputs, &f) == nil {
		for _, d := range f.Documents {
			out[string(d.ID)] = d.Revision
		}
	}
	return out
}

// shown is how much of a value a difference shows.
const shown = 300

// changedFields compares two JSON objects field by field; anything else as a whole.
func changedFields(stage string, before, after json.RawMessage) (out []TraceDifference) {
	var b, a map[string]json.RawMessage
	before, after = untimed(before), untimed(after)
	if json.Unmarshal(before, &b) != nil || json.Unmarshal(after, &a) != nil {
		b, a = map[string]json.RawMessage{"outputs": before}, map[string]json.RawMessage{"outputs": after}
	}
	keys := slices.AppendSeq(slices.Collect(maps.Keys(b)), maps.Keys(a))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if !bytes.Equal(compact(b[key]), compact(a[key])) {
			out = append(out, TraceDifference{stage, key, beginning(b[key]), beginning(a[key])})
		}
	}
	return out
}

func beginning(v json.RawMessage) string {
	if len(v) <= shown {
		return string(v)
	}
	return string([]rune(string(v[:shown]))) + "…"
}
