package feed

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	ext "github.com/mmcdole/gofeed/extensions"

	"github.com/sextant-rag/sextant/source"
)

// Options bounds one feed, more being an error and never a part of the feed, and says
// what is known of where it comes from.
type Options struct {
	Bytes       int64  // of the file, unpacked; 0 is 32 MiB
	Items       int    // 0 is 10,000
	Base        string // address it was fetched from, for links that are relative to it; may be empty
	ContentType string // as the server gave it; may be empty
}

const (
	defaultBytes = 32 << 20
	defaultItems = 10_000
)

func (l Options) filled() Options {
	if l.Bytes <= 0 {
		l.Bytes = defaultBytes
	}
	if l.Items <= 0 {
		l.Items = defaultItems
	}
	return l
}

// ErrNoFeed says that a file is neither RSS nor Atom nor JSON Feed.
var ErrNoFeed = errors.New("it is no RSS, Atom or JSON feed")

// ErrTooLarge says that a file unpacks to more than its limit.
var ErrTooLarge = errors.New("it is larger than the limit")

// Feed is one feed as read.
type Feed struct {
	Format   string // "RSS 2.0", "Atom 1.0", "JSON Feed 1.1"
	Title    string // plain text in one line; may be empty
	Link     string // absolute address of the site, or of the feed; may be empty
	Encoding string // what the file was written in, and which source of that won
	Repaired int    // places that were no XML and were put right
	Entries  []Entry
}

// Entry is one article. Texts are plain UTF-8 without markup.
type Entry struct {
	ID         string // the publisher's id if that names one article, else made of link, title and date
	Link       string // absolute; empty if there is none that can be opened
	Title      string // one line; may be empty
	Text       string // paragraphs, an empty line between them; may be empty
	Authors    []string
	Categories []string
	Links      []string  // absolute, of the text; at most 50
	Published  time.Time // UTC; zero if the feed gives no date that can be read
	Updated    time.Time // UTC; zero likewise
	OddDate    string    // the date as written, if it could not be read
	Repeats    bool      // another entry of the feed is the same article

	guid string
}

// changed is when the entry was last touched, as far as it says.
func (e *Entry) changed() time.Time {
	if e.Updated.After(e.Published) {
		return e.Updated
	}
	return e.Published
}

// Read reads the feed in a file, which may be gzipped. Errors are about this file: io errors, ErrTooLarge,
// source.ErrExpands, and those of Parse.
func Read(b source.Blob, limits Options) (*Feed, error) {
	limits = limits.filled()
	s, err := b.Stream(nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	raw, err := io.ReadAll(io.LimitReader(s, limits.Bytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", b.Name, err)
	case int64(len(raw)) > limits.Bytes:
		return nil, fmt.Errorf("%w of %d bytes", ErrTooLarge, limits.Bytes)
	}
	return Parse(raw, limits)
}

// Parse reads a feed. Errors are ErrNoFeed, ErrTooLarge and what else bounds it; a feed
// that is merely damaged is read as far as it goes.
func Parse(raw []byte, limits Options) (*Feed, error) {
	limits = limits.filled()
	if int64(len(raw)) > limits.Bytes {
		return nil, fmt.Errorf("%w of %d bytes", ErrTooLarge, limits.Bytes)
	}
	text, won := Decode(raw, charsetOf(limits.ContentType))
	if int64(len(text)) > 2*limits.Bytes {
		return nil, fmt.Errorf("%w of %d bytes", ErrTooLarge, limits.Bytes)
	}
	text = strings.TrimLeft(text, " \t\r\n\x00\ufeff")
	out := &Feed{Encoding: won}
	switch {
	case strings.HasPrefix(text, "<"):
		r, err := repair(text, limits.Items)
		if err != nil {
			return nil, err
		}
		text, out.Repaired = r.text, r.fixed
	case strings.HasPrefix(text, "{"):
		if err := checkJSON(text, limits.Items); err != nil {
			return nil, err
		}
	default:
		return nil, ErrNoFeed
	}
	parsed, err := translate(text)
	if err != nil {
		return nil, err
	}
	out.take(parsed, limits.Base)
	return out, nil
}

// translate lets gofeed read text that is well-formed and bounded. Should it panic on
// an odd feed, that is one file refused and not the end of a run.
func translate(text string) (parsed *gofeed.Feed, err error) {
	defer func() {
		if p := recover(); p != nil {
			parsed, err = nil, fmt.Errorf("it cannot be read: %v", p)
		}
	}()
	parser := gofeed.NewParser()
	parser.AtomTranslator = atomTranslator{}
	parsed, err = parser.ParseString(text)
	switch {
	case errors.Is(err, gofeed.ErrFeedTypeNotDetected):
		return nil, ErrNoFeed
	case err != nil:
		return nil, fmt.Errorf("it cannot be read: %.120s", strings.Join(strings.Fields(err.Error()), " "))
	case parsed.FeedType == "json" && !strings.Contains(parsed.FeedVersion, "jsonfeed.org") && len(parsed.Items) == 0:
		return nil, ErrNoFeed
	}
	return parsed, nil
}

// atomTranslator is gofeed's own, but keeps the term of a category beside its label.
type atomTranslator struct{ gofeed.DefaultAtomTranslator }

// Translate implements gofeed.Translator.
func (t atomTranslator) Translate(of any) (*gofeed.Feed, error) {
	out, err := t.DefaultAtomTranslator.Translate(of)
	in, ok := of.(*atom.Feed)
	if err != nil || !ok || len(in.Entries) != len(out.Items) {
		return out, err
	}
	for i, entry := range in.Entries {
		for _, c := range entry.Categories {
			if c.Label != "" && c.Term != "" && c.Term != c.Label {
				out.Items[i].Categories = append(out.Items[i].Categories, c.Term)
			}
		}
	}
	return out, nil
}

func (f *Feed) take(p *gofeed.Feed, fetched string) {
	f.Format = format(p)
	f.Title = line(p.Title)
	var base *url.URL
	from := resolve(fetched, nil)
	for _, address := range []string{p.Link, p.FeedLink, fetched} {
		if base = resolve(address, from); base != nil && base.Host != "" {
			f.Link = base.String()
			break
		}
	}
	for _, item := range p.Items {
		if item != nil {
			f.Entries = append(f.Entries, entry(item, base))
		}
	}
	identify(f.Entries)
}

func format(p *gofeed.Feed) string {
	switch p.FeedType {
	case "rss":
		return strings.TrimSpace("RSS " + p.FeedVersion)
	case "atom":
		return strings.TrimSpace("Atom " + p.FeedVersion)
	}
	return strings.TrimSpace("JSON Feed " + p.FeedVersion[strings.LastIndexByte(p.FeedVersion, '/')+1:])
}

func entry(item *gofeed.Item, base *url.URL) Entry {
	e := Entry{guid: strings.Join(strings.Fields(item.GUID), " "), Title: line(item.Title)}
	own := base
	for _, address := range append([]string{item.Link}, append(item.Links, item.GUID)...) {
		if u := resolve(address, base); u != nil && u.Host != "" && (address != item.GUID || strings.Contains(address, "://")) {
			e.Link, own = u.String(), u
			break
		}
	}
	e.setText(clean(unbase64(item.Content), own), clean(unbase64(item.Description), own))
	e.setDates(item)
	e.Authors = authors(item)
	e.Categories = names(append(strings.Split(item.Custom["tags"], ","), item.Categories...))
	return e
}

var base64Text = regexp.MustCompile(`^\s*(?:[A-Za-z0-9+/]{4}\s*){10,}[A-Za-z0-9+/]{2,4}={0,2}\s*$`)

// unbase64 decodes a text that is base64, as Atom 0.3 may have it. Prose never looks so:
// its words are not all of a length that four divides.
func unbase64(text string) string {
	if !base64Text.MatchString(text) {
		return text
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil || !utf8.Valid(raw) {
		return text
	}
	return string(raw)
}

// setText takes the whole article where the feed has it beside a summary.
func (e *Entry) setText(content, description cleaned) {
	if len(description.text) > len(content.text) {
		content = description
	}
	e.Text, e.Links = content.text, content.links
}

// setDates reads the dates. A feed with nothing but a date of change means that one.
func (e *Entry) setDates(item *gofeed.Item) {
	var published, updated bool
	terms := item.Extensions["dcterms"] // the terms of Dublin Core, which RSS 1.0 writes for dates
	e.Published, published = ParseDate(cmp.Or(item.Published, term(terms, "issued"), term(terms, "created")))
	e.Updated, updated = ParseDate(cmp.Or(item.Updated, term(terms, "modified")))
	switch {
	case published:
	case item.Published != "":
		e.OddDate = line(item.Published)
	case updated:
		e.Published = e.Updated
	default:
		e.OddDate = line(item.Updated)
	}
}

func term(terms map[string][]ext.Extension, name string) string {
	for _, t := range terms[name] {
		if t.Value != "" {
			return t.Value
		}
	}
	return ""
}

// withAddress is a name with an address behind it.
var withAddress = regexp.MustCompile(`^(.+?)\s*<[^<>\s]+@[^<>\s]+>$`)

func authors(item *gofeed.Item) []string {
	var out []string
	if dc := item.DublinCoreExt; dc != nil && len(dc.Creator) > 1 {
		return names(dc.Creator)
	}
	for _, a := range item.Authors {
		if a == nil {
			continue
		}
		name := cmp.Or(a.Name, a.Email)
		if m := withAddress.FindStringSubmatch(name); m != nil {
			name = m[1]
		}
		out = append(out, name)
	}
	return names(out)
}

// names makes each a line and keeps it once. What is longer than a name is none.
func names(list []string) []string {
	var out []string
	for _, s := range list {
		if s = line(s); s != "" && len(s) <= 200 && !slices.Contains(out, s) && len(out) < 100 {
			out = append(out, s)
		}
	}
	return out
}
