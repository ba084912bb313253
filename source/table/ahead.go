package table

import (
	"context"
	"iter"
)

// Bounds of what is read ahead at a time: entries, and bytes of the file.
const (
	aheadEntries = 256
	aheadBytes   = 1 << 20
)

// readAhead yields what a sequence does, which is read in a goroutine of its own meanwhile.
// The sequence has ended when readAhead returns.
func readAhead(ctx context.Context, entries func(context.Context) iter.Seq2[entry, error]) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		pieces := make(chan []entry, 1)
		var failed error
		defer func() {
			cancel()
			for range pieces { // let the reader see that it is over
			}
		}()
		go func() {
			defer close(pieces)
			failed = inPieces(ctx, entries(ctx), pieces)
		}()
		for piece := range pieces {
			for _, e := range piece {
				if !yield(e, nil) {
					return
				}
			}
		}
		if failed != nil {
			yield(entry{}, failed)
		}
	}
}

// inPieces sends entries, many at a time.
func inPieces(ctx context.Context, entries iter.Seq2[entry, error], out chan<- []entry) error {
	var piece []entry
	send := func() error {
		select {
		case out <- piece:
			piece = nil
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for e, err := range entries {
		if err != nil {
			if len(piece) > 0 {
				_ = send() // what was read counts; err is what is wrong
			}
			return err
		}
		piece = append(piece, e)
		if len(piece) == aheadEntries || e.next.Offset-piece[0].at.Offset >= aheadBytes {
			if err := send(); err != nil {
				return err
			}
		}
	}
	if len(piece) > 0 {
		return send()
	}
	return nil
}
