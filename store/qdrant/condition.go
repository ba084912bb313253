package qdrant

import "encoding/json"

// clause is a filter of Qdrant: all of Must, one of Should if there are any, none of
// MustNot. An empty Should or clause matches everything there, so neither is ever made.
type clause struct {
	Must    []condition `json:"must,omitempty"`
	Should  []condition `json:"should,omitempty"`
	MustNot []condition `json:"must_not,omitempty"`
}

// condition is one condition on a point: on the field Key, on ids, on elements of an
// array of objects, or a clause.
type condition struct {
	Key   string `json:"key,omitempty"`
	Match *match `json:"match,omitempty"`
	Range *span  `json:"range,omitempty"`

	Empty  *keyOf  `json:"is_empty,omitempty"`
	Nested *nested `json:"nested,omitempty"`

	clause
}

type keyOf struct {
	Key string `json:"key"`
}

// nested holds if one object of the array under Key satisfies Filter, whose keys are
// those of the objects.
type nested struct {
	Key    string `json:"key"`
	Filter clause `json:"filter"`
}

// match holds if a value is one of those given. One of the lists is set, and not empty.
type match struct {
	Keywords []string
	Integers []int64
	Bool     *bool
}

// MarshalJSON writes one value as value and several as any.
func (m match) MarshalJSON() ([]byte, error) {
	type one struct {
		Value any `json:"value"`
	}
	type several struct {
		Any any `json:"any"`
	}
	switch {
	case m.Bool != nil:
		return json.Marshal(one{*m.Bool})
	case len(m.Keywords) == 1:
		return json.Marshal(one{m.Keywords[0]})
	case len(m.Integers) == 1:
		return json.Marshal(one{m.Integers[0]})
	case m.Integers != nil:
		return json.Marshal(several{m.Integers})
	}
	return json.Marshal(several{m.Keywords})
}

// span is a range of numbers, which Qdrant compares as float64.
type span struct {
	GT  *float64 `json:"gt,omitempty"`
	GTE *float64 `json:"gte,omitempty"`
	LT  *float64 `json:"lt,omitempty"`
	LTE *float64 `json:"lte,omitempty"`
}

func all(cs ...condition) condition { return condition{clause: clause{Must: cs}} }

func anyOf(cs ...condition) condition {
	if len(cs) == 1 {
		return cs[0]
	}
	return condition{clause: clause{Should: cs}}
}

func not(c condition) condition { return condition{clause: clause{MustNot: []condition{c}}} }

func keywords(key string, values ...string) condition {
	return condition{Key: key, Match: &match{Keywords: values}}
}

func integers(key string, values ...int64) condition {
	return condition{Key: key, Match: &match{Integers: values}}
}

func atLeast(key string, n float64) condition {
	return condition{Key: key, Range: &span{GTE: &n}}
}

func exists(key string) condition { return not(condition{Empty: &keyOf{key}}) }
