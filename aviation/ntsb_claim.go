package aviation

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// claims are what is known of an event, of one of its aircraft or of a finding, by field.
type claims map[string]claim

// claim is what the records say of one field: the value that counts, and under it every
// other that a record gave, each with the best rank it was given with. Two spellings of
// one thing (see sense) are one value. Joining two claims keeps for each value the better
// rank, and the best of all on top: commutative, associative and idempotent, so that the
// order in which files arrive, and how often, does not matter.
type claim struct {
	values []filter.Value
	rank   rank
	text   bool    // of two running texts of one rank the longer counts
	others []claim // without others of their own, best first
}

// better reports whether c is to be shown rather than d.
func (c claim) better(d claim) bool {
	if by := c.rank.compare(d.rank); by != 0 {
		return by > 0
	}
	if c.text && len(c.values[0].Str()) != len(d.values[0].Str()) {
		return len(c.values[0].Str()) > len(d.values[0].Str())
	}
	return slices.CompareFunc(c.values, d.values, filter.Value.Compare) > 0
}

// alone is the claim without what it prevailed over.
func (c claim) alone() claim { return claim{values: c.values, rank: c.rank, text: c.text} }

func (c claim) all() []claim { return append([]claim{c.alone()}, c.others...) }

// joinClaim joins what two records, or sets of records, say of a field.
func joinClaim(field string, c, d claim) claim {
	if len(c.others) == 0 && len(d.others) == 0 && sense(field, c.values) == sense(field, d.values) {
		if d.better(c) {
			return d
		}
		return c
	}
	bySense := map[string]claim{}
	for _, one := range slices.Concat(c.all(), d.all()) {
		s := sense(field, one.values)
		if have, ok := bySense[s]; !ok || one.better(have) {
			bySense[s] = one
		}
	}
	sorted := slices.SortedFunc(maps.Values(bySense), func(a, b claim) int {
		switch {
		case a.better(b):
			return -1
		case b.better(a):
			return 1
		}
		return 0
	})
	top := sorted[0]
	top.others = sorted[1:]
	return top
}

// sense is what a value says, however it is written: two values of one sense are no
// difference. Makers have many spellings; positions are rounded to about 5 km, since the
// files give them to the second, the minute and the nearest airport.
func sense(field string, values []filter.Value) string {
	var b strings.Builder
	for _, v := range values {
		switch {
		case field == "make_recorded":
			b.WriteString(Maker(v.Str()))
		case v.Kind() == filter.Float && (field == "latitude" || field == "longitude"):
			fmt.Fprint(&b, math.Round(v.Float()*20))
		case field == "highest_injury" && v.Str() == noneOrUnknown:
			b.WriteString("NONE") // what another file knows to be none
		case v.Kind() == filter.Keyword:
			b.WriteString(filter.Squeeze.Of(v.Str()))
		default:
			b.WriteString(v.String())
		}
		b.WriteByte(0)
	}
	return b.String()
}

func (cs claims) join(more claims) claims {
	out := maps.Clone(cs)
	if out == nil {
		out = claims{}
	}
	for name, c := range more {
		if have, ok := out[name]; ok {
			c = joinClaim(name, have, c)
		}
		out[name] = c
	}
	return out
}

// top returns the highest rank among claims.
func (cs claims) top() rank {
	var best rank
	for _, c := range cs {
		if c.rank.compare(best) > 0 {
			best = c.rank
		}
	}
	return best
}

// differences are all values of the fields on which the records disagree, of each field
// the one that counts first.
func (cs claims) differences(element string) (out []sextant.Difference) {
	for _, name := range slices.Sorted(maps.Keys(cs)) {
		if c := cs[name]; len(c.others) > 0 {
			for i, one := range c.all() {
				out = append(out, one.difference(name, element, i == 0))
			}
		}
	}
	return out
}

func (c claim) difference(field, element string, kept bool) sextant.Difference {
	kind := cmp.Or(c.rank.kind, fromNarratives)
	return sextant.Difference{
		Field: field, Element: element, Value: writeValues(c.values), Kept: kept, Status: c.rank.status, Date: c.rank.published,
		Source: sextant.Source{Name: kind, Kind: kind, Authority: authority(c.rank.status)},
	}
}

// writeValues writes a date that is not known to the day as far as it is known, and
// all other values as they are.
func writeValues(values []filter.Value) string {
	text := values[0].String()
	if len(values) == 2 {
		text = text[:map[string]int{"year": 4, "month": 7}[values[1].Str()]]
	}
	return text
}

// readValues is the inverse of writeValues.
func readValues(field, text string) []filter.Value {
	kind := filter.Keyword
	schema := incidentSchema()
	if f, ok := schema.Field(field); ok {
		kind = f.Kind
	}
	precision := ""
	if field == "event_date" {
		switch len(text) {
		case 4:
			text, precision = text+"-01-01", "year"
		case 7:
			text, precision = text+"-01", "month"
		}
	}
	v, err := filter.Parse(kind, text)
	switch {
	case err != nil:
		return nil
	case precision != "":
		return []filter.Value{v, filter.OfString(precision)}
	}
	return []filter.Value{v}
}

func differenceRank(d sextant.Difference) rank {
	if d.Source.Kind == fromNarratives {
		return rank{}
	}
	return rank{d.Source.Kind, d.Date, d.Status}
}

// disagree puts the values of differences back under those that prevailed over them.
func (cs claims) disagree(differences []sextant.Difference, element string) {
	for _, d := range differences {
		c, known := cs[d.Field]
		if d.Element != element || d.Kept || !known {
			continue
		}
		if values := readValues(d.Field, d.Value); values != nil {
			c.others = append(c.others, claim{values: values, rank: differenceRank(d), text: c.text})
			cs[d.Field] = c
		}
	}
}
