// Package table reads records from tables: delimited text (CSV, TSV) and JSON lines,
// plain or gzipped, and maps their columns to documents.
//
// Files of this kind are written by many programs and damaged by as many. The rules:
//
//   - A record is kept as it stands or refused with its line, its byte and a reason.
//     Nothing is mended by guessing, and nothing is dropped in silence.
//   - One bad record never costs another: after a stray or unclosed quote, reading goes
//     on with the next line. Records are bounded, so that a quote that never closes
//     cannot swallow the file.
//   - Text is UTF-8 (a byte-order mark is dropped) or, record by record, Windows-1252
//     where it is not valid UTF-8; Notes say which was assumed for how many records.
//   - NUL bytes are removed and counted. A file cut off in the middle of a record, or
//     of its compressed stream, keeps its complete records.
package table
