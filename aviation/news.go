package aviation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/source"
	"github.com/sextant-rag/sextant/source/feed"
)

// NewsFeeds is the source of news articles in feeds, saved or fetched.
type NewsFeeds struct {
	files []newsFile
	now   func() time.Time
}

// newsFile is a feed's bytes and what is known of where they come from.
type newsFile struct {
	blob        source.Blob
	path        string // where a fetched one is kept
	base        string // the address it was fetched from
	contentType string // as the server said
	note        string // a full sentence about it, or ""
	failed      error  // why there is nothing to read
}

// NewNews returns the source of some feed files, in this order.
func NewNews(blobs ...source.Blob) *NewsFeeds {
	out := &NewsFeeds{now: time.Now}
	for _, b := range blobs {
		out.files = append(out.files, newsFile{blob: b})
	}
	return out
}

// feedFile are the name endings of files that are taken from a folder.
var feedFile = []string{".xml", ".rss", ".atom", ".rdf", ".json", ".feed"}

// OpenNews returns the source of the feed files at some paths. A folder stands for the
// feeds in it and below, by name. A path without any is an error. Addresses are for
// NewsService.
func OpenNews(paths ...string) (*NewsFeeds, error) {
	var blobs []source.Blob
	for _, p := range paths {
		files, err := filesIn(p, feedFile)
		if err != nil {
			return nil, newsError(err, "%s cannot be read.", filepath.Base(p))
		}
		if len(files) == 0 {
			return nil, newsError(nil, "%s holds no file that ends in %s (perhaps with .gz).", filepath.Base(p), strings.Join(feedFile, ", "))
		}
		for _, f := range files {
			b, err := source.File(f)
			if err != nil {
				return nil, newsError(err, "%s cannot be read.", filepath.Base(f))
			}
			blobs = append(blobs, b)
		}
	}
	return NewNews(blobs...), nil
}

// And returns the source of two sources' feeds.
func (n *NewsFeeds) And(more *NewsFeeds) *NewsFeeds {
	return &NewsFeeds{files: slices.Concat(n.files, more.files), now: n.now}
}

func newsError(err error, format string, args ...any) error {
	return &sextant.Error{
		Code: sextant.CodeBadRequest, Op: "ingest news", Message: fmt.Sprintf(format, args...), Err: err,
		Hint: "Give addresses of feeds (RSS, Atom or JSON Feed) or files they were saved to: sextant ingest news [URL|PATH]...",
	}
}

// Name implements source.Source.
func (*NewsFeeds) Name() string { return "news" }

// Version implements source.Source. It must change with everything that changes what an
// entry becomes.
func (*NewsFeeds) Version() string { return "news/2" }

// Inputs implements source.Source. What is in a file is looked at when it is read: a
// folder of saved feeds always holds some that are none.
func (n *NewsFeeds) Inputs(context.Context) ([]source.Input, error) {
	out := make([]source.Input, len(n.files))
	for i, f := range n.files {
		out[i] = &newsInput{newsFile: f, now: n.now()}
	}
	return out, nil
}

// newsInput is one feed file.
type newsInput struct {
	newsFile
	now      time.Time
	consumed atomic.Int64
	notes    source.Notes
}

// Name implements source.Input.
func (in *newsInput) Name() string { return in.blob.Name }

// Kind implements source.Input.
func (in *newsInput) Kind() string { return "news-feed" }

// Size implements source.Input.
func (in *newsInput) Size() int64 { return in.blob.Size }

// Digest implements source.Input.
func (in *newsInput) Digest(ctx context.Context) (string, error) {
	if in.failed != nil {
		return "", nil // there is nothing to know again
	}
	return in.blob.Digest(ctx)
}

// Consumed implements source.Input. A feed is read whole before its first entry.
func (in *newsInput) Consumed() int64 { return in.consumed.Load() }

// Notes implements source.Input.
func (in *newsInput) Notes() source.Notes { return in.notes }

// Items implements source.Input: one item an entry. A file that is no feed, or one beyond
// the bounds, is one refused item, so that it stands in the account.
func (in *newsInput) Items(ctx context.Context, after source.Position) iter.Seq2[source.Item, error] {
	return func(yield func(source.Item, error) bool) {
		in.notes = source.Notes{}
		if in.note != "" {
			in.notes.Warnings = append(in.notes.Warnings, in.note)
		}
		if in.failed != nil {
			yield(source.Item{}, in.failed)
			return
		}
		f, err := feed.Read(in.blob, feed.Options{Base: in.base, ContentType: in.contentType})
		in.consumed.Store(in.blob.Size)
		var disk *fs.PathError
		switch {
		case errors.As(err, &disk):
			yield(source.Item{}, err)
			return
		case err != nil:
			if after.Record == 0 {
				yield(source.Refuse(source.Position{}, source.Position{Record: 1}, capital(err.Error())), nil)
			}
			return
		}
		in.describe(f)
		for i := int(after.Record); i < len(f.Entries); i++ {
			if err := ctx.Err(); err != nil {
				yield(source.Item{}, err)
				return
			}
			if !yield(in.item(f, i), nil) {
				return
			}
		}
	}
}

func (in *newsInput) item(f *feed.Feed, i int) source.Item {
	at, next := source.Position{Record: int64(i)}, source.Position{Record: int64(i) + 1}
	e := &f.Entries[i]
	switch {
	case e.Repeats:
		return source.Skip(at, next, "the feed has this article once more, as new or newer")
	case e.Title == "" && e.Text == "":
		return source.Skip(at, next, "the entry has neither title nor text")
	}
	doc := newsArticle(f, e, in.Name())
	return source.Item{At: at, Next: next, ID: doc.ID, Contribution: articleOf{doc}}
}

// describe notes how the feed was read: what was put right, and which dates to doubt.
func (in *newsInput) describe(f *feed.Feed) {
	in.notes.Encoding = f.Encoding
	warn := func(n int, format string, args ...any) {
		if n > 0 {
			in.notes.Warnings = append(in.notes.Warnings, fmt.Sprintf(format, args...))
		}
	}
	var undated, future int
	var odd []string
	for i := range f.Entries {
		e := &f.Entries[i]
		if e.Published.IsZero() {
			undated++
		}
		if e.OddDate != "" {
			odd = append(odd, e.OddDate)
		}
		if e.Published.After(in.now.Add(24 * time.Hour)) {
			future++
		}
	}
	warn(f.Repaired, "The feed was repaired: %d places in it were not well-formed.", f.Repaired)
	if len(f.Entries) == 0 {
		warn(1, "The feed has no entries.")
	}
	warn(undated, "%d of %d entries have no date that can be read; conditions on dates leave them out.", undated, len(f.Entries))
	warn(len(odd), "Dates that could not be read: %s.", shortList(odd))
	warn(future, "%d of %d entries are dated in the future.", future, len(f.Entries))
}

// newsArticle makes the document of an entry: the headline, then its paragraphs.
func newsArticle(f *feed.Feed, e *feed.Entry, uri string) sextant.Document {
	doc := sextant.Document{
		ID: sextant.DocumentID("news:" + publication(f) + "/" + articleID(e)), Collection: News().Name,
		Source: sextant.Source{Name: "news", Kind: "feed", URI: uri},
		Title:  headline(e), Meta: filter.Meta{Fields: filter.Fields{}},
	}
	w := partWriter{doc: &doc}
	switch {
	case e.Title != "" && e.Text != "":
		w.heading(e.Title)
	case e.Title != "": // a heading over nothing would not be searched
		w.line(e.Title)
		w.part("paragraph", "Headline", 0)
	}
	for i, paragraph := range paragraphsOf(e.Text) {
		if w.b.Len() > 0 {
			w.b.WriteString("\n")
		}
		from := w.b.Len()
		w.line(paragraph)
		w.part("paragraph", fmt.Sprintf("Paragraph %d", i+1), from)
	}
	doc.Text = strings.TrimSuffix(w.b.String(), "\n")
	set := doc.Meta.Fields.Set
	set("published", timeValue(e.Published))
	set("updated", timeValue(e.Updated))
	set("news_source", textValues(f.Title)...)
	set("url", textValues(e.Link)...)
	set("title", textValues(e.Title)...)
	set("author", textValues(e.Authors...)...)
	set("topic", textValues(e.Categories...)...)
	set("links", textValues(e.Links...)...)
	n := namedIn(doc.Text)
	set("aircraft_named", textValues(n.aircraft...)...)
	set("registration_named", textValues(n.registrations...)...)
	set("place_named", textValues(n.places...)...)
	return doc
}

// headline is the title, or the first words of an entry without one.
func headline(e *feed.Entry) string {
	if e.Title != "" {
		return e.Title
	}
	words := strings.Fields(e.Text)
	if len(words) > 12 {
		return strings.Join(words[:12], " ") + " ..."
	}
	return strings.Join(words, " ")
}

func paragraphsOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n\n")
}

func timeValue(t time.Time) filter.Value {
	if t.IsZero() {
		return filter.Value{}
	}
	return filter.OfTime(t)
}

func textValues(list ...string) []filter.Value {
	var out []filter.Value
	for _, s := range list {
		if s != "" {
			out = append(out, filter.OfString(s))
		}
	}
	return out
}

// publication names the feed in ids: the host of its site, which outlives its title.
func publication(f *feed.Feed) string {
	if u, err := url.Parse(f.Link); err == nil && u.Hostname() != "" {
		return slug(strings.TrimPrefix(strings.ToLower(u.Hostname()), "www."))
	}
	return cmp.Or(slug(strings.ToLower(f.Title)), "untitled")
}

// slug keeps letters, digits and dots, and a dash for any run of others.
func slug(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.'
	})
	s := strings.Join(words, "-")
	return strings.Trim(s[:min(len(s), 60)], ".-")
}

// articleID is what stands for an entry in addresses. A publisher's id that is no address
// and no tag may be in use in another feed of the site as well: a link tells them apart.
func articleID(e *feed.Entry) string {
	if strings.HasPrefix(e.ID, "x-") && len(e.ID) == 26 {
		return e.ID
	}
	name := e.ID
	if !strings.Contains(name, ":") {
		name += "\x00" + cmp.Or(e.Link, e.Title)
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:12])
}

// articleOf is what a feed says of an article.
type articleOf struct{ doc sextant.Document }

// Merge implements source.Contribution. Feeds saved on several days have the same article;
// the one changed last is kept, of equally old ones the longer, then the greater text:
// the same one in whatever order they come.
func (a articleOf) Merge(old *sextant.Document) (sextant.Document, bool, error) {
	if old == nil {
		return a.doc, false, nil
	}
	if compareArticles(&a.doc, old) > 0 {
		return a.doc, false, nil
	}
	return *old, false, nil
}

func compareArticles(a, b *sextant.Document) int {
	return cmp.Or(
		changed(a).Compare(changed(b)), cmp.Compare(len(a.Text), len(b.Text)), cmp.Compare(a.Text, b.Text),
		cmp.Compare(a.Title, b.Title), cmp.Compare(metaText(a), metaText(b)),
	)
}

func changed(d *sextant.Document) time.Time {
	var last time.Time
	for _, name := range []string{"published", "updated"} {
		if v := d.Meta.Fields.One(name); !v.IsZero() && v.Time().After(last) {
			last = v.Time()
		}
	}
	return last
}

func metaText(d *sextant.Document) string {
	text, err := d.Meta.MarshalJSON()
	if err != nil { // values made of strings and times always can be written
		return ""
	}
	return string(text)
}
