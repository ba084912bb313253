package check

// synonym reports whether a text has a word that means what t does.
func (r *reading) synonym(t token) bool {
	for _, s := range synonymsOf[t.stem] {
		if r.stems[s] {
			return true
		}
	}
	return false
}

// common reports whether a word is one of the language, not a name.
func common(t token) bool { return true }

var synonymsOf = map[string][]string{}

var otherNames = map[string][]string{}
