package aviation

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/table"
)

// rowInput is a table with a row for each aircraft of an event.
type rowInput struct {
	*table.File
	*caseFinder
	columns columns
	kind    string // fromRows or fromTables
	now     time.Time
	doubts  []string
	unread  unread
}

// Name implements source.Input.
func (in *rowInput) Name() string { return in.Blob.Name }

// Kind implements source.Input.
func (in *rowInput) Kind() string { return "ntsb-" + in.kind }

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
		source.ReadEach(in.Rows(ctx, after), func(row table.Row) (source.Item, error) { return in.item(ctx, row, how) }, yield)
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

func (in *rowInput) item(ctx context.Context, row table.Row, how reading) (source.Item, error) {
	switch {
	case row.Problem != "":
		return source.Refuse(row.At, row.Next, row.Problem), nil
	case row.Blank != "":
		return source.Skip(row.At, row.Next, row.Blank), nil
	}
	e, odd, err := in.event(row.Cells, how)
	if err != nil {
		return source.Refuse(row.At, row.Next, err.Error()), nil //nolint:nilerr // it is the record that is wrong
	}
	in.unread.add(row.At.Line+1, odd)
	return in.caseFinder.item(ctx, row.At, row.Next, e)
}

// event reads a row as an event with one aircraft. A row of the database's table of events
// has none.
func (in *rowInput) event(cells []string, how reading) (event, []string, error) {
	r := cellReader{reading: how, rank: rank{kind: in.kind}}
	own, aircraft, apart := claims{}, claims{}, map[string]string{}
	for i, cell := range cells {
		switch field := in.columns.fields[i]; {
		case field == "" || cell == "":
		case slices.Contains(apartFields, field):
			apart[field] = clean(cell)
		case slices.Contains(elementFields, field):
			r.claim(aircraft, field, cell)
		default:
			r.claim(own, field, cell)
			if field == "severity" && in.kind == fromTables {
				r.claim(own, "highest_injury", cell)
			}
		}
	}
	id, err := eventID(apart["event_id"])
	if err != nil {
		return event{}, nil, err
	}
	in.locate(&r, own, apart["ev_city"], apart["ev_state"])
	e := event{id: id, own: own, aircraft: map[string]claims{}, sources: []string{in.kind}, uri: in.Name()}
	if in.kind == fromTables {
		ofTables(&r, own, aircraft)
	}
	r.settle(own, aircraft)
	if in.kind == fromTables {
		asChanged(apart["changed"], how, own, aircraft)
	}
	if _, numbered := aircraft["accident_number"]; numbered && len(aircraft) == 1 && in.kind == fromTables {
		e.cases = []string{caseNumber(aircraft["accident_number"].values[0].Str())}
		return e, r.odd, nil
	}
	e.aircraft[elementKey(aircraft)] = aircraft
	return e, r.odd, nil
}

// apartFields are columns that become no field as they are.
var apartFields = []string{"event_id", "ev_city", "ev_state", "changed"}

// ofTables reads what the database's own tables write otherwise: the worst injury as a
// code, with zeros for counts that nobody knows where it is blank, and one number for all
// aircraft of a case, of which the second is B.
func ofTables(r *cellReader, own, aircraft claims) {
	if _, ok := own["severity"]; !ok {
		for _, field := range []string{"fatal_count", "serious_count", "minor_count", "uninjured_count"} {
			if c, ok := own[field]; ok && c.values[0].Int() == 0 {
				delete(own, field)
			}
		}
	}
	if c, ok := own["investigation_type"]; ok && c.values[0].Str() == "incident" {
		r.claim(own, "severity", "Incident")
	}
	order, ordered := aircraft["aircraft_order"]
	if number, ok := aircraft["accident_number"]; ok && ordered && order.values[0].Int() > 1 && !lettered.MatchString(filter.Squeeze.Of(number.values[0].Str())) {
		r.claim(aircraft, "accident_number", number.values[0].Str()+letter(int(order.values[0].Int())-1))
	}
}

// asChanged ranks the claims of a row of the tables by the date of its last change.
func asChanged(changed string, how reading, all ...claims) {
	d, ok := table.ParseDate(changed, table.DayFirst, how.now)
	if !ok {
		return
	}
	for _, cs := range all {
		cs.stamp(rank{kind: fromTables, published: d.Time().Format(time.DateOnly)})
	}
}

// locate makes a location of the NTSB tables' two columns. Where the file names no
// countries, a state is one of the United States.
func (in *rowInput) locate(r *cellReader, own claims, city, state string) {
	if _, ok := own["location"]; ok || city == "" && state == "" {
		return
	}
	country := ""
	if c, ok := own["country"]; ok {
		country = c.values[0].Str()
	}
	if code := stateCode(state); code != "" && !slices.Contains(in.columns.fields, "country") {
		country = "United States"
		r.claim(own, "country", country)
	}
	r.claim(own, "location", location(city, state, country))
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
