package sextant

import "time"

// Outcome is what became of one record handed to ingestion.
type Outcome string

// The outcomes. Every record has exactly one, so that they add up to what was read.
const (
	Stored    Outcome = "stored"    // a document was made or changed by it
	Merged    Outcome = "merged"    // it added to a document that another record made
	Unchanged Outcome = "unchanged" // the store already held it byte for byte
	Skipped   Outcome = "skipped"   // it holds nothing to keep (blank lines, trailing NULs)
	Refused   Outcome = "refused"   // it could not be read; Reason says why
	Deleted   Outcome = "deleted"   // its document was deleted, on demand
)

// ActionDelete is the Action of a receipt of deleting; that of ingestion is "".
const ActionDelete = "delete"

// Receipt is the account of one ingestion run.
type Receipt struct {
	Run        string            `json:"run"` // id, sortable by time
	Action     string            `json:"action,omitempty"`
	Source     string            `json:"source"`
	Collection string            `json:"collection"`
	Files      []FileReceipt     `json:"files"`
	Records    map[Outcome]int64 `json:"records"`   // sums to Read
	Read       int64             `json:"read"`      // records
	Documents  DocumentTally     `json:"documents"` // documents written by this run
	Started    time.Time         `json:"started"`
	Finished   time.Time         `json:"finished,omitzero"` // zero: interrupted; the next run resumes
	Warnings   []string          `json:"warnings,omitempty"`
}

// DocumentTally counts documents by what a run did to them.
type DocumentTally struct {
	Added     int64 `json:"added"`
	Changed   int64 `json:"changed"`
	Unchanged int64 `json:"unchanged"`
	Deleted   int64 `json:"deleted,omitempty"`
}

// FileReceipt is the account of one file of a run.
type FileReceipt struct {
	Name     string            `json:"name"`
	Kind     string            `json:"kind"` // detected layout
	SHA256   string            `json:"sha256,omitempty"`
	Encoding string            `json:"encoding,omitempty"`
	Bytes    int64             `json:"bytes"`
	Read     int64             `json:"read"`
	Records  map[Outcome]int64 `json:"records"`
	Refused  []Refusal         `json:"refused,omitempty"` // the first ones, at most 100
	Warnings []string          `json:"warnings,omitempty"`
}

// Refusal is a record that could not be read.
type Refusal struct {
	Line   int64  `json:"line,omitempty"` // where it starts, from 1
	Offset int64  `json:"offset,omitempty"`
	Record string `json:"record,omitempty"` // its id where one could be read
	Reason string `json:"reason"`
}
