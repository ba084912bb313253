package feed

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// useless are guids that publishing systems write where they have none.
var useless = []string{"n/a", "na", "none", "null", "nil", "undefined", "unknown", "-", "0", "false", "true", "guid", "id"}

// identify gives every entry its id and says which of them repeat another. The guid is
// the id if it names one article: it is none of the words for "none", and no two
// articles of the feed share it. Any other entry is named by link, title and date, which
// are the same when the feed is read again. Entries with one guid and one link or title
// are versions of one article; the last one changed stays.
func identify(entries []Entry) {
	byGUID := map[string][]int{}
	for i := range entries {
		if g := entries[i].guid; g != "" {
			byGUID[g] = append(byGUID[g], i)
		}
	}
	for i := range entries {
		e := &entries[i]
		same := byGUID[e.guid]
		if e.guid == "" || slices.Contains(useless, strings.ToLower(e.guid)) || !oneArticle(entries, same) {
			e.ID = synthetic(e.Link, e.Title, e.Published, e.Text)
			continue
		}
		e.ID = e.guid
	}
	last := map[string]int{}
	for i := range entries {
		e := &entries[i]
		before, seen := last[e.ID]
		switch {
		case !seen:
			last[e.ID] = i
		case entries[before].changed().Before(e.changed()):
			entries[before].Repeats, last[e.ID] = true, i
		default:
			e.Repeats = true
		}
	}
}

// oneArticle reports whether entries that share a guid share a link or a title too.
func oneArticle(entries []Entry, same []int) bool {
	first := &entries[same[0]]
	for _, i := range same[1:] {
		e := &entries[i]
		if (e.Link == "" || e.Link != first.Link) && (e.Title == "" || e.Title != first.Title) {
			return false
		}
	}
	return true
}

// synthetic is an id made of what an entry says. Text counts only where link and title
// say nothing.
func synthetic(link, title string, published time.Time, text string) string {
	if link != "" || title != "" {
		text = ""
	}
	date := ""
	if !published.IsZero() {
		date = published.UTC().Format(time.RFC3339)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{link, title, date, text}, "\x00")))
	return "x-" + hex.EncodeToString(sum[:12])
}
