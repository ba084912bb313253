package aviation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/compute"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
)

func is(field, value string) filter.Filter {
	return filter.Eq{Field: field, Value: filter.OfString(value)}
}

// Counting is what the pack adds to computed figures: other defensible counts, what
// spellings were joined, which cases are still open, and what a series must not be read
// across. The figures in its words were measured on the NTSB's records of 1982 to 2026.
func Counting() compute.Domain {
	domestic := is("country", "United States")
	recorded := &spellings{}
	return compute.Domain{
		Recorded: map[string]string{"make": "make_recorded", "model": "model"},
		Open:     filter.In{Field: "report_status", Values: []filter.Value{filter.OfString("Preliminary"), filter.OfString("Factual"), filter.OfString("In work")}},
		Grave:    &compute.Part{Name: "fatal", Filter: is("severity", "fatal")},
		Split: &compute.Split{
			Inside:  compute.Part{Name: "in the United States", Filter: domestic},
			Outside: compute.Part{Name: "abroad", Filter: filter.Differs("country", filter.OfString("United States"))},
			Unless:  domesticFields,
		},
		Rules: []compute.Rule{
			{Name: "accidents only", Why: "incidents are a selection the NTSB chose to look into, not a count of all", Apply: accidentsOnly},
			{Name: "in the United States only", Why: "events abroad are notifications by other countries, and incomplete", Apply: domesticOnly},
			{Name: "with aircraft of the United States abroad", Why: "the NTSB's own statistics of civil aviation count them, wherever they crashed", Apply: withOwnAbroad},
			{Name: "make as spelled", Why: "only the spelling asked for, without the maker's other names", Apply: makeAsSpelled},
			{Name: "make as it begins", Why: "every spelling that begins with the word asked for, and no other name of the maker", Apply: recorded.makeBegins},
			{Name: "whatever the make", Why: "kits are recorded under their builder's name: the model alone finds them", Apply: modelAlone},
		},
		Breaks: []compute.FieldBreak{
			{Field: "aircraft_category", Year: 1983, Why: "the aircraft category is hardly ever recorded from 1983 to 2001 and fills up again until 2009"},
			{Field: "aircraft_category", Year: 2009, Why: "only from 2009 on is the aircraft category recorded for nine of ten"},
			{Field: "far_part", Year: 1983, Why: "the operating rule is hardly ever recorded from 1983 to 2001 and fills up again until 2009"},
			{Field: "far_part", Year: 2009, Why: "only from 2009 on is the operating rule recorded for nine of ten"},
			{Field: "phase", Year: 2008, Why: "the coding of what happened and in which phase of flight changed in 2008"},
			{Field: "fatal_count", Year: 2002, Why: "from 2002 on a count of zero is mostly left blank"},
			{Field: "serious_count", Year: 2002, Why: "from 2002 on a count of zero is mostly left blank"},
			{Field: "minor_count", Year: 2002, Why: "from 2002 on a count of zero is mostly left blank"},
			{Field: "uninjured_count", Year: 2002, Why: "from 2002 on a count of zero is mostly left blank"},
		},
		Proxies: []compute.Proxy{
			{Field: "far_part", Value: "121", Filter: is("schedule", "SCHD"), Why: "where no operating rule is recorded, a scheduled flight is taken for one under Part 121; some were commuters under Part 135"},
			{Field: "aircraft_category", By: [2]string{"make", "model"}, Why: "where no category is recorded, an aircraft is taken for what others of its make and model are recorded as"},
		},
		Unsettled: []compute.Unsettled{
			{Filter: is("report_status", "Foreign"), Words: "another country investigates, and the NTSB states no cause"},
			{Filter: is("report_status", "Completed"), Words: "the investigation ended without a statement of the cause"},
			{Filter: filter.In{Field: "report_status", Values: []filter.Value{filter.OfString("Preliminary"), filter.OfString("Factual"), filter.OfString("In work")}}, Words: "the investigation is not finished and the cause not yet determined"},
		},
		Notes: notes,
	}
}

var domesticFields = []string{"state", "country", "city", "airport", "registration", "accident_number", "event_id"}

func accidentsOnly(_ context.Context, r compute.Request) (filter.Filter, bool, error) {
	if has(r.Parts, "investigation_type") || len(r.Parts) == 0 {
		return nil, false, nil
	}
	return with(r.Parts, is("investigation_type", "accident")), true, nil
}

func domesticOnly(_ context.Context, r compute.Request) (filter.Filter, bool, error) {
	if anyOf(r.Parts, domesticFields) {
		return nil, false, nil
	}
	return with(r.Parts, is("country", "United States")), true, nil
}

// with adds a condition on the event to constraints.
func with(parts []constrain.Compiled, f filter.Filter) filter.Filter {
	return constrain.Joint(append(slices.Clone(parts), constrain.Compiled{Filter: f}))
}

// withOwnAbroad reads "in the United States" as the NTSB's statistics do: also accidents
// abroad of aircraft that are registered there.
func withOwnAbroad(ctx context.Context, r compute.Request) (filter.Filter, bool, error) {
	at := slices.IndexFunc(r.Parts, func(p constrain.Compiled) bool {
		return p.Field == "country" && p.Op == sextant.OpEq && len(p.Values) == 1 && p.Values[0] == "United States"
	})
	if at < 0 || anyOf(r.Parts, []string{"state", "city", "airport"}) {
		return nil, false, nil
	}
	others := slices.Delete(slices.Clone(r.Parts), at, at+1)
	abroad := filter.Differs("country", filter.OfString("United States"))
	facet, err := r.Collection.Facet(ctx, store.FacetQuery{Field: "registration", Filter: with(others, abroad)})
	if err != nil {
		return nil, false, err
	}
	var own []filter.Value
	for _, b := range facet.Buckets {
		if ofUnitedStates(b.Value.Str()) {
			own = append(own, b.Value)
		}
	}
	if len(own) == 0 {
		return nil, false, nil
	}
	registered := constrain.Compiled{Group: Aircraft, Filter: filter.In{Field: "registration", Values: own}}
	outside := constrain.Joint(append(slices.Clone(others), registered, constrain.Compiled{Filter: abroad}))
	return filter.Simplify(filter.Or{r.Filter, outside}), true, nil
}

// ofUnitedStates reports whether a registration has the form of one of the United States:
// N, a digit that is no zero, up to five characters in all.
func ofUnitedStates(registration string) bool {
	r := filter.Squeeze.Of(registration)
	return len(r) >= 2 && len(r) <= 6 && (r[0] == 'n' || r[0] == 'N') && r[1] >= '1' && r[1] <= '9'
}

// makeAsSpelled counts only the spelling that was asked for, case aside.
func makeAsSpelled(_ context.Context, r compute.Request) (filter.Filter, bool, error) {
	return makeRecorded(r, func(v string) []filter.Value { return []filter.Value{filter.OfString(v)} })
}

// spellings are the makes as they are recorded, of a collection as it stood at a sequence: there
// are thousands, and counting them anew was a seventh of what a question about a make cost.
type spellings struct {
	mu       sync.Mutex
	name     string
	sequence uint64
	values   []filter.Value
	upper    []string // the same in capitals
}

// of reads the spellings of a collection, unless they are those that were read last.
func (s *spellings) of(ctx context.Context, c store.Collection) (values []filter.Value, upper []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name, sequence := c.Spec().Name, c.Sequence(); s.values == nil || s.name != name || s.sequence != sequence {
		facet, err := c.Facet(ctx, store.FacetQuery{Field: "make_recorded"})
		if err != nil {
			return nil, nil, err
		}
		s.name, s.sequence = name, sequence
		s.values, s.upper = make([]filter.Value, len(facet.Buckets)), make([]string, len(facet.Buckets))
		for i, b := range facet.Buckets {
			s.values[i], s.upper[i] = b.Value, strings.ToUpper(b.Value.Str())
		}
	}
	return s.values, s.upper, nil
}

// makeBegins counts the spellings that begin with what was asked for.
func (s *spellings) makeBegins(ctx context.Context, r compute.Request) (filter.Filter, bool, error) {
	if !has(r.Parts, "make") || r.Collection.Spec().Name != Incidents().Name {
		return nil, false, nil
	}
	values, upper, err := s.of(ctx, r.Collection)
	if err != nil {
		return nil, false, err
	}
	return makeRecorded(r, func(v string) (out []filter.Value) {
		word := strings.ToUpper(v)
		for i, spelled := range upper {
			if beginsWithWord(spelled, word) {
				out = append(out, values[i])
			}
		}
		return out
	})
}

func beginsWithWord(s, word string) bool {
	rest, ok := strings.CutPrefix(s, word)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " ,.-/("))
}

// makeRecorded puts conditions on the make as recorded in place of those on the make.
func makeRecorded(r compute.Request, spellings func(value string) []filter.Value) (filter.Filter, bool, error) {
	out := slices.Clone(r.Parts)
	changed := false
	for i, p := range out {
		if p.Field != "make" || p.Op != sextant.OpEq && p.Op != sextant.OpIn || p.Narrow != nil {
			continue
		}
		in := filter.In{Field: "make_recorded"}
		for _, v := range p.Values {
			if s, ok := v.(string); ok {
				in.Values = append(in.Values, spellings(s)...)
			}
		}
		out[i].Filter, changed = in, true
	}
	return constrain.Joint(out), changed, nil
}

// modelAlone leaves the make out where a model is asked for: amateur-built aircraft have
// their builder's name there.
func modelAlone(_ context.Context, r compute.Request) (filter.Filter, bool, error) {
	implied := slices.ContainsFunc(r.Parts, func(p constrain.Compiled) bool { return p.Field == "make" && p.Implied })
	if !has(r.Parts, "model") || !has(r.Parts, "make") || implied {
		return nil, false, nil // what is implied is left out by another rule
	}
	out := slices.DeleteFunc(slices.Clone(r.Parts), func(p constrain.Compiled) bool { return p.Field == "make" })
	return constrain.Joint(out), true, nil
}

func has(parts []constrain.Compiled, field string) bool { return anyOf(parts, []string{field}) }

func anyOf(parts []constrain.Compiled, fields []string) bool {
	return slices.ContainsFunc(parts, func(p constrain.Compiled) bool { return slices.Contains(fields, p.Field) })
}

// notes are the fixed cautions of the field, each where it applies.
func notes(ctx context.Context, r compute.Request) ([]string, error) {
	var out []string
	add := func(applies bool, text string) {
		if applies && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	asked := r.Reading.Request
	add(asked.Kind == "share" || asked.Compared || asked.Kind == "top" || asked.Risk,
		"Counts and shares are no risk: a rate needs exposure, and no hours flown and no fleet sizes are held.")
	for _, p := range r.Parts {
		add(slices.Contains(p.Values, any(0)) && strings.HasSuffix(p.Field, "_count"),
			"From 2002 on a zero is mostly left blank in the records, and a blank is not counted as zero here; for “nobody died” ask for nonfatal accidents.")
		add(p.Field == "investigation_type" && slices.Contains(p.Values, any("incident")),
			"Incidents are the ones the NTSB chose to look into; the FAA holds many others. Their number says nothing of how often such things happen.")
		add(p.Field == "country" && slices.Contains(p.Values, any("United States")),
			"In the United States means where it happened. The NTSB's tables of US civil aviation also count its aircraft abroad.")
		add(p.Field == "amateur_built", "Amateur-built is quoted as recorded; it is known to be wrong for some.")
		add(p.Field == "injuries", "Nobody hurt means that the record names people and no injury; where it is blank, nothing is known.")
	}
	if r.Collection.Spec().Name != Incidents().Name {
		return out, nil
	}
	abroad, err := foreignWithin(ctx, r)
	add(abroad > 0, fmt.Sprintf("%d of these are abroad: notifications by other countries, whose figures the NTSB does not keep up.", abroad))
	if err != nil || !has(r.Parts, "registration") {
		return out, err
	}
	airframes, err := airframes(ctx, r)
	add(len(airframes) > 1, "The registration stands on different aircraft over the years: "+strings.Join(airframes, "; ")+". Registrations are used again.")
	return out, err
}

// foreignWithin counts the foreign notifications that enter a figure.
func foreignWithin(ctx context.Context, r compute.Request) (int64, error) {
	return r.Collection.Count(ctx, filter.Simplify(filter.And{r.Filter, filter.Differs("country", filter.OfString("United States"))}), store.Documents)
}

// airframes names the makes that aircraft under one registration have.
func airframes(ctx context.Context, r compute.Request) ([]string, error) {
	facet, err := r.Collection.Facet(ctx, store.FacetQuery{Field: "make", Filter: r.Filter})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, b := range facet.Buckets {
		out = append(out, fmt.Sprintf("%s (%d)", b.Value, b.Count))
	}
	return out, nil
}
