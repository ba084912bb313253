package ingest

import (
	"encoding/json"
	"time"

	"github.com/sextant-rag/sextant"
)

// Order is what a client wants taken in. Files that were sent along, or what URL holds,
// are its inputs.
type Order struct {
	Kind       string   `json:"kind" enum:"table,files,ntsb,ecfr,news" doc:"What is sent."`
	Collection string   `json:"collection,omitempty" doc:"Collection to fill, made if it is new; of tables and files."`
	URL        string   `json:"url,omitempty" doc:"Address to fetch instead of files sent along. Private addresses are refused."`
	ID         string   `json:"id,omitempty" doc:"Column of a table that names each record; found out otherwise."`
	Title      string   `json:"title,omitempty" doc:"Column of titles."`
	Text       []string `json:"text,omitempty" doc:"Columns of text."`
	Schema     string   `json:"schema,omitempty" doc:"What the columns of a table hold, as YAML; found out otherwise."`
	Encoding   string   `json:"encoding,omitempty" doc:"Encoding of a table's text; told by the bytes otherwise."`
	Sheet      string   `json:"sheet,omitempty" doc:"Sheet of a workbook; the first with records otherwise."`
	Replace    bool     `json:"replace,omitempty" doc:"Make the collection of a table anew."`
	Prune      bool     `json:"prune,omitempty" doc:"Delete documents that what is sent no longer speaks of."`
	Reread     bool     `json:"reread,omitempty" doc:"Read everything again, also where nothing is new."`
	NoEncode   bool     `json:"no_encode,omitempty" doc:"Without vectors."`

	ChunkSize    int  `json:"chunk_size,omitempty" minimum:"32" maximum:"4096" doc:"Most tokens of a chunk, where the collection is new; 224 otherwise."`
	ChunkOverlap *int `json:"chunk_overlap,omitempty" minimum:"0" doc:"Most tokens that a chunk repeats of the one before; 32 otherwise."`
}

// Cutting is the size of chunks the order asks for.
func (o *Order) Cutting() Cutting { return Cutting{Size: o.ChunkSize, Overlap: o.ChunkOverlap} }

// State is where a task stands.
type State string

// The states. The last four are final, but for an interrupted task that is resumed.
const (
	Queued      State = "queued"
	Running     State = "running"
	Done        State = "done"
	Failed      State = "failed"
	Cancelled   State = "cancelled"
	Interrupted State = "interrupted" // the server ended in between; resuming goes on where it was
)

// Final reports whether nothing more happens by itself.
func (s State) Final() bool { return s != Queued && s != Running }

// Task is an order and what became of it, as it is kept in the journal and shown.
type Task struct {
	ID       string           `json:"id"` // sortable by time
	State    State            `json:"state"`
	Order    Order            `json:"order"`
	Files    []string         `json:"files"` // names of what was sent
	Bytes    int64            `json:"bytes"`
	Progress *TaskProgress    `json:"progress,omitempty"`
	Receipt  *sextant.Receipt `json:"receipt,omitempty"`
	Notes    []string         `json:"notes,omitempty"`
	Problem  *TaskProblem     `json:"problem,omitempty"`
	Created  time.Time        `json:"created"`
	Started  time.Time        `json:"started,omitzero"`
	Ended    time.Time        `json:"ended,omitzero"`
}

// TaskProgress is Progress on the wire.
type TaskProgress struct {
	File     string                    `json:"file"`
	Number   int                       `json:"number"`
	Files    int                       `json:"files"`
	Bytes    int64                     `json:"bytes"`
	Size     int64                     `json:"size"` // -1 if unknown
	Records  int64                     `json:"records"`
	Outcomes map[sextant.Outcome]int64 `json:"outcomes"`
	Rate     float64                   `json:"bytes_per_second"`
	Left     float64                   `json:"seconds_left,omitempty"`
	Elapsed  float64                   `json:"seconds"`
}

// TaskProblem is why a task failed.
type TaskProblem struct {
	Code   sextant.Code `json:"code"`
	Detail string       `json:"detail"`
	Hint   string       `json:"hint,omitempty"`
}

func problemOf(err error) *TaskProblem {
	p := &TaskProblem{Code: sextant.ErrorCode(err)}
	p.Detail, p.Hint = sextant.PublicMessage(err)
	return p
}

func progressOf(p Progress) *TaskProgress {
	return &TaskProgress{
		File: p.File, Number: p.Number, Files: p.Files, Bytes: p.Consumed, Size: p.Size, Records: p.Records, Outcomes: p.Outcomes,
		Rate: p.Rate, Left: p.Left.Seconds(), Elapsed: p.Elapsed.Seconds(),
	}
}

// clone is a copy that nobody changes.
func (t *Task) clone() Task {
	data, err := json.Marshal(t)
	out := Task{}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		panic(err) // plain data
	}
	return out
}
