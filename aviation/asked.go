package aviation

import "strings"

// askedWords are what people ask of a case they name, and the fields that tell it.
const askedWords = `
docket link, docket links, link to the docket, links to the docket, docket url, docket address, docket, dockets, public docket, link to its docket -> docket_url
report link, report links, link to the report, links to the report, report url, link to its report -> report_url
link, links, docket and report links, docket and report link, report and docket links, docket report and record links, urls -> docket_url report_url
final out, the final out, final report out, the final report out, final yet, a final report, there a final, final report available, final report published, final published, report final, report out, preliminary report out, preliminary out, still preliminary, been finalized, been finalised, been closed, been completed, been finished, been concluded, investigation complete, investigation completed, investigation finished, investigation closed, investigation over, investigation done, investigation still open, investigation open, investigation concluded, investigation final, investigation ongoing, still open, still ongoing, still pending, still under investigation, still being investigated, case closed, case open, still in work, report status, status of the report, status of the investigation, status of the case, investigation status, current status, what status, what stage -> report_status publication_date
publication date, date of publication, published when, when was it published -> publication_date
safety recommendation flag -> safety_recommendation
`

// askedOf reads askedWords.
func askedOf() map[string][]string {
	out := map[string][]string{}
	for line := range lines(askedWords) {
		words, fields, _ := strings.Cut(line, "->")
		for phrase := range strings.SplitSeq(words, ",") {
			out[strings.TrimSpace(phrase)] = strings.Fields(fields)
		}
	}
	return out
}
