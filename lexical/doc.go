// Package lexical finds rows of text by their words: analysis that keeps identifiers
// findable in every spelling, an index in memory and in mapped files, exact BM25 under a filter, and exact
// sets of rows for phrases. It knows rows by number and nothing of documents.
//
// # What a word is
//
// Text is folded first: compatibility forms (NFKC's equivalence), case, accents of
// Latin and Greek letters. Then it is cut into atoms, runs of letters or of digits, and
// every atom has a position. Atoms with nothing but one of - . / _ between them, or with
// nothing at all where letters meet digits, make a compound. A compound is indexed as its
// atoms and as joined forms, in which only a mark between two digits survives:
//
//	N123AB, N-123AB, n 123 ab      n 123 ab + n123 n123ab
//	PA-28-161, PA28-161            pa 28 161 + pa28 pa28-161
//	PA 28                          pa 28 + pa28
//	135.293(a), 135.293 (a)        135 293 a + 135.293 135.293a
//	FTW96LA203                     ftw 96 la 203 + ftw96 ftw96la ftw96la203
//	8,000 and 8000                 8000
//	20.4                           20 4 + 20.4
//	take-off                       take off + takeoff
//	C.F.R., pilot's, don't         cfr, pilot, dont
//	and/or, ground.The             and or, ground the
//
// An identifier spelled apart is up to three letters that are no common word, one
// blank, digits, and perhaps two more letters. A question asks for the joined forms of
// an identifier, not for its atoms; these stand in for it only if no row has it, and
// never in a serial number, so "N123AB" does not find N123A. Characters of scripts
// written without blanks are words of their own where Unicode says so (Han, kana); Thai
// and its kin are not cut.
//
// Nothing in a question is an operator: AND, quotes, asterisks, colons and brackets are
// words or nothing, and every text is a valid question.
//
// # Words and stems
//
// The index keeps words as written, sorted by stem (English Snowball), so that a stem's
// words lie side by side. A question ranks by stem; a phrase asks for the very words.
//
// # How it is kept
//
// An Index is a list of immutable segments, each a sorted dictionary with packed lists of
// rows and positions. A batch becomes a segment; eight of a size class are merged. The
// list of segments is swapped as one, so readers and the writer never wait for each other
// and every search sees one state. Removed rows are struck from a segment's set of rows
// and counted out of all statistics at once: rankings are always those of an index made
// of the rows that are left. Their postings go when a fifth of a segment is removed, or
// it is merged.
//
// What a merge makes of 4 MB or more goes into a file, if the index has been given a
// folder: lists are written as they are made, and read afterwards where they lie in the
// mapped file (files.go, image.go). In memory remain the small segments, some 50 MB at the
// most, and eight bytes a row. A file is mapped as long as a state that readers may hold
// names it; when the collector of garbage has found that none does, it is let go.
//
// Measured on 46,509 accident reports in 52,700 chunks (7.9 million atoms): 28 MB with
// positions, 8 of these for the positions; 20,000 to 25,000 chunks a second are indexed on
// one core; questions of ten words take 0.3 ms (0.45 with words like "the" in them), with
// nearness 0.6; rare phrases 0.2 ms, common ones 4 ms. Reading it from a file takes
// 0.1 s of one core.
//
// # Why not something else
//
// SQLite's FTS5 scores every match of a common word in its own rows: 110 to 164 ms for
// such questions in 57,000 to 100,000 chunks, 1.3 s in a million. A library index
// (bleve) took 1 to 7 ms and six times the memory.
//
// Ranking goes term by term into a dense array of scores and reads whole lists. Skipping
// rows that cannot win (MaxScore, block-max WAND) would read in full only 6 % of a
// question's 72,000 postings, were the final threshold known beforehand. But it is not,
// every candidate must then be sought in the other lists, which costs as much as reading
// fifty rows of them, and a third of the time goes elsewhere. From a million rows on it
// may be worth its bookkeeping.
package lexical
