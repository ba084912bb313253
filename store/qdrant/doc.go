// Package qdrant keeps collections in a Qdrant server or cluster. Everything a replica
// needs is kept there: documents, what they are described by, receipts and marks; any
// number of processes read at once, and each source is taken in by one.
//
// # How it is laid out
//
// A collection is a Qdrant collection of generation n, "<name>_g<n>", with an alias
// "<name>" for other clients. The collection sextant_catalogue says which generation is in
// use, and holds the journal. A point is one of these, told apart by its keyword _kind:
//
//   - chunk: chunk_id, content, document_id, source, chunk_index, start, end, heading,
//     title, metadata; vectors dense and words
//   - head: one for each document, with its record and text; documents are counted by them
//   - element:<group>: one for each element of a group, its document's metadata with this
//     element as the group's only one. A document with exactly one element has no such
//     point: its head is of this kind as well
//   - text: further pieces of a text too long for one point
//   - state: one for each collection, its sequence
//
// Ids of points are UUIDs of version 5 of the collection's name and the record's id.
// Metadata hold what filters ask beside what was given: _fold, keywords as they are
// compared, and _wide, halves of integers beyond 2^53, which Qdrant's ranges would round.
// _g counts the elements of groups. Times are microseconds since 1970.
//
// # How it answers
//
// Counts, facets, and filters are Qdrant's own, exact ones. An Each is asked without
// nesting of documents with one element, which indexes answer, and nested only of those
// with several. Contains becomes In over the field's vocabulary, and Mentions a set of
// documents whose chunks are read: both are kept until the collection changes.
//
// Nearest vectors are asked for exactly, and more of them than wanted, scored again here as
// the embedded store does, with ties by id. Words are ranked by sparse vectors first, which
// are BM25 but for the present average length; the candidates are ranked again here by BM25
// with the collection's exact statistics and nearness, and more are read until none that was
// not can belong to the best.
//
// New vectors are made in a further generation, which takes the place of the one in use with
// one write of the catalogue's row. Readers look at that row once a second, writers before
// and after each batch: a write that went into a generation which was replaced meanwhile is
// made again in the new one before it is acknowledged.
//
// What Qdrant does not have is isolation: who reads while a document is written may see
// some of its old chunks beside new ones.
package qdrant
