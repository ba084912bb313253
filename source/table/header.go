package table

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// label returns what people call a column: its name in words, lower case but for
// abbreviations, and the unit in parentheses or brackets that stands after it.
func label(name string) (text, unit string) {
	if at := strings.IndexAny(name, "(["); at > 0 {
		inner := strings.TrimRight(name[at+1:], ")] ")
		name = name[:at]
		if inner = strings.TrimSpace(inner); unitWord(inner) || currency(inner) {
			unit = inner
		}
	}
	words := headerWords(name)
	for i, w := range words {
		if strings.ToUpper(w) != w || len(words) == len(strings.Fields(strings.ToUpper(name))) && strings.ToUpper(name) == name {
			words[i] = strings.ToLower(w)
		}
	}
	return strings.Join(words, " "), unit
}

// hump is where a word begins within a name in camel case.
var hump = regexp.MustCompile(`([\p{Ll}\d])(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})`)

// headerWords cuts a column's name into words.
func headerWords(name string) []string {
	name = hump.ReplaceAllString(name, "$1$3 $2$4")
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// folds are letters that have no accent to take off.
var folds = strings.NewReplacer("ß", "ss", "æ", "ae", "ø", "o", "œ", "oe", "ł", "l", "đ", "d", "ı", "i")

// fieldName makes the name of a field of a column's: letters, digits and underscores of
// ASCII, not one of those taken.
func fieldName(name string, place int, taken []string) string {
	text, _ := label(name)
	var b strings.Builder
	for _, r := range norm.NFKD.String(folds.Replace(strings.ToLower(text))) {
		switch {
		case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('_')
		}
	}
	out := strings.Trim(b.String(), "_")
	switch {
	case out == "":
		out = "column_" + strconv.Itoa(place+1)
	case out[0] >= '0' && out[0] <= '9':
		out = "n_" + out
	case slices.Contains(keyWords, out):
		out += "_value"
	}
	for n, base := 2, out; slices.Contains(taken, out); n++ {
		out = base + "_" + strconv.Itoa(n)
	}
	return out
}

// keyWords of EXPR would be read as such.
var keyWords = []string{"and", "or", "not", "in", "all", "none", "between", "contains", "exists", "above", "below"}

// hints are words of headers that say what a column is for. They decide nothing that the
// cells contradict.
type hints map[string]bool

func hintsOf(text string) hints {
	out := hints{}
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}

var (
	idWords     = hintsOf("id ids uuid guid key no nr number num ref reference code sku identifier #")
	codeWords   = hintsOf("zip zipcode postal postcode plz phone telephone tel fax mobile sku isbn ean upc gtin barcode imei iban ssn account serial")
	whenWords   = hintsOf("date time day at on timestamp created updated opened closed modified when since until start end due born birth dob datum fecha")
	futureWords = hintsOf("due expires expiry expiration deadline until valid renewal planned scheduled launch next end best")
	flagWords   = hintsOf("is has was are flag active enabled")
	titleWords  = hintsOf("title subject headline summary name heading caption topic betreff titel titre titulo")
	textWords   = hintsOf("description body text notes note comment comments details narrative message content abstract review remarks report beschreibung")
	madeWords   = hintsOf("created opened date reported submitted ordered order visit admitted admission start published received timestamp datum issued logged")
	listWords   = hintsOf("tags tag labels categories genres skills languages keywords topics features symptoms allergies ingredients authors")
)

// any reports whether a word of the column's name is among the hints.
func (h hints) any(name string) bool {
	return slices.ContainsFunc(headerWords(name), func(w string) bool { return h[strings.ToLower(w)] })
}

// last reports whether the column's name ends with one of the hints, or is "#".
func (h hints) last(name string) bool {
	words := headerWords(name)
	return len(words) > 0 && h[strings.ToLower(words[len(words)-1])] || strings.TrimSpace(name) == "#"
}

// first reports whether the column's name begins with one of the hints.
func (h hints) first(name string) bool {
	words := headerWords(name)
	return len(words) > 0 && h[strings.ToLower(words[0])]
}
