package aviation

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"html"

	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/fetch"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/store"
)

// structure is a level of the eCFR's answer about how a title is made up.
type structure struct {
	ID       string      `json:"identifier"`
	Label    string      `json:"label"`
	Type     string      `json:"type"`
	Reserved bool        `json:"reserved"`
	Children []structure `json:"children"`
}

func (s structure) walk(f func(structure)) {
	f(s)
	for _, c := range s.Children {
		c.walk(f)
	}
}

// fakeECFR answers as the versioner service does, for title 14 as of 2025-01-21: part 135
// as the real service gave it, of the other parts the sections that are held with their
// text and all others with one made from their heading. It counts what it was asked.
type fakeECFR struct {
	*httptest.Server
	parts map[string]structure
	texts map[string]string // of sections, as paragraphs
	whole map[string][]byte

	mu    sync.Mutex
	asked map[string]int
	fail  map[string]int // path to the status to answer
	plain bool           // do not compress, and claim to
}

const fakeDate = "2025-01-21"

func newFakeECFR(t *testing.T) *fakeECFR {
	t.Helper()
	f := &fakeECFR{parts: map[string]structure{}, texts: heldSections(t), whole: map[string][]byte{}, asked: map[string]int{}, fail: map[string]int{}}
	in, err := os.Open(shared(t, "ecfr-title14", "title-14-structure.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	var title structure
	if err := json.NewDecoder(z).Decode(&title); err != nil {
		t.Fatal(err)
	}
	title.walk(func(s structure) {
		if s.Type == "part" {
			f.parts[s.ID] = s
		}
	})
	if f.whole["135"], err = os.ReadFile(shared(t, "ecfr-title14", "part-135.xml")); err != nil {
		t.Fatal(err)
	}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

// heldSections reads the sections of parts 1, 61, 91 and 121 whose text is held.
func heldSections(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(shared(t, "ecfr-title14", "selected-sections.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, section := range strings.Split(string(data), "\n## § ")[1:] {
		head, body, _ := strings.Cut(section, "\n")
		number, _, _ := strings.Cut(head, " ")
		var b strings.Builder
		for _, p := range strings.Split(strings.TrimSpace(body), "\n\n") {
			if strings.HasPrefix(p, "[") {
				b.WriteString("<CITA TYPE=\"N\">" + html.EscapeString(p) + "</CITA>")
			} else {
				b.WriteString("<P>" + html.EscapeString(p) + "</P>")
			}
		}
		out[number] = b.String()
	}
	return out
}

func (f *fakeECFR) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked[r.URL.RequestURI()]++
	status := f.fail[r.URL.Path]
	f.mu.Unlock()
	part := r.URL.Query().Get("part")
	switch {
	case status != 0:
		w.WriteHeader(status)
	case !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"):
		w.WriteHeader(http.StatusNotAcceptable)
	case r.URL.Path == "/api/versioner/v1/titles.json":
		f.send(w, []byte(`{"titles":[{"number":13,"up_to_date_as_of":"2024-01-01"},{"number":14,"name":"Aeronautics and Space","latest_issue_date":"2025-01-17","up_to_date_as_of":"`+fakeDate+`","reserved":false}],"meta":{"import_in_progress":false}}`))
	case r.URL.Path == "/api/versioner/v1/full/"+fakeDate+"/title-14.xml" && f.whole[part] != nil:
		f.send(w, f.whole[part])
	case r.URL.Path == "/api/versioner/v1/full/"+fakeDate+"/title-14.xml" && f.parts[part].ID != "":
		f.send(w, []byte("<?xml version=\"1.0\"?>\n"+f.xml(f.parts[part])))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (f *fakeECFR) send(w http.ResponseWriter, data []byte) {
	w.Header().Set("Content-Encoding", "gzip")
	if f.plain {
		w.Write(data)
		return
	}
	z := gzip.NewWriter(w)
	_, _ = z.Write(data)
	_ = z.Close()
}

// xml writes a division as the service does.
func (f *fakeECFR) xml(s structure) string {
	levels := map[string]string{"part": "DIV5", "subpart": "DIV6", "subject_group": "DIV7", "section": "DIV8", "appendix": "DIV9"}
	name := levels[s.Type]
	var b strings.Builder
	fmt.Fprintf(&b, `<%s N="%s" TYPE="%s" hierarchy_metadata="{&quot;path&quot;:&quot;/on/_SUBSTITUTE_DATE_/title-14/%s&quot;}"><HEAD>%s</HEAD>`+"\n",
		name, html.EscapeString(s.ID), strings.ToUpper(s.Type), html.EscapeString(s.Type+"-"+s.ID), html.EscapeString(s.Label))
	if s.Type == "section" && !s.Reserved {
		text := f.texts[s.ID]
		if text == "" {
			text = "<P>(a) This stands for the text of " + html.EscapeString(s.Label) + "</P><P>(1) It is made from the heading alone.</P>"
		}
		b.WriteString(text)
	}
	for _, c := range s.Children {
		b.WriteString(f.xml(c))
	}
	return b.String() + "</" + name + ">\n"
}

func (f *fakeECFR) requests() (total int, repeated []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for uri, n := range f.asked {
		if total += n; n > 1 {
			repeated = append(repeated, uri)
		}
	}
	return total, repeated
}

func (f *fakeECFR) service(cache string) ECFRService {
	return ECFRService{URL: f.URL, Client: fetch.New(fetch.Options{Permit: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Timeout: 5 * time.Second}), Cache: cache}
}

// All five parts from a service like the real one: what is received is what the title's
// structure lists, each part and date is asked for once, and from then on nothing is.
func TestPartsAreFetchedOnceAndMatchTheStructure(t *testing.T) {
	fake, cache, st := newFakeECFR(t), t.TempDir(), openStore(t)
	run := func() sextant.Receipt {
		t.Helper()
		src, err := fake.service(cache).Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: Regulations(), Source: src})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := run()
	if total, repeated := fake.requests(); total != 6 || len(repeated) > 0 {
		t.Errorf("%d requests, asked again: %v", total, repeated)
	}
	c, err := st.Open(t.Context(), "regulations")
	if err != nil {
		t.Fatal(err)
	}
	unreserved, records := 0, int64(0)
	for i, part := range ECFRParts {
		want := map[string]bool{}
		fake.parts[part].walk(func(s structure) {
			if s.Type == "section" || s.Type == "appendix" {
				want[s.ID] = s.Reserved
				if s.Type == "section" && !s.Reserved {
					unreserved++
				}
			}
		})
		if got := first.Files[i]; got.Read != int64(len(want)) || got.Records[sextant.Stored] != got.Read {
			t.Errorf("part %s: the structure lists %d, received %v", part, len(want), got.Records)
		}
		records += int64(len(want))
		held := map[string]bool{}
		for doc, err := range c.Scan(t.Context(), filter.Eq{Field: "cfr_part", Value: filter.OfString(part)}) {
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(string(doc.ID), "@"+fakeDate) || doc.Valid.From.Format(time.DateOnly) != fakeDate {
				t.Errorf("%s is of %s", doc.ID, doc.Valid.From)
			}
			if s := doc.Meta.Fields.One("cfr_section").Str(); s != "" {
				held[s] = strings.Contains(doc.Text, reservedText)
			}
		}
		for id, reserved := range want {
			if !regexp.MustCompile(`^\d+\.`).MatchString(id) {
				continue
			}
			if got, ok := held[id]; !ok || got != reserved {
				t.Errorf("§ %s: held %v, reserved %v, want %v", id, ok, got, reserved)
			}
		}
	}
	if unreserved != 974 || first.Read != records {
		t.Errorf("%d unreserved sections, %d records of %d", unreserved, first.Read, records)
	}
	again := run()
	if total, _ := fake.requests(); total != 6 || again.Records[sextant.Unchanged] != records {
		t.Errorf("the second run made %d requests and found %v", total-6, again.Records)
	}
	fake.Close()
	if third := run(); third.Records[sextant.Unchanged] != records {
		t.Errorf("offline: %v", third.Records)
	}
	titles := filepath.Join(cache, "titles.json") // as if a day had passed
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(titles, old, old); err != nil {
		t.Fatal(err)
	}
	if fourth := run(); fourth.Records[sextant.Unchanged] != records {
		t.Errorf("offline, when the list of dates is old: %v", fourth.Records)
	}
}

// REG-02: without a date the last one the service has is taken and stands in the
// documents; a date it does not have, and a list that cannot be had, are said.
func TestREG02OnlySomeDatesExist(t *testing.T) {
	fake := newFakeECFR(t)
	service := fake.service(t.TempDir())
	service.Parts = []string{"1"}
	service.Date = time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)
	_, err := service.Open(t.Context())
	message, hint := sextant.PublicMessage(err)
	if sextant.ErrorCode(err) != sextant.CodeNotFound || !strings.Contains(message, "part 1 as of 2026-03-15") || hint == "" {
		t.Errorf("%v: %s %s", err, message, hint)
	}
	fake.fail["/api/versioner/v1/titles.json"] = http.StatusNotFound
	service.Date, service.Now = time.Time{}, func() time.Time { return clock }
	_, err = service.Open(t.Context())
	if message, _ = sextant.PublicMessage(err); !strings.Contains(message, "its list of dates as of 2026-03-15") {
		t.Errorf("no list: %s", message)
	}
}

func TestREG01AndOtherFailuresOfTheService(t *testing.T) {
	fake := newFakeECFR(t)
	day, err := time.Parse(time.DateOnly, fakeDate)
	if err != nil {
		t.Fatal(err)
	}
	open := func(change func(*ECFRService)) string {
		service := fake.service(t.TempDir())
		service.Parts, service.Date = []string{"135"}, day
		change(&service)
		_, err := service.Open(t.Context())
		message, hint := sextant.PublicMessage(err)
		if err != nil && hint == "" {
			t.Errorf("no hint: %v", err)
		}
		if files, _ := filepath.Glob(filepath.Join(service.Cache, "*", "*")); err != nil && len(files) > 0 {
			t.Errorf("a failure left %v", files)
		}
		return message
	}
	fake.plain = true
	if got := open(func(*ECFRService) {}); !strings.Contains(got, "not compressed as it claims") {
		t.Errorf("mislabelled: %s", got)
	}
	fake.plain = false
	whole := fake.whole["135"]
	for name, body := range map[string][]byte{"a page": []byte("<html><body>Maintenance</body></html>"), "cut off": whole[:len(whole)/2], "nothing": {}} {
		fake.whole["135"] = append([]byte{}, body...)
		if open(func(*ECFRService) {}) == "" {
			t.Errorf("%s is taken for a part", name)
		}
	}
	fake.whole["135"] = whole
	if got := open(func(s *ECFRService) { s.Parts = []string{"../../etc"} }); !strings.Contains(got, "no part of 14 CFR") {
		t.Errorf("a strange part: %s", got)
	}
	if got := open(func(s *ECFRService) { s.Client = fetch.New(fetch.Options{}) }); !strings.Contains(got, "private network") {
		t.Errorf("a private address: %s", got)
	}
	fake.Close()
	if got := open(func(*ECFRService) {}); got != "The eCFR service cannot be reached, and part 135 ("+fakeDate+") is not in the cache." {
		t.Errorf("offline: %s", got)
	}
}

// The text of a date is in force until that of the next one held, in whatever order the
// two are read.
func TestTextsOfSeveralDatesStandSideBySide(t *testing.T) {
	text := func(what string) []byte {
		return []byte(`<DIV5 N="91" TYPE="PART"><HEAD>PART 91—RULES</HEAD><DIV8 N="91.151" TYPE="SECTION"><HEAD>§ 91.151 Fuel.</HEAD><P>(a) ` + what + `</P></DIV8></DIV5>`)
	}
	days := []time.Time{time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}} {
		st := openStore(t)
		for range 2 {
			for _, i := range order {
				src := NewECFR(source.Bytes(fmt.Sprintf("%d.xml", i), text(fmt.Sprint("Text ", i)))).As(days[i])
				if _, err := ingest.Run(t.Context(), ingest.Job{Store: st, Collection: Regulations(), Source: src}); err != nil {
					t.Fatal(err)
				}
			}
		}
		c, err := st.Open(t.Context(), "regulations")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for doc, err := range c.Scan(t.Context(), filter.All) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %s-%s %s", doc.ID, doc.Valid.From.Format(time.DateOnly), doc.Valid.To.Format(time.DateOnly), valueText(doc.Meta.Fields.One("valid_to"))))
		}
		want := []string{"ecfr:14/91.151@2019-01-01 2019-01-01-2021-01-01 2021-01-01", "ecfr:14/91.151@2021-01-01 2021-01-01-2024-01-01 2024-01-01", "ecfr:14/91.151@2024-01-01 2024-01-01-0001-01-01 "}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order %v (-want +got):\n%s", order, diff)
		}
		if n, err := c.Count(t.Context(), filter.Range{Field: "valid_to", Lo: filter.Date(2020, 1, 1)}, store.Documents); n != 2 || err != nil {
			t.Errorf("%d texts with an end, %v", n, err)
		}
		if v, err := ingest.Verify(t.Context(), st, "regulations"); err != nil || len(v.Changed)+len(v.Missing)+len(v.Extra) > 0 {
			t.Errorf("verify: %+v, %v", v, err)
		}
	}
}
