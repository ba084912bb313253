package retrieve

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
	"github.com/sextant-rag/sextant/store"
)

// Sentences are cut only where one alone is larger than a chunk, so a passage that breaks
// off is never short; and what completes it is taken from its neighbours only up to a
// length at which it would drown what was found.
const (
	leastBroken = 300  // bytes
	mostAdded   = 1200 // bytes, at either end
)

// complete extends passages that begin or end within a sentence to the whole of it.
func complete(ctx context.Context, c store.Collection, passages []sextant.Passage) error {
	var ids []sextant.DocumentID
	for i := range passages {
		if broken(passages[i].Content) {
			ids = append(ids, passages[i].DocumentID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	docs, err := c.Get(ctx, ids)
	if err != nil {
		return err
	}
	byID := map[sextant.DocumentID]*sextant.Document{}
	for i := range docs {
		byID[docs[i].ID] = &docs[i]
	}
	for i := range passages {
		// A document that was replaced meanwhile has other offsets.
		if p := &passages[i]; broken(p.Content) && byID[p.DocumentID] != nil && holds(byID[p.DocumentID].Text, p) {
			extend(p, byID[p.DocumentID].Text)
		}
	}
	return nil
}

func holds(text string, p *sextant.Passage) bool {
	return p.Start >= 0 && p.Start <= p.End && p.End <= len(text) && text[p.Start:p.End] == p.Content
}

// broken reports whether a text may begin or end within a sentence.
func broken(text string) bool {
	if len(text) < leastBroken {
		return false
	}
	text = strings.TrimSpace(text)
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLower(first) || first == ',' || unicode.IsLetter(last) || unicode.IsDigit(last) || last == ','
}

// extend moves the ends of a passage to those of the sentences they are in.
func extend(p *sextant.Passage, text string) {
	start, end := p.Start, p.End
	from := runeStart(text, max(0, start-mostAdded))
	for _, s := range chunk.Sentences(text[from:end]) {
		// A sentence that begins where the window does may begin before it.
		if s.Start+from < start && s.End+from > start && (s.Start > 0 || from == 0) {
			start = s.Start + from
		}
	}
	for _, s := range chunk.Sentences(text[start:runeStart(text, min(len(text), p.End+mostAdded))]) {
		to := s.End + start
		if s.Start+start < p.End && to > p.End && (to < p.End+mostAdded || to == len(text)) {
			end = to
		}
	}
	if start == p.Start && end == p.End {
		return
	}
	p.Start, p.End, p.Content = start, end, text[start:end]
	p.Reasons = append(p.Reasons[:len(p.Reasons):len(p.Reasons)], sextant.Reason{Kind: "neighbour", Detail: "completed to whole sentences"})
}

func runeStart(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}
