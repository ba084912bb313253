package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
	"github.com/sextant-rag/sextant/vector"
)

// Vectors are stored as half floats with a CRC-32C of the chunk's key and them behind.
// The int8 rows in RAM are made of the stored halves, not of what was given, so that
// they are the same after opening again.
const vectorSum = 4

func dimensionOf(blob []byte) int { return (len(blob) - vectorSum) / 2 }

// encodeVector leaves room for the sum, which needs the key: see sealVector.
func encodeVector(v []float32) ([]byte, error) {
	b, err := vector.AppendHalf(make([]byte, 0, 2*len(v)+vectorSum), v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrRecord, err)
	}
	return append(b, 0, 0, 0, 0), nil
}

// sealVector sets the sum of an encoded vector.
func sealVector(key int64, blob []byte) {
	n := len(blob) - vectorSum
	binary.LittleEndian.PutUint32(blob[n:], vectorChecksum(key, blob[:n]))
}

func vectorChecksum(key int64, halves []byte) uint32 {
	var k [8]byte
	binary.LittleEndian.PutUint64(k[:], uint64(key))
	return crc32.Update(crc32.Checksum(k[:], castagnoli), castagnoli, halves)
}

// decodeVector decodes a sealed vector into v.
func decodeVector(v []float32, key int64, blob []byte) error {
	n := len(blob) - vectorSum
	if n != 2*len(v) || binary.LittleEndian.Uint32(blob[n:]) != vectorChecksum(key, blob[:n]) {
		return fmt.Errorf("vector %d of row %d: %w", key&(1<<chunkBits-1), key>>chunkBits, store.ErrCorrupt)
	}
	return vector.DecodeHalf(v, blob[:n])
}

var _ store.VectorReader = (*collection)(nil)

// Vectors implements store.VectorReader.
func (c *collection) Vectors(ctx context.Context, id sextant.DocumentID) ([][]float32, error) {
	var keys []int64
	dimension := 0
	s, err := c.pin(ctx, func(x *index) {
		slot, ok := x.find(string(id))
		if !ok || x.vectors == nil {
			return
		}
		dimension = x.vectors.Dim()
		for chunk := x.chunks.first[slot]; chunk < x.chunks.first[slot+1]; chunk++ {
			keys = append(keys, x.freeze().key(chunk))
		}
	})
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	defer s.close()
	if len(keys) == 0 {
		return nil, nil
	}
	flat := make([]float32, len(keys)*dimension)
	if err := s.vectors(keys, flat); err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	out := make([][]float32, len(keys))
	for i := range out {
		out[i] = flat[i*dimension:][:dimension:dimension]
	}
	return out, nil
}
