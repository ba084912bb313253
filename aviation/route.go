package aviation

import (
	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/constrain"
)

// Places that are not where something happened: where a flight came from and went to,
// where a pilot lives, where an aircraft is registered.

// Words before such a place. Of a departure it is only known that it is not the place of
// the event where another place is named: "departed Boise and crashed" may be in Boise.
var (
	bound = constrain.NewTable(map[string]string{"en route to": unrecordedRoute, "enroute to": unrecordedRoute, "on route to": unrecordedRoute, "bound for": unrecordedRoute, "headed to": unrecordedRoute, "headed for": unrecordedRoute, "heading to": unrecordedRoute, "heading for": unrecordedRoute, "destined for": unrecordedRoute,
		"on its way to": unrecordedRoute, "on the way to": unrecordedRoute, "on his way to": unrecordedRoute, "on her way to": unrecordedRoute, "on their way to": unrecordedRoute, "flying to": unrecordedRoute, "flight to": unrecordedRoute, "flights to": unrecordedRoute, "flew to": unrecordedRoute, "trip to": unrecordedRoute, "travelling to": unrecordedRoute, "traveling to": unrecordedRoute,
		"i m from": "", "i am from": "", "im from": "", "we are from": "", "we re from": "", "based in": "", "based at": "", "resident of": "", "residents of": "", "lived in": "", "lives in": "", "living in": "", "born in": "", "raised in": "", "grew up in": "", "manufactured in": "", "made in": "", "built in": "", "assembled in": "", "overhauled in": "", "bought in": "", "purchased in": "", "registered in": unrecordedRegistry, "registered to a": unrecordedRegistry})
	leaving = constrain.NewTable(map[string]bool{"departed": true, "departed from": true, "departing": true, "departing from": true, "departing for": true, "departed for": true, "left": true, "leaving": true, "leaving for": true, "took off from": true, "taking off from": true,
		"takeoff from": true, "taken off from": true, "diverted to": true, "diverting to": true, "returning to": true, "return to": true, "returned to": true, "back to": true, "originated in": true, "originating in": true, "originated at": true, "from": true})
	parting = wordSet(`departed departing left leaving`)
)

// What is said of places that the records do not tell.
const (
	unrecordedRoute    = "where a flight came from and went to is not recorded, only where the event happened"
	unrecordedRegistry = "where an aircraft is registered is not recorded"
)

// notRecorded claims the words of a place that no field holds; with no reason they are only
// no condition.
func notRecorded(from, to int, field, reason string) constrain.Claim {
	c := constrain.Claim{From: from, To: to, Weight: 9}
	if reason != "" {
		c.Cannot = &sextant.Unenforceable{Field: field, Reason: reason}
	}
	return c
}

// routes claims such places as no condition.
func routes(q *constrain.Query) []constrain.Claim {
	var out []constrain.Claim
	var elsewhere []constrain.Claim
	for i := range q.Tokens {
		if reason, at, ok := bound.At(q, i); ok {
			if at+1 < len(q.Tokens) && yearLike(q, at) && q.Word(at+1) == "in" { // born in 1950 in Texas
				at += 2
			}
			if to := placeEnd(q, at); to > at {
				field := "route"
				if reason == unrecordedRegistry {
					field = "registration"
				}
				out = append(out, notRecorded(i, to, field, reason))
			}
			continue
		}
		if c, wherever, ok := belonging(q, i); ok {
			if wherever {
				out = append(out, c)
			} else {
				elsewhere = append(elsewhere, c)
			}
			continue
		}
		if c, ok := enRoute(q, i); ok {
			out = append(out, c)
			continue
		}
		_, at, ok := leaving.At(q, i)
		if !ok {
			continue
		}
		to := placeEnd(q, at)
		if to == at {
			continue
		}
		if goal := placeEnd(q, to+1); goal > to+1 && (q.Word(to) == "to" || parting[q.Word(i)] && q.Word(to) == "for") {
			to = goal
			if q.Word(i) == "from" {
				out = append(out, notRecorded(i, to, "route", unrecordedRoute))
				continue
			}
		}
		elsewhere = append(elsewhere, notRecorded(i, to, "", ""))
	}
	return append(out, overruled(q, out, elsewhere)...)
}

// domiciled are those who live or have their seat somewhere.
var domiciled = wordSet(`company firm operator corporation corp man woman couple family families resident residents businessman businesswoman native doctor lawyer farmer rancher school owner`)

// belonging reads a place that says whose or where from something is: "Long Beach based",
// "Texas-registered" wherever it stands, "a Kansas company's Learjet" where another place is
// named.
func belonging(q *constrain.Query, i int) (c constrain.Claim, wherever, ok bool) {
	to := i
	if q.Tokens[i].Capital() || q.AllLower() {
		to = placeFrom(q, i)
	}
	if to == i || to >= len(q.Tokens) || !q.Joined(to) && q.Gap(to) != "-" {
		return constrain.Claim{}, false, false
	}
	placed := q.Joined(i) && cityBefore[q.Word(i-1)]
	switch w := q.Word(to); {
	case w == "based" && q.Word(to+1) != "on" && q.Word(to+1) != "in":
		return notRecorded(i, to+1, "", ""), true, true
	case w == "registered" && (q.Gap(to) == "-" || !placed):
		return notRecorded(i, to+1, "registration", unrecordedRegistry), true, true
	case domiciled[w] && q.Gap(to) == " " && !placed:
		return notRecorded(i, to+1, "", ""), false, true
	}
	return constrain.Claim{}, false, false
}

// enRoute reads "between Tulsa and Dallas", two towns that a flight was on its way between.
func enRoute(q *constrain.Query, i int) (constrain.Claim, bool) {
	g := loadGazetteer()
	if q.Word(i) != "between" || comparing[q.Word(i-1)] || i+1 >= len(q.Tokens) || g.isState(q, i+1, i+2) {
		return constrain.Claim{}, false
	}
	_, _, to, ok := g.cityAt(q, i+1)
	if _, end, stated := g.stateAfter(q, to); stated {
		to = end
	}
	if !ok || q.Word(to) != "and" || to+1 >= len(q.Tokens) || g.isState(q, to+1, to+2) {
		return constrain.Claim{}, false
	}
	_, _, end, ok := g.cityAt(q, to+1)
	if _, last, stated := g.stateAfter(q, end); stated {
		end = last
	}
	return notRecorded(i, end, "route", unrecordedRoute), ok
}

// comparing are words after which "between" compares.
var comparing = wordSet(`difference differences differ compare comparison choose`)

// overruled returns the departures of a question that names another place as well.
func overruled(q *constrain.Query, routes, departures []constrain.Claim) []constrain.Claim {
	if len(departures) == 0 {
		return nil
	}
	named := append(append([]constrain.Claim{}, routes...), departures...)
	for _, c := range loadGazetteer().places(q) {
		if len(c.Conditions) == 0 {
			continue
		}
		inside := false
		for _, r := range named {
			inside = inside || c.From < r.To && r.From < c.To
		}
		if !inside {
			return departures
		}
	}
	return nil
}

// placeEnd returns the token after the place that starts at token i, i if there is none.
func placeEnd(q *constrain.Query, i int) int {
	i2 := q.Skip(i, "the")
	if i2 >= len(q.Tokens) || i < 0 || !q.Joined(i2) {
		return i
	}
	if to := placeFrom(q, i2); to > i2 {
		return to
	}
	return i
}

// placeFrom returns the token after the place whose name begins with token i, i if there is none.
func placeFrom(q *constrain.Query, i2 int) int {
	g := loadGazetteer()
	if _, _, to, ok := g.cityAt(q, i2); ok {
		if _, end, stated := g.stateAfter(q, to); stated {
			return end
		}
		return max(to, g.stateOrCountry(q, i2))
	}
	return g.stateOrCountry(q, i2)
}

func (g *gazetteer) stateOrCountry(q *constrain.Query, i int) int {
	to := i
	if _, end, ok := g.stateAt(q, i); ok {
		to = end
	}
	if _, end, adjective, ok := g.countryAt(q, i); ok && !adjective {
		to = max(to, end)
	}
	if _, end, ok := g.provinces.At(q, i); ok {
		to = max(to, end)
	}
	if to == i && g.isCode(q, i) && q.Tokens[i].Upper() {
		to = i + 1
	}
	return to
}
