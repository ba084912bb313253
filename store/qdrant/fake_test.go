package qdrant_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sextant-rag/sextant/vector"
)

// fake is a Qdrant server in this process: what store/qdrant uses of its REST API, with
// the semantics that were measured on the real one where it is odd, strict mode, keys, and
// failures on demand. It looks at every point for every question.
type fake struct {
	*httptest.Server

	mu          sync.Mutex
	collections map[string]*fakeCollection
	aliases     map[string]string
	strict      bool   // conditions on fields without an index are refused
	key         string // asked of clients; "" is none
	bearer      func(token string) bool
	fault       func(w http.ResponseWriter, r *http.Request) (handled bool)
	requests    []string // method and path of each
}

type fakeCollection struct {
	points  map[string]fakePoint
	indexes map[string]string
	dense   int
}

type fakePoint struct {
	ID      string                     `json:"id"`
	Payload map[string]any             `json:"payload,omitempty"`
	Vector  map[string]json.RawMessage `json:"vector,omitempty"`
	Score   float64                    `json:"score,omitempty"`
}

func newFake(t testing.TB) *fake {
	t.Helper()
	f := &fake{collections: map[string]*fakeCollection{}, aliases: map[string]string{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// refused is an answer that is no success.
type refused struct {
	status int
	said   string
}

func (r refused) Error() string { return r.said }

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	fault := f.fault
	f.requests = append(f.requests, r.Method+" "+r.URL.Path)
	f.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	result, err := f.answer(r)
	status := http.StatusOK
	body := map[string]any{"result": result, "status": "ok", "time": 0.001}
	if err != nil {
		var bad refused
		if !errors.As(err, &bad) {
			bad = refused{http.StatusBadRequest, "Wrong input: " + err.Error()}
		}
		status = bad.status
		body = map[string]any{"status": map[string]string{"error": bad.said}, "time": 0.001}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// with changes the fake while it serves.
func (f *fake) with(change func(*fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// request is the union of all bodies.
type request struct {
	Filter     map[string]any `json:"filter"`
	Limit      int            `json:"limit"`
	Offset     string         `json:"offset"`
	IDs        []string       `json:"ids"`
	Payload    any            `json:"with_payload"`
	Vector     any            `json:"with_vector"`
	Query      any            `json:"query"`
	Using      string         `json:"using"`
	Key        string         `json:"key"`
	Field      string         `json:"field_name"`
	Schema     string         `json:"field_schema"`
	Operations []struct {
		Upsert *struct{ Points []fakePoint }
		Delete *struct{ Points []string }
	} `json:"operations"`
	Vectors map[string]struct{ Size int } `json:"vectors"`
	Actions []struct {
		Create *struct {
			Alias      string `json:"alias_name"`
			Collection string `json:"collection_name"`
		} `json:"create_alias"`
		Delete *struct {
			Alias string `json:"alias_name"`
		} `json:"delete_alias"`
	} `json:"actions"`
}

func (f *fake) answer(r *http.Request) (any, error) {
	if f.key != "" && r.Header.Get("Api-Key") != f.key {
		return nil, refused{http.StatusUnauthorized, "Must provide an API key or an Authorization bearer token"}
	}
	if f.bearer != nil && !f.bearer(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
		return nil, refused{http.StatusUnauthorized, "token expired"}
	}
	var q request
	if r.Body != nil {
		d := json.NewDecoder(r.Body)
		d.UseNumber()
		_ = d.Decode(&q) // GET has none
	}
	switch path := r.URL.Path; {
	case path == "/collections":
		return map[string]any{"collections": len(f.collections)}, nil
	case path == "/aliases":
		var list []map[string]string
		for alias, c := range f.aliases {
			list = append(list, map[string]string{"alias_name": alias, "collection_name": c})
		}
		return map[string]any{"aliases": list}, nil
	case path == "/collections/aliases":
		return true, f.alias(q)
	}
	name, route, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/collections/"), "/")
	return f.collection(r.Method, name, route, &q)
}

func (f *fake) alias(q request) error {
	for _, a := range q.Actions {
		if a.Delete != nil {
			delete(f.aliases, a.Delete.Alias)
			continue
		}
		if f.collections[a.Create.Alias] != nil {
			return refused{http.StatusConflict, "Wrong input: Collection `" + a.Create.Alias + "` already exists!"}
		}
		f.aliases[a.Create.Alias] = a.Create.Collection
	}
	return nil
}

func (f *fake) collection(method, name, route string, q *request) (any, error) {
	c := f.collections[cmp.Or(f.aliases[name], name)]
	switch {
	case route == "exists":
		return map[string]bool{"exists": c != nil}, nil
	case route == "" && method == http.MethodPut && c != nil:
		return nil, refused{http.StatusConflict, "Wrong input: Collection `" + name + "` already exists!"}
	case route == "" && method == http.MethodPut:
		f.collections[name] = &fakeCollection{points: map[string]fakePoint{}, indexes: map[string]string{}, dense: q.Vectors["dense"].Size}
		return true, nil
	case c == nil:
		return nil, refused{http.StatusNotFound, "Not found: Collection `" + name + "` doesn't exist!"}
	case route == "":
		delete(f.collections, name)
		maps.DeleteFunc(f.aliases, func(_, target string) bool { return target == name })
		return true, nil
	}
	if f.strict {
		if err := c.indexed(q.Filter); err != nil {
			return nil, err
		}
	}
	switch route {
	case "index":
		c.indexes[q.Field] = q.Schema
		return true, nil
	case "points/batch":
		done := make([]map[string]string, len(q.Operations))
		for i := range done {
			done[i] = map[string]string{"status": "completed"}
		}
		return done, c.update(q)
	case "points/count":
		return map[string]int{"count": len(c.under(q.Filter))}, nil
	case "points/scroll":
		list := c.under(q.Filter)
		list = list[slices.IndexFunc(append(list, fakePoint{ID: "~"}), func(p fakePoint) bool { return p.ID >= q.Offset }):]
		var next any
		if len(list) > q.Limit {
			next, list = list[q.Limit].ID, list[:q.Limit]
		}
		return map[string]any{"points": shown(list, q), "next_page_offset": next}, nil
	case "points":
		var list []fakePoint
		for _, id := range q.IDs {
			if p, ok := c.points[id]; ok {
				list = append(list, p)
			}
		}
		return shown(list, q), nil
	case "points/query":
		return c.nearest(q)
	case "facet":
		if c.indexes[q.Key] == "" {
			return nil, refused{http.StatusBadRequest, "Wrong input: Index required but not found for \"" + q.Key + "\" of one of the following types: [keyword, integer, bool]"}
		}
		return c.facet(q), nil
	}
	return nil, refused{http.StatusNotFound, "no such route"}
}

func (c *fakeCollection) update(q *request) error {
	for _, op := range q.Operations {
		if op.Delete != nil {
			for _, id := range op.Delete.Points {
				delete(c.points, id)
			}
			continue
		}
		if len(op.Upsert.Points) == 0 {
			return fmt.Errorf("empty update request")
		}
		for _, p := range op.Upsert.Points {
			var v []float64
			if raw := p.Vector["dense"]; raw != nil && json.Unmarshal(raw, &v) == nil && len(v) != c.dense {
				return fmt.Errorf("Vector dimension error: expected dim: %d, got %d", c.dense, len(v))
			}
		}
		for _, p := range op.Upsert.Points {
			c.points[p.ID] = p
		}
	}
	return nil
}

// under returns the points that satisfy a filter, by id.
func (c *fakeCollection) under(filter map[string]any) []fakePoint {
	var out []fakePoint
	for _, id := range slices.Sorted(maps.Keys(c.points)) {
		if p := c.points[id]; holds(filter, p.Payload) {
			out = append(out, p)
		}
	}
	return out
}

// shown leaves out of points what was not asked for.
func shown(list []fakePoint, q *request) []fakePoint {
	out := make([]fakePoint, len(list))
	for i, p := range list {
		out[i] = fakePoint{ID: p.ID, Score: p.Score}
		switch fields := q.Payload.(type) {
		case bool:
			if fields {
				out[i].Payload = p.Payload
			}
		case []any:
			out[i].Payload = map[string]any{}
			for _, f := range fields {
				name, _, _ := strings.Cut(f.(string), ".")
				if v, ok := p.Payload[name]; ok {
					out[i].Payload[name] = v
				}
			}
		}
		if q.Vector != false {
			out[i].Vector = p.Vector
		}
	}
	return out
}

type fakeSparse struct {
	Indices []uint32
	Values  []float64
}

func (c *fakeCollection) nearest(q *request) (any, error) {
	body, _ := json.Marshal(q.Query)
	score := func(raw json.RawMessage) (float64, bool) {
		var a, b fakeSparse
		if q.Using == "dense" {
			_ = json.Unmarshal(body, &a.Values)
			_ = json.Unmarshal(raw, &b.Values)
			roundHalves(a.Values)
		} else {
			_ = json.Unmarshal(body, &a)
			_ = json.Unmarshal(raw, &b)
		}
		sum, meets := 0.0, q.Using == "dense"
		for i, x := range a.Values {
			j := i
			if q.Using != "dense" {
				j = slices.Index(b.Indices, a.Indices[i])
			}
			if j >= 0 && j < len(b.Values) {
				sum, meets = sum+x*b.Values[j], true
			}
		}
		return float64(float32(sum)), meets
	}
	if q.Using == "dense" && c.dense == 0 {
		return nil, fmt.Errorf("Not existing vector name error: dense")
	}
	var list []fakePoint
	for _, p := range c.under(q.Filter) {
		raw, ok := p.Vector[q.Using]
		if !ok {
			continue
		}
		if p.Score, ok = score(raw); ok {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b fakePoint) int { return cmp.Compare(b.Score, a.Score) })
	return map[string]any{"points": shown(list[:min(len(list), q.Limit)], q)}, nil
}

// roundHalves rounds a question's vector to half floats, as the server does where it keeps
// vectors so: its scores are off by that.
func roundHalves(v []float64) {
	for i, x := range v {
		b, err := vector.AppendHalf(nil, []float32{float32(x)})
		out := make([]float32, 1)
		if err == nil && vector.DecodeHalf(out, b) == nil {
			v[i] = float64(out[0])
		}
	}
}

func (c *fakeCollection) facet(q *request) any {
	type hit struct {
		Value any `json:"value"`
		Count int `json:"count"`
	}
	counts := map[any]int{}
	for _, p := range c.under(q.Filter) {
		seen := map[any]bool{}
		for _, v := range valuesAt(p.Payload, strings.Split(q.Key, ".")) {
			seen[v] = true
		}
		for v := range seen {
			counts[v]++
		}
	}
	var hits []hit
	for v, n := range counts {
		hits = append(hits, hit{v, n})
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(fmt.Sprint(a.Value), fmt.Sprint(b.Value)))
	})
	return map[string]any{"hits": hits[:min(len(hits), q.Limit)]}
}

// indexed refuses conditions on fields without an index, as strict mode does.
func (c *fakeCollection) indexed(filter map[string]any) error {
	for _, group := range []string{"must", "should", "must_not"} {
		list, _ := filter[group].([]any)
		for _, item := range list {
			cond := item.(map[string]any)
			key, _ := cond["key"].(string)
			if empty, ok := cond["is_empty"].(map[string]any); ok {
				key = empty["key"].(string)
			}
			if key != "" && c.indexes[key] == "" {
				return refused{http.StatusBadRequest, "Bad request: Index required but not found for \"" + key + "\" of one of the following types: [keyword]. Help: Create an index for this key or use a different filter."}
			}
			if err := c.indexed(cond); err != nil {
				return err
			}
		}
	}
	return nil
}

// holds is Qdrant's evaluation of a filter. An empty should is no condition there.
func holds(filter, payload map[string]any) bool {
	one := func(item any) bool { return meets(item.(map[string]any), payload) }
	must, _ := filter["must"].([]any)
	should, _ := filter["should"].([]any)
	mustNot, _ := filter["must_not"].([]any)
	return !slices.ContainsFunc(must, func(item any) bool { return !one(item) }) &&
		(len(should) == 0 || slices.ContainsFunc(should, one)) && !slices.ContainsFunc(mustNot, one)
}

func meets(cond, payload map[string]any) bool {
	if n, ok := cond["nested"].(map[string]any); ok {
		path := strings.Split(strings.TrimSuffix(n["key"].(string), "[]"), ".")
		path[len(path)-1] += "[]"
		return slices.ContainsFunc(objectsAt(payload, path), func(o map[string]any) bool { return holds(n["filter"].(map[string]any), o) })
	}
	if empty, ok := cond["is_empty"].(map[string]any); ok {
		return len(valuesAt(payload, strings.Split(empty["key"].(string), "."))) == 0
	}
	key, ok := cond["key"].(string)
	if !ok {
		return holds(cond, payload)
	}
	values := valuesAt(payload, strings.Split(key, "."))
	if m, ok := cond["match"].(map[string]any); ok {
		wanted, several := m["any"].([]any)
		if !several {
			wanted = []any{m["value"]}
		}
		return slices.ContainsFunc(values, func(v any) bool { return slices.Contains(wanted, v) })
	}
	bounds := cond["range"].(map[string]any)
	return slices.ContainsFunc(values, func(v any) bool {
		n, ok := v.(json.Number)
		if !ok {
			return false
		}
		x, _ := n.Float64() // as float64, whatever is lost
		for op, bound := range bounds {
			y, _ := bound.(json.Number).Float64()
			if op == "gt" && x <= y || op == "gte" && x < y || op == "lt" && x >= y || op == "lte" && x > y {
				return false
			}
		}
		return true
	})
}

// valuesAt returns what stands under a path; lists are their elements.
func valuesAt(v any, path []string) []any {
	if v == nil {
		return nil
	}
	if list, ok := v.([]any); ok && len(path) == 0 {
		return list
	}
	if len(path) == 0 {
		return []any{v}
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	name, all := strings.CutSuffix(path[0], "[]")
	if !all {
		return valuesAt(object[name], path[1:])
	}
	list, ok := object[name].([]any)
	if !ok {
		return nil
	}
	var out []any
	for _, item := range list {
		out = append(out, valuesAt(item, path[1:])...)
	}
	return out
}

func objectsAt(payload map[string]any, path []string) []map[string]any {
	var out []map[string]any
	for _, v := range valuesAt(payload, path) {
		if o, ok := v.(map[string]any); ok && reflect.TypeOf(v).Kind() == reflect.Map {
			out = append(out, o)
		}
	}
	return out
}
