package check

// functionWords carry no meaning of their own: whether a statement is supported is not
// asked of them. Words of negation, comparison and cause are looked at elsewhere.
var functionWords = setOf("a", "an", "the", "this", "that", "these", "those", "there", "here", "it", "its", "itself", "he", "she", "him", "her", "his", "hers", "himself", "herself", "they", "them", "their", "theirs", "themselves",
	"we", "us", "our", "you", "your", "i", "my", "me", "who", "whom", "whose", "which", "what", "when", "where", "why", "how", "of", "in", "on", "at", "by", "for", "from", "to", "into", "onto", "with", "within", "without", "as", "than", "then",
	"and", "or", "but", "nor", "so", "if", "while", "though", "although", "because", "since", "until", "till", "after", "before", "during", "upon", "about", "approximately", "around", "over", "under", "above", "below", "between", "among", "through",
	"is", "are", "was", "were", "be", "been", "being", "am", "do", "does", "did", "done", "doing", "has", "have", "had", "having", "will", "would", "shall", "should", "may", "might", "can", "could", "must", "ought",
	"not", "no", "none", "never", "neither", "cannot", "also", "too", "very", "just", "only", "even", "still", "yet", "both", "either", "each", "every", "any", "some", "such", "other", "another", "same", "own", "more", "most", "less", "least", "few", "fewer", "much", "many", "all",
	"up", "down", "out", "off", "again", "further", "however", "therefore", "thus", "hence", "per", "via", "s", "t", "don", "etc", "unless", "whether", "one", "ones", "well", "as", "hereby", "herein", "thereof", "pursuant", "according", "accordance", "due", "owing",
	"whoever", "whomever", "whichever", "whatever", "everyone", "anyone", "someone", "versus", "vs")

// hints are words that say a number without being one.
var hints = map[string]float64{"both": 2, "single": 1, "twin": 2, "dual": 2, "once": 1, "twice": 2, "none": 0, "no": 0, "pair": 2, "couple": 2, "double": 2, "triple": 3, "sole": 1, "another": 1}

var numberWords = map[string]float64{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
	"fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}

var scales = map[string]float64{"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9}

// modifiers may stand between a number and its unit.
var modifiers = setOf("additional", "more", "further", "full", "indicated", "total", "statute", "or", "u.s", "us", "imperial", "consecutive", "flight-", "solid")

// boundsBefore are the words before a number that make it a limit.
var boundsBefore = bounded(map[bound][]string{
	above: {"more than", "over", "above", "exceeding", "exceeded", "exceeds", "exceed", "in excess of", "greater than", "higher than", "longer than", "older than", "heavier than", "larger than", "at least", "not less than", "no less than", "no fewer than", "not fewer than",
		"a minimum of", "minimum of", "minimum", "at or above", "upward of", "upwards of", "least", ">", ">=", "≥", "no lower than", "not lower than", "not below", "beyond", "at a minimum"},
	below: {"less than", "under", "below", "fewer than", "lower than", "shorter than", "younger than", "lighter than", "smaller than", "at most", "not more than", "no more than", "up to", "a maximum of", "maximum of", "maximum", "at or below", "not to exceed", "not exceeding", "not exceed",
		"<", "<=", "≤", "no greater than", "not greater than", "no higher than", "not above", "no longer than", "not over", "short of", "most", "does not exceed", "did not exceed"},
})

// boundsAfter are the words behind a number that make it a limit.
var boundsAfter = bounded(map[bound][]string{
	above: {"or more", "or greater", "or above", "or higher", "or longer", "or older", "and above", "and over", "and up", "or over", "or better"},
	below: {"or less", "or fewer", "or below", "or lower", "or under", "and below", "and under", "or shorter"},
})

func bounded(all map[bound][]string) map[string]bound {
	out := map[string]bound{}
	for b, phrases := range all {
		for _, p := range phrases {
			out[p] = b
		}
	}
	return out
}
