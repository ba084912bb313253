// Package vector finds the rows of a matrix with the largest inner product with a query:
// exactly, under a filter, by looking at every row. For unit vectors that is the cosine.
//
// A row is held as int8 with one scale, a quarter of its float32 size, because a scan runs
// at the speed of memory: of 100,000 rows of 384 dimensions, float32 took 7.1 ms on two
// cores and int8 1.0 to 1.5. Int8 alone finds 98.7 % of the true ten best; so the scan
// keeps four times as many as are asked for (40 at least), and the caller's stored
// vectors, half floats or better, put these in their final order. That found all of the
// true ten best wherever it was measured. Where the candidates lie so close together that
// one left out might belong among them, more are looked at; see Matrix.Search.
//
// A filter comes first, as a bitmap. It makes the search faster, and the result is
// that of the rows it lets pass. This is why there is no approximate index here: a graph
// (HNSW) answers a million rows in a millisecond or two where this takes 20, but under a
// filter of 1 % it lost 96 % of the right answers in one well-kept engine and took 55 ms in
// another, while this gets to 3 ms. Past two million rows on few cores that
// trade changes.
//
// The dot products are in assembly for AVX-512 VNNI, for AVX2, and for arm64 with dot
// product instructions, and in Go for everything else; all give the same integers. Go's
// simd/archsimd was as fast, but is behind an experiment, lacks VNNI, and leaves the upper
// halves of registers dirty unless told otherwise, which made a scan 35 times slower.
// The environment variable SEXTANT_VECTOR ("vnni", "avx2", "sdot" or "go") chooses one.
package vector
