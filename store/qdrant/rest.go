package qdrant

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// rest speaks Qdrant's REST API (openapi of 1.19; nothing used here is younger than 1.12).
type rest struct {
	base   *url.URL
	key    string
	tokens *tokens // nil: none are asked for
	http   *http.Client
}

// maxAnswer bounds an answer of the server.
const maxAnswer = 256 << 20

func newREST(o Options, base *url.URL) *rest {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   dialTimeout,
		MaxIdleConnsPerHost:   32,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	r := &rest{base: base, key: o.Key, http: &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if o.TokenProxy != "" {
		r.tokens = &tokens{url: o.TokenProxy, http: r.http}
	}
	return r
}

func (r *rest) close() error {
	r.http.CloseIdleConnections()
	return nil
}

// envelope is around every answer.
type envelope struct {
	Result json.RawMessage `json:"result"`
	Status json.RawMessage `json:"status"`
}

// call sends one request and reads the result. A request whose token has expired is sent
// once more with a new one.
func (r *rest) call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = encode(in); err != nil {
			return err
		}
	}
	for attempt := 1; ; attempt++ {
		status, answer, err := r.once(ctx, method, path, body)
		switch {
		case err != nil:
			return err
		case r.tokens != nil && attempt == 1 && (status == http.StatusUnauthorized || status == http.StatusForbidden):
			r.tokens.drop()
			continue
		case status/100 != 2:
			return refusal(status, answer)
		}
		var e envelope
		if err := json.Unmarshal(answer, &e); err != nil || len(e.Result) == 0 || string(e.Result) == "null" {
			return fmt.Errorf("answer that is not of Qdrant: %w", store.ErrUnavailable)
		}
		if out == nil {
			return nil
		}
		if err := json.Unmarshal(e.Result, out); err != nil {
			return fmt.Errorf("unexpected answer: %w: %w", store.ErrUnavailable, err)
		}
		return nil
	}
}

// encode writes JSON without escaping what only HTML needs escaped: texts are long.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	return b.Bytes(), nil
}

func (r *rest) once(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	target := strings.TrimSuffix(r.base.String(), "/") + path
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("address: %w", store.ErrUnavailable)
	}
	req.Header.Set("Content-Type", "application/json")
	if method != http.MethodPut {
		// Whatever is not a creation comes to the same when it is done twice. Told so, net/http
		// sends it again if a connection turns out to be dead since a server was restarted.
		req.Header["Idempotency-Key"] = nil
	}
	if r.key != "" {
		req.Header.Set("api-key", r.key)
	}
	if r.tokens != nil {
		token, err := r.tokens.current(ctx)
		if err != nil {
			return 0, nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := r.http.Do(req)
	if err != nil {
		return 0, nil, unreachable(ctx, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return 0, nil, unreachable(ctx, err)
	}
	if len(answer) > maxAnswer {
		return 0, nil, fmt.Errorf("answer of more than %d bytes: %w", maxAnswer, store.ErrUnsupported)
	}
	return res.StatusCode, answer, nil
}

// unreachable tells a server that does not answer from a caller who gave up. The address
// may hold a secret, so it is left out.
func unreachable(ctx context.Context, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if cause := context.Cause(ctx); errors.Is(cause, errSlow) {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, cause)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return fmt.Errorf("%w: its certificate is not trusted (SSL_CERT_FILE names authorities that are): %w", store.ErrUnavailable, untrusted.Err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// refusal reads an answer that is no success. What is not Qdrant's own is of something
// before it, whose statuses say nothing about collections.
func refusal(status int, answer []byte) error {
	var e struct {
		Status struct {
			Error string `json:"error"`
		} `json:"status"`
	}
	if json.Unmarshal(answer, &e) == nil && e.Status.Error != "" {
		return classify(status, e.Status.Error)
	}
	said := strings.TrimSpace(string(answer[:min(len(answer), maxSaid)]))
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusInsufficientStorage:
		return classify(status, said)
	}
	return classify(http.StatusBadGateway, fmt.Sprintf("status %d, not by Qdrant: %s", status, said))
}

// maxSaid bounds what is repeated of a server's words.
const maxSaid = 300

// classify makes an error of a status and the server's words for it.
func classify(status int, said string) error {
	said = strings.ToValidUTF8(said[:min(len(said), maxSaid)], "")
	low := strings.ToLower(said)
	kind := errRefused
	switch {
	case status == http.StatusNotFound && strings.Contains(low, "collection"):
		kind = errMissing
	case status == http.StatusConflict || strings.Contains(low, "already exists"):
		kind = errExists
	case status == http.StatusInsufficientStorage, strings.Contains(low, "no space left"), strings.Contains(low, "disk full"):
		kind = store.ErrFull
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("the server refuses the key: %w", store.ErrUnavailable)
	case status == http.StatusBadRequest && changedBelow(low):
		kind = store.ErrUnavailable
	case status == http.StatusBadRequest && forbidden(low), status == http.StatusRequestEntityTooLarge:
		kind = store.ErrUnsupported
	case status == http.StatusNotFound, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500, status/100 == 3:
		kind = store.ErrUnavailable
	}
	return fmt.Errorf("status %d: %s: %w", status, said, kind)
}

// errRefused is a request that the server does not understand: a mistake here.
var errRefused = errors.New("the server refuses the request")

// changedBelow recognises that a collection is no longer as it was made.
func changedBelow(said string) bool {
	return strings.Contains(said, "vector dimension error") || strings.Contains(said, "not existing vector name")
}

// forbidden recognises strict mode, and limits of the server.
func forbidden(said string) bool {
	for _, words := range []string{"index required", "strict mode", "not allowed", "limit exceeded", "exceeds", "forbidden", "maximum"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

func at(collection, route string) string {
	return "/collections/" + url.PathEscape(collection) + route
}

func (r *rest) ping(ctx context.Context) error {
	return r.call(ctx, http.MethodGet, "/collections", nil, nil)
}

func (r *rest) exists(ctx context.Context, collection string) (bool, error) {
	var out struct{ Exists bool }
	err := r.call(ctx, http.MethodGet, at(collection, "/exists"), nil, &out)
	return out.Exists, err
}

type restVector struct {
	Size     int    `json:"size"`
	Distance string `json:"distance"`
	Datatype string `json:"datatype"`
	OnDisk   bool   `json:"on_disk,omitempty"`
}

type restCreate struct {
	Vectors     map[string]restVector `json:"vectors"`
	Sparse      map[string]struct{}   `json:"sparse_vectors,omitempty"`
	OnDisk      bool                  `json:"on_disk_payload"`
	Shards      int                   `json:"shard_number,omitempty"`
	Replicas    int                   `json:"replication_factor,omitempty"`
	Consistency int                   `json:"write_consistency_factor,omitempty"`
}

func (r *rest) create(ctx context.Context, collection string, p parameters) error {
	in := restCreate{Vectors: map[string]restVector{}, OnDisk: p.OnDisk, Shards: p.Shards, Replicas: p.Replicas, Consistency: p.Consistency}
	if p.Dense > 0 {
		in.Vectors[denseVector] = restVector{Size: p.Dense, Distance: "Dot", Datatype: "float16", OnDisk: p.OnDisk}
	}
	if p.Words {
		in.Sparse = map[string]struct{}{wordsVector: {}}
	}
	return r.call(ctx, http.MethodPut, at(collection, ""), in, nil)
}

func (r *rest) drop(ctx context.Context, collection string) error {
	err := r.call(ctx, http.MethodDelete, at(collection, ""), nil, nil)
	if errors.Is(err, errMissing) {
		return nil
	}
	return err
}

func (r *rest) index(ctx context.Context, collection, field string, kind indexKind) error {
	in := struct {
		Field  string    `json:"field_name"`
		Schema indexKind `json:"field_schema"`
	}{field, kind}
	return r.call(ctx, http.MethodPut, at(collection, "/index?wait=true"), in, nil)
}

type restPoint struct {
	ID      string          `json:"id"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Vector  json.RawMessage `json:"vector,omitempty"`
	Score   float64         `json:"score,omitempty"`
}

type restVectors struct {
	Dense []float32 `json:"dense,omitempty"`
	Words *sparse   `json:"words,omitempty"`
}

func (p point) rest() (restPoint, error) {
	v := restVectors{Dense: p.Dense}
	if len(p.Words.Indices) > 0 {
		v.Words = &p.Words
	}
	vector, err := json.Marshal(v)
	return restPoint{ID: p.ID, Payload: p.Payload, Vector: vector}, err
}

func pointsOf(list []restPoint) ([]point, error) {
	out := make([]point, len(list))
	for i, p := range list {
		out[i] = point{ID: p.ID, Payload: p.Payload, Score: p.Score}
		if len(p.Vector) > 0 && p.Vector[0] == '{' {
			var v restVectors
			if err := json.Unmarshal(p.Vector, &v); err != nil {
				return nil, fmt.Errorf("vector of a point: %w: %w", store.ErrUnavailable, err)
			}
			out[i].Dense = v.Dense
		}
	}
	return out, nil
}

type restOperation struct {
	Upsert *restUpsert `json:"upsert,omitempty"`
	Delete *restDelete `json:"delete,omitempty"`
}

type restUpsert struct {
	Points []restPoint `json:"points"`
}

type restDelete struct {
	Points []string `json:"points"`
}

func (r *rest) update(ctx context.Context, collection string, ops []operation) error {
	var in struct {
		Operations []restOperation `json:"operations"`
	}
	for _, op := range ops {
		var out restOperation
		if len(op.Delete) > 0 {
			out.Delete = &restDelete{op.Delete}
			in.Operations = append(in.Operations, out)
			continue
		}
		out.Upsert = &restUpsert{make([]restPoint, len(op.Upsert))}
		for i, p := range op.Upsert {
			var err error
			if out.Upsert.Points[i], err = p.rest(); err != nil {
				return fmt.Errorf("write point: %w", err)
			}
		}
		in.Operations = append(in.Operations, out)
	}
	var out []struct{ Status string }
	if err := r.call(ctx, http.MethodPost, at(collection, "/points/batch?wait=true"), in, &out); err != nil {
		return err
	}
	for _, done := range out {
		if done.Status != "completed" {
			return fmt.Errorf("a change is %q: %w", done.Status, store.ErrUnavailable)
		}
	}
	if len(out) == 0 {
		return fmt.Errorf("an answer that names no change: %w", store.ErrUnavailable)
	}
	return nil
}

func (r *rest) count(ctx context.Context, collection string, where *clause) (int64, error) {
	in := struct {
		Filter *clause `json:"filter,omitempty"`
		Exact  bool    `json:"exact"`
	}{where, true}
	var out struct{ Count int64 }
	err := r.call(ctx, http.MethodPost, at(collection, "/points/count"), in, &out)
	return out.Count, err
}

// restWant is what of points to send back.
type restWant struct {
	Payload any `json:"with_payload"`
	Vector  any `json:"with_vector"`
}

func (w want) rest() restWant {
	out := restWant{Payload: false, Vector: false}
	switch {
	case w.All:
		out.Payload = true
	case w.Fields != nil:
		out.Payload = w.Fields
	}
	if w.Dense {
		out.Vector = []string{denseVector}
	}
	return out
}

func (r *rest) scroll(ctx context.Context, collection string, q scrollQuery) (page, error) {
	in := struct {
		Filter *clause `json:"filter,omitempty"`
		Limit  int     `json:"limit"`
		Offset string  `json:"offset,omitempty"`
		restWant
	}{q.Where, q.Limit, q.Offset, q.Want.rest()}
	var out struct {
		Points []restPoint
		Next   *string `json:"next_page_offset"`
	}
	if err := r.call(ctx, http.MethodPost, at(collection, "/points/scroll"), in, &out); err != nil {
		return page{}, err
	}
	points, err := pointsOf(out.Points)
	p := page{Points: points}
	if out.Next != nil {
		p.Next = *out.Next
	}
	return p, err
}

func (r *rest) points(ctx context.Context, collection string, ids []string, w want) ([]point, error) {
	in := struct {
		IDs []string `json:"ids"`
		restWant
	}{ids, w.rest()}
	var out []restPoint
	if err := r.call(ctx, http.MethodPost, at(collection, "/points"), in, &out); err != nil {
		return nil, err
	}
	return pointsOf(out)
}

func (r *rest) nearest(ctx context.Context, collection string, q nearestQuery) ([]point, error) {
	type params struct {
		Exact bool `json:"exact"`
	}
	in := struct {
		Query  any     `json:"query"`
		Using  string  `json:"using"`
		Filter *clause `json:"filter,omitempty"`
		Limit  int     `json:"limit"`
		Params params  `json:"params"`
		restWant
	}{q.Dense, denseVector, q.Where, q.Limit, params{!q.Approximate}, q.Want.rest()}
	if q.Dense == nil {
		in.Query, in.Using = q.Words, wordsVector
	}
	var out struct{ Points []restPoint }
	if err := r.call(ctx, http.MethodPost, at(collection, "/points/query"), in, &out); err != nil {
		return nil, err
	}
	return pointsOf(out.Points)
}

func (r *rest) facet(ctx context.Context, collection string, q facetQuery) ([]facetHit, error) {
	in := struct {
		Key    string  `json:"key"`
		Filter *clause `json:"filter,omitempty"`
		Limit  int     `json:"limit"`
		Exact  bool    `json:"exact"`
	}{q.Key, q.Where, q.Limit, true}
	var out struct {
		Hits []struct {
			Value json.RawMessage
			Count int64
		}
	}
	if err := r.call(ctx, http.MethodPost, at(collection, "/facet"), in, &out); err != nil {
		return nil, err
	}
	hits := make([]facetHit, len(out.Hits))
	for i, h := range out.Hits {
		hits[i] = facetHit(h)
	}
	return hits, nil
}

func (r *rest) aliases(ctx context.Context) (map[string]string, error) {
	var out struct {
		Aliases []struct {
			Alias      string `json:"alias_name"`
			Collection string `json:"collection_name"`
		}
	}
	if err := r.call(ctx, http.MethodGet, "/aliases", nil, &out); err != nil {
		return nil, err
	}
	m := map[string]string{}
	for _, a := range out.Aliases {
		m[a.Alias] = a.Collection
	}
	return m, nil
}

func (r *rest) alias(ctx context.Context, name, collection string, replaces bool) error {
	type created struct {
		Collection string `json:"collection_name"`
		Alias      string `json:"alias_name"`
	}
	type deleted struct {
		Alias string `json:"alias_name"`
	}
	type action struct {
		Create *created `json:"create_alias,omitempty"`
		Delete *deleted `json:"delete_alias,omitempty"`
	}
	var in struct {
		Actions []action `json:"actions"`
	}
	if replaces {
		in.Actions = append(in.Actions, action{Delete: &deleted{name}})
	}
	in.Actions = append(in.Actions, action{Create: &created{collection, name}})
	return r.call(ctx, http.MethodPost, "/collections/aliases", in, nil)
}
