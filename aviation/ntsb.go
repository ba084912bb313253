package aviation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/extract"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/table"
)

// NTSB is the source of NTSB records, whatever they come as: the published AviationData
// file and the database's own tables (CSV), JSON lines with narratives, exports of CAROL
// and answers of its search, reports as PDF; tables also as workbooks. Several records, from several files, make one document an
// event; see event for how they are joined.
type NTSB struct {
	blobs     []source.Blob
	finder    caseFinder
	extractor *extract.Extractor
	now       func() time.Time
}

// Extracting returns the source with an extractor for reports and workbooks, which the
// caller closes. Without one they are refused.
func (n *NTSB) Extracting(x *extract.Extractor) *NTSB {
	n.extractor = x
	return n
}

// NewNTSB returns the source of some files.
func NewNTSB(blobs ...source.Blob) *NTSB { return &NTSB{blobs: blobs, now: time.Now} }

// tableFile are the name endings of files that are taken from a folder.
var tableFile = []string{".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".pdf", ".xlsx"}

// OpenNTSB returns the source of the files at some paths. A folder stands for the
// tables and JSON lines in it and below, by name. A path without any is an error.
func OpenNTSB(paths ...string) (*NTSB, error) {
	var blobs []source.Blob
	for _, p := range paths {
		files, err := filesIn(p, tableFile)
		if err != nil {
			return nil, inputError(err, "%s cannot be read.", filepath.Base(p))
		}
		if len(files) == 0 {
			return nil, inputError(nil, "%s holds no file that ends in %s (perhaps with .gz).", filepath.Base(p), strings.Join(tableFile, ", "))
		}
		for _, f := range files {
			b, err := source.File(f)
			if err != nil {
				return nil, inputError(err, "%s cannot be read.", filepath.Base(f))
			}
			blobs = append(blobs, b)
		}
	}
	return NewNTSB(blobs...), nil
}

func inputError(err error, format string, args ...any) error {
	return &sextant.Error{
		Code: sextant.CodeBadRequest, Op: "ingest ntsb", Message: fmt.Sprintf(format, args...), Err: err,
		Hint: "Name AviationData files (CSV with a column Event.Id), tables of the NTSB's database (ev_id), exports of CAROL (NtsbNo and Mkey), answers of its search (JSON) or narrative JSON lines (with a key event_id); all may be gzipped.",
	}
}

// filesIn lists the files with one of some name endings, perhaps with .gz, in a folder
// and below, by name; of a file just that, whatever its ending.
func filesIn(path string, endings []string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		ending := filepath.Ext(strings.TrimSuffix(strings.ToLower(p), ".gz"))
		if !d.IsDir() && (p == path || slices.Contains(endings, ending)) {
			out = append(out, p)
		}
		return nil
	})
	return out, err
}

// Name implements source.Source.
func (*NTSB) Name() string { return "ntsb" }

// Version implements source.Source. It must change with everything that changes what
// a record becomes: fields, values, spellings of makers, the text.
func (*NTSB) Version() string { return "ntsb/3" }

// Recall implements source.Recaller.
func (n *NTSB) Recall(held source.Held) { n.finder = caseFinder{held: held} }

// Inputs implements source.Source. Files that name events come first, whatever order they
// were given in, and those that only name cases after them, so that each case finds its
// event. A file of another layout is an error that says what was found in it.
func (n *NTSB) Inputs(ctx context.Context) ([]source.Input, error) {
	var events, cases []source.Input
	for _, b := range n.blobs {
		in, err := n.detect(ctx, b)
		if err != nil {
			return nil, err
		}
		layout := in
		if w, ok := in.(*workbookInput); ok {
			layout = w.Input
		}
		switch layout.(type) {
		case *carolInput, *searchInput, *reportInput:
			cases = append(cases, in)
		default:
			events = append(events, in)
		}
	}
	return append(events, cases...), nil
}

// detect tells the layout of a file by its first line.
func (n *NTSB) detect(ctx context.Context, b source.Blob) (source.Input, error) {
	switch {
	case n.extractor != nil && startsWith(b, "%PDF-"):
		return &reportInput{blob: b, extractor: n.extractor, caseFinder: &n.finder, how: reading{now: n.now()}}, nil
	case n.extractor != nil && startsWith(b, "PK\x03\x04"):
		return n.detectWorkbook(ctx, b)
	}
	first, err := table.FirstLine(b)
	switch {
	case errors.Is(err, table.ErrEncoding):
		return nil, inputError(err, "%s is in an encoding that cannot be told; save it as UTF-8.", b.Name)
	case err != nil && !startsWith(b, "{"):
		return nil, inputError(err, "%s has no first line that can be read.", b.Name)
	case startsWith(b, "{") && isSearch(b):
		return &searchInput{blob: b, caseFinder: &n.finder, how: carolReading(n.now())}, nil
	case err != nil || first[0] == '{':
		if keys, ok := looksLikeNarrative(first); !ok {
			return nil, inputError(nil, "%s is no layout of NTSB records: its first JSON object has the keys %s, not event_id.", b.Name, keys)
		}
		return newNarrativeInput(b, &n.finder, n.now()), nil
	case bytes.IndexByte(first, 0) >= 0 || bytes.HasPrefix(first, []byte("PK")) || bytes.HasPrefix(first, []byte("%PDF")):
		return nil, inputError(nil, "%s is no text file.", b.Name)
	}
	f, err := table.Open(b)
	if err != nil {
		return nil, inputError(err, "%s has no header that can be read.", b.Name)
	}
	return n.detectTable(f)
}

// detectTable tells the layout of a table by its header.
func (n *NTSB) detectTable(f *table.File) (source.Input, error) {
	if isCarol(f.Header) {
		return newCarolInput(f, &n.finder, n.now()), nil
	}
	if side := sideTableOf(f.Header); side != nil {
		return &sideInput{File: f, caseFinder: &n.finder, sideTable: side, columns: columnsOf(f.Header), how: carolReading(n.now())}, nil
	}
	columns := readColumns(f.Header)
	if !columns.isEvents() {
		return nil, inputError(nil, "%s is no layout of NTSB records: a column Event.Id (or ev_id, or NtsbNo and Mkey) and others are needed, its header has %s.", f.Blob.Name, shortList(f.Header))
	}
	kind := fromRows
	if slices.ContainsFunc(f.Header, func(name string) bool { return strings.EqualFold(name, "ev_id") }) {
		kind = fromTables
	}
	return &rowInput{File: f, caseFinder: &n.finder, columns: columns, kind: kind, now: n.now()}, nil
}

// startsWith reports whether the first thing in a file is some text, blanks aside.
func startsWith(b source.Blob, first string) bool {
	in, err := b.Stream(nil)
	if err != nil {
		return false
	}
	defer func() { _ = in.Close() }()
	head := make([]byte, 1024)
	n, _ := io.ReadFull(in, head)
	head = bytes.TrimLeft(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf")), " \t\r\n\x00")
	return bytes.HasPrefix(head, []byte(first))
}

// shortList shows names from a stranger's file: not too many, not too long.
func shortList(names []string) string {
	var out []string
	for i, name := range names {
		if i == 12 {
			out = append(out, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		if r := []rune(clean(name)); len(r) > 40 {
			name = string(r[:40]) + "..."
		}
		out = append(out, fmt.Sprintf("%q", clean(name)))
	}
	return strings.Join(out, ", ")
}

// eventID checks an event's id: it names the document and stands in addresses.
func eventID(cell string) (string, error) {
	id := strings.ToUpper(clean(cell))
	switch {
	case id == "":
		return "", errors.New("the record has no event id")
	case len(id) > 40 || strings.ContainsAny(id, " \"'<>/\\?#%:"):
		return "", fmt.Errorf("%s is no event id", shortList([]string{id}))
	}
	return id, nil
}

// unread collects the cells of an input that were left unknown.
type unread struct {
	count int64
	first []string
}

func (u *unread) add(line int64, odd []string) {
	u.count += int64(len(odd))
	for _, o := range odd {
		if len(u.first) < 5 {
			u.first = append(u.first, fmt.Sprintf("line %d: %s", line, o))
		}
	}
}

func (u *unread) warnings() []string {
	if u.count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d cells could not be read and were left unknown (%s).", u.count, strings.Join(u.first, "; "))}
}
