// Package sqlite is the embedded store: SQLite files as the only truth, and everything
// that makes questions fast derived from them in RAM.
//
// # Layout of a data folder
//
//	LOCK                 held by the one process that has the folder open; names it
//	catalog.db           collections, receipts, marks
//	c/<folder>/main.db   one collection: documents with their chunks, vectors, its state
//	c/<folder>/derived/  its index, saved, the most of its words, and a copy of its vectors; may be deleted
//
// docs/formats.md describes tables and encodings.
//
// # How a change is written
//
// Upsert checks its records and encodes them as rows (check.go, row.go). Whoever gets
// the writing lock then commits all changes that wait, in one transaction: old rows
// out, new rows in under new numbers, and the collection's state; meanwhile the words
// of the new chunks are indexed (write.go). The transaction is durable when it ends
// (write-ahead log, synchronous=FULL). Only then the index in RAM changes, within a
// moment, and only then Upsert returns: acknowledged is durable and visible. After an
// error of the disk nothing more is acknowledged until the store is opened again
// (database.go).
//
// # How a question is answered
//
// A filter is evaluated on typed columns with one slot a document or element
// (column.go, number.go, table.go, eval.go), into dense bit masks. Counts, facets, sums
// and lists read nothing else (count.go, facet.go, list.go, order.go). What needs text or
// stored vectors pins a read transaction of the very state the columns were in
// (reader.go, read.go, search.go).
//
// # How a collection is opened
//
// From its derived file, if there is one that is whole: the index as it was at some
// change, to which rows and deletions since then are added (derived.go). Else all rows
// are read, columns filled in order and words indexed on all cores (load.go). Either
// way the outcome must have the number of documents and the sum of marks that the
// state says. Rows, vectors and files carry checksums, and damage in the middle of
// SQLite's log is looked for before SQLite would pass over it (wal.go): so content that
// changed and rows that went missing are store.ErrCorrupt, and never an answer. Check
// finds them all, Repair takes them out (verify.go). A lost catalogue is made again from
// what the databases say of themselves (rebuild.go).
//
// One process has the folder (lock.go). Others may look into it all the same: to check
// it and to back it up they read committed states through SQLite (inspect.go, backup.go).
// A backup is put in place in one step that a crash cannot leave half done (restore.go).
//
// Beside the work, derived files are written and an index is made anew when most of
// its slots are of documents that have been replaced (background.go).
//
// # Why it is built this way
//
// Measured on 100,000 chunks, 2 cores. Three conditions: counted with SQL over an
// indexed table of field values in 14 ms, by columns in 0.04 ms. Ten common words: 110
// to 164 ms with FTS5, half a millisecond with package lexical. A vector is read from
// SQLite in 5 microseconds and from a file in one, so that a search re-scores from a copy
// that may be wrong or missing, as every read of it is checked (vectorfile.go). Words are
// read from mapped files, a quarter of a million rows each (wordfiles.go). Of 15 ms for writing 256 chunks, 9 are words and 3 SQLite: a
// cgo driver would gain a tenth and cost the static binary.
package sqlite
