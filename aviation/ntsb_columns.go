package aviation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source/table"
)

// columnField names the field a column feeds, by the column's name reduced to letters
// and digits. The published AviationData file (Event.Id, "Event Id") and the NTSB's own
// tables (ev_id) call the same things differently. evcity and evstate make a location.
var columnField = map[string]string{
	"eventid": "event_id", "evid": "event_id",
	"investigationtype": "investigation_type", "evtype": "investigation_type",
	"accidentnumber": "accident_number", "ntsbno": "accident_number",
	"eventdate": "event_date", "evdate": "event_date",
	"location": "location", "evcity": "ev_city", "evstate": "ev_state",
	"country": "country", "evcountry": "country",
	"latitude": "latitude", "declatitude": "latitude",
	"longitude": "longitude", "declongitude": "longitude",
	"airportcode": "airport_code", "evnraptid": "airport_code",
	"airportname": "airport_name", "aptname": "airport_name", "aptelev": "airport_elevation",
	"evtime": "event_time", "evtmzn": "time_zone",
	"injuryseverity": "severity", "evhighestinjury": "severity",
	"aircraftdamage": "damage", "damage": "damage",
	"aircraftcategory": "aircraft_category", "acftcategory": "aircraft_category",
	"registrationnumber": "registration", "regisno": "registration",
	"make": "make_recorded", "acftmake": "make_recorded",
	"model": "model", "acftmodel": "model", "acftserialno": "serial_number", "serialnumber": "serial_number",
	"amateurbuilt": "amateur_built", "homebuilt": "amateur_built",
	"numberofengines": "engine_count", "numeng": "engine_count",
	"enginetype":     "engine_type",
	"fardescription": "far_description", "farpart": "far_description",
	"schedule": "schedule", "opersched": "schedule",
	"purposeofflight": "purpose", "typefly": "purpose",
	"aircarrier": "operator", "opername": "operator",
	"totalfatalinjuries": "fatal_count", "injtotf": "fatal_count",
	"totalseriousinjuries": "serious_count", "injtots": "serious_count",
	"totalminorinjuries": "minor_count", "injtotm": "minor_count",
	"totaluninjured": "uninjured_count", "injtotn": "uninjured_count",
	"weathercondition": "weather", "wxcondbasic": "weather",
	"broadphaseofflight": "phase",
	"reportstatus":       "report_status",
	"publicationdate":    "publication_date",
	"aircraftkey":        "aircraft_order",
	"lchgdate":           "changed",
}

// columns is a header read as fields.
type columns struct {
	fields []string // by column; "" is not used
	dates  map[string]string
	unused []string
}

// readColumns maps a header. Of two columns for one field the first counts.
func readColumns(header []string) columns {
	c := columns{fields: make([]string, len(header)), dates: map[string]string{}}
	have := columnsOf(header)
	for i, name := range header {
		key := strings.ToLower(filter.Squeeze.Of(name))
		field := columnField[key]
		_, decimal := have["dec"+key] // the tables give positions in degrees and minutes, too
		if field == "" || decimal || slices.Contains(c.fields, field) {
			c.unused = append(c.unused, name)
			continue
		}
		c.fields[i] = field
		if field == "event_date" || field == "publication_date" {
			c.dates[field] = name
		}
	}
	return c
}

// isEvents reports whether the header is one of NTSB events: an id and something else.
func (c columns) isEvents() bool {
	known := 0
	for _, f := range c.fields {
		if f != "" {
			known++
		}
	}
	return known > 1 && slices.Contains(c.fields, "event_id")
}

// reading is how the cells of one file are read.
type reading struct {
	now   time.Time
	order map[string]table.Order // of day and month, by date field
}

// cellReader collects the claims of one record and what could not be read of it.
type cellReader struct {
	reading
	rank rank
	odd  []string
}

// read turns a cell into the values of its field; none if it is blank, says that
// nothing is known, or cannot be read.
func (r *cellReader) read(field, cell string) []filter.Value {
	cell = clean(cell)
	if cell == "" {
		return nil
	}
	cell = spell(field, cell)
	switch field {
	case "event_date", "publication_date", "docket_date":
		return r.date(field, cell)
	case "event_time":
		text, ok := readClock(cell)
		return r.checked(ok, field, cell, filter.OfString(text))
	case "airport_elevation":
		f, err := strconv.ParseFloat(cell, 64)
		return r.checked(err == nil && f > -2000 && f < 30000, field, cell, filter.OfFloat(f))
	case "latitude":
		return r.float(field, cell, 90)
	case "longitude":
		return r.float(field, cell, 180)
	case "fatal_count", "serious_count", "minor_count", "uninjured_count", "engine_count", "aircraft_order":
		n, ok := readCount(cell)
		return r.checked(ok, field, cell, filter.OfInt(n))
	case "severity":
		s, ok := readSeverity(cell)
		return r.checked(ok, field, cell, filter.OfString(s))
	case "airport_code":
		code, ok := readAirportCode(cell)
		if code == "" && ok {
			return nil
		}
		return r.checked(ok, field, cell, filter.OfString(code))
	case "airport_name":
		cell = readAirportName(cell)
	case "registration":
		cell = readRegistration(cell)
	case "highest_injury":
		cell = readLevel(cell)
	case "docket_url", "report_url":
		cell = readLink(cell)
	case "investigation_type", "damage", "amateur_built", "safety_recommendation":
		cell = strings.ToLower(cell)
	case "weather", "phase", "schedule", "time_zone":
		cell = strings.ToUpper(cell)
	}
	if cell == "" {
		return nil
	}
	return []filter.Value{filter.OfString(cell)}
}

func (r *cellReader) date(field, cell string) []filter.Value {
	d, ok := table.ParseDate(cell, r.order[field], r.now)
	if !ok || d.Time().After(r.now) {
		return r.checked(false, field, cell, filter.Value{})
	}
	if field != "event_date" {
		return []filter.Value{filter.OfTime(d.Time())}
	}
	return dateValues(d.Time(), d.Precision())
}

func (r *cellReader) float(field, cell string, limit float64) []filter.Value {
	f, ok := readDegrees(cell, limit)
	return r.checked(ok, field, cell, filter.OfFloat(f))
}

// checked returns the value, or notes the cell as unreadable.
func (r *cellReader) checked(ok bool, field, cell string, v filter.Value) []filter.Value {
	if !ok {
		r.odd = append(r.odd, fmt.Sprintf("%s %q", field, cell))
		return nil
	}
	return []filter.Value{v}
}

// claim reads a cell into claims.
func (r *cellReader) claim(into claims, field, cell string) {
	if values := r.read(field, cell); len(values) > 0 {
		into[field] = claim{values: values, rank: r.rank}
	}
}

// settle drops coordinates of 0/0, which the database writes for unknown ones, and
// stamps the record's own date and status on all its claims.
func (r *cellReader) settle(own claims, all ...claims) {
	if lat, ok := own["latitude"]; ok && lat.values[0].Float() == 0 {
		if lon, ok := own["longitude"]; !ok || lon.values[0].Float() == 0 {
			delete(own, "latitude")
			delete(own, "longitude")
		}
	}
	rank := rankOf(r.rank.kind, own)
	for _, cs := range append(all, own) {
		cs.stamp(rank)
	}
}

// stamp gives all claims one rank.
func (cs claims) stamp(r rank) {
	for name, c := range cs {
		c.rank = r
		cs[name] = c
	}
}
