package aviation

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/source"
)

// ECFR is the source of the Electronic Code of Federal Regulations, Title 14, as XML: the
// answers of its versioner service for a part or the title (root DIV1 to DIV9), GPO's bulk
// files (root ECFR or DLPSTEXTCLASS) and the volumes of the annual edition (root CFRDOC).
// A section, an appendix or a special regulation (SFAR) makes one document for each date
// it is held of. The text of a date is in force until that of the next.
//
// The elements are described in GPO's "eCFR XML User Guide"
// (github.com/usgpo/bulk-data).
type ECFR struct {
	blobs  []source.Blob
	issued []time.Time // of each blob, where more is known than it says; or nil
	held   source.Held // nil: nothing is
	notes  []string    // about all inputs
}

// NewECFR returns the source of some files, in this order.
func NewECFR(blobs ...source.Blob) *ECFR { return &ECFR{blobs: blobs} }

// As returns the source with its files taken as the text in force on a day, whatever they
// say themselves.
func (s *ECFR) As(day time.Time) *ECFR {
	s.issued = nil
	for range s.blobs {
		s.issued = append(s.issued, day)
	}
	return s
}

// OpenECFR returns the source of the files at some paths. A folder stands for the XML
// files in it and below, by name. A path without any is an error.
func OpenECFR(paths ...string) (*ECFR, error) {
	var blobs []source.Blob
	for _, p := range paths {
		files, err := lawIn(p)
		if err != nil {
			return nil, lawError(err, "%s cannot be read.", filepath.Base(p))
		}
		if len(files) == 0 {
			return nil, lawError(nil, "%s holds no file that ends in .xml (perhaps with .gz).", filepath.Base(p))
		}
		for _, f := range files {
			b, err := source.File(f)
			if err != nil {
				return nil, lawError(err, "%s cannot be read.", filepath.Base(f))
			}
			blobs = append(blobs, b)
		}
	}
	return NewECFR(blobs...), nil
}

func lawError(err error, format string, args ...any) error {
	return &sextant.Error{
		Code: sextant.CodeBadRequest, Op: "ingest ecfr", Message: fmt.Sprintf(format, args...), Err: err,
		Hint: "Give XML of 14 CFR as www.ecfr.gov offers it for download, a part or the whole title, govinfo's bulk file or a volume of the annual edition; gzip is fine.",
	}
}

func lawIn(path string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && (p == path || filepath.Ext(strings.TrimSuffix(strings.ToLower(p), ".gz")) == ".xml") {
			out = append(out, p)
		}
		return nil
	})
	return out, err
}

// Name implements source.Source.
func (*ECFR) Name() string { return "ecfr" }

// Version implements source.Source. It must change with everything that changes what
// a section becomes.
func (*ECFR) Version() string { return "ecfr/2" }

// Inputs implements source.Source. A file of another layout, or of another title of
// the Code, is an error that says what was found in it.
func (s *ECFR) Inputs(ctx context.Context) ([]source.Input, error) {
	var out []source.Input
	for i, b := range s.blobs {
		if err := detectLaw(ctx, b); err != nil {
			return nil, err
		}
		in := &lawInput{blob: b, held: &s.held}
		if s.issued != nil {
			in.issued = s.issued[i]
		}
		if i == 0 {
			in.about = s.notes
		}
		out = append(out, in)
	}
	return out, nil
}

// Recall implements source.Recaller.
func (s *ECFR) Recall(held source.Held) { s.held = held }

// detectLaw tells the layout of a file by its root element.
func detectLaw(ctx context.Context, b source.Blob) error {
	r, err := openXML(ctx, b, nil)
	if err != nil {
		return lawError(err, "%s cannot be read.", b.Name)
	}
	defer r.close()
	for {
		token, err := r.token()
		if err != nil {
			return lawError(err, "%s is no XML file.", b.Name)
		}
		root, ok := token.(xml.StartElement)
		switch {
		case !ok:
			continue
		case root.Name.Local == "CFRDOC", root.Name.Local == "ECFR", root.Name.Local == "DLPSTEXTCLASS", divLevel(root.Name.Local) > 0:
			return nil
		}
		return lawError(nil, "%s is no eCFR file: its root element is %s.", b.Name, shortList([]string{root.Name.Local}))
	}
}

// edition is one text of a section, appendix or special regulation.
type edition struct{ doc sextant.Document }

// Merge implements source.Contribution. The same section of the same issue has one
// text; where two files without an issue date differ, that amended last counts, and
// otherwise that of the file whose name comes later. A file that was replaced under
// its own name counts as it is now.
func (e edition) Merge(old *sextant.Document) (sextant.Document, bool, error) {
	if old == nil {
		return e.doc, false, nil
	}
	if old.ID != e.doc.ID {
		return sextant.Document{}, false, errors.New("document " + string(old.ID) + " is not " + string(e.doc.ID))
	}
	amended := old.Meta.Fields.One("amended").Compare(e.doc.Meta.Fields.One("amended"))
	if old.Source.URI != e.doc.Source.URI && cmp.Or(amended, strings.Compare(old.Source.URI, e.doc.Source.URI)) > 0 {
		return *old, true, nil
	}
	return e.doc, old.Source.URI != e.doc.Source.URI, nil
}
