package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"

	"github.com/sextant-rag/sextant/aviation/sample"
)

const head = "Event.Id,Event.Date,Location,Airport.Name\n"

func TestRowsOfThePeriodAreKept(t *testing.T) {
	in := head +
		"E5,2013-01-01,\"RENO, NV\",A\n" +
		"E4,2012-12-31,\"AUSTIN, TX\",\"the \"\"field\"\"\"\n" +
		"E3,2010-06-01,\"BOISE, ID\",  padded \n" +
		"E4,2012-12-31,\"AUSTIN, TX\",B\n" +
		"E3,2013-06-01,another date of the same event,\n" +
		"E2,2008-01-01,,\n" +
		"E1,2007-12-31,,\n" +
		"E0,,,\n"
	want := head +
		"E4,2012-12-31,\"AUSTIN, TX\",\"the \"\"field\"\"\"\n" +
		"E3,2010-06-01,\"BOISE, ID\",\"  padded \"\n" +
		"E4,2012-12-31,\"AUSTIN, TX\",B\n" +
		"E3,2013-06-01,another date of the same event,\n" +
		"E2,2008-01-01,,\n"
	packed, c := mustCut(t, []byte(in))
	if diff := cmp.Diff(want, text(t, packed)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c != (counts{rows: 5, events: 3}) {
		t.Errorf("%+v", c)
	}
}

func TestOutputIsUTF8WhateverTheInput(t *testing.T) {
	plain := head + "E1,2012-05-30,\"Nueva Concepción\",Chicago O’Hare\n"
	western, err := charmap.Windows1252.NewEncoder().Bytes([]byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Name = "AviationData.csv"
	if _, err := z.Write(western); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	want, _ := mustCut(t, []byte(plain))
	for name, in := range map[string][]byte{"Windows-1252": western, "gzipped": zipped.Bytes()} {
		if got, _ := mustCut(t, in); !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than from UTF-8", name)
		}
	}
	// RFC 1952: no flags, no time, best compression, system unknown.
	if diff := cmp.Diff([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255}, want[:10]); diff != "" {
		t.Errorf("gzip header (-want +got):\n%s", diff)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"empty":              {"", "empty"},
		"another table":      {"Make,Model\nCessna,172\n", "Make, Model"},
		"nothing in period":  {head + "E1,1999-01-01,,\n", "no event from 2008-01-01"},
		"a torn row":         {head + "E1,2010-01-01\n", "wrong number of fields"},
		"no character":       {head + "E1,2010-01-01,\x81,\n", "neither UTF-8 nor Windows-1252"},
		"a torn gzip stream": {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x00", "unpack"},
	} {
		if _, _, err := cut([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestRunWritesTheCut(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv.gz")
	if err := os.WriteFile(in, []byte(head+"E1,2010-01-01,,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(in, out); err != nil {
		t.Fatal(err)
	}
	if got, want := text(t, readFile(t, out)), head+"E1,2010-01-01,,\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// isoDate finds the lines of the period without reading the table: of its dates only
// Event.Date is written year first.
var isoDate = regexp.MustCompile(`,20(08|09|10|11|12)-\d\d-\d\d,`)

// The sample is the full file's lines of the period, to the letter, and cutting again
// gives its rows again. The gzip bytes are compared between two runs only: another
// version of Go may compress the same text otherwise.
func TestSampleIsTheCutOfTheFullFile(t *testing.T) {
	data := readFile(t, fullFile(t))
	raw, err := unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i, line := range strings.SplitAfter(string(raw), "\n") {
		if i == 0 || isoDate.MatchString(line) {
			want.WriteString(line)
		}
	}
	utf8, err := charmap.Windows1252.NewDecoder().String(want.String())
	if err != nil {
		t.Fatal(err)
	}
	committed := text(t, readFile(t, filepath.Join("..", sample.File)))
	if committed != utf8 {
		t.Errorf("the sample has %d bytes of text, the full file's lines of the period have %d, or they differ", len(committed), len(utf8))
	}
	packed, c := mustCut(t, data)
	again, _ := mustCut(t, data)
	if text(t, packed) != committed || c != (counts{sample.Rows, sample.Events}) {
		t.Errorf("cutting gives %+v and other rows than the sample has; run: go run ./aviation/sample/cut FILE", c)
	}
	if !bytes.Equal(packed, again) {
		t.Error("two runs gave different bytes")
	}
}

func TestSampleStaysSmall(t *testing.T) {
	if n := len(readFile(t, filepath.Join("..", sample.File))); n >= 600_000 {
		t.Errorf("the sample has %d bytes: every program that embeds it grows by them", n)
	}
}

func TestNoticeIsOfThisSample(t *testing.T) {
	sum := fmt.Sprintf("%x", sha256.Sum256(readFile(t, filepath.Join("..", sample.File))))
	if notice := string(readFile(t, filepath.Join("..", "NOTICE.sample"))); !strings.Contains(notice, sum) {
		t.Errorf("NOTICE.sample does not name the sample's checksum %s", sum)
	}
}

// fullFile returns the path of the file the sample was cut from, or skips the test.
func fullFile(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SEXTANT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared") // beside the checkout
	}
	path := filepath.Join("ntsb-aviationdata", "AviationData-2017.csv.gz")
	full := filepath.Join(dir, "data", path)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("needs %s in the shared data (SEXTANT_SHARED)", path)
	}
	return full
}

func mustCut(t *testing.T, data []byte) ([]byte, counts) {
	t.Helper()
	packed, c, err := cut(data)
	if err != nil {
		t.Fatal(err)
	}
	return packed, c
}

func text(t *testing.T, packed []byte) string {
	t.Helper()
	out, err := unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
