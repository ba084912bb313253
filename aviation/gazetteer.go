package aviation

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant/constrain"
)

//go:embed vocabulary/places.tsv
var placeTable string

// gazetteer is what people call places; see vocabulary/places.tsv for the kinds.
type gazetteer struct {
	states, abbreviated *constrain.Table[string] // to codes
	adjectives          *constrain.Table[string] // to codes
	regions             *constrain.Table[[]any]  // to codes
	countries, demonyms *constrain.Table[string] // to names
	provinces           *constrain.Table[string] // to their country
	nowhere             *constrain.Table[bool]
	named               *constrain.Table[[]constrain.Condition]
	codes               map[string]bool       // of states, lower case
	spelled             *constrain.Candidates // names of states, for misspellings
	codeOf              map[string]string     // by the state's name
	stops               map[string]bool       // abbreviations
}

var loadGazetteer = sync.OnceValue(func() *gazetteer {
	entries := map[string]map[string]string{}
	for line := range lines(placeTable) {
		cells := append(strings.Split(line, "\t"), "")
		if len(cells) < 3 {
			panic(fmt.Sprintf("aviation: places: %q", line))
		}
		kind := entries[cells[0]]
		if kind == nil {
			kind = map[string]string{}
			entries[cells[0]] = kind
		}
		for words := range strings.SplitSeq(cells[1], "|") {
			kind[words] = cells[2]
		}
	}
	g := &gazetteer{
		states: constrain.NewTable(entries["state"]), abbreviated: constrain.NewTable(entries["abbr"]), adjectives: constrain.NewTable(entries["adjective"]),
		countries: constrain.NewTable(entries["country"]), demonyms: constrain.NewTable(entries["demonym"]), provinces: constrain.NewTable(entries["province"]),
		regions: constrain.NewTable(each(entries["region"], codeList)), nowhere: constrain.NewTable(each(entries["nowhere"], func(string) bool { return true })),
		named: constrain.NewTable(each(entries["place"], namedPlace)), codes: map[string]bool{}, codeOf: entries["state"], stops: map[string]bool{"st": true, "ft": true, "mt": true, "n": true, "s": true, "w": true, "no": true},
	}
	var names []string
	for name, code := range entries["state"] {
		g.codes[strings.ToLower(code)] = true
		if !strings.Contains(name, " ") {
			names = append(names, name)
		}
		if len(name) <= 5 {
			g.stops[name] = true
		}
	}
	for name := range entries["abbr"] {
		g.stops[name] = true
	}
	g.spelled = constrain.NewCandidates(names)
	return g
})

func each[V any](in map[string]string, value func(string) V) map[string]V {
	out := make(map[string]V, len(in))
	for k, v := range in {
		out[k] = value(v)
	}
	return out
}

func codeList(s string) []any { return anys(strings.Split(s, "|")) }

func namedPlace(s string) []constrain.Condition {
	if city, state, ok := strings.Cut(s, "|"); ok {
		return inState(city, state)
	}
	return []constrain.Condition{constrain.Is("city", s)}
}

// lines yields the lines of a table that are neither blank nor comments.
func lines(table string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(table) {
			line = strings.TrimRight(line, "\r\n")
			if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if !yield(line) {
				return
			}
		}
	}
}

func anys(ss []string) []any {
	out := make([]any, len(ss))
	for i, s := range ss {
		out[i] = s
	}
	return out
}
