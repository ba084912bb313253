// Command cut makes the table that package sample embeds, from the AviationData file:
//
//	go run ./aviation/sample/cut [-o FILE] AviationData-2017.csv.gz
//
// It keeps every row of every event of the years 2008 to 2012, in the order of the file
// and with all columns, and writes them as gzipped UTF-8. The output depends on the input
// alone: no time and no name is in it.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// The period, as Event.Date writes it. Whole years: a count by year or by month of the
// year is then the count of the full file.
const (
	first = "2008-01-01"
	last  = "2012-12-31"
)

const (
	eventID   = "Event.Id"
	eventDate = "Event.Date"
	maxTable  = 256 << 20 // bytes unpacked; the file of 2017 has 18 million
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("cut: ")
	out := flag.String("o", filepath.Join("aviation", "sample", "aviationdata-2008-2012.csv.gz"), "file to write")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("name one AviationData file (CSV, perhaps gzipped)")
	}
	if err := run(flag.Arg(0), *out); err != nil {
		log.Fatal(err)
	}
}

func run(in, out string) error {
	data, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	packed, c, err := cut(data)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	if err := os.WriteFile(out, packed, 0o666); err != nil {
		return err
	}
	_, err = fmt.Fprintf(os.Stderr, "%s: %d rows, %d events, %d bytes, sha256 %x\n", out, c.rows, c.events, len(packed), sha256.Sum256(packed))
	return err
}

// counts says what a cut holds.
type counts struct{ rows, events int }

// cut returns the gzipped table of the period's events from the bytes of a whole file.
func cut(data []byte) ([]byte, counts, error) {
	text, err := unpack(data)
	if err != nil {
		return nil, counts{}, err
	}
	if text, err = decode(text); err != nil {
		return nil, counts{}, err
	}
	table, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, counts{}, fmt.Errorf("read table: %w", err)
	}
	kept, c, err := keep(table)
	if err != nil {
		return nil, counts{}, err
	}
	packed, err := pack(kept)
	return packed, c, err
}

func unpack(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxTable+1))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	if len(text) > maxTable {
		return nil, fmt.Errorf("unpack: more than %d bytes", maxTable)
	}
	return text, nil
}

// decode returns the text in UTF-8: as it is if it is valid, else read as Windows-1252.
// A byte that has no character there is an error, for the cut must not alter a value.
func decode(text []byte) ([]byte, error) {
	if utf8.Valid(text) {
		return text, nil
	}
	out, err := charmap.Windows1252.NewDecoder().Bytes(text)
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if bytes.ContainsRune(out, utf8.RuneError) {
		return nil, errors.New("decode: the text is neither UTF-8 nor Windows-1252")
	}
	return out, nil
}

// keep returns the header and every row of an event that has a row in the period. An
// event is never torn: half of its aircraft would be a false record of it.
func keep(table [][]string) ([][]string, counts, error) {
	if len(table) == 0 {
		return nil, counts{}, errors.New("the table is empty")
	}
	id, date := slices.Index(table[0], eventID), slices.Index(table[0], eventDate)
	if id < 0 || date < 0 {
		return nil, counts{}, fmt.Errorf("the header has no %s or no %s: %s", eventID, eventDate, strings.Join(table[0], ", "))
	}
	events := map[string]bool{}
	for _, row := range table[1:] {
		if first <= row[date] && row[date] <= last {
			events[row[id]] = true
		}
	}
	if len(events) == 0 {
		return nil, counts{}, fmt.Errorf("no event from %s to %s", first, last)
	}
	kept := [][]string{table[0]}
	for _, row := range table[1:] {
		if events[row[id]] {
			kept = append(kept, row)
		}
	}
	return kept, counts{len(kept) - 1, len(events)}, nil
}

// pack writes the table as gzipped CSV. The header of the gzip stream stays empty: its
// time and name would make other bytes of the same rows.
func pack(table [][]string) ([]byte, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := csv.NewWriter(z)
	if err := w.WriteAll(table); err != nil {
		return nil, fmt.Errorf("write table: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return packed.Bytes(), nil
}
