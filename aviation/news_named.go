package aviation

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/sextant-rag/sextant/constrain"
)

// mentions is what an article names of aircraft and places, each once, sorted.
type mentions struct {
	aircraft      []string // makers, and types where a designation follows: CESSNA, CESSNA 172
	registrations []string
	places        []string // states and countries by their names
}

// places are names of states and countries in small letters, to how they are written.
var placeNames = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, country := range countryCodes() {
		out[strings.Join(constrain.Words(country), " ")] = country
	}
	for name, code := range loadGazetteer().codeOf {
		if len(name) > 3 && code != "GM" && code != "AO" && code != "PO" {
			out[name] = capitals(name)
		}
	}
	delete(out, "united states") // stands in every other article
	return out
})

func capitals(name string) string {
	words := strings.Fields(name)
	for i, w := range words {
		if w != "of" {
			words[i] = capital(w)
		}
	}
	return strings.Join(words, " ")
}

var (
	newsWord = regexp.MustCompile(`[\pL\pN]+`)
	newsMark = regexp.MustCompile(`\bN[1-9](?:\d{1,4}|\d{0,3}[A-HJ-NP-Z]|\d{0,2}[A-HJ-NP-Z]{2})\b`)
)

// namedIn finds aircraft, registrations and places in a text. Names are told from other
// words by their capitals; a text without small letters names nothing for sure.
func namedIn(text string) mentions {
	var out mentions
	words := newsWord.FindAllStringIndex(text, -1)
	small := strings.ContainsFunc(text, unicode.IsLower)
	for i := 0; i < len(words) && small; i++ {
		first, _ := utf8.DecodeRuneInString(text[words[i][0]:])
		if !unicode.IsUpper(first) && !unicode.IsDigit(first) {
			continue
		}
		if maker, n := longest(loadNames().makerOf, text, words[i:]); n > 0 {
			out.aircraft = append(out.aircraft, maker)
			if d := designationAfter(text, words[i+n-1:]); d != "" {
				out.aircraft = append(out.aircraft, maker+" "+d)
			}
			i += n - 1
			continue
		}
		if place, n := longest(placeNames(), text, words[i:]); n > 0 {
			out.places = append(out.places, place)
			i += n - 1
		}
	}
	out.registrations = newsMark.FindAllString(text, -1)
	out.aircraft, out.places, out.registrations = union(out.aircraft, nil), union(out.places, nil), union(out.registrations, nil)
	return out
}

// longest finds the longest entry that the words begin with, four at most, each of them
// in capitals as names are.
func longest(entries map[string]string, text string, words [][]int) (value string, n int) {
	var key []string
	for k := 0; k < min(4, len(words)); k++ {
		if k > 0 && strings.Trim(text[words[k-1][1]:words[k][0]], " -\u00a0'’&.") != "" {
			break
		}
		word := text[words[k][0]:words[k][1]]
		if r, _ := utf8.DecodeRuneInString(word); !unicode.IsUpper(r) && !unicode.IsDigit(r) && !slices.Contains([]string{"of", "and", "the"}, word) {
			break
		}
		key = append(key, strings.ToLower(word))
		if v, ok := entries[strings.Join(key, " ")]; ok {
			value, n = v, k+1
		}
	}
	return value, n
}

// designationAfter is what follows a maker's name if it is a type with a figure in it:
// 172, PA-28, 737-800.
func designationAfter(text string, words [][]int) string {
	if len(words) < 2 || text[words[0][1]:words[1][0]] != " " {
		return ""
	}
	end := words[1][1]
	for k := 2; k < len(words) && k < 4 && text[end:words[k][0]] == "-"; k++ {
		end = words[k][1]
	}
	d := strings.ToUpper(text[words[1][0]:end])
	year := len(d) == 4 && (strings.HasPrefix(d, "19") || strings.HasPrefix(d, "20"))
	if !strings.ContainsFunc(d, unicode.IsDigit) || len(d) > 12 || year {
		return ""
	}
	return d
}
