// Package sextant holds the nouns of the engine: documents and their parts,
// questions, constraints, ledgers, answers, events and errors. It imports the
// standard library and package filter only, so that every other package can speak
// these words without pulling in a technology.
//
// # A tour, from the bottom up
//
// A document is canonical UTF-8 text with parts and typed metadata
// ([Document], package filter). Package ingest takes documents from a source, cuts
// them into chunks (package chunk) and hands them to a store, leaving a [Receipt]
// for every record it was given. A store (package store and its subfolders) keeps
// them, counts exactly under a filter and finds chunks.
//
// A question becomes typed conditions in package constrain ([Constraint]) and a
// proof of what they match on the whole corpus ([Ledger]). Package compute answers
// what can be computed ([Computed]), package retrieve finds [Passage]s under the same
// filter, package generate turns them into [Finding]s and package check lets only
// those through that their [Quote]s support. Package pipeline ties one question to
// one [Answer] and yields [Event]s on the way; httpapi and cmd/sextant show them.
//
// docs/design.md says why it is built this way.
package sextant
