package aviation

import "github.com/sextant-rag/sextant/constrain"

var contrastWords = constrain.NewTable(map[string]bool{"not": true, "but not": true, "as opposed to": true, "rather than": true, "and not": true, "instead of": true, "other than": true, "excluding": true, "no": true})

// contrasts claims "incidents, as opposed to accidents": one kind of event set against
// the other. Alone either word only says that events are meant.
func contrasts(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	for i := range q.Tokens {
		kind := kindOfEvent(q.Word(i))
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

func kindOfEvent(word string) string {
	switch word {
	case "accident", "accidents":
		return "accident"
	case "incident", "incidents":
		return "incident"
	}
	return ""
}
