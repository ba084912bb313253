package aviation

import (
	"bytes"
	"testing"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/extract"
	"github.com/sextant-rag/sextant/source"
)

// sound checks what a contribution becomes: a document that fits the schema, and the same
// one when the contribution is merged again.
func sound(t *testing.T, c source.Contribution) {
	t.Helper()
	doc, _, err := c.Merge(nil)
	if err != nil {
		t.Fatal(err)
	}
	schema := incidentSchema()
	if err := schema.Check(doc.Meta); err != nil {
		t.Fatal(err)
	}
	for _, p := range doc.Parts {
		if p.Start < 0 || p.End > len(doc.Text) || p.Start >= p.End {
			t.Fatalf("part %+v of %d bytes", p, len(doc.Text))
		}
	}
	again, _, err := c.Merge(&doc)
	if err != nil || again.Text != doc.Text || meta(t, again) != meta(t, doc) {
		t.Fatalf("merging again changed\n%s\nto\n%s\n%v", meta(t, doc)+doc.Text, meta(t, again)+again.Text, err)
	}
}

// readSound reads a file of any layout to its end.
func readSound(t *testing.T, name string, data []byte) {
	t.Helper()
	s := NewNTSB(source.Bytes(name, data))
	inputs, err := s.Inputs(t.Context())
	if err != nil {
		if message, hint := sextant.PublicMessage(err); message == "" || hint == "" {
			t.Fatalf("an error without a message or a hint: %v", err)
		}
		return
	}
	for item, err := range inputs[0].Items(t.Context(), source.Position{}) {
		if err != nil {
			return
		}
		if item.Contribution != nil {
			sound(t, item.Contribution)
		}
	}
}

// Whatever a table or an answer of CAROL holds, each record is a document that fits the
// schema, or has a reason why not.
func FuzzNTSBFile(f *testing.F) {
	f.Add([]byte(collisionExport))
	f.Add([]byte(collisionRows))
	f.Add([]byte(carolHeader + "\"FTW01LA001\",\"1\",\"ACC\",\"2001-02-03T16:05:00Z\",\"N1, N2,N3\",\"A, B\",\"None\",\"0\",\"FALSE,TRUE\",\"In work\",\"Enroute\",\"0.0\",\"Ice.\",\"Aircraft - Fuel, Aircraft - Oil\",\"x\"\n"))
	f.Add([]byte("ev_id,Aircraft_Key,finding_no,finding_code,finding_description,Cause_Factor\nE1,2,1,01,Aircraft-Fuel-x - C,C\n"))
	f.Add([]byte("ev_id,aircraft_key,eng_no,eng_type\nE1,1,1,REC\n"))
	f.Add([]byte("ev_id,aircraft_key,narr_accp,narr_cause\nE1,1,\"a\nb\",c\n"))
	f.Add([]byte("ntsbno,event.id,findings,probablecause,x.Recommendation\nFTW01LA001,E1,Aircraft - Fuel,crew\xef\xbf\xbds,Look.\n"))
	f.Add([]byte(`{"Results":[{"Fields":[{"FieldName":"NtsbNo","Values":["UNK64X0503"]},{"FieldName":"EventDate","Values":["1964-02-08T05:00:00Z"]}]},{"Fields":null},7],"MaxResultCountReached":true}`))
	f.Fuzz(func(t *testing.T, data []byte) { readSound(t, "x.csv", data) })
}

// Whatever the text of a report says, it is an event or none.
func FuzzReport(f *testing.F) {
	f.Add("Aviation Investigation Final Report\n\nLocation: | Palmer, Alaska | Accident Number: | ANC25LA012\nDate & Time: | December 24, 2024, 16:00 Local | Registration: | N3802Z\nInjuries: | 1 None\nFindings\n\nAircraft | Airspeed - Low", 30)
	f.Add("Accident Number: ANC25LA012 Location: , Date & Time: 13/45/2020, 99:99 X\fLatitude, Longitude: | 999, 1e9", 10)
	f.Fuzz(func(t *testing.T, text string, head int) {
		in := extract.Text{Text: text}
		if head > 0 && head < len(text) {
			in.Parts = []sextant.Part{{Kind: "page", Start: 0, End: head}, {Kind: "heading2", Start: 0, End: head}, {Kind: "page", Start: head, End: len(text)}}
		}
		e, _, err := readReport(in, reading{now: clock}, "r.pdf")
		if err == nil {
			sound(t, contribution{e})
		}
	})
}

// Files of every kind cut anywhere, put together with others, with a cell of a megabyte,
// in a wrong encoding or full of noise end in documents and reasons.
func TestBrokenFilesOfEveryKind(t *testing.T) {
	files := map[string][]byte{
		"rows": []byte(collisionRows), "export": []byte(collisionExport),
		"findings": []byte("ev_id,Aircraft_Key,finding_no,finding_code,finding_description,Cause_Factor\nE1,1,1,01,Aircraft-Fuel-a-b-c - C,C\n"),
		"search":   []byte(`{"Results":[{"Fields":[{"FieldName":"NtsbNo","Values":["UNK64X0503"]},{"FieldName":"Mkey","Values":["1"]}]}]}`),
	}
	for name, data := range files {
		for i := 0; i <= len(data); i += 7 {
			readSound(t, name, data[:i])
		}
		for other, more := range files {
			readSound(t, name+" and "+other, append(bytes.Clone(data), more...))
		}
		readSound(t, name+" with a large cell", bytes.Replace(data, []byte("Piper"), bytes.Repeat([]byte("x"), 1<<20), 1))
		readSound(t, name+" with zeros", bytes.ReplaceAll(data, []byte(","), []byte(",\x00")))
		var wide []byte
		for _, b := range data {
			wide = append(wide, b, 0)
		}
		readSound(t, name+" in UTF-16 without a mark", wide)
		readSound(t, name+" in UTF-16", append([]byte("\xff\xfe"), wide...))
		for i := range data {
			if i%11 == 0 {
				noisy := bytes.Clone(data)
				noisy[i] ^= 0xa5
				readSound(t, name+" with noise", noisy)
			}
		}
	}
}
