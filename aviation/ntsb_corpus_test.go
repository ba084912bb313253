package aviation

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
)

// shared returns a path below the folder of shared data, or skips the test.
func shared(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("SEXTANT_SHARED")
	if dir == "" {
		dir = moduleRoot(t) + "/../shared"
	}
	path := filepath.Join(append([]string{dir, "data"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs %s in the shared data (SEXTANT_SHARED)", filepath.Join(parts...))
	}
	return path
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != "/" {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("no go.mod above the tests")
	return ""
}

// corpus is every document of the full AviationData file and the six narrative files.
type corpus struct {
	docs   map[sextant.DocumentID]*sextant.Document
	items  map[string]int
	joined map[string]int
	other  []string
}

var loadCorpus = sync.OnceValues(func() (*corpus, error) {
	c := &corpus{docs: map[sextant.DocumentID]*sextant.Document{}, items: map[string]int{}, joined: map[string]int{}}
	s, err := OpenNTSB(corpusPaths...)
	if err != nil {
		return nil, err
	}
	inputs, err := s.Inputs(context.Background())
	if err != nil {
		return nil, err
	}
	for _, in := range inputs {
		if err := c.read(in); err != nil {
			return nil, err
		}
	}
	return c, nil
})

var corpusPaths []string // set by the first test that loads the corpus

func (c *corpus) read(in source.Input) error {
	for item, err := range in.Items(context.Background(), source.Position{}) {
		if err != nil {
			return err
		}
		if item.Contribution == nil {
			c.other = append(c.other, fmt.Sprintf("%s line %d: %s %s", in.Name(), item.At.Line+1, item.Outcome, item.Reason))
			continue
		}
		doc, joined, err := item.Contribution.Merge(c.docs[item.ID])
		if err != nil {
			return err
		}
		c.items[in.Kind()]++
		if joined {
			c.joined[in.Kind()]++
		}
		c.docs[item.ID] = &doc
	}
	return nil
}

func full(t *testing.T) *corpus {
	t.Helper()
	rows := shared(t, "ntsb-aviationdata", "AviationData-2017.csv.gz")
	narratives, err := filepath.Glob(filepath.Join(shared(t, "ntsb-narratives"), "*.jsonl.gz"))
	if err != nil || len(narratives) != 6 {
		t.Skipf("needs the six files of ntsb-narratives, found %d", len(narratives))
	}
	if testing.Short() {
		t.Skip("reads 126,066 records")
	}
	corpusPaths = append([]string{rows}, narratives...)
	c, err := loadCorpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryRecordOfTheFullFilesIsAccountedFor(t *testing.T) {
	c := full(t)
	want := map[string]int{"ntsb-aviationdata": 79_557, "ntsb-narratives": 46_509}
	if diff := cmp.Diff(want, c.items); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"ntsb-aviationdata": 1_152, "ntsb-narratives": 46_509}, c.joined); diff != "" {
		t.Errorf("joined (-want +got):\n%s", diff)
	}
	if len(c.other) > 0 || len(c.docs) != 78_405 {
		t.Errorf("%d documents, refused or skipped: %q", len(c.docs), c.other)
	}
	schema := Incidents().Schema
	for id, d := range c.docs {
		if err := schema.Check(d.Meta); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if filled := d.Meta.Fields["filled"]; len(filled) > 0 {
			t.Fatalf("%s: the narratives are said to fill %v, but their rows have it all", id, filled)
		}
	}
}

// rawCounts counts events by field and value straight from the file, by the rules the
// gold questions were counted by; it shares no code with what is tested.
func rawCounts(t *testing.T) map[string]map[string]int {
	f, err := os.Open(shared(t, "ntsb-aviationdata", "AviationData-2017.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(charmap.Windows1252.NewDecoder().Reader(z)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]map[string]bool{}
	for _, row := range rows[1:] {
		r := map[string]string{}
		for i, name := range rows[0] {
			r[name] = strings.TrimSpace(strings.ReplaceAll(row[i], "\x7f", "")) // stray DELs in three cells
		}
		for field, value := range rawValues(r) {
			if value == "" {
				continue
			}
			if seen[field] == nil {
				seen[field] = map[string]map[string]bool{}
			}
			if seen[field][value] == nil {
				seen[field][value] = map[string]bool{}
			}
			seen[field][value][r["Event.Id"]] = true
		}
	}
	out := map[string]map[string]int{}
	for field, values := range seen {
		out[field] = map[string]int{}
		for v, events := range values {
			out[field][v] = len(events)
		}
	}
	return out
}

var (
	rawPart  = regexp.MustCompile(`^Part (\d+)`)
	rawBlank = regexp.MustCompile(`\s+`)
	rawOther = regexp.MustCompile(`[^A-Z0-9]`)
)

func rawValues(r map[string]string) map[string]string {
	location, state := r["Location"], ""
	i := strings.LastIndex(location, ",")
	tail := strings.ToUpper(strings.TrimSpace(location[i+1:]))
	if len(tail) == 2 && rawOther.ReplaceAllString(tail, "") == tail && strings.EqualFold(r["Country"], "united states") {
		state = tail
	}
	city := location[:max(i, 0)]
	if city == "" {
		city = location
	}
	severity := map[string]string{"Non-Fatal": "nonfatal", "Incident": "incident", "Unavailable": "unavailable"}[r["Injury.Severity"]]
	if strings.HasPrefix(r["Injury.Severity"], "Fatal(") {
		severity = "fatal"
	}
	part := ""
	if m := rawPart.FindStringSubmatch(r["FAR.Description"]); m != nil {
		part = m[1]
	}
	code := strings.ToUpper(r["Airport.Code"])
	if len(code) == 4 && code[0] == 'K' {
		code = code[1:]
	}
	published := ""
	if p := strings.Split(r["Publication.Date"], "-"); len(p) == 3 {
		published = p[2] + "-" + p[1] + "-" + p[0]
	}
	return map[string]string{
		"year": r["Event.Date"][:4], "event_date": r["Event.Date"], "event_month": strings.TrimPrefix(r["Event.Date"][5:7], "0"),
		"state": state, "city": rawBlank.ReplaceAllString(strings.ToUpper(strings.TrimSpace(city)), " "), "country": r["Country"],
		"make": strings.ToUpper(rawBlank.ReplaceAllString(r["Make"], " ")), "model": rawOther.ReplaceAllString(strings.ToUpper(r["Model"]), ""),
		"severity": severity, "far_part": part, "airport_code": code, "publication_date": published,
		"fatal_count": r["Total.Fatal.Injuries"], "serious_count": r["Total.Serious.Injuries"], "minor_count": r["Total.Minor.Injuries"], "uninjured_count": r["Total.Uninjured"],
		"investigation_type": strings.ToLower(r["Investigation.Type"]), "damage": strings.ToLower(r["Aircraft.damage"]), "aircraft_category": r["Aircraft.Category"],
		"amateur_built": strings.ToLower(r["Amateur.Built"]), "engine_count": r["Number.of.Engines"], "engine_type": r["Engine.Type"], "schedule": r["Schedule"],
		"purpose": r["Purpose.of.flight"], "operator": strings.ToUpper(rawBlank.ReplaceAllString(r["Air.carrier"], " ")), "weather": r["Weather.Condition"],
		"phase": r["Broad.phase.of.flight"], "report_status": r["Report.Status"], "accident_number": r["Accident.Number"],
		"registration": rawOther.ReplaceAllString(strings.ToUpper(r["Registration.Number"]), ""),
	}
}

// storedCounts counts events by field and value in the documents.
func storedCounts(c *corpus) map[string]map[string]int {
	out := map[string]map[string]int{}
	schema := Incidents().Schema
	count := func(seen map[string]bool, field, value string) {
		if key := field + "\x00" + value; !seen[key] && value != "" {
			seen[key] = true
			if out[field] == nil {
				out[field] = map[string]int{}
			}
			out[field][value]++
		}
	}
	for _, d := range c.docs {
		seen := map[string]bool{}
		if date := d.Meta.Fields.One("event_date"); !date.IsZero() {
			count(seen, "year", date.String()[:4])
		}
		for _, f := range schema.Fields {
			for _, v := range d.Meta.Values(f) {
				text := v.String()
				if f.Fold != filter.Exact && f.Name != "aircraft_category" && f.Name != "country" {
					text = fold(f, text)
				}
				count(seen, f.Name, text)
			}
		}
	}
	return out
}

// fold writes a value as rawValues does.
func fold(f filter.Field, text string) string {
	switch f.Name {
	case "city", "operator":
		return filter.Case.Of(text)
	case "model", "registration":
		return rawOther.ReplaceAllString(strings.ToUpper(text), "")
	}
	return text
}

func TestCountsEqualTheRawFiles(t *testing.T) {
	c := full(t)
	raw, stored := rawCounts(t), storedCounts(c)
	groups := makeGroups()
	for maker, spellings := range groups {
		events := 0 // of one event with two spellings of one maker there would be too many: checked below
		for _, s := range spellings {
			events += raw["make"][s]
		}
		if got := stored["make"][maker]; got > events || got < events-60 {
			t.Errorf("make %s: %d events, its spellings have %d", maker, got, events)
		}
		for _, s := range spellings {
			delete(raw["make"], s)
		}
		delete(stored["make"], maker)
	}
	for code, n := range stored["far_part"] { // 91K counts as 91 too
		if strings.TrimRight(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != code {
			t.Logf("far_part %s: %d events", code, n)
			delete(stored["far_part"], code)
		}
	}
	dropped := map[string]int{}
	for _, field := range []string{"airport_code", "registration"} { // words that say there is none
		for v := range raw[field] {
			none := field == "airport_code" && noAirport[filter.Squeeze.Of(v)] || field == "registration" && readRegistration(v) == ""
			if none || spreadsheetNumber.MatchString(v) {
				dropped[field] += raw[field][v]
				delete(raw[field], v)
			}
		}
	}
	t.Logf("values that say there is none: %v", dropped)
	for field := range raw {
		if !maps.Equal(raw[field], stored[field]) {
			t.Errorf("%s (-raw +stored):\n%.2000s", field, cmp.Diff(raw[field], stored[field]))
		}
	}
}

// goldQuestion is one of the counting questions made for the full file.
type goldQuestion struct {
	ID          string
	Question    string
	Constraints []struct {
		Field, Op string
		Value     any
	}
	Count         int
	CountAircraft int `json:"count_aircraft"`
}

// Every gold count is reproduced by its conditions over the schema: what remains for
// the rest of the system is to read the conditions out of the question.
func TestGoldCountsFollowFromTheSchema(t *testing.T) {
	c := full(t)
	schema := Incidents().Schema
	docs := slices.Collect(maps.Values(c.docs))
	for _, q := range goldQuestions(t) {
		own, aircraft := filter.And{}, filter.And{}
		for _, k := range q.Constraints {
			f, ok := schema.Field(k.Field)
			if !ok {
				t.Errorf("%s: no field %s", q.ID, k.Field)
				continue
			}
			if f.Group == "" {
				own = append(own, goldCondition(t, f, k.Op, k.Value))
			} else {
				aircraft = append(aircraft, goldCondition(t, f, k.Op, k.Value))
			}
		}
		all, err := schema.Resolve(append(own, filter.Each{Group: Aircraft, Filter: aircraft}))
		if err != nil {
			t.Fatalf("%s: %v", q.ID, err)
		}
		events, elements := 0, 0
		for _, d := range docs {
			if !schema.Match(all, d.Meta) {
				continue
			}
			events++
			for i := range d.Meta.Groups[Aircraft] {
				if schema.MatchElement(all, d.Meta, Aircraft, i) {
					elements++
				}
			}
		}
		if events != q.Count || elements != q.CountAircraft {
			t.Errorf("%s %q: %d events, %d aircraft; gold says %d, %d", q.ID, q.Question, events, elements, q.Count, q.CountAircraft)
		}
	}
}

func goldQuestions(t *testing.T) []goldQuestion {
	f, err := os.Open(shared(t, "gold", "counts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []goldQuestion
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var q goldQuestion
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	if len(out) == 0 {
		t.Fatal("no questions")
	}
	return out
}

func goldCondition(t *testing.T, f filter.Field, op string, value any) filter.Filter {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	typed := make([]filter.Value, len(values))
	for i, v := range values {
		typed[i] = goldValue(t, f, v)
	}
	var any filter.Filter = filter.In{Field: f.Name, Values: typed}
	switch op {
	case "gte":
		return filter.Range{Field: f.Name, Lo: typed[0]}
	case "lte":
		return filter.Range{Field: f.Name, Hi: typed[0]}
	case "between":
		return filter.Range{Field: f.Name, Lo: typed[0], Hi: typed[1]}
	case "contains", "not_contains":
		or := filter.Or{}
		for _, v := range typed {
			or = append(or, filter.Contains{Field: f.Name, Sub: v.Str()})
		}
		any = or
	}
	if f.Name == "airport" { // a name need only contain it
		any = filter.Or{any, filter.Contains{Field: "airport_name", Sub: typed[0].Str()}}
	}
	if strings.HasPrefix(op, "not_") {
		return filter.And{filter.Exists{Field: f.Name}, filter.Not{Filter: any}}
	}
	return any
}

func goldValue(t *testing.T, f filter.Field, v any) filter.Value {
	text := fmt.Sprint(v)
	if n, ok := v.(float64); ok {
		text = strconv.FormatInt(int64(n), 10)
	}
	out, err := filter.Parse(f.Kind, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
