package embed

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Queries returns the vectors of many texts to search with, on all cores: what
// EmbedQuery gives for each. It fails as a whole.
func Queries(ctx context.Context, e Embedder, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([][]float32, len(texts))
	var next atomic.Int64
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(texts)) {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(texts) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				v, err := e.EmbedQuery(ctx, texts[i])
				if err != nil {
					cancel(err)
					return
				}
				out[i] = v
			}
		})
	}
	work.Wait()
	return out, context.Cause(ctx)
}
