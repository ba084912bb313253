package aviation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/fetch"
	"github.com/sextant-rag/sextant/source"
)

// Feeds are the news feeds that are fetched unless others are named.
var Feeds = []string{
	"https://www.avweb.com/feed/",
	"https://aviationweek.com/rss.xml",
	"https://www.flyingmag.com/feed/",
	"https://simpleflying.com/feed/",
}

// NewsService fetches feeds and keeps what it got, with the marks by which a server knows
// that nothing has changed since: then it is not sent again.
type NewsService struct {
	Client *fetch.Client
	Cache  string   // folder for feeds; made if it is not there
	Feeds  []string // addresses; nil is Feeds
	Now    func() time.Time
}

// maxFeed bounds a fetched feed, unpacked.
const maxFeed = 32 << 20

const feedTypes = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, application/json;q=0.8, */*;q=0.5"

// fetchedFeed is what is kept of a feed beside its bytes.
type fetchedFeed struct {
	URL          string    `json:"url"`  // as asked for
	Base         string    `json:"base"` // after redirects: what links are relative to
	ContentType  string    `json:"content_type,omitempty"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Fetched      time.Time `json:"fetched"`
}

// Open fetches the feeds and returns the source of them. A feed that cannot be had is read
// from the cache, and its receipt says so; one that was never had is an input that fails.
// Only if there is none at all is that an error here.
func (s NewsService) Open(ctx context.Context) (*NewsFeeds, error) {
	if len(s.Feeds) == 0 {
		s.Feeds = Feeds
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	out := &NewsFeeds{now: s.Now}
	var failures []error
	for _, address := range s.Feeds {
		in, err := s.feed(ctx, address)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failures = append(failures, err)
			in = newsFile{blob: source.Bytes(feedName(address), nil), failed: err}
		}
		out.files = append(out.files, in)
	}
	if len(failures) == len(s.Feeds) {
		return nil, s.failed(failures)
	}
	return out, nil
}

// failed explains why no feed could be had.
func (s NewsService) failed(failures []error) error {
	e := &sextant.Error{Code: sextant.CodeUnavailable, Op: "ingest news", Err: errors.Join(failures...)}
	e.Hint = "Try again later, or save the feed to a file and give its path: sextant ingest news PATH..."
	switch err := failures[0]; {
	case errors.Is(err, fetch.ErrOffline):
		e.Message = "No feed could be fetched: the network cannot be reached."
		e.Hint = "Try again with a connection, or save the feed to a file and give its path: sextant ingest news PATH..."
	case errors.Is(err, fetch.ErrPrivate):
		e.Code, e.Message = sextant.CodeForbidden, "The feed's address leads into a private network."
		e.Hint = "Permit it with fetch.permit in the configuration if that is meant."
	case errors.Is(err, fetch.ErrURL):
		e.Code, e.Message = sextant.CodeBadRequest, shortList(s.Feeds)+" is no address that can be fetched."
	default:
		e.Message = "No feed could be fetched: " + err.Error() + "."
	}
	return e
}

// feed fetches one feed, or finds it in the cache.
func (s NewsService) feed(ctx context.Context, address string) (newsFile, error) {
	path := filepath.Join(s.Cache, cacheName(address))
	known, held := readFetched(path)
	request := fetch.Request{URL: address, Accept: feedTypes, MaxBytes: maxFeed}
	if held {
		request.ETag, request.LastModified = known.ETag, known.LastModified
	}
	res, data, err := s.Client.Bytes(ctx, request)
	switch {
	case err != nil && held:
		return s.cached(path, known, fmt.Sprintf("It could not be fetched (%v); this is what it was on %s.", err, longDate(known.Fetched)))
	case err != nil:
		return newsFile{}, err
	case res.NotModified:
		return s.cached(path, known, "")
	}
	known = fetchedFeed{URL: address, Base: res.URL, ContentType: res.ContentType, ETag: res.ETag, LastModified: res.LastModified, Fetched: s.Now().UTC()}
	if err := keep(path+".feed", data); err != nil {
		return newsFile{}, fmt.Errorf("keep %s: %w", feedName(address), err)
	}
	meta, err := json.Marshal(known)
	if err == nil {
		err = keep(path+".json", meta)
	}
	if err != nil {
		return newsFile{}, fmt.Errorf("keep %s: %w", feedName(address), err)
	}
	return s.cached(path, known, "")
}

func (s NewsService) cached(path string, known fetchedFeed, note string) (newsFile, error) {
	b, err := source.File(path + ".feed")
	if err != nil {
		return newsFile{}, err
	}
	b.Name = feedName(known.URL)
	return newsFile{blob: b, path: path + ".feed", base: known.Base, contentType: known.ContentType, note: note}, nil
}

// readFetched reads what is kept of a feed; what cannot be read is not there.
func readFetched(path string) (fetchedFeed, bool) {
	var f fetchedFeed
	data, err := os.ReadFile(path + ".json")
	if err != nil || json.Unmarshal(data, &f) != nil {
		return fetchedFeed{}, false
	}
	_, err = os.Stat(path + ".feed")
	return f, err == nil
}

func cacheName(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:12])
}

// feedName is how receipts call a feed: its host and path, without what may be secret.
func feedName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "feed"
	}
	return strings.TrimSuffix(clean(u.Hostname()+u.EscapedPath()), "/")
}

// Kept are the files in which fetched feeds are kept.
func (n *NewsFeeds) Kept() []string {
	var out []string
	for _, f := range n.files {
		if f.path != "" {
			out = append(out, f.path)
		}
	}
	return out
}
