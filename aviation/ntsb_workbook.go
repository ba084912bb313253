package aviation

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"

	"github.com/sextant-rag/sextant/extract"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/table"
)

// maxWorkbook bounds the text of a sheet.
const maxWorkbook = 512 << 20

// workbookInput is a table that is the first sheet of a workbook: it is read as the same
// table in CSV, and known again by the workbook's own bytes.
type workbookInput struct {
	source.Input
	blob source.Blob
}

// Size implements source.Input.
func (in *workbookInput) Size() int64 { return in.Input.Size() }

// Digest implements source.Input.
func (in *workbookInput) Digest(ctx context.Context) (string, error) { return in.blob.Digest(ctx) }

// detectWorkbook tells the layout of a workbook by the header of its first sheet that has
// one.
func (n *NTSB) detectWorkbook(ctx context.Context, b source.Blob) (source.Input, error) {
	text, err := sheetText(ctx, b)
	if err != nil {
		return nil, inputError(err, "%s is no workbook that can be read.", b.Name)
	}
	f, err := table.Open(source.Bytes(b.Name, text))
	if err != nil {
		return nil, inputError(err, "%s has no header that can be read.", b.Name)
	}
	in, err := n.detectTable(f)
	if err != nil {
		return nil, err
	}
	return &workbookInput{in, b}, nil
}

// sheetText writes the first sheet of a workbook that has rows as CSV.
func sheetText(ctx context.Context, b source.Blob) ([]byte, error) {
	data, err := readWhole(b, nil, maxReport)
	if err != nil {
		return nil, err
	}
	book, err := extract.OpenWorkbook(ctx, b.Name, bytes.NewReader(data), int64(len(data)), extract.Limits{})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, sheet := range book.Sheets {
		width := 0
		for row, err := range book.Rows(sheet) {
			if err != nil {
				return nil, err
			}
			cells := row.Cells
			width = max(width, len(cells))
			for len(cells) < width { // blanks at the end are not in the file
				cells = append(cells, "")
			}
			if err := w.Write(cells); err != nil {
				return nil, err
			}
			if out.Len() > maxWorkbook {
				return nil, errors.New("its first sheet is too large")
			}
		}
		if width > 0 {
			break
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}
