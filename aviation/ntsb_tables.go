package aviation

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/table"
)

// sideTable is a table of the NTSB's database beside those of events and aircraft, or one
// that was made of several: what its rows say of an event.
type sideTable struct {
	name  string
	needs []string // columns it is known by, as letters and digits
	kind  string
	skip  string // why its rows say nothing of their own; "" where they do
	read  func(row sideRow, e *event, r rank) error
}

// sideTables in the order they are looked for.
var sideTables = []sideTable{
	{name: "recommendations", needs: []string{"ntsbno", "eventid", "findings"}, kind: fromRecommendations, read: readRecommendation},
	{name: "findings", needs: []string{"evid", "findingdescription"}, kind: fromTables, read: readFinding},
	{name: "narratives", needs: []string{"evid", "narraccp"}, kind: fromTables, read: readNarratives},
	{name: "engines", needs: []string{"evid", "engno", "engtype"}, kind: fromTables, read: readEngine},
	{name: "injuries", needs: []string{"evid", "injpersoncategory"}, kind: fromTables, skip: "the totals of injuries stand in the table of events"},
	{name: "countries", needs: []string{"countrycode", "countryname"}, kind: fromTables, skip: codeTable},
	{name: "states", needs: []string{"state", "name", "faaregion"}, kind: fromTables, skip: codeTable},
	{name: "codes", needs: []string{"code", "meaning"}, kind: fromTables, skip: codeTable},
}

const codeTable = "a code table explains codes and tells of no event"

// sideTableOf finds the table that a header belongs to, nil if to none.
func sideTableOf(header []string) *sideTable {
	columns := columnsOf(header)
	for i := range sideTables {
		if !slices.ContainsFunc(sideTables[i].needs, func(need string) bool { _, ok := columns[need]; return !ok }) {
			return &sideTables[i]
		}
	}
	return nil
}

// columnsOf finds columns by their names' letters and digits; of two the first counts.
func columnsOf(header []string) map[string]int {
	out := map[string]int{}
	for i, name := range header {
		key := strings.ToLower(filter.Squeeze.Of(name))
		if _, taken := out[key]; !taken {
			out[key] = i
		}
	}
	return out
}

// sideRow is a row with its columns by name.
type sideRow struct {
	columns map[string]int
	cells   []string
}

func (row sideRow) cell(name string) string {
	if i, ok := row.columns[name]; ok && i < len(row.cells) {
		return row.cells[i]
	}
	return ""
}

// ending returns the first cell whose column's name ends so.
func (row sideRow) ending(end string) string {
	for name, i := range row.columns {
		if strings.HasSuffix(name, end) && i < len(row.cells) {
			return row.cells[i]
		}
	}
	return ""
}

// sideInput is a file of a sideTable.
type sideInput struct {
	*table.File
	*caseFinder
	*sideTable
	columns map[string]int
	how     reading
}

// Name implements source.Input.
func (in *sideInput) Name() string { return in.Blob.Name }

// Kind implements source.Input.
func (in *sideInput) Kind() string {
	if in.kind == fromTables {
		return "ntsb-" + in.kind + "-" + in.name
	}
	return "ntsb-" + in.kind
}

// Size implements source.Input.
func (in *sideInput) Size() int64 { return in.Blob.Size }

// Digest implements source.Input.
func (in *sideInput) Digest(ctx context.Context) (string, error) { return in.Blob.Digest(ctx) }

// Items implements source.Input.
func (in *sideInput) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		source.ReadEach(in.Rows(ctx, after), func(row table.Row) (source.Item, error) { return in.item(ctx, row) }, yield)
	}
}

func (in *sideInput) item(ctx context.Context, row table.Row) (source.Item, error) {
	switch {
	case row.Problem != "":
		return source.Refuse(row.At, row.Next, row.Problem), nil
	case row.Blank != "":
		return source.Skip(row.At, row.Next, row.Blank), nil
	case in.skip != "":
		return source.Skip(row.At, row.Next, in.skip), nil
	}
	cells := sideRow{in.columns, row.Cells}
	id, err := eventID(cells.cell("evid") + cells.cell("eventid"))
	if err != nil {
		return source.Refuse(row.At, row.Next, err.Error()), nil //nolint:nilerr // it is the record that is wrong
	}
	e := event{id: id, own: claims{}, aircraft: map[string]claims{}, findings: map[string]claims{}, texts: claims{}, sources: []string{in.kind}, uri: in.Name()}
	r := rank{kind: in.kind}
	if d, ok := table.ParseDate(clean(cells.cell("lchgdate")), table.DayFirst, in.how.now); ok {
		r.published = d.Time().Format(time.DateOnly)
	}
	if err := in.sideTable.read(cells, &e, r); err != nil {
		return source.Refuse(row.At, row.Next, err.Error()), nil //nolint:nilerr // it is the record that is wrong
	}
	return in.caseFinder.item(ctx, row.At, row.Next, e)
}

// readNarratives reads the running texts of one aircraft of an event. The database has a
// cause only where the case is closed.
func readNarratives(row sideRow, e *event, r rank) error {
	if cleanText(row.cell("narrcause")) != "" {
		r.status = "Probable Cause"
	}
	for column, kind := range map[string]string{"narraccp": partNarrative, "narraccf": partFactual, "narrcause": partCause} {
		if text := cleanText(row.cell(column)); text != "" {
			e.texts[kind] = textClaim(text, r)
		}
	}
	if text := cleanText(row.cell("narrinc")); text != "" && e.texts[partNarrative].values == nil {
		e.texts[partNarrative] = textClaim(text, r)
	}
	return nil
}

var errNoFinding = errors.New("the row has no finding")

// readFinding reads one coded finding of an aircraft.
func readFinding(row sideRow, e *event, r rank) error {
	cs := finding(row.cell("findingdescription"))
	if cs == nil {
		return errNoFinding
	}
	set := func(field string, v filter.Value) { cs[field] = claim{values: []filter.Value{v}} }
	if mark := causeFactor(row.cell("causefactor")); mark != "" {
		set("cause_factor", filter.OfString(mark))
	}
	if code := clean(row.cell("findingcode")); code != "" {
		set("finding_code", filter.OfString(code))
	}
	if n, ok := readCount(clean(row.cell("findingno"))); ok {
		aircraft, _ := readCount(clean(row.cell("aircraftkey")))
		set("finding_order", filter.OfInt(n+1000*max(aircraft-1, 0)))
	}
	cs.stamp(r)
	e.findings[findingKey(cs)] = cs
	return nil
}

// readEngine reads the first engine of an aircraft; the others are of its type.
func readEngine(row sideRow, e *event, r rank) error {
	order, ok := readCount(clean(row.cell("aircraftkey")))
	if !ok || order == 0 {
		return errors.New("the row does not say of which aircraft")
	}
	reader := cellReader{rank: r}
	cs := claims{}
	if first, err := strconv.Atoi(strings.TrimSuffix(clean(row.cell("engno")), ".0")); err == nil && first == 1 {
		reader.claim(cs, "engine_type", row.cell("engtype"))
	}
	if len(cs) == 0 {
		return nil
	}
	cs["aircraft_order"] = claim{values: []filter.Value{filter.OfInt(order)}, rank: r}
	e.aircraft[elementKey(cs)] = cs
	return nil
}

// readRecommendation reads a case with its findings and a safety recommendation it led to.
func readRecommendation(row sideRow, e *event, r rank) error {
	number, err := eventID(row.cell("ntsbno"))
	if err != nil {
		return err
	}
	e.cases = []string{caseNumber(number)}
	cause := cleanText(unmangle(row.cell("probablecause")))
	if cause == "" {
		cause = cleanText(unmangle(row.ending("narrcause")))
	}
	if cause != "" {
		r.status = "Probable Cause"
		e.texts[partCause] = textClaim(cause, r)
	}
	e.findings = readFindings(unmangle(row.cell("findings")), r)
	if text := cleanText(unmangle(row.ending("recommendation"))); text != "" {
		e.advice = []string{strings.Join(strings.Fields(text), " ")}
		e.own["safety_recommendation"] = claim{values: []filter.Value{filter.OfString("yes")}, rank: r}
	}
	return nil
}

// unmangle mends text that was read in a wrong encoding twice: what is left of a character
// nobody can tell any more are these three. Between letters it was an apostrophe.
func unmangle(s string) string {
	const lost = "ï¿½"
	for {
		i := strings.Index(s, lost)
		if i < 0 {
			return s
		}
		with := ""
		if i > 0 && i+len(lost) < len(s) && isWordByte(s[i-1]) && isWordByte(s[i+len(lost)]) {
			with = "'"
		}
		s = s[:i] + with + s[i+len(lost):]
	}
}

func isWordByte(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
