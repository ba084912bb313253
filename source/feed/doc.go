// Package feed reads saved news feeds: RSS 0.9 to 2.0, Atom and JSON Feed, in the state
// publishers leave them in. Feeds in the wild are rarely well-formed: the charset they
// declare is not the one they are written in, HTML entities stand in XML, dates have a
// dozen wrong forms and all entries share an id. So a feed goes through four steps that
// each make one thing certain: Decode gives characters, repair gives nested XML of
// bounded size, gofeed gives the fields of the three formats, and Parse gives entries with
// ids of their own, plain text, absolute links and a date or none.
//
// Whatever would take unbounded memory or depth is an error before it is built.
package feed
