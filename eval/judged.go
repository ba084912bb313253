package eval

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sextant-rag/sextant"
)

// Judged is a test collection: documents, queries, and which documents answer which.
type Judged struct {
	Name      string
	Documents []JudgedDocument
	Queries   []JudgedQuery // those with a judgement, in the order of the file
}

// JudgedDocument is a document to be found.
type JudgedDocument struct{ ID, Title, Text string }

// JudgedQuery is a query with what is relevant to it.
type JudgedQuery struct {
	ID, Text string
	Grades   Grades
}

// Half is a part of a data set, so that what is chosen on one half is reported on the
// other. Which queries are in which follows from their ids alone.
type Half string

// The halves.
const (
	Whole  Half = ""
	First  Half = "first"
	Second Half = "second"
)

// Of keeps the queries of a half. The documents all stay.
func (j Judged) Of(h Half) (Judged, error) {
	if h == Whole {
		return j, nil
	}
	if h != First && h != Second {
		return j, fmt.Errorf("eval: half %q; there are %s and %s", h, First, Second)
	}
	var kept []JudgedQuery
	for _, q := range j.Queries {
		if IsFirst(q.ID) == (h == First) {
			kept = append(kept, q)
		}
	}
	j.Queries, j.Name = kept, j.Name+"-"+string(h)
	return j, nil
}

// IsFirst reports whether an id is in the first half of its data set.
func IsFirst(id string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return h.Sum32()>>16&1 == 0
}

// OpenJudged reads a test collection:
//
//   - a folder in the layout of BEIR: corpus.jsonl, queries.jsonl, and qrels.tsv or
//     qrels.jsonl, or that of a split such as qrels-test.tsv. The split "train" of SciFact
//     is also read from its own claims.jsonl, whose cited documents are the relevant ones;
//   - narratives of the NTSB (JSON lines, or a folder of them): the probable cause is the
//     query, the one relevant document the narrative of the same event. The cause is no
//     part of it. Where texts are equal, each is the answer.
//
// Files may be gzipped. An error says what is missing.
func OpenJudged(path, split string) (Judged, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Judged{}, fmt.Errorf("eval: %w", err)
	}
	name := filepath.Base(filepath.Clean(path))
	if info.IsDir() && exists(path, "corpus.jsonl") {
		j, err := openBEIR(path, split)
		if split != "" && split != "test" {
			name += "-" + split
		}
		j.Name = name
		return j, err
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = narrativeFiles(path); err != nil {
			return Judged{}, err
		}
	}
	j, err := openNarratives(files)
	j.Name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".jsonl")
	if !info.IsDir() {
		j.Name = filepath.Base(filepath.Dir(path)) + "-" + j.Name
	}
	return j, err
}

// exists reports whether a folder has a file, packed or not.
func exists(dir, name string) bool {
	_, plain := os.Stat(filepath.Join(dir, name))
	_, packed := os.Stat(filepath.Join(dir, name+".gz"))
	return plain == nil || packed == nil
}

// record is a line of any of the files.
type record struct {
	ID        string `json:"_id"`
	Title     string `json:"title"`
	Text      string `json:"text"`
	EventID   string `json:"event_id"`
	Narrative string `json:"narrative"`
	Cause     string `json:"probable_cause"`

	QueryID  string  `json:"query-id"`
	CorpusID string  `json:"corpus-id"`
	Score    float64 `json:"score"`

	ClaimID string   `json:"id"`
	Claim   string   `json:"claim"`
	Split   string   `json:"split"`
	Cited   []string `json:"cited_doc_ids"`
}

const maxRecord = 16 << 20

// readRecords reads JSON lines, gzipped or not.
func readRecords(path string) ([]record, error) {
	data, err := readPacked(path)
	if err != nil {
		return nil, err
	}
	var out []record
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxRecord)
	for n := 1; lines.Scan(); n++ {
		var r record
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("eval: %s, line %d: %w", filepath.Base(path), n, err)
		}
		out = append(out, r)
	}
	return out, lines.Err()
}

// readPacked reads a file, or the gzipped one of its name.
func readPacked(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = os.ReadFile(path + ".gz")
	}
	if err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func openBEIR(dir, split string) (Judged, error) {
	var j Judged
	corpus, err := readRecords(filepath.Join(dir, "corpus.jsonl"))
	if err != nil {
		return j, err
	}
	for _, r := range corpus {
		text := strings.TrimSpace(strings.TrimPrefix(r.Text, r.Title)) // Cranfield repeats the title
		j.Documents = append(j.Documents, JudgedDocument{r.ID, r.Title, text})
	}
	if split == "train" && exists(dir, "claims.jsonl") {
		return j, j.readClaims(filepath.Join(dir, "claims.jsonl"), split)
	}
	queries, err := readRecords(filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		return j, err
	}
	grades, err := readGrades(dir, split)
	if err != nil {
		return j, err
	}
	for _, q := range queries {
		if len(grades[q.ID]) > 0 {
			j.Queries = append(j.Queries, JudgedQuery{q.ID, q.Text, grades[q.ID]})
		}
	}
	return j, nil
}

// readClaims takes the claims of a split with the documents they cite.
func (j *Judged) readClaims(path, split string) error {
	claims, err := readRecords(path)
	if err != nil {
		return err
	}
	for _, c := range claims {
		if c.Split != split {
			continue
		}
		q := JudgedQuery{c.ClaimID, c.Claim, Grades{}}
		for _, id := range c.Cited {
			q.Grades[id] = 1
		}
		if len(q.Grades) > 0 {
			j.Queries = append(j.Queries, q)
		}
	}
	return nil
}

// readGrades reads the judgements of a split, "" being the only one or that of tests.
func readGrades(dir, split string) (map[string]Grades, error) {
	out := map[string]Grades{}
	enter := func(query, document string, grade float64) {
		if out[query] == nil {
			out[query] = Grades{}
		}
		out[query][document] = grade
	}
	names := []string{"qrels.tsv", "qrels-test.tsv", "qrels/test.tsv"}
	if split != "" {
		names = []string{"qrels-" + split + ".tsv", "qrels/" + split + ".tsv"}
	}
	for _, name := range names {
		data, err := readPacked(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			f := strings.Split(strings.TrimSpace(line), "\t")
			if len(f) < 3 {
				continue
			}
			if grade, err := strconv.ParseFloat(f[2], 64); err == nil { // the first line is a heading
				enter(f[0], f[1], grade)
			}
		}
		return out, nil
	}
	if split == "" && exists(dir, "qrels.jsonl") {
		records, err := readRecords(filepath.Join(dir, "qrels.jsonl"))
		for _, r := range records {
			enter(r.QueryID, r.CorpusID, r.Score)
		}
		return out, err
	}
	return nil, fmt.Errorf("eval: %s has no judgements: none of %s", filepath.Base(dir), strings.Join(names, ", "))
}

// narrativeFiles are the packed files of a folder; a sample beside them is a part of
// what is in these.
func narrativeFiles(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("eval: %s is no test collection: it has neither corpus.jsonl nor narratives (*.jsonl.gz)", filepath.Base(dir))
	}
	slices.Sort(files)
	return files, nil
}

func openNarratives(files []string) (Judged, error) {
	var j Judged
	same := map[string][]string{} // ids by text
	for _, file := range files {
		records, err := readRecords(file)
		if err != nil {
			return j, err
		}
		for _, r := range records {
			if r.EventID == "" || r.Narrative == "" || r.Cause == "" {
				continue
			}
			text := sextant.CleanText(r.Narrative)
			j.Documents = append(j.Documents, JudgedDocument{ID: r.EventID, Text: r.Narrative})
			j.Queries = append(j.Queries, JudgedQuery{ID: r.EventID, Text: r.Cause, Grades: Grades{}})
			same[text] = append(same[text], r.EventID)
		}
	}
	if len(j.Documents) == 0 {
		return j, errors.New("eval: no narrative with a probable cause")
	}
	for i, d := range j.Documents {
		for _, id := range same[sextant.CleanText(d.Text)] {
			j.Queries[i].Grades[id] = 1
		}
	}
	return j, nil
}
