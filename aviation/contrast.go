package aviation

import "github.com/sextant-rag/sextant/constrain"

var contrastWords = constrain.NewTable(map[string]bool{"not": true, "but not": true, "as opposed to": true, "rather than": true, "and not": true, "instead of": true, "other than": true, "excluding": true, "no": true})

// contrasts claims "incidents, as opposed to accidents": one kind of event set against
// the other. Alone either word only says that events are meant.
func contrasts(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		kind := kindOfEvent(q.Word(i))
		if kind == "accident" && q.Word(i+1) == "only" && q.Joined(i+1) && (i == 0 || !q.Joined(i) || beforeOnly[q.Word(i-1)]) {
			out = append(out, constrain.Claim{From: i, To: i + 2, Conditions: []constrain.Condition{constrain.Is("investigation_type", kind)}, Weight: 6})
			continue
		}
		_, at, ok := contrastWords.At(q, i+1)
		if kind == "" || !ok {
			continue
		}
		if other := kindOfEvent(q.Word(at)); other != "" && other != kind {
			out = append(out, constrain.Claim{From: i, To: at + 1, Conditions: []constrain.Condition{constrain.Is("investigation_type", kind)}, Weight: 6})
		}
	}
	return out
}

// beforeOnly are words before "accidents only" that leave the "only" to the accidents: in "US
// accidents only" it belongs to the place.
var beforeOnly = wordSet(`list show count find give include for of as`)

func kindOfEvent(word string) string {
	switch word {
	case "accident", "accidents":
		return "accident"
	case "incident", "incidents":
		return "incident"
	}
	return ""
}
