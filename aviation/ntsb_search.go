package aviation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
)

// maxSearch bounds an answer of the search service, unpacked: some 20 records take 30 kB.
const maxSearch = 256 << 20

// searchInput is an answer of CAROL's search service: JSON with a list of results, each
// of them fields by name with their values.
type searchInput struct {
	blob     source.Blob
	consumed atomic.Int64
	warnings []string
	*caseFinder
	how    reading
	unread unread
}

// searchField is one field of a result.
type searchField struct {
	Name   string `json:"FieldName"`
	Values []cell `json:"Values"`
}

// isSearch reports whether a JSON file is an answer of the search service: it begins with
// its results.
func isSearch(b source.Blob) bool {
	in, err := b.Stream(nil)
	if err != nil {
		return false
	}
	defer func() { _ = in.Close() }()
	d := json.NewDecoder(io.LimitReader(in, 1<<20))
	return enterResults(d) == nil
}

var errNoSearch = errors.New("no answer of the CAROL search service: it has no list of Results")

// enterResults reads up to the first result.
func enterResults(d *json.Decoder) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errNoSearch
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return errNoSearch
		}
		if name == "Results" {
			if t, err := d.Token(); err != nil || t != json.Delim('[') {
				return errNoSearch
			}
			return nil
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return errNoSearch
		}
	}
	return errNoSearch
}

// Name implements source.Input.
func (in *searchInput) Name() string { return in.blob.Name }

// Kind implements source.Input.
func (in *searchInput) Kind() string { return "ntsb-" + fromSearch }

// Size implements source.Input.
func (in *searchInput) Size() int64 { return in.blob.Size }

// Digest implements source.Input.
func (in *searchInput) Digest(ctx context.Context) (string, error) { return in.blob.Digest(ctx) }

// Consumed implements source.Input.
func (in *searchInput) Consumed() int64 { return in.consumed.Load() }

// Notes implements source.Input.
func (in *searchInput) Notes() source.Notes {
	return source.Notes{Encoding: "UTF-8", Warnings: append(in.warnings, in.unread.warnings()...)}
}

// Items implements source.Input.
func (in *searchInput) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		in.unread, in.warnings = unread{}, nil
		stream, err := in.blob.Stream(&in.consumed)
		if err != nil {
			yield(source.Item{}, err)
			return
		}
		defer func() { _ = stream.Close() }()
		d := json.NewDecoder(io.LimitReader(stream, maxSearch))
		if err := enterResults(d); err != nil {
			yield(source.Item{}, fmt.Errorf("read %s: %w", in.Name(), err))
			return
		}
		at := source.Position{Offset: d.InputOffset()}
		for d.More() && ctx.Err() == nil {
			item, err := in.next(ctx, d, &at)
			if err != nil {
				yield(source.Item{}, err)
				return
			}
			if item.At.Record < after.Record {
				continue
			}
			if !yield(item, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(source.Item{}, err)
			return
		}
		in.finish(d)
	}
}

// next reads a result. One that is broken off ends the file.
func (in *searchInput) next(ctx context.Context, d *json.Decoder, at *source.Position) (source.Item, error) {
	var result struct{ Fields []searchField }
	from := *at
	err := d.Decode(&result)
	*at = source.Position{Record: from.Record + 1, Offset: d.InputOffset()}
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return source.Item{}, fmt.Errorf("read %s: the file is cut off or damaged at byte %d", in.Name(), d.InputOffset())
	case err != nil:
		return source.Refuse(from, *at, "the result is not made of fields"), nil
	}
	record := carolRecord{}
	for _, f := range result.Fields {
		field := carolField[strings.ToLower(filter.Squeeze.Of(f.Name))]
		if _, taken := record[field]; field == "" || taken || len(f.Values) == 0 {
			continue
		}
		values := make([]string, len(f.Values))
		for i, v := range f.Values {
			values[i] = string(v)
		}
		record[field] = strings.Join(values, ",")
	}
	// The search gives the day alone, as midnight of the East Coast in UTC.
	record["DATE"], _, _ = strings.Cut(record["DATE"], "T")
	return in.read(ctx, from, *at, record, fromSearch, in.Name(), in.how, &in.unread)
}

// finish notes how many cases the search found besides those it lists.
func (in *searchInput) finish(d *json.Decoder) {
	if _, err := d.Token(); err != nil {
		in.warnings = append(in.warnings, "The file is cut off after its last complete result.")
		return
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return
		}
		if name == "MaxResultCountReached" && string(value) == "true" {
			in.warnings = append(in.warnings, "The search found more cases than it lists.")
		}
	}
}
