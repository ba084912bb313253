// Package endpoint posts JSON to servers that run models and reads JSON back: within a
// budget of attempts and time, with errors a caller can decide on, and with the key in
// none of them.
//
// It knows HTTP and how such servers fail. What is asked and answered, callers know.
package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Defaults of Options.
const (
	DefaultAttempts = 5
	DefaultPatience = 60 * time.Second
	DefaultMaxBytes = 64 << 20
)

// Options say where a server is and how long to bear with it. Zero values are defaults.
type Options struct {
	// Service is what errors call the server: "the embeddings server".
	Service string
	// URL is where to post, http or https.
	URL string
	// Key goes into the header Authorization as a bearer token; "" sends none.
	Key string
	// Attempts is how often one request is tried.
	Attempts int
	// Patience bounds all waiting between the attempts of one request.
	Patience time.Duration
	// MaxBytes bounds a response.
	MaxBytes int64
	// HTTP does the requests; nil is a client of this package's own.
	HTTP *http.Client
}

// A Client posts to one URL. It is safe for concurrent use.
type Client struct {
	Options
	shown string // the URL as errors may show it
}

// New checks the URL. The error is a [*Error] of kind [ErrRequest].
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &Error{Service: o.Service, Kind: ErrRequest, Message: "its address is no http or https URL"}
	}
	if o.Attempts <= 0 {
		o.Attempts = DefaultAttempts
	}
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.HTTP == nil {
		// No timeout on the whole: a model may think for long, and callers have deadlines. A
		// peer that says nothing at all is cut off.
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.ResponseHeaderTimeout = 5 * time.Minute
		o.HTTP = &http.Client{Transport: t}
	}
	// A password or an access token may stand in either part that is left out.
	shown := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	return &Client{Options: o, shown: shown}, nil
}

// Join appends path to a base URL, before its query, unless the base ends in it already, so
// that both "https://host/v1" and "https://host/v1/embeddings" are understood.
func Join(base, path string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	if !strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), path) {
		u = u.JoinPath(path)
	}
	return u.String()
}

// Post sends in as JSON and reads the response into out. Servers that are busy or broken
// are asked again, after the time they name or a growing, random one, as long as attempts,
// patience and ctx's deadline allow; a wait that would outlast them is not begun.
//
// Errors are a [*Error], or wrap ctx's when that ended.
func (c *Client) Post(ctx context.Context, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("%s: write the request: %w", c.Service, err)
	}
	waited := time.Duration(0)
	for attempt := 1; ; attempt++ {
		err := c.once(ctx, body, out)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", c.Service, ctx.Err())
		}
		if !err.retry || attempt >= c.Attempts {
			err.Attempts = attempt
			return err
		}
		wait := max(err.RetryAfter, backoff(attempt))
		waited += wait
		if deadline, ok := ctx.Deadline(); waited > c.Patience || ok && time.Until(deadline) < wait {
			err.Attempts = attempt
			return err
		}
		if sleep(ctx, wait) != nil {
			return fmt.Errorf("%s: %w", c.Service, ctx.Err())
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once makes one attempt.
func (c *Client) once(ctx context.Context, body []byte, out any) *Error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return c.fail(ErrRequest, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		e := c.fail(ErrUnavailable, err)
		e.retry = true
		return e
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, c.MaxBytes+1))
	switch {
	case err != nil:
		e := c.fail(ErrUnavailable, err)
		e.retry = true
		return e
	case resp.StatusCode/100 != 2:
		return c.refusal(resp, data)
	case int64(len(data)) > c.MaxBytes:
		return c.fail(ErrResponse, fmt.Errorf("more than %d bytes", c.MaxBytes))
	}
	if err := json.Unmarshal(data, out); err != nil {
		return c.fail(ErrResponse, err)
	}
	return nil
}
