package sextant

import "github.com/sextant-rag/sextant/filter"

// CollectionInfo is what a collection holds, for people and programs that want to
// know what can be asked. Description adds its fields.
type CollectionInfo struct {
	Name      string    `json:"name"`
	Title     string    `json:"title"`
	Role      Role      `json:"role"`
	Unit      string    `json:"unit"`
	Documents int64     `json:"documents"`
	Chunks    int64     `json:"chunks"`
	Disk      int64     `json:"disk_bytes"`
	Memory    int64     `json:"memory_bytes"`
	StoredAs  string    `json:"stored_as,omitempty"` // its name on the server that keeps it; "" is the data folder
	Points    int64     `json:"points,omitempty"`    // records there: documents, chunks and what goes with them
	Coverage  *Coverage `json:"coverage,omitempty"`
	Fill      string    `json:"fill"` // the command that fills it
	Files     []string  `json:"files,omitempty"`
	DataDate  string    `json:"data_date,omitempty"` // newest date in the collection's date field
}

// Description is a collection with everything that can be asked of it.
type Description struct {
	CollectionInfo
	Fields   []FieldInfo `json:"fields"`
	Groups   []GroupInfo `json:"groups,omitempty"`
	Words    []string    `json:"words,omitempty"` // what its owner says people call things: "casualty -> department=Emergency"
	Examples []string    `json:"examples"`        // questions that can be asked, made from the data
}

// GroupInfo is a group with its number of elements.
type GroupInfo struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Count int64  `json:"count"`
}

// FieldInfo is a field with what stands in it.
type FieldInfo struct {
	filter.Field
	Known    int64   `json:"known"` // documents (or elements, for a group's field) that have it
	Unknown  int64   `json:"unknown"`
	Distinct int64   `json:"distinct,omitempty"`
	Values   [][]any `json:"values,omitempty"` // facets: value and count, most frequent first, at most 50
	Min      any     `json:"min,omitempty"`    // numbers and times
	Max      any     `json:"max,omitempty"`
}

// SearchQuery asks for passages without an answer.
type SearchQuery struct {
	Query       string
	Collections []string
	FilterText  string // EXPR
	TopK        int    // 0: 5
	AspectFocus string // one aspect to look for, joined to the query
	Rerank      string // none | cross_encoder; "" is none
}

// SearchResult is the shape retrieval tools for agents read: passages with what is
// known about how far they can be trusted.
type SearchResult struct {
	Results        []Passage         `json:"results"`
	Confidence     float64           `json:"confidence_score"` // 0 to 1
	Diversity      SourceDiversity   `json:"source_diversity"`
	Coverage       CoverageSignals   `json:"coverage_signals"`
	Metadata       RetrievalMetadata `json:"retrieval_metadata"`
	Recommendation string            `json:"recommendation"` // re-query | proceed
	Freshness      *float64          `json:"freshness"`      // 0 to 1: half for what is a year old; null where nothing is dated
	Total          int64             `json:"total"`          // documents under the filter
	Filter         string            `json:"filter,omitempty"`
	Degraded       []Degradation     `json:"degraded,omitempty"`
	NotHeld        []NotHeld         `json:"not_held,omitempty"`
}

// SourceDiversity says how many kinds of source and which months the results span.
type SourceDiversity struct {
	Domains    int      `json:"domains"`
	Timestamps []string `json:"timestamps"` // "2024-01", newest first
}

// CoverageSignals says which things the question asks stand in the results.
type CoverageSignals struct {
	Covered []string `json:"question_aspects_covered"`
	Missing []string `json:"question_aspects_missing"`
	Ratio   float64  `json:"coverage_ratio"` // covered over all, 1 if nothing is asked
}

// RetrievalMetadata says how the results were made.
type RetrievalMetadata struct {
	EmbeddingModel  string `json:"embedding_model"` // "" when retrieval was lexical only
	ChunkSize       int    `json:"chunk_size"`      // most tokens of a chunk in the collections of the results
	TopK            int    `json:"top_k"`
	RerankerApplied bool   `json:"reranker_applied"`
	RerankerModel   string `json:"reranker_model,omitempty"` // what judged, where something was asked to
}

// ListQuery asks for a page of the documents under a filter, in order of the collection's
// date, or of another single-valued field of the document.
type ListQuery struct {
	Collection string
	FilterText string // EXPR; "" is all
	By         string // field; "" is the collection's date
	Desc       bool
	After      string // cursor of the page before, or Computed.Next
	Limit      int    // 0: 1,000, which is the most
}

// ListPage is a page of documents and how many there are in all.
type ListPage struct {
	Documents []ListEntry `json:"documents"`
	Total     int64       `json:"total"`
	Next      string      `json:"next,omitempty"` // "" at the end
	Filter    string      `json:"filter"`         // as it was read
}

// ListEntry is what a list shows of a document.
type ListEntry struct {
	ID       DocumentID `json:"id"`
	NativeID string     `json:"native_id"`
	Date     string     `json:"date,omitempty"` // ISO
	Title    string     `json:"title"`
}
