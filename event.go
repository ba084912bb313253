package sextant

// Event is something that happened while a question was answered. The set is closed:
// StageStarted, StageDone, LedgerReady, PassagesFound, Delta, Final.
type Event interface {
	isEvent()
	// Name is the event's name on the wire.
	Name() string
}

// StageStarted opens a stage of the pipeline.
type StageStarted struct {
	Stage string `json:"stage"`
}

// StageDone closes it.
type StageDone struct {
	Stage      string  `json:"stage"`
	DurationMS float64 `json:"duration_ms"`
	Note       string  `json:"note,omitempty"` // one line for people: "3 conditions, 17 events"
}

// LedgerReady carries the account of the conditions, before anything is generated.
type LedgerReady struct {
	Ledger Ledger `json:"ledger"`
}

// PassagesFound carries the passages an answer may use.
type PassagesFound struct {
	Passages []Passage `json:"passages"`
}

// Delta is a finding that has passed the check, ahead of the whole answer.
type Delta struct {
	Finding Finding `json:"finding"`
}

// Final is the answer; always the last event.
type Final struct {
	Answer Answer `json:"answer"`
}

func (StageStarted) isEvent()  {}
func (StageDone) isEvent()     {}
func (LedgerReady) isEvent()   {}
func (PassagesFound) isEvent() {}
func (Delta) isEvent()         {}
func (Final) isEvent()         {}

// Name implements Event.
func (StageStarted) Name() string { return "stage_started" }

// Name implements Event.
func (StageDone) Name() string { return "stage_done" }

// Name implements Event.
func (LedgerReady) Name() string { return "ledger" }

// Name implements Event.
func (PassagesFound) Name() string { return "passages" }

// Name implements Event.
func (Delta) Name() string { return "delta" }

// Name implements Event.
func (Final) Name() string { return "final" }
