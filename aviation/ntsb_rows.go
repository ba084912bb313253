package aviation

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/table"
)

// rowInput is a table with a row for each aircraft of an event.
type rowInput struct {
	*table.File
	columns columns
	now     time.Time
	doubts  []string
	unread  unread
}

// Name implements source.Input.
func (in *rowInput) Name() string { return in.Blob.Name }

// Kind implements source.Input.
func (in *rowInput) Kind() string { return "ntsb-" + fromRows }

// Size implements source.Input.
func (in *rowInput) Size() int64 { return in.Blob.Size }

// Digest implements source.Input.
func (in *rowInput) Digest(ctx context.Context) (string, error) { return in.Blob.Digest(ctx) }

// publishedOrder is how the published file writes its dates of publication; event
// dates are ISO there, and month first where other exports write numbers.
const publishedOrder = table.DayFirst

// Items implements source.Input. The file is read through once before, to tell how its
// dates are written.
func (in *rowInput) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		in.unread = unread{}
		how, err := in.reading(ctx)
		if err != nil {
			yield(source.Item{}, err)
			return
		}
		for row, err := range in.Rows(ctx, after) {
			if err != nil {
				yield(source.Item{}, err)
				return
			}
			if !yield(in.item(row, how), nil) {
				return
			}
		}
	}
}

func (in *rowInput) reading(ctx context.Context) (reading, error) {
	how := reading{now: in.now, order: map[string]table.Order{}}
	in.doubts = nil
	orders, doubts, err := in.DateOrders(ctx, slices.Sorted(maps.Values(in.columns.dates)), publishedOrder)
	if err != nil {
		return how, err
	}
	in.doubts = doubts
	for field, column := range in.columns.dates {
		how.order[field] = orders[column]
	}
	return how, nil
}

func (in *rowInput) item(row table.Row, how reading) source.Item {
	switch {
	case row.Problem != "":
		return source.Refuse(row.At, row.Next, row.Problem)
	case row.Blank != "":
		return source.Skip(row.At, row.Next, row.Blank)
	}
	e, odd, err := in.event(row.Cells, how)
	if err != nil {
		return source.Refuse(row.At, row.Next, err.Error())
	}
	in.unread.add(row.At.Line+1, odd)
	return item(row.At, row.Next, e)
}

// event reads a row as an event with one aircraft.
func (in *rowInput) event(cells []string, how reading) (event, []string, error) {
	r := cellReader{reading: how, rank: rank{row: true}}
	own, aircraft := claims{}, claims{}
	var id, city, state string
	for i, cell := range cells {
		switch field := in.columns.fields[i]; {
		case field == "" || cell == "":
		case field == "event_id":
			id = cell
		case field == "ev_city":
			city = clean(cell)
		case field == "ev_state":
			state = clean(cell)
		case slices.Contains(elementFields, field):
			r.claim(aircraft, field, cell)
		default:
			r.claim(own, field, cell)
		}
	}
	id, err := eventID(id)
	if err != nil {
		return event{}, nil, err
	}
	in.locate(&r, own, city, state)
	r.settle(own, aircraft)
	e := event{id: id, own: own, aircraft: map[string]claims{elementKey(aircraft): aircraft}, sources: []string{fromRows}, uri: in.Name()}
	return e, r.odd, nil
}

// locate makes a location of the NTSB tables' two columns. Where the file names no
// countries, a state is one of the United States.
func (in *rowInput) locate(r *cellReader, own claims, city, state string) {
	if _, ok := own["location"]; ok || city == "" && state == "" {
		return
	}
	state = strings.ToUpper(state)
	r.claim(own, "location", strings.Trim(city+", "+state, ", "))
	if city == "" && state != "" {
		r.claim(own, "location", ", "+state)
	}
	if !slices.Contains(in.columns.fields, "country") && len(state) == 2 {
		r.claim(own, "country", "United States")
	}
}

// Notes implements source.Input.
func (in *rowInput) Notes() source.Notes {
	n := in.File.Notes()
	if repeated := in.Repeated(); len(repeated) > 0 {
		n.Warnings = append(n.Warnings, "Columns stand more than once, the first counts: "+shortList(repeated)+".")
	}
	if unused := slices.DeleteFunc(slices.Clone(in.columns.unused), func(name string) bool { return slices.Contains(in.Repeated(), name) }); len(unused) > 0 {
		n.Warnings = append(n.Warnings, "Columns not used: "+shortList(unused)+".")
	}
	n.Warnings = append(append(n.Warnings, in.doubts...), in.unread.warnings()...)
	return n
}
