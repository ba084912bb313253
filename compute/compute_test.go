package compute_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/compute"
	"github.com/sextant-rag/sextant/constrain"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/store/sqlite"
)

// Orders with several lines each: the group that most tables have.
var orders = sextant.Collection{
	Name: "orders", Title: "orders", Role: sextant.RoleEvents, Unit: "orders", DateField: "day",
	Schema: filter.Schema{
		Groups: []filter.Group{{Name: "lines", Label: "lines"}},
		Fields: []filter.Field{
			{Name: "day", Kind: filter.Time}, {Name: "city", Label: "city", Kind: filter.Keyword, Facet: true}, {Name: "total", Label: "total", Kind: filter.Int},
			{Name: "item", Label: "item", Kind: filter.Keyword, Facet: true, Group: "lines"}, {Name: "colour", Label: "colour", Kind: filter.Keyword, Facet: true, Group: "lines"},
		},
	},
}

var lexicon = &constrain.Lexicon{Dates: "day", EventNouns: []string{"order"}, Units: map[string]string{"lines": "lines"},
	Measures: []constrain.Measure{{Field: "total", After: []string{"spent"}}}, Grave: "total", Summed: map[string]bool{"total": true},
	Groupings: map[string]constrain.Grouping{"year": {Name: "year", Field: "day", By: "year"}, "city": {Name: "city", Field: "city"}, "item": {Name: "item", Field: "item"}, "month": {Name: "month", Field: "day", By: "month_of_year"}}}

type order struct {
	day, city string
	total     int64    // 0: not recorded
	lines     []string // "item/colour"
}

func meta(o order) filter.Meta {
	m := filter.Meta{Fields: filter.Fields{}, Groups: map[string][]filter.Fields{}}
	when, _ := time.Parse(time.DateOnly, o.day)
	m.Fields.Set("day", filter.OfTime(when))
	if o.city != "" {
		m.Fields.Set("city", filter.OfString(o.city))
	}
	if o.total > 0 {
		m.Fields.Set("total", filter.OfInt(o.total))
	}
	for _, l := range o.lines {
		e := filter.Fields{}
		for i, name := range []string{"item", "colour"} {
			if v := slices.Collect(splitSeq(l))[i]; v != "" {
				e.Set(name, filter.OfString(v))
			}
		}
		m.Groups["lines"] = append(m.Groups["lines"], e)
	}
	return m
}

func splitSeq(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := range s {
			if s[i] == '/' {
				_ = yield(s[:i]) && yield(s[i+1:])
				return
			}
		}
	}
}

// shop is a store with orders in it.
type shop struct {
	collection store.Collection
	parser     *constrain.Parser
	metas      []filter.Meta
}

func open(t testing.TB, os []order) shop {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c, err := s.Ensure(ctx, orders)
	if err != nil {
		t.Fatal(err)
	}
	sh := shop{collection: c}
	sh.fill(t, os)
	return sh
}

// fatal is what both testing.TB and rapid.T can do.
type fatal interface {
	Helper()
	Fatal(args ...any)
}

func (s *shop) fill(t fatal, os []order) {
	t.Helper()
	ctx := context.Background()
	var records []store.Record
	s.metas = nil
	for i, o := range os {
		d := sextant.Document{ID: sextant.DocumentID(fmt.Sprintf("o:%03d", i)), Collection: "orders", Title: "Order", Text: "An order.", Meta: meta(o)}
		var err error
		if d.Revision, err = d.ComputeRevision(); err != nil {
			t.Fatal(err)
		}
		s.metas = append(s.metas, d.Meta)
		records = append(records, store.Record{Document: d, Chunks: []sextant.Chunk{{ID: sextant.ChunkID(d.ID, 0), DocumentID: d.ID, End: len(d.Text), Content: d.Text}}})
	}
	list, err := s.collection.List(ctx, store.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.collection.Delete(ctx, list.IDs); err != nil {
		t.Fatal(err)
	}
	if err := s.collection.Upsert(ctx, records); err != nil {
		t.Fatal(err)
	}
	v, err := constrain.BuildVocabulary(ctx, []store.Collection{s.collection})
	if err != nil {
		t.Fatal(err)
	}
	s.parser = constrain.NewParser(v, lexicon, nil)
}

// ask computes what a question asks.
func (s *shop) ask(t fatal, question string) sextant.Computed {
	t.Helper()
	ctx := context.Background()
	r := s.parser.Parse(question, time.Date(2013, 1, 1, 0, 0, 0, 0, time.UTC))
	account, err := constrain.Keep(ctx, []store.Collection{s.collection}, s.parser, r, constrain.UserFilter{})
	if err != nil {
		t.Fatal(err)
	}
	f := account.Filters["orders"]
	if f == nil {
		f = filter.All
	}
	out, err := compute.Run(ctx, compute.Request{Collection: s.collection, Parser: s.parser, Reading: r, Parts: account.Parts["orders"], Filter: f, Ledger: account.Ledger})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

var few = []order{
	{"2010-03-01", "Oslo", 5, []string{"pen/red", "ink/blue"}},
	{"2010-07-04", "Oslo", 7, []string{"pen/blue"}},
	{"2012-05-05", "Rome", 0, []string{"pen/red", "pen/red"}},
	{"2012-12-31", "", 4, []string{"ink/"}},
}

func TestRun(t *testing.T) {
	s := open(t, few)
	for _, tt := range []struct {
		question string
		want     sextant.Computed
	}{
		{"How many orders in Oslo?", sextant.Computed{Kind: "count", Unit: "documents", UnitLabel: "orders", Total: 2, IDs: []string{"000", "001"}}},
		{"How many lines with red pen?", sextant.Computed{Kind: "count", Unit: "lines", UnitLabel: "lines", Total: 3, IDs: []string{"000", "002"}}},
		{"How many orders with red pen?", sextant.Computed{Kind: "count", Unit: "documents", UnitLabel: "orders", Total: 2, IDs: []string{"000", "002"}}},
		{"orders with ink, red", sextant.Computed{Kind: "list", Unit: "documents", UnitLabel: "orders", Total: 0, IDs: []string{}}},
		{"orders by year, 2010 to 2012", sextant.Computed{Kind: "group", Unit: "documents", UnitLabel: "orders", Total: 4, GroupBy: "year", Keys: []string{"2010", "2011", "2012"},
			Columns: []string{"year", "orders"}, Rows: [][]any{{"2010", int64(2)}, {"2011", int64(0)}, {"2012", int64(2)}}, Partial: []string{"2010"}, IDs: []string{"000", "001", "002", "003"}}},
		{"orders by city", sextant.Computed{Kind: "group", Unit: "documents", UnitLabel: "orders", Total: 4, Unknown: 1, GroupBy: "city", Columns: []string{"city", "orders"},
			Rows: [][]any{{"Oslo", int64(2)}, {"Rome", int64(1)}}, IDs: []string{"000", "001", "002", "003"}}},
		{"Which item has the most orders?", sextant.Computed{Kind: "top", N: 1, Unit: "documents", UnitLabel: "orders", Total: 4, GroupBy: "item", Columns: []string{"item", "orders"},
			Rows: [][]any{{"pen", int64(3)}}, IDs: []string{"000", "001", "002", "003"}}},
		{"How much was spent: number of spent", sextant.Computed{Kind: "sum", Sum: 16, SumOf: "total", Unknown: 1, Unit: "documents", UnitLabel: "orders", Total: 4, IDs: []string{"000", "001", "002", "003"}}},
		{"What share of the orders in Oslo were in 2010?", sextant.Computed{Kind: "share", Unit: "documents", UnitLabel: "orders", Total: 2, PartCount: 2, Percent: "100.0", Low: "34.2", High: "100.0", IDs: []string{"000", "001"}}},
		{"Oslo versus Rome", sextant.Computed{Kind: "compare", Unit: "documents", UnitLabel: "orders", Total: 3, GroupBy: "city", Keys: []string{"Oslo", "Rome"}, Columns: []string{"city", "orders"},
			Rows: [][]any{{"Oslo", int64(2)}, {"Rome", int64(1)}}, IDs: []string{"000", "001", "002"}}},
		{"the first order of red", sextant.Computed{Kind: "first", N: 1, Date: "2010-03-01", Unit: "documents", UnitLabel: "orders", Total: 2, IDs: []string{"000"}}},
		{"the order with the most spent", sextant.Computed{Kind: "max", N: 1, Value: "7", ValueOf: "total", Unknown: 1, Unit: "documents", UnitLabel: "orders", Total: 4, Columns: []string{"id", "total", "date", "title"},
			Rows: [][]any{{"001", int64(7), "2010-07-04", "Order"}}, IDs: []string{"001"}}},
		{"the order with the lowest spent", sextant.Computed{Kind: "min", N: 1, Value: "4", ValueOf: "total", Unknown: 1, Unit: "documents", UnitLabel: "orders", Total: 4, Columns: []string{"id", "total", "date", "title"},
			Rows: [][]any{{"003", int64(4), "2012-12-31", "Order"}}, IDs: []string{"003"}}},
		{"average spent in Oslo", sextant.Computed{Kind: "mean", Sum: 12, SumOf: "total", Value: "6.00", ValueOf: "total", Unit: "documents", UnitLabel: "orders", Total: 2, IDs: []string{"000", "001"}}},
		{"how many different items", sextant.Computed{Kind: "distinct", Distinct: 2, Unit: "documents", UnitLabel: "orders", Total: 4, GroupBy: "item", Columns: []string{"item", "orders"},
			Rows: [][]any{{"pen", int64(3)}, {"ink", int64(2)}}, IDs: []string{"000", "001", "002", "003"}}},
		{"spent by city", sextant.Computed{Kind: "group", SumOf: "total", Unknown: 1, Unit: "documents", UnitLabel: "orders", Total: 4, GroupBy: "city", Columns: []string{"city", "total"},
			Rows: [][]any{{"Oslo", int64(12)}, {"Rome", int64(0)}}, IDs: []string{"000", "001", "002", "003"}}},
		{"orders by city and item", sextant.Computed{Kind: "group", Unknown: 1, Unit: "documents", UnitLabel: "orders", Total: 4, GroupBy: "city, item", Columns: []string{"city", "item", "orders"},
			Rows: [][]any{{"Oslo", "pen", int64(2)}, {"Oslo", "ink", int64(1)}, {"Rome", "pen", int64(1)}}, IDs: []string{"000", "001", "002", "003"}}},
		{"orders by month and city", sextant.Computed{Kind: "group", Unit: "documents", UnitLabel: "orders", Total: 4, GroupBy: "month, city", Columns: []string{"month", "city", "orders"},
			Rows: [][]any{{"03", "Oslo", int64(1)}, {"05", "Rome", int64(1)}, {"07", "Oslo", int64(1)}}, IDs: []string{"000", "001", "002", "003"}}},
		{"orders by year and month", sextant.Computed{Kind: "group", Unit: "documents", UnitLabel: "orders", Total: 4, GroupBy: "year, month", Columns: []string{"year", "month", "orders"},
			Rows: [][]any{{"2010", "03", int64(1)}, {"2010", "07", int64(1)}, {"2012", "05", int64(1)}, {"2012", "12", int64(1)}}, IDs: []string{"000", "001", "002", "003"}}},
		{"share of red orders by city", sextant.Computed{Kind: "group", Unknown: 1, Unit: "documents", UnitLabel: "orders", Total: 4, GroupBy: "city", Columns: []string{"city", "orders", "in the part", "%", "from %", "to %"},
			Rows: [][]any{{"Oslo", int64(2), int64(1), "50.0", "9.5", "90.5"}, {"Rome", int64(1), int64(1), "100.0", "20.7", "100.0"}}, IDs: []string{"000", "001", "002", "003"}}},
		{"the last two orders", sextant.Computed{Kind: "last", N: 2, Date: "2012-12-31", Unit: "documents", UnitLabel: "orders", Total: 4, Columns: []string{"date", "title", "id"},
			Rows: [][]any{{"2012-12-31", "Order", "003"}, {"2012-05-05", "Order", "002"}}, IDs: []string{"003", "002"}}},
	} {
		got := s.ask(t, tt.question)
		if paged := tt.want.Kind == "last" && tt.want.N > 1; (got.Next != "") != paged {
			t.Errorf("%s: cursor %q, want one only where more follow", tt.question, got.Next)
		}
		got.Title, got.Filter, got.ShareOf, got.Next, got.Method = "", "", "", "", sextant.Method{}
		tt.want.Collection = "orders"
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.question, diff)
		}
	}
}

// The card of a figure names the other figures the same words could mean, and what
// is not known.
func TestMethodCard(t *testing.T) {
	s := open(t, few)
	m := s.ask(t, "orders with red pen in Oslo").Method
	if m.Unit != "orders" || m.Coverage != "2010-03-01 to 2012-12-31" || m.AtLeast {
		t.Errorf("%+v", m)
	}
	lines := s.ask(t, "orders with red pen").Method.OtherCounts
	if len(lines) != 1 || lines[0].Rule != "lines" || lines[0].Count != 3 {
		t.Errorf("other counts %+v", lines)
	}
	unknown := s.ask(t, "How many orders in Rome in 2012?").Method
	if !unknown.AtLeast || len(unknown.Unknown) != 1 {
		t.Errorf("one of two orders of 2012 has no city: %+v", unknown)
	}
}

// Whatever the orders are, totals, breakdowns and sums are those of a plain loop over
// them.
func TestFiguresEqualBruteForce(t *testing.T) {
	s := open(t, few)
	anyOrder := rapid.Custom(func(t *rapid.T) order {
		o := order{day: fmt.Sprintf("201%d-0%d-01", rapid.IntRange(0, 2).Draw(t, "year"), rapid.IntRange(1, 3).Draw(t, "month")), city: rapid.SampledFrom([]string{"", "Oslo", "Rome"}).Draw(t, "city"), total: int64(rapid.IntRange(0, 3).Draw(t, "total"))}
		for range rapid.IntRange(0, 3).Draw(t, "lines") {
			o.lines = append(o.lines, rapid.SampledFrom([]string{"pen/red", "pen/blue", "ink/red", "ink/", "/blue"}).Draw(t, "line"))
		}
		return o
	})
	rapid.Check(t, func(t *rapid.T) {
		os := rapid.SliceOfN(anyOrder, 1, 12).Draw(t, "orders")
		s.fill(t, os)
		for question, f := range map[string]filter.Filter{
			"How many orders with red pen?":           filter.Each{Group: "lines", Filter: filter.And{filter.Eq{Field: "colour", Value: filter.OfString("red")}, filter.Eq{Field: "item", Value: filter.OfString("pen")}}},
			"How many orders in Oslo with no pen?":    nil,
			"orders in Oslo by item":                  filter.Eq{Field: "city", Value: filter.OfString("Oslo")},
			"How many orders not in Rome, since 2011": filter.And{filter.Differs("city", filter.OfString("Rome")), filter.DayRange("day", filter.Date(2011, 1, 1), filter.Value{})},
		} {
			if f == nil {
				continue
			}
			if !known(s.parser, question) {
				continue // a value that no order has is no condition
			}
			got := s.ask(t, question)
			var want int64
			items := map[string]int64{}
			for _, m := range s.metas {
				if !orders.Schema.Match(f, m) {
					continue
				}
				want++
				seen := map[string]bool{}
				for _, e := range m.Groups["lines"] {
					if v := e.One("item").Str(); v != "" && !seen[v] {
						seen[v] = true
						items[v]++
					}
				}
			}
			if got.Total != want {
				t.Fatalf("%s: %d, want %d", question, got.Total, want)
			}
			for _, row := range got.Rows {
				if row[1] != items[row[0].(string)] {
					t.Fatalf("%s: row %v, want %d", question, row, items[row[0].(string)])
				}
			}
		}
	})
}

// known reports whether the orders hold every value the question names.
func known(p *constrain.Parser, question string) bool {
	for _, name := range []struct{ field, value, word string }{{"colour", "red", "red"}, {"item", "pen", "pen"}, {"city", "oslo", "Oslo"}, {"city", "rome", "Rome"}} {
		if _, ok := p.Vocabulary().Lookup(name.field, name.value); !ok && slices.Contains(constrain.Words(question), name.value) {
			return false
		}
	}
	return true
}
