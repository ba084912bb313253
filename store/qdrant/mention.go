package qdrant

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/filter"
	"github.com/sextant-rag/sextant/lexical"
	"github.com/sextant-rag/sextant/store"
)

// mentionPage is how many chunks are read at once to look for a mention.
const mentionPage = 1000

// mentioned returns the documents that satisfy a Mentions. Chunks that have the words at
// all are found by the indexes of words; whether they stand as asked is read off the text.
func (c *collection) mentioned(ctx context.Context, m filter.Mentions) ([]sextant.DocumentID, error) {
	d, err := c.known(ctx)
	if err != nil {
		return nil, err
	}
	return once(d, d.mentioned, fmt.Sprintf("%#v", m), func() ([]sextant.DocumentID, error) { return c.findMentioned(ctx, d, m) })
}

func (c *collection) findMentioned(ctx context.Context, d *derived, m filter.Mentions) ([]sextant.DocumentID, error) {
	expr, zones := store.Mention(m)
	where := &clause{Must: []condition{isKind(kindChunk), inZones(zones)}}
	fields := []string{"document_id"}
	if expr != nil {
		words, possible, err := c.wording(ctx, d, m)
		if err != nil || !possible {
			return nil, err
		}
		where = where.and(words)
		fields = []string{"chunk_id", "document_id", "chunk_index", "start", "end", "content", "_parts"}
	}
	c.mu.RLock()
	analyzer := c.analyzer
	c.mu.RUnlock()
	found := map[sextant.DocumentID]bool{}
	err := c.scrolled(ctx, where, mentionPage, want{Fields: fields}, func(p point) error {
		ch, err := chunkOf(p)
		if err != nil {
			return err
		}
		id := sextant.DocumentID(ch.Document)
		if found[id] {
			return nil
		}
		if expr != nil {
			var parts []sextant.Part
			if ch.Parts != "" {
				if err := json.Unmarshal([]byte(ch.Parts), &parts); err != nil {
					return fmt.Errorf("parts of %s: %w: %w", ch.ID, store.ErrCorrupt, err)
				}
			}
			if !store.Mentioned(analyzer, parts, []sextant.Chunk{ch.chunk()}, m) {
				return nil
			}
		}
		found[id] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	ids := make([]sextant.DocumentID, 0, len(found))
	for id := range found {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, nil
}

// inZones are chunks that have words in one of some zones.
func inZones(zones lexical.Zones) condition {
	var list []int64
	for z := range lexical.MaxZone + 1 {
		if zones.Has(z) {
			list = append(list, int64(z))
		}
	}
	return integers("_zones", list...)
}

// wording is a condition that every chunk with a match satisfies: that it has the words.
func (c *collection) wording(ctx context.Context, d *derived, m filter.Mentions) (condition, bool, error) {
	one, possible, err := c.anyPhrase(ctx, d, m.Phrases)
	if err != nil || !possible || len(m.Near) == 0 {
		return one, possible, err
	}
	other, possible, err := c.anyPhrase(ctx, d, m.Near)
	return all(one, other), possible, err
}

func (c *collection) anyPhrase(ctx context.Context, d *derived, phrases []string) (condition, bool, error) {
	var some []condition
	for _, phrase := range phrases {
		var words []condition
		possible := true
		for _, field := range strings.Fields(phrase) {
			cond, ok, err := c.wordsOf(ctx, d, field)
			if err != nil {
				return condition{}, false, err
			}
			possible = possible && ok
			if ok && (len(cond.Must) > 0 || len(cond.Should) > 0 || cond.Key != "") {
				words = append(words, cond)
			}
		}
		if possible && len(words) > 0 {
			some = append(some, all(words...))
		}
	}
	return anyOf(some...), len(some) > 0, nil
}

// wordsOf is what a chunk must have for one word of a phrase: its atoms, or those of a
// compound of letters joined. Text without a word asks for nothing.
func (c *collection) wordsOf(ctx context.Context, d *derived, text string) (condition, bool, error) {
	c.mu.RLock()
	analyzer := c.analyzer
	c.mu.RUnlock()
	head, isPrefix := strings.CutSuffix(text, "*")
	var atoms, joined []lexical.Token
	for _, t := range analyzer.Tokens(head) {
		if t.Span == 1 {
			atoms = append(atoms, t)
		} else {
			joined = append(joined, t)
		}
	}
	if len(atoms) == 0 {
		return condition{}, true, nil
	}
	var must []condition
	for i, t := range atoms {
		if isPrefix && i == len(atoms)-1 {
			words, err := c.beginning(ctx, d, t.Word)
			if err != nil || len(words) == 0 {
				return condition{}, false, err
			}
			must = append(must, anyOf(keywords("_stems", words...), keywords("_words", words...)))
			continue
		}
		must = append(must, word(t))
	}
	some := []condition{all(must...)}
	if !isPrefix {
		for _, t := range joined {
			some = append(some, word(t))
		}
	}
	return anyOf(some...), true, nil
}

// word is a chunk's having a word: words that are their own stems stand among those.
func word(t lexical.Token) condition {
	if t.Word == t.Stem {
		return keywords("_stems", t.Word)
	}
	return keywords("_words", t.Word)
}

// beginning lists the words of the collection that begin with a prefix, and stems that do.
func (c *collection) beginning(ctx context.Context, d *derived, prefix string) ([]string, error) {
	return once(d, d.prefixes, prefix, func() ([]string, error) {
		var out []string
		for _, key := range []string{"_stems", "_words"} {
			words, err := c.values(ctx, key, &clause{Must: []condition{isKind(kindChunk)}})
			if err != nil {
				return nil, err
			}
			for _, w := range words {
				if strings.HasPrefix(w, prefix) {
					out = append(out, w)
				}
			}
		}
		slices.Sort(out)
		return slices.Compact(out), nil
	})
}
