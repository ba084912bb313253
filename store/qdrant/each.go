package qdrant

import (
	"context"
	"errors"
	"sync"
)

// aside is how many requests of one question are on their way at once.
const aside = 8

// each asks for several things side by side. The first error ends the rest.
func each[K comparable, V any](ctx context.Context, keys map[K]bool, ask func(context.Context, K) (V, error)) (map[K]V, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make(map[K]V, len(keys))
	var mu sync.Mutex
	var work sync.WaitGroup
	slots := make(chan struct{}, aside)
	var first error
	for k := range keys {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			v, err := ask(ctx, k)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				if first == nil {
					first = err
				}
				cancel(errStopped)
				return
			}
			out[k] = v
		})
	}
	work.Wait()
	return out, first
}

// errStopped ends what is asked beside something that failed.
var errStopped = errors.New("another part of the question failed")
