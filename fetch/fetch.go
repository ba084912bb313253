package fetch

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Options of a Client. The zero value is right for the public network.
type Options struct {
	Permit   []netip.Prefix // addresses that may be reached although they are not public
	MaxBytes int64          // of a decoded body; 0 is 64 MiB
	Timeout  time.Duration  // of a whole transfer; 0 is two minutes
	Agent    string         // what the client calls itself; "" is "sextant"
}

// Client fetches. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	options Options
}

const (
	defaultBytes   = 64 << 20
	defaultTimeout = 2 * time.Minute
	maxRedirects   = 5
	maxURL         = 4096
)

// New returns a client. It uses no proxy: a proxy would connect where it likes.
func New(o Options) *Client {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultBytes
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Agent == "" {
		o.Agent = "sextant"
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: guard(o.Permit)}
	transport := &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true, // decoded here, bounded
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout: 30 * time.Second, MaxIdleConnsPerHost: 2,
	}
	return &Client{options: o, http: &http.Client{Transport: transport, CheckRedirect: redirect}}
}

func redirect(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return fmt.Errorf("%w: more than %d redirects", ErrURL, maxRedirects)
	}
	if before[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return fmt.Errorf("%w: it leads from https to http", ErrURL)
	}
	return checkURL(next.URL)
}

// Request is what to get. The validators of an earlier answer make it conditional.
type Request struct {
	URL          string
	Accept       string // media types; "" is any
	ETag         string // as the server gave it
	LastModified string // likewise
	MaxBytes     int64  // of the decoded body; 0 is the client's
}

// Response is an answer with status 200, or 304 to a conditional request. The body is
// decoded; reading more of it than allowed is ErrTooLarge. It must be closed.
type Response struct {
	URL          string // after redirects
	NotModified  bool   // the body is empty, what was fetched before still holds
	ContentType  string
	ETag         string
	LastModified string
	Body         io.ReadCloser
}

// Errors a caller decides on, besides ErrPrivate, ErrURL and *StatusError.
var (
	ErrTooLarge = errors.New("the answer is larger than allowed")
	ErrEncoding = errors.New("the answer is not compressed as it claims")
	ErrOffline  = errors.New("the host cannot be reached")
)

// StatusError is an answer that is no success.
type StatusError struct {
	Status     int
	RetryAfter time.Duration // zero if the server names none
}

// Error implements error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
}

// Get sends the request and returns the answer once its headers are there.
func (c *Client) Get(ctx context.Context, r Request) (*Response, error) {
	req, cancel, err := c.request(ctx, r)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req) //nolint:bodyclose // closed by body.Close
	if err != nil {
		cancel()
		return nil, c.failure(ctx, err)
	}
	if r.MaxBytes <= 0 {
		r.MaxBytes = c.options.MaxBytes
	}
	out := &Response{
		URL: res.Request.URL.String(), ContentType: res.Header.Get("Content-Type"),
		ETag: res.Header.Get("ETag"), LastModified: res.Header.Get("Last-Modified"),
	}
	body := &body{raw: res.Body, cancel: cancel, left: r.MaxBytes}
	out.Body = body
	switch {
	case res.StatusCode == http.StatusNotModified && (r.ETag != "" || r.LastModified != ""):
		out.NotModified = true
		body.in = strings.NewReader("")
		return out, nil
	case res.StatusCode != http.StatusOK:
		_ = body.Close()
		return nil, &StatusError{res.StatusCode, retryAfter(res.Header.Get("Retry-After"))}
	}
	if err := body.decode(res.Header.Get("Content-Encoding")); err != nil {
		_ = body.Close()
		return nil, err
	}
	return out, nil
}

// Bytes is Get with the whole body.
func (c *Client) Bytes(ctx context.Context, r Request) (*Response, []byte, error) {
	res, err := c.Get(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, nil, err
	}
	return res, data, nil
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, context.CancelFunc, error) {
	text := r.URL
	if rest, ok := strings.CutPrefix(text, "feed:"); ok { // an old way to write the address of a feed
		if text = rest; strings.HasPrefix(rest, "//") {
			text = "https:" + rest
		}
	}
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL {
		return nil, nil, ErrURL
	}
	if err := checkURL(u); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("%w: %v", ErrURL, err)
	}
	for name, value := range map[string]string{
		"User-Agent": c.options.Agent, "Accept": r.Accept, "Accept-Encoding": "gzip",
		"If-None-Match": r.ETag, "If-Modified-Since": r.LastModified,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return req, cancel, nil
}

// failure keeps what a caller decides on and drops the address, which may hold secrets.
func (c *Client) failure(ctx context.Context, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrPrivate), errors.Is(err, ErrURL):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w within %v", ErrOffline, c.options.Timeout)
	case isOffline(err):
		return fmt.Errorf("%w: %w", ErrOffline, err)
	}
	return fmt.Errorf("fetch: %w", err)
}

// retryAfter reads seconds or a date.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(strings.TrimSpace(header)); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 86400)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// body is a decoded and bounded body.
type body struct {
	raw    io.ReadCloser
	in     io.Reader
	cancel context.CancelFunc
	left   int64
}

func (b *body) decode(encoding string) error {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		b.in = b.raw
		return nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(bufio.NewReader(b.raw))
		if err != nil {
			return fmt.Errorf("%w (gzip)", ErrEncoding)
		}
		b.in = z
		return nil
	}
	return fmt.Errorf("%w: %q is not known", ErrEncoding, encoding)
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrTooLarge
	}
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		err = fmt.Errorf("%w (gzip)", ErrEncoding)
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%w: the transfer took too long", ErrOffline)
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.cancel()
	return b.raw.Close()
}
