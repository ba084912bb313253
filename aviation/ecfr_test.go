package aviation

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/source"
)

// part91 wraps sections as the eCFR service does in its answer for a part.
func part91(date, content string) string {
	if date == "" {
		date = "_SUBSTITUTE_DATE_"
	}
	return `<?xml version="1.0"?>
<DIV5 N="91" TYPE="PART" hierarchy_metadata="{&amp;quot;path&amp;quot;:&amp;quot;/on/` + date + `/title-14/part-91&amp;quot;}">
<HEAD>PART 91&#x2014;GENERAL OPERATING AND FLIGHT RULES
</HEAD>
<SOURCE><HED>Source:</HED><PSPACE>Docket No. 18334, 54 FR 34292, Aug. 18, 1989, unless otherwise noted.</PSPACE></SOURCE>
<DIV6 N="B" TYPE="SUBPART"><HEAD>Subpart B&#x2014;Flight Rules</HEAD>
` + content + `
</DIV6>
</DIV5>`
}

func section(number, title, content string) string {
	return `<DIV8 N="` + number + `" TYPE="SECTION"><HEAD>&#xA7; ` + number + ` ` + title + `</HEAD>` + content + `</DIV8>`
}

// readLaw reads one file: its documents by id, the refused records and the warnings.
func readLaw(t testing.TB, name, content string) (docs map[string]*sextant.Document, refused, warnings []string) {
	t.Helper()
	inputs, err := NewECFR(source.Bytes(name, []byte(content))).Inputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	docs = map[string]*sextant.Document{}
	schema := Regulations().Schema
	for it, err := range inputs[0].Items(t.Context(), source.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if it.Contribution == nil {
			refused = append(refused, it.Reason)
			continue
		}
		doc, _, err := it.Contribution.Merge(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(doc.Meta); err != nil {
			t.Fatal(err)
		}
		docs[string(doc.ID)] = &doc
	}
	return docs, refused, inputs[0].Notes().Warnings
}

// partsOf writes parts as "kind locator: text".
func partsOf(d *sextant.Document) []string {
	var out []string
	for _, p := range d.Parts {
		out = append(out, strings.TrimSpace(p.Kind+" "+p.Locator)+": "+d.Text[p.Start:p.End])
	}
	return out
}

func TestASectionBecomesADocument(t *testing.T) {
	docs, _, _ := readLaw(t, "part-91.xml", part91("2025-01-21", section("91.151", "Fuel requirements.",
		`<P>(a) No person may begin a flight under &#xA7; 91.103 or &#xA7;&#xA7; 61.56, 61.57, and 61.58(a)(1) of this chapter, 49 CFR 830.5 or 14 CFR 1.1&#x2014;
</P><P>(1) During the day, to fly after that for at least 1<FR>1/2</FR> hours.</P>
<P>(b) <I>Night.</I> (1) At 10<sup>2</sup> feet, 3<sup>1</sup>/<sub>2</sub> miles.</P>
<CITA TYPE="N">[Doc. No. 18334, 54 FR 34294, Aug. 18, 1989, as amended by Amdt. 91-10, 56 FR 100, Sept. 3, 1991]</CITA>`)))
	d := docs["ecfr:14/91.151@2025-01-21"]
	if d == nil {
		t.Fatalf("no such document in %v", docs)
	}
	want := []string{
		"heading: § 91.151 Fuel requirements.",
		"paragraph (a): (a) No person may begin a flight under § 91.103 or §§ 61.56, 61.57, and 61.58(a)(1) of this chapter, 49 CFR 830.5 or 14 CFR 1.1—",
		"paragraph (a)(1): (1) During the day, to fly after that for at least 1 1/2 hours.",
		"paragraph (b): (b) Night. (1) At 10^2 feet, 3 1/2 miles.",
		"paragraph (b)(1): (1) At 10^2 feet, 3 1/2 miles.",
		"note Source note: [Doc. No. 18334, 54 FR 34294, Aug. 18, 1989, as amended by Amdt. 91-10, 56 FR 100, Sept. 3, 1991]",
	}
	if diff := cmp.Diff(want, partsOf(d)); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	meta, err := d.Meta.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	wantMeta := `{"amended":"1991-09-03","cfr_part":"91","cfr_section":"91.151","part_title":"GENERAL OPERATING AND FLIGHT RULES","provision":"91.151","refers_to":["1.1","61.56","61.57","61.58","91.103"],"subpart":"B","subpart_title":"Flight Rules","title":"Fuel requirements","valid_from":"2025-01-21"}`
	if string(meta) != wantMeta {
		t.Errorf("metadata %s\nwant     %s", meta, wantMeta)
	}
	if d.Title != "14 CFR § 91.151 Fuel requirements." || d.Valid.From.Format("2006-01-02") != "2025-01-21" || d.Source.URI != "part-91.xml" {
		t.Errorf("title %q, valid %v, source %+v", d.Title, d.Valid, d.Source)
	}
}

func TestASectionWithoutANoteOfItsOwnHasThatOfItsPart(t *testing.T) {
	docs, _, _ := readLaw(t, "a.xml", part91("", section("91.7", "Airworthiness.", "<P>(a) No person may operate it.</P>")))
	d := docs["ecfr:14/91.7"]
	if d == nil || !strings.HasSuffix(d.Text, "Source: Docket No. 18334, 54 FR 34292, Aug. 18, 1989, unless otherwise noted.") || d.Meta.Fields.One("amended").String() != "1989-08-18" {
		t.Errorf("%+v", d)
	}
	if !d.Valid.From.IsZero() || !d.Meta.Fields.One("valid_from").IsZero() {
		t.Errorf("a file without a date makes the text valid from %v", d.Valid)
	}
}

// REG-04.
func TestReservedItemsAndOddAppendixNames(t *testing.T) {
	docs, refused, _ := readLaw(t, "a.xml", part91("", section("91.100", "[Reserved]", "")+
		`<DIV8 N="91.27-91.99" TYPE="SECTION"><HEAD>§§ 91.27-91.99   [Reserved]</HEAD></DIV8>
		<DIV9 N="Appendixes B-C to Part 91" TYPE="APPENDIX"><HEAD>Appendixes B-C to Part 91 [Reserved]</HEAD></DIV9>
		<DIV9 N="Appendix to Part 92" TYPE="APPENDIX"><HEAD>Appendix to Part 92—Forms</HEAD><P>Use form 1.</P></DIV9>
		<DIV9 N="Special Federal Aviation Regulation No. 97" TYPE="APPENDIX"><HEAD>Special Federal Aviation Regulation No. 97</HEAD><EDNOTE><HED>Editorial Note:</HED><PSPACE>See part 135.</PSPACE></EDNOTE></DIV9>
		<DIV9 TYPE="APPENDIX"><HEAD/></DIV9>`))
	texts := map[string]string{}
	for id, d := range docs {
		texts[id] = d.Text
	}
	want := map[string]string{
		"ecfr:14/91.100":                                             "§ 91.100 [Reserved]\nReserved: no text in force.",
		"ecfr:14/91.27-91.99":                                        "§§ 91.27-91.99 [Reserved]\nReserved: no text in force.",
		"ecfr:14/Appendixes-B-C-to-Part-91":                          "Appendixes B-C to Part 91 [Reserved]\nReserved: no text in force.",
		"ecfr:14/part-91/Appendix-to-Part-92":                        "Appendix to Part 92—Forms\nUse form 1.",
		"ecfr:14/part-91/Special-Federal-Aviation-Regulation-No.-97": "Special Federal Aviation Regulation No. 97\nEditorial Note: See part 135.",
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(refused) != 1 || !strings.Contains(refused[0], "no name") {
		t.Errorf("refused %q", refused)
	}
	if f := docs["ecfr:14/Appendixes-B-C-to-Part-91"].Meta.Fields; !f.One("cfr_section").IsZero() || f.One("cfr_part").Str() != "91" {
		t.Errorf("an appendix has the fields %v", f)
	}
}

// REG-05.
func TestLetterIOrRomanI(t *testing.T) {
	for name, c := range map[string]struct{ labels, want string }{
		"letters only":        {"a b c d e f g h i j", "(a) (b) (c) (d) (e) (f) (g) (h) (i) (j)"},
		"nested":              {"a b c 1 i ii 2 d", "(a) (b) (c) (c)(1) (c)(1)(i) (c)(1)(ii) (c)(2) (d)"},
		"letter after number": {"a b c d e f g h 1 2 i j", "(a) (b) (c) (d) (e) (f) (g) (h) (h)(1) (h)(2) (i) (j)"},
		"letter i with 1":     {"a b c d e f g h 1 2 i 1 2 j", "(a) (b) (c) (d) (e) (f) (g) (h) (h)(1) (h)(2) (i) (i)(1) (i)(2) (j)"},
		"roman under h":       {"a b c d e f g h 1 i ii 2 i", "(a) (b) (c) (d) (e) (f) (g) (h) (h)(1) (h)(1)(i) (h)(1)(ii) (h)(2) (h)(2)(i)"},
		"one roman under h":   {"a b c d e f g h 1 i 2 i 3", "(a) (b) (c) (d) (e) (f) (g) (h) (h)(1) (h)(1)(i) (h)(2) (h)(2)(i) (h)(3)"},
		"deep":                {"a 1 i A *1 *i *ii *2 B ii 2 b", "(a) (a)(1) (a)(1)(i) (a)(1)(i)(A) (a)(1)(i)(A)(1) (a)(1)(i)(A)(1)(i) (a)(1)(i)(A)(1)(ii) (a)(1)(i)(A)(2) (a)(1)(i)(B) (a)(1)(ii) (a)(2) (b)"},
		"no number between":   {"a i ii b", "(a) (a)(i) (a)(ii) (b)"},
		"numbers first":       {"1 i ii 2", "(1) (1)(i) (1)(ii) (2)"},
		"roman to v":          {"u 1 i ii iii iv v vi 2 v", "(u) (u)(1) (u)(1)(i) (u)(1)(ii) (u)(1)(iii) (u)(1)(iv) (u)(1)(v) (u)(1)(vi) (u)(2) (v)"},
		"doubled letters":     {"y z aa bb", "(y) (z) (aa) (bb)"},
	} {
		var labels []label
		for _, s := range strings.Fields(c.labels) {
			text, italic := strings.CutPrefix(s, "*")
			labels = append(labels, label{text: text, italic: italic})
		}
		var o outline
		var got []string
		for i, l := range labels {
			got = append(got, o.path(l, labels[i+1:]))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", name, c.labels, strings.Join(got, " "), c.want)
		}
	}
}

func TestRomanNumeralsThereAndBack(t *testing.T) {
	for n := 1; n < 400; n++ {
		if got := fromRoman(toRoman(n)); got != n {
			t.Errorf("%d is %s, read as %d", n, toRoman(n), got)
		}
	}
	for _, s := range []string{"", "iiii", "vx", "ic", "d", "b", "iix"} {
		if n := fromRoman(s); n != 0 {
			t.Errorf("%q is read as %d", s, n)
		}
	}
}

// REG-07.
func TestTablesAndPictures(t *testing.T) {
	docs, _, warnings := readLaw(t, "a.xml", part91("", section("91.155", "Minimums.", `<P>(a) As in the table:</P>
		<DIV width="100%"><DIV class="gpotbl_div"><TABLE><CAPTION><P>Table 1</P></CAPTION><THEAD><TR><TH>Airspace</TH><TH>Visibility<br/>by day</TH><TH>Clouds</TH></TR></THEAD>
		<TBODY><TR><TD>Class C</TD><TD>3 statute
		miles</TD><TD>500 feet below.</TD></TR><TR><TD> </TD><TD/><TD>1,000 feet above.</TD></TR><TR><TD/></TR></TBODY></TABLE></DIV></DIV>
		<P>(1) A formula:</P><MATH><img src="/graphics/er26no02.001.gif"/></MATH><P>(b) An end.</P>`)))
	want := []string{
		"heading: § 91.155 Minimums.", "paragraph (a): (a) As in the table:", "paragraph (a): Table 1",
		"table (a) table: Airspace | Visibility by day | Clouds\nClass C | 3 statute miles | 500 feet below.\n| | 1,000 feet above.",
		"paragraph (a)(1): (1) A formula:", "paragraph: [Figure not available: er26no02.001.gif]", "paragraph (b): (b) An end.",
	}
	got := partsOf(docs["ecfr:14/91.155"])
	if diff := cmp.Diff(want, got[:len(got)-1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "only pictures, marked in the text: 1.") {
		t.Errorf("warnings %q", warnings)
	}
}

// REG-08.
func TestPendingAmendmentsAreNotTheRule(t *testing.T) {
	rule := `<P>(a) See &#xA7; 91.103.</P><CROSSREF><HED>Cross Reference:</HED><P>See part 1.</P></CROSSREF>`
	notice := `<XREF ID="20241121" REFID="42">Link to an amendment published at 89 FR 92486, Nov. 21, 2024.</XREF>`
	with, _, warnings := readLaw(t, "a.xml", part91("", section("91.1", "Applicability.", notice+rule)))
	without, _, _ := readLaw(t, "a.xml", part91("", section("91.1", "Applicability.", rule)))
	if diff := cmp.Diff(partsOf(without["ecfr:14/91.1"]), partsOf(with["ecfr:14/91.1"])); diff != "" {
		t.Errorf("a notice changes the text:\n%s", diff)
	}
	a, errA := with["ecfr:14/91.1"].ComputeRevision()
	b, errB := without["ecfr:14/91.1"].ComputeRevision()
	if a != b || errA != nil || errB != nil {
		t.Errorf("a notice changes the revision: %s, %s (%v, %v)", a, b, errA, errB)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "left out of the text: 1.") {
		t.Errorf("warnings %q", warnings)
	}
	if text := with["ecfr:14/91.1"].Text; !strings.Contains(text, "See § 91.103.") || !strings.Contains(text, "See part 1.") {
		t.Errorf("a reference is missing: %s", text)
	}
}

// REG-10.
func TestMisplacedNodes(t *testing.T) {
	docs, refused, _ := readLaw(t, "a.xml", part91("", section("91.621", "Over water.", "<P>(a) One.</P>"+section("91.623", "Two.", "<P>Second.</P>")+section("91.625", "Three.", "<P>Third.</P>")+"<P>(b) Last.</P>")+
		`<DIV9 N="Appendix A to Part 91" TYPE="APPENDIX"><HEAD>Appendix A to Part 91—Category II</HEAD><P>1. <I>Use.</I></P></DIV9>`+section("91.621", "Again.", "<P>Other.</P>")))
	if len(docs) != 4 || docs["ecfr:14/Appendix-A-to-Part-91"] == nil {
		t.Fatalf("documents %v", docs)
	}
	if text := docs["ecfr:14/91.621"].Text; !strings.HasPrefix(text, "§ 91.621 Over water.\n(a) One.\n(b) Last.\n") {
		t.Errorf("91.621 is %q", text)
	}
	if text := docs["ecfr:14/91.625"].Text; !strings.HasPrefix(text, "§ 91.625 Three.\nThird.\n") {
		t.Errorf("91.625 is %q", text)
	}
	if len(refused) != 1 || !strings.Contains(refused[0], "91.621 stands in the file more than once") {
		t.Errorf("refused %q", refused)
	}
}

// REG-11.
func TestEntitiesAndHostileXML(t *testing.T) {
	docs, _, warnings := readLaw(t, "a.xml", part91("", section("91.3", "Pilot&nbsp;in command&#x2014;&mdash;.", `<P>(a) A &bogus; and &#1114112; &#0; &amp;lt; AT&T.</P>`)+section("91.5", "Next.", "<P>Whole.</P>")))
	if text := docs["ecfr:14/91.3"].Text; !strings.HasPrefix(text, "§ 91.3 Pilot in command——.\n(a) A &bogus; and &#1114112; &#0; &lt; AT&T.\n") {
		t.Errorf("text %q", text)
	}
	if docs["ecfr:14/91.5"] == nil || len(warnings) != 1 || !strings.Contains(warnings[0], "written: 4 (\"&bogus;\", \"&#1114112;\", \"&#0;\", \"&\").") || !strings.Contains(warnings[0], "&bogus;") {
		t.Errorf("%d documents, warnings %q", len(docs), warnings)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	evil := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;"><!ENTITY file SYSTEM "file://` + secret + `">]>` +
		strings.TrimPrefix(part91("", section("91.3", "Evil.", "<P>&file;&lol2;</P>")), `<?xml version="1.0"?>`)
	docs, _, _ = readLaw(t, "evil.xml", evil)
	if text := docs["ecfr:14/91.3"].Text; !strings.Contains(text, "&file;&lol2;") {
		t.Errorf("text %q", text)
	}
}

// readAll reads a file to its end and returns what ended it.
func readAll(ctx context.Context, b source.Blob) (items []source.Item, err error) {
	inputs, err := NewECFR(b).Inputs(ctx)
	if err != nil {
		return nil, err
	}
	for it, err := range inputs[0].Items(ctx, source.Position{}) {
		if err != nil {
			return items, err
		}
		items = append(items, it)
	}
	return items, nil
}

func TestLimits(t *testing.T) {
	huge := section("91.1", "Huge.", strings.Repeat("<P>"+strings.Repeat("word ", 50_000)+"</P>", 40))
	docs, refused, _ := readLaw(t, "a.xml", part91("", huge+section("91.3", "Small.", "<P>Whole.</P>")))
	if len(refused) != 1 || !strings.Contains(refused[0], "larger than") || docs["ecfr:14/91.3"] == nil {
		t.Errorf("%d documents, refused %q", len(docs), refused)
	}
	for name, c := range map[string]struct {
		content string
		want    error
	}{
		"depth":       {section("91.1", "Deep.", strings.Repeat("<X>", 100)+strings.Repeat("</X>", 100)), errDepth},
		"declaration": {"<!--" + strings.Repeat("x", 2<<20) + "-->", errTokenSize},
		"references":  {section("91.1", "Odd.", "<P>"+strings.Repeat("&x;", maxOddities+1)+"</P>"), errOddities},
	} {
		if _, err := readAll(t.Context(), source.Bytes("a.xml", []byte(part91("", c.content)))); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	items, err := readAll(t.Context(), source.Bytes("cut.xml", []byte(part91("", section("91.1", "Whole.", "<P>x</P>")+`<DIV8 N="91.2"><HEAD>§ 9`))))
	if len(items) != 1 || err == nil || !strings.Contains(err.Error(), "cut.xml, line") {
		t.Errorf("a file that is cut off: %d items, %v", len(items), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readAll(ctx, source.Bytes("a.xml", []byte(part91("", "")))); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFilesThatAreNoRegulations(t *testing.T) {
	for content, says := range map[string]string{
		"Event.Id,Country\n1,2\n": "no XML file",
		"":                        "no XML file",
		"<rss><channel/></rss>":   "root element is \"rss\"",
		"<CFRDOC><FMTR><TITLEPG><TITLENUM>Title 49</TITLENUM></TITLEPG></FMTR>x": "title 49",
		`<ECFR><DIV1 N="49" TYPE="TITLE"/>x`:                                     "title \"49\"",
	} {
		if _, err := readAll(t.Context(), source.Bytes("a.xml", []byte(content))); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", content, err, says)
		}
	}
	if _, err := OpenECFR(t.TempDir()); sextant.ErrorCode(err) != sextant.CodeBadRequest {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestAFolderGzipAndGoingOn(t *testing.T) {
	dir := t.TempDir()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprint(z, part91("", section("91.1", "One &odd;.", "<P>1</P>")+"\n"+section("91.3", "Two.", "<P>2</P>")+section("91.5", "Three.", "<P>3</P>")))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "part-91.xml.gz"), zipped.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := OpenECFR(dir)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := src.Inputs(t.Context())
	if err != nil || len(inputs) != 1 {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	all := slices.Collect(itemsAfter(t, inputs[0], source.Position{}))
	if len(all) != 3 || all[1].At.Line != all[0].At.Line+1 || inputs[0].Consumed() != inputs[0].Size() {
		t.Fatalf("items %+v, %d of %d bytes", all, inputs[0].Consumed(), inputs[0].Size())
	}
	for i, it := range all {
		rest := slices.Collect(itemsAfter(t, inputs[0], it.Next))
		if len(rest) != len(all)-i-1 || len(rest) > 0 && rest[0].ID != all[i+1].ID {
			t.Errorf("after item %d there are %d more", i, len(rest))
		}
	}
	text := part91("", section("91.1", "One &odd;.", "<P>1</P>")+"\n"+section("91.3", "Two.", "<P>2</P>"))
	if at := all[1].At.Offset; !strings.HasPrefix(text[at:], `<DIV8 N="91.3"`) {
		t.Errorf("91.3 is said to start at byte %d: %.30q", at, text[at:])
	}
}

func itemsAfter(t *testing.T, in source.Input, at source.Position) func(func(source.Item) bool) {
	return func(yield func(source.Item) bool) {
		for it, err := range in.Items(t.Context(), at) {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(it) {
				return
			}
		}
	}
}

func TestMergeDoesNotDependOnTheOrder(t *testing.T) {
	cite := func(date string) string { return section("91.1", "A.", "<P>"+date+"</P><CITA>["+date+"]</CITA>") }
	read := func(name, date string) edition {
		docs, _, _ := readLaw(t, name, part91("", cite(date)))
		return edition{*docs["ecfr:14/91.1"]}
	}
	files := []edition{read("a.xml", "Oct. 10, 1978"), read("b.xml", "Aug. 18, 1989"), read("c.xml", "Aug. 18, 1989"), read("d.xml", "Jan. 1, 1970")}
	for i := range files {
		var doc *sextant.Document
		for j := range 2 * len(files) {
			d, _, err := files[(i+j*3)%len(files)].Merge(doc)
			if err != nil {
				t.Fatal(err)
			}
			doc = &d
		}
		if doc.Source.URI != "c.xml" {
			t.Errorf("starting with %d, %s counts", i, doc.Source.URI)
		}
	}
	replaced := read("c.xml", "Jan. 1, 1970")
	if d, _, err := replaced.Merge(&files[2].doc); err != nil || d.Text != replaced.doc.Text {
		t.Errorf("a file replaced under its name does not count: %s (%v)", d.Text, err)
	}
}

// Whatever the bytes are, parts lie inside the text, and reading ends.
func FuzzECFR(f *testing.F) {
	f.Add(part91("2025-01-21", section("91.1", "A.", `<P>(a) <I>B.</I> (1) C<sup>1</sup>/<sub>2</sub></P><TABLE><TR><TD>x</TD></TR></TABLE><img src="y"/>`)))
	f.Add(part91("", section("91.1", "[Reserved]", section("91.3", "&odd;", "<XREF>Link to an amendment</XREF>"))))
	f.Add(`<ECFR><AMDDATE>Dec. 29, 2022(fm)</AMDDATE><DIV9 N="Appendix A"/></ECFR>`)
	f.Fuzz(func(t *testing.T, content string) {
		items, _ := readAll(t.Context(), source.Bytes("a.xml", []byte(content)))
		schema := Regulations().Schema
		for i, it := range items {
			if it.At.Record != int64(i) || it.Next.Record != int64(i)+1 || it.Next.Offset < it.At.Offset {
				t.Fatalf("item %d is at %+v, the next at %+v", i, it.At, it.Next)
			}
			if it.Contribution == nil {
				continue
			}
			doc, _, err := it.Contribution.Merge(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range doc.Parts {
				if p.Start < 0 || p.Start > p.End || p.End > len(doc.Text) {
					t.Fatalf("part %+v of %d bytes", p, len(doc.Text))
				}
			}
			if err := schema.Check(doc.Meta); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The definitions of a section are entries: each a part under its term, with its list.
func TestDefinitionsAreEntries(t *testing.T) {
	text := `<DIV5 N="1" TYPE="PART"><HEAD>PART 1—DEFINITIONS</HEAD><DIV8 N="1.1" TYPE="SECTION"><HEAD>§ 1.1 General definitions.</HEAD>
<P>As used in Subchapters A through K of this chapter, unless the context requires otherwise:</P>
<P><I>Accelerate-stop distance</I> means the runway length.</P>
<P><I>Category:</I></P><P>(1) As used with respect to airmen, a class; and</P><P>(2) As used with respect to aircraft, a grouping.</P>
<P><I>Pilot in command</I> means the person who:</P><P>(1) Has final authority;</P><P>(2) Has been designated—</P><P>(i) Before the flight; or</P><P>(ii) During it.</P>
<P><I>Note</I> that nothing is defined here.</P></DIV8></DIV5>`
	items, err := readAll(t.Context(), source.Bytes("1.xml", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	doc, _, err := items[0].Contribution.Merge(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range doc.Parts {
		if p.Kind == partDefinition || p.Kind == partParagraph && p.Locator != "" {
			got = append(got, p.Kind+" "+p.Locator)
		}
	}
	want := []string{"definition Accelerate-stop distance", "definition Category", "paragraph Category (1)", "paragraph Category (2)", "definition Pilot in command",
		"paragraph Pilot in command (1)", "paragraph Pilot in command (2)", "paragraph Pilot in command (2)(i)", "paragraph Pilot in command (2)(ii)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Accelerate-stop distance", "Category", "Pilot in command"}, keywords(doc.Meta.Fields["defines"])); diff != "" {
		t.Errorf("defines (-want +got):\n%s", diff)
	}
}
