package bert_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant/bert"
)

func ExampleTokenizer() {
	tok, _ := bert.NewTokenizer("[UNK]\n[CLS]\n[SEP]\nair\n##craft\ndamage\n", false)
	text := "Aircraft  DAMÂGE!"
	for _, t := range tok.Append(nil, text, -1) {
		fmt.Printf("%d %q\n", t.ID, text[t.Start:t.End])
	}
	// Output:
	// 3 "Air"
	// 4 "craft"
	// 5 "DAMÂGE"
	// 0 "!"
}

func gunzip(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// vocabularyText is that of bert-base-uncased.
var vocabularyText = sync.OnceValue(func() string {
	return string(gunzip(&testing.T{}, "testdata/vocab.txt.gz"))
})

func tokenizer(t testing.TB, cased bool) *bert.Tokenizer {
	t.Helper()
	tok, err := bert.NewTokenizer(vocabularyText(), cased)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestTokensEqualReference(t *testing.T) {
	tok := tokenizer(t, false)
	data, err := os.ReadFile("testdata/tokens.golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")[1:]
	for i := 0; i+1 < len(lines); i += 2 {
		var text string
		if err := json.Unmarshal([]byte(lines[i]), &text); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tk := range tok.Append(nil, text, -1) {
			got = append(got, fmt.Sprintf("%d:%d:%d", tk.ID, tk.Start, tk.End))
		}
		if diff := cmp.Diff(strings.TrimSpace(lines[i+1]), strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-reference +got):\n%s", lines[i], diff)
		}
	}
}

type goldenHashes struct {
	Reference       string   `json:"reference"`
	CodePoints      []string `json:"code_points"`
	CasedCodePoints []string `json:"cased_code_points"`
	Strings         []string `json:"strings"`
}

func readGoldenHashes(t *testing.T) (g goldenHashes) {
	t.Helper()
	if err := json.Unmarshal(gunzip(t, "testdata/tokens.golden.json.gz"), &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// compareHashes tokenizes n texts and compares them with the reference in groups; a group
// that differs is named. Offsets are left out: where the reference reorders combining marks
// within an unknown word, its offsets follow the marks, and ours the text.
func compareHashes(t *testing.T, tok *bert.Tokenizer, n, group int, text func(i int) string, want []string) {
	t.Helper()
	if len(want) != (n+group-1)/group {
		t.Fatalf("%d golden hashes for %d texts in groups of %d", len(want), n, group)
	}
	var tokens []bert.Token
	var record []byte
	bad := 0
	for g := range want {
		h := sha256.New()
		for i := g * group; i < min(n, (g+1)*group); i++ {
			tokens = tok.Append(tokens[:0], text(i), -1)
			record = binary.LittleEndian.AppendUint32(record[:0], uint32(len(tokens)))
			for _, tk := range tokens {
				record = binary.LittleEndian.AppendUint32(record, uint32(tk.ID))
			}
			h.Write(record)
		}
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want[g] {
			bad++
			if bad <= 5 {
				t.Errorf("tokens of texts %d to %d (first %q) differ from the reference", g*group, (g+1)*group-1, text(g*group))
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d groups differ", bad, len(want))
	}
}

func TestEveryCodePointEqualsReference(t *testing.T) {
	golden := readGoldenHashes(t)
	var texts []string
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) {
			texts = append(texts, "a"+string(r)+"b")
		}
	}
	text := func(i int) string { return texts[i] }
	t.Run("uncased", func(t *testing.T) {
		compareHashes(t, tokenizer(t, false), len(texts), 4096, text, golden.CodePoints)
	})
	t.Run("cased", func(t *testing.T) {
		compareHashes(t, tokenizer(t, true), len(texts), 4096, text, golden.CasedCodePoints)
	})
}

func TestRandomStringsEqualReference(t *testing.T) {
	pieces := strings.Split(strings.TrimSuffix(vocabularyText(), "\n"), "\n")
	rng := splitMix(1)
	const n = 100_000
	texts := make([]string, n)
	for i := range texts {
		texts[i] = randomString(&rng, pieces)
	}
	compareHashes(t, tokenizer(t, false), n, 100, func(i int) string { return texts[i] }, readGoldenHashes(t).Strings)
}

// splitMix is splitmix64 (Steele, Lea, Flood 2014). It and randomString repeat what
// testdata/reference.py does, draw for draw.
type splitMix uint64

func (s *splitMix) below(n int) int {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int((z ^ z>>31) % uint64(n))
}

// unicodeRows are the blocks of 256 code points that strings draw from: all of the planes
// with scripts, samples of the rest.
var unicodeRows = sync.OnceValue(func() (rows []int) {
	for r := range 0x1100 {
		surrogate := r >= 0xD8 && r < 0xE0
		if !surrogate && (r < 0x324 || r == 0xE00 || r == 0xE01 || r%64 == 0) {
			rows = append(rows, r)
		}
	}
	return rows
})

func randomString(rng *splitMix, pieces []string) string {
	const punctuation = " .,;:!?-()[]{}'\"/\\@#$%^&*_+=<>|~`\t\n"
	rows := unicodeRows()
	var b strings.Builder
	for range 1 + rng.below(6) {
		switch kind := rng.below(4); kind {
		case 0:
			b.WriteString(pieces[rng.below(len(pieces))])
		case 1:
			b.WriteByte(punctuation[rng.below(len(punctuation))])
		default:
			var row int
			if kind == 2 {
				row = rows[rng.below(len(rows))]
			} else {
				row = rng.below(0x30)
			}
			for range 1 + rng.below(8) {
				b.WriteRune(rune(row*256 + rng.below(256)))
			}
		}
		if rng.below(3) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func TestTokenProperties(t *testing.T) {
	tok := tokenizer(t, false)
	rapid.Check(t, func(t *rapid.T) {
		checkTokens(t, tok, rapid.String().Draw(t, "text"), rapid.IntRange(0, 20).Draw(t, "limit"))
	})
}

func FuzzTokenizer(f *testing.F) {
	f.Add("Aircraft N172SP é 中 \xff\xfe", 3)
	tok := tokenizer(f, false)
	f.Fuzz(func(t *testing.T, text string, limit int) { checkTokens(t, tok, text, limit) })
}

// checkTokens states what callers rely on for any bytes: ranges lie in the text, in order
// and on character boundaries; a limit gives a prefix.
func checkTokens(t interface{ Fatalf(string, ...any) }, tok *bert.Tokenizer, text string, limit int) {
	all := tok.Append(nil, text, -1)
	at := 0
	for _, tk := range all {
		if tk.Start < at || tk.End <= tk.Start || tk.End > len(text) || int(tk.ID) >= tok.VocabularySize() {
			t.Fatalf("%q: token %+v after byte %d", text, tk, at)
		}
		if utf8.ValidString(text) && !utf8.ValidString(text[tk.Start:tk.End]) {
			t.Fatalf("%q: token %+v splits a character", text, tk)
		}
		at = tk.Start // pieces of one character share it
	}
	if limit < 0 {
		limit = 0
	}
	got := tok.Append(nil, text, limit)
	if diff := cmp.Diff(all[:min(limit, len(all))], got); diff != "" && len(got)+limit > 0 {
		t.Fatalf("%q limited to %d (-prefix +got):\n%s", text, limit, diff)
	}
}

func TestControlTokensInTextAreText(t *testing.T) {
	tok := tokenizer(t, false)
	for _, tk := range tok.Append(nil, "[SEP] [CLS][UNK]", -1) {
		if tk.ID >= 100 && tk.ID <= 103 {
			t.Errorf("a text made the control token %+v", tk)
		}
	}
}

func TestVocabularyErrors(t *testing.T) {
	for name, text := range map[string]string{
		"empty":        "",
		"no unknown":   "[CLS]\n[SEP]\na\n",
		"no separator": "[UNK]\n[CLS]\na\n",
		"binary":       "[UNK]\n[CLS]\n[SEP]\n\xff\xfe\n",
		"endless line": "[UNK]\n[CLS]\n[SEP]\n" + strings.Repeat("x", 1<<20) + "\n",
		"too many":     "[UNK]\n[CLS]\n[SEP]\n" + strings.Repeat("x\n", 1<<21),
	} {
		if _, err := bert.NewTokenizer(text, false); !errors.Is(err, bert.ErrVocabulary) {
			t.Errorf("%s: error %v, want ErrVocabulary", name, err)
		}
	}
}

func TestTokenizerDoesNotAllocate(t *testing.T) {
	tok := tokenizer(t, false)
	text := string(bytes.Repeat([]byte("The pilot's Größe, 中 한국어 é! "), 20))
	tokens := tok.Append(nil, text, -1)
	if n := testing.AllocsPerRun(20, func() { tokens = tok.Append(tokens[:0], text, -1) }); n > 0 {
		t.Errorf("%v allocations a text", n)
	}
}

func BenchmarkTokenizer(b *testing.B) {
	tok := tokenizer(b, false)
	text := strings.Repeat("The pilot failed to maintain adequate airspeed during the approach, which resulted in an aerodynamic stall. ", 12)
	tokens := tok.Append(nil, text, -1)
	for b.Loop() {
		tokens = tok.Append(tokens[:0], text, -1)
	}
	b.ReportMetric(float64(len(tokens)*b.N)/b.Elapsed().Seconds(), "tokens/s")
}
