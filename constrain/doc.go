// Package constrain reads the hard conditions out of a question and accounts for
// them on the whole corpus.
//
// Reading needs no model. A question is split into [Token]s; recognizers propose
// [Claim]s: "these words mean this condition". A claim may also say that words which
// look like a condition are none ("landing gear", "Captain Piper"). Tokens are
// claimed once, the longest and most specific claim first; then lists, negation and
// alternatives are put together, and what nobody claimed is the content query.
//
// What a value can be comes from the corpus itself (the [Vocabulary], built from
// facets), so that a value never seen is known to be absent. What people call things
// comes from a domain's [Lexicon]: phrases, measures and recognizers of its own. The
// package knows no domain; with an empty lexicon it still reads dates, numbers and
// the values of any schema.
//
// [Keep] then counts: each condition alone, its unknowns, all together, and when
// nothing satisfies them all, the smallest sets of conditions whose removal helps.
// Counting is the store's; nothing here is estimated.
//
// docs/constraints.md says how to add a phrase, a field and a recognizer.
package constrain
