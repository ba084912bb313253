//go:build qdrant_grpc

package qdrant

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/sextant-rag/sextant/store"
)

// rpc speaks Qdrant's gRPC through the official client.
type rpc struct {
	client *qdrant.Client
	tokens *tokens
}

// maxMessage bounds an answer: the client's own 4 MiB are less than a page of vectors.
const maxMessage = 256 << 20

const (
	defaultPort = 6334
	grace       = 100 * time.Millisecond
)

func newGRPC(o Options, u *url.URL) (transport, error) {
	port := defaultPort
	if text := u.Port(); text != "" {
		var err error
		if port, err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("port %q: %w", text, store.ErrUnsupported)
		}
	}
	r := &rpc{}
	if o.TokenProxy != "" {
		r.tokens = &tokens{url: o.TokenProxy, http: &http.Client{Timeout: o.Timeout}}
	}
	client, err := qdrant.NewClient(&qdrant.Config{
		Host: u.Hostname(), Port: port, APIKey: o.Key, UseTLS: u.Scheme == "grpcs", TLSConfig: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		SkipCompatibilityCheck: true, // it waits for a server that may not be up yet
		PoolSize:               1,
		GrpcOptions:            []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)), grpc.WithUnaryInterceptor(r.authorized)},
	})
	if err != nil {
		return nil, fmt.Errorf("gRPC: %w: %w", store.ErrUnavailable, err)
	}
	r.client = client
	return r, nil
}

// authorized gives each call a token that is valid when it is sent, once more if it is not.
func (r *rpc) authorized(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if r.tokens == nil {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	for attempt := 1; ; attempt++ {
		token, err := r.tokens.current(ctx)
		if err != nil {
			return err
		}
		err = invoke(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token), method, req, reply, cc, opts...)
		if attempt == 1 && (status.Code(err) == codes.Unauthenticated || status.Code(err) == codes.PermissionDenied) {
			r.tokens.drop()
			continue
		}
		return err
	}
}

func (r *rpc) close() error { return r.client.Close() }

// answered classifies what a call came to, as REST's statuses are.
func answered(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, store.ErrUnavailable) {
		return err
	}
	s, ok := status.FromError(err)
	var wrapped interface{ GRPCStatus() *status.Status }
	if !ok && errors.As(err, &wrapped) {
		s, ok = wrapped.GRPCStatus(), true
	}
	if !ok {
		return unreachable(ctx, err)
	}
	switch s.Code() {
	case codes.NotFound:
		return classify(http.StatusNotFound, s.Message())
	case codes.AlreadyExists:
		return classify(http.StatusConflict, s.Message())
	case codes.InvalidArgument, codes.FailedPrecondition, codes.OutOfRange:
		return classify(http.StatusBadRequest, s.Message())
	case codes.Unauthenticated, codes.PermissionDenied:
		return classify(http.StatusForbidden, s.Message())
	case codes.Canceled, codes.DeadlineExceeded:
		// The server knows the deadline too, and may be the first to say that it has passed.
		select {
		case <-ctx.Done():
		case <-time.After(grace):
		}
		return unreachable(ctx, err)
	case codes.ResourceExhausted:
		return classify(http.StatusTooManyRequests, s.Message())
	}
	return classify(http.StatusInternalServerError, s.Message())
}

func (r *rpc) ping(ctx context.Context) error {
	_, err := r.client.ListCollections(ctx)
	return answered(ctx, err)
}

func (r *rpc) exists(ctx context.Context, collection string) (bool, error) {
	ok, err := r.client.CollectionExists(ctx, collection)
	return ok, answered(ctx, err)
}

func some(n int) *uint32 {
	if n == 0 {
		return nil
	}
	return qdrant.PtrOf(uint32(n))
}

func (r *rpc) create(ctx context.Context, collection string, p parameters) error {
	in := &qdrant.CreateCollection{CollectionName: collection, OnDiskPayload: &p.OnDisk, ShardNumber: some(p.Shards), ReplicationFactor: some(p.Replicas), WriteConsistencyFactor: some(p.Consistency)}
	vectors := map[string]*qdrant.VectorParams{}
	if p.Dense > 0 {
		vectors[denseVector] = &qdrant.VectorParams{Size: uint64(p.Dense), Distance: qdrant.Distance_Dot, Datatype: qdrant.PtrOf(qdrant.Datatype_Float16), OnDisk: &p.OnDisk}
	}
	in.VectorsConfig = qdrant.NewVectorsConfigMap(vectors)
	if p.Words {
		in.SparseVectorsConfig = qdrant.NewSparseVectorsConfig(map[string]*qdrant.SparseVectorParams{wordsVector: {}})
	}
	return answered(ctx, r.client.CreateCollection(ctx, in))
}

func (r *rpc) drop(ctx context.Context, collection string) error {
	there, err := r.exists(ctx, collection)
	if err != nil || !there {
		return err
	}
	return answered(ctx, r.client.DeleteCollection(ctx, collection))
}

func (r *rpc) index(ctx context.Context, collection, field string, kind indexKind) error {
	types := map[indexKind]qdrant.FieldType{indexKeyword: qdrant.FieldType_FieldTypeKeyword, indexInteger: qdrant.FieldType_FieldTypeInteger, indexFloat: qdrant.FieldType_FieldTypeFloat, indexBool: qdrant.FieldType_FieldTypeBool}
	_, err := r.client.CreateFieldIndex(ctx, &qdrant.CreateFieldIndexCollection{CollectionName: collection, FieldName: field, FieldType: qdrant.PtrOf(types[kind]), Wait: qdrant.PtrOf(true)})
	return answered(ctx, err)
}

func idsOf(ids []string) []*qdrant.PointId {
	out := make([]*qdrant.PointId, len(ids))
	for i, id := range ids {
		out[i] = qdrant.NewID(id)
	}
	return out
}

func (r *rpc) update(ctx context.Context, collection string, ops []operation) error {
	in := &qdrant.UpdateBatchPoints{CollectionName: collection, Wait: qdrant.PtrOf(true)}
	for _, op := range ops {
		if len(op.Delete) > 0 {
			in.Operations = append(in.Operations, qdrant.NewPointsUpdateDeletePoints(&qdrant.PointsUpdateOperation_DeletePoints{Points: qdrant.NewPointsSelectorIDs(idsOf(op.Delete))}))
			continue
		}
		list := &qdrant.PointsUpdateOperation_PointStructList{}
		for _, p := range op.Upsert {
			payload, err := payloadOf(p.Payload)
			if err != nil {
				return err
			}
			vectors := map[string]*qdrant.Vector{}
			if p.Dense != nil {
				vectors[denseVector] = qdrant.NewVector(p.Dense...)
			}
			if len(p.Words.Indices) > 0 {
				vectors[wordsVector] = qdrant.NewVectorSparse(p.Words.Indices, p.Words.Values)
			}
			list.Points = append(list.Points, &qdrant.PointStruct{Id: qdrant.NewID(p.ID), Payload: payload, Vectors: qdrant.NewVectorsMap(vectors)})
		}
		in.Operations = append(in.Operations, qdrant.NewPointsUpdateUpsert(list))
	}
	_, err := r.client.UpdateBatch(ctx, in)
	return answered(ctx, err)
}

// payloadOf makes a payload of JSON. Integers stay integers: as float64 they would be
// rounded.
func payloadOf(raw json.RawMessage) (map[string]*qdrant.Value, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	out := make(map[string]*qdrant.Value, len(fields))
	for name, v := range fields {
		var err error
		if out[name], err = qdrant.NewValue(numbered(v)); err != nil {
			return nil, fmt.Errorf("payload: %s: %w", name, err)
		}
	}
	return out, nil
}

func numbered(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // it was written by us
		return f
	case []any:
		for i := range v {
			v[i] = numbered(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = numbered(v[name])
		}
	}
	return v
}

// jsonOf is a value of a payload for encoding/json.
func jsonOf(v *qdrant.Value) any {
	switch k := v.GetKind().(type) {
	case *qdrant.Value_BoolValue:
		return k.BoolValue
	case *qdrant.Value_IntegerValue:
		return k.IntegerValue
	case *qdrant.Value_DoubleValue:
		return k.DoubleValue
	case *qdrant.Value_StringValue:
		return k.StringValue
	case *qdrant.Value_ListValue:
		list := make([]any, len(k.ListValue.GetValues()))
		for i, x := range k.ListValue.GetValues() {
			list[i] = jsonOf(x)
		}
		return list
	case *qdrant.Value_StructValue:
		fields := make(map[string]any, len(k.StructValue.GetFields()))
		for name, x := range k.StructValue.GetFields() {
			fields[name] = jsonOf(x)
		}
		return fields
	}
	return nil
}

func pointOf(id *qdrant.PointId, payload map[string]*qdrant.Value, vectors *qdrant.VectorsOutput, score float32) (point, error) {
	fields := make(map[string]any, len(payload))
	for name, v := range payload {
		fields[name] = jsonOf(v)
	}
	body, err := json.Marshal(fields)
	p := point{ID: id.GetUuid(), Payload: body, Score: float64(score)}
	if v := vectors.GetVectors().GetVectors()[denseVector]; v != nil {
		p.Dense = v.GetDense().GetData()
		if p.Dense == nil {
			p.Dense = v.GetData() //nolint:staticcheck // servers before 1.16 answer so
		}
	}
	return p, err
}

func (w want) rpc() (*qdrant.WithPayloadSelector, *qdrant.WithVectorsSelector) {
	payload := qdrant.NewWithPayload(w.All)
	if w.Fields != nil {
		payload = qdrant.NewWithPayloadInclude(w.Fields...)
	}
	if w.Dense {
		return payload, qdrant.NewWithVectorsInclude(denseVector)
	}
	return payload, qdrant.NewWithVectors(false)
}

func (c *clause) rpc() *qdrant.Filter {
	if c == nil {
		return nil
	}
	list := func(cs []condition) (out []*qdrant.Condition) {
		for _, x := range cs {
			out = append(out, x.rpc())
		}
		return out
	}
	return &qdrant.Filter{Must: list(c.Must), Should: list(c.Should), MustNot: list(c.MustNot)}
}

func (c condition) rpc() *qdrant.Condition {
	switch {
	case c.Empty != nil:
		return qdrant.NewIsEmpty(c.Empty.Key)
	case c.Nested != nil:
		return qdrant.NewNestedFilter(c.Nested.Key, c.Nested.Filter.rpc())
	case c.Match != nil && c.Match.Bool != nil:
		return qdrant.NewMatchBool(c.Key, *c.Match.Bool)
	case c.Match != nil && c.Match.Integers != nil:
		return qdrant.NewMatchInts(c.Key, c.Match.Integers...)
	case c.Match != nil:
		return qdrant.NewMatchKeywords(c.Key, c.Match.Keywords...)
	case c.Range != nil:
		return qdrant.NewRange(c.Key, &qdrant.Range{Gt: c.Range.GT, Gte: c.Range.GTE, Lt: c.Range.LT, Lte: c.Range.LTE})
	}
	return qdrant.NewFilterAsCondition(c.clause.rpc())
}

func (r *rpc) count(ctx context.Context, collection string, where *clause) (int64, error) {
	n, err := r.client.Count(ctx, &qdrant.CountPoints{CollectionName: collection, Filter: where.rpc(), Exact: qdrant.PtrOf(true)})
	return int64(n), answered(ctx, err)
}

func (r *rpc) scroll(ctx context.Context, collection string, q scrollQuery) (page, error) {
	payload, vectors := q.Want.rpc()
	in := &qdrant.ScrollPoints{CollectionName: collection, Filter: q.Where.rpc(), Limit: some(q.Limit), WithPayload: payload, WithVectors: vectors}
	if q.Offset != "" {
		in.Offset = qdrant.NewID(q.Offset)
	}
	found, next, err := r.client.ScrollAndOffset(ctx, in)
	if err != nil {
		return page{}, answered(ctx, err)
	}
	p := page{Next: next.GetUuid()}
	for _, x := range found {
		one, err := pointOf(x.GetId(), x.GetPayload(), x.GetVectors(), 0)
		if err != nil {
			return page{}, err
		}
		p.Points = append(p.Points, one)
	}
	return p, nil
}

func (r *rpc) points(ctx context.Context, collection string, ids []string, w want) ([]point, error) {
	payload, vectors := w.rpc()
	found, err := r.client.Get(ctx, &qdrant.GetPoints{CollectionName: collection, Ids: idsOf(ids), WithPayload: payload, WithVectors: vectors})
	if err != nil {
		return nil, answered(ctx, err)
	}
	out := make([]point, len(found))
	for i, x := range found {
		if out[i], err = pointOf(x.GetId(), x.GetPayload(), x.GetVectors(), 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *rpc) nearest(ctx context.Context, collection string, q nearestQuery) ([]point, error) {
	payload, vectors := q.Want.rpc()
	in := &qdrant.QueryPoints{CollectionName: collection, Query: qdrant.NewQueryDense(q.Dense), Using: qdrant.PtrOf(denseVector), Filter: q.Where.rpc(),
		Limit: qdrant.PtrOf(uint64(q.Limit)), Params: &qdrant.SearchParams{Exact: qdrant.PtrOf(!q.Approximate)}, WithPayload: payload, WithVectors: vectors}
	if q.Dense == nil {
		in.Query, in.Using = qdrant.NewQuerySparse(q.Words.Indices, q.Words.Values), qdrant.PtrOf(wordsVector)
	}
	found, err := r.client.Query(ctx, in)
	if err != nil {
		return nil, answered(ctx, err)
	}
	out := make([]point, len(found))
	for i, x := range found {
		if out[i], err = pointOf(x.GetId(), x.GetPayload(), x.GetVectors(), x.GetScore()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *rpc) facet(ctx context.Context, collection string, q facetQuery) ([]facetHit, error) {
	found, err := r.client.Facet(ctx, &qdrant.FacetCounts{CollectionName: collection, Key: q.Key, Filter: q.Where.rpc(), Limit: qdrant.PtrOf(uint64(q.Limit)), Exact: qdrant.PtrOf(true)})
	if err != nil {
		return nil, answered(ctx, err)
	}
	out := make([]facetHit, len(found))
	for i, x := range found {
		var value any
		switch v := x.GetValue().GetVariant().(type) {
		case *qdrant.FacetValue_StringValue:
			value = v.StringValue
		case *qdrant.FacetValue_IntegerValue:
			value = v.IntegerValue
		case *qdrant.FacetValue_BoolValue:
			value = v.BoolValue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		out[i] = facetHit{Value: raw, Count: int64(x.GetCount())}
	}
	return out, nil
}

func (r *rpc) aliases(ctx context.Context) (map[string]string, error) {
	list, err := r.client.ListAliases(ctx)
	out := map[string]string{}
	for _, a := range list {
		out[a.GetAliasName()] = a.GetCollectionName()
	}
	return out, answered(ctx, err)
}

func (r *rpc) alias(ctx context.Context, name, collection string, replaces bool) error {
	var actions []*qdrant.AliasOperations
	if replaces {
		actions = append(actions, &qdrant.AliasOperations{Action: &qdrant.AliasOperations_DeleteAlias{DeleteAlias: &qdrant.DeleteAlias{AliasName: name}}})
	}
	actions = append(actions, &qdrant.AliasOperations{Action: &qdrant.AliasOperations_CreateAlias{CreateAlias: &qdrant.CreateAlias{AliasName: name, CollectionName: collection}}})
	return answered(ctx, r.client.UpdateAliases(ctx, actions))
}
