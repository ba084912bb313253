package aviation

import (
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant/filter"
)

// anonymous is the key of the aircraft of a record that names none; it gives way to any
// other.
const anonymous = "?"

// elementKey tells the aircraft of an event apart: by accident number, else by
// registration, else by their order in the database's tables, else by everything that is
// said of it.
func elementKey(cs claims) string {
	if c, ok := cs["accident_number"]; ok {
		return filter.Squeeze.Of(c.values[0].Str())
	}
	if c, ok := cs["registration"]; ok {
		return "REG-" + filter.Squeeze.Of(c.values[0].Str())
	}
	if c, ok := cs["aircraft_order"]; ok {
		return orderKey(c.values[0].Int())
	}
	if len(cs) == 0 {
		return anonymous
	}
	h := fnv.New32a()
	for _, name := range slices.Sorted(maps.Keys(cs)) {
		fmt.Fprintf(h, "%s=%s;", name, cs[name].values[0])
	}
	return fmt.Sprintf("ROW-%08x", h.Sum32())
}

func orderKey(n int64) string { return fmt.Sprintf("ORDER-%d", n) }

// lettered is the number of one aircraft of a case with several: ERA15LA084B.
var lettered = regexp.MustCompile(`^([A-Z]{3}\d{2}[A-Z]{1,2}\d{3,4})([A-H])$`)

// caseNumber is the number of the case of an accident number: without the letter that
// tells its aircraft apart.
func caseNumber(number string) string {
	number = filter.Squeeze.Of(number)
	if m := lettered.FindStringSubmatch(number); m != nil {
		return m[1]
	}
	return number
}

// settleElements joins the aircraft of an event that files name differently. What names
// none gives way. Where some records letter the aircraft of a case and others do not, the
// one without a letter is A: the first aircraft is the one all files have. It is not looked
// for by its registration, since what is found would depend on what was read before. What
// only says how many-eth it is, is that one.
func settleElements(aircraft map[string]claims) {
	for _, key := range slices.Sorted(maps.Keys(aircraft)) {
		if m := lettered.FindStringSubmatch(key); m != nil {
			if bare, ok := aircraft[m[1]]; ok {
				delete(aircraft, m[1])
				first := m[1] + letter(0)
				aircraft[first] = aircraft[first].join(bare.renamed("accident_number", filter.OfString(first)))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(aircraft)) {
		cs := aircraft[key]
		if !strings.HasPrefix(key, "ORDER-") {
			continue
		}
		if to := inOrder(aircraft, cs["aircraft_order"].values[0].Int()); to != "" {
			delete(aircraft, key)
			aircraft[to] = aircraft[to].join(cs)
		}
	}
	if len(aircraft) > 1 {
		delete(aircraft, anonymous)
	}
}

// letter is A for 0.
func letter(i int) string { return string(rune('A' + min(i, 25))) }

// inOrder finds the nth aircraft: that of which a record says so, that with the letter, or
// the only one there is.
func inOrder(aircraft map[string]claims, n int64) string {
	var named []string
	for _, key := range slices.Sorted(maps.Keys(aircraft)) {
		if strings.HasPrefix(key, "ORDER-") || key == anonymous {
			continue
		}
		named = append(named, key)
		if c, ok := aircraft[key]["aircraft_order"]; ok && c.values[0].Int() == n {
			return key
		}
	}
	for _, key := range named {
		if m := lettered.FindStringSubmatch(key); m != nil && m[2] == letter(int(n)-1) {
			return key
		}
	}
	if len(named) == 1 && n == 1 && !lettered.MatchString(named[0]) {
		return named[0]
	}
	return ""
}

// renamed sets a field without changing what ranks it has.
func (cs claims) renamed(field string, v filter.Value) claims {
	out := maps.Clone(cs)
	c := out[field]
	c.values, c.others = []filter.Value{v}, nil
	out[field] = c
	return out
}
