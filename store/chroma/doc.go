// Package chroma keeps documents in a Chroma server (1.5 or later), through its HTTP
// API v2 and nothing else: no state of a collection is kept on this machine, so that any
// number of processes can open a server that one of them filled.
//
// # What lies on the server
//
// A collection is two of Chroma's. One named sextant--<name> holds no records; its
// metadata are the catalogue row: specification, sequence, sums, and which other
// collection holds the records. Replacing the row is the one step in which anything
// becomes visible. The other, under the name people know (ntsb_incidents), has a record
// a chunk: its text as the document, its vector, and as metadata chunk_id, document_id,
// source, chunk_index, title and the fields of the document, readable by any client. The
// first chunk of a document also carries the document itself, packed. Receipts and marks
// are records of sextant--journal.
//
// # How a batch is atomic
//
// Chroma has no transactions and merges what is written twice. So nothing is written
// twice: a record's id ends in the version that wrote it, <chunk id>@<version>.<chunks>,
// and a version counts once the row says so. A replaced document is a new version of all
// its records, a deleted one a record that says so; the old ones are removed afterwards.
// What a crash leaves behind is of versions the row never reached, and is removed by the
// next writer. The row also holds sums of what is live: records that somebody else
// removed are noticed (store.ErrCorrupt), never missed in silence.
//
// One process writes a collection at a time, under a lease; see lease.
//
// # What is answered where
//
// Vectors are searched by the server, under the part of the filter that it can decide
// (see where), and scored again here; see dense. All that Chroma has no means for,
// exact counts by value, sums, order, groups of elements, BM25, is answered from a view
// in memory, which is read from the server when it is first needed and compared with
// the row before every answer. docs/decisions says why.
package chroma
