package aviation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Kinds of the parts of an event's document.
const (
	partHeading   = "heading"
	partRecord    = "record"
	partNarrative = "narrative"
	partFactual   = "factual"
	partCause     = "cause"
	partFinding   = "finding"
	partAdvice    = "recommendation"
	partReport    = "report"
	partPage      = "page" // of the report
)

// texts are the running texts of an event in their order, with the headings they
// stand under and the locators they are cited by.
var texts = []struct{ kind, heading string }{
	{partNarrative, "Narrative"},
	{partFactual, "Factual narrative"},
	{partCause, "Probable cause"},
	{partReport, "Report"},
}

// writeText sets title, text and parts from the metadata, the running texts and the
// safety recommendations. The record comes first, in sentences that can be quoted: the
// event, each aircraft, injuries, weather, report.
func writeText(doc *sextant.Document, running claims, advice []string) {
	s := shown{doc.Meta.Fields, doc.Meta.Groups[Aircraft]}
	doc.Title = s.title()
	w := partWriter{doc: doc}
	w.heading("Record")
	start := w.b.Len()
	w.line(s.event())
	for i := range s.aircraft {
		from := w.b.Len()
		w.line(s.aircraftLine(i))
		if len(s.aircraft) > 1 {
			w.part(partRecord, fmt.Sprintf("Record, aircraft %d", i+1), from)
		}
	}
	w.line(s.people())
	w.line(s.conditions())
	w.line(s.report())
	w.part(partRecord, "Record", start)
	for _, t := range texts {
		if c, ok := running[t.kind]; ok && t.kind != partReport && c.values[0].Str() != "" {
			w.section(t.heading, t.kind, t.heading, c.values[0].Str())
		}
	}
	w.findings(doc.Meta.Groups[Findings])
	for i, text := range advice {
		w.section("Safety recommendation", partAdvice, fmt.Sprintf("Safety recommendation %d", i+1), text)
	}
	if c, ok := running[partReport]; ok {
		w.report(c.values[0].Str())
	}
	doc.Text = strings.TrimSuffix(w.b.String(), "\n")
	slices.SortStableFunc(doc.Parts, func(a, b sextant.Part) int { // what encloses comes first
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
}

// readTexts takes the running texts and the recommendations back out of a document.
func readTexts(doc *sextant.Document) (running claims, advice []string) {
	running = claims{}
	var pages []string
	for _, p := range doc.Parts {
		text := doc.Text[p.Start:p.End]
		switch {
		case p.Kind == partAdvice:
			advice = append(advice, text)
		case p.Kind == partPage:
			pages = append(pages, text)
		case p.Kind == partReport:
		case slices.ContainsFunc(texts, func(t struct{ kind, heading string }) bool { return t.kind == p.Kind }):
			running[p.Kind] = textClaim(text, rank{})
		}
	}
	if len(pages) > 0 {
		running[partReport] = textClaim(strings.Join(pages, pageBreak), rank{})
	}
	return running, advice
}

// pageBreak stands between the pages of a report in its claim.
const pageBreak = "\f"

// textClaim is a claim about a running text, of which the longer of two equally ranked
// ones is kept.
func textClaim(text string, r rank) claim {
	return claim{values: []filter.Value{filter.OfString(text)}, rank: r, text: true}
}

type partWriter struct {
	doc *sextant.Document
	b   strings.Builder
}

func (w *partWriter) heading(text string) {
	from := w.b.Len()
	w.line(text)
	w.part(partHeading, "", from)
}

// section writes a heading and a text under it.
func (w *partWriter) section(heading, kind, locator, text string) {
	w.b.WriteString("\n")
	w.heading(heading)
	from := w.b.Len()
	w.line(text)
	w.part(kind, locator, from)
}

// report writes a report with its pages.
func (w *partWriter) report(text string) {
	w.b.WriteString("\n")
	w.heading("Report")
	start := w.b.Len()
	for i, page := range strings.Split(text, pageBreak) {
		from := w.b.Len()
		w.line(page)
		w.part(partPage, fmt.Sprintf("Report, p. %d", i+1), from)
	}
	w.part(partReport, "Report", start)
}

// findings writes a line for each finding.
func (w *partWriter) findings(findings []filter.Fields) {
	if len(findings) == 0 {
		return
	}
	w.b.WriteString("\n")
	w.heading("Findings")
	for i, f := range findings {
		from := w.b.Len()
		w.line(findingLine(f))
		w.part(partFinding, fmt.Sprintf("Finding %d", i+1), from)
	}
}

// line writes a line if there is anything to say.
func (w *partWriter) line(text string) {
	if text != "" {
		w.b.WriteString(text)
		w.b.WriteString("\n")
	}
}

// part closes a part that began at from, without the last line break.
func (w *partWriter) part(kind, locator string, from int) {
	if end := w.b.Len() - 1; end > from {
		w.doc.Parts = append(w.doc.Parts, sextant.Part{Kind: kind, Locator: locator, Start: from, End: end})
	}
}

// shown is what of an event's metadata goes into its text.
type shown struct {
	own      filter.Fields
	aircraft []filter.Fields
}

func (s shown) text(name string) string { return s.own.One(name).Str() }

// title names the aircraft, the place, the day and the number: "Cessna 172K,
// Leadville, CO, 8 May 1996 (FTW96LA203)".
func (s shown) title() string {
	parts := []string{capital(s.aircraftNames())}
	if place := s.place(); place != "" {
		parts = append(parts, place)
	}
	if day := s.day(); day != "" {
		parts = append(parts, day)
	}
	title := strings.Join(parts, ", ")
	if number := s.caseNumber(); number != "" {
		title += " (" + number + ")"
	}
	return title
}

func (s shown) aircraftNames() string {
	switch len(s.aircraft) {
	case 0:
		return "Aircraft"
	case 1:
		return aircraftName(s.aircraft[0])
	case 2:
		return aircraftName(s.aircraft[0]) + " and " + aircraftName(s.aircraft[1])
	}
	return fmt.Sprintf("%s and %d other aircraft", aircraftName(s.aircraft[0]), len(s.aircraft)-1)
}

// aircraftName is maker and model as recorded: "Cessna 172K".
func aircraftName(f filter.Fields) string {
	maker, model := known(f.One("make_recorded").Str()), known(f.One("model").Str())
	if maker == "" && model == "" {
		return "aircraft of unrecorded make"
	}
	return strings.TrimSpace(proper(maker) + " " + model)
}

// known returns "" for words that only say that nobody knows.
func known(s string) string {
	if noAirportName[filter.Squeeze.Of(s)] {
		return ""
	}
	return s
}

// place is the location with the city in ordinary letters; outside the United States
// the country follows unless the location ends with it.
func (s shown) place() string {
	location, country := s.text("location"), s.text("country")
	if state := s.text("state"); state != "" {
		head := strings.TrimSpace(location[:max(strings.LastIndexByte(location, ','), 0)])
		if head == "" {
			return state
		}
		return proper(head) + ", " + state
	}
	location = proper(strings.Trim(location, ", "))
	switch {
	case location == "":
		return country
	case country == "" || strings.HasSuffix(strings.ToLower(location), strings.ToLower(country)):
		return location
	}
	return location + ", " + country
}

// day is the date in words, as far as it is known: "8 May 1996", "May 1996", "1996".
func (s shown) day() string {
	v := s.own.One("event_date")
	if v.IsZero() {
		return ""
	}
	switch s.text("event_date_precision") {
	case "year":
		return v.Time().Format("2006")
	case "month":
		return v.Time().Format("January 2006")
	}
	return longDate(v.Time())
}

func longDate(t time.Time) string { return t.Format("2 January 2006") }

// caseNumber is the accident number, without the letter that tells the aircraft of one
// case apart where there are several.
func (s shown) caseNumber() string {
	first := ""
	for i, a := range s.aircraft {
		number := a.One("accident_number").Str()
		if len(s.aircraft) > 1 && len(number) > 10 {
			number = strings.TrimRight(number, "ABCDEFGH")
		}
		switch {
		case i == 0:
			first = number
		case number != first:
			return s.aircraft[0].One("accident_number").Str()
		}
	}
	return first
}

// event is the sentence on what happened where and when.
func (s shown) event() string {
	what := s.text("investigation_type")
	if what == "" {
		what = "event"
	}
	if severity := s.text("severity"); severity == "fatal" || severity == "nonfatal" {
		what = severity + " " + what
	}
	var b strings.Builder
	if day := s.day(); day != "" {
		preposition := "On "
		if s.text("event_date_precision") != "" {
			preposition = "In "
		}
		b.WriteString(preposition + day + ", " + article(what))
	} else {
		b.WriteString(capital(article(what)))
	}
	b.WriteString(" occurred")
	if place := s.place(); place != "" {
		b.WriteString(" in or near " + place)
		if s.text("state") != "" {
			b.WriteString(", " + s.text("country"))
		}
	}
	b.WriteString(". " + s.numbers() + s.airport() + s.position())
	return strings.TrimSpace(b.String())
}

func (s shown) numbers() string {
	var numbers []string
	for _, a := range s.aircraft {
		if n := a.One("accident_number").Str(); n != "" {
			numbers = append(numbers, n)
		}
	}
	id := s.text("event_id")
	switch {
	case id == "" && len(numbers) == 0:
		return "The NTSB number is " + s.text("case_number") + ". "
	case id == "" && len(numbers) == 1:
		return "The NTSB number is " + numbers[0] + ". "
	case id == "":
		return "The NTSB numbers are " + list(numbers) + ". "
	}
	switch len(numbers) {
	case 0:
		return "The NTSB's event id is " + id + ". "
	case 1:
		return "The NTSB number is " + numbers[0] + ", the event id " + id + ". "
	}
	return "The NTSB numbers are " + list(numbers) + ", the event id is " + id + ". "
}

func (s shown) airport() string {
	name, code := proper(s.text("airport_name")), s.text("airport_code")
	switch {
	case name == "" && code == "":
		return ""
	case name == "":
		return "The airport recorded is " + code + ". "
	case code == "":
		return "The airport recorded is " + name + ". "
	}
	return "The airport recorded is " + name + " (" + code + "). "
}

func (s shown) position() string {
	lat, lon := s.own.One("latitude"), s.own.One("longitude")
	if lat.IsZero() || lon.IsZero() {
		return ""
	}
	return "The position recorded is " + lat.String() + ", " + lon.String() + "."
}

// aircraftLine is what is recorded of one aircraft and its flight.
func (s shown) aircraftLine(i int) string {
	f := s.aircraft[i]
	subject := "The aircraft"
	if len(s.aircraft) > 1 {
		subject = fmt.Sprintf("Aircraft %d", i+1)
		if n := f.One("accident_number").Str(); n != "" {
			subject += " (" + n + ")"
		}
	}
	sentence := subject + " was " + article(aircraftName(f))
	if r := f.One("registration").Str(); r != "" {
		sentence += ", registration " + r
	}
	sentences := []string{sentence + engines(f) + "."}
	sentences = append(sentences, kindOfAircraft(f)...)
	sentences = append(sentences, flight(f)...)
	return strings.Join(sentences, " ")
}

func engines(f filter.Fields) string {
	n, kind := f.One("engine_count"), strings.ToLower(known(f.One("engine_type").Str()))
	plural := "engines"
	if n.Int() == 1 {
		plural = "engine"
	}
	switch {
	case n.IsZero() && kind == "":
		return ""
	case n.IsZero():
		return ", engine type " + kind
	case n.Int() == 0:
		return ", without an engine"
	}
	return ", with " + strings.Join(strings.Fields(n.String()+" "+kind+" "+plural), " ")
}

func kindOfAircraft(f filter.Fields) (sentences []string) {
	category := strings.ToLower(known(f.One("aircraft_category").Str()))
	if category != "" {
		sentences = append(sentences, "Its category is "+category+".")
	}
	switch f.One("amateur_built").Str() {
	case "yes":
		sentences = append(sentences, "It was amateur-built.")
	case "no":
		sentences = append(sentences, "It was not amateur-built.")
	}
	return sentences
}

func flight(f filter.Fields) (sentences []string) {
	add := func(prefix, text string) {
		if text != "" {
			sentences = append(sentences, prefix+text+".")
		}
	}
	add("The purpose of the flight was ", strings.ToLower(known(f.One("purpose").Str())))
	add("The operating rule was ", known(f.One("far_description").Str()))
	switch f.One("schedule").Str() {
	case "SCHD":
		sentences = append(sentences, "The flight was scheduled.")
	case "NSCH":
		sentences = append(sentences, "The flight was not scheduled.")
	}
	add("The operator was ", strings.TrimSuffix(f.One("operator").Str(), "."))
	phase := f.One("phase").Str()
	if phase == "UNKNOWN" {
		sentences = append(sentences, "The phase of flight is not known.")
	} else {
		add("The phase of flight was ", strings.ToLower(phase))
	}
	switch damage := f.One("damage").Str(); damage {
	case "":
	case "destroyed":
		sentences = append(sentences, "The aircraft was destroyed.")
	default:
		add("The damage to the aircraft was ", damage)
	}
	return sentences
}

// people is the sentence on who was hurt. Counts that are not recorded are left out:
// they are unknown, not zero.
func (s shown) people() string {
	var parts []string
	for _, c := range []struct{ field, what string }{
		{"fatal_count", "killed"}, {"serious_count", "seriously injured"},
		{"minor_count", "slightly injured"}, {"uninjured_count", "not injured"},
	} {
		if v := s.own.One(c.field); !v.IsZero() {
			parts = append(parts, people(v.Int(), len(parts) == 0)+c.what)
		}
	}
	sentence := ""
	if len(parts) > 0 {
		sentence = capital(list(parts)) + ". "
	}
	if severity := s.text("severity"); severity != "" {
		sentence += "The injury severity is recorded as " + severity + "."
	}
	return strings.TrimSpace(sentence)
}

func people(n int64, first bool) string {
	switch {
	case n == 0:
		return "nobody was "
	case n == 1 && first:
		return "1 person was "
	case n == 1:
		return "1 was "
	case first:
		return fmt.Sprintf("%d people were ", n)
	}
	return fmt.Sprintf("%d were ", n)
}

func (s shown) conditions() string {
	switch weather := s.text("weather"); weather {
	case "":
		return ""
	case "VMC":
		return "The weather was visual meteorological conditions (VMC)."
	case "IMC":
		return "The weather was instrument meteorological conditions (IMC)."
	case "UNK":
		return "The weather conditions are recorded as unknown."
	default:
		return "The weather conditions are recorded as " + weather + "."
	}
}

func (s shown) report() string {
	status, published := s.text("report_status"), s.own.One("publication_date")
	sentence := ""
	if status != "" {
		sentence = "The status of the report is " + status + "."
	}
	if !published.IsZero() {
		sentence += " It was published on " + longDate(published.Time()) + "."
	}
	return strings.TrimSpace(sentence)
}
