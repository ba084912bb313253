// Package filter is the algebra of hard conditions: what a document's typed
// metadata looks like (Schema, Field, Group, Value, Meta) and what can be asked of
// it (And, Or, Not, Eq, In, Range, Exists, Contains, Each).
//
// It is the lowest package of the module and imports the standard library only, so
// that every store, the constraint grammar and the tests speak of the same thing.
// [Match] is the reference evaluator: slow, obvious, and the oracle of every
// store's tests. A store may answer faster, never differently.
//
// # Semantics, fixed for all stores
//
//   - A field is present when it has at least one value. Nothing is ever "empty".
//   - A list field satisfies Eq, In, Range or Contains if any of its values does.
//   - Every condition on a missing field is false, so Not of it is true. A question
//     that says "not a Cessna" means known and different; it is written
//     And{Exists, Not}, not Not alone.
//   - And{} holds for every document, Or{} and In{} with no values for none.
//   - A group is an ordered list of elements (the aircraft of an event). [Each]
//     holds if one single element satisfies the whole inner filter: "Cessna" and
//     "172" must be true of the same aircraft.
//   - Keyword values compare under their field's [Fold]; ints, floats and times by
//     value; times as microseconds since 1970 in UTC.
package filter
