package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/chunk"
)

// questionWords is how long a question is.
const questionWords = 10

// textSet is chunks of text and questions about them.
type textSet struct {
	origin    string // for the title
	chunks    []string
	questions []string
}

// loadTexts returns narratives, cut as ingestion cuts them, asked the first words of
// their probable causes; or made-up texts where there are no narratives and none were
// asked for.
func loadTexts(o options) (*textSet, error) {
	dir := cmp.Or(o.narratives, filepath.Join(cmp.Or(os.Getenv("SEXTANT_SHARED"), filepath.Join("..", "..", "shared")), "data", "ntsb-narratives"))
	s, err := readNarratives(dir, o.texts)
	if o.narratives == "" && errors.Is(err, fs.ErrNotExist) {
		return makeTexts(cmp.Or(o.texts, 50_000)), nil
	}
	return s, err
}

// narrative is a line of the files.
type narrative struct {
	ID    string `json:"event_id"`
	Text  string `json:"narrative"`
	Cause string `json:"probable_cause"`
}

func readNarratives(dir string, most int) (*textSet, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no *.jsonl.gz in %s: %w", dir, fs.ErrNotExist)
	}
	s := &textSet{}
	for _, name := range files {
		if err = s.read(name); err != nil || most > 0 && len(s.chunks) >= most {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read narratives: %w", err)
	}
	if most > 0 {
		s.chunks = s.chunks[:min(most, len(s.chunks))]
	}
	if len(s.questions) == 0 {
		return nil, fmt.Errorf("read narratives: no probable cause of %d words in %s", questionWords, dir)
	}
	// Causes of one year beside each other are much alike.
	rand.New(rand.NewPCG(5, 5)).Shuffle(len(s.questions), func(i, j int) { s.questions[i], s.questions[j] = s.questions[j], s.questions[i] })
	s.origin = "NTSB narratives"
	return s, nil
}

func (s *textSet) read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	lines := json.NewDecoder(z)
	for {
		var n narrative
		if err := lines.Decode(&n); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, c := range chunk.Split(&sextant.Document{ID: sextant.DocumentID("ntsb:" + n.ID), Text: n.Text}, chunk.Options{}) {
			s.chunks = append(s.chunks, c.Content)
		}
		if words := strings.Fields(n.Cause); len(words) >= questionWords {
			s.questions = append(s.questions, strings.Join(words[:questionWords], " "))
		}
	}
}

// makeTexts makes n texts and questions of words in the proportions of a language.
func makeTexts(n int) *textSet {
	s := &textSet{origin: "made-up texts (Zipf)", chunks: make([]string, n), questions: make([]string, 1000)}
	onAllCores(n, func(i int) { s.chunks[i] = madeUpText(i) })
	for i := range s.questions {
		s.questions[i] = strings.Join(strings.Fields(madeUpText(n + i))[:questionWords], " ")
	}
	return s
}

// madeUpText is a hundred words out of 50,000 by Zipf's law, the same for a number always.
func madeUpText(i int) string {
	rng := rand.New(rand.NewPCG(uint64(i), 6))
	rank := rand.NewZipf(rng, 1.07, 2, 49_999)
	var b strings.Builder
	for range 100 {
		b.WriteString(madeUpWord(rank.Uint64()))
		b.WriteByte(' ')
	}
	return b.String()
}

// madeUpWord spells a number in syllables.
func madeUpWord(n uint64) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b []byte
	for n += 70; n > 0; n /= 70 {
		b = append(b, consonants[n%14], vowels[n/14%5])
	}
	return string(b)
}

// The comparisons of text: rows or ids only, and with the text of the hits.
const (
	rowsOnly = "text"
	textRead = "read"
)

// textEngine finds texts by the words of a question. read loads the hits' text, where the
// engine has it.
type textEngine interface {
	search(ctx context.Context, question string, read bool) (rows []int, err error)
	close() error
}

var textEngines = []entry[*textSet, textEngine]{
	{name: nameLexical, in: map[string]float64{rowsOnly: 0}, open: openLexical},
	{name: nameStore, in: map[string]float64{textRead: 0}, open: openTextStore},
	{name: nameBleve, in: map[string]float64{rowsOnly: 1.5, textRead: 1.5}, open: openBleve},
}

// runTexts compares the engines on questions of ten words.
func runTexts(ctx context.Context, o options, dir string, log io.Writer) ([]result, error) {
	entries := pick(o, textEngines)
	if len(entries) == 0 {
		return nil, nil
	}
	set, err := loadTexts(o)
	if err != nil {
		return nil, err
	}
	const block = 20
	set.questions = set.questions[:min(len(set.questions), o.rounds*block)]
	title := fmt.Sprintf("BM25 over %d chunks of %s, questions of %d words", len(set.chunks), set.origin, questionWords)
	comparisons := []*comparison{
		{name: rowsOnly, title: title, questions: len(set.questions), block: block},
		{name: textRead, title: title + ", text of the hits read", questions: len(set.questions), block: block},
	}
	own := ofLexical().judgeAll(set)
	for _, e := range entries {
		right := own
		c := contest[textEngine]{
			ask: func(engine textEngine, c string, question int) ([]int, error) {
				return engine.search(ctx, set.questions[question], c == textRead)
			},
			recall: func(_ string, question int, rows []int) float64 { return right[question].recall(rows) },
		}
		if e.name == nameBleve {
			right = ofBleve().judgeAll(set)
			published := publishedOfBleve().judgeAll(set)
			c.published = func(question int, rows []int) float64 { return published[question].recall(rows) }
		}
		engine, err := e.enter(ctx, log, set, dir, comparisons, c)
		if err != nil {
			return nil, err
		}
		defer engine.close() // its files are thrown away
	}
	return runAll(ctx, o, comparisons, log)
}
