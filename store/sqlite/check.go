package sqlite

import (
	"fmt"

	"github.com/sextant-rag/sextant/store"
)

// sameLength reports whether a change's vectors are of one length.
func sameLength(rows []row) error {
	n := 0
	for i := range rows {
		for _, v := range rows[i].vectors {
			if n == 0 {
				n = dimensionOf(v)
			}
			if dimensionOf(v) != n {
				return fmt.Errorf("%s: vector of %d dimensions among others of %d: %w", rows[i].id, dimensionOf(v), n, store.ErrRecord)
			}
		}
	}
	return nil
}
