package chroma

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"

	"github.com/sextant-rag/sextant/store"
)

// remote is a collection of the server's.
type remote struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Metadata  map[string]any `json:"metadata"`
	Dimension *int           `json:"dimension"`
}

func (c *client) collection(ctx context.Context, name string) (remote, error) {
	var r remote
	err := c.read(ctx, http.MethodGet, "/collections/"+url.PathEscape(name), nil, &r)
	if err == nil && (r.ID == "" || r.Name != name) {
		err = badAnswer("a collection")
	}
	return r, err
}

func badAnswer(what string) error {
	return fmt.Errorf("chroma: an answer that is not %s: %w", what, store.ErrUnavailable)
}

// collections lists all there are, by pages.
func (c *client) collections(ctx context.Context) ([]remote, error) {
	const page = 200
	var all []remote
	for {
		var some []remote
		if err := c.read(ctx, http.MethodGet, fmt.Sprintf("/collections?limit=%d&offset=%d", page, len(all)), nil, &some); err != nil {
			return nil, err
		}
		if some == nil {
			return nil, badAnswer("a list of collections")
		}
		if all = append(all, some...); len(some) < page {
			return all, nil
		}
	}
}

// graph is how the server indexes vectors. By inner product, not cosine: rounded to half
// floats a vector's length is off by some 1e-4, and the server would divide by it. What it leaves out is made up for by asking
// for more and scoring here; more neighbours make that rare.
var graph = map[string]any{"hnsw": map[string]any{"space": "ip", "ef_construction": 200, "ef_search": 256, "max_neighbors": 32}}

// create makes a collection, or returns the one of that name.
func (c *client) create(ctx context.Context, name string, metadata map[string]any) (remote, error) {
	in := map[string]any{"name": name, "get_or_create": true, "configuration": graph}
	if metadata != nil {
		in["metadata"] = metadata
	}
	var r remote
	err := c.write(ctx, http.MethodPost, "/collections", in, &r)
	if err == nil && (r.ID == "" || r.Name != name) {
		err = badAnswer("a collection")
	}
	return r, err
}

func (c *client) setMetadata(ctx context.Context, id string, metadata map[string]any) error {
	return c.write(ctx, http.MethodPut, "/collections/"+id, map[string]any{"new_metadata": metadata}, nil)
}

func (c *client) rename(ctx context.Context, id, name string) error {
	return c.write(ctx, http.MethodPut, "/collections/"+id, map[string]any{"new_name": name}, nil)
}

// drop removes a collection by its name; one that is not there is no error.
func (c *client) drop(ctx context.Context, name string) error {
	return missingIsFine(c.write(ctx, http.MethodDelete, "/collections/"+url.PathEscape(name), nil, nil))
}

// records are rows as they are added.
type records struct {
	IDs        []string  `json:"ids"`
	Embeddings []string  `json:"embeddings"` // base64 of little-endian float32
	Metadatas  []values  `json:"metadatas"`
	Documents  []string  `json:"documents"`
	URIs       []*string `json:"uris,omitempty"`
}

// values are a record's metadata, in JSON.
type values = json.RawMessage

func (r *records) add(id string, vector []float32, metadata values, text string, uri *string) {
	r.IDs = append(r.IDs, id)
	r.Embeddings = append(r.Embeddings, packVector(vector))
	r.Metadatas = append(r.Metadatas, metadata)
	r.Documents = append(r.Documents, text)
	r.URIs = append(r.URIs, uri)
}

func packVector(v []float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// Limits of one request: the server takes 40 MB, and a statement 32,766 variables.
const (
	maxRecords = 1000
	maxBytes   = 8 << 20
	maxIDs     = 16_000
)

// add writes records in as many requests as they need. Of ids that are there the old
// record stays, which is what makes trying again harmless. The server is asked for all of
// them afterwards: something in between may have said yes without asking it.
func (c *client) add(ctx context.Context, id string, r records) error {
	for from := 0; from < len(r.IDs); {
		to, size := from, 0
		for to < len(r.IDs) && to-from < maxRecords && (to == from || size < maxBytes) {
			size += len(r.IDs[to]) + len(r.Embeddings[to]) + len(r.Metadatas[to]) + len(r.Documents[to])
			if r.URIs[to] != nil {
				size += len(*r.URIs[to])
			}
			to++
		}
		part := records{r.IDs[from:to], r.Embeddings[from:to], r.Metadatas[from:to], r.Documents[from:to], r.URIs[from:to]}
		if err := c.write(ctx, http.MethodPost, "/collections/"+id+"/add", part, nil); err != nil {
			return err
		}
		g, err := c.get(ctx, id, selection{IDs: part.IDs})
		if err != nil {
			return err
		}
		if len(g.IDs) != len(part.IDs) {
			return fmt.Errorf("chroma: %d of %d records are on the server after they were added: %w", len(g.IDs), len(part.IDs), store.ErrUnavailable)
		}
		from = to
	}
	return nil
}

// put replaces one record, whose keys are the same every time, and reads it back.
func (c *client) put(ctx context.Context, id string, r records) error {
	if err := c.write(ctx, http.MethodPost, "/collections/"+id+"/upsert", r, nil); err != nil {
		return err
	}
	g, err := c.get(ctx, id, selection{IDs: r.IDs, Include: []string{"metadatas"}})
	if err != nil {
		return err
	}
	if len(g.IDs) != 1 || !holds(g.Metadatas[0], r.Metadatas[0]) {
		return fmt.Errorf("chroma: a record is not on the server as it was put there: %w", store.ErrUnavailable)
	}
	return nil
}

// holds reports whether a JSON object has all members of another. It may have more: of a
// record that was deleted, Chroma 1.5.9 leaves the lists behind, and a new record that gets
// its row inherits them.
func holds(got, want []byte) bool {
	var x, y map[string]any
	if json.Unmarshal(got, &x) != nil || json.Unmarshal(want, &y) != nil {
		return false
	}
	for k, v := range y {
		if !reflect.DeepEqual(x[k], v) {
			return false
		}
	}
	return true
}

// remove deletes records by id.
func (c *client) remove(ctx context.Context, id string, ids []string) error {
	for len(ids) > 0 {
		n := min(len(ids), 5000)
		if err := c.write(ctx, http.MethodPost, "/collections/"+id+"/delete", map[string]any{"ids": ids[:n]}, nil); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// got are records as they are read. What was not asked for is nil.
type got struct {
	IDs        []string          `json:"ids"`
	Embeddings [][]float32       `json:"embeddings"`
	Metadatas  []json.RawMessage `json:"metadatas"`
	Documents  []*string         `json:"documents"`
	URIs       []*string         `json:"uris"`
}

// selection says which records to read: by ids, by a condition, or all.
type selection struct {
	IDs     []string `json:"ids,omitempty"`
	Where   any      `json:"where,omitempty"`
	Limit   int      `json:"limit,omitempty"`
	Offset  int      `json:"offset,omitempty"`
	Include []string `json:"include"`
}

// get reads records. Its order is that of adding, whatever the order of ids.
func (c *client) get(ctx context.Context, id string, s selection) (got, error) {
	if s.Include == nil {
		s.Include = []string{}
	}
	var g got
	if err := c.read(ctx, http.MethodPost, "/collections/"+id+"/get", s, &g); err != nil {
		return g, err
	}
	sized := g.IDs != nil
	for _, what := range s.Include {
		switch what {
		case "embeddings":
			sized = sized && len(g.Embeddings) == len(g.IDs)
		case "metadatas":
			sized = sized && len(g.Metadatas) == len(g.IDs)
		case "documents":
			sized = sized && len(g.Documents) == len(g.IDs)
		case "uris":
			sized = sized && len(g.URIs) == len(g.IDs)
		}
	}
	if !sized {
		return g, badAnswer("a list of records")
	}
	return g, nil
}

// ids lists the ids of a selection, by pages that a server answers in time.
func (c *client) ids(ctx context.Context, id string, where any) ([]string, error) {
	const page = 50_000
	var all []string
	for {
		g, err := c.get(ctx, id, selection{Where: where, Limit: page, Offset: len(all)})
		if err != nil {
			return nil, err
		}
		if all = append(all, g.IDs...); len(g.IDs) < page {
			return all, nil
		}
	}
}

// near is a record that a vector search found.
type near struct {
	id       string
	distance float64 // 1 - inner product, as float32 arithmetic had it
}

// query returns the n nearest records the graph finds.
func (c *client) query(ctx context.Context, id string, vector []float32, n int, where any) ([]near, error) {
	in := struct {
		Embeddings [][]float32 `json:"query_embeddings"`
		N          int         `json:"n_results"`
		Where      any         `json:"where,omitempty"`
		Include    []string    `json:"include"`
	}{[][]float32{vector}, n, where, []string{"distances"}}
	var out struct {
		IDs       [][]string   `json:"ids"`
		Distances [][]*float64 `json:"distances"`
	}
	if err := c.read(ctx, http.MethodPost, "/collections/"+id+"/query", in, &out); err != nil {
		return nil, err
	}
	if len(out.IDs) != 1 || len(out.Distances) != 1 || len(out.IDs[0]) != len(out.Distances[0]) {
		return nil, badAnswer("the result of a search")
	}
	hits := make([]near, len(out.IDs[0]))
	for i, id := range out.IDs[0] {
		if out.Distances[0][i] == nil {
			return nil, badAnswer("the result of a search")
		}
		hits[i] = near{id, *out.Distances[0][i]}
	}
	return hits, nil
}
