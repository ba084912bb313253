package llm

import (
	"context"
	"time"
)

// Attempt is one call of a model that was made, for those who show calls as they happen.
type Attempt struct {
	Request  Request
	Model    string
	Response Response
	Err      error
	Took     time.Duration
}

type watchKey struct{}

// Watch lets see be told of every call below the context, after it has ended. It may be
// called from several goroutines at once.
func Watch(ctx context.Context, see func(Attempt)) context.Context {
	return context.WithValue(ctx, watchKey{}, see)
}

func tell(ctx context.Context, a Attempt) {
	if see, ok := ctx.Value(watchKey{}).(func(Attempt)); ok {
		see(a)
	}
}
