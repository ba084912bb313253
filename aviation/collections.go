package aviation

import (
	"slices"
	"sync"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Aircraft is the group of the incidents collection: what differs between the
// aircraft of one event.
const Aircraft = "aircraft"

// Incidents describes the collection of NTSB accidents and incidents: one document an
// event, its aircraft as a group in the order of their accident numbers. Values
// follow the NTSB's own words; a field that the record leaves blank is missing, never
// zero, and "UNK" or "Unknown" where the record says so is a value like any other.
func Incidents() sextant.Collection {
	return sextant.Collection{
		Name: "incidents", Title: "NTSB accidents and incidents", Role: sextant.RoleEvents, Unit: "events",
		DateField: "event_date", Fill: "sextant ingest ntsb PATH...",
		Schema: incidentSchema(),
	}
}

var incidentSchema = sync.OnceValue(func() filter.Schema {
	return filter.Schema{
		Fields: slices.Concat(eventFields(), aircraftFields(), findingFieldsOf()),
		Groups: []filter.Group{{Name: Aircraft, Label: "aircraft"}, {Name: Findings, Label: "findings"}},
	}
})

func eventFields() []filter.Field {
	return []filter.Field{
		keyword("event_id", "event id", "NTSB's id of the event, such as 20001208X05756; the date in it is not the event's. Missing where no file read so far gives it.", filter.Case),
		{Name: "case_number", Label: "case number", Description: "NTSB numbers of the event's cases, without the letters that tell aircraft apart.", Kind: filter.Keyword, Fold: filter.Squeeze, List: true},
		keyword("case_key", "record key", "Key of the case's record in CAROL (Mkey).", filter.Case),
		facet("investigation_type", "accident or incident", "How the NTSB classed the event: accident, incident or occurrence.", filter.Case),
		field("event_date", "date", "Local date of the event.", filter.Time),
		keyword("event_date_precision", "precision of the date", "\"month\" or \"year\" where the record does not give the day; the date is then the first of it.", filter.Case),
		keyword("event_time", "time of day", "Local clock time as recorded, such as 16:05; the zone is unknown unless time_zone says it.", filter.Case),
		keyword("time_zone", "time zone", "Zone of the time of day, where recorded.", filter.Case),
		field("event_month", "month of the year", "Month of the event, 1 to 12.", filter.Int),
		keyword("location", "location", "Place as recorded, such as \"LEADVILLE, CO\".", filter.Case),
		facet("city", "city", "What stands before the last comma of the location, in capitals.", filter.Case),
		facet("state", "state", "Two letters after the last comma of the location, for events in the United States; GM is the Gulf of Mexico, AO and PO are the oceans.", filter.Case),
		facet("country", "country", "Country as recorded; missing for some events at sea.", filter.Case),
		field("latitude", "latitude", "Degrees north; missing where the record has none or 0/0.", filter.Float),
		field("longitude", "longitude", "Degrees east; missing where the record has none or 0/0.", filter.Float),
		keyword("airport_code", "airport code", "Code of the airport concerned, without the leading K of a four-letter code.", filter.Case),
		keyword("airport_name", "airport name", "Name of the airport concerned, as recorded.", filter.Case),
		field("airport_elevation", "airport elevation", "Elevation of the airport concerned in feet above sea level.", filter.Float),
		{Name: "airport", Label: "airport", Description: "The airport's code or its name.", Kind: filter.Keyword, AnyOf: []string{"airport_code", "airport_name"}},
		facet("severity", "severity", "The worst injury: fatal, nonfatal, incident (no accident), unavailable.", filter.Case),
		keyword("highest_injury", "highest injury level", "The worst injury as CAROL and the NTSB's tables give it: fatal, serious, minor, none; \"none or unknown\" where a completed case leaves it blank.", filter.Case),
		field("fatal_count", "people killed", "Number of people killed. Blank in most records after 2001 where nobody died: ask for severity instead of 0.", filter.Int),
		field("serious_count", "people seriously injured", "Number of people seriously injured; often blank instead of 0.", filter.Int),
		field("minor_count", "people slightly injured", "Number of people with minor injuries; often blank instead of 0.", filter.Int),
		field("uninjured_count", "people not injured", "Number of people not injured; often blank instead of 0.", filter.Int),
		facet("injuries", "injuries", "\"any\" if somebody was killed or injured, \"none\" if people were aboard and nobody was, as far as recorded.", filter.Case),
		facet("weather", "weather", "VMC (visual), IMC (instrument conditions) or UNK, as the investigator judged it.", filter.Case),
		facet("report_status", "status of the report", "Probable Cause (final), Completed (without a cause), Factual, Preliminary, or Foreign (notification of another country's investigation).", filter.Case),
		keyword("investigation_status", "status of the investigation", "In CAROL's words: Completed, In work, N/A.", filter.Case),
		field("publication_date", "publication date", "Date the report was last published; from CAROL the date it was first published.", filter.Time),
		keyword("report_number", "report number", "Number of the NTSB's printed report, where there is one.", filter.Squeeze),
		keyword("report_type", "kind of report", "In CAROL's words: DirectorBrief, BoardBrief, Report.", filter.Case),
		keyword("report_url", "link to the report", "Address of the report.", filter.Exact),
		keyword("docket_url", "link to the docket", "Address of the public docket; missing where there is none yet.", filter.Exact),
		field("docket_date", "docket date", "Date the docket was published.", filter.Time),
		keyword("safety_recommendation", "safety recommendation", "yes or no: whether the case led to one, as recorded.", filter.Case),
		listed("data_source", "files", "Kinds of file the record was put together from: aviationdata (rows), narratives, carol and carol-search, avall (the database's tables), recommendations, report."),
		listed("filled", "filled in", "Values that do not come from the newest row of the record, and where they come from instead."),
	}
}

func aircraftFields() []filter.Field {
	fields := []filter.Field{
		keyword("accident_number", "accident number", "NTSB number of the case, such as FTW96LA203; with A, B, ... for each aircraft of a collision.", filter.Squeeze),
		field("aircraft_order", "number within the event", "Which aircraft of the event it is, from 1, where the NTSB's tables say so.", filter.Int),
		keyword("serial_number", "serial number", "The maker's serial number of the aircraft.", filter.Squeeze),
		keyword("registration", "registration", "Registration (tail number); missing where the record has none or only \"NONE\" or \"UNREG\".", filter.Squeeze),
		facet("make", "make", "Maker of the aircraft in capitals, its spellings in the records counted as one.", filter.Case),
		keyword("make_recorded", "make as recorded", "Maker as spelled in the record.", filter.Case),
		facet("model", "model", "Model as recorded; compared without blanks and punctuation.", filter.Squeeze),
		facet("damage", "damage", "Damage to the aircraft: destroyed, substantial, minor or none.", filter.Case),
		facet("aircraft_category", "aircraft category", "Airplane, Helicopter, Glider ...; hardly ever recorded from 1983 to 2003.", filter.Case),
		facet("amateur_built", "amateur-built", "yes or no, as recorded.", filter.Case),
		field("engine_count", "number of engines", "Number of engines.", filter.Int),
		facet("engine_type", "engine type", "Reciprocating, Turbo Prop, Turbo Shaft, Turbo Fan, Turbo Jet ...", filter.Case),
		{Name: "far_part", Label: "operating rule", Description: "Part of 14 CFR the flight was operated under, such as 91 or 135; a flight under 91 subpart K has both 91 and 91K. Hardly ever recorded from 1983 to 2003.", Kind: filter.Keyword, Fold: filter.Case, List: true, Facet: true},
		facet("far_description", "operating rule as recorded", "The operating rule in the record's own words, also where it is no part of 14 CFR.", filter.Case),
		facet("schedule", "schedule", "SCHD (scheduled), NSCH (not scheduled) or UNK; recorded for commercial flights.", filter.Case),
		facet("purpose", "purpose of the flight", "Personal, Instructional, Aerial Application, Business ...", filter.Case),
		keyword("operator", "operator", "Air carrier or operator, where one is recorded.", filter.Case),
		facet("phase", "phase of flight", "Broad phase of flight in capitals: TAKEOFF, CLIMB, CRUISE, MANEUVERING, DESCENT, APPROACH, LANDING, GO-AROUND, TAXI, STANDING, OTHER, UNKNOWN.", filter.Case),
		keyword("phase_recorded", "phase as recorded", "Phase of flight in the record's own words, where those are others.", filter.Case),
	}
	return grouped(Aircraft, fields)
}

func grouped(group string, fields []filter.Field) []filter.Field {
	for i := range fields {
		fields[i].Group = group
	}
	return fields
}

func findingFieldsOf() []filter.Field {
	return grouped(Findings, []filter.Field{
		keyword("finding", "finding", "What the NTSB found to have led to the event, as a path of levels; none before 2008.", filter.Case),
		facet("finding_category", "finding category", "First level: Personnel issues, Aircraft, Environmental issues, Organizational issues, Not determined.", filter.Case),
		facet("finding_subcategory", "finding subcategory", "Second level, such as Task performance or Aircraft systems.", filter.Case),
		keyword("finding_section", "finding section", "Third level, such as Use of equip/info.", filter.Case),
		keyword("finding_subsection", "finding subsection", "Fourth level, such as Aircraft control.", filter.Case),
		keyword("finding_modifier", "finding modifier", "Last level: with whom, or what was wrong, such as Pilot or Failure.", filter.Case),
		facet("cause_factor", "cause or factor", "\"cause\" or \"factor\" (contributing) as the NTSB marked the finding; CAROL gives no mark.", filter.Case),
		keyword("finding_code", "finding code", "Ten digits, two for each level.", filter.Case),
		field("finding_order", "number of the finding", "Its place in the NTSB's list; 1000 is added for the first aircraft after the first, 2000 for the next.", filter.Int),
	})
}

// Regulations describes the collection of Title 14 of the Code of Federal
// Regulations: one document a section for each period its text was in force.
func Regulations() sextant.Collection {
	return sextant.Collection{
		Name: "regulations", Title: "Federal Aviation Regulations (14 CFR)", Role: sextant.RoleRules, Unit: "sections",
		DateField: "valid_from", Fill: "sextant ingest ecfr",
		Schema: filter.Schema{Fields: []filter.Field{
			facet("cfr_part", "part", "Part of 14 CFR, such as 91.", filter.Case),
			keyword("cfr_section", "section", "Section of 14 CFR, such as 91.155; missing for appendices.", filter.Case),
			keyword("provision", "provision", "The section or appendix whatever the date of its text: 91.155, Appendix-A-to-Part-135.", filter.Case),
			keyword("title", "heading", "Heading of the section.", filter.Case),
			{Name: "defines", Label: "defines", Description: "Terms that the section defines.", Kind: filter.Keyword, Fold: filter.Case, List: true},
			facet("subpart", "subpart", "Letter of the subpart the section stands in.", filter.Case),
			keyword("part_title", "heading of the part", "Heading of the part.", filter.Case),
			keyword("subpart_title", "heading of the subpart", "Heading of the subpart.", filter.Case),
			field("valid_from", "in force from", "Day of the edition the text is from: it was in force then, and perhaps before.", filter.Time),
			field("valid_to", "in force until", "Day of the next edition held, until which the text counts as in force; missing while there is none.", filter.Time),
			field("amended", "last amended", "Date of the last amendment named in the source note.", filter.Time),
			{Name: "refers_to", Label: "refers to", Description: "Sections of 14 CFR that the text refers to.", Kind: filter.Keyword, Fold: filter.Case, List: true},
		}},
	}
}

// News describes the collection of news articles, one document each.
func News() sextant.Collection {
	return sextant.Collection{
		Name: "news", Title: "Aviation news", Role: sextant.RoleReports, Unit: "articles",
		DateField: "published", Fill: "sextant ingest news",
		Schema: filter.Schema{Fields: []filter.Field{
			field("published", "published", "Date and time of publication; missing where the feed gives none that can be read.", filter.Time),
			field("updated", "updated", "Date and time of the last change, where the feed gives it.", filter.Time),
			facet("news_source", "source", "Name of the publication.", filter.Case),
			keyword("url", "link", "Address of the article.", filter.Exact),
			keyword("title", "headline", "Headline of the article.", filter.Case),
			{Name: "author", Label: "author", Description: "Who wrote it.", Kind: filter.Keyword, Fold: filter.Case, List: true},
			{Name: "topic", Label: "topics", Description: "Topics the publication filed it under.", Kind: filter.Keyword, Fold: filter.Case, List: true, Facet: true},
			listed("aircraft_named", "aircraft named", "Makers and types that the article names: CESSNA, CESSNA 172."),
			{Name: "registration_named", Label: "registrations named", Description: "American registrations that the article names.", Kind: filter.Keyword, Fold: filter.Squeeze, List: true},
			listed("place_named", "places named", "States and countries that the article names."),
			{Name: "links", Label: "links", Description: "Addresses the article links to, 50 at most.", Kind: filter.Keyword, Fold: filter.Exact, List: true},
		}},
	}
}

func field(name, label, description string, kind filter.Kind) filter.Field {
	return filter.Field{Name: name, Label: label, Description: description, Kind: kind}
}

func keyword(name, label, description string, fold filter.Fold) filter.Field {
	return filter.Field{Name: name, Label: label, Description: description, Kind: filter.Keyword, Fold: fold}
}

func facet(name, label, description string, fold filter.Fold) filter.Field {
	f := keyword(name, label, description, fold)
	f.Facet = true
	return f
}

func listed(name, label, description string) filter.Field {
	f := facet(name, label, description, filter.Case)
	f.List = true
	return f
}
