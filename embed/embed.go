// Package embed turns texts into vectors, near each other where the texts mean the same.
// It is the contract; package local runs a model in this process, package openai asks a
// server.
package embed

import "context"

// An Embedder turns texts into vectors of one fixed length. It is safe for concurrent use.
//
// The vector of a text depends on the text alone, never on the batch it came in. A text of
// any length, also none, has a vector; models see only so much of a long one. Vectors have
// length 1 when the fingerprint says so; the caller owns them.
type Embedder interface {
	// Embed returns one vector for each of the texts to be found, in their order. No texts
	// give no vectors. It fails as a whole; when ctx ends, with an error that wraps ctx's.
	Embed(ctx context.Context, texts []string) ([][]float32, error)

	// EmbedQuery returns the vector of a text to search with. Some models read queries and
	// documents differently.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)

	// Dim is the number of numbers in a vector.
	Dim() int

	// Fingerprint says which vectors these are.
	Fingerprint() Fingerprint
}
