package aviation

import (
	"cmp"
	"slices"
	"strings"
)

// Kinds of file an event is put together from: the values of data_source.
const (
	fromRows            = "aviationdata"    // a row for each aircraft, the published AviationData file
	fromNarratives      = "narratives"      // JSON lines with the running texts
	fromRecommendations = "recommendations" // findings and safety recommendations by case
	fromSearch          = "carol-search"    // an answer of the CAROL search service
	fromTables          = "avall"           // the tables of the NTSB's own database
	fromCarol           = "carol"           // an export of CAROL
	fromReport          = "report"          // the report itself
)

// kindOrder has the kinds by how recent their view of a case is: a snapshot of some year
// before what the NTSB's systems hold, and the published report last.
var kindOrder = []string{fromNarratives, fromRows, fromRecommendations, fromSearch, fromTables, fromCarol, fromReport}

// rank orders records by how far their values are to be believed. What a narrative file
// repeats of the database counts for least; then a final report counts before any that
// is not; then the kinds of file by how recent they are; then the later publication; and on
// one day the report that is further along.
type rank struct {
	kind      string
	published string // date, "" if unknown
	status    string
}

// statuses of a report from the least to the furthest along.
var statuses = []string{"", "Foreign", "Preliminary", "Factual", "Completed", "Probable Cause"}

// isFinal reports whether nothing is to follow on a report of that status.
func isFinal(status string) bool { return status == "Probable Cause" || status == "Completed" }

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (r rank) compare(s rank) int {
	return cmp.Or(
		boolOrder(r.row(), s.row()),
		boolOrder(isFinal(r.status), isFinal(s.status)),
		cmp.Compare(slices.Index(kindOrder, r.kind), slices.Index(kindOrder, s.kind)),
		cmp.Compare(r.published, s.published),
		cmp.Compare(slices.Index(statuses, r.status), slices.Index(statuses, s.status)),
		cmp.Compare(r.status, s.status))
}

// row reports whether the record is one of the database and does not only repeat it.
func (r rank) row() bool { return r.kind != fromNarratives && r.kind != "" }

// String writes the rank as it stands in the field filled.
func (r rank) String() string {
	if r.kind == "" {
		return fromNarratives
	}
	s := r.kind
	if r.kind == fromRows {
		s = "row"
	}
	if r.published != "" {
		s += " of " + r.published
	}
	if r.status != "" {
		s += ", " + r.status
	}
	return s
}

func parseRank(s string) rank {
	rest, status, _ := strings.Cut(s, ", ")
	kind, published, _ := strings.Cut(rest, " of ")
	switch kind {
	case "row":
		kind = fromRows
	case fromNarratives:
		return rank{}
	}
	return rank{kind, published, status}
}
