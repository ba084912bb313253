package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/store"
)

// keeper is what the verbs that look at runs and delete need. As with reader there are two:
// kept has the store in this process, remote asks the server that holds the data folder.
type keeper interface {
	Runs(ctx context.Context, collection string, limit int) (reply[runList], error)
	Run(ctx context.Context, id string) (reply[sextant.Receipt], error)
	Items(ctx context.Context, run sextant.Receipt, only sextant.Outcome) iter.Seq2[ingest.ItemReceipt, error]
	Delete(ctx context.Context, u ingest.Unwanted) (reply[ingest.Deletions], error)
}

// keeper opens the store, or finds the server that has it.
func (s *session) keeper(ctx context.Context) (k keeper, done func(), err error) {
	if h, held := s.holder(); held && h.Address != "" {
		return newRemote(h.Address, s.config.Serve.key()), func() {}, nil
	}
	st, err := s.openStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	return kept{s, s.records(st)}, func() { _ = st.Close() }, nil
}

// records are those of a store, with what is kept beside it in the data folder.
func (s *session) records(st store.Store) *ingest.Records {
	return &ingest.Records{Store: st, MayDrop: ownCollection, Dropped: func(collection string) error { return removeLayout(s.config.Data, collection) }}
}

// kept is a keeper with the store in this process.
type kept struct {
	session *session
	records *ingest.Records
}

// Runs implements keeper.
func (k kept) Runs(ctx context.Context, collection string, limit int) (reply[runList], error) {
	list, err := k.records.Runs(ctx, collection, limit)
	if list == nil {
		list = []sextant.Receipt{}
	}
	return reply[runList]{value: runList{list}}, k.explained(err)
}

// Run implements keeper.
func (k kept) Run(ctx context.Context, id string) (reply[sextant.Receipt], error) {
	r, err := k.records.Run(ctx, id)
	return reply[sextant.Receipt]{value: r}, k.explained(err)
}

// Items implements keeper.
func (k kept) Items(ctx context.Context, run sextant.Receipt, only sextant.Outcome) iter.Seq2[ingest.ItemReceipt, error] {
	return func(yield func(ingest.ItemReceipt, error) bool) {
		for item, err := range k.records.Items(ctx, run) {
			if (err != nil || only == "" || item.Outcome == only) && !yield(item, k.explained(err)) {
				return
			}
		}
	}
}

// Delete implements keeper.
func (k kept) Delete(ctx context.Context, u ingest.Unwanted) (reply[ingest.Deletions], error) {
	out, err := k.records.Delete(ctx, u)
	return reply[ingest.Deletions]{value: out}, k.explained(err)
}

func (k kept) explained(err error) error {
	if err == nil {
		return nil
	}
	return k.session.storeError(err)
}

// Runs implements keeper.
func (r *remote) Runs(ctx context.Context, collection string, limit int) (reply[runList], error) {
	var into runList
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if collection != "" {
		q.Set("collection", collection)
	}
	wire, err := r.do(ctx, http.MethodGet, "/v1/runs?"+q.Encode(), nil, &into)
	return reply[runList]{into, wire}, err
}

// Run implements keeper.
func (r *remote) Run(ctx context.Context, id string) (reply[sextant.Receipt], error) {
	var into sextant.Receipt
	wire, err := r.do(ctx, http.MethodGet, "/v1/runs/"+url.PathEscape(id), nil, &into)
	return reply[sextant.Receipt]{into, wire}, err
}

// Items implements keeper.
func (r *remote) Items(ctx context.Context, run sextant.Receipt, only sextant.Outcome) iter.Seq2[ingest.ItemReceipt, error] {
	return func(yield func(ingest.ItemReceipt, error) bool) {
		address := r.base + "/v1/runs/" + url.PathEscape(run.Run) + "/items?outcome=" + url.QueryEscape(string(only))
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			yield(ingest.ItemReceipt{}, fmt.Errorf("runs: %w", err))
			return
		}
		response, err := r.start(request)
		if err != nil {
			yield(ingest.ItemReceipt{}, err)
			return
		}
		defer func() { _ = response.Body.Close() }()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var item ingest.ItemReceipt
			err := json.Unmarshal(lines.Bytes(), &item)
			if !yield(item, err) || err != nil {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(ingest.ItemReceipt{}, &sextant.Error{Code: sextant.CodeUnavailable, Op: "runs", Message: "The server went away before the list had ended.", Err: err})
		}
	}
}

// Delete implements keeper.
func (r *remote) Delete(ctx context.Context, u ingest.Unwanted) (reply[ingest.Deletions], error) {
	paths := map[string]string{"/v1/sources/": u.Source, "/v1/runs/": u.Run, "/v1/collections/": u.Whole}
	for path, name := range paths {
		if name != "" {
			return r.delete(ctx, path+url.PathEscape(name), u)
		}
	}
	var all ingest.Deletions
	for _, id := range u.Documents {
		out, err := r.delete(ctx, "/v1/documents/"+strings.ReplaceAll(url.PathEscape(string(id)), "%2F", "/"), u)
		if err != nil || len(u.Documents) == 1 {
			return out, err
		}
		all.Deletions = append(all.Deletions, out.value.Deletions...)
	}
	return reply[ingest.Deletions]{value: all}, nil
}

func (r *remote) delete(ctx context.Context, path string, u ingest.Unwanted) (reply[ingest.Deletions], error) {
	q := url.Values{"dry_run": {strconv.FormatBool(u.DryRun)}}
	if u.Collection != "" {
		q.Set("collection", u.Collection)
	}
	var into ingest.Deletions
	wire, err := r.do(ctx, http.MethodDelete, path+"?"+q.Encode(), nil, &into)
	return reply[ingest.Deletions]{into, wire}, err
}
