package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
)

// Collection describes where the documents of a data set are kept to be measured.
func (j Judged) Collection() sextant.Collection {
	return sextant.Collection{Name: "judged", Title: j.Name, Role: sextant.RoleReference, Unit: "documents", Fill: "sextant eval retrieval DATASET"}
}

// Source returns the documents as a source to ingest, so that a data set goes the way of
// all documents: cut, encoded and stored by the same code.
func (j Judged) Source() source.Source { return judgedSource{j} }

const judgedPrefix = "judged"

// NativeID is the data set's own id of a document that its Source made.
func NativeID(id sextant.DocumentID) string { return id.Native() }

type judgedSource struct{ set Judged }

// Name implements source.Source.
func (judgedSource) Name() string { return judgedPrefix }

// Version implements source.Source.
func (judgedSource) Version() string { return "judged/1" }

// Inputs implements source.Source.
func (s judgedSource) Inputs(context.Context) ([]source.Input, error) {
	return []source.Input{&judgedInput{set: s.set}}, nil
}

type judgedInput struct{ set Judged }

// Name implements source.Input.
func (i *judgedInput) Name() string { return i.set.Name }

// Kind implements source.Input.
func (*judgedInput) Kind() string { return "judged" }

// Size implements source.Input.
func (*judgedInput) Size() int64 { return -1 }

// Consumed implements source.Input.
func (*judgedInput) Consumed() int64 { return 0 }

// Notes implements source.Input.
func (*judgedInput) Notes() source.Notes { return source.Notes{} }

// Digest implements source.Input.
func (i *judgedInput) Digest(context.Context) (string, error) {
	h := sha256.New()
	for _, d := range i.set.Documents {
		fmt.Fprintf(h, "%q %q %q\n", d.ID, d.Title, d.Text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Items implements source.Input.
func (i *judgedInput) Items(_ context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		for n := after.Record; n < int64(len(i.set.Documents)); n++ {
			d := i.set.Documents[n]
			id := sextant.DocumentID(judgedPrefix + ":" + d.ID)
			at, next := source.Position{Record: n}, source.Position{Record: n + 1}
			if !yield(source.Item{At: at, Next: next, ID: id, Contribution: judgedContribution{id, d}}, nil) {
				return
			}
		}
	}
}

type judgedContribution struct {
	id sextant.DocumentID
	JudgedDocument
}

// Merge implements source.Contribution.
func (c judgedContribution) Merge(*sextant.Document) (sextant.Document, bool, error) {
	return sextant.Document{
		ID: c.id, Collection: "judged", Title: c.Title, Text: c.Text,
		Source: sextant.Source{Name: judgedPrefix, Kind: "judged"}, Meta: filter.Meta{Fields: filter.Fields{}},
	}, false, nil
}
