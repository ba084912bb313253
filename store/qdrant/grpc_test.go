//go:build qdrant_grpc

package qdrant_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"

	api "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	rpcstatus "google.golang.org/grpc/status"

	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/qdrant"
	"github.com/sextant-rag/sextant/store/storetest"
)

// bridge answers gRPC with what the fake answers to the same request over REST.
type bridge struct{ f *fake }

// Points and collections are two services, both of which have a method Delete.
type pointsServer struct {
	api.UnimplementedPointsServer
	bridge
}

type collectionsServer struct {
	api.UnimplementedCollectionsServer
	bridge
}

// overGRPC serves a fake by gRPC and returns its address.
func overGRPC(t testing.TB, f *fake) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	api.RegisterPointsServer(s, &pointsServer{bridge: bridge{f}})
	api.RegisterCollectionsServer(s, &collectionsServer{bridge: bridge{f}})
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return "grpc://" + l.Addr().String()
}

type fields = map[string]any

func decodeNumbers(raw []byte, out any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(out)
}

// ask sends the fake a request and reads its result.
func (b bridge) ask(method, name, route string, body fields, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	var q request
	if err := decodeNumbers(raw, &q); err != nil {
		return err
	}
	b.f.mu.Lock()
	defer b.f.mu.Unlock()
	result, err := b.f.collection(method, name, route, &q)
	var bad refused
	switch {
	case errors.As(err, &bad) && bad.status == http.StatusNotFound:
		return rpcstatus.Error(codes.NotFound, bad.said)
	case errors.As(err, &bad) && bad.status == http.StatusConflict:
		return rpcstatus.Error(codes.AlreadyExists, bad.said)
	case err != nil:
		return rpcstatus.Error(codes.InvalidArgument, err.Error())
	case out == nil:
		return nil
	}
	if raw, err = json.Marshal(result); err != nil {
		return err
	}
	return decodeNumbers(raw, out)
}

func filterOf(f *api.Filter) fields {
	if f == nil {
		return nil
	}
	out := fields{}
	for name, list := range map[string][]*api.Condition{"must": f.Must, "should": f.Should, "must_not": f.MustNot} {
		var cs []any
		for _, c := range list {
			cs = append(cs, conditionOf(c))
		}
		if cs != nil {
			out[name] = cs
		}
	}
	return out
}

func conditionOf(c *api.Condition) fields {
	switch k := c.ConditionOneOf.(type) {
	case *api.Condition_Filter:
		return filterOf(k.Filter)
	case *api.Condition_IsEmpty:
		return fields{"is_empty": fields{"key": k.IsEmpty.Key}}
	case *api.Condition_Nested:
		return fields{"nested": fields{"key": k.Nested.Key, "filter": filterOf(k.Nested.Filter)}}
	}
	f := c.GetField()
	if r := f.GetRange(); r != nil {
		bounds := fields{}
		for name, x := range map[string]*float64{"gt": r.Gt, "gte": r.Gte, "lt": r.Lt, "lte": r.Lte} {
			if x != nil {
				bounds[name] = *x
			}
		}
		return fields{"key": f.Key, "range": bounds}
	}
	switch m := f.GetMatch().GetMatchValue().(type) {
	case *api.Match_Boolean:
		return fields{"key": f.Key, "match": fields{"value": m.Boolean}}
	case *api.Match_Keyword:
		return fields{"key": f.Key, "match": fields{"value": m.Keyword}}
	case *api.Match_Integer:
		return fields{"key": f.Key, "match": fields{"value": m.Integer}}
	case *api.Match_Integers:
		return fields{"key": f.Key, "match": fields{"any": m.Integers.Integers}}
	}
	return fields{"key": f.Key, "match": fields{"any": f.GetMatch().GetKeywords().GetStrings()}}
}

func wanted(p *api.WithPayloadSelector, v *api.WithVectorsSelector) (payload, vector any) {
	payload = p.GetEnable()
	if p.GetInclude() != nil {
		payload = p.GetInclude().Fields
	}
	return payload, v.GetInclude() != nil
}

func plainValue(v *api.Value) any {
	switch k := v.GetKind().(type) {
	case *api.Value_BoolValue:
		return k.BoolValue
	case *api.Value_IntegerValue:
		return k.IntegerValue
	case *api.Value_DoubleValue:
		return k.DoubleValue
	case *api.Value_StringValue:
		return k.StringValue
	case *api.Value_ListValue:
		list := []any{}
		for _, x := range k.ListValue.Values {
			list = append(list, plainValue(x))
		}
		return list
	case *api.Value_StructValue:
		out := fields{}
		for name, x := range k.StructValue.Fields {
			out[name] = plainValue(x)
		}
		return out
	}
	return nil
}

func valueOf(v any) *api.Value {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return api.NewValueInt(n)
		}
		x, _ := v.Float64()
		return api.NewValueDouble(x)
	case []any:
		list := &api.ListValue{}
		for _, x := range v {
			list.Values = append(list.Values, valueOf(x))
		}
		return &api.Value{Kind: &api.Value_ListValue{ListValue: list}}
	case map[string]any:
		out := &api.Struct{Fields: map[string]*api.Value{}}
		for name, x := range v {
			out.Fields[name] = valueOf(x)
		}
		return &api.Value{Kind: &api.Value_StructValue{StructValue: out}}
	}
	out, err := api.NewValue(v)
	if err != nil {
		panic(err)
	}
	return out
}

func outputs(p fakePoint) (map[string]*api.Value, *api.VectorsOutput) {
	payload := map[string]*api.Value{}
	for name, v := range p.Payload {
		payload[name] = valueOf(v)
	}
	var dense []float32
	if raw := p.Vector["dense"]; raw == nil || json.Unmarshal(raw, &dense) != nil {
		return payload, nil
	}
	named := map[string]*api.VectorOutput{"dense": {Vector: &api.VectorOutput_Dense{Dense: &api.DenseVector{Data: dense}}}}
	return payload, &api.VectorsOutput{VectorsOptions: &api.VectorsOutput_Vectors{Vectors: &api.NamedVectorsOutput{Vectors: named}}}
}

func (b *collectionsServer) List(context.Context, *api.ListCollectionsRequest) (*api.ListCollectionsResponse, error) {
	return &api.ListCollectionsResponse{}, nil
}

func (b *collectionsServer) Create(_ context.Context, r *api.CreateCollection) (*api.CollectionOperationResponse, error) {
	vectors := fields{}
	for name, v := range r.GetVectorsConfig().GetParamsMap().GetMap() {
		vectors[name] = fields{"Size": v.Size}
	}
	return &api.CollectionOperationResponse{Result: true}, b.ask(http.MethodPut, r.CollectionName, "", fields{"vectors": vectors}, nil)
}

func (b *collectionsServer) Delete(_ context.Context, r *api.DeleteCollection) (*api.CollectionOperationResponse, error) {
	return &api.CollectionOperationResponse{Result: true}, b.ask(http.MethodDelete, r.CollectionName, "", nil, nil)
}

func (b *collectionsServer) CollectionExists(_ context.Context, r *api.CollectionExistsRequest) (*api.CollectionExistsResponse, error) {
	var out struct{ Exists bool }
	err := b.ask(http.MethodGet, r.CollectionName, "exists", nil, &out)
	return &api.CollectionExistsResponse{Result: &api.CollectionExists{Exists: out.Exists}}, err
}

func (b *collectionsServer) ListAliases(context.Context, *api.ListAliasesRequest) (*api.ListAliasesResponse, error) {
	b.f.mu.Lock()
	defer b.f.mu.Unlock()
	out := &api.ListAliasesResponse{}
	for alias, c := range b.f.aliases {
		out.Aliases = append(out.Aliases, &api.AliasDescription{AliasName: alias, CollectionName: c})
	}
	return out, nil
}

func (b *collectionsServer) UpdateAliases(_ context.Context, r *api.ChangeAliases) (*api.CollectionOperationResponse, error) {
	b.f.mu.Lock()
	defer b.f.mu.Unlock()
	for _, a := range r.Actions {
		if d := a.GetDeleteAlias(); d != nil {
			delete(b.f.aliases, d.AliasName)
			continue
		}
		b.f.aliases[a.GetCreateAlias().AliasName] = a.GetCreateAlias().CollectionName
	}
	return &api.CollectionOperationResponse{Result: true}, nil
}

func (b *pointsServer) CreateFieldIndex(_ context.Context, r *api.CreateFieldIndexCollection) (*api.PointsOperationResponse, error) {
	return &api.PointsOperationResponse{}, b.ask(http.MethodPut, r.CollectionName, "index", fields{"field_name": r.FieldName, "field_schema": r.GetFieldType().String()}, nil)
}

func (b *pointsServer) UpdateBatch(_ context.Context, r *api.UpdateBatchPoints) (*api.UpdateBatchResponse, error) {
	var ops []any
	for _, op := range r.Operations {
		if d := op.GetDeletePoints(); d != nil {
			var ids []string
			for _, id := range d.GetPoints().GetPoints().GetIds() {
				ids = append(ids, id.GetUuid())
			}
			ops = append(ops, fields{"Delete": fields{"Points": ids}})
			continue
		}
		var points []any
		for _, p := range op.GetUpsert().GetPoints() {
			payload, vector := fields{}, fields{}
			for name, v := range p.Payload {
				payload[name] = plainValue(v)
			}
			for name, v := range p.GetVectors().GetVectors().GetVectors() {
				vector[name] = v.GetDense().GetData()
				if s := v.GetSparse(); s != nil {
					vector[name] = fields{"indices": s.Indices, "values": s.Values}
				}
			}
			points = append(points, fields{"id": p.Id.GetUuid(), "payload": payload, "vector": vector})
		}
		ops = append(ops, fields{"Upsert": fields{"Points": points}})
	}
	return &api.UpdateBatchResponse{}, b.ask(http.MethodPost, r.CollectionName, "points/batch", fields{"operations": ops}, nil)
}

func (b *pointsServer) Count(_ context.Context, r *api.CountPoints) (*api.CountResponse, error) {
	var out struct{ Count uint64 }
	err := b.ask(http.MethodPost, r.CollectionName, "points/count", fields{"filter": filterOf(r.Filter)}, &out)
	return &api.CountResponse{Result: &api.CountResult{Count: out.Count}}, err
}

func (b *pointsServer) Scroll(_ context.Context, r *api.ScrollPoints) (*api.ScrollResponse, error) {
	payload, vector := wanted(r.WithPayload, r.WithVectors)
	var got struct {
		Points []fakePoint
		Next   string `json:"next_page_offset"`
	}
	err := b.ask(http.MethodPost, r.CollectionName, "points/scroll", fields{"filter": filterOf(r.Filter), "limit": r.GetLimit(), "offset": r.GetOffset().GetUuid(), "with_payload": payload, "with_vector": vector}, &got)
	out := &api.ScrollResponse{}
	if got.Next != "" {
		out.NextPageOffset = api.NewID(got.Next)
	}
	for _, p := range got.Points {
		payload, vectors := outputs(p)
		out.Result = append(out.Result, &api.RetrievedPoint{Id: api.NewID(p.ID), Payload: payload, Vectors: vectors})
	}
	return out, err
}

func (b *pointsServer) Get(_ context.Context, r *api.GetPoints) (*api.GetResponse, error) {
	payload, vector := wanted(r.WithPayload, r.WithVectors)
	var ids []string
	for _, id := range r.Ids {
		ids = append(ids, id.GetUuid())
	}
	var got []fakePoint
	err := b.ask(http.MethodPost, r.CollectionName, "points", fields{"ids": ids, "with_payload": payload, "with_vector": vector}, &got)
	out := &api.GetResponse{}
	for _, p := range got {
		payload, vectors := outputs(p)
		out.Result = append(out.Result, &api.RetrievedPoint{Id: api.NewID(p.ID), Payload: payload, Vectors: vectors})
	}
	return out, err
}

func (b *pointsServer) Query(_ context.Context, r *api.QueryPoints) (*api.QueryResponse, error) {
	payload, vector := wanted(r.WithPayload, r.WithVectors)
	in := r.GetQuery().GetNearest()
	query := any(in.GetDense().GetData())
	if s := in.GetSparse(); s != nil {
		query = fields{"indices": s.Indices, "values": s.Values}
	}
	var got struct{ Points []fakePoint }
	err := b.ask(http.MethodPost, r.CollectionName, "points/query", fields{"query": query, "using": r.GetUsing(), "filter": filterOf(r.Filter), "limit": r.GetLimit(), "with_payload": payload, "with_vector": vector}, &got)
	out := &api.QueryResponse{}
	for _, p := range got.Points {
		payload, vectors := outputs(p)
		out.Result = append(out.Result, &api.ScoredPoint{Id: api.NewID(p.ID), Payload: payload, Vectors: vectors, Score: float32(p.Score)})
	}
	return out, err
}

func (b *pointsServer) Facet(_ context.Context, r *api.FacetCounts) (*api.FacetResponse, error) {
	var got struct {
		Hits []struct {
			Value any
			Count uint64
		}
	}
	err := b.ask(http.MethodPost, r.CollectionName, "facet", fields{"key": r.Key, "filter": filterOf(r.Filter), "limit": r.GetLimit()}, &got)
	out := &api.FacetResponse{}
	for _, h := range got.Hits {
		value := &api.FacetValue{}
		switch v := h.Value.(type) {
		case bool:
			value.Variant = &api.FacetValue_BoolValue{BoolValue: v}
		case string:
			value.Variant = &api.FacetValue_StringValue{StringValue: v}
		case json.Number:
			n, err := v.Int64()
			if err != nil {
				return nil, fmt.Errorf("facet of %v: %w", v, err)
			}
			value.Variant = &api.FacetValue_IntegerValue{IntegerValue: n}
		}
		out.Hits = append(out.Hits, &api.FacetHit{Value: value, Count: h.Count})
	}
	return out, err
}

func TestConformanceGRPC(t *testing.T) {
	t.Parallel()
	storetest.RunWith(t, opener(overGRPC(t, newFake(t))), qdrantDiffers)
}

func TestTroubleOverGRPC(t *testing.T) {
	s := open(t, qdrant.Options{URL: "grpc://127.0.0.1:1"})
	if err := s.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("nobody listens: %v", err)
	}
}
