// Package sample carries five years of real NTSB records inside the program, so that it
// can be tried, shown and tested without a file of one's own.
//
// The table holds every row of every event from 1 January 2008 to 31 December 2012 in the
// NTSB's aviation accident database as it stood on 28 March 2017, in the layout of the
// published AviationData file: a row for each aircraft, 31 columns, values as they were.
// The years are whole, so that a count over them is the count of the database and not
// that of a selection. What the NTSB changed later is not in it.
//
// The columns are facts: date, place, aircraft, injuries, damage, weather, phase of
// flight. There is no narrative and no probable cause, so no question of why an accident
// happened finds its answer here; that takes the narrative files.
//
// NOTICE.sample names the source and the licence (public domain); command cut makes the
// table, and command encode the vectors of its texts.
package sample

import (
	"bytes"
	_ "embed" // for the table and its vectors
	"fmt"

	"github.com/sextant-rag/sextant/aviation"
	"github.com/sextant-rag/sextant/embed/memo"
	"github.com/sextant-rag/sextant/source"
)

// The extent of the sample. Rows is the number of records, one for each aircraft; Events
// that of the documents they become. FirstYear and LastYear are both in it as a whole.
const (
	Rows      = 9_300
	Events    = 9_139
	FirstYear = 2008
	LastYear  = 2012
)

// File is the table's name in receipts and citations.
const File = "aviationdata-2008-2012.csv.gz"

// VectorFile is the name of the vectors' file.
const VectorFile = "vectors-2008-2012.bin"

//go:embed vectors-2008-2012.bin
var vectors []byte

//go:embed aviationdata-2008-2012.csv.gz
var table []byte

// Open returns the sample as a source of NTSB records, to be ingested as a file of the
// user's would be.
func Open() *aviation.NTSB { return aviation.NewNTSB(source.Bytes(File, table)) }

// Vectors returns the vectors of the sample's texts by the encoder inside the program, as
// command encode made them: taking the sample in then encodes nothing.
func Vectors() (*memo.Table, error) {
	t, err := memo.Read(bytes.NewReader(vectors))
	if err != nil {
		return nil, fmt.Errorf("vectors of the sample: %w", err)
	}
	return t, nil
}
