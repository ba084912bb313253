package aviation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// smallWords are words of up to three letters that are not abbreviations in the names
// of places and makers.
var smallWords = wordsOf("AIR BAY BIG CO CUB DE DEL DU EL FLY FOX FT INC JET LA LAS LE LOS MT NEW OAK OF OLD PT RED RIO SAN SEA SKY ST STE SUN THE VAN VON AND FOR LTD INT")

func wordsOf(s string) map[string]bool { return set(strings.Fields(s)...) }

// proper writes a name that is all in capitals as people do: LAKE COUNTY is Lake
// County, PZL BIELSKO is PZL Bielsko. A name with small letters stays as it is.
func proper(s string) string {
	if strings.ContainsFunc(s, unicode.IsLower) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		n := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
		if n < 0 {
			n = len(s)
		}
		b.WriteString(properWord(s[:n], b.String()))
		rest := s[n:]
		m := strings.IndexFunc(rest, unicode.IsLetter)
		if m < 0 {
			m = len(rest)
		}
		b.WriteString(rest[:m])
		s = rest[m:]
	}
	return b.String()
}

func properWord(word, before string) string {
	afterDigit := before != "" && before[len(before)-1] >= '0' && before[len(before)-1] <= '9'
	possessive := word == "S" && strings.HasSuffix(before, "'")
	short := utf8.RuneCountInString(word) <= 3 && !smallWords[word]
	switch {
	case possessive:
		return "s"
	case short || afterDigit || word == "":
		return word
	}
	_, size := utf8.DecodeRuneInString(word)
	return word[:size] + strings.ToLower(word[size:])
}

// article puts a or an before a phrase.
func article(phrase string) string {
	if strings.ContainsAny(phrase[:min(1, len(phrase))], "AEIOaeio8") {
		return "an " + phrase
	}
	return "a " + phrase
}

func capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// list joins with commas and a last "and".
func list(items []string) string {
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0]
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}
