package sextant

import (
	"fmt"
	"regexp"

	"github.com/sextant-rag/sextant/filter"
)

// Role says what a collection is for, so that plans and constraints need not know
// its name: the engine asks "events", not "incidents".
type Role string

// The roles.
const (
	RoleEvents    Role = "events"    // things that happened, one document each
	RoleRules     Role = "rules"     // norms in force for a period
	RoleReports   Role = "reports"   // articles and reports about events
	RoleReference Role = "reference" // everything else people look things up in
)

// Collection describes documents of one kind: what they are called, what may be
// known of them, and what fills the collection. It is stored with the documents.
type Collection struct {
	Name      string        `json:"name"`  // [a-z][a-z0-9_]*
	Title     string        `json:"title"` // for people: "NTSB accidents and incidents"
	Role      Role          `json:"role"`
	Unit      string        `json:"unit"` // what one document is called, plural: "events"
	Schema    filter.Schema `json:"schema"`
	DateField string        `json:"date_field,omitempty"` // the time field that says when a document is about
	Fill      string        `json:"fill"`                 // the command that fills it
	Encoder   string        `json:"encoder,omitempty"`    // fingerprint of its vectors; "" has none
	Analyzer  string        `json:"analyzer,omitempty"`   // name of the lexical analyzer
	Chunking  Chunking      `json:"chunking,omitzero"`    // how its documents are cut
}

// Chunking says how documents are cut into chunks, in tokens of the encoder. It is one for
// all documents of a collection: pieces of several sizes cannot be ranked against each
// other. The zero Chunking is that of a collection filled before it was recorded, which is
// the default of package chunk.
type Chunking struct {
	Size    int `json:"size"`    // most tokens of a chunk with its headings
	Overlap int `json:"overlap"` // most tokens repeated from the chunk before
}

var collectionName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// Validate checks names, the schema and that DateField is a document's own time.
func (c *Collection) Validate() error {
	if !collectionName.MatchString(c.Name) {
		return fmt.Errorf("collection %q: the name must match %s", c.Name, collectionName)
	}
	if err := c.Schema.Validate(); err != nil {
		return fmt.Errorf("collection %q: %w", c.Name, err)
	}
	if c.DateField == "" {
		return nil
	}
	f, ok := c.Schema.Field(c.DateField)
	if !ok || f.Kind != filter.Time || f.Group != "" {
		return fmt.Errorf("collection %q: date field %q is no time field of its documents", c.Name, c.DateField)
	}
	return nil
}

// UnitLabel returns what is counted under a unit: the collection's own word for
// "documents", a group's label otherwise.
func (c *Collection) UnitLabel(unit string) string {
	for _, g := range c.Schema.Groups {
		if g.Name == unit {
			if g.Label != "" {
				return g.Label
			}
			return g.Name
		}
	}
	if c.Unit != "" {
		return c.Unit
	}
	return "documents"
}
