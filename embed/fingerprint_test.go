package embed_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant/embed"
)

func ExampleFingerprint() {
	stored, _ := embed.ParseFingerprint(`model="e5-small" revision="" dim=384 pooling="mean" query_prefix="query: " document_prefix="passage: " normalized=true max_tokens=512`)
	now := stored
	now.QueryPrefix = ""
	fmt.Println(stored == now, stored.Differences(now))
	// Output: false [query prefix "query: ", not ""]
}

func drawFingerprint(t *rapid.T) embed.Fingerprint {
	return embed.Fingerprint{
		Model: rapid.String().Draw(t, "model"), Revision: rapid.String().Draw(t, "revision"),
		Dim: rapid.Int().Draw(t, "dim"), Pooling: rapid.String().Draw(t, "pooling"),
		QueryPrefix: rapid.String().Draw(t, "query"), DocumentPrefix: rapid.String().Draw(t, "document"),
		Normalized: rapid.Bool().Draw(t, "normalized"), MaxTokens: rapid.Int().Draw(t, "tokens"),
	}
}

func TestTextFormRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFingerprint(t)
		text := f.String()
		if strings.ContainsAny(text, "\n\r") {
			t.Fatalf("%q is not one line", text)
		}
		got, err := embed.ParseFingerprint(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(f, got); diff != "" {
			t.Fatal(diff)
		}
		if d := f.Differences(got); d != nil {
			t.Fatalf("equal, and yet %v", d)
		}
	})
}

func TestDifferencesNamesWhatDiffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, g := drawFingerprint(t), drawFingerprint(t)
		if (f == g) != (len(f.Differences(g)) == 0) {
			t.Fatalf("%v\n%v\ndiffer in %v", f, g, f.Differences(g))
		}
	})
}

func TestParseRefuses(t *testing.T) {
	good := embed.Fingerprint{Model: "m", Dim: 3}.String()
	for _, text := range []string{"", "model", good + " ", good + " x=1", " " + good, strings.Replace(good, "dim=3", "dim=03", 1), strings.Replace(good, `"m"`, "m", 1), strings.Replace(good, "dim=3 ", "", 1)} {
		if f, err := embed.ParseFingerprint(text); !errors.Is(err, embed.ErrFingerprint) {
			t.Errorf("%q gave %v, %v", text, f, err)
		}
	}
}

func FuzzParseFingerprint(f *testing.F) {
	f.Add(embed.Fingerprint{Model: "m", Dim: 3, QueryPrefix: "query: "}.String())
	f.Fuzz(func(t *testing.T, text string) {
		got, err := embed.ParseFingerprint(text)
		if err == nil && got.String() != text {
			t.Errorf("%q was read as %q", text, got)
		}
	})
}
