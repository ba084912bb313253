package qdrant

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// tokens gets short-lived bearer tokens from a service on the same machine: GET
// <url>/access-token answers with one (docs.dominodatalab.com, "API authentication"). Every
// request carries one that is at most a minute old; a token that is refused is replaced.
type tokens struct {
	url  string
	http *http.Client

	mu    sync.Mutex
	token string
	got   time.Time
}

const (
	tokenAge   = time.Minute
	maxToken   = 16 << 10
	tokenRoute = "/access-token"
)

// current returns a token for a request that is sent now.
func (t *tokens) current(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && time.Since(t.got) < tokenAge {
		return t.token, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(t.url, "/")+tokenRoute, nil)
	if err != nil {
		return "", fmt.Errorf("access token: %w", store.ErrUnavailable)
	}
	res, err := t.http.Do(req)
	if err != nil {
		return "", fmt.Errorf("access token: %w", unreachable(ctx, err))
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxToken))
	if err != nil {
		return "", fmt.Errorf("access token: %w", unreachable(ctx, err))
	}
	token := strings.Trim(strings.TrimSpace(string(body)), `"`)
	if res.StatusCode != http.StatusOK || token == "" || strings.ContainsAny(token, " \r\n") {
		return "", fmt.Errorf("access token: status %d: %w", res.StatusCode, store.ErrUnavailable)
	}
	t.token, t.got = token, time.Now()
	return token, nil
}

// drop forgets a token that was refused.
func (t *tokens) drop() {
	t.mu.Lock()
	t.token = ""
	t.mu.Unlock()
}
