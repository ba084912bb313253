package chunk

import (
	"strings"
	"testing"

	"github.com/sextant-rag/sextant"
)

const paragraph = "The pilot departed N.M. at 5 p.m. on a cross-country flight to Miami, FL. About 2,500 ft. MSL the engine lost power. " +
	"He selected a field, e.g. the one north of Hwy. 95, and landed; the right main landing gear collapsed during the rollout.An examination " +
	"revealed no mechanical anomalies. The wind was from 180 degrees at 5 knots, gusting 12.5 (source: ASOS).\n\n"

func BenchmarkSplit(b *testing.B) {
	d := sextant.Document{ID: "bench:1", Text: strings.Repeat(paragraph, 200)}
	b.SetBytes(int64(len(d.Text)))
	for b.Loop() {
		Split(&d, Options{})
	}
}

func BenchmarkSentences(b *testing.B) {
	text := strings.Repeat(paragraph, 200)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Sentences(text)
	}
}

func BenchmarkEstimate(b *testing.B) {
	text := strings.Repeat(paragraph, 200)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Estimate(text)
	}
}
