package httpapi

import (
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
)

// Markup where text should be (UI-01): if any of it ever ran, the browser test would see
// a dialog, a request or a changed title.
var payloads = []string{
	`<img src=/hostile-image onerror="alert(1)">`,
	`<svg onload="document.title='owned'">`,
	`<iframe srcdoc="<script>parent.document.title='owned'</script>"></iframe>`,
	`**<img src=/hostile-bold onerror=alert(2)>**`,
	"`<script>fetch('/hostile-code')</script>`",
	"```mermaid\ngraph TD; A[<img src=/hostile-mermaid onerror=alert(3)>]\n```",
	`$$\href{javascript:alert(4)}{x}$$`,
	`[click](javascript:alert(5))`,
	`"><script>alert(6)</script>`,
	`{{constructor.constructor('alert(7)')()}}`,
}

const hostileQuestion = `What about <script>alert(8)</script> '; DROP TABLE x;-- {{7*7}} $(reboot)?`

func payload(i int) string { return payloads[i%len(payloads)] }

func hostileDocument() sextant.Document {
	fields := keywords("event_id", payload(0), "city", payload(1), "operator", payload(2))
	return document(`ntsb:"><img src=/hostile-id onerror=alert(9)>`, "incidents", payload(0), filter.Meta{Fields: fields, Groups: map[string][]filter.Fields{"aircraft": {keywords("make", payload(3), "model", payload(4))}}},
		section{"facts", payload(5), payload(6)}, section{"narrative", payload(7), strings.Join(payloads, "\n")})
}

func hostile() sextant.Answer {
	d := hostileDocument()
	q := quote(d, payloads[2])
	finding := func(i int) sextant.Finding {
		return sextant.Finding{Text: payload(i), Quotes: []sextant.Quote{q}, Source: payload(i + 1), Confidence: payload(i + 2)}
	}
	return answer(hostileQuestion, sextant.Answered, payload(0), func(a *sextant.Answer) {
		c := constraint(payload(1), sextant.OpEq, payload(2), 1, 1, payload(3))
		c.Assumed, c.Collections = payload(4), []string{payload(5)}
		a.Ledger = ledger(1, payload(6), c)
		a.Ledger.Relaxations = []sextant.Relaxation{{Drop: []string{payload(1)}, DropAt: []int{0}, Count: 1}}
		a.Ledger.Available = []sextant.Available{{Field: payload(1), Values: [][]any{{payload(2), 1}}}}
		a.Ledger.Unenforceable = []sextant.Unenforceable{{Text: payload(3), Reason: payload(4)}}
		a.Ledger.UnknownValues = []sextant.UnknownValue{{Text: payload(5), Nearest: []string{payload(6)}}}
		a.Ledger.Ambiguous = []sextant.Ambiguity{{Text: payload(7), Readings: []sextant.Reading{{Field: payload(1), Values: []any{payload(8)}, Note: payload(9)}}}}
		a.Ledger.OutsideCoverage = []string{payload(0)}
		a.Findings, a.CausalChain = []sextant.Finding{finding(0), finding(3)}, []sextant.Finding{finding(1)}
		a.Regulatory = []sextant.Regulatory{{Regulation: payload(2), Relevance: payload(3), ComplianceStatus: payload(4), Version: payload(5), Quotes: []sextant.Quote{q}}}
		a.Conflicts = []sextant.Conflict{{Subject: payload(6), Sides: []sextant.Finding{finding(4), finding(5)}}}
		a.Computed = []sextant.Computed{{Kind: "group", Title: payload(7), UnitLabel: payload(8), Total: 1, Columns: []string{payload(9), payload(0)}, Rows: [][]any{{payload(1), 1}, {payload(2), payload(3)}},
			IDs: []string{payload(4), string(d.ID)}, Filter: payload(5), Method: sextant.Method{Unit: payload(6), Scope: payload(7), Period: payload(8), Notes: []string{payload(9)}, CountedAs: [][]any{{payload(0), 1}},
				OtherCounts: []sextant.OtherCount{{Rule: payload(1), Count: 1, Why: payload(2)}}, Files: []string{payload(3)}, Unknown: []string{payload(4)}}}}
		a.Caveats, a.Suggestions = []string{payload(3)}, []string{payload(4)}
		a.Missing = []sextant.Aspect{{Name: payload(5)}}
		a.Degraded = []sextant.Degradation{{Stage: payload(6), Reason: payload(7)}}
		a.NotHeld = []sextant.NotHeld{{Collection: payload(8), Reason: payload(9), Command: payload(0)}}
		a.Removed = []sextant.Removed{{Text: payload(1), Reason: payload(2)}}
		a.Evidence = []sextant.Passage{passage(d, 0, payloads[2], 1)}
	})
}
