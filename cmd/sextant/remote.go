package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/httpapi"
)

// remote answers over the HTTP API of the server that holds the data folder.
type remote struct {
	base   string // "http://127.0.0.1:8000"
	key    string // "" sends none
	client *http.Client
}

// maxReply bounds what is read of one reply: fifty passages of the largest documents
// are far below.
const maxReply = 256 << 20

func newRemote(base, key string) *remote {
	// The server is on this machine: a proxy from the environment must not see its traffic.
	return &remote{base: strings.TrimRight(base, "/"), key: key, client: &http.Client{Transport: &http.Transport{Proxy: nil, ResponseHeaderTimeout: 10 * time.Minute}}}
}

// questionBody is the body of POST /v1/ask, as far as a command can ask for it.
type questionBody struct {
	Question    string   `json:"question"`
	Collections []string `json:"collections,omitempty"`
	Filter      string   `json:"filter,omitempty"`
	AsOf        string   `json:"as_of,omitempty"`
	Mode        string   `json:"mode,omitempty"`
	TopK        int      `json:"top_k,omitempty"`
	Rerank      string   `json:"rerank,omitempty"`
	Refine      string   `json:"refine,omitempty"`
	Model       string   `json:"model,omitempty"`
	Limits      *limits  `json:"limits,omitempty"`
}

// limits are those of a question that a command can set.
type limits struct {
	ModelCalls int `json:"model_calls,omitempty"`
	Rounds     int `json:"rounds,omitempty"`
}

// answerReply reads an answer without the typed metadata of its evidence, which only a
// schema can read and no page for people shows.
type answerReply struct {
	sextant.Answer
	Evidence json.RawMessage `json:"evidence"`
}

// Ask implements reader.
func (r *remote) Ask(ctx context.Context, q sextant.Question) (reply[sextant.Answer], error) {
	body := questionBody{Question: q.Text, Collections: q.Collections, Filter: q.FilterText, Mode: string(q.Mode), TopK: q.TopK, Rerank: q.Rerank, Refine: q.Refine}
	if l := (limits{q.Limits.ModelCalls, q.Limits.Rounds}); l != (limits{}) {
		body.Limits = &l
	}
	if q.NoModel {
		body.Model = "none"
	}
	if !q.AsOf.IsZero() {
		body.AsOf = q.AsOf.Format(time.DateOnly)
	}
	var into answerReply
	wire, err := r.do(ctx, http.MethodPost, "/v1/ask", body, &into)
	return reply[sextant.Answer]{into.Answer, wire}, err
}

type searchBody struct {
	Query       string   `json:"query"`
	Collections []string `json:"collections,omitempty"`
	Filter      string   `json:"filter,omitempty"`
	TopK        int      `json:"top_k,omitempty"`
	Rerank      string   `json:"rerank,omitempty"`
}

type searchReply struct {
	sextant.SearchResult
	Results []passageReply `json:"results"`
}

type passageReply struct {
	sextant.Passage
	Metadata json.RawMessage `json:"metadata"`
}

// Search implements reader.
func (r *remote) Search(ctx context.Context, q sextant.SearchQuery) (reply[sextant.SearchResult], error) {
	var into searchReply
	wire, err := r.do(ctx, http.MethodPost, "/v1/search", searchBody{q.Query, q.Collections, q.FilterText, q.TopK, q.Rerank}, &into)
	result := into.SearchResult
	for i := range into.Results {
		result.Results = append(result.Results, into.Results[i].Passage)
	}
	return reply[sextant.SearchResult]{result, wire}, err
}

// Collections implements reader.
func (r *remote) Collections(ctx context.Context) (reply[collectionList], error) {
	var into collectionList
	wire, err := r.do(ctx, http.MethodGet, "/v1/collections", nil, &into)
	return reply[collectionList]{into, wire}, err
}

// Describe implements reader.
func (r *remote) Describe(ctx context.Context, name string) (reply[sextant.Description], error) {
	var into sextant.Description
	wire, err := r.do(ctx, http.MethodGet, "/v1/collections/"+url.PathEscape(name), nil, &into)
	return reply[sextant.Description]{into, wire}, err
}

// do sends a request and reads the reply into v. A problem comes back as the
// *sextant.Error the server made it from.
func (r *remote) do(ctx context.Context, method, path string, body, v any) (json.RawMessage, error) {
	var payload io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", method, path, err)
		}
		payload = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, r.base+path, payload)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Content-Type", "application/json")
	return r.reply(request, v)
}

// start sends a request and returns the response if it is no problem. Its body must be
// closed.
func (r *remote) start(request *http.Request) (*http.Response, error) {
	if r.key != "" {
		request.Header.Set("Authorization", "Bearer "+r.key)
	}
	response, err := r.client.Do(request)
	if err != nil {
		if ctx := request.Context(); ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &sextant.Error{Code: sextant.CodeUnavailable, Op: "ask the server", Message: "The server at " + r.base + " holds the data folder and does not answer.",
			Hint: "Try again in a moment, or stop that server.", Err: err}
	}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/problem+json") {
		return response, nil
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", request.Method, request.URL.Path, err)
	}
	return nil, problem(data)
}

// reply sends a request and reads the JSON that comes back.
func (r *remote) reply(request *http.Request, v any) (json.RawMessage, error) {
	request.Header.Set("Accept", "application/json")
	response, err := r.start(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", request.Method, request.URL.Path, err)
	}
	if err := decodeReply(data, v); err != nil {
		return nil, fmt.Errorf("%s %s: the reply with status %d cannot be read: %w", request.Method, request.URL.Path, response.StatusCode, err)
	}
	return bytes.TrimSpace(data), nil
}

// decodeReply reads a reply with its counts as they are written, not as floats.
func decodeReply(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(v)
}

func problem(data []byte) error {
	var p httpapi.Problem
	if err := json.Unmarshal(data, &p); err != nil || p.Detail == "" {
		return errors.Join(errors.New("the server refused the request"), err)
	}
	return &sextant.Error{Code: p.Code, Op: "ask the server", Message: p.Detail, Hint: p.Hint}
}
