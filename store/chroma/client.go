package chroma

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sextant-rag/sextant/store"
)

// client speaks HTTP with a server. Every failure is a sentinel of package store.
type client struct {
	base    string // of the database: .../api/v2/tenants/t/databases/d
	root    string // .../api/v2
	header  http.Header
	http    *http.Client
	quick   time.Duration // limit of a request that reads
	patient time.Duration // limit of a request that writes, or removes
}

// errThere is what the server says exists already.
var errThere = errors.New("the server has one already")

// errMissing is what the server says is not there, in its own words.
var errMissing = errors.New("the server has no such thing")

func newClient(o Options) (*client, error) {
	u, err := url.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("chroma: %q is no http or https address: %w", redacted(o.URL), store.ErrUnsupported)
	}
	c := &client{header: http.Header{}, quick: o.Timeout, patient: 20 * o.Timeout}
	switch password, _ := u.User.Password(); {
	case o.Token != "" && strings.EqualFold(o.TokenHeader, "X-Chroma-Token"):
		c.header.Set("X-Chroma-Token", o.Token)
	case o.Token != "":
		c.header.Set("Authorization", "Bearer "+o.Token)
	case o.User != "":
		c.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(o.User+":"+o.Password)))
	case u.User != nil:
		c.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	u.User = nil
	c.root = u.String() + "/api/v2"
	c.base = c.root + "/tenants/" + url.PathEscape(o.Tenant) + "/databases/" + url.PathEscape(o.Database)
	c.http = &http.Client{
		Transport: &http.Transport{
			Proxy:        http.ProxyFromEnvironment,
			DialContext:  (&net.Dialer{Timeout: o.Timeout, KeepAlive: 15 * time.Second}).DialContext,
			MaxIdleConns: 16, MaxIdleConnsPerHost: 16, IdleConnTimeout: 60 * time.Second,
			TLSHandshakeTimeout: o.Timeout, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// redacted is an address without what may be a secret.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not an address)"
	}
	return u.Redacted()
}

// read asks for something below the database's path and decodes the answer.
func (c *client) read(ctx context.Context, method, path string, in, out any) error {
	limit := c.quick
	if ctx.Value(unhurried{}) != nil {
		limit = c.patient
	}
	return c.call(ctx, limit, method, c.base+path, in, out)
}

// unhurried marks a context under which much is read for nobody who waits at a screen.
type unhurried struct{}

// atLeisure gives a server that is busy time for what is read under the context. That it
// is there has been found out before, by a request in a hurry.
func atLeisure(ctx context.Context) context.Context { return context.WithValue(ctx, unhurried{}, true) }

// write changes something.
func (c *client) write(ctx context.Context, method, path string, in, out any) error {
	return c.call(ctx, c.patient, method, c.base+path, in, out)
}

// maxAnswer bounds what is read of an answer: a server that never ends must not take all
// memory.
const maxAnswer = 1 << 30

// call makes one request. Where the server has closed a connection that was kept open,
// net/http makes it again on another; nothing else is tried twice, since who waits wants
// to know.
func (c *client) call(ctx context.Context, limit time.Duration, method, address string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("chroma: encode: %w", err)
		}
		body = bytes.NewReader(b)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, method, address, body)
	if err != nil {
		return fmt.Errorf("chroma: %w", err)
	}
	for k, v := range c.header {
		req.Header[k] = v
	}
	req.Header.Set("Accept", "application/json")
	req.Header["Idempotency-Key"] = nil // every request may be made twice; it is not sent
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return unavailable(ctx, limit, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return unavailable(ctx, limit, err)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return refusal(res.StatusCode, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("chroma: an answer that is none of a Chroma server: %w: %w", store.ErrUnavailable, err)
	}
	return nil
}

// errSlow is that an answer needed several requests and the server was slow with each.
var errSlow = errors.New("the server answers too slowly")

// hurried bounds all requests of one answer together: who asks waits no longer than for a
// server that says nothing.
func (c *client) hurried(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.quick+c.quick/8, errSlow)
}

// unavailable is a request that got no answer. Who gave up himself gets his own error.
func unavailable(ctx context.Context, limit time.Duration, err error) error {
	if errors.Is(context.Cause(ctx), errSlow) {
		return fmt.Errorf("chroma: %w: %w", errSlow, store.ErrUnavailable)
	}
	if own := ctx.Err(); own != nil {
		return fmt.Errorf("chroma: %w", own)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the address, which may name more than people should read
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("chroma: no answer in %s: %w", limit, store.ErrUnavailable)
	}
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return fmt.Errorf("chroma: %w: its certificate is not trusted (SSL_CERT_FILE names authorities that are): %w", store.ErrUnavailable, untrusted.Err)
	}
	return fmt.Errorf("chroma: %w: %w", store.ErrUnavailable, err)
}

// refusal makes an error of a status. Only what Chroma itself says is believed: a
// page of some proxy in between says nothing of collections.
func refusal(status int, answer []byte) error {
	var said struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	own := json.Unmarshal(answer, &said) == nil && said.Error != ""
	if !own {
		said.Message = http.StatusText(status)
	}
	if len(said.Message) > 400 {
		said.Message = said.Message[:400]
	}
	switch {
	case own && status == http.StatusNotFound:
		return fmt.Errorf("chroma: %w: %s", errMissing, said.Message)
	case own && status == http.StatusConflict:
		return fmt.Errorf("chroma: %w: %w: %s", errThere, store.ErrUnavailable, said.Message)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("chroma: the server refuses the credentials (status %d): %w", status, store.ErrUnavailable)
	case status == http.StatusInsufficientStorage:
		return fmt.Errorf("chroma: %w: %s", store.ErrFull, said.Message)
	case own && status == http.StatusUnprocessableEntity:
		return fmt.Errorf("chroma: the server does not understand a request; it must be Chroma 1.5 or later: %w: %s", store.ErrUnsupported, said.Message)
	case own && strings.Contains(said.Message, "Error sending message to compactor"):
		return fmt.Errorf("chroma: the server's log is damaged, its data folder must be restored from a copy: %w: %s", store.ErrUnavailable, said.Message)
	}
	return fmt.Errorf("chroma: status %d: %w: %s", status, store.ErrUnavailable, said.Message)
}
