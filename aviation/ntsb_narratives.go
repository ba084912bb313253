package aviation

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/table"
)

// narrative is one line of a narrative file: an event with its running texts. Phase,
// purpose and operating rule are given once for all aircraft. Numbers may come as
// strings or as numbers.
type narrative struct {
	EventID       string  `json:"event_id"`
	EventDate     cell    `json:"event_date"`
	Location      cell    `json:"location"`
	Country       cell    `json:"country"`
	Latitude      cell    `json:"latitude"`
	Longitude     cell    `json:"longitude"`
	Airport       cell    `json:"airport"`
	AirportName   cell    `json:"airport_name"`
	Investigation cell    `json:"investigation_type"`
	Severity      cell    `json:"injury_severity"`
	Fatal         cell    `json:"fatal"`
	Serious       cell    `json:"serious"`
	Minor         cell    `json:"minor"`
	Uninjured     cell    `json:"uninjured"`
	Weather       cell    `json:"weather"`
	Phase         cell    `json:"phase"`
	Purpose       cell    `json:"purpose"`
	FAR           cell    `json:"far"`
	Status        cell    `json:"report_status"`
	Aircraft      []craft `json:"aircraft"`
	Narrative     string  `json:"narrative"`
	Cause         string  `json:"probable_cause"`
}

type craft struct {
	Number       cell `json:"accident_number"`
	Registration cell `json:"registration"`
	Make         cell `json:"make"`
	Model        cell `json:"model"`
	Damage       cell `json:"damage"`
	Category     cell `json:"category"`
	EngineType   cell `json:"engine_type"`
	Engines      cell `json:"engines"`
	Amateur      cell `json:"amateur_built"`
	Carrier      cell `json:"carrier"`
}

// cell is a JSON string, number or null read as the text of a table cell.
type cell string

// UnmarshalJSON implements json.Unmarshaler.
func (c *cell) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		return json.Unmarshal(data, (*string)(c))
	case 'n':
		return nil
	case '{', '[':
		return fmt.Errorf("an object or list where a value belongs")
	}
	*c = cell(data)
	return nil
}

// looksLikeNarrative reports whether a line is a narrative record; if not, it names
// the keys there are.
func looksLikeNarrative(line []byte) (keys string, ok bool) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil {
		return "(none: the line is no JSON object)", false
	}
	if _, ok := object["event_id"]; !ok {
		return shortList(slices.Sorted(maps.Keys(object))), false
	}
	return "", true
}

// narrativeInput is a file of narrative records.
type narrativeInput struct {
	*table.Lines
	*caseFinder
	how    reading
	unread unread
}

func newNarrativeInput(b source.Blob, finder *caseFinder, now time.Time) *narrativeInput {
	return &narrativeInput{Lines: &table.Lines{Blob: b}, caseFinder: finder, how: reading{now: now}}
}

// Name implements source.Input.
func (in *narrativeInput) Name() string { return in.Blob.Name }

// Kind implements source.Input.
func (in *narrativeInput) Kind() string { return "ntsb-" + fromNarratives }

// Size implements source.Input.
func (in *narrativeInput) Size() int64 { return in.Blob.Size }

// Digest implements source.Input.
func (in *narrativeInput) Digest(ctx context.Context) (string, error) { return in.Blob.Digest(ctx) }

// Items implements source.Input.
func (in *narrativeInput) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		in.unread = unread{}
		source.ReadEach(in.All(ctx, after), func(line table.Line) (source.Item, error) { return in.item(ctx, line) }, yield)
	}
}

func (in *narrativeInput) item(ctx context.Context, line table.Line) (source.Item, error) {
	switch {
	case line.Problem != "":
		return source.Refuse(line.At, line.Next, line.Problem), nil
	case line.Blank != "":
		return source.Skip(line.At, line.Next, line.Blank), nil
	}
	e, odd, err := in.event(line.Data)
	if err != nil {
		return source.Refuse(line.At, line.Next, err.Error()), nil //nolint:nilerr // it is the record that is wrong
	}
	in.unread.add(line.At.Line+1, odd)
	return in.caseFinder.item(ctx, line.At, line.Next, e)
}

// event reads a line as an event.
func (in *narrativeInput) event(data []byte) (event, []string, error) {
	var n narrative
	if err := json.Unmarshal(data, &n); err != nil {
		return event{}, nil, fmt.Errorf("no narrative record: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	id, err := eventID(n.EventID)
	if err != nil {
		return event{}, nil, err
	}
	r := cellReader{reading: in.how}
	e := event{
		id: id, own: n.claims(&r), whole: n.whole(&r), aircraft: map[string]claims{},
		texts:   claims{},
		sources: []string{fromNarratives}, uri: in.Name(),
	}
	for kind, text := range map[string]string{partNarrative: cleanText(n.Narrative), partCause: cleanText(n.Cause)} {
		if text != "" {
			e.texts[kind] = textClaim(text, rank{})
		}
	}
	for _, c := range n.Aircraft {
		cs := c.claims(&r)
		e.aircraft[elementKey(cs)] = cs
	}
	if len(e.aircraft) == 0 {
		e.aircraft[anonymous] = claims{}
	}
	r.settle(e.own)
	return e, r.odd, nil
}

func (n *narrative) claims(r *cellReader) claims {
	return r.all(map[string]cell{
		"event_date": n.EventDate, "location": n.Location, "country": n.Country, "latitude": n.Latitude, "longitude": n.Longitude,
		"airport_code": n.Airport, "airport_name": n.AirportName, "investigation_type": n.Investigation, "severity": n.Severity,
		"fatal_count": n.Fatal, "serious_count": n.Serious, "minor_count": n.Minor, "uninjured_count": n.Uninjured,
		"weather": n.Weather, "report_status": n.Status,
	})
}

func (n *narrative) whole(r *cellReader) claims {
	return r.all(map[string]cell{"phase": n.Phase, "purpose": n.Purpose, "far_description": n.FAR})
}

func (c *craft) claims(r *cellReader) claims {
	return r.all(map[string]cell{
		"accident_number": c.Number, "registration": c.Registration, "make_recorded": c.Make, "model": c.Model, "damage": c.Damage,
		"aircraft_category": c.Category, "engine_type": c.EngineType, "engine_count": c.Engines, "amateur_built": c.Amateur, "operator": c.Carrier,
	})
}

func (r *cellReader) all(cells map[string]cell) claims {
	out := claims{}
	for field, c := range cells {
		r.claim(out, field, string(c))
	}
	return out
}
