// Package httpapi is the HTTP surface of Sextant: the questions of /v1 as JSON and as
// server-sent events, the routes of the Domino blueprint under /api and /retrieve for
// front ends that were written against it, health, the OpenAPI document, and the page.
//
// Every route stands on one page, routes.go. A handler reads its request, calls the
// [Engine] and returns an error or writes an answer; one adapter turns errors into
// RFC 9457 problems. What surrounds the handlers is in the order a request meets it:
// recover and log (middleware.go), who may ask (guard.go), how many at once (queue.go).
//
// testdata holds one golden file for every JSON shape, event and status.
package httpapi
