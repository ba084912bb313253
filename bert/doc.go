// Package bert runs text encoders of the BERT family on the CPU: a WordPiece tokenizer,
// 8-bit weights and activations, and a forward pass whose inner loops are generated
// assembly on amd64 and plain Go everywhere else.
//
// It knows tokens and tensors. What a document, a query or an index is, callers know.
//
// A [Model] is immutable and comes from a folder as such models are published
// ([OpenFolder]) or from this package's own packed form ([Open]), which needs no work at
// load time. An [Encoder] runs one: it takes texts, spreads them over workers, longest
// first, each text alone and unpadded, and returns one vector per text.
//
// # Same bits everywhere
//
// Every instruction set gives the same result, bit for bit, and so does every batch size
// and worker count. Integer products are exact; floating point operations are fused or
// not, and summed, in one fixed order that the kernels of each instruction set follow. An
// index built on one machine can therefore be queried and extended on any other.
package bert
