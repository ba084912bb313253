package eval_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/eval"
)

// said is an engine that gives one answer to every question.
type said struct {
	answer sextant.Answer
	err    error
}

func (s said) Ask(context.Context, sextant.Question) iter.Seq2[sextant.Event, error] {
	return func(yield func(sextant.Event, error) bool) {
		if s.err != nil {
			yield(nil, s.err)
			return
		}
		yield(sextant.Final{Answer: s.answer}, nil)
	}
}

func ledger(cs ...sextant.Constraint) sextant.Answer {
	return sextant.Answer{Ledger: sextant.Ledger{Constraints: cs}}
}

func constraint(field string, op sextant.Op, values ...any) sextant.Constraint {
	return sextant.Constraint{Field: field, Op: op, Values: values}
}

// What people write differently and mean alike is right.
func TestEqualConstraints(t *testing.T) {
	for name, tt := range map[string]struct {
		want string
		got  sextant.Answer
		ok   bool
	}{
		"the same":                   {`[{"field":"state","op":"eq","value":"AK"}]`, ledger(constraint("state", "eq", "AK")), true},
		"another value":              {`[{"field":"state","op":"eq","value":"AK"}]`, ledger(constraint("state", "eq", "AL")), false},
		"one more":                   {`[{"field":"state","op":"eq","value":"AK"}]`, ledger(constraint("state", "eq", "AK"), constraint("weather", "eq", "IMC")), false},
		"fatal is one or more dead":  {`[{"field":"severity","op":"eq","value":"fatal"}]`, ledger(constraint("fatal_count", "gte", 1)), true},
		"a list of one":              {`[{"field":"make","op":"in","value":["CESSNA"]}]`, ledger(constraint("make", "eq", "Cessna")), true},
		"order of a list":            {`[{"field":"make","op":"in","value":["CESSNA","PIPER"]}]`, ledger(constraint("make", "in", "PIPER", "CESSNA")), true},
		"one day":                    {`[{"field":"event_date","op":"eq","value":"2010-07-04"}]`, ledger(constraint("event_date", "between", "2010-07-04", "2010-07-04")), true},
		"two bounds":                 {`[{"field":"event_date","op":"between","value":["2010-01-01","2010-12-31"]}]`, ledger(constraint("event_date", "gte", "2010-01-01"), constraint("event_date", "lte", "2010-12-31")), true},
		"pairs of days":              {`[{"field":"event_date","op":"in","value":[["2010-01-01","2010-12-31"],["2012-01-01","2012-12-31"]]}]`, ledger(constraint("event_date", "in", []string{"2010-01-01", "2010-12-31"}, []string{"2012-01-01", "2012-12-31"})), true},
		"punctuation of a model":     {`[{"field":"model","op":"contains","value":"PA-28"}]`, ledger(constraint("model", "contains", "pa28")), true},
		"K of an airport":            {`[{"field":"airport","op":"eq","value":"BFI"}]`, ledger(constraint("airport", "eq", "KBFI")), true},
		"a state has its country":    {`[{"field":"state","op":"eq","value":"AK"}]`, ledger(constraint("state", "eq", "AK"), constraint("country", "eq", "United States")), true},
		"known and different is not": {`[{"field":"state","op":"not_in","value":["AK"]}]`, ledger(constraint("state", "eq", "AK")), false},
	} {
		items, err := eval.Read(strings.NewReader(`{"id":"1","question":"q","constraints":` + tt.want + `}`))
		if err != nil {
			t.Fatal(err)
		}
		r, err := eval.Run(t.Context(), said{answer: tt.got}, "constraints", items)
		if err != nil || r.Accuracy() == 1 != tt.ok {
			t.Errorf("%s: %v right, %v: %v", name, r.Right, err, r.Misses)
		}
	}
}

// Single conditions are counted against the right reading that is nearest.
func TestPrecisionAndRecall(t *testing.T) {
	items, err := eval.Read(strings.NewReader(`{"id":"1","question":"q","constraints":[{"field":"state","op":"eq","value":"AK"},{"field":"make","op":"eq","value":"PIPER"}],"accept":[[{"field":"state","op":"eq","value":"AK"}]]}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		got      sextant.Answer
		field    string
		want     eval.Tally
		confused string
	}{
		"all of it":         {ledger(constraint("state", "eq", "AK"), constraint("make", "eq", "PIPER")), "make", eval.Tally{Right: 1}, ""},
		"the accepted part": {ledger(constraint("state", "eq", "AK")), "make", eval.Tally{}, ""},
		"the wrong way":     {ledger(constraint("state", "not_in", "AK")), "state", eval.Tally{Wrong: 1, Missed: 1}, "state not_in for state eq"},
		"one too many":      {ledger(constraint("state", "eq", "AK"), constraint("weather", "eq", "IMC")), "weather", eval.Tally{Wrong: 1}, "weather eq for nothing"},
		"nothing":           {ledger(), "state", eval.Tally{Missed: 1}, "nothing for state eq"},
	} {
		r, err := eval.Run(t.Context(), said{answer: tt.got}, "constraints", items)
		if err != nil || r.ByField[tt.field] != tt.want || tt.confused != "" && r.Confused[tt.confused] != 1 {
			t.Errorf("%s: %+v %v %v", name, r.ByField, r.Confused, err)
		}
	}
	if p, r := (eval.Tally{Right: 3, Wrong: 1, Missed: 2}).Precision(), (eval.Tally{}).Recall(); p != .75 || r != 1 {
		t.Error(p, r)
	}
}

func TestCountsAreRightByTotalTableOrProof(t *testing.T) {
	computed := func(c sextant.Computed) sextant.Answer {
		return sextant.Answer{Status: sextant.Answered, Computed: []sextant.Computed{c}}
	}
	none := sextant.Answer{Status: sextant.NoData, Ledger: sextant.Ledger{Relaxations: []sextant.Relaxation{{Drop: []string{"state"}, Count: 2}}}}
	for name, tt := range map[string]struct {
		item string
		got  sextant.Answer
		ok   bool
	}{
		"total":              {`"kind":"count","count":17`, computed(sextant.Computed{Total: 17}), true},
		"another rule":       {`"kind":"count","count":17,"alt_counts":{"aircraft_rows":18}`, computed(sextant.Computed{Total: 18}), true},
		"wrong total":        {`"kind":"count","count":17`, computed(sextant.Computed{Total: 16}), false},
		"no data":            {`"kind":"count","count":0,"relaxations":[{"drop":["state"],"count":2}]`, none, true},
		"wrong relaxation":   {`"kind":"count","count":0,"relaxations":[{"drop":["make"],"count":2}]`, none, false},
		"no data, wrongly":   {`"kind":"count","count":3`, none, false},
		"table":              {`"kind":"group","count":3,"table":[["2010",1],["2011",2]]`, computed(sextant.Computed{Rows: [][]any{{"2010", int64(1)}, {"2011", int64(2)}}}), true},
		"table in any order": {`"kind":"compare","count":3,"table":[["A",1],["B",2]]`, computed(sextant.Computed{Rows: [][]any{{"b", int64(2)}, {"a", int64(1)}}}), true},
		"wrong row":          {`"kind":"top","count":3,"table":[["A",1]]`, computed(sextant.Computed{Rows: [][]any{{"A", int64(2)}}}), false},
		"share":              {`"kind":"share","count":3,"percent":33.3`, computed(sextant.Computed{Percent: "33.3"}), true},
		"first":              {`"kind":"first","count":3,"event_ids":["x"]`, computed(sextant.Computed{IDs: []string{"x"}}), true},
	} {
		items, err := eval.Read(strings.NewReader(`{"id":"1","question":"q",` + tt.item + `}`))
		if err != nil {
			t.Fatal(err)
		}
		r, err := eval.Run(t.Context(), said{answer: tt.got}, "counts", items)
		if err != nil || r.Right == 1 != tt.ok {
			t.Errorf("%s: %v right, %v", name, r.Right, err)
		}
	}
}

// Where the same words have other defensible counts, the card must name them all.
func TestOtherCountsStandOnTheCard(t *testing.T) {
	item := eval.Item{Question: "q", Kind: "count", Count: 5, AltCounts: map[string]int64{"rows": 6, "accidents": 4}}
	for _, tt := range []struct {
		others []sextant.OtherCount
		all    float64
	}{
		{[]sextant.OtherCount{{Rule: "aircraft", Count: 6}, {Rule: "accidents only", Count: 4}}, 1},
		{[]sextant.OtherCount{{Rule: "aircraft", Count: 6}}, 0},
	} {
		a := said{answer: sextant.Answer{Status: sextant.Answered, Computed: []sextant.Computed{{Kind: "count", Total: 5, Method: sextant.Method{OtherCounts: tt.others}}}}}
		r, err := eval.Run(t.Context(), a, "counts", []eval.Item{item})
		if err != nil || r.Right != 1 || r.Figures["with all of them on the card"] != tt.all || len(r.Misses) != int(1-tt.all) {
			t.Errorf("%v: %+v %v", tt.others, r, err)
		}
	}
}

func TestIntents(t *testing.T) {
	items, err := eval.Read(strings.NewReader(`{"id":"1","question":"q","intent":"causal","accept":["factual"]}` + "\n" + `{"id":"2","question":"q","intent":"out_of_scope"}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := eval.Run(t.Context(), said{answer: sextant.Answer{Intent: "factual", Status: sextant.Answered}}, "intents", items)
	if err != nil || r.Right != 1 || len(r.Misses) != 1 || r.Misses[0].ID != "2" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestMistakesAreErrors(t *testing.T) {
	for _, line := range []string{`{`, `[]`, `{"id":1}`} {
		if items, err := eval.Read(strings.NewReader(line)); err == nil {
			t.Errorf("%s: read as %v", line, items)
		}
	}
	down := errors.New("down")
	for name, run := range map[string]func() error{
		"unknown set": func() error { _, err := eval.Run(t.Context(), said{}, "poems", nil); return err },
		"no answer": func() error {
			_, err := eval.Run(t.Context(), said{err: down}, "intents", []eval.Item{{ID: "1"}})
			return err
		},
		"bad date": func() error {
			_, err := eval.Run(t.Context(), said{}, "intents", []eval.Item{{ID: "1", ReferenceDate: "soon"}})
			return err
		},
		"bad accept": func() error {
			_, err := eval.Run(t.Context(), said{}, "constraints", []eval.Item{{ID: "1", Accept: []byte(`{}`)}})
			return err
		},
	} {
		if run() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
