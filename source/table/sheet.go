package table

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sextant-rag/sextant/extract"
	"github.com/sextant-rag/sextant/source"
)

// Workbook reports whether a file begins as workbooks do.
func Workbook(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	var magic [4]byte
	_, err = f.ReadAt(magic[:], 0)
	return err == nil && string(magic[:]) == "PK\x03\x04"
}

// OpenSheet writes a sheet of a workbook as delimited text into a file of dir, which done
// removes, and returns it under the workbook's name. sheet is the sheet's name; with ""
// it is the first that has two rows. Rows above the header (titles, blanks) are left out:
// the header is the first row with at least two cells.
func OpenSheet(ctx context.Context, path, sheet, dir string) (blob source.Blob, done func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return blob, nil, fmt.Errorf("open workbook: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return blob, nil, fmt.Errorf("open workbook: %w", err)
	}
	name := filepath.Base(path)
	b, err := extract.OpenWorkbook(ctx, name, f, info.Size(), extract.Limits{})
	if err != nil {
		return blob, nil, fmt.Errorf("read %s: %w: %w", name, ErrFormat, err)
	}
	out, err := os.CreateTemp(dir, "sheet-*.csv")
	if err != nil {
		return blob, nil, fmt.Errorf("open workbook: %w", err)
	}
	done = func() { _ = os.Remove(out.Name()) }
	err = errors.Join(writeSheets(b, sheet, name, out), out.Close())
	if err == nil {
		blob, err = source.File(out.Name())
	}
	if err != nil {
		done()
		return blob, nil, err
	}
	blob.Name = name
	return blob, done, nil
}

func writeSheets(b *extract.Workbook, sheet, name string, out *os.File) error {
	var names []string
	for _, s := range b.Sheets {
		names = append(names, s.Name)
		if sheet != "" && s.Name != sheet {
			continue
		}
		rows, err := writeRows(b, s, out)
		if err != nil {
			return fmt.Errorf("read %s: %w: %w", name, ErrFormat, err)
		}
		if rows > 1 || sheet != "" {
			return nil
		}
		if err := out.Truncate(0); err != nil {
			return fmt.Errorf("open workbook: %w", err)
		}
		if _, err := out.Seek(0, 0); err != nil {
			return fmt.Errorf("open workbook: %w", err)
		}
	}
	if sheet != "" {
		return fmt.Errorf("read %s: %w: it has no sheet %q; there are: %s", name, ErrFormat, sheet, strings.Join(names, ", "))
	}
	return fmt.Errorf("read %s: %w: no sheet has two rows", name, ErrFormat)
}

// writeRows writes a sheet from its header on and returns the number of rows.
func writeRows(b *extract.Workbook, s extract.Sheet, out *os.File) (rows int, err error) {
	w := csv.NewWriter(out)
	width := 0
	for row, err := range b.Rows(s) {
		if err != nil {
			return rows, err
		}
		cells := row.Cells
		for len(cells) > 0 && strings.TrimSpace(cells[len(cells)-1]) == "" {
			cells = cells[:len(cells)-1]
		}
		if filled(cells) == 0 || width == 0 && filled(cells) < 2 {
			continue
		}
		if width == 0 {
			width = len(cells)
		}
		for len(cells) < width {
			cells = append(cells, "")
		}
		if err := w.Write(cells); err != nil {
			return rows, fmt.Errorf("write sheet: %w", err)
		}
		rows++
	}
	w.Flush()
	return rows, w.Error()
}

func filled(cells []string) (n int) {
	for _, c := range cells {
		if strings.TrimSpace(c) != "" {
			n++
		}
	}
	return n
}
